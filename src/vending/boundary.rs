//! Google's credential access boundary: what a downscoped token may touch.
//!
//! A condition compares names by their beginning, so every prefix ends in a slash: without it the token for `t` would
//! read `t2`. The name stands inside a text of CEL, where a quote would end it; it is escaped.

use crate::auth::Access;
use crate::storage::Location;
use serde_json::{Value, json};
use std::fmt::Write;

/// The boundary for a table's place: reading and listing, and with [`Access::ReadWrite`] writing and deleting too. No
/// role in it can change who else may do what.
pub(super) fn boundary(place: &Location, access: Access) -> String {
    let (bucket, prefix) = (place.bucket(), format!("{}/", place.key()));
    let objects = cel(&format!("projects/_/buckets/{bucket}/objects/{prefix}"));
    let is_inside = format!("resource.name.startsWith({objects})");
    let lists_inside =
        format!("api.getAttribute('storage.googleapis.com/objectListPrefix', '').startsWith({})", cel(&prefix));
    let rule = |role: &str, expression: &str| {
        json!({
            "availablePermissions": [format!("inRole:roles/{role}")],
            "availableResource": format!("//storage.googleapis.com/projects/_/buckets/{bucket}"),
            "availabilityCondition": {"expression": expression},
        })
    };
    let mut rules: Vec<Value> = vec![rule("storage.objectViewer", &format!("{is_inside} || {lists_inside}"))];
    if access == Access::ReadWrite {
        rules.push(rule("storage.objectUser", &is_inside));
    }
    json!({"accessBoundary": {"accessBoundaryRules": rules}}).to_string()
}

/// A text as a literal of the Common Expression Language.
fn cel(text: &str) -> String {
    let mut literal = String::with_capacity(text.len() + 2);
    literal.push('\'');
    for c in text.chars() {
        match c {
            '\'' | '"' | '\\' | '`' | '?' => {
                literal.push('\\');
                literal.push(c);
            }
            c if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') => {
                // Writing to a text does not fail.
                let _ = write!(literal, "\\u{:04x}", u32::from(c));
            }
            c => literal.push(c),
        }
    }
    literal.push('\'');
    literal
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(text: &str) -> Location {
        Location::parse(text).unwrap()
    }

    #[test]
    fn a_reader_gets_one_rule_and_a_writer_two() {
        let read = r#"{"accessBoundary":{"accessBoundaryRules":[{"availablePermissions":["inRole:roles/storage.objectViewer"],"availableResource":"//storage.googleapis.com/projects/_/buckets/b","availabilityCondition":{"expression":"resource.name.startsWith('projects/_/buckets/b/objects/w/t/') || api.getAttribute('storage.googleapis.com/objectListPrefix', '').startsWith('w/t/')"}}]}}"#;
        assert_eq!(boundary(&place("gs://b/w/t/"), Access::Read), read);
        let write = r#",{"availablePermissions":["inRole:roles/storage.objectUser"],"availableResource":"//storage.googleapis.com/projects/_/buckets/b","availabilityCondition":{"expression":"resource.name.startsWith('projects/_/buckets/b/objects/w/t/')"}}]}}"#;
        assert_eq!(
            boundary(&place("gs://b/w/t"), Access::ReadWrite),
            format!("{}{write}", read.trim_end_matches("]}}"))
        );
    }

    #[test]
    fn a_name_stays_inside_its_quotes() {
        for (name, literal) in [
            ("t') || true || ('", r"t\') || true || (\'"),
            (r"t\", r"t\\"),
            (r"t\'", r"t\\\'"),
            ("a\"b", "a\\\"b"),
            ("ä\u{2028}", "ä\\u2028"),
        ] {
            assert_eq!(cel(name), format!("'{literal}'"), "{name}");
            let all: Value = serde_json::from_str(&boundary(&place(&format!("gs://b/{name}")), Access::Read)).unwrap();
            let rule = &all["accessBoundary"]["accessBoundaryRules"][0];
            let expression = rule["availabilityCondition"]["expression"].as_str().unwrap();
            assert!(expression.contains(&format!("objects/{literal}/') ||")), "{expression}");
        }
    }
}
