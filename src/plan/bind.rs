//! Binds an expression to the columns of a schema, and moves negations down to its predicates.

use std::collections::HashMap;

use super::Error;
use super::expression::{Asks, Expression, Literal, Predicate, Question, Reference, Term, short};
use super::filter::{Asked, Filter, Leaf};
use super::literal::{Converted, convert};
use super::predicate::{Comparison, Test};
use super::value::{result_type, single};
use crate::manifest::Value;
use crate::spec::{Field, Primitive, Schema, Type};

/// Finds columns of a schema by name.
#[derive(Debug)]
pub(super) struct Columns<'a> {
    schema: &'a Schema,
    /// Ids by full name in lower case, where case does not matter; none for a name that two columns share.
    folded: Option<HashMap<String, Option<i32>>>,
}

impl<'a> Columns<'a> {
    pub(super) fn of(schema: &'a Schema, case_sensitive: bool) -> Self {
        Self { schema, folded: (!case_sensitive).then(|| folded(schema)) }
    }

    /// The column of this name.
    pub(super) fn find(&self, name: &str) -> Result<&'a Field, String> {
        let found = match &self.folded {
            None => self.schema.find_by_name(name),
            Some(folded) => match folded.get(&name.to_lowercase()) {
                Some(Some(id)) => self.schema.find_field(*id),
                Some(None) => return Err(format!("more than one column is called `{}`", short(name))),
                None => None,
            },
        };
        found.ok_or_else(|| format!("Cannot find field `{}` in the schema", short(name)))
    }

    /// The column that a filter refers to: one value a row.
    fn referred(&self, reference: &Reference) -> Result<Column<'a>, String> {
        let field = match reference {
            Reference::Name(name) => self.find(name)?,
            Reference::Id(id) => {
                self.schema.find_field(*id).ok_or_else(|| format!("Cannot find field {id} in the schema"))?
            }
        };
        let parents = self.schema.parents_of(field.id).unwrap_or_default();
        if let Some(parent) = parents.iter().find(|parent| !parent.field_type.is_struct()) {
            return Err(format!("field {} is inside a list or map, {}", field.id, parent.name));
        }
        let never_null = field.required && parents.iter().all(|parent| parent.required);
        Ok(Column { field, never_null })
    }
}

fn folded(schema: &Schema) -> HashMap<String, Option<i32>> {
    let mut names = HashMap::new();
    schema.for_each_field(&mut |parents, field| {
        let mut name: String = parents.iter().map(|parent| format!("{}.", parent.name.to_lowercase())).collect();
        name.push_str(&field.name.to_lowercase());
        names.entry(name).and_modify(|id| *id = None).or_insert(Some(field.id));
    });
    names
}

struct Column<'a> {
    field: &'a Field,
    never_null: bool,
}

/// Binds an expression.
pub(super) fn bind(expression: Expression, columns: &Columns<'_>) -> Result<Filter, Error> {
    Binder { columns, leaves: 0 }.bind(expression, false)
}

struct Binder<'a> {
    columns: &'a Columns<'a>,
    /// Leaves so far that ask something.
    leaves: usize,
}

