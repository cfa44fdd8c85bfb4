//! Types: primitives, structs, lists, maps, variant, and whatever a newer engine wrote (spec.md 3.2).

use std::fmt;

use serde_json::value::RawValue;

use super::error::{Error, Result};
use super::json::{Object, ObjectWriter, Raw, elements, push_string, shown};

mod primitive;
mod promotion;

pub use primitive::{EdgeAlgorithm, Primitive};

/// Deepest nesting of types. Nothing real comes near; it bounds the recursion over foreign input.
const MAX_DEPTH: usize = 64;

/// The type of a field.
#[derive(Debug, Clone)]
pub enum Type {
    /// A type without parts.
    Primitive(Primitive),
    /// Semi-structured data; neither primitive nor nested.
    Variant,
    /// Named fields.
    Struct(StructType),
    /// Many values of one type.
    List(Box<ListType>),
    /// Values by key.
    Map(Box<MapType>),
    /// A type name that this version does not know, as written. Kept when read, refused when added.
    Other(String),
}

/// A struct: fields in order.
#[derive(Debug, Clone, Default)]
pub struct StructType {
    /// The fields in order.
    pub fields: Vec<Field>,
    /// Members that are not known.
    pub rest: Object,
}

/// A list. Its element is a field named `element`.
#[derive(Debug, Clone)]
pub struct ListType {
    /// The element; required if no element is null.
    pub element: Field,
    /// Members that are not known.
    pub rest: Object,
}

/// A map. Its parts are fields named `key` and `value`; the key is always required.
#[derive(Debug, Clone)]
pub struct MapType {
    /// The key.
    pub key: Field,
    /// The value; required if no value is null.
    pub value: Field,
    /// Members that are not known.
    pub rest: Object,
}

/// A field of a struct, or the element of a list, or the key or value of a map.
#[derive(Debug, Clone)]
pub struct Field {
    /// What data files and everything else know the field by.
    pub id: i32,
    /// What people know it by.
    pub name: String,
    /// Whether it is never null.
    pub required: bool,
    /// The type of its values.
    pub field_type: Type,
    /// A comment.
    pub doc: Option<String>,
    /// The value in rows that were written before the field was added (spec.md 3.3). Never JSON null.
    pub initial_default: Option<Raw>,
    /// The value for rows written from now on, where the writer has none. Never JSON null.
    pub write_default: Option<Raw>,
    /// Members that are not known.
    pub rest: Object,
}

impl Type {
    /// Reads a type. Names are read in any case; a name that is not known is kept.
    ///
    /// # Errors
    /// [`Error::Invalid`] if it is neither a name nor a struct, list or map.
    pub fn parse(raw: &RawValue) -> Result<Self> {
        Self::parse_at(raw, 0)
    }

    fn parse_at(raw: &RawValue, depth: usize) -> Result<Self> {
        if depth > MAX_DEPTH {
            return Err(Error::invalid(format!("Cannot parse type: nested more than {MAX_DEPTH} deep")));
        }
        match raw.get().as_bytes().first() {
            Some(b'"') => Self::parse_name(raw),
            Some(b'{') => Self::parse_nested(raw, depth),
            _ => Err(not_a_type(raw)),
        }
    }

    fn parse_name(raw: &RawValue) -> Result<Self> {
        let name: String = serde_json::from_str(raw.get()).map_err(|_| not_a_type(raw))?;
        if name.eq_ignore_ascii_case("variant") {
            return Ok(Self::Variant);
        }
        Ok(Primitive::parse(&name)?.map_or(Self::Other(name), Self::Primitive))
    }

    fn parse_nested(raw: &RawValue, depth: usize) -> Result<Self> {
        let mut object = Object::parse_raw(raw)?;
        let kind: Option<String> = object.take("type").and_then(|kind| serde_json::from_str(kind.get()).ok());
        match kind.as_deref() {
            Some("struct") => Ok(Self::Struct(StructType::read(object, depth)?)),
            Some("list") => Ok(Self::List(Box::new(ListType::read(object, depth)?))),
            Some("map") => Ok(Self::Map(Box::new(MapType::read(object, depth)?))),
            _ => Err(not_a_type(raw)),
        }
    }

    /// Appends the type's JSON.
    pub(super) fn write(&self, out: &mut String) {
        match self {
            Self::Primitive(primitive) => push_string(out, &primitive.to_string()),
            Self::Variant => push_string(out, "variant"),
            Self::Other(name) => push_string(out, name),
            Self::Struct(fields) => fields.write(out),
            Self::List(list) => list.write(out),
            Self::Map(map) => map.write(out),
        }
    }

    /// The fields that are parts of this type: of a struct, the element of a list, key and value of a map.
    pub fn parts(&self) -> Vec<&Field> {
        match self {
            Self::Struct(fields) => fields.fields.iter().collect(),
            Self::List(list) => vec![&list.element],
            Self::Map(map) => vec![&map.key, &map.value],
            Self::Primitive(_) | Self::Variant | Self::Other(_) => Vec::new(),
        }
    }

    /// Whether it is a primitive. A type that is not known counts as none.
    pub fn is_primitive(&self) -> bool {
        matches!(self, Self::Primitive(_))
    }

    /// Whether it is a struct.
    pub fn is_struct(&self) -> bool {
        matches!(self, Self::Struct(_))
    }

