use insta::assert_snapshot;
use serde_json::{Value, json};

use super::CreateTableRequest;
use crate::spec::error::Result;
use crate::spec::table::TableMetadata;
use crate::spec::testing::{NOW_MS, change, refusal};

/// A request with a nested schema whose ids are not those of a new table.
fn request(changes: &Value) -> Value {
    let mut request = json!({
        "name": "t",
        "schema": {"type": "struct", "schema-id": 5, "identifier-field-ids": [30], "fields": [
            {"id": 30, "name": "x", "required": true, "type": "long", "x-unknown": 1},
            {"id": 10, "name": "s", "required": true, "type": {"type": "struct", "fields": [
                {"id": 40, "name": "y", "required": false, "type": "timestamptz"},
            ]}},
            {"id": 20, "name": "l", "required": false, "type":
                {"type": "list", "element-id": 50, "element": "int", "element-required": false}},
        ]},
        "partition-spec": {"spec-id": 3, "fields": [
            {"source-id": 40, "field-id": 7, "name": "y_day", "transform": "day"},
            {"source-id": 30, "field-id": 8, "name": "x_b", "transform": "bucket[4]"},
        ]},
        "write-order": {"order-id": 9, "fields": [
            {"source-id": 30, "transform": "identity", "direction": "desc", "null-order": "nulls-last"},
        ]},
        "properties": {"format-version": "3", "uuid": "reserved", "owner": "me"},
    });
    change(&mut request, changes);
    request
}

fn build(changes: &Value) -> Result<TableMetadata> {
    let body = request(changes).to_string();
    let metadata = CreateTableRequest::parse(body.as_bytes())?.build("s3://b/t/", "the-uuid", NOW_MS)?;
    assert_eq!(TableMetadata::parse(&metadata.to_bytes()).unwrap(), metadata);
    Ok(metadata)
}

