//! Filters as clients write them: what is understood, what is refused and where, and what is left to test.

use serde_json::{Value as Json, json};

use crate::manifest::{Partition, Value};
use crate::plan::bind::{Columns, bind};
use crate::plan::expression::Expression;
use crate::plan::filter::{Filter, Residual};
use crate::plan::partitions::Spec;
use crate::spec::{Schema, TableMetadata};

pub(super) fn table() -> TableMetadata {
    let field = |id: i32, name: &str, of: Json| json!({"id": id, "name": name, "required": id == 1, "type": of});
    let place = json!({"type": "struct", "fields": [field(21, "city", json!("string"))]});
    let tags = json!({"type": "list", "element-id": 22, "element": "string", "element-required": false});
    let metadata = json!({
        "format-version": 2, "table-uuid": "u", "location": "gs://b/t", "last-sequence-number": 0,
        "last-updated-ms": 0, "last-column-id": 22, "current-schema-id": 0, "default-spec-id": 0,
        "last-partition-id": 1004, "default-sort-order-id": 0,
        "sort-orders": [{"order-id": 0, "fields": []}],
        "schemas": [{"type": "struct", "schema-id": 0, "fields": [
            field(1, "id", json!("long")), field(2, "name", json!("string")), field(3, "score", json!("float")),
            field(4, "at", json!("timestamptz")), field(5, "price", json!("decimal(9, 2)")),
            field(6, "place", place), field(7, "tags", tags), field(8, "Day", json!("date")),
            field(9, "ratio", json!("double"))
        ]}],
        "partition-specs": [{"spec-id": 0, "fields": [
            {"source-id": 1, "field-id": 1000, "name": "id_bucket", "transform": "bucket[4]"},
            {"source-id": 2, "field-id": 1001, "name": "name_trunc", "transform": "truncate[2]"},
            {"source-id": 4, "field-id": 1002, "name": "at_day", "transform": "day"},
            {"source-id": 8, "field-id": 1003, "name": "Day", "transform": "identity"}
        ]}]
    });
    TableMetadata::parse(metadata.to_string().as_bytes()).unwrap()
}

pub(super) fn filter(schema: &Schema, json: Json, case_sensitive: bool) -> Result<Filter, String> {
    let expression = Expression::parse(json, "filter").map_err(|error| error.to_string())?;
    bind(expression, &Columns::of(schema, case_sensitive)).map_err(|error| error.to_string())
}

/// What is left of a filter that knows nothing of the rows.
fn bound(json: Json) -> String {
    let table = table();
    match filter(table.current_schema().unwrap(), json, true) {
        Ok(filter) => filter.residual(&mut |_| None).as_json().to_owned(),
        Err(error) => error,
    }
}

/// What is left of a filter in a partition.
fn left(json: Json, partition: &[(i32, Value)]) -> String {
    let table = table();
    let schema = table.current_schema().unwrap();
    let filter = filter(schema, json, true).unwrap();
    let spec = Spec::new(table.default_spec().unwrap(), &table, schema, &filter);
    let partition = Partition::new(partition.to_vec());
    let residual = spec.residual(&filter, &partition);
    assert!(residual != Residual::Constant(false) || !spec.may_match(&filter, &partition), "pruned if nothing is left");
    residual.as_json().to_owned()
}

#[test]
fn both_grammars_are_understood() {
    let reference = |name: &str| json!({"type": "reference", "name": name});
    let same = [
        (json!({"type": "eq", "term": "id", "value": 5}), json!({"type": "eq", "left": reference("id"), "right": 5})),
        (
            json!({"type": "lt", "term": "id", "value": 5}),
            json!({"type": "gt", "left": {"type": "literal", "value": 5, "data-type": "long"}, "right": {"type": "reference", "id": 1}}),
        ),
        (json!({"type": "is-null", "term": "name"}), json!({"type": "is-null", "child": reference("name")})),
        (
            json!({"type": "in", "term": "id", "values": [1, 1]}),
            json!({"type": "in", "child": reference("id"), "values": {"type": "literals", "data-type": "long", "values": [1, 1]}}),
        ),
        (
            json!({"type": "eq", "term": {"type": "transform", "transform": "bucket[4]", "term": "id"}, "value": 3}),
            json!({"type": "eq", "left": {"type": "apply", "function": "bucket[4]", "arguments": [reference("id")]}, "right": 3}),
        ),
        (
            json!({"type": "NOT_EQ", "term": {"type": "reference", "term": "id"}, "value": 5}),
            json!({"type": "not-eq", "left": reference("id"), "right": 5}),
        ),
    ];
    let table = table();
    let asked = |json: &Json| match filter(table.current_schema().unwrap(), json.clone(), true).unwrap() {
        Filter::Leaf(leaf) => format!("{:?}", leaf.asked.unwrap()),
        other => format!("{other:?}"),
    };
    for (old, new) in same {
        assert_eq!(asked(&old), asked(&new), "{old} {new}");
        let spelled = old.to_string().replace("NOT_EQ", "not-eq");
        assert_eq!(bound(old), spelled, "it is sent back as it came, in the specification's letters");
        assert_eq!(bound(new.clone()), new.to_string());
    }
}

