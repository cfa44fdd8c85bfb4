//! Which types a column may be promoted to without its files being rewritten (spec.md 3.2).

use super::{Primitive, Type};

/// The first format version with promotions of `unknown` and `date`.
const NEW_PROMOTIONS_MIN_FORMAT_VERSION: u8 = 3;

impl Type {
    /// Whether values of this type can be read as values of the other. Of nested types only the kind counts: their
    /// parts have ids of their own.
    pub fn may_become(&self, new: &Self, format_version: u8) -> bool {
        match (self, new) {
            (Self::Primitive(old), Self::Primitive(new)) if old == new => true,
            (Self::Primitive(Primitive::Unknown), _) => format_version >= NEW_PROMOTIONS_MIN_FORMAT_VERSION,
            (Self::Primitive(old), Self::Primitive(new)) => old.may_become(new, format_version),
            (Self::Other(old), Self::Other(new)) => old == new,
            (Self::Variant, Self::Variant)
            | (Self::Struct(_), Self::Struct(_))
            | (Self::List(_), Self::List(_))
            | (Self::Map(_), Self::Map(_)) => true,
            _ => false,
        }
    }

    /// Whether a promotion turns days into instants: transforms that look at the value itself give others then.
    pub fn turns_date_into_timestamp(&self, new: &Self) -> bool {
        let to_timestamp = matches!(new, Self::Primitive(Primitive::Timestamp | Primitive::TimestampNs));
        to_timestamp && matches!(self, Self::Primitive(Primitive::Date))
    }
}

impl Primitive {
    fn may_become(&self, new: &Self, format_version: u8) -> bool {
        match (self, new) {
            (Self::Int, Self::Long) | (Self::Float, Self::Double) => true,
            (Self::Decimal { precision: old, scale }, Self::Decimal { precision: new, scale: new_scale }) => {
                scale == new_scale && old <= new
            }
            (Self::Date, Self::Timestamp | Self::TimestampNs) => format_version >= NEW_PROMOTIONS_MIN_FORMAT_VERSION,
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(json: &str) -> Type {
        Type::parse(&serde_json::value::RawValue::from_string(json.to_owned()).unwrap()).unwrap()
    }

    #[test]
    fn types_are_only_widened() {
        for (old, new, since) in [
            (r#""int""#, r#""long""#, 1),
            (r#""float""#, r#""double""#, 1),
            (r#""decimal(9,2)""#, r#""decimal(10,2)""#, 1),
            (r#""date""#, r#""timestamp""#, 3),
            (r#""date""#, r#""timestamp_ns""#, 3),
            (r#""unknown""#, r#""string""#, 3),
            (r#""geometry""#, r#""geometry(ogc:crs84)""#, 3),
        ] {
            for version in 1..=3 {
                let may = of(old).may_become(&of(new), version);
                assert_eq!(may, version >= since || old.contains("geometry"), "{old} {new} {version}");
            }
            assert_eq!(of(new).may_become(&of(old), 3), old.contains("geometry"), "{new} back to {old}");
        }
        for (old, new) in [
            (r#""date""#, r#""timestamptz""#),
            (r#""int""#, r#""string""#),
            (r#""decimal(9,2)""#, r#""decimal(9,3)""#),
            (r#""timestamp""#, r#""timestamp_ns""#),
            (r#""string""#, r#""variant""#),
            (r#""fixed[2]""#, r#""fixed[3]""#),
            (r#"{"type":"struct","fields":[]}"#, r#""string""#),
        ] {
            assert!(!of(old).may_become(&of(new), 3), "{old} {new}");
        }
        let list = r#"{"type":"list","element-id":3,"element":"int","element-required":false}"#;
        assert!(of(list).may_become(&of(&list.replace("int", "long")), 3), "the element is a field of its own");
    }
}