#[test]
fn a_new_table_has_ids_from_the_start() {
    let written = String::from_utf8(build(&json!({})).unwrap().to_bytes()).unwrap();
    assert_snapshot!(written, @r#"
    {"format-version":3,"table-uuid":"the-uuid","location":"s3://b/t","last-sequence-number":0,"last-updated-ms":1700000100000,"last-column-id":5,"current-schema-id":0,"schemas":[{"type":"struct","schema-id":0,"identifier-field-ids":[1],"fields":[{"id":1,"name":"x","required":true,"type":"long","x-unknown":1},{"id":2,"name":"s","required":true,"type":{"type":"struct","fields":[{"id":4,"name":"y","required":false,"type":"timestamptz"}]}},{"id":3,"name":"l","required":false,"type":{"type":"list","element-id":5,"element":"int","element-required":false}}]}],"default-spec-id":0,"partition-specs":[{"spec-id":0,"fields":[{"name":"y_day","transform":"day","source-id":4,"field-id":1000},{"name":"x_b","transform":"bucket[4]","source-id":1,"field-id":1001}]}],"last-partition-id":1001,"default-sort-order-id":1,"sort-orders":[{"order-id":1,"fields":[{"transform":"identity","source-id":1,"direction":"desc","null-order":"nulls-last"}]}],"properties":{"write.parquet.compression-codec":"zstd","owner":"me"},"current-snapshot-id":null,"next-row-id":0,"refs":{},"snapshots":[],"statistics":[],"partition-statistics":[],"snapshot-log":[],"metadata-log":[]}
    "#);
}

#[test]
fn a_new_table_may_be_plain() {
    let metadata = build(&json!({"partition-spec": null, "write-order": null, "properties": null})).unwrap();
    assert_eq!((metadata.format_version, metadata.next_row_id), (2, None));
    assert!(metadata.default_spec().unwrap().fields.is_empty());
    assert_eq!((metadata.default_sort_order_id, metadata.last_partition_id), (0, 999));
    let stored: Vec<_> = metadata.properties.iter().collect();
    assert_eq!(stored, [(&"write.parquet.compression-codec".to_owned(), &"zstd".to_owned())]);
    let own = build(&json!({"properties": {"write.parquet.compression-codec": "snappy"}})).unwrap();
    assert_eq!(own.properties.get("write.parquet.compression-codec").unwrap(), "snappy");
}

#[test]
fn a_staged_table_notes_its_time() {
    let staged = build(&json!({"stage-create": true})).unwrap();
    assert_eq!(staged.properties.get("created-at").unwrap(), "2023-11-14T22:15:00.000Z");
    let given = build(&json!({"stage-create": true, "properties": {"created-at": "mine"}})).unwrap();
    assert_eq!(given.properties.get("created-at").unwrap(), "mine");
    assert!(!build(&json!({})).unwrap().properties.contains_key("created-at"));
}

#[test]
fn numbers_of_spec_and_order_may_be_left_out() {
    let spec = json!({"fields": [{"source-id": 30, "name": "x", "transform": "identity"}]});
    let order =
        json!({"fields": [{"source-id": 30, "transform": "identity", "direction": "asc", "null-order": "nulls-last"}]});
    let metadata = build(&json!({"partition-spec": spec, "write-order": order})).unwrap();
    assert_eq!((metadata.last_partition_id, metadata.default_sort_order_id), (1000, 1));
}

#[test]
fn what_makes_no_table_is_refused() {
    let field = |name: &str, of_type: &str| json!({"type": "struct", "fields": [{"id": 30, "name": name, "required": true, "type": of_type}]});
    let spec =
        |source: i64| json!({"spec-id": 0, "fields": [{"source-id": source, "name": "p", "transform": "identity"}]});
    let properties = |key: &str, value: &str| json!({"properties": {key: value}});
    let wrong = [
        json!({"name": null}),
        json!({"name": 5}),
        json!({"schema": null}),
        json!({"schema": {"type": "struct"}}),
        json!({"stage-create": "yes"}),
        json!({"location": 5}),
        json!({"properties": {"a": null}}),
        json!({"schema": field("x", "variant"), "partition-spec": null, "write-order": null, "properties": null}),
        json!({"schema": field("x", "vector(3)"), "partition-spec": null, "write-order": null}),
        json!({"partition-spec": spec(99)}),
        json!({"partition-spec": spec(10)}),
        json!({"write-order": {"order-id": 1, "fields": [
            {"source-id": 20, "transform": "identity", "direction": "asc", "null-order": "nulls-last"}]}}),
        properties("format-version", "4"),
        properties("format-version", "two"),
        properties("commit.retry.num-retries", "many"),
        properties("commit.retry.min-wait-ms", "-1"),
        properties("encryption.key-id", "k"),
        properties("write.metadata.metrics.column.none", "full"),
    ];
    let texts: Vec<_> = wrong.iter().map(|changes| refusal(build(changes))).collect();
    assert_snapshot!(texts.join("\n"), @r#"
    400 Cannot parse missing string: name
    400 Cannot parse to a string value: name: 5
    400 Cannot parse missing field: schema
    400 Cannot parse missing field: fields
    400 Cannot parse to a boolean value: stage-create: "yes"
    400 Cannot parse to a string value: location: 5
    400 Cannot parse to a string value: a: null
    400 Invalid schema for v2:
    - Invalid type for x: variant is not supported until v3
    400 Cannot parse type string to primitive: vector(3)
    400 Cannot find source column for partition field: 1000: p: identity(99)
    400 Cannot partition by non-primitive source field: struct<40: y: optional timestamptz>
    400 Cannot sort by non-primitive source field: list<int>
    400 Unsupported format version: v4
    400 Unsupported format version: vtwo
    400 Table property commit.retry.num-retries must have integer value
    400 Table property commit.retry.min-wait-ms must have non negative integer value
    400 Invalid properties for v2: [encryption.key-id]
    400 Invalid metrics config, could not find column none from table prop write.metadata.metrics.column.none
    "#);
    assert!(
        build(&json!({"properties": {"write.metadata.metrics.column.s.y": "full", "encryption.key-id": "k",
                                         "format-version": "3", "commit.retry.num-retries": "0"}}))
        .is_ok()
    );
}