#[test]
fn constants_and_negations_are_folded() {
    let id = |kind: &str| json!({"type": kind, "term": "id", "value": 5});
    for (json, expected) in [
        (json!(true), "true"),
        (json!({"type": "false"}), "false"),
        (json!({"type": "literal", "value": true}), "true"),
        (json!({"type": "and", "left": true, "right": {"type": "not-null", "term": "id"}}), "true"),
        (json!({"type": "is-null", "term": "id"}), "false"),
        (json!({"type": "not", "child": {"type": "is-null", "term": "id"}}), "true"),
        (json!({"type": "or", "left": {"type": "eq", "term": "price", "value": "1.005"}, "right": false}), "false"),
        (json!({"type": "not-eq", "term": "price", "value": "1.005"}), "true"),
        (json!({"type": "not", "child": {"type": "in", "term": "price", "values": ["1.005"]}}), "true"),
        (json!({"type": "in", "term": "id", "values": []}), "false"),
    ] {
        assert_eq!(bound(json.clone()), expected, "{json}");
    }
    let not_or =
        json!({"type": "not", "child": {"type": "or", "left": id("lt"), "right": {"type": "not", "child": id("gt")}}});
    let expected = json!({"type": "and", "left": {"type": "not", "child": id("lt")}, "right": id("gt")});
    assert_eq!(bound(not_or).parse::<Json>().unwrap(), expected);
}

#[test]
fn what_only_the_client_understands_is_left_to_it() {
    let name = |name: &str| json!({"type": "reference", "name": name});
    for json in [
        json!({"type": "lt", "left": name("id"), "right": name("ratio")}),
        json!({"type": "eq", "left": {"type": "apply", "function": ["udf", "f"], "arguments": [name("id")]}, "right": 1}),
        json!({"type": "eq", "left": {"type": "apply", "function": "lower", "arguments": [name("name")]}, "right": "a"}),
        json!({"type": "eq", "term": {"type": "transform", "transform": "zorder", "term": "id"}, "value": 1}),
    ] {
        assert_eq!(bound(json.clone()), json.to_string());
        let not = json!({"type": "not", "child": json});
        assert_eq!(bound(not.clone()), not.to_string());
    }
}