    /// The first format version that has this type, if it is not the first of all. Parts do not count.
    pub fn min_format_version(&self) -> Option<u8> {
        match self {
            Self::Primitive(primitive) => primitive.min_format_version(),
            Self::Variant => Some(3),
            _ => None,
        }
    }
}

fn not_a_type(raw: &RawValue) -> Error {
    Error::invalid(format!("Cannot parse type from json: {}", shown(raw)))
}

impl StructType {
    /// Reads what is left of a struct's object after its `type`.
    pub(super) fn read(mut object: Object, depth: usize) -> Result<Self> {
        let fields = object.required_raw("fields")?;
        if !fields.get().starts_with('[') {
            return Err(Error::invalid(format!("Cannot parse struct fields from non-array: {}", shown(&fields))));
        }
        let read = |field: &Raw| Field::read(field, depth + 1);
        let fields = elements("fields", &fields)?.iter().map(read).collect::<Result<_>>()?;
        Ok(Self { fields, rest: object })
    }

    fn write(&self, out: &mut String) {
        let mut object = ObjectWriter::new(out);
        object.str("type", "struct");
        object.array("fields", &self.fields, |out, field| field.write(out));
        object.rest(&self.rest);
        object.finish();
    }
}

impl ListType {
    fn read(mut object: Object, depth: usize) -> Result<Self> {
        let id = object.required_i32("element-id")?;
        let element = Type::parse_at(&object.required_raw("element")?, depth + 1)?;
        let required = object.required_bool("element-required")?;
        Ok(Self { element: Field::part("element", id, required, element), rest: object })
    }

    fn write(&self, out: &mut String) {
        let mut object = ObjectWriter::new(out);
        object.str("type", "list");
        object.int("element-id", self.element.id);
        object.with("element", |out| self.element.field_type.write(out));
        object.bool("element-required", self.element.required);
        object.rest(&self.rest);
        object.finish();
    }
}

impl MapType {
    fn read(mut object: Object, depth: usize) -> Result<Self> {
        let key_id = object.required_i32("key-id")?;
        let key = Type::parse_at(&object.required_raw("key")?, depth + 1)?;
        let value_id = object.required_i32("value-id")?;
        let value = Type::parse_at(&object.required_raw("value")?, depth + 1)?;
        let required = object.required_bool("value-required")?;
        let (key, value) = (Field::part("key", key_id, true, key), Field::part("value", value_id, required, value));
        Ok(Self { key, value, rest: object })
    }

    fn write(&self, out: &mut String) {
        let mut object = ObjectWriter::new(out);
        object.str("type", "map");
        object.int("key-id", self.key.id);
        object.with("key", |out| self.key.field_type.write(out));
        object.int("value-id", self.value.id);
        object.with("value", |out| self.value.field_type.write(out));
        object.bool("value-required", self.value.required);
        object.rest(&self.rest);
        object.finish();
    }
}

impl Field {
    /// A field without comment and defaults.
    pub fn new(id: i32, name: impl Into<String>, required: bool, field_type: Type) -> Self {
        Self {
            id,
            name: name.into(),
            required,
            field_type,
            doc: None,
            initial_default: None,
            write_default: None,
            rest: Object::default(),
        }
    }

    fn part(name: &str, id: i32, required: bool, field_type: Type) -> Self {
        Self::new(id, name, required, field_type)
    }

    fn read(raw: &RawValue, depth: usize) -> Result<Self> {
        if !raw.get().starts_with('{') {
            return Err(Error::invalid(format!("Cannot parse struct field from non-object: {}", shown(raw))));
        }
        let mut object = Object::parse_raw(raw)?;
        Ok(Self {
            id: object.required_i32("id")?,
            name: object.required_str("name")?,
            field_type: Type::parse_at(&object.required_raw("type")?, depth)?,
            // Java fails on a default that is null, so it is never kept, let alone written.
            initial_default: object.optional_raw("initial-default"),
            write_default: object.optional_raw("write-default"),
            doc: object.optional_str("doc")?,
            required: object.required_bool("required")?,
            rest: object,
        })
    }

    pub(super) fn write(&self, out: &mut String) {
        let mut object = ObjectWriter::new(out);
        object.int("id", self.id);
        object.str("name", &self.name);
        object.bool("required", self.required);
        object.with("type", |out| self.field_type.write(out));
        if let Some(doc) = &self.doc {
            object.str("doc", doc);
        }
        if let Some(value) = &self.initial_default {
            object.raw("initial-default", value);
        }
        if let Some(value) = &self.write_default {
            object.raw("write-default", value);
        }
        object.rest(&self.rest);
        object.finish();
    }
}

/// The type as error messages print it.
impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Primitive(primitive) => primitive.fmt(f),
            Self::Variant => f.write_str("variant"),
            Self::Other(name) => f.write_str(name),
            Self::List(list) => write!(f, "list<{}>", list.element.field_type),
            Self::Map(map) => write!(f, "map<{}, {}>", map.key.field_type, map.value.field_type),
            Self::Struct(fields) => {
                f.write_str("struct<")?;
                for (at, field) in fields.fields.iter().enumerate() {
                    if at > 0 {
                        f.write_str(", ")?;
                    }
                    field.fmt(f)?;
                }
                f.write_str(">")
            }
        }
    }
}

/// The field as error messages print it.
impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.required { "required" } else { "optional" };
        write!(f, "{}: {}: {kind} {}", self.id, self.name, self.field_type)?;
        self.doc.as_ref().map_or(Ok(()), |doc| write!(f, " ({doc})"))
    }
}
