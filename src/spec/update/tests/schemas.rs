use insta::assert_snapshot;
use serde_json::{Value, json};

use super::refusals;
use crate::spec::testing::{after, change, commit, refusal, table};

fn field(id: i64, name: &str, of_type: &str) -> Value {
    json!({"id": id, "name": name, "required": false, "type": of_type})
}

fn add_schema(fields: &[Value]) -> Value {
    json!({"action": "add-schema", "schema": {"type": "struct", "schema-id": 7, "fields": fields}})
}

fn set_schema(id: i64) -> Value {
    json!({"action": "set-current-schema", "schema-id": id})
}

fn add_spec(fields: &Value) -> Value {
    json!({"action": "add-spec", "spec": {"spec-id": 9, "fields": fields}})
}

fn set_spec(id: i64) -> Value {
    json!({"action": "set-default-spec", "spec-id": id})
}

fn add_order(id: i64, fields: &Value) -> Value {
    json!({"action": "add-sort-order", "sort-order": {"order-id": id, "fields": fields}})
}

fn set_order(id: i64) -> Value {
    json!({"action": "set-default-sort-order", "sort-order-id": id})
}

/// The fields of the current schema and one more.
fn wider(id: i64) -> Vec<Value> {
    let mut fields = table(2)["schemas"][1]["fields"].as_array().unwrap().clone();
    fields.push(field(id, "z", "int"));
    fields
}

fn ids(list: &Value, key: &str) -> Vec<i64> {
    list.as_array().unwrap().iter().map(|object| object[key].as_i64().unwrap()).collect()
}

#[test]
fn schemas_are_numbered_by_the_table() {
    let after = after(&table(2), &[add_schema(&wider(5)), set_schema(-1)]);
    assert_eq!((ids(&after["schemas"], "schema-id"), &after["current-schema-id"]), (vec![0, 1, 2], &json!(2)));
    assert_eq!(after["last-column-id"], 5);
}

#[test]
fn an_equal_schema_is_found_again() {
    let back = [add_schema(table(2)["schemas"][0]["fields"].as_array().unwrap()), set_schema(-1)];
    let back = after(&table(2), &back);
    assert_eq!((ids(&back["schemas"], "schema-id"), &back["current-schema-id"]), (vec![0, 1], &json!(0)));
}

#[test]
fn no_number_is_given_twice() {
    let mut base = table(2);
    base["current-schema-id"] = json!(0);
    let remove_schemas = json!({"action": "remove-schemas", "schema-ids": [1, 99]});
    let after_schemas = after(&base, &[remove_schemas, add_schema(&wider(3)), set_schema(-1)]);
    assert_eq!(ids(&after_schemas["schemas"], "schema-id"), [0, 2]);
    let spec = json!([{"source-id": 2, "name": "y", "transform": "identity"}]);
    let other = json!([{"source-id": 2, "name": "y_t", "transform": "truncate[3]"}]);
    let remove_specs = json!({"action": "remove-partition-specs", "spec-ids": [1, 99]});
    let after_specs = after(&table(2), &[add_spec(&spec), remove_specs, add_spec(&other), set_spec(-1)]);
    assert_eq!(ids(&after_specs["partition-specs"], "spec-id"), [0, 2]);
    assert_eq!(ids(&after_specs["partition-specs"][1]["fields"], "field-id"), [1002], "nor is a field's id");
}

#[test]
fn specs_reuse_the_fields_they_share() {
    let fields = json!([
        {"source-id": 2, "name": "y_t", "transform": "truncate[3]"},
        {"source-id": 1, "name": "renamed", "transform": "bucket[16]"},
    ]);
    let changed = after(&table(2), &[add_spec(&fields), set_spec(-1)]);
    assert_eq!(ids(&changed["partition-specs"][1]["fields"], "field-id"), [1001, 1000]);
    assert_eq!((&changed["default-spec-id"], &changed["last-partition-id"]), (&json!(1), &json!(1001)));
    let back = after(&changed, &[add_spec(&table(2)["partition-specs"][0]["fields"]), set_spec(-1)]);
    assert_eq!((ids(&back["partition-specs"], "spec-id"), &back["default-spec-id"]), (vec![0, 1], &json!(0)));
    let unpartitioned = after(&table(2), &[add_spec(&json!([])), set_spec(-1)]);
    assert_eq!((&unpartitioned["default-spec-id"], &unpartitioned["last-partition-id"]), (&json!(1), &json!(1000)));
}

#[test]
fn version_1_numbers_partition_fields_in_turn() {
    let mut base = table(2);
    change(
        &mut base,
        &json!({"format-version": 1, "last-sequence-number": null, "snapshots": [], "refs": {},
                              "current-snapshot-id": null, "snapshot-log": []}),
    );
    let field = |id: Value| {
        let mut field = json!({"source-id": 2, "name": "y", "transform": "identity", "field-id": id});
        change(&mut field, &json!({"field-id": id}));
        json!([field])
    };
    let after = after(&base, &[add_spec(&field(Value::Null)), set_spec(-1)]);
    assert_eq!(after["partition-spec"], after["partition-specs"][1]["fields"]);
    assert_eq!(ids(&after["partition-spec"], "field-id"), [1000]);
    assert_snapshot!(refusal(commit(&base, &[add_spec(&field(json!(1001)))])), @"400 Spec does not use sequential IDs that are required in v1: [1001: y: identity(2)]");
}

