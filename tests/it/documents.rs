//! Documents that are checked in are those that the code makes.

use std::fs;
use std::path::Path;

#[test]
fn the_openapi_document_is_current() {
    current("openapi/guillemot.json", &guillemot::api::openapi_json(), "openapi");
}

#[test]
fn the_page_of_rules_is_current() {
    current("docs/rules.md", &guillemot::validate::rules_page(), "rules");
}

fn current(file: &str, made: &str, command: &str) {
    let kept = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).unwrap_or_default();
    assert!(kept == made, "run `cargo run -- {command} > {file}` and read the difference");
}
