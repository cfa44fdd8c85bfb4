//! Filter expressions as clients write them, in both grammars of the REST specification.
//!
//! The older grammar has `term` and `value`, the newer one `child`, or `left` and `right`, with references, literals
//! and function applications as objects of their own. Every error says where in the request the fault is.

use serde_json::{Map, Value as Json};

use super::Error;
use super::predicate::Comparison;
use crate::spec::Transform;

/// How many predicates and how many literals one expression may have.
const MOST_PREDICATES: usize = 10_000;
const MOST_LITERALS: usize = 500_000;

/// An expression that names columns.
#[derive(Debug)]
pub(super) enum Expression {
    Constant(bool),
    Not(Box<Expression>),
    And(Box<Expression>, Box<Expression>),
    Or(Box<Expression>, Box<Expression>),
    Predicate(Box<Predicate>),
}

/// One question about rows, with its text as it was sent but for the spelling of its types.
#[derive(Debug)]
pub(super) struct Predicate {
    pub(super) asks: Asks,
    pub(super) json: Json,
    /// Where it stands, such as `filter.left`.
    pub(super) place: String,
}

/// What a predicate asks.
#[derive(Debug)]
pub(super) enum Asks {
    /// Something about one column.
    Of(Term, Question),
    /// Something that only its sender can answer: a comparison of two columns, an unknown function.
    Other,
}

/// A column, or a transform of one.
#[derive(Debug)]
pub(super) struct Term {
    pub(super) reference: Reference,
    pub(super) transform: Option<Transform>,
}

#[derive(Debug)]
pub(super) enum Reference {
    Name(String),
    Id(i32),
}

#[derive(Debug)]
pub(super) enum Question {
    IsNull,
    NotNull,
    IsNan,
    NotNan,
    Compare(Comparison, Literal),
    In(Vec<Literal>),
    NotIn(Vec<Literal>),
    StartsWith(Literal),
    NotStartsWith(Literal),
}

/// A value that is not null, and its type if the client says it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Literal {
    pub(super) value: Json,
    pub(super) data_type: Option<String>,
}

/// One side of a comparison.
enum Operand {
    Term(Term),
    Literal(Literal),
    Other,
}

impl Expression {
    /// Reads an expression that stands at `place`.
    pub(super) fn parse(json: Json, place: &str) -> Result<Self, Error> {
        Parser { predicates_left: MOST_PREDICATES, literals_left: MOST_LITERALS }.expression(json, place)
    }
}

struct Parser {
    predicates_left: usize,
    literals_left: usize,
}

impl Parser {
    fn expression(&mut self, json: Json, place: &str) -> Result<Expression, Error> {
        let mut object = match json {
            Json::Bool(constant) => return Ok(Expression::Constant(constant)),
            Json::Object(object) => object,
            other => return Err(wrong(place, "an expression", &other)),
        };
        let kind = kind(&object, place)?;
        match kind.as_str() {
            "true" => Ok(Expression::Constant(true)),
            "false" => Ok(Expression::Constant(false)),
            "literal" => match object.get("value") {
                Some(Json::Bool(constant)) => Ok(Expression::Constant(*constant)),
                other => Err(wrong(&format!("{place}.value"), "true or false", other.unwrap_or(&Json::Null))),
            },
            "not" => Ok(Expression::Not(Box::new(self.part(&mut object, "child", place)?))),
            "and" | "or" => {
                let left = Box::new(self.part(&mut object, "left", place)?);
                let right = Box::new(self.part(&mut object, "right", place)?);
                Ok(if kind == "and" { Expression::And(left, right) } else { Expression::Or(left, right) })
            }
            _ => {
                let predicate = self.predicate(&kind, object, place)?;
                Ok(Expression::Predicate(Box::new(predicate)))
            }
        }
    }

    fn part(&mut self, object: &mut Map<String, Json>, key: &str, place: &str) -> Result<Expression, Error> {
        let part = object.remove(key).ok_or_else(|| missing(place, key))?;
        self.expression(part, &format!("{place}.{key}"))
    }