#[test]
fn faults_are_named_with_their_place() {
    let and = |right: Json| json!({"type": "and", "left": true, "right": right});
    let lines: Vec<String> = [
        json!(null),
        json!(1),
        json!({}),
        json!({"type": 5}),
        json!({"type": "maybe"}),
        and(json!({"type": "not"})),
        and(json!({"type": "not", "child": null})),
        json!({"type": "eq", "term": "id"}),
        json!({"type": "eq", "term": "id", "value": null}),
        json!({"type": "eq", "term": "id", "value": [1]}),
        json!({"type": "eq", "term": "id", "left": "id", "value": 1}),
        json!({"type": "eq", "term": "id", "right": 1}),
        json!({"type": "eq", "term": "id", "value": 1, "values": [1]}),
        json!({"type": "eq", "term": 7, "value": 1}),
        json!({"type": "is-null", "term": "id", "value": 1}),
        json!({"type": "is-null", "child": 1}),
        json!({"type": "in", "term": "id", "values": 1}),
        json!({"type": "in", "term": "id", "values": [1, null]}),
        json!({"type": "in", "term": "id", "values": {"type": "literals", "values": [1]}}),
        and(json!({"type": "eq", "term": "none", "value": 1})),
        json!({"type": "eq", "term": "ID", "value": 1}),
        json!({"type": "eq", "left": {"type": "reference", "id": 99}, "right": 1}),
        json!({"type": "eq", "term": "id", "value": "x"}),
        json!({"type": "eq", "term": "place", "value": 1}),
        json!({"type": "eq", "term": "tags.element", "value": "x"}),
        json!({"type": "is-nan", "term": "id"}),
        json!({"type": "starts-with", "term": "id", "value": "x"}),
        json!({"type": "eq", "term": {"type": "transform", "transform": "day", "term": "id"}, "value": 1}),
        json!({"type": "eq", "term": {"type": "transform", "transform": "bucket[0]", "term": "id"}, "value": 1}),
        json!({"type": "eq", "left": {"type": "apply", "function": "f"}, "right": 1}),
        json!({"type": "in", "term": "price", "values": ["1.0", "x"]}),
    ]
    .into_iter()
    .map(bound)
    .collect();
    insta::assert_snapshot!(lines.join("\n"), @r#"
    filter: expected an expression, found null
    filter: expected an expression, found 1
    filter: missing type
    filter.type: expected a string, found 5
    filter.type: unknown expression type `maybe`
    filter.right: missing child
    filter.right.child: expected an expression, found null
    filter: missing right (or value)
    filter.value: expected a literal, found null
    filter.value: expected a literal, found [1]
    filter: both left and term
    filter: term goes with value
    filter.values: not a member of this type of expression
    filter.term: expected a column's name or a transform, found 7
    filter.value: not a member of this type of expression
    filter.child: expected a reference, found 1
    filter.values: expected an array of literals, found 1
    filter.values[1]: expected a literal, found null
    filter.values: missing data-type
    filter.right: Cannot find field `none` in the schema
    filter: Cannot find field `ID` in the schema
    filter: Cannot find field 99 in the schema
    filter: Invalid value for conversion to type long: "x"
    filter: values of type struct<21: city: optional string> cannot be compared
    filter: field 22 is inside a list or map, tags
    filter: IsNaN and NotNaN cannot be used with a non-floating-point column
    filter: Term for starts-with or not-starts-with must produce a string, not long
    filter: Invalid source type long for transform: day
    filter.term.term: Invalid number of buckets: 0 (must be > 0)
    filter.left: missing arguments
    filter: Invalid value for conversion to type decimal(9, 2): "x"
    "#);
}

#[test]
fn names_are_compared_without_case_when_that_is_asked_for() {
    let table = table();
    let schema = table.current_schema().unwrap();
    let nested = json!({"type": "is-null", "term": "PLACE.City"});
    assert!(filter(schema, nested.clone(), true).is_err());
    assert!(filter(schema, nested, false).is_ok());
    assert!(filter(schema, json!({"type": "is-null", "term": "day"}), false).is_ok());
}

#[test]
fn what_a_partition_answers_is_not_tested_again() {
    let day = 19_723; // 2024-01-01
    let at = |kind: &str, value: &str| json!({"type": kind, "term": "at", "value": value});
    let in_day = [(1002, Value::Integer(day))];
    for (json, expected) in [
        (at("lt", "2024-01-01T00:00:00+00:00"), "false"),
        (at("gt-eq", "2024-01-01T00:00:00Z"), "true"),
        (at("lt", "2024-01-02T00:00:00+00:00"), "true"),
        (at("gt", "2024-01-03T05:00:00+02:00"), "false"),
        (at("eq", "2024-01-01T05:00:00+00:00"), r#"{"type":"eq","term":"at","value":"2024-01-01T05:00:00+00:00"}"#),
        (json!({"type": "not-null", "term": "at"}), "true"),
        (
            json!({"type": "and", "left": at("gt-eq", "2024-01-01T00:00:00Z"), "right": {"type": "gt", "term": "ratio", "value": 0.5}}),
            r#"{"type":"gt","term":"ratio","value":0.5}"#,
        ),
        (
            json!({"type": "eq", "term": {"type": "transform", "transform": "day", "term": "at"}, "value": "2024-01-01"}),
            "true",
        ),
        (
            json!({"type": "eq", "term": {"type": "transform", "transform": "day", "term": "at"}, "value": "2024-01-02"}),
            "false",
        ),
    ] {
        assert_eq!(left(json.clone(), &in_day), expected, "{json}");
    }
    let named = [(1001, Value::Text("ab".into()))];
    for (json, expected) in [
        (json!({"type": "starts-with", "term": "name", "value": "a"}), "true"),
        (json!({"type": "starts-with", "term": "name", "value": "ab"}), "true"),
        (
            json!({"type": "starts-with", "term": "name", "value": "abc"}),
            r#"{"type":"starts-with","term":"name","value":"abc"}"#,
        ),
        (json!({"type": "starts-with", "term": "name", "value": "bb"}), "false"),
        (json!({"type": "not-starts-with", "term": "name", "value": "b"}), "true"),
        (json!({"type": "not", "child": {"type": "eq", "term": "name", "value": "xyz"}}), "true"),
    ] {
        assert_eq!(left(json.clone(), &named), expected, "{json}");
    }
    let null = [];
    assert_eq!(left(json!({"type": "lt", "term": "Day", "value": "2024-01-01"}), &null), "false");
    assert_eq!(left(json!({"type": "is-null", "term": "Day"}), &null), "true");
}
