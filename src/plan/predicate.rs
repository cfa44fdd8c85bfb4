//! What a predicate asks of a value, and how it is answered: for a value, or for all values within bounds.

use std::cmp::Ordering;
use std::collections::HashSet;
use std::sync::Arc;

use super::value::{compare, is_nan};
use crate::manifest::Value;

/// With more values than this, a set is not compared with bounds: as in Java, it would cost more than it saves.
const MOST_COMPARED: usize = 200;

/// A question about one value. Null answers only the questions that ask for it, and the negative ones.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Test {
    IsNull,
    NotNull,
    IsNan,
    NotNan,
    Compare(Comparison, Value),
    In(Arc<HashSet<Value>>),
    NotIn(Arc<HashSet<Value>>),
    StartsWith(Box<str>),
    NotStartsWith(Box<str>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Comparison {
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Equal,
    NotEqual,
}

/// What is known of some values.
#[derive(Debug, Default)]
pub(super) struct Range {
    /// Not above any of the values that are neither null nor NaN.
    pub(super) lower: Option<Value>,
    /// Not below any of them.
    pub(super) upper: Option<Value>,
    /// Whether none of them is null or NaN.
    pub(super) only_values: bool,
}

impl Comparison {
    fn negated(self) -> Self {
        match self {
            Self::Less => Self::GreaterOrEqual,
            Self::LessOrEqual => Self::Greater,
            Self::Greater => Self::LessOrEqual,
            Self::GreaterOrEqual => Self::Less,
            Self::Equal => Self::NotEqual,
            Self::NotEqual => Self::Equal,
        }
    }

    /// The comparison with its two sides exchanged.
    pub(super) fn flipped(self) -> Self {
        match self {
            Self::Less => Self::Greater,
            Self::LessOrEqual => Self::GreaterOrEqual,
            Self::Greater => Self::Less,
            Self::GreaterOrEqual => Self::LessOrEqual,
            Self::Equal | Self::NotEqual => self,
        }
    }

    fn holds(self, order: Ordering) -> bool {
        match self {
            Self::Less => order.is_lt(),
            Self::LessOrEqual => order.is_le(),
            Self::Greater => order.is_gt(),
            Self::GreaterOrEqual => order.is_ge(),
            Self::Equal => order.is_eq(),
            Self::NotEqual => order.is_ne(),
        }
    }
}

impl Test {
    /// Whether one of these values is it.
    pub(super) fn is_in(values: impl IntoIterator<Item = Value>) -> Self {
        Self::In(Arc::new(values.into_iter().collect()))
    }

    /// Whether none of these values is it.
    pub(super) fn is_not_in(values: impl IntoIterator<Item = Value>) -> Self {
        Self::NotIn(Arc::new(values.into_iter().collect()))
    }

    /// The opposite question.
    pub(super) fn negated(self) -> Self {
        match self {
            Self::IsNull => Self::NotNull,
            Self::NotNull => Self::IsNull,
            Self::IsNan => Self::NotNan,
            Self::NotNan => Self::IsNan,
            Self::Compare(comparison, value) => Self::Compare(comparison.negated(), value),
            Self::In(values) => Self::NotIn(values),
            Self::NotIn(values) => Self::In(values),
            Self::StartsWith(prefix) => Self::NotStartsWith(prefix),
            Self::NotStartsWith(prefix) => Self::StartsWith(prefix),
        }
    }

    /// The answer for a value. None if engines may disagree on it.
    pub(super) fn holds(&self, value: &Value) -> Option<bool> {
        let null = *value == Value::Null;
        match self {
            Self::IsNull => Some(null),
            Self::NotNull => Some(!null),
            Self::IsNan => Some(is_nan(value)),
            Self::NotNan => Some(!is_nan(value)),
            Self::Compare(comparison, _) if null => Some(*comparison == Comparison::NotEqual),
            Self::Compare(comparison, than) => compare(value, than).map(|order| comparison.holds(order)),
            Self::In(_) if null => Some(false),
            Self::In(values) => contains(values, value),
            Self::NotIn(_) if null => Some(true),
            Self::NotIn(values) => contains(values, value).map(|found| !found),
            Self::StartsWith(_) if null => Some(false),
            Self::StartsWith(prefix) => starts_with(value, prefix),
            Self::NotStartsWith(_) if null => Some(true),
            Self::NotStartsWith(prefix) => starts_with(value, prefix).map(|found| !found),
        }
    }

    /// Whether the answer may be yes for one of the values. What asks for null or NaN may always be.
    pub(super) fn may_hold_in(&self, range: &Range) -> bool {
        match self {
            Self::IsNull | Self::NotNull | Self::IsNan | Self::NotNan => true,
            Self::Compare(comparison, than) => compared_with(*comparison, than, range),
            Self::In(values) if values.len() > MOST_COMPARED => true,
            Self::In(values) => values.iter().any(|value| compared_with(Comparison::Equal, value, range)),
            Self::NotIn(values) => range.only().is_none_or(|only| contains(values, only) != Some(true)),
            Self::StartsWith(prefix) => {
                starts_within(range.lower.as_ref(), prefix, Ordering::Greater)
                    && starts_within(range.upper.as_ref(), prefix, Ordering::Less)
            }
            Self::NotStartsWith(prefix) => {
                let starts = |bound: &Option<Value>| bound.as_ref().and_then(|b| starts_with(b, prefix)) == Some(true);
                !(range.only_values && starts(&range.lower) && starts(&range.upper))
            }
        }
    }
}

impl Range {
    /// The only value, if all are the same.
    fn only(&self) -> Option<&Value> {
        let (lower, upper) = (self.lower.as_ref()?, self.upper.as_ref()?);
        (self.only_values && compare(lower, upper) == Some(Ordering::Equal)).then_some(lower)
    }

    fn lower_is(&self, than: &Value, is: impl Fn(Ordering) -> bool) -> bool {
        self.lower.as_ref().and_then(|lower| compare(lower, than)).is_some_and(is)
    }

    fn upper_is(&self, than: &Value, is: impl Fn(Ordering) -> bool) -> bool {
        self.upper.as_ref().and_then(|upper| compare(upper, than)).is_some_and(is)
    }
}

fn compared_with(comparison: Comparison, than: &Value, range: &Range) -> bool {
    match comparison {
        Comparison::Less => !range.lower_is(than, Ordering::is_ge),
        Comparison::LessOrEqual => !range.lower_is(than, Ordering::is_gt),
        Comparison::Greater => !range.upper_is(than, Ordering::is_le),
        Comparison::GreaterOrEqual => !range.upper_is(than, Ordering::is_lt),
        Comparison::Equal => !range.lower_is(than, Ordering::is_gt) && !range.upper_is(than, Ordering::is_lt),
        Comparison::NotEqual => range.only().and_then(|only| compare(only, than)) != Some(Ordering::Equal),
    }
}

/// Whether the set has the value. None where a value of the set cannot be told from it.
fn contains(values: &HashSet<Value>, value: &Value) -> Option<bool> {
    // Only of kinds that are compared bit by bit is the absence of a value certain.
    let certain = match value {
        Value::Float(bits) => !f64::from_bits(*bits).is_nan() && f64::from_bits(*bits) != 0.0,
        _ => values.iter().next().is_none_or(|one| std::mem::discriminant(one) == std::mem::discriminant(value)),
    };
    certain.then(|| values.contains(value))
}

fn starts_with(value: &Value, prefix: &str) -> Option<bool> {
    if let Value::Text(text) = value { Some(text.starts_with(prefix)) } else { None }
}

/// Whether a bound, cut to the length of the prefix, is not on the wrong side of it.
fn starts_within(bound: Option<&Value>, prefix: &str, wrong: Ordering) -> bool {
    let Some(Value::Text(bound)) = bound else { return true };
    let (bound, prefix) = (bound.as_bytes(), prefix.as_bytes());
    bound.get(..prefix.len()).unwrap_or(bound).cmp(prefix) != wrong
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn range(lower: i64, upper: i64) -> Range {
        Range { lower: Some(Value::Integer(lower)), upper: Some(Value::Integer(upper)), only_values: true }
    }

    fn texts(lower: &str, upper: &str) -> Range {
        Range { lower: Some(Value::Text(lower.into())), upper: Some(Value::Text(upper.into())), only_values: true }
    }

    fn any_test() -> impl Strategy<Value = Test> {
        let comparison = prop_oneof![
            Just(Comparison::Less),
            Just(Comparison::LessOrEqual),
            Just(Comparison::Greater),
            Just(Comparison::GreaterOrEqual),
            Just(Comparison::Equal),
            Just(Comparison::NotEqual),
        ];
        let set = proptest::collection::vec(-5_i64..5, 1..4).prop_map(|v| v.into_iter().map(Value::Integer));
        prop_oneof![
            (comparison, -5_i64..5).prop_map(|(c, v)| Test::Compare(c, Value::Integer(v))),
            set.clone().prop_map(Test::is_in),
            set.prop_map(Test::is_not_in),
            Just(Test::IsNull),
            Just(Test::NotNull),
        ]
    }

    proptest! {
        #[test]
        fn bounds_never_exclude_a_value_that_answers_yes(test in any_test(), values in proptest::collection::vec(-6_i64..6, 1..5)) {
            let range = range(*values.iter().min().unwrap(), *values.iter().max().unwrap());
            let some = values.iter().any(|value| test.holds(&Value::Integer(*value)) == Some(true));
            prop_assert!(!some || test.may_hold_in(&range), "{test:?} {values:?}");
        }

        #[test]
        fn the_opposite_question_has_the_opposite_answer(test in any_test(), value in -6_i64..6) {
            let value = Value::Integer(value);
            prop_assert_eq!(test.clone().negated().holds(&value), test.holds(&value).map(|yes| !yes));
        }

        #[test]
        fn prefixes_are_found_within_bounds(prefix in "[ab]{0,3}", values in proptest::collection::vec("[ab]{0,4}", 1..4)) {
            let range = texts(values.iter().min().unwrap(), values.iter().max().unwrap());
            for test in [Test::StartsWith(prefix.as_str().into()), Test::NotStartsWith(prefix.as_str().into())] {
                let some = values.iter().any(|v| test.holds(&Value::Text(v.as_str().into())) == Some(true));
                prop_assert!(!some || test.may_hold_in(&range), "{test:?} {values:?}");
            }
        }
    }

    #[test]
    fn bounds_exclude_what_is_outside() {
        let compare = |comparison, value| Test::Compare(comparison, Value::Integer(value));
        for (test, lower, upper) in [
            (compare(Comparison::Less, 5), 5, 9),
            (compare(Comparison::LessOrEqual, 4), 5, 9),
            (compare(Comparison::Greater, 9), 5, 9),
            (compare(Comparison::GreaterOrEqual, 10), 5, 9),
            (compare(Comparison::Equal, 4), 5, 9),
            (compare(Comparison::Equal, 10), 5, 9),
            (compare(Comparison::NotEqual, 5), 5, 5),
            (Test::is_in([Value::Integer(4), Value::Integer(10)]), 5, 9),
            (Test::is_not_in([Value::Integer(5), Value::Integer(10)]), 5, 5),
        ] {
            assert!(!test.may_hold_in(&range(lower, upper)), "{test:?} in {lower}..={upper}");
            assert!(test.may_hold_in(&Range::default()), "{test:?} where nothing is known");
        }
        assert!(!Test::StartsWith("b".into()).may_hold_in(&texts("c", "d")));
        assert!(!Test::StartsWith("e".into()).may_hold_in(&texts("c", "d")));
        assert!(!Test::NotStartsWith("c".into()).may_hold_in(&texts("ca", "cb")));
        assert!(Test::NotStartsWith("c".into()).may_hold_in(&texts("ca", "da")));
    }

    #[test]
    fn null_matches_only_what_asks_for_it_or_excludes_values() {
        let one = Value::Integer(1);
        for (test, expected) in [
            (Test::IsNull, true),
            (Test::NotNull, false),
            (Test::Compare(Comparison::Less, one.clone()), false),
            (Test::Compare(Comparison::Equal, one.clone()), false),
            (Test::Compare(Comparison::NotEqual, one.clone()), true),
            (Test::is_in([one.clone()]), false),
            (Test::is_not_in([one]), true),
            (Test::StartsWith("a".into()), false),
            (Test::NotStartsWith("a".into()), true),
        ] {
            assert_eq!(test.holds(&Value::Null), Some(expected), "{test:?}");
        }
    }

    #[test]
    fn zeros_and_nan_are_never_told_apart() {
        let zero = Test::Compare(Comparison::Equal, Value::float(0.0));
        assert_eq!(zero.holds(&Value::float(-0.0)), None);
        assert_eq!(Test::is_in([Value::float(1.0)]).holds(&Value::float(f64::NAN)), None);
        assert_eq!(Test::is_in([Value::float(0.0)]).holds(&Value::float(-0.0)), None);
        assert_eq!(Test::is_in([Value::float(1.0)]).holds(&Value::float(2.0)), Some(false));
        assert_eq!(Test::is_in([Value::Integer(1)]).holds(&Value::Text("1".into())), None);
    }
}
