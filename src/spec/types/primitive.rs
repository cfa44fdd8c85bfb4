//! Primitive types and their names.

use std::fmt;

use crate::spec::error::{Error, Result};

/// The coordinate reference system of a geometry or geography that names none.
const DEFAULT_CRS: &str = "OGC:CRS84";

/// Highest precision of a decimal.
const MAX_PRECISION: u32 = 38;

/// A type without parts (spec.md 3.2).
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the names are those of the specification")]
pub enum Primitive {
    Unknown,
    Boolean,
    Int,
    Long,
    Float,
    Double,
    Decimal {
        /// Digits in all, at most 38.
        precision: u32,
        /// Digits after the point.
        scale: u32,
    },
    Date,
    Time,
    Timestamp,
    Timestamptz,
    TimestampNs,
    TimestamptzNs,
    String,
    Uuid,
    /// So many bytes.
    Fixed(u32),
    Binary,
    Geometry {
        /// As written; the default is `OGC:CRS84`.
        crs: Option<String>,
    },
    Geography {
        /// As written; the default is `OGC:CRS84`.
        crs: Option<String>,
        /// How edges run between points, as written; the default is spherical.
        algorithm: Option<EdgeAlgorithm>,
    },
}

/// How the edge between two points of a geography is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are those of the specification")]
pub enum EdgeAlgorithm {
    Spherical,
    Vincenty,
    Thomas,
    Andoyer,
    Karney,
}

impl Primitive {
    /// Reads a type's name, in any case, with any white space among its parameters. `None` if it is no primitive.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the type is known and its parameters are wrong.
    pub fn parse(text: &str) -> Result<Option<Self>> {
        let lower = text.to_ascii_lowercase();
        if let Some(simple) = Self::simple(&lower) {
            return Ok(Some(simple));
        }
        if let Some(inner) = lower.strip_prefix("decimal(").and_then(|rest| rest.strip_suffix(')')) {
            return Self::decimal(inner, text);
        }
        if let Some(inner) = lower.strip_prefix("fixed[").and_then(|rest| rest.strip_suffix(']')) {
            return Ok(digits(inner, text)?.map(Self::Fixed));
        }
        match parameters("geometry", text) {
            Some(Parameters::None) => return Ok(Some(Self::Geometry { crs: None })),
            Some(Parameters::Text(crs)) if !crs.contains(')') => {
                return Ok(Some(Self::Geometry { crs: Some(non_empty(crs)?) }));
            }
            _ => {}
        }
        match parameters("geography", text) {
            Some(Parameters::None) => Ok(Some(Self::Geography { crs: None, algorithm: None })),
            Some(Parameters::Text(inner)) => Self::geography(inner),
            None => Ok(None),
        }
    }

    fn simple(lower: &str) -> Option<Self> {
        Some(match lower {
            "unknown" => Self::Unknown,
            "boolean" => Self::Boolean,
            "int" => Self::Int,
            "long" => Self::Long,
            "float" => Self::Float,
            "double" => Self::Double,
            "date" => Self::Date,
            "time" => Self::Time,
            "timestamp" => Self::Timestamp,
            "timestamptz" => Self::Timestamptz,
            "timestamp_ns" => Self::TimestampNs,
            "timestamptz_ns" => Self::TimestamptzNs,
            "string" => Self::String,
            "uuid" => Self::Uuid,
            "binary" => Self::Binary,
            _ => return None,
        })
    }

    fn decimal(inner: &str, text: &str) -> Result<Option<Self>> {
        let Some((precision, scale)) = inner.split_once(',') else { return Ok(None) };
        let (Some(precision), Some(scale)) = (digits(precision, text)?, digits(scale, text)?) else {
            return Ok(None);
        };
        if precision > MAX_PRECISION {
            let message = format!("Decimals with precision larger than {MAX_PRECISION} are not supported: {precision}");
            return Err(Error::Invalid(message));
        }
        Ok(Some(Self::Decimal { precision, scale }))
    }

