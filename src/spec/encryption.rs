//! Keys of table encryption (spec.md 3.6): stored and served, never used here.

use serde_json::value::RawValue;

use super::error::{Error, Result};
use super::json::{Raw, shown};
use super::members::{equal_by_text, members, pick};

/// A key of the table, itself encrypted by another one.
#[derive(Debug, Clone)]
pub struct EncryptedKey {
    /// The id, unique in the table.
    pub key_id: String,
    /// The key that encrypted this one.
    pub encrypted_by_id: Option<String>,
    raw: Raw,
}

equal_by_text!(EncryptedKey);

members! {
    struct Picked {
        key_id: "key-id",
        encrypted_key_metadata: "encrypted-key-metadata",
        encrypted_by_id: "encrypted-by-id",
        properties: "properties",
    }
}

impl EncryptedKey {
    /// Reads an entry of `encryption-keys`.
    ///
    /// # Errors
    /// [`Error::Invalid`] that names the member which is missing or wrong.
    pub fn parse(raw: Raw) -> Result<Self> {
        let picked: Picked<'_> = pick("encryption key", &raw)?;
        let key_id = picked.key_id.required()?;
        let metadata: String = picked.encrypted_key_metadata.required()?;
        let encrypted_by_id = picked.encrypted_by_id.optional()?;
        picked.properties.present::<Vec<(String, String)>>()?;
        if !is_base64(&metadata) {
            let found = picked.encrypted_key_metadata.raw.map(shown).unwrap_or_default();
            return Err(Error::invalid(format!("Cannot parse encrypted-key-metadata as base64: {found}")));
        }
        Ok(Self { key_id, encrypted_by_id, raw })
    }

    /// The entry as it was sent.
    pub fn to_json(&self) -> &RawValue {
        &self.raw
    }
}

/// Whether Java's basic decoder takes the text: the standard alphabet, padded rightly or not at all.
fn is_base64(text: &str) -> bool {
    let digits = text.trim_end_matches('=');
    let padding = text.len() - digits.len();
    let in_alphabet = digits.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'+' || byte == b'/');
    let fits = match digits.len() % 4 {
        0 => padding == 0,
        2 => padding == 0 || padding == 2,
        3 => padding == 0 || padding == 1,
        _ => false,
    };
    in_alphabet && fits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_may_lack_its_padding() {
        for good in ["", "c29tZQ==", "c29tZQ", "c29t", "c29tZTI=", "c29tZTI"] {
            assert!(is_base64(good), "{good}");
        }
        for bad in ["c29tZ", "c29tZQ=", "c29tZQ===", "c29t=", "c29t ", "c2-_", "é"] {
            assert!(!is_base64(bad), "{bad}");
        }
    }
}
