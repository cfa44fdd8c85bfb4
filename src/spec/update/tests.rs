use insta::assert_snapshot;
use serde_json::{Value, json};

use super::{AddedSnapshot, apply};
use crate::spec::commit_request::CommitTableRequest;
use crate::spec::error::Error;
use crate::spec::testing::{
    BASE_FILE, NOW_MS, add_snapshot, after, change, commit, commit_to, parse, refusal, set_branch, table, updates,
};

mod create;
mod malformed;
mod random;
mod schemas;
mod snapshots;

#[test]
fn a_commit_moves_main_and_both_logs() {
    let after = after(&table(3), &[add_snapshot(&json!({"x-unknown": {"a": [1, 2]}})), set_branch("main", 12)]);
    assert_eq!(after["current-snapshot-id"], 12);
    assert_eq!(after["last-sequence-number"], 3);
    assert_eq!(after["next-row-id"], 35);
    assert_eq!(after["last-updated-ms"], NOW_MS);
    assert_eq!(after["refs"], json!({"main": {"snapshot-id": 12, "type": "branch"}}));
    assert_eq!(after["snapshots"][2]["x-unknown"], json!({"a": [1, 2]}), "what nobody knows is kept");
    assert_eq!(after["snapshot-log"][2], json!({"timestamp-ms": NOW_MS, "snapshot-id": 12}));
    let base_entry = json!({"timestamp-ms": 1_700_000_000_000_i64, "metadata-file": BASE_FILE});
    assert_eq!(after["metadata-log"][1], base_entry);
}