impl Binder<'_> {
    fn bind(&mut self, expression: Expression, negated: bool) -> Result<Filter, Error> {
        Ok(match expression {
            Expression::Constant(constant) => Filter::Constant(constant != negated),
            Expression::Not(child) => self.bind(*child, !negated)?,
            Expression::And(left, right) if negated => or(self.bind(*left, true)?, self.bind(*right, true)?),
            Expression::And(left, right) => and(self.bind(*left, false)?, self.bind(*right, false)?),
            Expression::Or(left, right) if negated => and(self.bind(*left, true)?, self.bind(*right, true)?),
            Expression::Or(left, right) => or(self.bind(*left, false)?, self.bind(*right, false)?),
            Expression::Predicate(predicate) => self.predicate(predicate, negated)?,
        })
    }

    fn predicate(&mut self, predicate: Predicate, negated: bool) -> Result<Filter, Error> {
        let Predicate { asks, json, place } = predicate;
        let Asks::Of(term, question) = asks else { return Ok(Filter::Leaf(Leaf { json, negated, asked: None })) };
        let at = |problem: String| Error::Invalid(format!("{place}: {problem}"));
        let column = self.columns.referred(&term.reference).map_err(at)?;
        let as_meant = |test: Test| if negated { test.negated() } else { test };
        let (widened, exact) = match question_about(&column, &term, question).map_err(at)? {
            Bound::Constant(constant) => return Ok(Filter::Constant(constant != negated)),
            Bound::Unknown => return Ok(Filter::Leaf(Leaf { json, negated, asked: None })),
            Bound::Near(comparison, double) => (widen(as_meant(Test::Compare(comparison, Value::float(double)))), None),
            Bound::Test(test) => {
                let test = as_meant(test);
                (Some(test.clone()), Some(test))
            }
        };
        let of = if let Type::Primitive(of) = &column.field.field_type { Some(of.clone()) } else { None };
        let (number, field_id) = (self.leaves, column.field.id);
        self.leaves += 1;
        let asked = Asked { number, field_id, of, transform: term.transform, widened, exact };
        Ok(Filter::Leaf(Leaf { json, negated, asked: Some(asked) }))
    }
}

fn and(left: Filter, right: Filter) -> Filter {
    match (left, right) {
        (Filter::Constant(true), other) | (other, Filter::Constant(true)) => other,
        (Filter::Constant(false), _) | (_, Filter::Constant(false)) => Filter::Constant(false),
        (left, right) => Filter::And(Box::new(left), Box::new(right)),
    }
}

fn or(left: Filter, right: Filter) -> Filter {
    match (left, right) {
        (Filter::Constant(false), other) | (other, Filter::Constant(false)) => other,
        (Filter::Constant(true), _) | (_, Filter::Constant(true)) => Filter::Constant(true),
        (left, right) => Filter::Or(Box::new(left), Box::new(right)),
    }
}

/// A question that a column can answer.
enum Bound {
    Test(Test),
    /// The same answer for every row.
    Constant(bool),
    /// A comparison of floats with a double that is none.
    Near(Comparison, f64),
    /// No answer without looking at rows.
    Unknown,
}

fn question_about(column: &Column<'_>, term: &Term, question: Question) -> Result<Bound, String> {
    let source = &column.field.field_type;
    if let Some(transform) = &term.transform
        && !transform.can_transform(source)
    {
        return Err(format!("Invalid source type {source} for transform: {transform}"));
    }
    match question {
        Question::IsNull => Ok(null_test(column, term, true)),
        Question::NotNull => Ok(null_test(column, term, false)),
        Question::IsNan | Question::NotNan if !is_floating(source) || term.transform.is_some() => {
            Err("IsNaN and NotNaN cannot be used with a non-floating-point column".to_owned())
        }
        Question::IsNan => Ok(Bound::Test(Test::IsNan)),
        Question::NotNan => Ok(Bound::Test(Test::NotNan)),
        about_values => match value_type(term, source) {
            Ok(of) => about(&of, about_values),
            Err(None) => Ok(Bound::Unknown),
            Err(Some(problem)) => Err(problem),
        },
    }
}

fn null_test(column: &Column<'_>, term: &Term, is_null: bool) -> Bound {
    if matches!(column.field.field_type, Type::Primitive(Primitive::Unknown)) {
        return Bound::Constant(is_null);
    }
    if column.never_null && term.transform.is_none() {
        return Bound::Constant(!is_null);
    }
    Bound::Test(if is_null { Test::IsNull } else { Test::NotNull })
}

