//! Typed readers. Each takes its member out of the object, so that what is left is what nobody knows.
//!
//! Three kinds: `required_*` wants the member; `optional_*` takes null for absent; `present_*` takes absence but
//! refuses null, as Java does where it only asks whether the key is there (spec.md 2.6).

use serde_json::value::RawValue;

use super::{Object, Raw, elements, is_null, shown};
use crate::spec::error::{Error, Result};

/// Makes the three readers of one kind of value.
macro_rules! readers {
    ($required:ident, $optional:ident, $present:ident, $type:ty, $what:literal, $read:path) => {
        #[doc = concat!("Takes a member that must be there, as ", $what, ".")]
        pub fn $required(&mut self, key: &str) -> Result<$type> {
            match self.take(key) {
                Some(raw) => $read(key, &raw),
                None => Err(Error::invalid(format!(concat!("Cannot parse missing ", $what, ": {}"), key))),
            }
        }

        #[doc = concat!("Takes a member that may be missing or null, as ", $what, ".")]
        pub fn $optional(&mut self, key: &str) -> Result<Option<$type>> {
            self.take(key).filter(|raw| !is_null(raw)).map(|raw| $read(key, &raw)).transpose()
        }

        #[doc = concat!("Takes a member that may be missing but not null, as ", $what, ".")]
        pub fn $present(&mut self, key: &str) -> Result<Option<$type>> {
            self.take(key).map(|raw| $read(key, &raw)).transpose()
        }
    };
}

impl Object {
    readers!(required_str, optional_str, present_str, String, "string", str_of);
    readers!(required_i32, optional_i32, present_i32, i32, "int", i32_of);
    readers!(required_i64, optional_i64, present_i64, i64, "long", i64_of);
    readers!(required_bool, optional_bool, present_bool, bool, "boolean", bool_of);
    readers!(required_object, optional_object, present_object, Object, "field", object_of);
    readers!(required_array, optional_array, present_array, Vec<Raw>, "list", elements);
    readers!(required_strings, optional_strings, present_strings, Vec<String>, "list", strings_of);
    readers!(required_i32s, optional_i32s, present_i32s, Vec<i32>, "list", i32s_of);
    readers!(required_i64s, optional_i64s, present_i64s, Vec<i64>, "list", i64s_of);
    readers!(required_string_map, optional_string_map, present_string_map, Vec<(String, String)>, "map", string_map_of);

    /// Takes a member that must be there and not null, as its text.
    pub fn required_raw(&mut self, key: &str) -> Result<Raw> {
        self.optional_raw(key).ok_or_else(|| Error::invalid(format!("Cannot parse missing field: {key}")))
    }

    /// Takes a member that may be missing or null, as its text.
    pub fn optional_raw(&mut self, key: &str) -> Option<Raw> {
        self.take(key).filter(|raw| !is_null(raw))
    }
}

/// The value as a string; `key` is for the error.
pub(in crate::spec) fn str_of(key: &str, raw: &RawValue) -> Result<String> {
    read(raw).ok_or_else(|| refused("string value", key, raw))
}

pub(in crate::spec) fn i32_of(key: &str, raw: &RawValue) -> Result<i32> {
    read(raw).ok_or_else(|| refused_an("integer value", key, raw))
}

pub(in crate::spec) fn i64_of(key: &str, raw: &RawValue) -> Result<i64> {
    read(raw).ok_or_else(|| refused("long value", key, raw))
}

fn bool_of(key: &str, raw: &RawValue) -> Result<bool> {
    read(raw).ok_or_else(|| refused("boolean value", key, raw))
}

fn object_of(key: &str, raw: &RawValue) -> Result<Object> {
    if !raw.get().starts_with('{') {
        return Err(Error::invalid(format!("Cannot parse {key} from non-object value: {}", shown(raw))));
    }
    Object::parse(raw.get())
}