    fn geography(inner: &str) -> Result<Option<Self>> {
        let (crs, algorithm) = match inner.split_once(',') {
            Some((crs, algorithm)) => (crs.trim(), Some(algorithm.trim())),
            None => (inner, None),
        };
        if algorithm.is_some_and(|name| !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')) {
            return Ok(None);
        }
        let algorithm = algorithm.map(EdgeAlgorithm::parse).transpose()?;
        Ok(Some(Self::Geography { crs: Some(non_empty(crs)?), algorithm }))
    }

    /// The first format version that has this type, if it is not the first of all.
    pub fn min_format_version(&self) -> Option<u8> {
        match self {
            Self::Unknown
            | Self::TimestampNs
            | Self::TimestamptzNs
            | Self::Geometry { .. }
            | Self::Geography { .. } => Some(3),
            _ => None,
        }
    }
}

impl EdgeAlgorithm {
    fn parse(name: &str) -> Result<Self> {
        Ok(match name.to_ascii_lowercase().as_str() {
            "spherical" => Self::Spherical,
            "vincenty" => Self::Vincenty,
            "thomas" => Self::Thomas,
            "andoyer" => Self::Andoyer,
            "karney" => Self::Karney,
            _ => return Err(Error::invalid(format!("Invalid edge interpolation algorithm: {name}"))),
        })
    }

    fn name(self) -> &'static str {
        match self {
            Self::Spherical => "spherical",
            Self::Vincenty => "vincenty",
            Self::Thomas => "thomas",
            Self::Andoyer => "andoyer",
            Self::Karney => "karney",
        }
    }
}

/// A number between optional spaces; `None` if it is no such thing.
fn digits(inner: &str, text: &str) -> Result<Option<u32>> {
    let inner = inner.trim();
    if inner.is_empty() || !inner.bytes().all(|b| b.is_ascii_digit()) {
        return Ok(None);
    }
    match inner.parse::<i32>().ok().and_then(|number| u32::try_from(number).ok()) {
        Some(number) => Ok(Some(number)),
        None => Err(Error::invalid(format!("Cannot parse type string, number out of range: {text}"))),
    }
}

enum Parameters<'a> {
    None,
    Text(&'a str),
}

/// What stands in the parentheses after a type's name, if the text is that type.
fn parameters<'a>(name: &str, text: &'a str) -> Option<Parameters<'a>> {
    let (head, rest) = text.split_at_checked(name.len())?;
    if !head.eq_ignore_ascii_case(name) {
        return None;
    }
    let rest = rest.trim_start();
    if rest.is_empty() {
        return Some(Parameters::None);
    }
    rest.strip_prefix('(')?.strip_suffix(')').map(|inner| Parameters::Text(inner.trim()))
}

fn non_empty(crs: &str) -> Result<String> {
    if crs.is_empty() {
        return Err(Error::invalid("Invalid CRS: (empty string)"));
    }
    Ok(crs.to_owned())
}

/// Equal types, however they are spelled: a default is equal to its value, and a CRS is compared in any case.
impl PartialEq for Primitive {
    fn eq(&self, other: &Self) -> bool {
        fn crs(given: Option<&String>) -> &str {
            given.map_or(DEFAULT_CRS, String::as_str)
        }
        match (self, other) {
            (Self::Decimal { precision: a, scale: b }, Self::Decimal { precision: c, scale: d }) => a == c && b == d,
            (Self::Fixed(a), Self::Fixed(b)) => a == b,
            (Self::Geometry { crs: a }, Self::Geometry { crs: b }) => {
                crs(a.as_ref()).eq_ignore_ascii_case(crs(b.as_ref()))
            }
            (Self::Geography { crs: a, algorithm: c }, Self::Geography { crs: b, algorithm: d }) => {
                crs(a.as_ref()).eq_ignore_ascii_case(crs(b.as_ref()))
                    && c.unwrap_or(EdgeAlgorithm::Spherical) == d.unwrap_or(EdgeAlgorithm::Spherical)
            }
            _ => std::mem::discriminant(self) == std::mem::discriminant(other),
        }
    }
}

