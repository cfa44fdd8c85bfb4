use insta::assert_snapshot;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{TableMetadata, strip_trailing_slash};
use crate::spec::error::Result;
use crate::spec::testing::{change, places, refusal, table};

fn read(table: &Value) -> Result<TableMetadata> {
    TableMetadata::parse(table.to_string().as_bytes())
}

fn rewritten(table: &Value) -> Value {
    serde_json::from_slice(&read(table).unwrap().to_bytes()).unwrap()
}

fn with(version: u8, changes: &Value) -> Value {
    let mut table = table(version);
    change(&mut table, changes);
    table
}

#[test]
fn unknown_members_and_number_texts_survive() {
    let text = table(3).to_string();
    let marked = text
        .replacen("{\"format-version\"", "{\"x-top\":{\"a\": [1.50, 9007199254740993]},\"format-version\"", 1)
        .replacen("{\"snapshot-id\":10", "{\"x-snapshot\" : 1e400,\"snapshot-id\":10", 1)
        .replace("\"type\":\"branch\"", "\"type\":\"branch\",\"x-ref\":[]")
        .replace("{\"spec-id\"", "{\"x-spec\":null,\"spec-id\"")
        .replace("{\"order-id\"", "{\"x-order\":\"\\u00e9\",\"order-id\"");
    let metadata = TableMetadata::parse(marked.as_bytes()).unwrap();
    let written = String::from_utf8(metadata.to_bytes()).unwrap();
    for kept in [
        r#""x-top":{"a": [1.50, 9007199254740993]}"#,
        r#"{"x-snapshot" : 1e400,"snapshot-id":10"#,
        r#""x-ref":[]"#,
        r#""x-spec":null"#,
        r#""x-order":"\u00e9""#,
    ] {
        assert!(written.contains(kept), "{kept} in {written}");
    }
    assert_eq!(TableMetadata::parse(written.as_bytes()).unwrap().to_bytes(), written.into_bytes());
}

#[test]
fn an_empty_table_has_no_current_snapshot() {
    let empty = json!({"snapshots": null, "refs": null, "snapshot-log": null, "current-snapshot-id": null});
    for (version, none) in [(2, json!(-1)), (3, Value::Null)] {
        for current in [None, Some(json!(-1)), Some(Value::Null)] {
            let mut table = with(version, &empty);
            if let Some(current) = current {
                table["current-snapshot-id"] = current;
            }
            let read = rewritten(&table);
            assert_eq!(read["current-snapshot-id"], none);
            assert_eq!(read["refs"], json!({}));
        }
    }
}

#[test]
fn main_is_made_up_only_where_there_are_no_refs_at_all() {
    let read = |refs: &Value| rewritten(&with(2, &json!({"refs": refs})))["refs"].clone();
    assert_eq!(read(&Value::Null), json!({"main": {"snapshot-id": 11, "type": "branch"}}));
    assert_eq!(read(&json!({})), json!({}));
}

