use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::spec::error::Result;
use crate::spec::table::TableMetadata;
use crate::spec::testing::{NOW_MS, change, refusal, snapshot, updates};
use crate::spec::update::{Applied, apply};

/// What a Java client sends at the end of a transaction that creates a table.
fn create_updates() -> Vec<Value> {
    let fields = json!([{"id": 3, "name": "x", "required": true, "type": "long"}]);
    let spec = json!([{"source-id": 3, "field-id": 1000, "name": "x_b", "transform": "bucket[4]"}]);
    vec![
        json!({"action": "assign-uuid", "uuid": "the-uuid"}),
        json!({"action": "upgrade-format-version", "format-version": 3}),
        json!({"action": "add-schema", "schema": {"type": "struct", "schema-id": 0, "fields": fields}}),
        json!({"action": "set-current-schema", "schema-id": -1}),
        json!({"action": "add-spec", "spec": {"spec-id": 0, "fields": spec}}),
        json!({"action": "set-default-spec", "spec-id": -1}),
        json!({"action": "add-sort-order", "sort-order": {"order-id": 0, "fields": []}}),
        json!({"action": "set-default-sort-order", "sort-order-id": -1}),
        json!({"action": "set-location", "location": "s3://b/new/"}),
        json!({"action": "set-properties", "updates": {"created-at": "now"}}),
    ]
}

fn create(changes: &[Value]) -> Result<Applied> {
    apply(None, &updates(changes)?, NOW_MS)
}

fn written(applied: &Applied) -> String {
    String::from_utf8(applied.metadata.to_bytes()).unwrap()
}

#[test]
fn a_transaction_keeps_the_ids_of_its_client() {
    let applied = create(&create_updates()).unwrap();
    assert!(applied.changed && applied.dropped_metadata_files.is_empty());
    assert_snapshot!(written(&applied), @r#"
    {"format-version":3,"table-uuid":"the-uuid","location":"s3://b/new","last-sequence-number":0,"last-updated-ms":1700000100000,"last-column-id":3,"current-schema-id":0,"schemas":[{"type":"struct","schema-id":0,"fields":[{"id":3,"name":"x","required":true,"type":"long"}]}],"default-spec-id":0,"partition-specs":[{"spec-id":0,"fields":[{"name":"x_b","transform":"bucket[4]","source-id":3,"field-id":1000}]}],"last-partition-id":1000,"default-sort-order-id":0,"sort-orders":[{"order-id":0,"fields":[]}],"properties":{"created-at":"now"},"current-snapshot-id":null,"next-row-id":0,"refs":{},"snapshots":[],"statistics":[],"partition-statistics":[],"snapshot-log":[],"metadata-log":[]}
    "#);
    assert_eq!(TableMetadata::parse(written(&applied).as_bytes()).unwrap(), applied.metadata);
}

#[test]
fn a_table_may_start_with_data() {
    let mut changes = create_updates();
    let first = snapshot(&json!({"parent-snapshot-id": null, "sequence-number": 1, "first-row-id": 0, "schema-id": 0}));
    changes.push(json!({"action": "add-snapshot", "snapshot": first}));
    changes.push(json!({"action": "set-snapshot-ref", "ref-name": "main", "type": "branch", "snapshot-id": 12}));
    let applied = create(&changes).unwrap();
    assert_eq!((applied.metadata.current_snapshot_id, applied.metadata.next_row_id), (Some(12), Some(5)));
    assert_eq!(applied.added_snapshots.len(), 1);
}

#[test]
fn the_version_is_2_unless_the_updates_say() {
    let mut changes = create_updates();
    changes.remove(1);
    assert_eq!(create(&changes).unwrap().metadata.format_version, 2);
}

#[test]
fn a_table_needs_all_its_parts() {
    let without = |action: &str| {
        let mut changes = create_updates();
        changes.retain(|update| update["action"] != action);
        changes.retain(|update| action != "add-schema" || update["action"] != "set-current-schema");
        changes.retain(|update| action != "add-spec" || update["action"] != "set-default-spec");
        changes.retain(|update| action != "add-sort-order" || update["action"] != "set-default-sort-order");
        refusal(create(&changes))
    };
    let actions = ["assign-uuid", "add-schema", "add-spec", "add-sort-order", "set-location"];
    let mut refused: Vec<_> = actions.iter().map(|action| without(action)).collect();
    refused.push(refusal(create(&[])));
    refused.push(refusal(create(&[json!({"action": "add-snapshot", "snapshot": snapshot(&json!({}))})])));
    let mut changes = create_updates();
    change(&mut changes[1], &json!({"format-version": 4}));
    refused.push(refusal(create(&changes)));
    change(&mut changes[1], &json!({"format-version": 0}));
    refused.push(refusal(create(&changes)));
    assert_snapshot!(refused.join("\n"), @r"
    400 Cannot create a table without a uuid
    400 Cannot add a partition spec before a schema is added
    400 Partition specs cannot be null or empty
    400 Sort orders cannot be null or empty
    400 Table location is required in format v3
    400 Cannot create a table without a uuid
    400 Attempting to add a snapshot before a schema is added
    400 Unsupported format version: v4
    400 Unsupported format version: v0
    ");
}