    fn predicate(&mut self, kind: &str, object: Map<String, Json>, place: &str) -> Result<Predicate, Error> {
        self.predicates_left = self
            .predicates_left
            .checked_sub(1)
            .ok_or_else(|| Error::Invalid(format!("{place}: more than {MOST_PREDICATES} predicates")))?;
        let asks = match kind {
            "is-null" => self.unary(&object, place, Question::IsNull)?,
            "not-null" => self.unary(&object, place, Question::NotNull)?,
            "is-nan" => self.unary(&object, place, Question::IsNan)?,
            "not-nan" => self.unary(&object, place, Question::NotNan)?,
            "lt" => self.comparison(&object, place, Comparison::Less)?,
            "lt-eq" => self.comparison(&object, place, Comparison::LessOrEqual)?,
            "gt" => self.comparison(&object, place, Comparison::Greater)?,
            "gt-eq" => self.comparison(&object, place, Comparison::GreaterOrEqual)?,
            "eq" => self.comparison(&object, place, Comparison::Equal)?,
            "not-eq" => self.comparison(&object, place, Comparison::NotEqual)?,
            "starts-with" => self.prefix(&object, place, Question::StartsWith)?,
            "not-starts-with" => self.prefix(&object, place, Question::NotStartsWith)?,
            "in" => self.set(&object, place, Question::In)?,
            "not-in" => self.set(&object, place, Question::NotIn)?,
            other => return Err(Error::Invalid(format!("{place}.type: unknown expression type `{}`", short(other)))),
        };
        let mut json = Json::Object(object);
        fold_types(&mut json);
        Ok(Predicate { asks, json, place: place.to_owned() })
    }

    fn unary(&mut self, object: &Map<String, Json>, place: &str, question: Question) -> Result<Asks, Error> {
        forbid(object, place, &["value", "values", "left", "right"])?;
        self.one(object, place, |term, _| Ok(Asks::Of(term, question)))
    }

    fn set(
        &mut self,
        object: &Map<String, Json>,
        place: &str,
        question: impl FnOnce(Vec<Literal>) -> Question,
    ) -> Result<Asks, Error> {
        forbid(object, place, &["value", "left", "right"])?;
        let values = object.get("values").ok_or_else(|| missing(place, "values"))?;
        let literals = self.literals(values, &format!("{place}.values"))?;
        self.one(object, place, |term, _| Ok(Asks::Of(term, question(literals))))
    }

    /// The only operand, `child` or `term`.
    fn one(
        &mut self,
        object: &Map<String, Json>,
        place: &str,
        asks: impl FnOnce(Term, &mut Self) -> Result<Asks, Error>,
    ) -> Result<Asks, Error> {
        let (key, json) = either(object, "child", "term", place)?;
        match self.operand(json, &format!("{place}.{key}"), key == "term")? {
            Operand::Term(term) => asks(term, self),
            Operand::Other => Ok(Asks::Other),
            Operand::Literal(_) => Err(wrong(&format!("{place}.{key}"), "a reference", json)),
        }
    }

    /// The two operands: `left` and `right`, or `term` and `value`.
    fn two(&mut self, object: &Map<String, Json>, place: &str) -> Result<(Operand, Operand), Error> {
        forbid(object, place, &["values", "child"])?;
        let (first, left) = either(object, "left", "term", place)?;
        let (second, right) = either(object, "right", "value", place)?;
        if (first == "left") != (second == "right") {
            return Err(Error::Invalid(format!("{place}: {first} goes with {}", pair_of(first))));
        }
        let left = self.operand(left, &format!("{place}.{first}"), first == "term")?;
        let place = format!("{place}.{second}");
        let right = if second == "value" {
            Operand::Literal(self.literal(right, &place)?)
        } else {
            self.operand(right, &place, false)?
        };
        Ok((left, right))
    }

    fn comparison(&mut self, object: &Map<String, Json>, place: &str, comparison: Comparison) -> Result<Asks, Error> {
        Ok(match self.two(object, place)? {
            (Operand::Term(term), Operand::Literal(literal)) => Asks::Of(term, Question::Compare(comparison, literal)),
            (Operand::Literal(literal), Operand::Term(term)) => {
                Asks::Of(term, Question::Compare(comparison.flipped(), literal))
            }
            _ => Asks::Other,
        })
    }

