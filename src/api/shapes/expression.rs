//! Filter expressions, in both grammars of the specification.

use serde::Serialize;
use utoipa::ToSchema;

/// Which rows are wanted: `true`, `false`, or an object with a `type`.
#[derive(ToSchema, Serialize)]
#[serde(untagged)]
pub(in crate::api) enum Expression {
    Constant(bool),
    Not(Box<Not>),
    AndOr(Box<AndOr>),
    OfOne(OfOne),
    OfOneInOldGrammar(OfOneInOldGrammar),
    OfTwo(OfTwo),
    OfTwoInOldGrammar(OfTwoInOldGrammar),
    InSet(InSet),
    InSetInOldGrammar(InSetInOldGrammar),
}

#[derive(ToSchema, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(in crate::api) enum NotTag {
    Not,
}

/// What an expression does not say.
#[derive(ToSchema, Serialize)]
pub(in crate::api) struct Not {
    r#type: NotTag,
    #[schema(no_recursion)]
    child: Expression,
}

#[derive(ToSchema, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(in crate::api) enum AndOrTag {
    And,
    Or,
}

/// Both of two expressions, or one at least.
#[derive(ToSchema, Serialize)]
pub(in crate::api) struct AndOr {
    r#type: AndOrTag,
    #[schema(no_recursion)]
    left: Expression,
    #[schema(no_recursion)]
    right: Expression,
}

#[derive(ToSchema, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(in crate::api) enum OfOneTag {
    IsNull,
    NotNull,
    IsNan,
    NotNan,
}

/// A question about one value.
#[derive(ToSchema, Serialize)]
pub(in crate::api) struct OfOne {
    r#type: OfOneTag,
    child: Operand,
}

/// A question about one value, in the older grammar.
#[derive(ToSchema, Serialize)]
pub(in crate::api) struct OfOneInOldGrammar {
    r#type: OfOneTag,
    term: Term,
}

#[derive(ToSchema, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(in crate::api) enum OfTwoTag {
    Lt,
    LtEq,
    Gt,
    GtEq,
    Eq,
    NotEq,
    StartsWith,
    NotStartsWith,
}

/// A comparison.
#[derive(ToSchema, Serialize)]
pub(in crate::api) struct OfTwo {
    r#type: OfTwoTag,
    left: Operand,
    right: Operand,
}

/// A comparison in the older grammar.
#[derive(ToSchema, Serialize)]
pub(in crate::api) struct OfTwoInOldGrammar {
    r#type: OfTwoTag,
    term: Term,
    value: Value,
}

#[derive(ToSchema, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(in crate::api) enum InSetTag {
    In,
    NotIn,
}

/// Whether a value is one of several.
#[derive(ToSchema, Serialize)]
pub(in crate::api) struct InSet {
    r#type: InSetTag,
    child: Operand,
    values: Values,
}

/// Whether a value is one of several, in the older grammar.
#[derive(ToSchema, Serialize)]
pub(in crate::api) struct InSetInOldGrammar {
    r#type: InSetTag,
    term: Term,
    values: Values,
}

/// Several values.
#[derive(ToSchema, Serialize)]
#[serde(untagged)]
pub(in crate::api) enum Values {
    Plain(Vec<Value>),
    Typed(TypedValues),
}

/// Several values of one type.
#[derive(ToSchema, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(in crate::api) struct TypedValues {
    data_type: String,
    values: Vec<Value>,
}

/// A value, bare or as an object that may say its type.
#[derive(ToSchema, Serialize)]
#[serde(untagged)]
pub(in crate::api) enum Value {
    Bare(LiteralValue),
    Literal(Literal),
}

/// A value: a boolean, a number or a text; other types are written as texts, as in the single-value form of JSON.
#[derive(ToSchema, Serialize)]
#[serde(untagged)]
pub(in crate::api) enum LiteralValue {
    Boolean(bool),
    Number(f64),
    Text(String),
}

/// What a question is about.
#[derive(ToSchema, Serialize)]
#[serde(untagged)]
pub(in crate::api) enum Operand {
    Value(LiteralValue),
    Literal(Literal),
    Reference(Reference),
    Transform(Box<TransformTerm>),
    Apply(Box<Apply>),
}

/// What a question is about, in the older grammar: there a text is a column's name.
#[derive(ToSchema, Serialize)]
#[serde(untagged)]
pub(in crate::api) enum Term {
    Name(String),
    Literal(Literal),
    Reference(Reference),
    Transform(TransformTerm),
    Apply(Box<Apply>),
}

#[derive(ToSchema, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(in crate::api) enum LiteralTag {
    Literal,
}

/// A value that may say its type.
#[derive(ToSchema, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(in crate::api) struct Literal {
    r#type: LiteralTag,
    value: LiteralValue,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    data_type: Option<String>,
}

#[derive(ToSchema, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(in crate::api) enum ReferenceTag {
    Reference,
}

/// A column, by its id or else by its name, which Java calls `term`.
#[derive(ToSchema, Serialize)]
pub(in crate::api) struct Reference {
    r#type: ReferenceTag,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    term: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    id: Option<i32>,
}

#[derive(ToSchema, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(in crate::api) enum ApplyTag {
    Apply,
}

/// A function of values. Those with the name of a transform are known; others are left to who asks.
#[derive(ToSchema, Serialize)]
pub(in crate::api) struct Apply {
    r#type: ApplyTag,
    function: FunctionName,
    /// Operands, as the function takes them.
    arguments: Vec<serde_json::Value>,
}

/// A function's name, or its identifier in a catalog.
#[derive(ToSchema, Serialize)]
#[serde(untagged)]
pub(in crate::api) enum FunctionName {
    Plain(String),
    Levels(Vec<String>),
    #[schema(value_type = Object)]
    Identifier(serde_json::Value),
}

#[derive(ToSchema, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(in crate::api) enum TransformTag {
    Transform,
}

/// A transform of a column.
#[derive(ToSchema, Serialize)]
pub(in crate::api) struct TransformTerm {
    r#type: TransformTag,
    transform: String,
    #[schema(no_recursion)]
    term: Box<Term>,
}
