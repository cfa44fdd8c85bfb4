//! Partition tuples as comparable values.

use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

use super::cursor::{Cursor, Fault};
use super::schema::{Field, Type};

/// A value of a partition field. Two files are in the same partition when their values are equal by this type:
/// NaN equals NaN, -0.0 does not equal 0.0, and a number equals the same number written with another width.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Value {
    /// No value.
    Null,
    /// `boolean`.
    Boolean(bool),
    /// `int`, `long`, dates, times and timestamps.
    Integer(i64),
    /// `float` and `double`, as the bits of the double (one pattern for every NaN).
    Float(u64),
    /// An unscaled decimal of at most 38 digits.
    Decimal(i128),
    /// `string`.
    Text(Box<str>),
    /// `binary`, `fixed`, `uuid`, and decimals that do not fit 128 bits.
    Bytes(Box<[u8]>),
}

/// What kind of value an Avro schema gives to a partition field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Only null: the field's source column is gone, or of type `unknown`.
    Null,
    /// See [`Value::Boolean`].
    Boolean,
    /// See [`Value::Integer`].
    Integer,
    /// See [`Value::Float`].
    Float,
    /// See [`Value::Decimal`].
    Decimal,
    /// See [`Value::Text`].
    Text,
    /// See [`Value::Bytes`].
    Bytes,
    /// A kind that no partition value can have.
    Other,
}

/// A field of a manifest's partition record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PartitionColumn {
    /// The partition field's id (1000 and up).
    pub field_id: i32,
    /// What the schema says its values are.
    pub kind: Kind,
}

/// A partition tuple: the values of its partition fields that are not null, ordered by field id. A field that is not
/// there is null; a tuple so takes no more memory than its bytes in the manifest account for. Cheap to clone.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Partition(Arc<[(i32, Value)]>);

impl Partition {
    /// A tuple of `(field id, value)` pairs, in any order.
    pub fn new(mut values: Vec<(i32, Value)>) -> Self {
        values.retain(|(_, value)| *value != Value::Null);
        values.sort_by_key(|(id, _)| *id);
        Self(values.into())
    }

    /// The value of a field.
    pub fn value(&self, field_id: i32) -> &Value {
        self.0.iter().find(|(id, _)| *id == field_id).map_or(&Value::Null, |(_, value)| value)
    }

    /// Pairs of field id and value that are not null, in ascending order of the ids.
    pub fn iter(&self) -> impl Iterator<Item = (i32, &Value)> {
        self.0.iter().map(|(id, value)| (*id, value))
    }

    /// The memory that the tuple takes, in bytes.
    pub fn size_bytes(&self) -> usize {
        let payload = |value: &Value| match value {
            Value::Text(text) => text.len(),
            Value::Bytes(bytes) => bytes.len(),
            _ => 0,
        };
        self.0.iter().map(|(_, value)| size_of::<(i32, Value)>() + payload(value)).sum()
    }
}

impl fmt::Display for Partition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("{")?;
        for (index, (id, value)) in self.0.iter().enumerate() {
            let comma = if index == 0 { "" } else { ", " };
            write!(f, "{comma}{id}: {value}")?;
        }
        f.write_str("}")
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Boolean(value) => value.fmt(f),
            Self::Integer(value) => value.fmt(f),
            Self::Float(bits) => f64::from_bits(*bits).fmt(f),
            Self::Decimal(unscaled) => write!(f, "{unscaled} (unscaled)"),
            Self::Text(text) => fmt::Debug::fmt(text, f),
            Self::Bytes(bytes) => f.write_str(&super::container::hex(bytes)),
        }
    }
}

impl Value {
    /// A float, with every NaN made the same.
    pub fn float(value: f64) -> Self {
        Self::Float(if value.is_nan() { f64::NAN.to_bits() } else { value.to_bits() })
    }

    /// A decimal from the bytes of its unscaled value (two's complement, big-endian, any width).
    pub fn decimal(bytes: &[u8]) -> Self {
        let sign = if bytes.first().is_some_and(|byte| byte & 0x80 != 0) { 0xff } else { 0 };
        let digits = bytes.iter().position(|byte| *byte != sign).map_or(&[][..], |at| bytes.get(at..).unwrap_or(&[]));
        // One byte of headroom keeps the sign of a value whose own first bit says otherwise.
        if digits.len() > 15 {
            return match <[u8; 16]>::try_from(digits) {
                Ok(all) if (all[0] & 0x80 != 0) == (sign != 0) => Self::Decimal(i128::from_be_bytes(all)),
                _ => Self::Bytes(bytes.into()),
            };
        }
        let unscaled =
            digits.iter().fold(i128::from(sign.cast_signed()), |value, byte| (value << 8) | i128::from(*byte));
        Self::Decimal(unscaled)
    }

