use std::fs;
use std::path::Path;

use guillemot::spec::{Base, CommitTableRequest, TableMetadata, apply};
use serde_json::Value;
use tempfile::TempDir;

use super::{Ran, fixture, guillemot, text};
use crate::support::server::{Server, Setting};

const CORRUPT_BASE: &str = "t19_corrupt_base";

fn json(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

/// Checks a table whose files are in a folder.
fn verify(folder: &Path, location: &str, metadata: &Path, more: &[&str]) -> Ran {
    let map = format!("{location}={}", text(folder));
    guillemot(&[&["verify", "--map", &map, text(metadata)], more].concat())
}

#[test]
fn every_real_table_is_in_order_but_for_the_bad_ones() {
    let tables = json(&fixture("tables.json"));
    for table in tables.as_array().unwrap() {
        let name = table["name"].as_str().unwrap();
        let codes: &[&str] = match name {
            "duckdb153_bad" => &["puffin-head-magic"],
            "t16_bad_java" => &["dv-references-unknown-data-file", "dv-position-out-of-range", "dv-loses-positions"],
            _ => &[],
        };
        let folder = fixture(name);
        let metadata = folder.join(table["current-metadata"].as_str().unwrap());
        let location = table["location"].as_str().unwrap();
        for more in [&[][..], &["--all-snapshots"]] {
            let ran = verify(&folder, location, &metadata, more);
            assert_eq!(ran.code, i32::from(!codes.is_empty()), "{name}: {}{}", ran.out, ran.err);
            // What an earlier snapshot broke is found where it is looked at.
            let named = codes.iter().filter(|code| ran.out.contains(&format!("breaks rule {code}: "))).count();
            assert!(named == codes.len() || more.is_empty() && named > 0 || codes.is_empty(), "{name}: {}", ran.out);
        }
    }
}

/// The table that a corrupt commit would have become, in a folder of its own, and its metadata file.
fn after_corrupt_commit(case: &Path) -> (TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    for source in [&fixture(CORRUPT_BASE), case] {
        for part in ["data", "metadata"] {
            let Ok(entries) = fs::read_dir(source.join(part)) else { continue };
            fs::create_dir_all(folder.path().join(part)).unwrap();
            for entry in entries.map(|entry| entry.unwrap()) {
                fs::copy(entry.path(), folder.path().join(part).join(entry.file_name())).unwrap();
            }
        }
    }
    let wanted = json(&case.join("case.json"))["base-snapshot-id"].as_i64();
    let files = fs::read_dir(fixture(CORRUPT_BASE).join("metadata")).unwrap().map(|entry| entry.unwrap().path());
    let files = files.filter(|path| text(path).ends_with(".metadata.json"));
    let mut versions = files.map(|path| TableMetadata::parse(&fs::read(path).unwrap()).unwrap());
    let base = versions.find(|table| table.current_snapshot_id == wanted).unwrap();
    let request = CommitTableRequest::parse(&fs::read(case.join("commit.json")).unwrap()).unwrap();
    let of = Base { metadata: &base, location: "gs://warehouse/base.metadata.json" };
    let applied = apply(Some(of), &request.updates, base.last_updated_ms + 60_000).unwrap();
    fs::write(folder.path().join("after.metadata.json"), applied.metadata.to_bytes()).unwrap();
    (folder, base.location)
}

#[test]
fn what_a_corrupt_commit_would_have_left_is_broken_and_the_rule_is_named() {
    for entry in fs::read_dir(fixture("corrupt")).unwrap() {
        let home = entry.unwrap().path();
        let case = json(&home.join("case.json"));
        let verdict = if case["verdict"] == "policy" { &case["default"] } else { &case["verdict"] };
        let (folder, location) = after_corrupt_commit(&home);
        let ran = verify(folder.path(), &location, &folder.path().join("after.metadata.json"), &["--json"]);
        let answer: Value = serde_json::from_str(&ran.out).unwrap();
        let refused = answer["tables"][0]["snapshots"][0]["refused"].as_array().unwrap();
        let name = case["name"].as_str().unwrap();
        if verdict == "accept" {
            assert_eq!((ran.code, refused.len()), (0, 0), "{name}: {}", ran.out);
        } else {
            let named = refused.iter().any(|violation| violation["rule"] == case["code"]);
            assert!(ran.code == 1 && named, "{name}: {} {}", ran.code, ran.out);
        }
    }
}

#[test]
fn a_table_that_cannot_be_looked_at_is_neither_in_order_nor_broken() {
    let missing = guillemot(&["verify", "/no/such.metadata.json"]);
    assert_eq!(missing.code, 2, "{}", missing.out);
    let nobody = guillemot(&["verify", "--uri", "http://127.0.0.1:1/iceberg", "--name", "ns.t"]);
    assert_eq!(nobody.code, 2);
    assert!(nobody.err.contains("http://127.0.0.1:1/iceberg/v1/config cannot be reached"), "{}", nobody.err);
    assert_eq!(guillemot(&["verify"]).code, 2);
    assert_eq!(guillemot(&["verify", "--name", "ns.t"]).code, 2);
}

#[test]
fn metadata_that_no_engine_can_open_is_broken() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("v1.metadata.json");
    fs::write(&file, "{\"format-version\": 3}").unwrap();
    let ran = guillemot(&["verify", text(&file)]);
    assert_eq!(ran.code, 1, "{}", ran.out);
    assert!(ran.out.contains("is no metadata of a table: "), "{}", ran.out);
}

#[test]
fn rules_have_the_levels_that_settings_give_them() {
    let folder = fixture("duckdb153_bad");
    let files = fs::read_dir(folder.join("metadata")).unwrap().map(|entry| entry.unwrap().path());
    let metadata = files.filter(|path| text(path).ends_with(".metadata.json")).max().unwrap();
    let off =
        ["bare-dv-blob", "manifest-content-differs", "dv-out-of-bounds", "puffin-head-magic", "puffin-tail-magic"];
    let settings: Vec<String> = off.iter().map(|rule| format!("--rule={rule}=off")).collect();
    let settings: Vec<&str> = settings.iter().map(String::as_str).collect();
    let ran = verify(&folder, "gs://warehouse/duck153/t", &metadata, &settings);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    // One switch lets in vectors that are the whole file.
    let ran = verify(&folder, "gs://warehouse/duck153/t", &metadata, &["--rule=bare-dv-blob=warn"]);
    assert!(ran.code == 0 && ran.out.contains("breaks rule bare-dv-blob: "), "{}{}", ran.out, ran.err);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_table_is_found_by_its_name_in_a_catalog() {
    let server = Server::start(Setting::Local).await;
    server.namespace().await;
    let made = server.table("t", 3).await;
    let uri = format!("{}/iceberg", server.base);
    let run = async |name: &'static str| {
        let uri = uri.clone();
        let arguments = ["verify", "--json", "--catalog-warehouse", "lake", "--header", "x-a=b", "--name", name];
        tokio::task::spawn_blocking(move || guillemot(&[&arguments[..], &["--uri", &uri]].concat())).await.unwrap()
    };
    let ran = run("ns.t").await;
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    let answer: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(answer["tables"][0]["metadata-location"], made["metadata-location"]);
    assert_eq!(answer["tables"][0]["verdict"], "ok");
    let none = run("ns.none").await;
    assert_eq!(none.code, 2);
    assert!(none.out.contains("answers 404: Table does not exist: ns.none"), "{}", none.out);
}
