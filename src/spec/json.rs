//! JSON objects that keep what they do not know.
//!
//! An [`Object`] holds its members in order, each as the text it was read from. Typed readers take the members that
//! a type knows; what is left is written back unchanged. Numbers never pass through a float, and the texts of the
//! errors are those of the Java implementation, which clients and people already know.

use std::collections::HashMap;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::error::{Error, Result};

mod read;
mod write;

pub(in crate::spec) use read::{i32_of, i32s_of, i64_of, str_of, string_map_of, strings_of};
pub(in crate::spec) use write::raw_from_valid;
pub use write::{ObjectWriter, push_array, push_string, raw_array, raw_i64, raw_null, raw_string};

/// One JSON value as the text it was read from.
pub type Raw = Box<RawValue>;

/// Deepest nesting of arrays and objects in a document. Java's parser stops at 1,000.
const MAX_DEPTH: usize = 128;

/// Longest piece of a foreign value that an error repeats, in bytes.
const MAX_SHOWN: usize = 200;

/// The members of a JSON object, in order. Of two members with one name the last one counts, as in Java.
#[derive(Debug, Clone, Default)]
pub struct Object {
    members: Vec<(String, Raw)>,
}

impl Object {
    /// Reads an object from its text.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the text is no JSON or no object.
    pub fn parse(text: &str) -> Result<Self> {
        serde_json::from_str(text).map_err(|error| Error::invalid(format!("Cannot parse JSON object: {error}")))
    }

    /// Reads an object from a value of another object.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the value is no object.
    pub fn parse_raw(raw: &RawValue) -> Result<Self> {
        if !raw.get().starts_with('{') {
            return Err(Error::invalid(format!("Cannot parse object from non-object value: {}", shown(raw))));
        }
        Self::parse(raw.get())
    }

    /// Reads a whole document from outside: UTF-8 without a byte order mark, nested at most 128 deep.
    ///
    /// # Errors
    /// [`Error::Invalid`] if it is not that, or no object.
    pub fn parse_document(bytes: &[u8]) -> Result<Self> {
        let text = std::str::from_utf8(bytes).map_err(|error| Error::invalid(format!("Cannot parse JSON: {error}")))?;
        check_depth(text)?;
        Self::parse(text)
    }

    /// The text of a member.
    pub fn get(&self, key: &str) -> Option<&RawValue> {
        self.members.iter().find(|(name, _)| name == key).map(|(_, value)| &**value)
    }

    /// Whether there is such a member, even if it is null.
    pub fn has(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    /// Removes a member and returns its text.
    pub fn take(&mut self, key: &str) -> Option<Raw> {
        let at = self.members.iter().position(|(name, _)| name == key)?;
        Some(self.members.remove(at).1)
    }

    /// Replaces a member where it stands, or appends it.
    pub fn set(&mut self, key: &str, value: Raw) {
        match self.members.iter_mut().find(|(name, _)| name == key) {
            Some((_, old)) => *old = value,
            None => self.members.push((key.to_owned(), value)),
        }
    }

    /// The members in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &RawValue)> {
        self.members.iter().map(|(name, value)| (name.as_str(), &**value))
    }

    /// The members in order, taken out.
    pub fn into_members(self) -> Vec<(String, Raw)> {
        self.members
    }

    /// Whether there are no members (left).
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// Number of members (left).
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// This object as one value.
    pub fn to_raw(&self) -> Raw {
        let mut out = String::new();
        let mut writer = ObjectWriter::new(&mut out);
        writer.rest(self);
        writer.finish();
        raw_from_valid(out)
    }
}

/// Two objects are equal if they have the same members with the same texts, in any order.
impl PartialEq for Object {
    fn eq(&self, other: &Self) -> bool {
        fn sorted(object: &Object) -> Vec<(&str, &str)> {
            let mut members: Vec<_> = object.iter().map(|(name, value)| (name, value.get())).collect();
            members.sort_unstable();
            members
        }
        self.len() == other.len() && sorted(self) == sorted(other)
    }
}

impl<'de> Deserialize<'de> for Object {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        deserializer.deserialize_map(ObjectVisitor)
    }
}

struct ObjectVisitor;

impl<'de> Visitor<'de> for ObjectVisitor {
    type Value = Object;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Object, A::Error> {
        let mut members: Vec<(String, Raw)> = Vec::new();
        while let Some(member) = map.next_entry()? {
            members.push(member);
        }
        Ok(Object { members: last_of_each(members) })
    }
}