/// The name as it is written in metadata.
impl fmt::Display for Primitive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self {
            Self::Unknown => "unknown",
            Self::Boolean => "boolean",
            Self::Int => "int",
            Self::Long => "long",
            Self::Float => "float",
            Self::Double => "double",
            Self::Date => "date",
            Self::Time => "time",
            Self::Timestamp => "timestamp",
            Self::Timestamptz => "timestamptz",
            Self::TimestampNs => "timestamp_ns",
            Self::TimestamptzNs => "timestamptz_ns",
            Self::String => "string",
            Self::Uuid => "uuid",
            Self::Binary => "binary",
            Self::Decimal { precision, scale } => return write!(f, "decimal({precision}, {scale})"),
            Self::Fixed(length) => return write!(f, "fixed[{length}]"),
            Self::Geometry { crs: None } => "geometry",
            Self::Geometry { crs: Some(crs) } => return write!(f, "geometry({crs})"),
            Self::Geography { crs: None, .. } => "geography",
            Self::Geography { crs: Some(crs), algorithm: None } => return write!(f, "geography({crs})"),
            Self::Geography { crs: Some(crs), algorithm: Some(algorithm) } => {
                return write!(f, "geography({crs}, {})", algorithm.name());
            }
        };
        f.write_str(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(text: &str) -> String {
        match Primitive::parse(text) {
            Ok(Some(primitive)) => primitive.to_string(),
            Ok(None) => "no primitive".to_owned(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn names_are_read_as_leniently_as_java_does() {
        let texts = [
            "LONG",
            "decimal(9,2)",
            "Decimal( 9 , 2 )",
            "decimal(39, 2)",
            "decimal(9)",
            "fixed[ 16 ]",
            "fixed[4294967296]",
            "geometry",
            "Geometry ( srid:4326 )",
            "geometry()",
            "geography",
            "geography(srid:4326)",
            "geography( srid:4326 ,KARNEY )",
            "geography(srid:4326, flat)",
            "geography(a, b c)",
            "timestamptz_ns",
            "vector(3)",
            "variant",
            "",
        ];
        let lines: Vec<_> = texts.iter().map(|text| format!("{text} -> {}", printed(text))).collect();
        insta::assert_snapshot!(lines.join("\n"), @r#"
        LONG -> long
        decimal(9,2) -> decimal(9, 2)
        Decimal( 9 , 2 ) -> decimal(9, 2)
        decimal(39, 2) -> Decimals with precision larger than 38 are not supported: 39
        decimal(9) -> no primitive
        fixed[ 16 ] -> fixed[16]
        fixed[4294967296] -> Cannot parse type string, number out of range: fixed[4294967296]
        geometry -> geometry
        Geometry ( srid:4326 ) -> geometry(srid:4326)
        geometry() -> Invalid CRS: (empty string)
        geography -> geography
        geography(srid:4326) -> geography(srid:4326)
        geography( srid:4326 ,KARNEY ) -> geography(srid:4326, karney)
        geography(srid:4326, flat) -> Invalid edge interpolation algorithm: flat
        geography(a, b c) -> no primitive
        timestamptz_ns -> timestamptz_ns
        vector(3) -> no primitive
        variant -> no primitive
         -> no primitive
        "#);
    }

    #[test]
    fn spelling_does_not_make_types_differ() {
        let parse = |text| Primitive::parse(text).unwrap().unwrap();
        assert_eq!(parse("geometry"), parse("geometry(ogc:crs84)"));
        assert_eq!(parse("geography"), parse("geography(OGC:CRS84, spherical)"));
        assert_ne!(parse("geography"), parse("geography(OGC:CRS84, karney)"));
        assert_ne!(parse("geometry"), parse("geography"));
        assert_ne!(parse("fixed[1]"), parse("fixed[2]"));
        assert_ne!(parse("decimal(9,2)"), parse("decimal(9,3)"));
        assert_eq!(parse("int"), parse("INT"));
        assert_ne!(parse("int"), parse("long"));
    }
}
