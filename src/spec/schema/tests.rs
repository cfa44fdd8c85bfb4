use proptest::prelude::*;

use super::*;
use crate::spec::types::{ListType, MapType, Primitive};

fn parse(text: &str) -> Result<Schema> {
    Schema::parse(&serde_json::from_str::<Raw>(text).unwrap())
}

fn schema(fields: &str) -> Schema {
    parse(&format!(r#"{{"type":"struct","fields":[{fields}]}}"#)).unwrap()
}

/// A struct in a list in a map in a struct, with the highest ids outside.
fn nested() -> Schema {
    parse(
        r#"{"type":"struct","schema-id":7,"identifier-field-ids":[20],"fields":[
            {"id":50,"name":"m","required":false,"type":{"type":"map","key-id":40,"key":"string","value-id":41,
             "value":{"type":"struct","fields":[{"id":30,"name":"x","required":true,"type":"int"},
              {"id":31,"name":"y","required":false,"type":{"type":"list","element-id":32,"element-required":false,
               "element":{"type":"struct","fields":[{"id":33,"name":"z","required":false,"type":"uuid"}]}}}]},
             "value-required":false}},
            {"id":20,"name":"k","required":true,"type":"long"},
            {"id":51,"name":"s","required":true,"type":{"type":"struct","fields":[
             {"id":52,"name":"k","required":true,"type":"date"}]}}]}"#,
    )
    .unwrap()
}

fn ids(schema: &Schema) -> Vec<(String, i32)> {
    let mut ids = Vec::new();
    schema.for_each_field(&mut |parents, field| ids.push((lookup::full_name(parents, field), field.id)));
    ids.sort_by_key(|(_, id)| *id);
    ids
}

#[test]
fn unknown_members_survive_at_every_level() {
    let text = r#"{"type":"struct","schema-id":1,"fields":[
        {"id":1,"name":"a","required":true,"type":"long","x-field":{"a": [1.50, null]}},
        {"id":2,"name":"b","required":false,"type":{"type":"list","element-id":3,"element":{"type":"struct","fields":[
            {"id":4,"name":"c","required":false,"type":"vector(3)","initial-default":[1, 2],"x-deep":9007199254740993}],
            "x-struct":true},"element-required":false,"x-list":"é\n"}},
        {"id":5,"name":"d","required":false,"type":{"type":"map","key-id":6,"key":"string","value-id":7,"value":"int",
            "value-required":true,"x-map":{}}}],"x-schema":1e400}"#;
    let written = parse(text).unwrap().to_json();
    for member in [
        r#""x-field":{"a": [1.50, null]}"#,
        r#""x-deep":9007199254740993"#,
        r#""x-struct":true"#,
        r#""x-list":"é\n""#,
        r#""x-map":{}"#,
        r#""x-schema":1e400"#,
        r#""type":"vector(3)""#,
        r#""initial-default":[1, 2]"#,
    ] {
        assert!(written.get().contains(member), "{member} is not in {written}");
    }
    assert!(parse(written.get()).unwrap().same_as(&parse(text).unwrap()));
}

#[test]
fn a_schema_is_written_as_java_writes_it() {
    let text = r#"{"fields":[{"write-default":2,"doc":"d","type":"INT","required":true,"name":"a","id":1,
        "initial-default":null},{"id":2,"name":"g","required":false,"type":"geometry","doc":null}],
        "identifier-field-ids":[1],"type":"struct"}"#;
    insta::assert_snapshot!(parse(text).unwrap().to_json(), @r#"{"type":"struct","schema-id":0,"identifier-field-ids":[1],"fields":[{"id":1,"name":"a","required":true,"type":"int","doc":"d","write-default":2},{"id":2,"name":"g","required":false,"type":"geometry"}]}"#);
}

