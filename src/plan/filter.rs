//! A filter bound to the columns of a schema: what need not be read, and what is left to test in what is read.

use serde_json::Value as Json;

use super::predicate::Test;
use crate::spec::{Primitive, Transform};

/// An expression in which only predicates are negated.
#[derive(Debug)]
pub(super) enum Filter {
    Constant(bool),
    And(Box<Filter>, Box<Filter>),
    Or(Box<Filter>, Box<Filter>),
    Leaf(Leaf),
}

/// A predicate of the client's, or its opposite.
#[derive(Debug)]
pub(super) struct Leaf {
    /// As it was sent.
    pub(super) json: Json,
    /// Whether its opposite is meant.
    pub(super) negated: bool,
    /// None if only its sender understands it.
    pub(super) asked: Option<Asked>,
}

/// What a leaf asks of a column.
#[derive(Debug)]
pub(super) struct Asked {
    /// Its place among the leaves that ask something.
    pub(super) number: usize,
    /// The column.
    pub(super) field_id: i32,
    /// Its type, if it is a primitive.
    pub(super) of: Option<Primitive>,
    /// What is applied to the column's values before they are tested; never identity.
    pub(super) transform: Option<Transform>,
    /// Holds for every value that any engine lets through: to tell what need not be read.
    pub(super) widened: Option<Test>,
    /// Holds for exactly the values that every engine lets through: to tell what need not be tested again.
    pub(super) exact: Option<Test>,
}

/// What is left of a filter for the rows of one file.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Residual {
    /// Every row passes, or none.
    Constant(bool),
    /// An expression, as JSON.
    Json(String),
}

impl Filter {
    /// Whether a row may pass, where `leaf` says it of the leaves.
    pub(super) fn may_match(&self, leaf: &mut impl FnMut(&Asked) -> bool) -> bool {
        match self {
            Self::Constant(constant) => *constant,
            Self::And(left, right) => left.may_match(leaf) && right.may_match(leaf),
            Self::Or(left, right) => left.may_match(leaf) || right.may_match(leaf),
            Self::Leaf(Leaf { asked: Some(asked), .. }) => leaf(asked),
            Self::Leaf(Leaf { asked: None, .. }) => true,
        }
    }

    /// What is left to test, where `leaf` answers some of the leaves for all rows.
    pub(super) fn residual(&self, leaf: &mut impl FnMut(&Asked) -> Option<bool>) -> Residual {
        match self {
            Self::Constant(constant) => Residual::Constant(*constant),
            Self::And(left, right) => combine("and", false, left.residual(leaf), || right.residual(leaf)),
            Self::Or(left, right) => combine("or", true, left.residual(leaf), || right.residual(leaf)),
            Self::Leaf(one) => match one.asked.as_ref().and_then(leaf) {
                Some(constant) => Residual::Constant(constant),
                None => Residual::Json(one.to_json()),
            },
        }
    }
}

impl Leaf {
    fn to_json(&self) -> String {
        if self.negated { format!(r#"{{"type":"not","child":{}}}"#, self.json) } else { self.json.to_string() }
    }
}

impl Residual {
    /// The expression as JSON.
    pub(super) fn as_json(&self) -> &str {
        match self {
            Self::Constant(true) => "true",
            Self::Constant(false) => "false",
            Self::Json(json) => json,
        }
    }
}

/// Joins two sides. `decisive` is what decides the whole by itself: false for "and", true for "or".
fn combine(kind: &str, decisive: bool, left: Residual, right: impl FnOnce() -> Residual) -> Residual {
    if left == Residual::Constant(decisive) {
        return left;
    }
    match (left, right()) {
        (_, Residual::Constant(constant)) if constant == decisive => Residual::Constant(decisive),
        (Residual::Constant(_), other) | (other, Residual::Constant(_)) => other,
        (Residual::Json(left), Residual::Json(right)) => {
            Residual::Json(format!(r#"{{"type":"{kind}","left":{left},"right":{right}}}"#))
        }
    }
}