/// The type of the values that are compared. An error without text if nobody here can tell.
fn value_type(term: &Term, source: &Type) -> Result<Primitive, Option<String>> {
    match (&term.transform, source) {
        (_, Type::Other(_)) => Err(None),
        (Some(transform), source) => result_type(transform, Some(source)).ok_or(None),
        (None, Type::Primitive(of)) => Ok(of.clone()),
        (None, nested) => Err(Some(format!("values of type {nested} cannot be compared"))),
    }
}

fn about(of: &Primitive, question: Question) -> Result<Bound, String> {
    let value = |literal: &Literal| {
        convert(literal, of)
            .ok_or_else(|| format!("Invalid value for conversion to type {of}: {}", short(&literal.value.to_string())))
    };
    Ok(match question {
        Question::Compare(comparison, literal) => compared(comparison, value(&literal)?),
        Question::In(literals) => one_of(literals.iter().map(value).collect::<Result<_, _>>()?, true),
        Question::NotIn(literals) => one_of(literals.iter().map(value).collect::<Result<_, _>>()?, false),
        Question::StartsWith(literal) => Bound::Test(Test::StartsWith(text_prefix(of, &literal)?)),
        Question::NotStartsWith(literal) => Bound::Test(Test::NotStartsWith(text_prefix(of, &literal)?)),
        Question::IsNull | Question::NotNull | Question::IsNan | Question::NotNan => Bound::Unknown,
    })
}

fn compared(comparison: Comparison, with: Converted) -> Bound {
    use Comparison as C;
    match with {
        Converted::Is(value) => Bound::Test(Test::Compare(comparison, value)),
        Converted::Near(double) => Bound::Near(comparison, double),
        Converted::Between(below, above) => match comparison {
            C::Less | C::LessOrEqual => Bound::Test(Test::Compare(C::Less, above)),
            C::Greater | C::GreaterOrEqual => Bound::Test(Test::Compare(C::Greater, below)),
            C::Equal => Bound::Constant(false),
            C::NotEqual => Bound::Constant(true),
        },
    }
}

/// Whether a value is one of these, or is none of them.
fn one_of(values: Vec<Converted>, is: bool) -> Bound {
    let mut exact = Vec::with_capacity(values.len());
    for value in values {
        match value {
            Converted::Is(value) => exact.push(value),
            Converted::Between(..) => {}
            Converted::Near(_) => return Bound::Unknown,
        }
    }
    match (exact.len(), exact.pop(), is) {
        (0, ..) | (_, None, _) => Bound::Constant(!is),
        (1, Some(only), true) => Bound::Test(Test::Compare(Comparison::Equal, only)),
        (1, Some(only), false) => Bound::Test(Test::Compare(Comparison::NotEqual, only)),
        (_, Some(last), is) => {
            exact.push(last);
            Bound::Test(if is { Test::is_in(exact) } else { Test::is_not_in(exact) })
        }
    }
}

fn text_prefix(of: &Primitive, literal: &Literal) -> Result<Box<str>, String> {
    match (of, convert(literal, of)) {
        (Primitive::String, Some(Converted::Is(Value::Text(text)))) => Ok(text),
        _ => Err(format!("Term for starts-with or not-starts-with must produce a string, not {of}")),
    }
}

/// The comparison that holds whether an engine compares with the double or with the float next to it.
fn widen(test: Test) -> Option<Test> {
    use Comparison as C;
    let Test::Compare(comparison, Value::Float(bits)) = test else { return None };
    let double = f64::from_bits(bits);
    let float = f64::from(single(double));
    match comparison {
        C::Less | C::LessOrEqual => Some(Test::Compare(C::LessOrEqual, Value::float(double.max(float)))),
        C::Greater | C::GreaterOrEqual => Some(Test::Compare(C::GreaterOrEqual, Value::float(double.min(float)))),
        C::Equal | C::NotEqual => None,
    }
}

fn is_floating(of: &Type) -> bool {
    matches!(of, Type::Primitive(Primitive::Float | Primitive::Double))
}
