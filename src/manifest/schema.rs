//! The Avro schema of a file, as far as reading by field id needs it.

use std::collections::HashMap;
use std::rc::Rc;

use serde_json::Value as Json;

/// The most types a schema may hold once references are written out. Iceberg's have about a hundred, one more for
/// each partition field; the bound keeps a schema that doubles itself by references from growing without end.
const MOST_TYPES: usize = 20_000;

/// An Avro type. Logical types are kept where they change how values compare.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Type {
    Null,
    Boolean,
    Int,
    Long,
    Float,
    Double,
    Bytes { decimal: bool },
    Text,
    Fixed { size: usize, decimal: bool },
    Enum,
    Array(Box<Type>),
    Map(Box<Type>),
    Union(Vec<Type>),
    Record(Vec<Field>),
}

/// A field of an Avro record.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Field {
    /// Iceberg's id of the column (the attribute `field-id`).
    pub(super) id: Option<i32>,
    pub(super) name: String,
    pub(super) of: Type,
}

impl Type {
    /// Reads a schema from the text of `avro.schema`. The error is what is wrong with it.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let json: Json = serde_json::from_str(text).map_err(|fault| fault.to_string())?;
        Reader { named: HashMap::new(), types_left: MOST_TYPES }.read(&json)
    }

    /// The Avro name, for messages.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Boolean => "boolean",
            Self::Int => "int",
            Self::Long => "long",
            Self::Float => "float",
            Self::Double => "double",
            Self::Bytes { .. } => "bytes",
            Self::Text => "string",
            Self::Fixed { .. } => "fixed",
            Self::Enum => "enum",
            Self::Array(_) => "array",
            Self::Map(_) => "map",
            Self::Union(_) => "union",
            Self::Record(_) => "record",
        }
    }

    /// The only branch of an optional type that is not null; other types as they are.
    pub(super) fn unwrapped(&self) -> &Self {
        let Self::Union(branches) = self else { return self };
        let mut others = branches.iter().filter(|branch| **branch != Self::Null);
        match (others.next(), others.next()) {
            (Some(only), None) => only.unwrapped(),
            _ => self,
        }
    }

    /// Whether a value may take no byte at all: a block could then claim any number of them.
    fn may_be_empty(&self) -> bool {
        match self {
            Self::Null => true,
            Self::Fixed { size, .. } => *size == 0,
            Self::Record(fields) => fields.iter().all(|field| field.of.may_be_empty()),
            _ => false,
        }
    }

    /// How many types this one is made of, itself included.
    pub(super) fn types(&self) -> usize {
        1 + match self {
            Self::Array(of) | Self::Map(of) => of.types(),
            Self::Union(branches) => branches.iter().map(Self::types).sum(),
            Self::Record(fields) => fields.iter().map(|field| field.of.types()).sum(),
            _ => 0,
        }
    }
}

struct Reader {
    /// Named types read so far. A type is known only after its end, so that no type can hold itself.
    named: HashMap<String, Rc<Type>>,
    types_left: usize,
}

impl Reader {
    fn read(&mut self, json: &Json) -> Result<Type, String> {
        self.spend(1)?;
        match json {
            Json::String(name) => self.by_name(name),
            Json::Array(branches) if !branches.is_empty() => {
                branches.iter().map(|branch| self.read(branch)).collect::<Result<_, _>>().map(Type::Union)
            }
            Json::Object(_) => self.complex(json),
            other => Err(format!("no Avro type: {}", shorten(&other.to_string()))),
        }
    }

    fn spend(&mut self, types: usize) -> Result<(), String> {
        self.types_left =
            self.types_left.checked_sub(types).ok_or_else(|| format!("the schema has more than {MOST_TYPES} types"))?;
        Ok(())
    }

    fn by_name(&mut self, name: &str) -> Result<Type, String> {
        if let Some(primitive) = primitive(name, false) {
            return Ok(primitive);
        }
        let Some(known) = self.named.get(name).map(Rc::clone) else {
            return Err(format!("unknown Avro type `{}`", shorten(name)));
        };
        self.spend(known.types())?;
        Ok((*known).clone())
    }

    fn complex(&mut self, json: &Json) -> Result<Type, String> {
        let decimal = json.get("logicalType").and_then(Json::as_str) == Some("decimal");
        let of = match json.get("type") {
            Some(Json::String(name)) => match name.as_str() {
                "record" | "error" => self.record(json)?,
                "array" => Type::Array(Box::new(self.items(json, "items")?)),
                "map" => Type::Map(Box::new(self.read(json.get("values").unwrap_or(&Json::Null))?)),
                "fixed" => Type::Fixed { size: fixed_size(json)?, decimal },
                "enum" => Type::Enum,
                name => match primitive(name, decimal) {
                    Some(primitive) => primitive,
                    None => self.by_name(name)?,
                },
            },
            // {"type": {"type": ...}}: some writers wrap a type once more than needed.
            Some(inner @ (Json::Object(_) | Json::Array(_))) => self.read(inner)?,
            _ => return Err(format!("an Avro type without `type`: {}", shorten(&json.to_string()))),
        };
        if let Some(name) = json.get("name").and_then(Json::as_str) {
            // The copy that later references are made from costs as much as what it is a copy of.
            self.spend(of.types())?;
            let copy = Rc::new(of.clone());
            if let Some(namespace) = json.get("namespace").and_then(Json::as_str) {
                self.named.insert(format!("{namespace}.{name}"), Rc::clone(&copy));
            }
            self.named.insert(name.to_owned(), copy);
        }
        Ok(of)
    }

    fn items(&mut self, json: &Json, key: &str) -> Result<Type, String> {
        let of = self.read(json.get(key).unwrap_or(&Json::Null))?;
        if of.may_be_empty() {
            return Err(format!("array items of type {} that take no bytes", of.name()));
        }
        Ok(of)
    }

    fn record(&mut self, json: &Json) -> Result<Type, String> {
        let fields = json.get("fields").and_then(Json::as_array).ok_or("a record without `fields`")?;
        fields.iter().map(|field| self.field(field)).collect::<Result<_, _>>().map(Type::Record)
    }

    fn field(&mut self, json: &Json) -> Result<Field, String> {
        let name = json.get("name").and_then(Json::as_str).ok_or("a record field without `name`")?;
        let of = json.get("type").ok_or_else(|| format!("record field `{}` without `type`", shorten(name)))?;
        let id = json.get("field-id").and_then(Json::as_i64).and_then(|id| i32::try_from(id).ok());
        Ok(Field { id, name: name.to_owned(), of: self.read(of)? })
    }
}

fn primitive(name: &str, decimal: bool) -> Option<Type> {
    Some(match name {
        "null" => Type::Null,
        "boolean" => Type::Boolean,
        "int" => Type::Int,
        "long" => Type::Long,
        "float" => Type::Float,
        "double" => Type::Double,
        "bytes" => Type::Bytes { decimal },
        "string" => Type::Text,
        _ => return None,
    })
}

fn fixed_size(json: &Json) -> Result<usize, String> {
    let size = json.get("size").and_then(Json::as_u64).and_then(|size| usize::try_from(size).ok());
    size.ok_or_else(|| "a fixed type without a size".to_owned())
}

/// At most 80 characters of a text that a stranger wrote.
fn shorten(text: &str) -> String {
    text.chars().take(80).collect()
}
