use super::*;

fn raw(text: &str) -> Raw {
    serde_json::from_str(text).unwrap()
}

fn spec(fields: &str) -> PartitionSpec {
    PartitionSpec::parse(&raw(&format!(r#"{{"spec-id":3,"fields":[{fields}]}}"#))).unwrap()
}

fn schema() -> Schema {
    Schema::parse(&raw(
        r#"{"type":"struct","fields":[{"id":1,"name":"a","required":true,"type":"long"},
        {"id":2,"name":"t","required":false,"type":"timestamp"},
        {"id":3,"name":"s","required":false,"type":{"type":"struct","fields":[
            {"id":4,"name":"x","required":false,"type":"string"}]}},
        {"id":5,"name":"l","required":false,"type":{"type":"list","element-id":6,"element":"int","element-required":true}},
        {"id":7,"name":"f","required":false,"type":"float"},
        {"id":8,"name":"v","required":false,"type":"variant"}]}"#,
    ))
    .unwrap()
}

fn field(source: &str, id: i32, name: &str, transform: &str) -> String {
    format!(r#"{{{source},"field-id":{id},"name":"{name}","transform":"{transform}"}}"#)
}

#[test]
fn specs_keep_what_they_do_not_know() {
    let text = r#"{"fields":[{"transform":"Bucket[4]","x-field":{ },"name":"a_b","field-id":1000,"source-id":1},
        {"transform":"zorder","name":"z","field-id":1001,"source-ids":[1, 2]}],"x-spec":[1.0],"spec-id":3}"#;
    insta::assert_snapshot!(PartitionSpec::parse(&raw(text)).unwrap().to_json(), @r#"{"spec-id":3,"fields":[{"name":"a_b","transform":"bucket[4]","source-id":1,"field-id":1000,"x-field":{ }},{"name":"z","transform":"zorder","source-ids":[1,2],"field-id":1001}],"x-spec":[1.0]}"#);
}

#[test]
fn wrong_specs_are_refused() {
    let bad = [
        "[]",
        r#"{"spec-id":0}"#,
        r#"{"fields":[]}"#,
        r#"{"spec-id":0,"fields":{}}"#,
        r#"{"spec-id":0,"fields":[1]}"#,
        r#"{"spec-id":0,"fields":[{"name":"a","transform":"identity"}]}"#,
        r#"{"spec-id":0,"fields":[{"source-id":1,"transform":"identity"}]}"#,
        r#"{"spec-id":0,"fields":[{"source-id":1,"name":"a","transform":"truncate[4294967296]"}]}"#,
        r#"{"spec-id":0,"fields":[{"source-id":1,"name":"a","transform":"identity","field-id":1000},
            {"source-id":1,"name":"b","transform":"void"}]}"#,
    ];
    let lines: Vec<_> = bad.iter().map(|text| PartitionSpec::parse(&raw(text)).unwrap_err().to_string()).collect();
    insta::assert_snapshot!(lines.join("\n"), @r#"
    Cannot parse spec from non-object: []
    Cannot parse missing field: fields
    Cannot parse missing int: spec-id
    Cannot parse partition spec fields, not an array: {}
    Cannot parse partition field, not an object: 1
    Cannot parse missing int: source-id
    Cannot parse missing string: name
    Invalid transform: truncate[4294967296]: 4294967296 is out of range
    Cannot parse spec with missing field IDs: 1 missing of 2 fields.
    "#);
}

