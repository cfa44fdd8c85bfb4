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

#[test]
fn every_metric_is_described() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = fs::read_to_string(root.join("docs/metrics.md")).unwrap();
    let described: BTreeSet<&str> =
        page.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next()).collect();
    let described: BTreeSet<&str> = described.into_iter().filter(|name| name.starts_with("guillemot_")).collect();
    let sources = sources(&root.join("src"));
    let made: BTreeSet<&str> = sources.iter().flat_map(|text| metrics(text)).collect();
    assert_eq!(described, made);
}

/// The names of the metrics that a source file makes.
fn metrics(text: &str) -> impl Iterator<Item = &str> {
    let made = ["counter!(\"", "histogram!(\"", "gauge!(\""].into_iter().flat_map(|made| text.split(made).skip(1));
    made.filter_map(|rest| rest.split('"').next())
}

fn sources(folder: &Path) -> Vec<String> {
    let (folders, files): (Vec<_>, Vec<_>) =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).partition(|path| path.is_dir());
    let texts = files.iter().map(|file| fs::read_to_string(file).unwrap());
    texts.chain(folders.iter().flat_map(|folder| sources(folder))).collect()
}

fn current(file: &str, made: &str, command: &str) {
    let kept = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).unwrap_or_default();
    assert!(kept == made, "run `cargo run -- {command} > {file}` and read the difference");
}
