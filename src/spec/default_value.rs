//! Default values of fields: which JSON is a value of which type, and which values are equal (spec.md 3.3).

use serde_json::value::RawValue;

use super::error::{Error, Result};
use super::iso;
use super::json::shown;
use super::types::{Primitive, Type};

/// A value of a primitive type, in a form in which equal values are equal.
#[derive(Debug, Clone, PartialEq)]
enum Value {
    Boolean(bool),
    /// An int or long, or a date, time or timestamp as units since its origin.
    Long(i64),
    /// The bits of a float or double.
    Float(u64),
    /// The unscaled digits of a decimal, with sign and without leading zeros. The scale is that of the type.
    Decimal(String),
    String(String),
    Bytes(Vec<u8>),
}

/// Whether the JSON is a default value of the type. Java reads no other.
///
/// # Errors
/// [`Error::Invalid`] with Java's text.
pub fn check(field_type: &Type, value: &RawValue) -> Result<()> {
    match field_type {
        // Nobody here can tell what values such a type has.
        Type::Other(_) => Ok(()),
        Type::Primitive(primitive) => parse(primitive, value).map(|_| ()),
        _ => Err(Error::invalid(format!("Invalid default value for {field_type}: {} (must be null)", shown(value)))),
    }
}

/// Whether two default values of a type are the same value, however they are spelled.
pub fn same(field_type: &Type, one: &RawValue, other: &RawValue) -> bool {
    let Type::Primitive(primitive) = field_type else { return false };
    matches!((parse(primitive, one), parse(primitive, other)), (Ok(one), Ok(other)) if one == other)
}

/// The value as an error message shows it: a string without its quotes.
pub(super) fn plain(value: &RawValue) -> String {
    let text = shown(value);
    text.strip_prefix('"').and_then(|inner| inner.strip_suffix('"')).map_or(text.clone(), str::to_owned)
}

fn parse(primitive: &Primitive, value: &RawValue) -> Result<Value> {
    let parsed = match primitive {
        Primitive::Unknown | Primitive::Geometry { .. } | Primitive::Geography { .. } => {
            let value = shown(value);
            return Err(Error::invalid(format!("Invalid default value for {primitive}: {value} (must be null)")));
        }
        Primitive::Boolean => read(value).map(Value::Boolean),
        Primitive::Int => read::<i32>(value).map(|number| Value::Long(number.into())),
        Primitive::Long => read::<i64>(value).map(Value::Long),
        Primitive::Float => float(value).map(|number| Value::Float(u64::from(single(number).to_bits()))),
        Primitive::Double => float(value).map(|number| Value::Float(number.to_bits())),
        Primitive::Fixed(length) => return fixed(primitive, *length, value),
        Primitive::Decimal { scale, .. } => return decimal(primitive, *scale, value),
        _ => read::<String>(value).and_then(|text| textual(primitive, text)),
    };
    parsed.ok_or_else(|| refused(primitive, value, ""))
}

fn textual(primitive: &Primitive, text: String) -> Option<Value> {
    match primitive {
        Primitive::String => Some(Value::String(text)),
        Primitive::Uuid => uuid(&text).map(Value::Bytes),
        Primitive::Binary => hex(&text).map(Value::Bytes),
        Primitive::Date => iso::date(&text).map(Value::Long),
        Primitive::Time => iso::time(&text).map(|nanos| Value::Long(nanos / 1_000)),
        Primitive::Timestamp => iso::timestamp(&text).map(|at| Value::Long(at.micros())),
        Primitive::Timestamptz => iso::timestamptz(&text).map(|at| Value::Long(at.micros())),
        Primitive::TimestampNs => iso::timestamp(&text)?.nanos().map(Value::Long),
        Primitive::TimestamptzNs => iso::timestamptz(&text)?.nanos().map(Value::Long),
        _ => None,
    }
}

fn read<T: serde::de::DeserializeOwned>(value: &RawValue) -> Option<T> {
    serde_json::from_str(value.get()).ok()
}

