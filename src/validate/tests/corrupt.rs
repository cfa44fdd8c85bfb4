//! The commits of `tests/data/fixtures/corrupt`, one fault each.

use std::fs;

use super::support::{Commit, Objects, folder, json, new_cache, objects_of, refused, versions};
use crate::validate::Levels;

const BASE: &str = "t19_corrupt_base";
const LOCATION: &str = "gs://warehouse/dv/t19_corrupt_base";

pub(super) fn case_names() -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder("corrupt"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

pub(super) fn commit(name: &str) -> (Objects, Commit) {
    let case = folder("corrupt").join(name);
    let mut objects = objects_of(BASE);
    for part in ["data", "metadata"] {
        if case.join(part).exists() {
            objects.add_folder(&case.join(part), &format!("{LOCATION}/{part}"));
        }
    }
    let base_snapshot = json(&case.join("case.json"))["base-snapshot-id"].as_i64();
    let base = versions(BASE).into_iter().find(|table| table.current_snapshot_id == base_snapshot).unwrap();
    let commit = Commit::of_request(&base, &json(&case.join("commit.json")));
    (objects, commit)
}

#[test]
fn every_case_is_answered_as_it_must_be() {
    let names = case_names();
    assert_eq!(names.len(), 66);
    let mut wrong = Vec::new();
    for name in names {
        let case = json(&folder("corrupt").join(&name).join("case.json"));
        let verdict = if case["verdict"] == "policy" { &case["default"] } else { &case["verdict"] };
        let (objects, commit) = commit(&name);
        let report = commit.judge(&objects, &new_cache(), &Levels::default()).unwrap();
        let rules = refused(&report);
        let right = match verdict.as_str().unwrap() {
            "accept" => rules.is_empty(),
            _ => rules.contains(&case["code"].as_str().unwrap()),
        };
        if !right {
            wrong.push(format!("{name}: {verdict} {} but {rules:?}", case["code"]));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
