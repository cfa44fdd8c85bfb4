//! Predicates on columns as predicates on partition values (spec: "Scan planning").
//!
//! The inclusive projection holds for the partition of every row that the predicate holds for; the strict projection
//! holds only for partitions all of whose rows it holds for. So the first tells what need not be read, and the second
//! what need not be tested again.

use super::filter::Asked;
use super::predicate::{Comparison, Test};
use super::transform::{apply, prefix};
use crate::manifest::Value;
use crate::spec::{PartitionField, Primitive, Transform};

/// Which of the two projections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Projection {
    Inclusive,
    Strict,
}

/// What the predicate asks of the values of a partition field made of the same column. None if it asks nothing.
pub(super) fn project(projection: Projection, field: &PartitionField, asked: &Asked) -> Option<Test> {
    let test = match projection {
        Projection::Inclusive => asked.widened.as_ref()?,
        Projection::Strict => asked.exact.as_ref()?,
    };
    if field.source.ids() != [asked.field_id] {
        return None;
    }
    if let Some(transform) = &asked.transform {
        return (*transform == field.transform).then(|| test.clone());
    }
    let source = asked.of.as_ref()?;
    let of = Of { transform: &field.transform, source };
    match (&field.transform, test) {
        (Transform::Identity, test) => Some(test.clone()),
        (Transform::Void | Transform::Other(_), _) => None,
        // Every other transform gives null for null, and for nothing else.
        (_, Test::IsNull | Test::NotNull) => Some(test.clone()),
        (Transform::Bucket(_), test) => of.bucket(projection, test),
        (Transform::Truncate(width), Test::StartsWith(text) | Test::NotStartsWith(text)) => {
            of.starts_with(projection, test, *width, text)
        }
        (_, test) => of.ordered(projection, test).map(|test| of.corrected(projection, test)),
    }
}

/// A transform of a column of this type.
struct Of<'a> {
    transform: &'a Transform,
    source: &'a Primitive,
}

