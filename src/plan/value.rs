//! Single values: read from their binary form, compared, written as JSON (spec: appendix D).

use std::cmp::Ordering;
use std::fmt::Write;

use crate::manifest::Value;
use crate::spec::iso;
use crate::spec::json::push_string;
use crate::spec::{Primitive, Transform, Type};

/// Reads a bound of a column. None where the bytes are no value of the type: nothing is known then.
pub(super) fn decode(of: &Primitive, bytes: &[u8]) -> Option<Value> {
    use Primitive as P;
    Some(match of {
        P::Boolean => Value::Boolean(*bytes.first()? != 0),
        P::Int | P::Date => Value::Integer(int(bytes)?),
        // A bound that was written before an int became a long is shorter.
        P::Long => Value::Integer(int(bytes).or_else(|| long(bytes))?),
        P::Time | P::Timestamp | P::Timestamptz | P::TimestampNs | P::TimestamptzNs => Value::Integer(long(bytes)?),
        P::Float => Value::float(float(bytes)?),
        P::Double => Value::float(float(bytes).or_else(|| double(bytes))?),
        P::Decimal { .. } => Value::decimal(bytes),
        P::String => Value::Text(std::str::from_utf8(bytes).ok()?.into()),
        P::Uuid | P::Fixed(_) | P::Binary => Value::Bytes(bytes.into()),
        P::Unknown | P::Geometry { .. } | P::Geography { .. } => return None,
    })
}

fn int(bytes: &[u8]) -> Option<i64> {
    bytes.try_into().ok().map(|bytes| i64::from(i32::from_le_bytes(bytes)))
}

fn long(bytes: &[u8]) -> Option<i64> {
    bytes.try_into().ok().map(i64::from_le_bytes)
}

fn float(bytes: &[u8]) -> Option<f64> {
    bytes.try_into().ok().map(|bytes| f64::from(f32::from_le_bytes(bytes)))
}

fn double(bytes: &[u8]) -> Option<f64> {
    bytes.try_into().ok().map(f64::from_le_bytes)
}

/// Compares two values of one column. None where engines may disagree: null, NaN, the two zeros, the order of UUIDs.
pub(super) fn compare(one: &Value, other: &Value) -> Option<Ordering> {
    match (one, other) {
        (Value::Boolean(one), Value::Boolean(other)) => Some(one.cmp(other)),
        (Value::Integer(one), Value::Integer(other)) => Some(one.cmp(other)),
        (Value::Decimal(one), Value::Decimal(other)) => Some(one.cmp(other)),
        (Value::Float(one), Value::Float(other)) => {
            let (one, other) = (f64::from_bits(*one), f64::from_bits(*other));
            one.partial_cmp(&other).filter(|order| order.is_ne() || one.to_bits() == other.to_bits())
        }
        // The order of UTF-8 bytes is that of code points.
        (Value::Text(one), Value::Text(other)) => Some(one.as_bytes().cmp(other.as_bytes())),
        (Value::Bytes(one), Value::Bytes(other)) if one == other => Some(Ordering::Equal),
        // UUIDs are compared signed by some engines, unsigned by others.
        (Value::Bytes(one), Value::Bytes(other)) if one.len() != 16 || other.len() != 16 => Some(one.cmp(other)),
        _ => None,
    }
}

/// Whether a value is NaN.
pub(super) fn is_nan(value: &Value) -> bool {
    matches!(value, Value::Float(bits) if f64::from_bits(*bits).is_nan())
}

/// The type of a partition field's values (spec: "Partition transforms"). None if it cannot be told.
pub(super) fn result_type(transform: &Transform, source: Option<&Type>) -> Option<Primitive> {
    match (transform, source) {
        (Transform::Bucket(_) | Transform::Year | Transform::Month | Transform::Hour, _) => Some(Primitive::Int),
        (Transform::Day, _) => Some(Primitive::Date),
        (Transform::Other(_), _) => None,
        (Transform::Identity | Transform::Truncate(_) | Transform::Void, Some(Type::Primitive(source))) => {
            Some(source.clone())
        }
        _ => None,
    }
}

/// Appends a value as JSON, in the form of its type (spec: "JSON single-value serialization").
pub(super) fn push_json(out: &mut String, of: Option<&Primitive>, value: &Value) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Boolean(value) => out.push_str(if *value { "true" } else { "false" }),
        Value::Integer(value) => push_integer(out, of, *value),
        Value::Float(bits) => push_float(out, of, f64::from_bits(*bits)),
        Value::Decimal(unscaled) => {
            let scale = if let Some(Primitive::Decimal { scale, .. }) = of { *scale } else { 0 };
            push_string(out, &decimal(*unscaled, scale));
        }
        Value::Text(text) => push_string(out, text),
        Value::Bytes(bytes) => push_bytes(out, of, bytes),
    }
}

fn push_integer(out: &mut String, of: Option<&Primitive>, value: i64) {
    use Primitive as P;
    match of {
        Some(P::Date) => push_string(out, &iso::write_date(value)),
        Some(P::Time) => push_string(out, &iso::write_time(value)),
        Some(P::Timestamp) => push_string(out, &iso::write_timestamp(value, MICROS)),
        Some(P::Timestamptz) => push_string(out, &format!("{}+00:00", iso::write_timestamp(value, MICROS))),
        Some(P::TimestampNs) => push_string(out, &iso::write_timestamp(value, NANOS)),
        Some(P::TimestamptzNs) => push_string(out, &format!("{}+00:00", iso::write_timestamp(value, NANOS))),
        _ => push(out, format_args!("{value}")),
    }
}

