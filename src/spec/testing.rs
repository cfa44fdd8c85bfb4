//! Tables and requests for the tests of this module.

use serde_json::{Value, json};

use super::commit_request::CommitTableRequest;
use super::error::Result;
use super::table::TableMetadata;
use super::update::{Applied, Base, TableUpdate, apply};

/// The server's time in tests: 100 seconds after the tables were last changed.
pub(super) const NOW_MS: i64 = 1_700_000_100_000;

/// Where the bases of tests are.
pub(super) const BASE_FILE: &str = "s3://b/t/metadata/v5.json";

/// A table of two columns with two snapshots on `main`, in format version 2 or 3.
pub(super) fn table(format_version: u8) -> Value {
    let mut table = json!({
        "format-version": format_version,
        "table-uuid": "9c12d441-03fe-4693-9a96-a0705ddf69c1",
        "location": "s3://b/t",
        "last-sequence-number": 2,
        "last-updated-ms": 1_700_000_000_000_i64,
        "last-column-id": 2,
        "current-schema-id": 1,
        "schemas": [
            {"type": "struct", "schema-id": 0, "fields": [{"id": 1, "name": "x", "required": true, "type": "long"}]},
            {"type": "struct", "schema-id": 1, "fields": [
                {"id": 1, "name": "x", "required": true, "type": "long"},
                {"id": 2, "name": "y", "required": false, "type": "string"},
            ]},
        ],
        "default-spec-id": 0,
        "partition-specs": [{"spec-id": 0, "fields": [
            {"name": "x_b", "transform": "bucket[16]", "source-id": 1, "field-id": 1000},
        ]}],
        "last-partition-id": 1000,
        "default-sort-order-id": 0,
        "sort-orders": [{"order-id": 0, "fields": []}],
        "properties": {"a": "b"},
        "current-snapshot-id": 11,
        "refs": {"main": {"snapshot-id": 11, "type": "branch"}},
        "snapshots": [
            {"snapshot-id": 10, "sequence-number": 1, "timestamp-ms": 1_699_999_990_000_i64,
             "manifest-list": "s3://b/t/ml10.avro", "summary": {"operation": "append"}, "schema-id": 0},
            {"snapshot-id": 11, "parent-snapshot-id": 10, "sequence-number": 2, "timestamp-ms": 1_699_999_999_000_i64,
             "manifest-list": "s3://b/t/ml11.avro", "summary": {"operation": "append"}, "schema-id": 1},
        ],
        "snapshot-log": [
            {"snapshot-id": 10, "timestamp-ms": 1_699_999_990_000_i64},
            {"snapshot-id": 11, "timestamp-ms": 1_699_999_999_000_i64},
        ],
        "metadata-log": [{"metadata-file": "s3://b/t/metadata/v4.json", "timestamp-ms": 1_699_999_980_000_i64}],
    });
    if format_version >= 3 {
        table["next-row-id"] = json!(30);
        for (at, first, added) in [(0, 0, 10), (1, 10, 20)] {
            table["snapshots"][at]["first-row-id"] = json!(first);
            table["snapshots"][at]["added-rows"] = json!(added);
        }
    }
    table
}

/// The next snapshot of [`table`]; `changes` replaces members, null takes them out.
pub(super) fn snapshot(changes: &Value) -> Value {
    let mut snapshot = json!({
        "snapshot-id": 12,
        "parent-snapshot-id": 11,
        "sequence-number": 3,
        "timestamp-ms": NOW_MS,
        "manifest-list": "s3://b/t/ml12.avro",
        "summary": {"operation": "append"},
        "schema-id": 1,
        "first-row-id": 30,
        "added-rows": 5,
    });
    change(&mut snapshot, changes);
    snapshot
}

/// Replaces members of an object; null takes them out.
pub(super) fn change(object: &mut Value, changes: &Value) {
    let members = object.as_object_mut().unwrap();
    for (key, value) in changes.as_object().unwrap() {
        match value {
            Value::Null => drop(members.shift_remove(key)),
            value => drop(members.insert(key.clone(), value.clone())),
        }
    }
}

pub(super) fn add_snapshot(changes: &Value) -> Value {
    json!({"action": "add-snapshot", "snapshot": snapshot(changes)})
}

pub(super) fn set_branch(name: &str, snapshot_id: i64) -> Value {
    json!({"action": "set-snapshot-ref", "ref-name": name, "type": "branch", "snapshot-id": snapshot_id})
}

pub(super) fn parse(table: &Value) -> TableMetadata {
    TableMetadata::parse(table.to_string().as_bytes()).unwrap()
}

pub(super) fn updates(updates: &[Value]) -> Result<Vec<TableUpdate>> {
    let body = json!({"requirements": [], "updates": updates});
    Ok(CommitTableRequest::parse(body.to_string().as_bytes())?.updates)
}

/// Applies updates to a table. What comes out is written and read again without a difference.
pub(super) fn commit(table: &Value, changes: &[Value]) -> Result<Applied> {
    commit_to(&parse(table), changes)
}

pub(super) fn commit_to(base: &TableMetadata, changes: &[Value]) -> Result<Applied> {
    let applied = apply(Some(Base { metadata: base, location: BASE_FILE }), &updates(changes)?, NOW_MS)?;
    assert_eq!(TableMetadata::parse(&applied.metadata.to_bytes()).unwrap(), applied.metadata);
    if !applied.changed {
        assert_eq!(applied.metadata, *base, "nothing changes where nothing changed");
    }
    Ok(applied)
}

/// The metadata after updates.
pub(super) fn after(table: &Value, changes: &[Value]) -> Value {
    serde_json::from_slice(&commit(table, changes).unwrap().metadata.to_bytes()).unwrap()
}

/// The text of a refusal, and whether the client may try again.
pub(super) fn refusal<T: std::fmt::Debug>(result: Result<T>) -> String {
    match result.unwrap_err() {
        super::Error::Conflict(text) => format!("409 {text}"),
        error => format!("400 {error}"),
    }
}

/// Places of all values within a value, as JSON pointers.
pub(super) fn places(value: &Value) -> Vec<String> {
    fn collect(value: &Value, at: &str, all: &mut Vec<String>) {
        all.push(at.to_owned());
        let members: Vec<(String, &Value)> = match value {
            Value::Object(members) => members.iter().map(|(key, value)| (key.clone(), value)).collect(),
            Value::Array(values) => values.iter().enumerate().map(|(at, value)| (at.to_string(), value)).collect(),
            _ => Vec::new(),
        };
        for (key, value) in members {
            collect(value, &format!("{at}/{key}"), all);
        }
    }
    let mut all = Vec::new();
    collect(value, "", &mut all);
    all
}