impl Of<'_> {
    fn apply(&self, value: &Value) -> Option<Value> {
        apply(self.transform, self.source, value)
    }

    fn apply_all<'v>(&self, values: impl IntoIterator<Item = &'v Value>) -> Option<Vec<Value>> {
        values.into_iter().map(|value| self.apply(value)).collect()
    }

    fn bucket(&self, projection: Projection, test: &Test) -> Option<Test> {
        match (projection, test) {
            (Projection::Inclusive, Test::Compare(comparison @ Comparison::Equal, value))
            | (Projection::Strict, Test::Compare(comparison @ Comparison::NotEqual, value)) => {
                Some(Test::Compare(*comparison, self.apply(value)?))
            }
            _ => self.set(projection, test),
        }
    }

    fn set(&self, projection: Projection, test: &Test) -> Option<Test> {
        match (projection, test) {
            (Projection::Inclusive, Test::In(values)) => self.apply_all(&**values).map(Test::is_in),
            (Projection::Strict, Test::NotIn(values)) => self.apply_all(&**values).map(Test::is_not_in),
            _ => None,
        }
    }

    /// Projects through a transform that keeps the order: truncate, and the parts of a time.
    fn ordered(&self, projection: Projection, test: &Test) -> Option<Test> {
        use Comparison as C;
        let Test::Compare(comparison, value) = test else { return self.set(projection, test) };
        let (comparison, value) = match (projection, comparison) {
            (Projection::Inclusive, C::Less) => (C::LessOrEqual, self.apply(&stepped(value, -1)?)?),
            (Projection::Inclusive, C::LessOrEqual) => (C::LessOrEqual, self.apply(value)?),
            (Projection::Inclusive, C::Greater) => (C::GreaterOrEqual, self.apply(&stepped(value, 1)?)?),
            (Projection::Inclusive, C::GreaterOrEqual) => (C::GreaterOrEqual, self.apply(value)?),
            (Projection::Inclusive, C::Equal) => (C::Equal, self.apply(value)?),
            (Projection::Strict, C::Less) => (C::Less, self.apply(value)?),
            (Projection::Strict, C::LessOrEqual) => (C::Less, self.apply(&stepped(value, 1)?)?),
            (Projection::Strict, C::Greater) => (C::Greater, self.apply(value)?),
            (Projection::Strict, C::GreaterOrEqual) => (C::Greater, self.apply(&stepped(value, -1)?)?),
            (Projection::Strict, C::NotEqual) => (C::NotEqual, self.apply(value)?),
            (Projection::Inclusive, C::NotEqual) | (Projection::Strict, C::Equal) => return None,
        };
        Some(Test::Compare(comparison, value))
    }

    fn starts_with(&self, projection: Projection, test: &Test, width: u32, text: &str) -> Option<Test> {
        let cut = Value::Text(prefix(text, width).into());
        let length = text.chars().count();
        let width = width as usize;
        match (test, projection) {
            _ if length < width => Some(test.clone()),
            (Test::StartsWith(_), Projection::Inclusive) => Some(Test::Compare(Comparison::Equal, cut)),
            (Test::NotStartsWith(_), Projection::Strict) => Some(Test::Compare(Comparison::NotEqual, cut)),
            (Test::StartsWith(_), _) if length == width => Some(Test::Compare(Comparison::Equal, cut)),
            (Test::NotStartsWith(_), _) if length == width => Some(Test::Compare(Comparison::NotEqual, cut)),
            _ => None,
        }
    }

    /// Writers before Iceberg 0.11 put times before 1970 one unit too high. Their tables are read right by asking for
    /// a little more, or promising a little less.
    fn corrected(&self, projection: Projection, test: Test) -> Test {
        use Comparison as C;
        let days_of_dates = matches!((self.transform, self.source), (Transform::Day, Primitive::Date));
        let is_time = matches!(self.transform, Transform::Year | Transform::Month | Transform::Day | Transform::Hour);
        if !is_time || days_of_dates {
            return test;
        }
        match (projection, test) {
            (Projection::Inclusive, Test::Compare(C::LessOrEqual, Value::Integer(value))) if value < 0 => {
                Test::Compare(C::LessOrEqual, Value::Integer(value + 1))
            }
            (Projection::Inclusive, Test::Compare(C::Equal, Value::Integer(value))) if value < 0 => {
                Test::is_in([Value::Integer(value), Value::Integer(value + 1)])
            }
            (Projection::Inclusive, Test::In(values)) => Test::is_in(with_next(&values)),
            (Projection::Strict, Test::Compare(C::Greater, Value::Integer(value))) if value <= 0 => {
                Test::Compare(C::Greater, Value::Integer(value + 1))
            }
            (Projection::Strict, Test::Compare(C::NotEqual, Value::Integer(value))) if value < 0 => {
                Test::is_not_in([Value::Integer(value), Value::Integer(value + 1)])
            }
            (Projection::Strict, Test::NotIn(values)) => Test::is_not_in(with_next(&values)),
            (_, test) => test,
        }
    }
}

/// The values, and beside each that is negative the next one.
fn with_next(values: &std::collections::HashSet<Value>) -> Vec<Value> {
    let next = values.iter().filter_map(|value| match value {
        Value::Integer(value) if *value < 0 => Some(Value::Integer(value + 1)),
        _ => None,
    });
    values.iter().cloned().chain(next).collect()
}

/// The next number, or the one before. Texts and bytes have no such thing: they stay, which is a little less sharp.
fn stepped(value: &Value, step: i8) -> Option<Value> {
    Some(match value {
        Value::Integer(value) => Value::Integer(value.checked_add(i64::from(step))?),
        Value::Decimal(value) => Value::Decimal(value.checked_add(i128::from(step))?),
        Value::Text(_) | Value::Bytes(_) => value.clone(),
        Value::Null | Value::Boolean(_) | Value::Float(_) => return None,
    })
}
