//! Writing JSON text. The writer appends to one string and cannot fail.

use std::fmt::Write as _;

use serde_json::value::RawValue;

use super::{Object, Raw};

/// Writes one object, member by member, at the end of a string.
#[derive(Debug)]
pub struct ObjectWriter<'a> {
    out: &'a mut String,
    first: bool,
}

impl<'a> ObjectWriter<'a> {
    /// Opens an object.
    pub fn new(out: &'a mut String) -> Self {
        out.push('{');
        Self { out, first: true }
    }

    /// Writes a member whose value the function appends.
    pub fn with(&mut self, key: &str, value: impl FnOnce(&mut String)) {
        if !std::mem::take(&mut self.first) {
            self.out.push(',');
        }
        push_string(self.out, key);
        self.out.push(':');
        value(self.out);
    }

    /// Writes a member whose value is known as text.
    pub fn raw(&mut self, key: &str, value: &RawValue) {
        self.with(key, |out| out.push_str(value.get()));
    }

    /// Writes a string.
    pub fn str(&mut self, key: &str, value: &str) {
        self.with(key, |out| push_string(out, value));
    }

    /// Writes an integer (`i32`, `u32`, `i64`, ...).
    pub fn int(&mut self, key: &str, value: impl Into<i64>) {
        let value = value.into();
        self.with(key, |out| push_i64(out, value));
    }

    /// Writes a boolean.
    pub fn bool(&mut self, key: &str, value: bool) {
        self.with(key, |out| out.push_str(if value { "true" } else { "false" }));
    }

    /// Writes an array whose elements the function appends one by one.
    pub fn array<T>(&mut self, key: &str, items: impl IntoIterator<Item = T>, each: impl FnMut(&mut String, T)) {
        self.with(key, |out| push_array(out, items, each));
    }

    /// Writes an array of strings.
    pub fn strings(&mut self, key: &str, items: &[String]) {
        self.array(key, items, |out, item| push_string(out, item));
    }

    /// Writes an object whose values are strings.
    pub fn string_map<'b>(&mut self, key: &str, members: impl IntoIterator<Item = (&'b String, &'b String)>) {
        self.with(key, |out| {
            let mut object = ObjectWriter::new(out);
            for (key, value) in members {
                object.str(key, value);
            }
            object.finish();
        });
    }

    /// Writes all members of an object: those that were read and not known.
    pub fn rest(&mut self, object: &Object) {
        for (key, value) in object.iter() {
            self.raw(key, value);
        }
    }

    /// Closes the object.
    pub fn finish(self) {
        self.out.push('}');
    }
}

/// Appends an array whose elements the function appends one by one.
pub fn push_array<T>(out: &mut String, items: impl IntoIterator<Item = T>, mut each: impl FnMut(&mut String, T)) {
    out.push('[');
    for (at, item) in items.into_iter().enumerate() {
        if at > 0 {
            out.push(',');
        }
        each(out, item);
    }
    out.push(']');
}

/// Appends a string in quotes, escaped.
pub fn push_string(out: &mut String, value: &str) {
    out.push('"');
    for c in value.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c < ' ' => push_format(out, format_args!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
}

fn push_i64(out: &mut String, value: i64) {
    push_format(out, format_args!("{value}"));
}

fn push_format(out: &mut String, args: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = out.write_fmt(args);
}

/// A string as one value.
pub fn raw_string(value: &str) -> Raw {
    let mut out = String::with_capacity(value.len() + 2);
    push_string(&mut out, value);
    raw_from_valid(out)
}

/// An integer as one value.
pub fn raw_i64(value: i64) -> Raw {
    raw_from_valid(value.to_string())
}

/// An array as one value.
pub fn raw_array<'a>(items: impl IntoIterator<Item = &'a RawValue>) -> Raw {
    let mut out = String::new();
    push_array(&mut out, items, |out, item| out.push_str(item.get()));
    raw_from_valid(out)
}

/// The value `null`.
pub fn raw_null() -> Raw {
    RawValue::NULL.to_owned()
}

/// Makes a value of text that this module wrote, which is therefore valid.
pub(in crate::spec) fn raw_from_valid(text: String) -> Raw {
    debug_assert!(serde_json::from_str::<&RawValue>(&text).is_ok(), "not JSON: {text}");
    RawValue::from_string(text).unwrap_or_else(|_| raw_null())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_escaped_as_serde_does() {
        let text: String = (0..0x250).filter_map(char::from_u32).chain("\u{2028}😀".chars()).collect();
        let mut out = String::new();
        push_string(&mut out, &text);
        assert_eq!(serde_json::from_str::<String>(&out).unwrap(), text);
    }
}
