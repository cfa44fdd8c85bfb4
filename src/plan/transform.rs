//! Partition transforms applied to values (spec: "Partition transforms", appendix B for the hash).

use crate::manifest::Value;
use crate::spec::iso::year_month_day;
use crate::spec::{Primitive, Transform};

/// The transformed value. None if the transform is not known or does not take such a value.
pub(super) fn apply(transform: &Transform, source: &Primitive, value: &Value) -> Option<Value> {
    if *value == Value::Null {
        return Some(Value::Null);
    }
    match transform {
        Transform::Identity => Some(value.clone()),
        Transform::Bucket(buckets) => {
            let hash = hash(source, value)? & i32::MAX.cast_unsigned();
            Some(Value::Integer(i64::from(hash.checked_rem(*buckets)?)))
        }
        Transform::Truncate(width) => truncate(*width, value),
        Transform::Year | Transform::Month | Transform::Day | Transform::Hour => time(transform, source, value),
        Transform::Void => Some(Value::Null),
        Transform::Other(_) => None,
    }
}

/// Whether a smaller value never becomes a greater one.
pub(super) fn preserves_order(transform: &Transform) -> bool {
    !matches!(transform, Transform::Bucket(_) | Transform::Void | Transform::Other(_))
}

fn truncate(width: u32, value: &Value) -> Option<Value> {
    Some(match value {
        Value::Integer(value) => Value::Integer(value.checked_sub(value.checked_rem_euclid(i64::from(width))?)?),
        Value::Decimal(value) => Value::Decimal(value.checked_sub(value.checked_rem_euclid(i128::from(width))?)?),
        Value::Text(text) => Value::Text(prefix(text, width).into()),
        Value::Bytes(bytes) => Value::Bytes(bytes.get(..width as usize).unwrap_or(bytes).into()),
        _ => return None,
    })
}

/// The first so many characters of a text.
pub(super) fn prefix(text: &str, characters: u32) -> &str {
    let end = text.char_indices().nth(characters as usize).map_or(text.len(), |(at, _)| at);
    text.get(..end).unwrap_or(text)
}

fn time(transform: &Transform, source: &Primitive, value: &Value) -> Option<Value> {
    let Value::Integer(value) = value else { return None };
    let in_hour = match source {
        Primitive::Date => None,
        Primitive::Timestamp | Primitive::Timestamptz => Some(3_600_000_000),
        Primitive::TimestampNs | Primitive::TimestamptzNs => Some(3_600_000_000_000),
        _ => return None,
    };
    let days = in_hour.map_or(*value, |in_hour: i64| value.div_euclid(24 * in_hour));
    let (year, month, _) = year_month_day(days);
    Some(Value::Integer(match transform {
        Transform::Year => year - 1970,
        Transform::Month => (year - 1970) * 12 + month - 1,
        Transform::Day => days,
        Transform::Hour => value.div_euclid(in_hour?),
        _ => return None,
    }))
}

/// The 32-bit hash of a value: equal for equal values of any width.
fn hash(source: &Primitive, value: &Value) -> Option<u32> {
    Some(match value {
        Value::Integer(value) => {
            let nanos = matches!(source, Primitive::TimestampNs | Primitive::TimestamptzNs);
            let value = if nanos { value.div_euclid(1_000) } else { *value };
            murmur3(&value.to_le_bytes())
        }
        Value::Decimal(unscaled) => {
            let bytes = unscaled.to_be_bytes();
            murmur3(shortest(&bytes))
        }
        Value::Text(text) => murmur3(text.as_bytes()),
        Value::Bytes(bytes) => murmur3(bytes),
        Value::Null | Value::Boolean(_) | Value::Float(_) => return None,
    })
}

/// The fewest bytes that hold a number in two's complement, big-endian.
fn shortest(bytes: &[u8]) -> &[u8] {
    let mut rest = bytes;
    while let [first, tail @ ..] = rest
        && let Some(next) = tail.first()
        && ((*first == 0 && next & 0x80 == 0) || (*first == 0xff && next & 0x80 != 0))
    {
        rest = tail;
    }
    rest
}