#[test]
fn of_two_members_with_one_name_the_last_is_stored() {
    let body =
        br#"{"updates":[{"action":"add-snapshot","snapshot":{ "snapshot-id":99, "timestamp-ms":1, "sequence-number":3,
        "manifest-list":"a", "summary":{"operation":"append"}, "snapshot-id":12, "x": 1.50 }}]}"#;
    let updates = CommitTableRequest::parse(body).unwrap().updates;
    let base = parse(&table(2));
    let applied = apply(Some(super::Base { metadata: &base, location: BASE_FILE }), &updates, NOW_MS).unwrap();
    let stored = applied.metadata.snapshot(12).unwrap().to_json().get();
    assert!(!stored.contains("99") && stored.ends_with(r#","x":1.50}"#), "{stored}");
}

#[test]
fn what_changes_nothing_is_no_change() {
    let mut base = table(3);
    base["refs"]["t"] = json!({"snapshot-id": 10, "type": "tag", "max-ref-age-ms": 5});
    base["encryption-keys"] = json!([{"key-id": "k", "encrypted-key-metadata": "AA=="}]);
    let nothing = [
        json!([]),
        json!([{"action": "assign-uuid", "uuid": "9C12D441-03FE-4693-9a96-a0705ddf69c1"}]),
        json!([{"action": "upgrade-format-version", "format-version": 3}]),
        json!([{"action": "set-location", "location": "s3://b/t"}]),
        json!([set_branch("main", 11)]),
        json!([{"action": "set-snapshot-ref", "ref-name": "t", "type": "TAG", "snapshot-id": 10, "max-ref-age-ms": 5}]),
        json!([{"action": "remove-snapshots", "snapshot-ids": [99]}]),
        json!([{"action": "remove-snapshot-ref", "ref-name": "none"}]),
        json!([{"action": "remove-statistics", "snapshot-id": 11}]),
        json!([{"action": "remove-partition-statistics", "snapshot-id": 11}]),
        json!([{"action": "remove-encryption-key", "key-id": "none"}]),
        json!([{"action": "add-encryption-key",
                "encryption-key": {"key-id": "k", "encrypted-key-metadata": "AAAA"}}]),
        json!([{"action": "add-schema", "schema": base["schemas"][1]},
               {"action": "set-current-schema", "schema-id": -1}]),
        json!([{"action": "add-spec", "spec": base["partition-specs"][0]},
               {"action": "set-default-spec", "spec-id": -1}]),
        json!([{"action": "add-sort-order", "sort-order": base["sort-orders"][0]},
               {"action": "set-default-sort-order", "sort-order-id": -1}]),
        json!([{"action": "set-properties", "updates": {}}, {"action": "remove-properties", "removals": []}]),
        json!([{"action": "remove-schemas", "schema-ids": []}, {"action": "remove-partition-specs", "spec-ids": []}]),
    ];
    for changes in nothing {
        let applied = commit(&base, changes.as_array().unwrap()).unwrap();
        assert!(!applied.changed && !applied.resent, "{changes}");
    }
}

#[test]
fn the_format_version_only_rises() {
    let upgrade = |to: i64| json!({"action": "upgrade-format-version", "format-version": to});
    let mut v1 = table(2);
    change(&mut v1, &json!({"format-version": 1, "last-sequence-number": null}));
    for snapshot in v1["snapshots"].as_array_mut().unwrap() {
        change(snapshot, &json!({"sequence-number": null}));
    }
    let v3 = after(&v1, &[upgrade(2), upgrade(3)]);
    assert_eq!(
        (&v3["format-version"], &v3["next-row-id"], &v3["last-sequence-number"]),
        (&json!(3), &json!(0), &json!(0))
    );
    assert_eq!(v3["snapshots"], v1["snapshots"], "no snapshot is touched");
    assert!(v3.get("schema").is_none() && v3.get("partition-spec").is_none(), "only version 1 has these");
    let mut without_uuid = v1.clone();
    change(&mut without_uuid, &json!({"table-uuid": null}));
    let refused = [
        refusal(commit(&table(3), &[upgrade(2)])),
        refusal(commit(&table(3), &[upgrade(0)])),
        refusal(commit(&table(2), &[upgrade(4)])),
        refusal(commit(&table(2), &[upgrade(i64::MAX)])),
        refusal(commit(&without_uuid, &[upgrade(2)])),
    ];
    assert_snapshot!(refused.join("\n"), @r"
    400 Cannot downgrade v3 table to v2
    400 Cannot downgrade v3 table to v0
    400 Cannot upgrade table to unsupported format version: v4 (supported: v3)
    400 Cannot parse to an integer value: format-version: 9223372036854775807
    400 UUID is required in format v2
    ");
    let assigned = after(&without_uuid, &[json!({"action": "assign-uuid", "uuid": "u"}), upgrade(2)]);
    assert_eq!(assigned["table-uuid"], "u");
}

#[test]
fn a_table_keeps_its_uuid() {
    let assign = json!({"action": "assign-uuid", "uuid": "00000000-0000-4000-8000-000000000000"});
    assert_snapshot!(refusal(commit(&table(2), &[assign])), @r"
    400 Cannot reassign uuid: 9c12d441-03fe-4693-9a96-a0705ddf69c1 to 00000000-0000-4000-8000-000000000000
    ");
}

#[test]
fn locations_lose_their_slash() {
    let set = |location: &str| [json!({"action": "set-location", "location": location})];
    assert_eq!(after(&table(2), &set("s3://b/other//"))["location"], "s3://b/other");
    assert_eq!(after(&table(2), &set("s3://"))["location"], "s3://");
    assert_snapshot!(refusal(commit(&table(2), &set("/"))), @r#"400 Invalid table location: "/""#);
}

#[test]
fn properties_are_set_and_removed() {
    let changes = [
        json!({"action": "set-properties", "updated": {"c": "d", "a": "z", "format-version": "3"}}),
        json!({"action": "remove-properties", "removed": ["c", "none"]}),
        json!({"action": "SET-properties", "updates": {"e": "é\n"}, "updated": {"f": "g"}}),
    ];
    let after = after(&table(2), &changes);
    assert_eq!(after["properties"], json!({"a": "z", "format-version": "3", "e": "é\n"}));
    assert_eq!(after["format-version"], 2, "the property of this name is a word like any other");
}

#[test]
fn the_metadata_log_is_cut_to_its_length() {
    let mut base = table(2);
    let entry = |n: i64| json!({"metadata-file": format!("s3://b/t/metadata/v{n}.json"), "timestamp-ms": 1_699_999_980_000 + n});
    base["metadata-log"] = (1..5).map(entry).collect();
    let commit_with = |max: &str| {
        let set = json!({"action": "set-properties", "updates": {"write.metadata.previous-versions-max": max}});
        let applied = commit(&base, &[set])?;
        let files: Vec<_> = applied.metadata.metadata_log.iter().map(|entry| entry.metadata_file.clone()).collect();
        Ok::<_, Error>((applied.dropped_metadata_files.len(), files.len(), files.last().cloned().unwrap()))
    };
    for (max, dropped, kept) in [("100", 0, 5), ("5", 0, 5), ("4", 1, 4), ("2", 3, 2), ("1", 4, 1), ("-3", 4, 1)] {
        assert_eq!(commit_with(max), Ok((dropped, kept, BASE_FILE.to_owned())), "{max}");
    }
    assert_snapshot!(refusal(commit_with("many")), @"400 Invalid value of write.metadata.previous-versions-max: many is no integer");
    base["properties"]["write.metadata.previous-versions-max"] = json!("many");
    let other = commit(&base, &[json!({"action": "set-properties", "updates": {"a": "c"}})]).unwrap();
    assert_eq!(other.metadata.metadata_log.len(), 5, "a value from before does not lock the table");
}

#[test]
fn a_snapshot_has_one_statistics_file_of_a_kind() {
    let file = |path: &str, id: i64| {
        json!({"snapshot-id": id, "statistics-path": path, "file-size-in-bytes": 4, "file-footer-size-in-bytes": 2,
               "blob-metadata": [{"type": "t", "snapshot-id": id, "sequence-number": 1, "fields": [1], "x": null}], "y": 1})
    };
    let mut base = table(2);
    base["statistics"] = json!([file("a", 10), file("b", 11), file("c", 10), file("d", 99)]);
    base["partition-statistics"] = json!([file("e", 10)]);
    let set = json!({"action": "set-statistics", "snapshot-id": 7, "statistics": file("new", 10)});
    let set_partition = json!({"action": "set-partition-statistics", "partition-statistics": file("new", 11)});
    let set = after(&base, &[set, set_partition]);
    assert_eq!(set["statistics"], json!([file("new", 10), file("b", 11), file("d", 99)]));
    assert_eq!(set["partition-statistics"], json!([file("e", 10), file("new", 11)]));
    let remove = |action: &str, id: i64| json!({"action": action, "snapshot-id": id});
    let removed = after(&set, &[remove("remove-statistics", 99), remove("remove-partition-statistics", 10)]);
    assert_eq!(removed["statistics"], json!([file("new", 10), file("b", 11)]));
    let expired = after(&removed, &[json!({"action": "remove-snapshots", "snapshot-ids": [10]})]);
    assert_eq!(expired["statistics"], json!([file("b", 11)]));
    assert_eq!(expired["partition-statistics"], json!([file("new", 11)]));
}

#[test]
fn keys_are_added_once_and_removed() {
    let key = |id: &str| json!({"key-id": id, "encrypted-key-metadata": "c29tZQ==", "encrypted-by-id": null, "x": 1});
    let add = |id: &str| json!({"action": "add-encryption-key", "encryption-key": key(id)});
    let remove = json!({"action": "remove-encryption-key", "key-id": "a"});
    let added = after(&table(2), &[add("a"), add("b"), add("a")]);
    assert_eq!(added["encryption-keys"], json!([key("a"), key("b")]));
    assert_eq!(after(&added, std::slice::from_ref(&remove))["encryption-keys"], json!([key("b")]));
    assert_eq!(
        after(&added, &[remove, json!({"action": "remove-encryption-key", "key-id": "b"})]).get("encryption-keys"),
        None
    );
}

#[test]
fn added_snapshots_are_told_with_their_format_version() {
    let applied = commit(
        &table(2),
        &[
            json!({"action": "upgrade-format-version", "format-version": 2}),
            add_snapshot(&json!({"first-row-id": 0, "added-rows": 5})),
            json!({"action": "upgrade-format-version", "format-version": 3}),
            add_snapshot(
                &json!({"snapshot-id": 13, "sequence-number": 4, "parent-snapshot-id": 12, "first-row-id": 0}),
            ),
            add_snapshot(
                &json!({"snapshot-id": 14, "sequence-number": 5, "parent-snapshot-id": 13, "first-row-id": 5}),
            ),
            json!({"action": "remove-snapshots", "snapshot-ids": [14]}),
        ],
    )
    .unwrap();
    let added = |snapshot_id, format_version, next_row_id| AddedSnapshot { snapshot_id, format_version, next_row_id };
    let expected = [added(12, 2, None), added(13, 3, Some(0))];
    assert_eq!(applied.added_snapshots, expected, "each under the version and row id at its place");
    assert_eq!(applied.metadata.next_row_id, Some(10), "ids of a removed snapshot are not given again");
}

#[test]
fn the_last_update_never_goes_back() {
    let base = parse(&table(2));
    let changes = updates(&[json!({"action": "set-properties", "updates": {"a": "c"}})]).unwrap();
    let applied = apply(Some(super::Base { metadata: &base, location: BASE_FILE }), &changes, 5).unwrap();
    assert_eq!(applied.metadata.last_updated_ms, base.last_updated_ms, "a server whose clock is behind");
}

#[test]
fn row_ids_can_be_raised_but_not_lowered() {
    let mut metadata = commit_to(&parse(&table(3)), &[]).unwrap().metadata;
    metadata.raise_next_row_id(400);
    metadata.raise_next_row_id(40);
    assert_eq!(metadata.next_row_id, Some(400));
    let mut metadata = parse(&table(2));
    metadata.raise_next_row_id(400);
    assert_eq!(metadata.next_row_id, None);
}

/// The texts of refusals, one a line.
fn refusals(base: &Value, lists: &[Vec<Value>]) -> String {
    let texts: Vec<_> = lists.iter().map(|changes| refusal(commit(base, changes))).collect();
    texts.join("\n")
}