/// Java takes no integer for a float, and its writer puts what is no number in quotes.
fn push_float(out: &mut String, of: Option<&Primitive>, value: f64) {
    if !value.is_finite() {
        out.push_str(if value.is_nan() {
            "\"NaN\""
        } else if value > 0.0 {
            "\"Infinity\""
        } else {
            "\"-Infinity\""
        });
    } else if matches!(of, Some(Primitive::Float)) {
        push(out, format_args!("{:?}", single(value)));
    } else {
        push(out, format_args!("{value:?}"));
    }
}

/// The float that a value of a float column is.
#[expect(clippy::cast_possible_truncation, reason = "the nearest float is what is asked for")]
pub(super) fn single(value: f64) -> f32 {
    value as f32
}

/// A decimal number with so many digits after the point.
fn decimal(unscaled: i128, scale: u32) -> String {
    let digits = unscaled.unsigned_abs().to_string();
    let sign = if unscaled < 0 { "-" } else { "" };
    let scale = scale as usize;
    if scale == 0 {
        return format!("{sign}{digits}");
    }
    let padded = format!("{digits:0>width$}", width = scale + 1);
    let (whole, fraction) = padded.split_at(padded.len() - scale);
    format!("{sign}{whole}.{fraction}")
}

fn push_bytes(out: &mut String, of: Option<&Primitive>, bytes: &[u8]) {
    out.push('"');
    for (place, byte) in bytes.iter().enumerate() {
        if matches!(of, Some(Primitive::Uuid)) {
            if matches!(place, 4 | 6 | 8 | 10) {
                out.push('-');
            }
            push(out, format_args!("{byte:02x}"));
        } else {
            push(out, format_args!("{byte:02X}"));
        }
    }
    out.push('"');
}

/// Appends bytes as hexadecimal digits in quotes.
pub(super) fn push_hex(out: &mut String, bytes: &[u8]) {
    push_bytes(out, None, bytes);
}

fn push(out: &mut String, args: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = out.write_fmt(args);
}

/// Units of a second.
const MICROS: i64 = 1_000_000;
const NANOS: i64 = 1_000_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn json(of: &str, value: &Value) -> String {
        let of = Primitive::parse(of).unwrap();
        let mut out = String::new();
        push_json(&mut out, of.as_ref(), value);
        out
    }

    #[test]
    fn values_are_written_as_java_writes_them() {
        let uuid = Value::Bytes((0_u8..16).collect::<Vec<_>>().into());
        let lines = [
            json("int", &Value::Integer(-7)),
            json("date", &Value::Integer(19_723)),
            json("time", &Value::Integer(36_930_500_000)),
            json("timestamp", &Value::Integer(-1)),
            json("timestamptz", &Value::Integer(1_700_000_000_000_000)),
            json("timestamp_ns", &Value::Integer(1)),
            json("float", &Value::float(f64::from(0.1_f32))),
            json("double", &Value::float(1.0)),
            json("double", &Value::float(f64::NAN)),
            json("decimal(9, 2)", &Value::Decimal(-5)),
            json("decimal(9, 0)", &Value::Decimal(12)),
            json("string", &Value::Text("a\"b".into())),
            json("uuid", &uuid),
            json("binary", &Value::Bytes([1, 171].into())),
            json("boolean", &Value::Boolean(true)),
            json("long", &Value::Null),
        ];
        insta::assert_snapshot!(lines.join("\n"), @r#"
        -7
        "2024-01-01"
        "10:15:30.500000"
        "1969-12-31T23:59:59.999999"
        "2023-11-14T22:13:20+00:00"
        "1970-01-01T00:00:00.000000001"
        0.1
        1.0
        "NaN"
        "-0.05"
        "12"
        "a\"b"
        "00010203-0405-0607-0809-0a0b0c0d0e0f"
        "01AB"
        true
        null
        "#);
    }

    #[test]
    fn what_engines_disagree_on_has_no_order() {
        let float = |value| Value::float(value);
        assert_eq!(compare(&float(1.0), &float(2.0)), Some(Ordering::Less));
        assert_eq!(compare(&float(f64::NAN), &float(2.0)), None);
        assert_eq!(compare(&float(0.0), &float(-0.0)), None);
        assert_eq!(compare(&Value::Null, &Value::Null), None);
        assert_eq!(compare(&Value::Integer(1), &Value::Text("1".into())), None);
        let uuid = |byte| Value::Bytes([byte; 16].into());
        assert_eq!(compare(&uuid(1), &uuid(2)), None);
        assert_eq!(compare(&uuid(1), &uuid(1)), Some(Ordering::Equal));
    }

    #[test]
    fn bounds_of_narrower_types_are_read() {
        assert_eq!(decode(&Primitive::Long, &[5, 0, 0, 0]), Some(Value::Integer(5)));
        assert_eq!(decode(&Primitive::Double, &1.5_f32.to_le_bytes()), Some(Value::float(1.5)));
        assert_eq!(decode(&Primitive::Timestamp, &[5, 0, 0, 0]), None);
        assert_eq!(decode(&Primitive::Int, &[5]), None);
        assert_eq!(decode(&Primitive::String, b"\xff"), None);
        assert_eq!(decode(&Primitive::Boolean, b""), None);
    }
}