#[test]
fn orders_are_numbered_by_the_table() {
    let fields = |direction: &str| json!([{"source-id": 1, "transform": "identity", "direction": direction, "null-order": "nulls-last"}]);
    let sorted = after(&table(2), &[add_order(5, &fields("asc")), set_order(-1), add_order(5, &fields("desc"))]);
    assert_eq!((ids(&sorted["sort-orders"], "order-id"), &sorted["default-sort-order-id"]), (vec![0, 1, 2], &json!(1)));
    let unsorted = after(&sorted, &[add_order(0, &json!([])), set_order(-1)]);
    assert_eq!(
        (ids(&unsorted["sort-orders"], "order-id"), &unsorted["default-sort-order-id"]),
        (vec![0, 1, 2], &json!(0))
    );
    let mut without_unsorted = table(2);
    change(
        &mut without_unsorted,
        &json!({"sort-orders": [{"order-id": 3, "fields": fields("asc")}], "default-sort-order-id": 3}),
    );
    let unsorted = after(&without_unsorted, &[add_order(0, &json!([])), set_order(-1)]);
    assert_eq!(
        (ids(&unsorted["sort-orders"], "order-id"), &unsorted["default-sort-order-id"]),
        (vec![3, 0], &json!(0))
    );
}

#[test]
fn a_spec_of_a_request_needs_no_id() {
    let fields = json!([{"source-id": 1, "name": "p", "transform": "bucket[4]"}]);
    let without = json!({"action": "add-spec", "spec": {"fields": &fields}});
    let with = after(&table(2), &[add_spec(&fields), set_spec(-1)]);
    let found = after(&table(2), &[without, set_spec(-1)]);
    for member in ["partition-specs", "default-spec-id", "last-partition-id"] {
        assert_eq!(found[member], with[member]);
    }
    assert_ne!(found["default-spec-id"], table(2)["default-spec-id"]);
}

#[test]
fn what_does_not_fit_is_refused() {
    let identity = |source: i64| json!([{"source-id": source, "name": "p", "transform": "identity"}]);
    let order = |source: i64, transform: &str| json!([{"source-id": source, "transform": transform, "direction": "asc", "null-order": "nulls-first"}]);
    let lists = [
        vec![set_schema(-1)],
        vec![set_schema(9)],
        vec![json!({"action": "remove-schemas", "schema-ids": [1]})],
        vec![add_schema(&[field(1, "x", "timestamp_ns")])],
        vec![add_schema(&[field(1, "x", "int"), field(1, "y", "int")])],
        vec![add_schema(&[field(1, "x", "vector(3)")])],
        vec![add_schema(&[field(2_147_483_640, "x", "int")])],
        vec![add_schema(&[field(2, "y", "string")]), set_schema(-1)],
        vec![add_schema(&[field(1, "x", "long"), field(3, "x_b", "int")]), set_schema(-1)],
        vec![set_spec(-1)],
        vec![set_spec(9)],
        vec![json!({"action": "remove-partition-specs", "spec-ids": [0]})],
        vec![add_spec(&identity(99))],
        vec![add_spec(&json!([{"source-id": 2, "name": "p", "transform": "day"}]))],
        vec![add_spec(&json!([{"source-id": 1, "name": "y", "transform": "identity"}]))],
        vec![add_spec(&json!([{"source-id": 1, "name": "p", "transform": "identity", "field-id": i32::MAX}]))],
        vec![add_spec(&json!([{"source-ids": [1, 2], "name": "p", "transform": "identity"}]))],
        vec![add_spec(&json!([{"source-id": 1, "source-ids": [1, 2], "name": "p", "transform": "zorder"}]))],
        vec![set_order(-1)],
        vec![set_order(9)],
        vec![add_order(1, &order(99, "identity"))],
        vec![add_order(1, &order(2, "day"))],
    ];
    assert_snapshot!(refusals(&table(2), &lists), @r"
    400 Cannot set last added schema: no schema has been added
    400 Cannot set current schema to unknown schema: 9
    400 Cannot remove the current schema
    400 Invalid schema for v2:
    - Invalid type for x: timestamp_ns is not supported until v3
    400 Invalid schema: multiple fields for id 1: x and y
    400 Cannot parse type string to primitive: vector(3)
    400 Invalid schema: field id 2147483640 of x is reserved (above 2147483447)
    400 Cannot find source column for partition field: 1000: x_b: bucket[16](1)
    400 Cannot create identity partition sourced from different field in schema: x_b
    400 Cannot set last added spec: no spec has been added
    400 Cannot set default partition spec to unknown spec: 9
    400 Cannot remove the default partition spec
    400 Cannot find source column for partition field: 1001: p: identity(99)
    400 Invalid source type string for transform: day
    400 Cannot create identity partition sourced from different field in schema: y
    400 Invalid partition field id: 2147483647: p: identity(1)
    400 Cannot parse missing int: source-id
    400 Cannot add a field of several source columns: source-ids [1, 2]
    400 Cannot set last added sort order: no sort order has been added
    400 Cannot set default sort order to unknown sort order: 9
    400 Cannot find source column for sort field: identity(99) ASC NULLS FIRST
    400 Invalid source type string for transform: day
    ");
}

#[test]
fn a_default_that_is_missing_can_be_mended() {
    let mut base = table(2);
    base["default-spec-id"] = json!(5);
    assert_snapshot!(refusal(commit(&base, &[json!({"action": "set-properties", "updates": {"a": "c"}})])), @"400 Cannot find default partition spec: 5");
    assert_eq!(after(&base, &[set_spec(0)])["default-spec-id"], 0);
    let mut base = table(2);
    base["default-sort-order-id"] = json!(5);
    assert_snapshot!(refusal(commit(&base, &[json!({"action": "set-properties", "updates": {"a": "c"}})])), @"400 Cannot find default sort order: 5");
}