pub(in crate::spec) fn strings_of(key: &str, raw: &RawValue) -> Result<Vec<String>> {
    each(key, raw, "string from non-text value")
}

pub(in crate::spec) fn i32s_of(key: &str, raw: &RawValue) -> Result<Vec<i32>> {
    each(key, raw, "integer from non-int value")
}

pub(in crate::spec) fn i64s_of(key: &str, raw: &RawValue) -> Result<Vec<i64>> {
    each(key, raw, "long from non-long value")
}

pub(in crate::spec) fn string_map_of(key: &str, raw: &RawValue) -> Result<Vec<(String, String)>> {
    if !raw.get().starts_with('{') {
        let value = shown(raw);
        return Err(Error::invalid(format!("Cannot parse string map from non-object value: {key}: {value}")));
    }
    let members = Object::parse(raw.get())?.into_members().into_iter();
    members.map(|(name, value)| str_of(&name, &value).map(|value| (name, value))).collect()
}

/// Reads every element of an array as one kind of value.
fn each<T: serde::de::DeserializeOwned>(key: &str, raw: &RawValue, what: &str) -> Result<Vec<T>> {
    let one =
        |raw: &Raw| read(raw).ok_or_else(|| Error::invalid(format!("Cannot parse {what} in {key}: {}", shown(raw))));
    elements(key, raw)?.iter().map(one).collect()
}

fn read<T: serde::de::DeserializeOwned>(raw: &RawValue) -> Option<T> {
    serde_json::from_str(raw.get()).ok()
}

fn refused(what: &str, key: &str, raw: &RawValue) -> Error {
    Error::invalid(format!("Cannot parse to a {what}: {key}: {}", shown(raw)))
}

fn refused_an(what: &str, key: &str, raw: &RawValue) -> Error {
    Error::invalid(format!("Cannot parse to an {what}: {key}: {}", shown(raw)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(text: &str) -> Object {
        Object::parse(text).unwrap()
    }

    #[test]
    fn readers_name_the_member_and_what_was_found() {
        let mut found =
            object(r#"{"s":5,"i":4294967296,"l":1.0,"b":"x","o":[],"a":{},"as":[1],"m":{"n":null},"ai":["x"]}"#);
        let errors = [
            found.required_str("none").unwrap_err(),
            found.required_str("s").unwrap_err(),
            found.required_i32("i").unwrap_err(),
            found.required_i64("l").unwrap_err(),
            found.required_bool("b").unwrap_err(),
            found.required_object("o").unwrap_err(),
            found.required_array("a").unwrap_err(),
            found.required_strings("as").unwrap_err(),
            found.required_string_map("m").unwrap_err(),
            found.required_i32s("ai").unwrap_err(),
        ];
        let texts: Vec<_> = errors.iter().map(ToString::to_string).collect();
        insta::assert_snapshot!(texts.join("\n"), @r#"
        Cannot parse missing string: none
        Cannot parse to a string value: s: 5
        Cannot parse to an integer value: i: 4294967296
        Cannot parse to a long value: l: 1.0
        Cannot parse to a boolean value: b: "x"
        Cannot parse o from non-object value: []
        Cannot parse JSON array from non-array value: a: {}
        Cannot parse string from non-text value in as: 1
        Cannot parse to a string value: n: null
        Cannot parse integer from non-int value in ai: "x"
        "#);
        assert!(found.is_empty(), "readers take what they read");
    }

    #[test]
    fn null_is_absent_or_refused() {
        assert_eq!(object(r#"{"a":null}"#).optional_i64("a"), Ok(None));
        assert_eq!(object("{}").present_i64("a"), Ok(None));
        assert!(object(r#"{"a":null}"#).present_i64("a").is_err());
        assert_eq!(object(r#"{"a":9223372036854775807}"#).required_i64("a"), Ok(i64::MAX));
        assert!(object(r#"{"a":9223372036854775808}"#).required_i64("a").is_err());
    }
}
