//! Schemas: the fields of a table or view, and which of them identify a row.

use std::collections::BTreeSet;

use serde_json::value::RawValue;

use super::default_value;
use super::error::{Error, Result};
use super::json::{Object, Raw, raw_from_valid, shown};
use super::types::{Field, StructType, Type};

mod check;
mod fresh_ids;
mod lookup;
#[cfg(test)]
mod tests;

/// A schema. Members that are not known are kept, here and in every field and type.
#[derive(Debug, Clone)]
pub struct Schema {
    /// The schema's number in its table; 0 where none was given.
    pub schema_id: i32,
    /// The top-level fields in order.
    pub fields: Vec<Field>,
    /// The fields that together identify a row.
    pub identifier_field_ids: Vec<i32>,
    rest: Object,
}

impl Schema {
    /// A schema of these fields, without identifier fields.
    pub fn new(schema_id: i32, fields: Vec<Field>) -> Self {
        Self { schema_id, fields, identifier_field_ids: Vec::new(), rest: Object::default() }
    }

    /// Reads a schema, as strict as the Java implementation: ids and names are unique, a field of type unknown is
    /// optional, defaults are values of their type, identifier fields can identify. An unknown type is kept.
    ///
    /// # Errors
    /// [`Error::Invalid`] that says what is wrong.
    pub fn parse(raw: &RawValue) -> Result<Self> {
        let mut object = Object::parse_raw(raw)?;
        let kind: Option<String> = object.take("type").and_then(|kind| serde_json::from_str(kind.get()).ok());
        if kind.as_deref() != Some("struct") {
            return Err(Error::invalid(format!("Cannot create schema, not a struct type: {}", shown(raw))));
        }
        let schema_id = object.optional_i32("schema-id")?.unwrap_or(0);
        let identifier_field_ids = object.optional_i32s("identifier-field-ids")?.unwrap_or_default();
        let StructType { fields, rest } = StructType::read(object, 0)?;
        let schema = Self { schema_id, fields, identifier_field_ids, rest };
        schema.check_readable()?;
        Ok(schema)
    }

    /// The schema's JSON.
    pub fn to_json(&self) -> Raw {
        let mut out = String::new();
        self.write(&mut out);
        raw_from_valid(out)
    }

    /// Appends the schema's JSON.
    pub(super) fn write(&self, out: &mut String) {
        let mut object = super::json::ObjectWriter::new(out);
        object.str("type", "struct");
        object.int("schema-id", self.schema_id);
        if !self.identifier_field_ids.is_empty() {
            object.array("identifier-field-ids", &self.identifier_field_ids, |out, id| {
                out.push_str(&id.to_string());
            });
        }
        object.array("fields", &self.fields, |out, field| field.write(out));
        object.rest(&self.rest);
        object.finish();
    }

    /// This schema under another number.
    pub fn with_id(mut self, schema_id: i32) -> Self {
        self.schema_id = schema_id;
        self
    }

    /// Whether both are the same but for their numbers: the same fields with their docs and defaults, the same
    /// identifier fields, the same unknown members. How a type or a default is spelled does not matter.
    pub fn same_as(&self, other: &Self) -> bool {
        let ids = |schema: &Self| schema.identifier_field_ids.iter().copied().collect::<BTreeSet<_>>();
        self.rest == other.rest && same_fields(&self.fields, &other.fields) && ids(self) == ids(other)
    }
}

fn same_fields(some: &[Field], others: &[Field]) -> bool {
    some.len() == others.len() && some.iter().zip(others).all(|(one, other)| same_field(one, other))
}

fn same_field(one: &Field, other: &Field) -> bool {
    one.id == other.id
        && one.required == other.required
        && one.name == other.name
        && one.doc == other.doc
        && one.rest == other.rest
        && same_type(&one.field_type, &other.field_type)
        && same_default(&one.field_type, one.initial_default.as_ref(), other.initial_default.as_ref())
        && same_default(&one.field_type, one.write_default.as_ref(), other.write_default.as_ref())
}

fn same_type(one: &Type, other: &Type) -> bool {
    match (one, other) {
        (Type::Primitive(one), Type::Primitive(other)) => one == other,
        (Type::Variant, Type::Variant) => true,
        (Type::Other(one), Type::Other(other)) => one == other,
        (Type::Struct(one), Type::Struct(other)) => one.rest == other.rest && same_fields(&one.fields, &other.fields),
        (Type::List(one), Type::List(other)) => one.rest == other.rest && same_field(&one.element, &other.element),
        (Type::Map(one), Type::Map(other)) => {
            one.rest == other.rest && same_field(&one.key, &other.key) && same_field(&one.value, &other.value)
        }
        _ => false,
    }
}

impl Field {
    /// Whether both have the same initial default: the one value that old rows have.
    pub fn same_initial_default(&self, other: &Self) -> bool {
        same_default(&self.field_type, self.initial_default.as_ref(), other.initial_default.as_ref())
    }
}

fn same_default(field_type: &Type, one: Option<&Raw>, other: Option<&Raw>) -> bool {
    match (one, other) {
        (None, None) => true,
        (Some(one), Some(other)) => one.get() == other.get() || default_value::same(field_type, one, other),
        _ => false,
    }
}
