//! The content of `DeleteObjects`: every key that it names must be the table's.

use super::{Refusal, is_inside};
use crate::storage::Location;
use serde::Deserialize;

/// S3 takes no more keys at once, and no longer content.
const MOST_KEYS: usize = 1000;
const MOST_BYTES: usize = 2 << 20;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
struct Delete {
    #[serde(rename = "@xmlns")]
    _xmlns: Option<String>,
    #[serde(default)]
    object: Vec<Object>,
    #[serde(rename = "Quiet")]
    _quiet: Option<String>,
}

/// One key. A version is not named: file IO deletes what is there now.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
struct Object {
    key: String,
}

/// Refuses content that names a key outside of the place, and content that two readers could read in two ways.
pub(super) fn check(body: &str, place: &Location) -> Result<(), Refusal> {
    let malformed = |what: &str| Refusal::Malformed(format!("body: {what}"));
    if body.len() > MOST_BYTES {
        return Err(malformed("it is too long"));
    }
    let document = match body.trim_start().strip_prefix("<?xml") {
        Some(rest) => rest.split_once("?>").ok_or_else(|| malformed("it is no XML"))?.1,
        None => body,
    };
    if document.contains("<!") || document.contains("<?") {
        return Err(malformed("it has comments, CDATA or instructions"));
    }
    // Space around a key is part of it to S3, and lost to this reader.
    let spaced = document.split("<Key>").skip(1).any(|rest| rest.starts_with(char::is_whitespace))
        || document.split("</Key>").any(|before| before.ends_with(char::is_whitespace) && before.contains("<Key>"));
    if spaced {
        return Err(malformed("a key begins or ends with space"));
    }
    let delete: Delete =
        quick_xml::de::from_str(document).map_err(|_| malformed("expected a list of keys to delete"))?;
    if delete.object.is_empty() || delete.object.len() > MOST_KEYS {
        return Err(malformed("expected 1 to 1000 keys"));
    }
    if document.matches("<Key>").count() != delete.object.len() {
        return Err(malformed("expected each key as <Key>..</Key>"));
    }
    match delete.object.iter().find(|object| !is_inside(&object.key, place)) {
        Some(object) => Err(Refusal::Forbidden(format!("{} is not in {place}/", object.key))),
        None => Ok(()),
    }
}