    fn prefix(
        &mut self,
        object: &Map<String, Json>,
        place: &str,
        question: impl FnOnce(Literal) -> Question,
    ) -> Result<Asks, Error> {
        Ok(match self.two(object, place)? {
            (Operand::Term(term), Operand::Literal(literal)) => Asks::Of(term, question(literal)),
            _ => Asks::Other,
        })
    }

    /// A value expression. In the older grammar (`bare_names`) a text is the name of a column, else it is a literal.
    fn operand(&mut self, json: &Json, place: &str, bare_names: bool) -> Result<Operand, Error> {
        let object = match json {
            Json::String(name) if bare_names => return Ok(Operand::Term(Term::name(name))),
            Json::Object(object) => object,
            other if bare_names => return Err(wrong(place, "a column's name or a transform", other)),
            other => return self.literal(other, place).map(Operand::Literal),
        };
        match kind(object, place)?.as_str() {
            "literal" => self.literal(json, place).map(Operand::Literal),
            "reference" => Ok(Operand::Term(Term { reference: reference(object, place)?, transform: None })),
            "transform" => {
                let name = text(object, "transform", place)?;
                let term = object.get("term").ok_or_else(|| missing(place, "term"))?;
                self.transformed(name, term, &format!("{place}.term"), true)
            }
            "apply" => self.application(object, place),
            other => Err(Error::Invalid(format!("{place}.type: `{}` is no value expression", short(other)))),
        }
    }

    /// A function of a column. Those with the name of a transform are known.
    fn application(&mut self, object: &Map<String, Json>, place: &str) -> Result<Operand, Error> {
        let function = object.get("function").ok_or_else(|| missing(place, "function"))?;
        let arguments = match object.get("arguments") {
            Some(Json::Array(arguments)) => arguments,
            Some(other) => return Err(wrong(&format!("{place}.arguments"), "an array", other)),
            None => return Err(missing(place, "arguments")),
        };
        match (function, arguments.as_slice()) {
            (Json::String(name), [argument]) => {
                self.transformed(name, argument, &format!("{place}.arguments[0]"), false)
            }
            (Json::String(_) | Json::Object(_), _) => Ok(Operand::Other),
            (Json::Array(levels), _) if levels.iter().all(Json::is_string) => Ok(Operand::Other),
            (other, _) => Err(wrong(&format!("{place}.function"), "the name of a function", other)),
        }
    }

    fn transformed(&mut self, name: &str, of: &Json, place: &str, bare_names: bool) -> Result<Operand, Error> {
        let transform = Transform::parse(name).map_err(|error| Error::Invalid(format!("{place}: {error}")))?;
        Ok(match (self.operand(of, place, bare_names)?, transform) {
            (Operand::Term(term), Transform::Identity) => Operand::Term(term),
            (Operand::Term(_), Transform::Other(_)) => Operand::Other,
            (Operand::Term(term), transform) if term.transform.is_none() => {
                Operand::Term(Term { transform: Some(transform), ..term })
            }
            _ => Operand::Other,
        })
    }

    /// An array of literals, or an object that gives them a type.
    fn literals(&mut self, json: &Json, place: &str) -> Result<Vec<Literal>, Error> {
        match json {
            Json::Array(items) => {
                let place = |at: usize| format!("{place}[{at}]");
                items.iter().enumerate().map(|(at, item)| self.literal(item, &place(at))).collect()
            }
            Json::Object(object) => {
                let data_type = Some(text(object, "data-type", place)?.to_owned());
                let values = object.get("values").ok_or_else(|| missing(place, "values"))?;
                let Json::Array(_) = values else { return Err(wrong(&format!("{place}.values"), "an array", values)) };
                let literals = self.literals(values, &format!("{place}.values"))?;
                Ok(literals.into_iter().map(|literal| Literal { data_type: data_type.clone(), ..literal }).collect())
            }
            other => Err(wrong(place, "an array of literals", other)),
        }
    }