/// Keeps the last value of every name, where the name stood first.
fn last_of_each(members: Vec<(String, Raw)>) -> Vec<(String, Raw)> {
    let mut names: Vec<&str> = members.iter().map(|(name, _)| name.as_str()).collect();
    names.sort_unstable();
    if !names.windows(2).any(|pair| matches!(pair, [one, next] if one == next)) {
        return members;
    }
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut kept: Vec<(String, Raw)> = Vec::new();
    for (name, value) in members {
        let place = *places.entry(name.clone()).or_insert(kept.len());
        match kept.get_mut(place) {
            Some(member) => member.1 = value,
            None => kept.push((name, value)),
        }
    }
    kept
}

/// The elements of a JSON array, each as its text.
///
/// # Errors
/// [`Error::Invalid`] with the member's name if the value is no array.
pub fn elements(key: &str, raw: &RawValue) -> Result<Vec<Raw>> {
    serde_json::from_str(raw.get())
        .map_err(|_| Error::invalid(format!("Cannot parse JSON array from non-array value: {key}: {}", shown(raw))))
}

/// Whether the value is `null`.
pub fn is_null(raw: &RawValue) -> bool {
    raw.get() == "null"
}

/// A value as an error shows it: cut after 200 bytes.
pub fn shown(raw: &RawValue) -> String {
    let text = raw.get();
    if text.len() <= MAX_SHOWN {
        return text.to_owned();
    }
    let end = (0..=MAX_SHOWN).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
    format!("{}...", text.get(..end).unwrap_or_default())
}

/// Refuses text that is nested too deep. Raw values are scanned without recursion, so nothing else bounds them.
fn check_depth(text: &str) -> Result<()> {
    let (mut depth, mut in_string, mut escaped) = (0_usize, false, false);
    for byte in text.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b'{' | b'[' if !in_string => {
                depth += 1;
                if depth > MAX_DEPTH {
                    return Err(Error::invalid(format!("Cannot parse JSON: nested more than {MAX_DEPTH} deep")));
                }
            }
            b'}' | b']' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_keep_their_order_and_text() {
        let text = r#"{"b": 1.50, "a":{ "x" : 9007199254740993 },"c":null}"#;
        let mut object = Object::parse(text).unwrap();
        assert_eq!(object.get("b").unwrap().get(), "1.50");
        assert_eq!(object.to_raw().get(), r#"{"b":1.50,"a":{ "x" : 9007199254740993 },"c":null}"#);
        assert_eq!(object.take("a").unwrap().get(), r#"{ "x" : 9007199254740993 }"#);
        assert_eq!(object.to_raw().get(), r#"{"b":1.50,"c":null}"#);
        object.set("b", raw_i64(2));
        object.set("d", raw_string("q\"\n"));
        assert_eq!(object.to_raw().get(), r#"{"b":2,"c":null,"d":"q\"\n"}"#);
    }

    #[test]
    fn the_last_of_two_members_counts() {
        let object = Object::parse(r#"{"a":1,"b":2,"a":3,"c":4,"b":5}"#).unwrap();
        assert_eq!(object.to_raw().get(), r#"{"a":3,"b":5,"c":4}"#);
    }

    proptest::proptest! {
        #[test]
        fn an_object_is_what_serde_reads(members in proptest::collection::vec(("[a-d]{0,2}", -99_i64..99), 0..12)) {
            let text: Vec<_> = members.iter().map(|(name, value)| format!("{name:?}:{value}")).collect();
            let text = format!("{{{}}}", text.join(","));
            let ours: serde_json::Value = serde_json::from_str(Object::parse(&text).unwrap().to_raw().get()).unwrap();
            proptest::prop_assert_eq!(ours, serde_json::from_str::<serde_json::Value>(&text).unwrap());
        }

        #[test]
        fn strange_documents_are_errors(bytes in proptest::collection::vec(0_u8.., 0..40)) {
            let _ = Object::parse_document(&bytes);
        }
    }

    #[test]
    fn documents_are_bounded() {
        let nested = |n: usize| format!("{{\"a\":{}{}}}", "[".repeat(n), "]".repeat(n));
        assert!(Object::parse_document(nested(MAX_DEPTH - 1).as_bytes()).is_ok());
        assert!(Object::parse_document(nested(MAX_DEPTH).as_bytes()).is_err());
        assert!(Object::parse_document(format!(r#"{{"a":"\"{}"}}"#, "[".repeat(MAX_DEPTH)).as_bytes()).is_ok());
        assert!(Object::parse_document(b"\xef\xbb\xbf{}").is_err(), "a byte order mark");
        assert!(Object::parse_document(b"{\"a\":\"\xff\"}").is_err(), "no UTF-8");
        assert!(Object::parse_document(b"[]").is_err());
        assert!(Object::parse_document(b"{} {}").is_err());
    }

    #[test]
    fn long_values_are_cut_in_errors() {
        let raw = raw_string(&"ä".repeat(MAX_SHOWN));
        assert!(shown(&raw).len() < MAX_SHOWN + 4);
    }
}
