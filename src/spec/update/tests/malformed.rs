//! Requests that are no requests: every one is refused with a text, none ends the server.

use insta::assert_snapshot;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::spec::testing::{add_snapshot, commit, places, refusal, set_branch, snapshot, table, updates};

#[test]
fn what_is_wrong_is_named() {
    let wrong = [
        json!(5),
        json!({}),
        json!({"action": null}),
        json!({"action": ["add-schema"]}),
        json!({"action": "enable-row-lineage"}),
        json!({"action": "add-view-version", "view-version": {}}),
        json!({"action": "assign-uuid"}),
        json!({"action": "upgrade-format-version", "format-version": "3"}),
        json!({"action": "upgrade-format-version", "format-version": 3.0}),
        json!({"action": "add-schema", "schema": null}),
        json!({"action": "set-current-schema", "schema-id": 4_294_967_296_i64}),
        json!({"action": "add-spec", "spec": {"spec-id": 0, "fields": null}}),
        json!({"action": "set-default-spec"}),
        json!({"action": "add-sort-order", "sort-order": {"fields": []}}),
        json!({"action": "set-default-sort-order", "sort-order-id": null}),
        json!({"action": "remove-snapshots", "snapshot-ids": [1, "2"]}),
        json!({"action": "remove-snapshots"}),
        json!({"action": "remove-snapshot-ref", "ref-name": null}),
        json!({"action": "set-location", "location": 5}),
        json!({"action": "set-properties", "updates": {"a": null}}),
        json!({"action": "set-properties"}),
        json!({"action": "remove-properties", "removals": "a"}),
        json!({"action": "set-statistics", "statistics": {"snapshot-id": 1, "statistics-path": "p", "file-size-in-bytes": 1}}),
        json!({"action": "set-statistics", "statistics": {"snapshot-id": 1, "statistics-path": "p", "file-size-in-bytes": 1,
               "file-footer-size-in-bytes": 1, "blob-metadata": null}}),
        json!({"action": "set-statistics", "statistics": {"snapshot-id": 1, "statistics-path": "p", "file-size-in-bytes": 1,
               "file-footer-size-in-bytes": 1, "blob-metadata": [{"type": "t"}]}}),
        json!({"action": "remove-statistics", "snapshot-id": "1"}),
        json!({"action": "set-partition-statistics", "partition-statistics": {"snapshot-id": 1}}),
        json!({"action": "remove-partition-statistics"}),
        json!({"action": "remove-partition-specs", "spec-ids": null}),
        json!({"action": "remove-schemas", "schema-ids": [1.5]}),
        json!({"action": "add-encryption-key", "encryption-key": {"key-id": "k"}}),
        json!({"action": "add-encryption-key", "encryption-key": {"key-id": "k", "encrypted-key-metadata": "?"}}),
        json!({"action": "remove-encryption-key"}),
    ];
    assert_snapshot!(refusals(&wrong), @r#"
    400 Cannot parse metadata update from non-object value: 5
    400 Cannot parse metadata update. Missing field: action
    400 Cannot parse metadata update. Missing field: action
    400 Cannot parse to a string value: action: ["add-schema"]
    400 Unknown metadata update action: enable-row-lineage
    400 Cannot apply update add-view-version to a table
    400 Cannot parse missing string: uuid
    400 Cannot parse to an integer value: format-version: "3"
    400 Cannot parse to an integer value: format-version: 3.0
    400 Cannot parse missing field: schema
    400 Cannot parse to an integer value: schema-id: 4294967296
    400 Cannot parse missing field: fields
    400 Cannot parse missing int: spec-id
    400 Cannot parse missing int: order-id
    400 Cannot parse to an integer value: sort-order-id: null
    400 Cannot parse long from non-long value in snapshot-ids: "2"
    400 Cannot parse missing list: snapshot-ids
    400 Cannot parse to a string value: ref-name: null
    400 Cannot parse to a string value: location: 5
    400 Cannot parse to a string value: a: null
    400 Cannot parse missing map: updates
    400 Cannot parse JSON array from non-array value: removals: "a"
    400 Cannot parse missing long: file-footer-size-in-bytes
    400 Cannot parse blob metadata from non-array: null
    400 Cannot parse missing long: snapshot-id
    400 Cannot parse to a long value: snapshot-id: "1"
    400 Cannot parse missing string: statistics-path
    400 Cannot parse missing long: snapshot-id
    400 Cannot parse JSON array from non-array value: spec-ids: null
    400 Cannot parse integer from non-int value in schema-ids: 1.5
    400 Cannot parse missing string: encrypted-key-metadata
    400 Cannot parse encrypted-key-metadata as base64: "?"
    400 Cannot parse missing string: key-id
    "#);
}

#[test]
fn what_is_wrong_with_snapshots_and_refs_is_named() {
    let wrong = [
        json!({"action": "add-snapshot"}),
        json!({"action": "add-snapshot", "snapshot": []}),
        json!({"action": "add-snapshot", "snapshot": {"snapshot-id": 1}}),
        json!({"action": "add-snapshot", "snapshot": snapshot(&json!({"summary": {"operation": "append", "n": 5}}))}),
        json!({"action": "add-snapshot", "snapshot": snapshot(&json!({"summary": {"operation": 5}}))}),
        json!({"action": "add-snapshot", "snapshot": snapshot(&json!({"summary": "append"}))}),
        json!({"action": "add-snapshot", "snapshot": snapshot(&json!({"snapshot-id": 1e18}))}),
        json!({"action": "add-snapshot", "snapshot": snapshot(&json!({"first-row-id": -1}))}),
        json!({"action": "add-snapshot", "snapshot": snapshot(&json!({"added-rows": -1}))}),
        json!({"action": "add-snapshot", "snapshot": snapshot(&json!({"added-rows": null}))}),
        json!({"action": "add-snapshot", "snapshot": snapshot(&json!({"manifest-list": null}))}),
        json!({"action": "set-snapshot-ref", "ref-name": "b", "snapshot-id": 11}),
        json!({"action": "set-snapshot-ref", "ref-name": "b", "snapshot-id": 11, "type": "fork"}),
        json!({"action": "set-snapshot-ref", "ref-name": "b", "type": "branch"}),
        json!({"action": "set-snapshot-ref", "ref-name": "b", "snapshot-id": 11, "type": "branch", "min-snapshots-to-keep": 0}),
        json!({"action": "set-snapshot-ref", "ref-name": "b", "snapshot-id": 11, "type": "branch", "max-snapshot-age-ms": 0}),
        json!({"action": "set-snapshot-ref", "ref-name": "b", "snapshot-id": 11, "type": "branch", "max-ref-age-ms": -1}),
        json!({"action": "set-snapshot-ref", "ref-name": "b", "snapshot-id": 11, "type": "tag", "min-snapshots-to-keep": 1}),
        json!({"action": "set-snapshot-ref", "ref-name": "b", "snapshot-id": 11, "type": "tag", "max-snapshot-age-ms": 1}),
    ];
    assert_snapshot!(refusals(&wrong), @r#"
    400 Cannot parse missing field: snapshot
    400 Cannot parse snapshot from non-object value: []
    400 Cannot parse missing long: timestamp-ms
    400 Cannot parse to a string value: n: 5
    400 Cannot parse to a string value: operation: 5
    400 Cannot parse summary from non-object value: "append"
    400 Cannot parse to a long value: snapshot-id: 1e+18
    400 Invalid first-row-id (cannot be negative): -1
    400 Invalid added-rows (cannot be negative): -1
    400 Invalid added-rows (required when first-row-id is set): null
    400 Cannot parse missing list: manifests
    400 Cannot parse missing string: type
    400 Invalid snapshot ref type: fork
    400 Cannot parse missing long: snapshot-id
    400 Min snapshots to keep must be greater than 0
    400 Max snapshot age must be greater than 0 ms
    400 Max reference age must be greater than 0
    400 Tags do not support setting minSnapshotsToKeep
    400 Tags do not support setting maxSnapshotAgeMs
    "#);
}

/// The texts of refusals, one a line.
fn refusals(wrong: &[Value]) -> String {
    let texts: Vec<_> = wrong.iter().map(|update| refusal(updates(std::slice::from_ref(update)))).collect();
    texts.join("\n")
}

/// Good updates of every kind, to be spoiled.
fn good() -> Vec<Value> {
    let schema = &table(2)["schemas"][1];
    vec![
        add_snapshot(&json!({})),
        set_branch("main", 12),
        json!({"action": "add-schema", "schema": schema, "last-column-id": 2}),
        json!({"action": "set-current-schema", "schema-id": 0}),
        json!({"action": "add-spec", "spec": {"spec-id": 1, "fields": [{"source-id": 2, "name": "y", "transform": "truncate[2]", "field-id": 1001}]}}),
        json!({"action": "set-default-spec", "spec-id": -1}),
        json!({"action": "add-sort-order", "sort-order": {"order-id": 1, "fields": [
            {"source-id": 1, "transform": "identity", "direction": "asc", "null-order": "nulls-first"}]}}),
        json!({"action": "remove-snapshots", "snapshot-ids": [10]}),
        json!({"action": "set-properties", "updates": {"write.metadata.previous-versions-max": "2"}}),
        json!({"action": "set-statistics", "statistics": {"snapshot-id": 1, "statistics-path": "p", "file-size-in-bytes": 1,
               "file-footer-size-in-bytes": 1, "blob-metadata": []}}),
        json!({"action": "add-encryption-key", "encryption-key": {"key-id": "k", "encrypted-key-metadata": "c29tZQ=="}}),
    ]
}

fn odd_values() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        Just(json!(i64::MAX)),
        Just(json!(i64::MIN)),
        Just(json!(i32::MAX)),
        Just(json!(-1)),
        Just(json!(0)),
        Just(json!(u64::MAX)),
        Just(json!(1.5)),
        Just(json!("")),
        Just(json!("12")),
        Just(json!("é\u{0}\"")),
        Just(json!([])),
        Just(json!({})),
        Just(json!([null])),
        Just(json!({"": null})),
        Just(json!(true)),
    ]
}

proptest! {
    #[test]
    fn spoiled_requests_end_in_an_error_or_in_good_metadata(
        at in any::<prop::sample::Index>(), place in any::<prop::sample::Index>(), value in odd_values(), version in 2_u8..=3,
    ) {
        let mut list = good();
        let at = at.index(list.len());
        let all = places(&list[at]);
        let place = &all[place.index(all.len())];
        *list[at].pointer_mut(place).unwrap() = value;
        // What is accepted is written and read again, which `commit` checks.
        let _ = commit(&table(version), &list);
        let _ = commit(&table(version), std::slice::from_ref(&list[at]));
    }
}