    fn literal(&mut self, json: &Json, place: &str) -> Result<Literal, Error> {
        self.literals_left = self
            .literals_left
            .checked_sub(1)
            .ok_or_else(|| Error::Invalid(format!("{place}: more than {MOST_LITERALS} literals")))?;
        let (value, data_type) = match json {
            Json::Object(object) => {
                match kind(object, place)?.as_str() {
                    "literal" => {}
                    other => return Err(Error::Invalid(format!("{place}.type: `{}` is no literal", short(other)))),
                }
                let value = object.get("value").ok_or_else(|| missing(place, "value"))?;
                let data_type = object.contains_key("data-type").then(|| text(object, "data-type", place));
                (value, data_type.transpose()?.map(str::to_owned))
            }
            other => (other, None),
        };
        match value {
            Json::Bool(_) | Json::Number(_) | Json::String(_) => Ok(Literal { value: value.clone(), data_type }),
            other => Err(wrong(place, "a literal", other)),
        }
    }
}

impl Term {
    fn name(name: &str) -> Self {
        Self { reference: Reference::Name(name.to_owned()), transform: None }
    }
}

/// A reference by name or by id; Java names the name `term`.
fn reference(object: &Map<String, Json>, place: &str) -> Result<Reference, Error> {
    if let Some(id) = object.get("id") {
        let number = id.as_i64().and_then(|id| i32::try_from(id).ok());
        return number.map(Reference::Id).ok_or_else(|| wrong(&format!("{place}.id"), "a field id", id));
    }
    let key = if object.contains_key("name") { "name" } else { "term" };
    Ok(Reference::Name(text(object, key, place)?.to_owned()))
}

/// The `type` of an object, in lower case with hyphens.
fn kind(object: &Map<String, Json>, place: &str) -> Result<String, Error> {
    Ok(folded(text(object, "type", place)?))
}

/// Spells each `type` of a predicate as the specification does: the predicate is sent back as a residual.
fn fold_types(json: &mut Json) {
    let Json::Object(object) = json else { return };
    if let Some(Json::String(kind)) = object.get_mut("type") {
        *kind = folded(kind);
    }
    for key in ["child", "left", "right", "term", "value"] {
        object.get_mut(key).map(fold_types);
    }
    for key in ["values", "arguments"] {
        if let Some(Json::Array(items)) = object.get_mut(key) {
            items.iter_mut().for_each(fold_types);
        }
    }
}

fn folded(kind: &str) -> String {
    kind.to_ascii_lowercase().replace('_', "-")
}

fn text<'a>(object: &'a Map<String, Json>, key: &str, place: &str) -> Result<&'a str, Error> {
    match object.get(key) {
        Some(Json::String(text)) => Ok(text),
        Some(other) => Err(wrong(&format!("{place}.{key}"), "a string", other)),
        None => Err(missing(place, key)),
    }
}

/// The member that is there of two that mean the same.
fn either<'a>(
    object: &'a Map<String, Json>,
    new: &'static str,
    old: &'static str,
    place: &str,
) -> Result<(&'static str, &'a Json), Error> {
    match (object.get(new), object.get(old)) {
        (Some(json), None) => Ok((new, json)),
        (None, Some(json)) => Ok((old, json)),
        (None, None) => Err(Error::Invalid(format!("{place}: missing {new} (or {old})"))),
        (Some(_), Some(_)) => Err(Error::Invalid(format!("{place}: both {new} and {old}"))),
    }
}

fn pair_of(first: &str) -> &'static str {
    if first == "left" { "right" } else { "value" }
}

fn forbid(object: &Map<String, Json>, place: &str, keys: &[&str]) -> Result<(), Error> {
    match keys.iter().find(|key| object.contains_key(**key)) {
        Some(key) => Err(Error::Invalid(format!("{place}.{key}: not a member of this type of expression"))),
        None => Ok(()),
    }
}

fn missing(place: &str, key: &str) -> Error {
    Error::Invalid(format!("{place}: missing {key}"))
}

fn wrong(place: &str, expected: &str, found: &Json) -> Error {
    Error::Invalid(format!("{place}: expected {expected}, found {}", short(&found.to_string())))
}

/// At most 80 characters of a text that a client wrote.
pub(super) fn short(text: &str) -> String {
    let cut: String = text.chars().take(80).collect();
    if cut.len() < text.len() { format!("{cut}...") } else { cut }
}
