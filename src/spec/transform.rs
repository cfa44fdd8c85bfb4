//! Transforms: how a partition or sort value is made of a column's value.

use std::fmt;

use super::error::{Error, Result};
use super::types::{Primitive, Type};

/// A transform of partition fields and sort fields. Equal transforms print alike.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Transform {
    /// The value itself.
    Identity,
    /// A hash of the value modulo so many buckets.
    Bucket(u32),
    /// The value cut to a width.
    Truncate(u32),
    /// Years since 1970.
    Year,
    /// Months since 1970.
    Month,
    /// Days since 1970.
    Day,
    /// Hours since 1970.
    Hour,
    /// Always null; what is left of a dropped field in version 1.
    Void,
    /// A transform that is not known, as written.
    Other(String),
}

impl Transform {
    /// Reads a transform's name, in any case. A name that is not known is kept.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the name has a width in brackets that is no width.
    pub fn parse(text: &str) -> Result<Self> {
        if let Some((name, width)) = with_width(text) {
            let number = width.parse::<i32>().ok().and_then(|number| u32::try_from(number).ok());
            let Some(number) = number else {
                return Err(Error::invalid(format!("Invalid transform: {text}: {width} is out of range")));
            };
            if name.eq_ignore_ascii_case("bucket") {
                return positive(number, "number of buckets").map(Self::Bucket);
            }
            if name.eq_ignore_ascii_case("truncate") {
                return positive(number, "truncate width").map(Self::Truncate);
            }
        }
        Ok(match text.to_ascii_lowercase().as_str() {
            "identity" => Self::Identity,
            "year" => Self::Year,
            "month" => Self::Month,
            "day" => Self::Day,
            "hour" => Self::Hour,
            "void" => Self::Void,
            _ => Self::Other(text.to_owned()),
        })
    }

    /// Whether it can be applied to values of this type (spec.md 3.4). What is not known may be applicable.
    pub fn can_transform(&self, source: &Type) -> bool {
        use Primitive as P;
        let primitive = match (self, source) {
            (Self::Void | Self::Other(_), _) => return true,
            (_, Type::Primitive(primitive)) => primitive,
            _ => return false,
        };
        let is_timestamp = matches!(primitive, P::Timestamp | P::Timestamptz | P::TimestampNs | P::TimestamptzNs);
        match self {
            Self::Void | Self::Other(_) => true,
            Self::Identity => !matches!(primitive, P::Geometry { .. } | P::Geography { .. }),
            Self::Bucket(_) => {
                is_timestamp
                    || Self::Truncate(1).can_transform(source)
                    || matches!(primitive, P::Date | P::Time | P::Uuid | P::Fixed(_))
            }
            Self::Truncate(_) => matches!(primitive, P::Int | P::Long | P::Decimal { .. } | P::String | P::Binary),
            Self::Year | Self::Month | Self::Day => is_timestamp || matches!(primitive, P::Date),
            Self::Hour => is_timestamp,
        }
    }
}

/// Splits `name[123]`.
fn with_width(text: &str) -> Option<(&str, &str)> {
    let (name, width) = text.strip_suffix(']')?.split_once('[')?;
    let word = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
    let fits = !name.is_empty() && name.bytes().all(word) && !width.is_empty();
    (fits && width.bytes().all(|b| b.is_ascii_digit())).then_some((name, width))
}

fn positive(number: u32, what: &str) -> Result<u32> {
    if number == 0 {
        return Err(Error::invalid(format!("Invalid {what}: {number} (must be > 0)")));
    }
    Ok(number)
}

/// The transform as it is written in metadata.
impl fmt::Display for Transform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Identity => "identity",
            Self::Bucket(buckets) => return write!(f, "bucket[{buckets}]"),
            Self::Truncate(width) => return write!(f, "truncate[{width}]"),
            Self::Year => "year",
            Self::Month => "month",
            Self::Day => "day",
            Self::Hour => "hour",
            Self::Void => "void",
            Self::Other(name) => name,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transforms_are_read_in_any_case_and_kept_if_unknown() {
        for (text, printed) in [
            ("IDENTITY", "identity"),
            ("Bucket[016]", "bucket[16]"),
            ("truncate[2147483647]", "truncate[2147483647]"),
            ("Void", "void"),
            ("zorder", "zorder"),
            ("bucketV2[8]", "bucketV2[8]"),
            ("bucket", "bucket"),
            ("bucket[-1]", "bucket[-1]"),
            ("bucket[ 1 ]", "bucket[ 1 ]"),
        ] {
            assert_eq!(Transform::parse(text).unwrap().to_string(), printed);
        }
        for text in ["truncate[4294967296]", "bucket[0]", "truncate[0]", "zorder[99999999999]"] {
            assert!(Transform::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn every_transform_has_its_source_types() {
        let types = [
            "boolean",
            "int",
            "long",
            "float",
            "decimal(9, 2)",
            "date",
            "time",
            "timestamp",
            "timestamptz_ns",
            "string",
            "uuid",
            "fixed[2]",
            "binary",
            "unknown",
            "geometry",
        ];
        let fitting = |transform: &str| {
            let transform = Transform::parse(transform).unwrap();
            let fits =
                |name: &&&str| transform.can_transform(&Type::Primitive(Primitive::parse(name).unwrap().unwrap()));
            types.iter().filter(fits).copied().collect::<Vec<_>>().join(" ")
        };
        assert_eq!(fitting("void"), types.join(" "));
        assert_eq!(fitting("zorder"), types.join(" "));
        assert_eq!(fitting("identity"), types.join(" ").replace(" geometry", ""));
        assert_eq!(
            fitting("bucket[4]"),
            "int long decimal(9, 2) date time timestamp timestamptz_ns string uuid fixed[2] binary"
        );
        assert_eq!(fitting("truncate[4]"), "int long decimal(9, 2) string binary");
        assert_eq!(fitting("day"), "date timestamp timestamptz_ns");
        assert_eq!(fitting("hour"), "timestamp timestamptz_ns");
        assert!(!Transform::Identity.can_transform(&Type::Variant));
        assert!(Transform::Void.can_transform(&Type::Variant));
    }
}