#[test]
fn files_that_java_cannot_open_are_refused() {
    let wrong = [
        json!({"format-version": 4}),
        json!({"format-version": 0}),
        json!({"format-version": null}),
        json!({"table-uuid": null}),
        json!({"location": null}),
        json!({"location": ""}),
        json!({"last-sequence-number": null}),
        json!({"last-sequence-number": 1}),
        json!({"last-updated-ms": null}),
        json!({"last-updated-ms": 1_699_999_938_999_i64}),
        json!({"last-column-id": "2"}),
        json!({"next-row-id": null}),
        json!({"schemas": null}),
        json!({"schemas": {}}),
        json!({"schemas": [{"type": "struct", "schema-id": 0, "fields": []}]}),
        json!({"current-schema-id": null}),
        json!({"partition-specs": null}),
        json!({"partition-specs": []}),
        json!({"default-spec-id": null}),
        json!({"last-partition-id": null}),
        json!({"sort-orders": null}),
        json!({"sort-orders": []}),
        json!({"sort-orders": [{"order-id": 0, "fields": []}, {"order-id": 0, "fields": []}]}),
        json!({"default-sort-order-id": null}),
        json!({"properties": {"a": 1}}),
        json!({"current-snapshot-id": 10}),
        json!({"current-snapshot-id": 99, "refs": {}}),
        json!({"current-snapshot-id": -1}),
        json!({"refs": {"t": {"snapshot-id": 99, "type": "tag"}}}),
        json!({"refs": {"t": {"snapshot-id": 10, "type": "tag", "max-ref-age-ms": 0}}}),
        json!({"snapshots": "none"}),
        json!({"snapshot-log": [{"snapshot-id": 10}]}),
        json!({"snapshot-log": [{"snapshot-id": 10, "timestamp-ms": 100_000}, {"snapshot-id": 11, "timestamp-ms": 39_999}]}),
        json!({"metadata-log": [{"metadata-file": 5, "timestamp-ms": 5}]}),
        json!({"metadata-log": [{"metadata-file": "f", "timestamp-ms": 1_700_000_060_001_i64}]}),
        json!({"statistics": [5]}),
        json!({"partition-statistics": [{"snapshot-id": 5}]}),
        json!({"encryption-keys": [{"key-id": "k"}]}),
    ];
    let texts: Vec<_> = wrong.iter().map(|changes| refusal(read(&with(3, changes)))).collect();
    assert_snapshot!(texts.join("\n"), @r#"
    400 Unsupported format version: v4
    400 Unsupported format version: v0
    400 Cannot parse missing int: format-version
    400 UUID is required in format v3
    400 Cannot parse missing string: location
    400 Table location is required in format v3
    400 Cannot parse missing long: last-sequence-number
    400 Invalid snapshot with sequence number 2 greater than last sequence number 1
    400 Cannot parse missing long: last-updated-ms
    400 Invalid update timestamp 1699999938999: before last snapshot log entry at 1699999999000
    400 Cannot parse to an integer value: last-column-id: "2"
    400 Cannot parse missing long: next-row-id
    400 schemas must exist in format v3
    400 Cannot parse JSON array from non-array value: schemas: {}
    400 Cannot find schema with current-schema-id=1 from schemas
    400 Cannot parse missing int: current-schema-id
    400 partition-specs must exist in format v3
    400 Partition specs cannot be null or empty
    400 Cannot parse missing int: default-spec-id
    400 last-partition-id must exist in format v3
    400 sort-orders must exist in format v3
    400 Sort orders cannot be null or empty
    400 Multiple entries with same key: 0
    400 Cannot parse missing int: default-sort-order-id
    400 Cannot parse to a string value: a: 1
    400 Current snapshot ID does not match main branch (10 != 11)
    400 Invalid table metadata: Cannot find current version
    400 Current snapshot is not set, but main branch exists: 11
    400 Snapshot for reference t does not exist in the existing snapshots list: 99
    400 Max reference age must be greater than 0
    400 Cannot parse JSON array from non-array value: snapshots: "none"
    400 Cannot parse missing long: timestamp-ms
    400 [BUG] Expected sorted snapshot log entries.
    400 Cannot parse to a string value: metadata-file: 5
    400 Invalid update timestamp 1700000000000: before the latest metadata log entry timestamp 1700000060001
    400 Cannot parse statistics file from non-object value: 5
    400 Cannot parse missing string: statistics-path
    400 Cannot parse missing string: encrypted-key-metadata
    "#);
    for member in ["refs", "properties", "snapshots", "statistics", "partition-statistics", "encryption-keys"] {
        let mut table = table(3);
        table[member] = Value::Null;
        assert!(read(&table).is_err(), "{member}: null");
    }
    for text in ["", "5", "[]", "{}", "{\"format-version\":2", "\u{feff}{}", "{\"format-version\":2}x"] {
        assert!(TableMetadata::parse(text.as_bytes()).is_err(), "{text}");
    }
}

#[test]
fn twice_the_same_id_is_refused() {
    for list in ["schemas", "partition-specs", "snapshots"] {
        let mut table = table(2);
        let again = table[list][0].clone();
        table[list].as_array_mut().unwrap().push(again);
        assert!(refusal(read(&table)).starts_with("400 Multiple entries with same key: "), "{list}");
    }
}

#[test]
fn old_forms_of_version_1_are_read() {
    let old = json!({
        "format-version": 1, "location": "s3://b/t", "last-updated-ms": 5, "last-column-id": 1,
        "schema": {"type": "struct", "fields": [{"id": 1, "name": "x", "required": true, "type": "long"}]},
        "partition-spec": [{"name": "x_b", "transform": "bucket[4]", "source-id": 1}],
        "snapshots": [{"snapshot-id": 1, "timestamp-ms": 1, "manifests": ["a.avro"]}], "current-snapshot-id": 1,
    });
    assert_snapshot!(rewritten(&old).to_string(), @r#"
    {"format-version":1,"table-uuid":null,"location":"s3://b/t","last-updated-ms":5,"last-column-id":1,"schema":{"type":"struct","schema-id":0,"fields":[{"id":1,"name":"x","required":true,"type":"long"}]},"current-schema-id":0,"schemas":[{"type":"struct","schema-id":0,"fields":[{"id":1,"name":"x","required":true,"type":"long"}]}],"partition-spec":[{"name":"x_b","transform":"bucket[4]","source-id":1,"field-id":1000}],"default-spec-id":0,"partition-specs":[{"spec-id":0,"fields":[{"name":"x_b","transform":"bucket[4]","source-id":1,"field-id":1000}]}],"last-partition-id":1000,"default-sort-order-id":0,"sort-orders":[{"order-id":0,"fields":[]}],"properties":{},"current-snapshot-id":1,"refs":{"main":{"snapshot-id":1,"type":"branch"}},"snapshots":[{"snapshot-id":1,"timestamp-ms":1,"manifests":["a.avro"]}],"statistics":[],"partition-statistics":[],"snapshot-log":[],"metadata-log":[]}
    "#);
}

#[test]
fn refs_only_shows_what_refs_point_to() {
    let mut table = table(3);
    table["snapshots"][0]["snapshot-id"] = json!(5);
    table["refs"]["t"] = json!({"snapshot-id": 5, "type": "tag"});
    assert_eq!(read(&table).unwrap().refs_only(), read(&table).unwrap());
    change(&mut table["refs"], &json!({"t": null}));
    let metadata = read(&table).unwrap();
    let shown = metadata.refs_only();
    assert_eq!(shown.snapshots, [metadata.current_snapshot().unwrap().clone()]);
    assert_eq!(shown.snapshot_log, metadata.snapshot_log, "the log stays");
    assert_eq!(TableMetadata::parse(&shown.to_bytes()).unwrap(), shown);
    assert_eq!(metadata.snapshot_by_ref("main").map(|snapshot| snapshot.snapshot_id), Some(11));
    assert_eq!(metadata.snapshot_by_ref("t"), None);
}

#[test]
fn slashes_at_the_end_of_a_location_do_not_count() {
    for (location, stripped) in
        [("s3://b/t/", "s3://b/t"), ("s3://b//", "s3://b"), ("s3://", "s3://"), ("/", ""), ("/a/", "/a"), ("", "")]
    {
        assert_eq!(strip_trailing_slash(location), stripped);
    }
}

fn spoil() -> impl Strategy<Value = Value> {
    let numbers = [i64::MIN, i64::from(i32::MIN), -1, 0, 1, 11, 12, i64::from(i32::MAX), i64::MAX];
    prop_oneof![
        prop::sample::select(numbers.to_vec()).prop_map(|number| json!(number)),
        prop::sample::select(vec![json!(null), json!([]), json!({}), json!(1.5), json!([{}]), json!(true)]),
        "[a-z/:\\[\\]0-9\u{e9}\"\\\\]{0,8}".prop_map(|text| json!(text)),
    ]
}

proptest! {
    #[test]
    fn what_is_read_is_written_and_read_as_the_same(
        version in 1_u8..=3, spoiled in prop::collection::vec((any::<prop::sample::Index>(), spoil()), 0..4),
    ) {
        let mut table = table(version.max(2));
        if version == 1 {
            change(&mut table, &json!({"format-version": 1, "snapshots": [], "refs": {}, "current-snapshot-id": null}));
        }
        for (place, value) in spoiled {
            let all = places(&table);
            *table.pointer_mut(&all[place.index(all.len())]).unwrap() = value;
        }
        if let Ok(metadata) = read(&table) {
            let bytes = metadata.to_bytes();
            let again = TableMetadata::parse(&bytes).unwrap();
            prop_assert_eq!(&again, &metadata);
            prop_assert_eq!(again.to_bytes(), bytes);
        }
    }
}