/// Murmur3, 32 bits, for x86, with seed 0.
fn murmur3(bytes: &[u8]) -> u32 {
    const C1: u32 = 0xcc9e_2d51;
    const C2: u32 = 0x1b87_3593;
    let mix = |block: u32| block.wrapping_mul(C1).rotate_left(15).wrapping_mul(C2);
    let (blocks, tail) = bytes.as_chunks::<4>();
    let mut hash = 0_u32;
    for block in blocks {
        hash = (hash ^ mix(u32::from_le_bytes(*block))).rotate_left(13).wrapping_mul(5).wrapping_add(0xe654_6b64);
    }
    if !tail.is_empty() {
        hash ^= mix(tail.iter().rev().fold(0, |block, byte| block << 8 | u32::from(*byte)));
    }
    // The algorithm counts in 32 bits.
    hash ^= u32::try_from(bytes.len() & 0xffff_ffff).unwrap_or_default();
    hash = (hash ^ hash >> 16).wrapping_mul(0x85eb_ca6b);
    hash = (hash ^ hash >> 13).wrapping_mul(0xc2b2_ae35);
    hash ^ hash >> 16
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::iso;

    fn of(name: &str) -> Primitive {
        Primitive::parse(name).unwrap().unwrap()
    }

    #[test]
    fn hashes_are_those_of_the_specification() {
        let micros = |text| Value::Integer(iso::timestamp(text).unwrap().micros());
        let uuid = u128::from_str_radix("f79c3e09677c4bbda4793f349cb785e7", 16).unwrap().to_be_bytes();
        for (name, value, expected) in [
            ("int", Value::Integer(34), 2_017_239_379),
            ("long", Value::Integer(34), 2_017_239_379),
            ("decimal(9, 2)", Value::Decimal(1420), -500_754_589),
            ("date", Value::Integer(iso::date("2017-11-16").unwrap()), -653_330_422),
            ("time", Value::Integer(iso::time("22:31:08").unwrap() / 1_000), -662_762_989),
            ("timestamp", micros("2017-11-16T22:31:08"), -2_047_944_441),
            ("timestamp", micros("2017-11-16T22:31:08.000001"), -1_207_196_810),
            ("string", Value::Text("iceberg".into()), 1_210_000_089),
            ("uuid", Value::Bytes(uuid.into()), 1_488_055_340),
            ("fixed[4]", Value::Bytes([0, 1, 2, 3].into()), -188_683_207),
            ("binary", Value::Bytes([0, 1, 2, 3].into()), -188_683_207),
        ] {
            assert_eq!(hash(&of(name), &value).map(u32::cast_signed), Some(expected), "{name}");
        }
        let nanos = iso::timestamp("2017-11-16T22:31:08.000001001").unwrap().nanos().unwrap();
        let same = hash(&of("timestamp_ns"), &Value::Integer(nanos)).map(u32::cast_signed);
        assert_eq!(same, Some(-1_207_196_810), "nanoseconds hash as microseconds");
    }

    #[test]
    fn values_are_cut_towards_less() {
        let cut = |width, value| truncate(width, &value).unwrap();
        assert_eq!(cut(10, Value::Integer(-1)), Value::Integer(-10));
        assert_eq!(cut(10, Value::Integer(19)), Value::Integer(10));
        assert_eq!(cut(50, Value::Decimal(1065)), Value::Decimal(1050));
        assert_eq!(cut(3, Value::Text("icéberg".into())), Value::Text("icé".into()));
        assert_eq!(cut(2, Value::Bytes([1, 2, 3].into())), Value::Bytes([1, 2].into()));
        assert_eq!(truncate(10, &Value::Integer(i64::MIN)), None);
    }

    #[test]
    fn times_count_from_1970() {
        let day = |text| Value::Integer(iso::date(text).unwrap());
        let at = |transform: &str, value: &Value| {
            let transform = Transform::parse(transform).unwrap();
            match apply(&transform, &of("date"), value) {
                Some(Value::Integer(value)) => Some(value),
                _ => None,
            }
        };
        assert_eq!(at("year", &day("1969-12-31")), Some(-1));
        assert_eq!(at("month", &day("1969-12-31")), Some(-1));
        assert_eq!(at("month", &day("2017-11-16")), Some(574));
        assert_eq!(at("day", &day("2017-11-16")), Some(17_486));
        assert_eq!(at("hour", &day("2017-11-16")), None);
        let micros = iso::timestamp("2017-11-16T22:31:08").unwrap().micros();
        let hour = apply(&Transform::Hour, &of("timestamptz"), &Value::Integer(micros));
        assert_eq!(hour, Some(Value::Integer(419_686)));
        let before = apply(&Transform::Day, &of("timestamp"), &Value::Integer(-1));
        assert_eq!(before, Some(Value::Integer(-1)));
    }

    #[test]
    fn only_the_fewest_bytes_are_hashed() {
        assert_eq!(shortest(&0_i128.to_be_bytes()), [0]);
        assert_eq!(shortest(&127_i128.to_be_bytes()), [127]);
        assert_eq!(shortest(&128_i128.to_be_bytes()), [0, 128]);
        assert_eq!(shortest(&(-128_i128).to_be_bytes()), [128]);
        assert_eq!(shortest(&(-129_i128).to_be_bytes()), [255, 127]);
    }
}
