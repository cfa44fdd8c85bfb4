//! Literals of a filter as values of a column's type: what Iceberg's Java implementation converts, and nothing else.

use serde_json::Value as Json;

use super::expression::Literal;
use super::value::single;
use crate::manifest::Value;
use crate::spec::{Primitive, iso};

/// A literal among the values of a type.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Converted {
    /// It is one of them.
    Is(Value),
    /// It lies between two neighbours: no value is equal to it.
    Between(Value, Value),
    /// A double for a column of floats: whether it means the nearest float is up to the engine.
    Near(f64),
}

/// Converts a literal. None if it is no value of this type.
pub(super) fn convert(literal: &Literal, to: &Primitive) -> Option<Converted> {
    if let Some(data_type) = &literal.data_type {
        let stated = Primitive::parse(data_type).ok().flatten()?;
        untyped(&literal.value, &stated)?;
    }
    untyped(&literal.value, to)
}

fn untyped(json: &Json, to: &Primitive) -> Option<Converted> {
    match json {
        Json::Bool(value) if matches!(to, Primitive::Boolean) => Some(Converted::Is(Value::Boolean(*value))),
        Json::Number(number) => match number.as_i64() {
            Some(integer) => integer_as(integer, to),
            None => double_as(number.as_f64()?, to),
        },
        Json::String(text) => text_as(text, to),
        _ => None,
    }
}

fn integer_as(integer: i64, to: &Primitive) -> Option<Converted> {
    use Primitive as P;
    Some(match to {
        P::Int | P::Long | P::Date | P::Time | P::Timestamp | P::Timestamptz => Converted::Is(Value::Integer(integer)),
        // As in Java, a bare number is a count of microseconds.
        P::TimestampNs | P::TimestamptzNs => Converted::Is(Value::Integer(integer.checked_mul(1_000)?)),
        P::Float | P::Double => double_as(as_double(integer), to)?,
        P::Decimal { scale, .. } => {
            Converted::Is(Value::Decimal(i128::from(integer).checked_mul(10_i128.checked_pow(*scale)?)?))
        }
        _ => return None,
    })
}

#[expect(clippy::cast_precision_loss, reason = "the nearest double is what Java takes")]
fn as_double(integer: i64) -> f64 {
    integer as f64
}

fn double_as(double: f64, to: &Primitive) -> Option<Converted> {
    Some(match to {
        P::Double => Converted::Is(Value::float(double)),
        P::Float if f64::from(single(double)).to_bits() == double.to_bits() => Converted::Is(Value::float(double)),
        P::Float => Converted::Near(double),
        P::Decimal { scale, .. } => decimal(&format!("{double}"), *scale)?,
        _ => return None,
    })
}

use Primitive as P;

fn text_as(text: &str, to: &Primitive) -> Option<Converted> {
    Some(match to {
        P::String => Converted::Is(Value::Text(text.into())),
        P::Date => Converted::Is(Value::Integer(iso::date(text)?)),
        P::Time => {
            let nanos = iso::time(text)?;
            between_units(nanos.div_euclid(1_000), nanos.rem_euclid(1_000) != 0)?
        }
        P::Timestamp => micros(iso::timestamp(text)?)?,
        P::Timestamptz => micros(iso::timestamp_with_offset(text)?)?,
        P::TimestampNs => Converted::Is(Value::Integer(iso::timestamp(text)?.nanos()?)),
        P::TimestamptzNs => Converted::Is(Value::Integer(iso::timestamp_with_offset(text)?.nanos()?)),
        P::Uuid => Converted::Is(Value::Bytes(uuid(text)?.into())),
        P::Fixed(length) => {
            let bytes = hex(text)?;
            if bytes.len() != *length as usize {
                return None;
            }
            Converted::Is(Value::Bytes(bytes.into()))
        }
        P::Binary => Converted::Is(Value::Bytes(hex(text)?.into())),
        P::Decimal { scale, .. } => decimal(text, *scale)?,
        _ => return None,
    })
}

fn micros(at: iso::Instant) -> Option<Converted> {
    between_units(at.micros(), at.nanos_within_micro() != 0)
}

/// A point in time that may lie behind the start of its unit.
fn between_units(unit: i64, behind: bool) -> Option<Converted> {
    let (here, next) = (Value::Integer(unit), Value::Integer(unit.checked_add(1)?));
    Some(if behind { Converted::Between(here, next) } else { Converted::Is(here) })
}

/// A decimal number among those with so many digits after the point.
fn decimal(text: &str, scale: u32) -> Option<Converted> {
    let (number, exponent) = match text.split_once(['e', 'E']) {
        Some((number, exponent)) => (number, exponent.parse::<i32>().ok()?),
        None => (text, 0),
    };
    let negative = number.starts_with('-');
    let unsigned = number.strip_prefix(['-', '+']).unwrap_or(number);
    let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    let digits = format!("{whole}{fraction}");
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    // How many zeros to append; fewer than none are digits that the column has no place for.
    let places = i64::from(scale) + i64::from(exponent) - i64::try_from(fraction.len()).ok()?;
    let (kept, lost) = match usize::try_from(-places) {
        Ok(lost) => digits.split_at(digits.len().saturating_sub(lost)),
        Err(_) => (digits.as_str(), ""),
    };
    let kept: i128 = if kept.is_empty() { 0 } else { kept.parse().ok()? };
    let zeros = u32::try_from(places.max(0)).ok()?;
    let magnitude = if kept == 0 { 0 } else { kept.checked_mul(10_i128.checked_pow(zeros)?)? };
    let between = lost.bytes().any(|byte| byte != b'0');
    Some(match (negative, between) {
        (false, false) => Converted::Is(Value::Decimal(magnitude)),
        (true, false) => Converted::Is(Value::Decimal(-magnitude)),
        (false, true) => Converted::Between(Value::Decimal(magnitude), Value::Decimal(magnitude.checked_add(1)?)),
        (true, true) => Converted::Between(Value::Decimal(-magnitude - 1), Value::Decimal(-magnitude)),
    })
}

