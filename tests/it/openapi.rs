//! The OpenAPI document that is checked in is the one that the code makes.

use std::fs;
use std::path::Path;

#[test]
fn the_checked_in_document_is_current() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("openapi/guillemot.json");
    let made = guillemot::api::openapi_json();
    let kept = fs::read_to_string(&path).unwrap_or_default();
    assert!(kept == made, "run `cargo run -- openapi > openapi/guillemot.json` and read the difference");
}