/// A number with a point or an exponent; Java takes no integer for a float.
fn float(value: &RawValue) -> Option<f64> {
    let text = value.get();
    if !text.starts_with(|c: char| c == '-' || c.is_ascii_digit()) || !text.contains(['.', 'e', 'E']) {
        return None;
    }
    text.parse().ok()
}

#[expect(clippy::cast_possible_truncation, reason = "a float default is the nearest float")]
fn single(number: f64) -> f32 {
    number as f32
}

fn decimal(primitive: &Primitive, scale: u32, value: &RawValue) -> Result<Value> {
    let number = read::<String>(value).and_then(|text| unscaled(&text));
    match number {
        None => Err(refused(primitive, value, "")),
        Some((_, found)) if found != i64::from(scale) => Err(refused(primitive, value, ", the scale doesn't match")),
        Some((digits, _)) => Ok(Value::Decimal(digits)),
    }
}

/// The unscaled digits and the scale of a decimal number, as Java's `BigDecimal` reads it.
fn unscaled(text: &str) -> Option<(String, i64)> {
    let (sign, unsigned) = match text.strip_prefix('-') {
        Some(unsigned) => ("-", unsigned),
        None => ("", text.strip_prefix('+').unwrap_or(text)),
    };
    let (number, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((number, exponent)) => (number, exponent.parse::<i32>().ok()?),
        None => (unsigned, 0),
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let digits = format!("{whole}{fraction}");
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let scale = i64::try_from(fraction.len()).ok()? - i64::from(exponent);
    let digits = digits.trim_start_matches('0');
    Some(if digits.is_empty() { ("0".to_owned(), scale) } else { (format!("{sign}{digits}"), scale) })
}

fn fixed(primitive: &Primitive, length: u32, value: &RawValue) -> Result<Value> {
    let Some(text) = read::<String>(value) else { return Err(refused(primitive, value, "")) };
    if u64::try_from(text.len()).ok() != Some(u64::from(length) * 2) {
        let (found, value) = (text.len(), shown(value));
        let message = format!("Cannot parse default {primitive} value: {value}, incorrect length: {found}");
        return Err(Error::Invalid(message));
    }
    hex(&text).map(Value::Bytes).ok_or_else(|| refused(primitive, value, ""))
}

fn hex(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    if !rest.is_empty() {
        return None;
    }
    pairs.iter().map(|[high, low]| Some(digit(*high)? << 4 | digit(*low)?)).collect()
}

fn uuid(text: &str) -> Option<Vec<u8>> {
    let groups: Vec<_> = text.split('-').collect();
    if groups.iter().map(|group| group.len()).ne([8, 4, 4, 4, 12]) {
        return None;
    }
    hex(&groups.concat())
}

fn refused(primitive: &Primitive, value: &RawValue, why: &str) -> Error {
    Error::invalid(format!("Cannot parse default as a {primitive} value: {}{why}", shown(value)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::json::Raw;

    fn raw(text: &str) -> Raw {
        serde_json::from_str(text).unwrap()
    }

    fn named(name: &str) -> Type {
        Type::parse(&raw(&format!("\"{name}\""))).unwrap()
    }

    #[test]
    fn values_of_their_type_are_taken() {
        let good = [
            ("boolean", "true"),
            ("int", "-2147483648"),
            ("long", "9223372036854775807"),
            ("float", "1.5"),
            ("double", "1e400"),
            ("decimal(9, 2)", r#""14.20""#),
            ("decimal(9, 2)", r#""-1420E-2""#),
            ("string", r#""""#),
            ("uuid", r#""F79C3E09-677C-4bbd-a479-3f349cb785e7""#),
            ("date", r#""2007-12-03""#),
            ("time", r#""10:15:30.123456""#),
            ("timestamp", r#""2007-12-03T10:15:30""#),
            ("timestamptz", r#""2007-12-03T10:15:30.123456+00:00""#),
            ("timestamptz", r#""2007-12-03T10:15:30Z""#),
            ("timestamp_ns", r#""2007-12-03T10:15:30.123456789""#),
            ("timestamptz_ns", r#""2007-12-03T10:15:30.123456789+00:00""#),
            ("fixed[2]", r#""00fF""#),
            ("binary", r#""""#),
            ("quantum", "[1]"),
        ];
        for (name, value) in good {
            assert_eq!(check(&named(name), &raw(value)), Ok(()), "{name} {value}");
        }
    }

    #[test]
    fn other_values_are_refused_with_javas_texts() {
        let bad = [
            ("boolean", "1"),
            ("int", r#""abc""#),
            ("int", "2147483648"),
            ("int", "1.0"),
            ("double", "1"),
            ("double", r#""NaN""#),
            ("decimal(9, 2)", r#""14.2""#),
            ("decimal(9, 2)", r#""x""#),
            ("decimal(9, 2)", r#"" 1.00""#),
            ("uuid", r#""f79c3e09""#),
            ("date", r#""2007-13-03""#),
            ("timestamp", r#""2007-12-03T10:15:30+00:00""#),
            ("timestamptz", r#""2007-12-03T10:15:30+01:00""#),
            ("timestamptz", r#""2007-12-03T10:15:30""#),
            ("timestamp_ns", r#""9999-12-03T10:15:30""#),
            ("fixed[2]", r#""00""#),
            ("fixed[2]", r#""00xx""#),
            ("binary", r#""0""#),
            ("unknown", "1"),
            ("variant", "1"),
            ("geometry", r#""00""#),
        ];
        let lines: Vec<_> =
            bad.iter().map(|(name, value)| check(&named(name), &raw(value)).unwrap_err().to_string()).collect();
        insta::assert_snapshot!(lines.join("\n"), @r#"
        Cannot parse default as a boolean value: 1
        Cannot parse default as a int value: "abc"
        Cannot parse default as a int value: 2147483648
        Cannot parse default as a int value: 1.0
        Cannot parse default as a double value: 1
        Cannot parse default as a double value: "NaN"
        Cannot parse default as a decimal(9, 2) value: "14.2", the scale doesn't match
        Cannot parse default as a decimal(9, 2) value: "x"
        Cannot parse default as a decimal(9, 2) value: " 1.00"
        Cannot parse default as a uuid value: "f79c3e09"
        Cannot parse default as a date value: "2007-13-03"
        Cannot parse default as a timestamp value: "2007-12-03T10:15:30+00:00"
        Cannot parse default as a timestamptz value: "2007-12-03T10:15:30+01:00"
        Cannot parse default as a timestamptz value: "2007-12-03T10:15:30"
        Cannot parse default as a timestamp_ns value: "9999-12-03T10:15:30"
        Cannot parse default fixed[2] value: "00", incorrect length: 2
        Cannot parse default as a fixed[2] value: "00xx"
        Cannot parse default as a binary value: "0"
        Invalid default value for unknown: 1 (must be null)
        Invalid default value for variant: 1 (must be null)
        Invalid default value for geometry: "00" (must be null)
        "#);
    }

    proptest::proptest! {
        #[test]
        fn strange_values_are_errors(text in "[-+0-9eETZz.:é]{0,24}") {
            for name in ["decimal(9, 2)", "date", "time", "timestamp", "timestamptz", "timestamptz_ns", "uuid", "fixed[2]"] {
                let _ = check(&named(name), &crate::spec::json::raw_string(&text));
            }
        }
    }

    #[test]
    fn spelling_does_not_make_values_differ() {
        let same = |name: &str, one: &str, other: &str| same(&named(name), &raw(one), &raw(other));
        assert!(same("double", "1.0", "1.00"));
        assert!(same("decimal(9, 2)", r#""1.00""#, r#""+01.00""#));
        assert!(same("binary", r#""ff""#, r#""FF""#));
        assert!(same("timestamptz", r#""2007-12-03T10:15:30Z""#, r#""2007-12-03T10:15:30.000+00:00""#));
        assert!(!same("double", "1.0", "1.5"));
        assert!(!same("string", r#""a""#, r#""A""#));
        assert!(!same("variant", "1", "1"));
    }
}
