//! Known members of small objects that come by the thousand (snapshots, log entries), read without copying.
//!
//! [`Object`](super::json::Object) owns its members, so that what is unknown can be written back. Where the whole
//! object is kept as text anyway, the few known members are picked out of that text by reference instead.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::error::{Error, Result};
use super::json::{i32_of, i32s_of, i64_of, is_null, shown, str_of, string_map_of, strings_of};

/// A member's name while it is compared.
#[derive(Deserialize)]
pub(super) struct Key<'a>(#[serde(borrow)] pub(super) Cow<'a, str>);

/// One known member: its name and, if the object has it, its text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Member<'a> {
    pub(super) key: &'static str,
    pub(super) raw: Option<&'a RawValue>,
}

/// A kind of value that a member can be read as.
pub(super) trait Kind: Sized {
    /// How an error calls it when it is missing.
    const NAME: &'static str;
    /// Reads the value; `key` is for the error.
    fn read(key: &str, raw: &RawValue) -> Result<Self>;
}

macro_rules! kind {
    ($type:ty, $name:literal, $read:path) => {
        impl Kind for $type {
            const NAME: &'static str = $name;
            fn read(key: &str, raw: &RawValue) -> Result<Self> {
                $read(key, raw)
            }
        }
    };
}

kind!(String, "string", str_of);
kind!(i32, "int", i32_of);
kind!(i64, "long", i64_of);
kind!(Vec<i32>, "list", i32s_of);
kind!(Vec<String>, "list", strings_of);
kind!(Vec<(String, String)>, "map", string_map_of);

impl Member<'_> {
    /// The value; the member must be there.
    pub(super) fn required<T: Kind>(self) -> Result<T> {
        let missing = || Error::invalid(format!("Cannot parse missing {}: {}", T::NAME, self.key));
        T::read(self.key, self.raw.ok_or_else(missing)?)
    }

    /// The value; null counts as missing.
    pub(super) fn optional<T: Kind>(self) -> Result<Option<T>> {
        self.raw.filter(|raw| !is_null(raw)).map(|raw| T::read(self.key, raw)).transpose()
    }

    /// The value; the member may be missing but not null.
    pub(super) fn present<T: Kind>(self) -> Result<Option<T>> {
        self.raw.map(|raw| T::read(self.key, raw)).transpose()
    }
}

/// Reads known members of an object; `what` names the object in the error.
pub(super) fn pick<'a, T: Deserialize<'a>>(what: &str, raw: &'a RawValue) -> Result<T> {
    let refused = || Error::invalid(format!("Cannot parse {what} from non-object value: {}", shown(raw)));
    if !raw.get().starts_with('{') {
        return Err(refused());
    }
    serde_json::from_str(raw.get()).map_err(|_| refused())
}

/// Makes a struct that picks the named members out of an object; of two with one name the last one counts.
macro_rules! members {
    (struct $name:ident { $($field:ident: $key:literal,)* }) => {
        struct $name<'a> {
            $($field: $crate::spec::members::Member<'a>,)*
        }

        impl<'de> serde::Deserialize<'de> for $name<'de> {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
                struct Pick;
                impl<'de> serde::de::Visitor<'de> for Pick {
                    type Value = $name<'de>;

                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        f.write_str("an object")
                    }

                    fn visit_map<A: serde::de::MapAccess<'de>>(
                        self,
                        mut map: A,
                    ) -> std::result::Result<Self::Value, A::Error> {
                        let mut picked = $name {
                            $($field: $crate::spec::members::Member { key: $key, raw: None },)*
                        };
                        while let Some($crate::spec::members::Key(key)) = map.next_key()? {
                            match &*key {
                                $($key => picked.$field.raw = Some(map.next_value()?),)*
                                _ => drop(map.next_value::<serde::de::IgnoredAny>()?),
                            }
                        }
                        Ok(picked)
                    }
                }
                deserializer.deserialize_map(Pick)
            }
        }
    };
}
pub(super) use members;

/// Compares by text: the members are read from the text, so the text decides.
macro_rules! equal_by_text {
    ($($type:ty),* $(,)?) => {
        $(impl PartialEq for $type {
            fn eq(&self, other: &Self) -> bool {
                self.raw.get() == other.raw.get()
            }
        })*
    };
}
pub(super) use equal_by_text;
