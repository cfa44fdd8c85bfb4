//! Documents that are checked in are those that the code makes.

use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

#[test]
fn the_openapi_document_is_current() {
    current("openapi/guillemot.json", &guillemot::api::openapi_json(), "openapi");
}

#[test]
fn the_openapi_document_has_all_that_it_refers_to() {
    let text = guillemot::api::openapi_json();
    let document: Value = serde_json::from_str(&text).unwrap();
    let referred: BTreeSet<&str> = text.split("\"#").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    let missing: Vec<_> = referred.iter().filter(|at| document.pointer(at).is_none()).collect();
    assert!(referred.len() > 50 && missing.is_empty(), "{missing:?}");
}

#[test]
fn the_page_of_rules_is_current() {
    current("docs/rules.md", &guillemot::validate::rules_page(), "rules");
}

fn current(file: &str, made: &str, command: &str) {
    let kept = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).unwrap_or_default();
    assert!(kept == made, "run `cargo run -- {command} > {file}` and read the difference");
}