fn uuid(text: &str) -> Option<Vec<u8>> {
    let groups: Vec<_> = text.split('-').collect();
    if groups.iter().map(|group| group.len()).ne([8, 4, 4, 4, 12]) {
        return None;
    }
    hex(&groups.concat())
}

fn hex(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    if !rest.is_empty() {
        return None;
    }
    pairs.iter().map(|[high, low]| Some(digit(*high)? << 4 | digit(*low)?)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn shown(value: Json, to: &str) -> String {
        let to = Primitive::parse(to).unwrap().unwrap();
        match convert(&Literal { value, data_type: None }, &to) {
            None => "none".to_owned(),
            Some(Converted::Is(value)) => value.to_string(),
            Some(Converted::Between(below, above)) => format!("between {below} and {above}"),
            Some(Converted::Near(double)) => format!("near {double}"),
        }
    }

    #[test]
    fn literals_become_values_of_the_column() {
        let lines: Vec<String> = [
            (json!(5_000_000_000_i64), "int"),
            (json!(5), "double"),
            (json!(5), "decimal(9, 2)"),
            (json!(5), "date"),
            (json!(5), "timestamp_ns"),
            (json!(5), "string"),
            (json!(5), "boolean"),
            (json!(0.5), "float"),
            (json!(0.1), "float"),
            (json!(0.1), "long"),
            (json!(1.005), "decimal(9, 2)"),
            (json!("1.50"), "decimal(9, 1)"),
            (json!("-1.005"), "decimal(9, 2)"),
            (json!("1e3"), "decimal(9, 2)"),
            (json!("1e-9"), "decimal(9, 2)"),
            (json!("1e2147483647"), "decimal(9, 2)"),
            (json!("2024-01-01"), "date"),
            (json!("2024-01-01"), "timestamp"),
            (json!("1970-01-01T00:00:00.000001"), "timestamp"),
            (json!("1970-01-01T00:00:00.0000015"), "timestamp"),
            (json!("1970-01-01T01:00:00+01:00"), "timestamptz"),
            (json!("1970-01-01T01:00:00+01:00"), "timestamp"),
            (json!("1970-01-01T00:00:00.0000015"), "timestamp_ns"),
            (json!("00:00:01"), "time"),
            (json!("f79c3e09-677c-4bbd-a479-3f349cb785e7"), "uuid"),
            (json!("0aFF"), "fixed[2]"),
            (json!("0aFF"), "fixed[3]"),
            (json!("0aF"), "binary"),
            (json!("x"), "int"),
            (json!(true), "boolean"),
            (json!(18_446_744_073_709_551_615_u64), "long"),
        ]
        .into_iter()
        .map(|(value, to)| format!("{value} as {to}: {}", shown(value.clone(), to)))
        .collect();
        insta::assert_snapshot!(lines.join("\n"), @r#"
        5000000000 as int: 5000000000
        5 as double: 5
        5 as decimal(9, 2): 500 (unscaled)
        5 as date: 5
        5 as timestamp_ns: 5000
        5 as string: none
        5 as boolean: none
        0.5 as float: 0.5
        0.1 as float: near 0.1
        0.1 as long: none
        1.005 as decimal(9, 2): between 100 (unscaled) and 101 (unscaled)
        "1.50" as decimal(9, 1): 15 (unscaled)
        "-1.005" as decimal(9, 2): between -101 (unscaled) and -100 (unscaled)
        "1e3" as decimal(9, 2): 100000 (unscaled)
        "1e-9" as decimal(9, 2): between 0 (unscaled) and 1 (unscaled)
        "1e2147483647" as decimal(9, 2): none
        "2024-01-01" as date: 19723
        "2024-01-01" as timestamp: none
        "1970-01-01T00:00:00.000001" as timestamp: 1
        "1970-01-01T00:00:00.0000015" as timestamp: between 1 and 2
        "1970-01-01T01:00:00+01:00" as timestamptz: 0
        "1970-01-01T01:00:00+01:00" as timestamp: none
        "1970-01-01T00:00:00.0000015" as timestamp_ns: 1500
        "00:00:01" as time: 1000000
        "f79c3e09-677c-4bbd-a479-3f349cb785e7" as uuid: f79c3e09677c4bbda4793f349cb785e7
        "0aFF" as fixed[2]: 0aff
        "0aFF" as fixed[3]: none
        "0aF" as binary: none
        "x" as int: none
        true as boolean: true
        18446744073709551615 as long: none
        "#);
    }

    #[test]
    fn a_stated_type_must_fit_the_value() {
        let literal = |value, of: &str| Literal { value, data_type: Some(of.to_owned()) };
        assert_eq!(convert(&literal(json!(5), "int"), &Primitive::Long), Some(Converted::Is(Value::Integer(5))));
        assert_eq!(convert(&literal(json!("x"), "int"), &Primitive::String), None);
        assert_eq!(convert(&literal(json!(5), "nonsense"), &Primitive::Long), None);
    }
}