#[test]
fn fresh_ids_go_to_all_fields_of_a_struct_first() {
    let (fresh, new_of_old) = nested().assign_fresh_ids();
    let order: Vec<_> = ids(&fresh).into_iter().map(|(name, id)| format!("{id} {name}")).collect();
    insta::assert_snapshot!(order.join("\n"), @r#"
    1 m
    2 k
    3 s
    4 m.key
    5 m.value
    6 m.value.x
    7 m.value.y
    8 m.value.y.element
    9 m.value.y.element.z
    10 s.k
    "#);
    assert_eq!(fresh.identifier_field_ids, [new_of_old[&20]]);
    assert_eq!(fresh.schema_id, 7);
    assert_eq!(new_of_old[&33], fresh.find_by_name("m.value.y.element.z").unwrap().id);
}

#[test]
fn fields_are_found_by_id_and_by_name() {
    let schema = nested();
    assert_eq!(schema.highest_field_id(), 52);
    assert_eq!(schema.find_field(33).unwrap().name, "z");
    assert!(schema.find_field(34).is_none());
    assert_eq!(schema.column_name(33).unwrap(), "m.value.y.element.z");
    assert_eq!(schema.column_name(41).unwrap(), "m.value");
    assert_eq!(schema.column_name(1), None);
    for (name, id) in [
        ("m", Some(50)),
        ("m.key", Some(40)),
        ("m.value.y.element.z", Some(33)),
        ("m.y.z", Some(33)),
        ("m.x", Some(30)),
        ("s.k", Some(52)),
        ("k", Some(20)),
        ("K", None),
        ("m.", None),
        ("", None),
    ] {
        assert_eq!(schema.find_by_name(name).map(|field| field.id), id, "{name}");
    }
    assert_eq!(schema.parents_of(33).unwrap().iter().map(|field| field.id).collect::<Vec<_>>(), [50, 41, 31, 32]);
}

#[test]
fn what_java_cannot_read_is_refused() {
    let bad = [
        "[]",
        r#"{"type":"list","fields":[]}"#,
        r#"{"type":"struct"}"#,
        r#"{"type":"struct","fields":{}}"#,
        r#"{"type":"struct","fields":[1]}"#,
        r#"{"type":"struct","fields":[{"name":"a","required":true,"type":"int"}]}"#,
        r#"{"type":"struct","fields":[{"id":1,"name":"a","type":"int"}]}"#,
        r#"{"type":"struct","fields":[{"id":1,"name":"a","required":true,"type":{"type":"set"}}]}"#,
        r#"{"type":"struct","fields":[{"id":1,"name":"a","required":true,"type":7}]}"#,
        r#"{"type":"struct","fields":[{"id":1,"name":"a","required":true,"type":"unknown"}]}"#,
        r#"{"type":"struct","fields":[{"id":1,"name":"a","required":true,"type":"int","write-default":"1"}]}"#,
        r#"{"type":"struct","fields":[{"id":1,"name":"a","required":true,"type":"int"},
            {"id":1,"name":"b","required":true,"type":"int"}]}"#,
        r#"{"type":"struct","fields":[{"id":1,"name":"a.b","required":true,"type":"int"},
            {"id":2,"name":"a","required":true,"type":{"type":"struct","fields":[
             {"id":3,"name":"b","required":true,"type":"int"}]}}]}"#,
    ];
    let lines: Vec<_> = bad.iter().map(|text| parse(text).unwrap_err().to_string()).collect();
    insta::assert_snapshot!(lines.join("\n"), @r#"
    Cannot parse object from non-object value: []
    Cannot create schema, not a struct type: {"type":"list","fields":[]}
    Cannot parse missing field: fields
    Cannot parse struct fields from non-array: {}
    Cannot parse struct field from non-object: 1
    Cannot parse missing int: id
    Cannot parse missing boolean: required
    Cannot parse type from json: {"type":"set"}
    Cannot parse type from json: 7
    Cannot create required field with unknown type: a
    Cannot parse default as a int value: "1"
    Invalid schema: multiple fields for id 1: a and b
    Invalid schema: multiple fields for name a.b: 1 and 3
    "#);
}