#[test]
fn missing_ids_are_the_next_free_or_those_of_equal_fields() {
    let unbound = |fields: &str| UnboundPartitionSpec::parse(&raw(&format!(r#"{{"fields":[{fields}]}}"#))).unwrap();
    let ids = |spec: &PartitionSpec| spec.fields.iter().map(|field| field.field_id).collect::<Vec<_>>();
    let without = r#"{"source-id":1,"name":"b","transform":"bucket[4]"},{"source-id":2,"name":"d","transform":"day"}"#;
    assert_eq!(ids(&unbound(without).with_ids(UNPARTITIONED_LAST_ID, &[])), [1000, 1001]);
    let known = [spec(&field("\"source-id\":1", 1007, "other name", "bucket[4]"))];
    assert_eq!(ids(&unbound(without).with_ids(1007, &known)), [1007, 1008]);
    let with = field("\"source-id\":1", 1020, "b", "bucket[4]");
    assert_eq!(ids(&unbound(&with).with_ids(1007, &known)), [1020]);
    assert_eq!(ids(&unbound(&with).with_fresh_ids()), [1000]);
    assert_eq!(ids(&PartitionSpec::parse(&raw(r#"{"spec-id":0,"fields":[]}"#)).unwrap()), [0; 0]);
    let legacy = UnboundPartitionSpec::parse_fields(&raw(&format!("[{without}]"))).unwrap();
    let legacy = legacy.with_ids(UNPARTITIONED_LAST_ID, &[]);
    assert!(legacy.has_sequential_ids() && legacy.last_assigned_field_id() == 1001 && legacy.spec_id == 0);
}

#[test]
fn specs_are_checked_with_javas_texts() {
    let (one, two) = ("\"source-id\":1", "\"source-id\":2");
    let bad = [
        field("\"source-id\":9", 1000, "n", "identity"),
        field("\"source-id\":3", 1000, "n", "identity"),
        field("\"source-id\":8", 1000, "n", "identity"),
        field("\"source-id\":7", 1000, "n", "bucket[4]"),
        field("\"source-id\":6", 1000, "n", "identity"),
        field(one, 1000, "t", "identity"),
        field(one, 1000, "", "identity"),
        [field(one, 1000, "n", "identity"), field(two, 1001, "n", "day")].join(","),
        [field(one, 1000, "n", "bucket[4]"), field(one, 1001, "m", "bucket[4]")].join(","),
        [field(one, 1000, "n", "bucket[4]"), field(two, 1000, "m", "day")].join(","),
        field("\"source-ids\":[1,2]", 1000, "n", "zorder"),
    ];
    let lines: Vec<_> =
        bad.iter().map(|fields| spec(fields).check_against(&schema()).unwrap_err().to_string()).collect();
    insta::assert_snapshot!(lines.join("\n"), @r#"
    Cannot find source column for partition field: 1000: n: identity(9)
    Cannot partition by non-primitive source field: struct<4: x: optional string>
    Cannot partition by non-primitive source field: variant
    Invalid source type float for transform: bucket[4]
    Invalid partition field parent: list<int>
    Cannot create identity partition sourced from different field in schema: t
    Cannot use empty partition name: 
    Cannot use partition name more than once: n
    Cannot add redundant partition: 1000: n: bucket[4](1) conflicts with 1001: m: bucket[4](1)
    Cannot use partition field id more than once: 1000: m: day(2)
    Cannot parse missing int: source-id
    "#);
    for good in [
        String::new(),
        field(one, 1000, "a", "identity"),
        field(one, 1000, "a", "bucket[4]"),
        field("\"source-id\":4", 1000, "s.x", "truncate[2]"),
        field("\"source-id\":9", 1000, "dropped", "void"),
        field("\"source-id\":8", 1000, "z", "zorder").replace("\"source-id\":8", one),
        [field(two, 1000, "d", "day"), field(two, 1001, "h", "hour")].join(","),
        [field(one, 1000, "n", "void"), field(one, 1001, "m", "void")].join(","),
        field("\"source-id\":1,\"source-ids\":[1]", 1000, "n", "identity"),
    ] {
        assert_eq!(spec(&good).check_against(&schema()), Ok(()), "{good}");
    }
}

#[test]
fn compatible_specs_differ_in_ids_only() {
    let one = spec(&field("\"source-id\":1", 1000, "n", "bucket[4]"));
    assert!(one.compatible_with(&spec(&field("\"source-id\":1", 1005, "n", "BUCKET[04]")).with_id(9)));
    for other in [
        field("\"source-id\":2", 1000, "n", "bucket[4]"),
        field("\"source-id\":1", 1000, "m", "bucket[4]"),
        field("\"source-id\":1", 1000, "n", "bucket[5]"),
        String::new(),
    ] {
        assert!(!one.compatible_with(&spec(&other)), "{other}");
    }
}

#[test]
fn sources_follow_their_columns() {
    let new_of_old = HashMap::from([(1, 10), (2, 20)]);
    let fields = [field("\"source-id\":2", 1000, "n", "day"), field("\"source-id\":9", 1001, "v", "void")].join(",");
    let moved = spec(&fields).with_sources(&new_of_old).unwrap();
    assert_eq!(moved.fields.iter().map(|field| field.source.ids()).collect::<Vec<_>>(), [[20], [9]]);
    let lost = spec(&field("\"source-id\":9", 1000, "n", "day")).with_sources(&new_of_old);
    assert_eq!(lost.unwrap_err().to_string(), "Cannot find source column for partition field: 1000: n: day(9)");
}