    /// How this value compares with a bound of a manifest's partition summary (spec: "Binary single-value
    /// serialization"). None where they cannot be compared, or where writers are known to disagree on the order.
    pub fn compare_with_bound(&self, bound: &[u8]) -> Option<Ordering> {
        match self {
            Self::Null => None,
            Self::Boolean(value) => Some(value.cmp(&(*bound.first()? != 0))),
            Self::Integer(value) => Some(value.cmp(&little_endian_integer(bound)?)),
            Self::Float(bits) => f64::from_bits(*bits).partial_cmp(&little_endian_float(bound)?),
            Self::Decimal(value) => match Self::decimal(bound) {
                Self::Decimal(bound) => Some(value.cmp(&bound)),
                _ => None,
            },
            Self::Text(text) => Some(text.as_bytes().cmp(bound)),
            // UUIDs are compared signed by some writers, unsigned by others.
            Self::Bytes(bytes) if bytes.len() == 16 => None,
            Self::Bytes(bytes) => Some(bytes.as_ref().cmp(bound)),
        }
    }
}

fn little_endian_integer(bytes: &[u8]) -> Option<i64> {
    match bytes.len() {
        4 => Some(i64::from(i32::from_le_bytes(bytes.try_into().ok()?))),
        8 => Some(i64::from_le_bytes(bytes.try_into().ok()?)),
        _ => None,
    }
}

fn little_endian_float(bytes: &[u8]) -> Option<f64> {
    match bytes.len() {
        4 => Some(f64::from(f32::from_le_bytes(bytes.try_into().ok()?))),
        8 => Some(f64::from_le_bytes(bytes.try_into().ok()?)),
        _ => None,
    }
}

/// The kind of values that a type holds.
pub(super) fn kind(of: &Type) -> Kind {
    match of.unwrapped() {
        Type::Null => Kind::Null,
        Type::Boolean => Kind::Boolean,
        Type::Int | Type::Long => Kind::Integer,
        Type::Float | Type::Double => Kind::Float,
        Type::Bytes { decimal: true } | Type::Fixed { decimal: true, .. } => Kind::Decimal,
        Type::Bytes { .. } | Type::Fixed { .. } => Kind::Bytes,
        Type::Text => Kind::Text,
        Type::Union(branches) if branches.iter().all(|branch| *branch == Type::Null) => Kind::Null,
        _ => Kind::Other,
    }
}

/// Reads the values of one entry's partition record that are not null. `ids` are the ids of `fields`, in their order.
pub(super) fn read(cursor: &mut Cursor<'_>, fields: &[Field], ids: &[i32]) -> Result<Vec<(i32, Value)>, Fault> {
    let mut values = Vec::new();
    for (field, id) in fields.iter().zip(ids) {
        match value(cursor, &field.of)? {
            Value::Null => {}
            value => values.push((*id, value)),
        }
    }
    Ok(values)
}

fn value(cursor: &mut Cursor<'_>, of: &Type) -> Result<Value, Fault> {
    Ok(match of {
        Type::Null => Value::Null,
        Type::Boolean => cursor.optional_boolean(of)?.map_or(Value::Null, Value::Boolean),
        Type::Int | Type::Long => Value::Integer(cursor.long()?),
        Type::Float => little_endian_float(cursor.take(4)?).map_or(Value::Null, Value::float),
        Type::Double => little_endian_float(cursor.take(8)?).map_or(Value::Null, Value::float),
        Type::Bytes { decimal: true } | Type::Fixed { decimal: true, .. } => {
            cursor.optional_bytes(of)?.map_or(Value::Null, Value::decimal)
        }
        Type::Bytes { .. } | Type::Fixed { .. } => {
            cursor.optional_bytes(of)?.map_or(Value::Null, |bytes| Value::Bytes(bytes.into()))
        }
        Type::Text => cursor.optional_text(of)?.map_or(Value::Null, |text| Value::Text(text.into())),
        Type::Union(branches) => {
            let branch = cursor.branch(branches)?;
            value(cursor, branch)?
        }
        other => return Err(Fault::new("a partition value", format!("Avro type {}", other.name()))),
    })
}