#[test]
fn identifier_fields_must_identify() {
    let fields = r#"{"id":1,"name":"l","required":true,"type":"long"},{"id":2,"name":"o","required":false,"type":"long"},
        {"id":3,"name":"f","required":true,"type":"double"},
        {"id":4,"name":"s","required":false,"type":{"type":"struct","fields":[
            {"id":5,"name":"x","required":true,"type":"int"}]}},
        {"id":6,"name":"a","required":true,"type":{"type":"list","element-id":7,"element":"int","element-required":true}},
        {"id":8,"name":"r","required":true,"type":{"type":"struct","fields":[
            {"id":9,"name":"x","required":true,"type":"int"}]}},
        {"id":10,"name":"v","required":true,"type":"variant"}"#;
    let with = |id: i32| parse(&format!(r#"{{"type":"struct","identifier-field-ids":[{id}],"fields":[{fields}]}}"#));
    assert!(with(1).is_ok() && with(9).is_ok());
    let lines: Vec<_> = [2, 3, 4, 5, 7, 10, 11].iter().map(|id| with(*id).unwrap_err().to_string()).collect();
    insta::assert_snapshot!(lines.join("\n"), @r#"
    Cannot add field o as an identifier field: not a required field
    Cannot add field f as an identifier field: must not be float or double field
    Cannot add field s as an identifier field: not a primitive type field
    Cannot add field x as an identifier field: must not be nested in an optional field 4: s: optional struct<5: x: required int>
    Cannot add field element as an identifier field: must not be nested in 6: a: required list<int>
    Cannot add field v as an identifier field: not a primitive type field
    Cannot add fieldId 11 as an identifier field: field does not exist
    "#);
}

#[test]
fn format_versions_have_their_types_and_defaults() {
    let schema = schema(
        r#"{"id":9,"name":"v","required":false,"type":"variant"},
        {"id":2,"name":"d","required":false,"type":"string","initial-default":"x","write-default":"y"},
        {"id":3,"name":"w","required":false,"type":"int","write-default":1},
        {"id":4,"name":"l","required":false,"type":{"type":"list","element-id":5,"element":"timestamp_ns",
         "element-required":false}}"#,
    );
    assert_eq!(schema.check_compatible(3), Ok(()));
    insta::assert_snapshot!(schema.check_compatible(2).unwrap_err(), @r#"
    Invalid schema for v2:
    - Invalid initial default for d: non-null default (x) is not supported until v3
    - Invalid type for l.element: timestamp_ns is not supported until v3
    - Invalid type for v: variant is not supported until v3
    "#);
}

#[test]
fn more_is_demanded_of_what_is_added() {
    let unknown = schema(r#"{"id":1,"name":"a","required":false,"type":"vector(3)"}"#);
    assert_eq!(unknown.check_valid().unwrap_err().to_string(), "Cannot parse type string to primitive: vector(3)");
    let reserved = schema(r#"{"id":2147483540,"name":"_row_id","required":false,"type":"long"}"#);
    assert_eq!(
        reserved.check_valid().unwrap_err().to_string(),
        "Invalid schema: field id 2147483540 of _row_id is reserved (above 2147483447)"
    );
    assert_eq!(nested().check_valid(), Ok(()));
}

#[test]
fn equality_ignores_number_and_spelling_and_nothing_else() {
    let base = r#"{"id":1,"name":"a","required":false,"type":"decimal(9, 2)","initial-default":"1.00","doc":"d"}"#;
    assert!(schema(base).same_as(&schema(base).with_id(9)));
    for (from, to) in [("decimal(9, 2)", "DECIMAL(9,2)"), ("1.00", "+1.00"), ("\"doc\":\"d\"", "\"doc\":\"\\u0064\"")] {
        assert!(schema(base).same_as(&schema(&base.replace(from, to))), "{to}");
    }
    for (from, to) in [
        ("\"id\":1", "\"id\":2"),
        ("\"a\"", "\"A\""),
        ("false", "true"),
        ("decimal(9, 2)", "decimal(10, 2)"),
        ("1.00", "1.01"),
        ("initial-default", "write-default"),
        ("\"doc\":\"d\"", "\"doc\":\"e\""),
        ("\"doc\":\"d\"", "\"doc\":null"),
        ("\"doc\":\"d\"", "\"doc\":\"d\",\"x\":1"),
    ] {
        assert!(!schema(base).same_as(&schema(&base.replace(from, to))), "{to}");
    }
}

#[test]
fn hostile_schemas_are_refused_cheaply() {
    let deep = |levels: usize| {
        let open = r#"{"type":"list","element-id":1,"element-required":false,"element":"#.repeat(levels);
        parse(&format!(
            r#"{{"type":"struct","fields":[{{"id":0,"name":"a","required":false,"type":{open}"int"{}}}]}}"#,
            "}".repeat(levels)
        ))
    };
    assert!(deep(1_000).unwrap_err().to_string().contains("nested more than 64 deep"));
    let long = "n".repeat(1 << 20);
    let fields: Vec<_> =
        (1..40).map(|id| format!(r#"{{"id":{id},"name":"{id}","required":false,"type":"int"}}"#)).collect();
    let text = format!(
        r#"{{"type":"struct","fields":[{{"id":0,"name":"{long}","required":true,"type":{{"type":"struct","fields":[{}]}}}}]}}"#,
        fields.join(",")
    );
    assert_eq!(parse(&text).unwrap_err().to_string(), "Invalid schema: the names of its fields are too long");
}

/// Any type, with unknown members here and there; ids are given later.
fn any_type() -> impl Strategy<Value = Type> {
    let leaf = prop_oneof![
        Just(Type::Primitive(Primitive::Long)),
        Just(Type::Primitive(Primitive::Decimal { precision: 9, scale: 2 })),
        Just(Type::Primitive(Primitive::Geography { crs: Some("srid:1".to_owned()), algorithm: None })),
        Just(Type::Variant),
        Just(Type::Other("vector(3)".to_owned())),
    ];
    leaf.prop_recursive(4, 40, 5, |inner| {
        let part = |name: &'static str| {
            (inner.clone(), any::<bool>()).prop_map(move |(part, required)| Field::new(0, name, required, part))
        };
        prop_oneof![
            (prop::collection::vec(inner.clone(), 0..5), any_rest())
                .prop_map(|(types, rest)| Type::Struct(StructType { fields: numbered(types), rest })),
            (part("element"), any_rest()).prop_map(|(element, rest)| Type::List(Box::new(ListType { element, rest }))),
            (part("key"), part("value"), any_rest()).prop_map(|(mut key, value, rest)| {
                key.required = true;
                Type::Map(Box::new(MapType { key, value, rest }))
            }),
        ]
    })
}

fn any_rest() -> impl Strategy<Value = Object> {
    prop_oneof![
        2 => Just(Object::default()),
        1 => ("x-[a-z]{1,3}", r"-?[1-9][0-9]{0,20}(\.[0-9]{1,3})?").prop_map(|(name, number)| {
            Object::parse(&format!("{{{name:?}:{{\"of\" : {number}}}}}")).unwrap()
        }),
    ]
}

fn numbered(types: Vec<Type>) -> Vec<Field> {
    types.into_iter().enumerate().map(|(at, part)| Field::new(0, format!("f{at}"), at % 2 == 0, part)).collect()
}

proptest! {
    #[test]
    fn strange_type_names_are_kept_or_refused(name in "(decimal|fixed|geometry|geography)?[(\\[ ]*[a-z0-9,é)]{0,6}[)\\]]?") {
        let raw = crate::spec::json::raw_string(&name);
        if let Ok(read) = Type::parse(&raw) {
            let mut written = String::new();
            read.write(&mut written);
            let again = Type::parse(&serde_json::from_str::<Raw>(&written).unwrap()).unwrap();
            prop_assert!(same_type(&read, &again), "{} became {}", name, written);
        }
    }

    #[test]
    fn fresh_ids_count_from_one_and_change_nothing_else(types in prop::collection::vec(any_type(), 0..5)) {
        let (fresh, _) = Schema::new(0, numbered(types)).assign_fresh_ids();
        let found: Vec<_> = ids(&fresh).into_iter().map(|(_, id)| id).collect();
        prop_assert_eq!(found, (1..=fresh.highest_field_id()).collect::<Vec<_>>());
        prop_assert!(fresh.assign_fresh_ids().0.same_as(&fresh));
    }

    #[test]
    fn what_is_written_reads_back_equal(types in prop::collection::vec(any_type(), 0..5)) {
        let (schema, _) = Schema::new(3, numbered(types)).assign_fresh_ids();
        let text = schema.to_json();
        let read = Schema::parse(&text).unwrap();
        prop_assert!(read.same_as(&schema));
        prop_assert_eq!(read.to_json().to_string(), text.to_string());
    }

    #[test]
    fn every_field_is_found_by_its_name(types in prop::collection::vec(any_type(), 0..5)) {
        let (schema, _) = Schema::new(0, numbered(types)).assign_fresh_ids();
        for (name, id) in ids(&schema) {
            prop_assert_eq!(schema.find_by_name(&name).map(|field| field.id), Some(id));
            prop_assert_eq!(schema.column_name(id), Some(name));
        }
    }
}
