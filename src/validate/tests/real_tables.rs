//! Every commit of the real tables, replayed.

use super::support::{Commit, new_cache, objects_of, refused, table_names, versions, warned};
use crate::validate::{Level, Levels};

/// Commits of released software that must be refused: table, place of the version, rules.
const BAD: &[(&str, usize, &[&str])] = &[
    ("duckdb153_bad", 2, &["bare-dv-blob", "dv-out-of-bounds", "puffin-head-magic", "puffin-tail-magic"]),
    ("duckdb153_bad", 3, &["bare-dv-blob", "dv-out-of-bounds", "puffin-head-magic", "puffin-tail-magic"]),
    ("t16_bad_java", 2, &["dv-references-unknown-data-file"]),
    ("t16_bad_java", 3, &["dv-loses-positions", "dv-position-out-of-range"]),
];

/// Rules that are off and that real writers keep all the same.
const OFF: &[&str] = &[
    "column-bounds",
    "equality-delete-float",
    "map-key-type",
    "puffin-not-under-table",
    "snapshot-row-ids-before-v3",
    "split-offsets",
    "v2-first-row-id",
];

/// Warnings that real writers earn.
fn is_known(table: &str, rule: &str) -> bool {
    match rule {
        "delete-manifest-first-row-id" => table.starts_with("duckdb"),
        "manifest-content-differs" => table == "duckdb153_bad",
        "existing-file-first-row-id" => table.starts_with("t05"),
        "dv-cardinality-shrinks" => table == "t16_bad_java",
        _ => false,
    }
}

#[test]
fn good_commits_pass_and_bad_ones_do_not() {
    let mut wrong = Vec::new();
    let mut levels = Levels::default();
    for rule in OFF {
        assert_eq!(levels.of(rule), Level::Off, "{rule}");
        levels.set(rule, "warn").unwrap();
    }
    for name in table_names() {
        let objects = objects_of(&name);
        let versions = versions(&name);
        let cache = new_cache();
        for place in 0..versions.len() {
            // The older files of this table are expired.
            if name == "t05_expired" && place + 1 < versions.len() {
                continue;
            }
            let commit = Commit::between(place.checked_sub(1).map(|before| &versions[before]), &versions[place]);
            let report = commit.judge(&objects, &cache, &levels).unwrap();
            let expected = BAD.iter().find(|(table, bad, _)| *table == name && *bad == place);
            if refused(&report) != expected.map_or(&[][..], |(_, _, rules)| rules) {
                wrong.push(format!("{name} {place}: {:#?}", report.refused));
            }
            let unexpected = warned(&report).into_iter().filter(|rule| !is_known(&name, rule));
            wrong.extend(unexpected.map(|rule| format!("{name} {place}: warned of {rule}")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_vector_alone_may_be_let_in_and_is_checked_all_the_same() {
    let mut levels = Levels::default();
    levels.set("bare-dv-blob", "warn").unwrap();
    let (mut objects, versions) = (objects_of("duckdb153_bad"), versions("duckdb153_bad"));
    let commit = Commit::between(Some(&versions[1]), &versions[2]);
    let report = commit.judge(&objects, &new_cache(), &levels).unwrap();
    assert_eq!(refused(&report), [""; 0]);
    assert!(warned(&report).contains(&"bare-dv-blob"));
    let vector = &report.warnings.iter().find(|violation| violation.rule == "bare-dv-blob").unwrap().object;
    let mut bytes = objects.object(vector).to_vec();
    *bytes.last_mut().unwrap() ^= 1;
    objects.put(&vector.clone(), bytes);
    assert_eq!(refused(&commit.judge(&objects, &new_cache(), &levels).unwrap()), ["dv-crc"]);
}
