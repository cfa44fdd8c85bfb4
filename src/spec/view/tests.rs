use super::*;
use crate::spec::json::Raw;

const NOW: i64 = 1_700_000_000_000;

/// Cases with the answers of Iceberg Java 1.10.2.
const CASES: &str = include_str!("../../../tests/data/metadata/views.jsonl");

struct Case {
    kind: String,
    name: String,
    input: String,
    accepted: bool,
    result: serde_json::Value,
}

fn cases(kind: &str) -> Vec<Case> {
    let case = |line: &str| {
        let row: serde_json::Value = serde_json::from_str(line).unwrap();
        let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
        let java = &row["java_1_10_2"];
        Case {
            kind: text(&row["kind"]),
            name: text(&row["name"]),
            input: text(&row["input"]),
            accepted: java["accepted"].as_bool().unwrap(),
            result: serde_json::from_str(&text(&java["result"])).unwrap_or(java["result"].clone()),
        }
    };
    CASES.lines().map(case).filter(|case| case.kind == kind).collect()
}

fn base() -> ViewMetadata {
    ViewMetadata::parse(cases("views")[0].input.as_bytes()).unwrap()
}

fn value(view: &ViewMetadata) -> serde_json::Value {
    serde_json::from_slice(&view.to_bytes()).unwrap()
}

fn update(text: &str) -> ViewUpdate {
    ViewUpdate::parse(&serde_json::from_str::<Raw>(text).unwrap()).unwrap()
}

/// `add-view-version` with a query in each dialect.
fn add_version(id: i32, schema_id: i32, sql: &str, dialects: &[&str]) -> ViewUpdate {
    let forms: Vec<_> =
        dialects.iter().map(|dialect| format!(r#"{{"type":"SQL","sql":"{sql}","dialect":"{dialect}"}}"#)).collect();
    update(&format!(
        r#"{{"action":"add-view-version","view-version":{{"version-id":{id},"schema-id":{schema_id},
        "timestamp-ms":1650000000000,"summary":{{}},"default-namespace":["a","b"],"representations":[{}]}}}}"#,
        forms.join(",")
    ))
}

fn set_current(id: i32) -> ViewUpdate {
    ViewUpdate::SetCurrentViewVersion(id)
}

fn set_property(key: &str, value: &str) -> ViewUpdate {
    ViewUpdate::SetProperties(vec![(key.to_owned(), value.to_owned())])
}

fn add_schema(column: &str) -> ViewUpdate {
    update(&format!(
        r#"{{"action":"add-schema","last-column-id":1,"schema":{{"type":"struct","schema-id":77,
        "fields":[{{"id":1,"name":"{column}","required":false,"type":"int","doc":"d"}}]}}}}"#
    ))
}

fn apply(updates: &[ViewUpdate]) -> Result<AppliedView> {
    apply_view(&base(), updates, NOW)
}

fn refusal(updates: &[ViewUpdate]) -> String {
    apply(updates).unwrap_err().to_string()
}

fn versions(view: &ViewMetadata) -> Vec<i32> {
    view.versions.iter().map(|version| version.version_id).collect()
}

fn log(view: &ViewMetadata) -> Vec<(i64, i32)> {
    view.version_log.iter().map(|entry| (entry.timestamp_ms, entry.version_id)).collect()
}

#[test]
fn metadata_files_are_read_as_java_reads_them() {
    for case in cases("views") {
        let read = ViewMetadata::parse(case.input.as_bytes());
        assert_eq!(read.is_ok(), case.accepted, "{}: {read:?}", case.name);
        let Ok(view) = read else { continue };
        let (mut written, input): (_, serde_json::Value) = (value(&view), serde_json::from_str(&case.input).unwrap());
        assert_eq!(written, input, "{}: what we write is what we read", case.name);
        drop_unknown(&mut written);
        assert_eq!(written, case.result, "{}: what Java knows is what Java writes", case.name);
    }
}

fn drop_unknown(value: &mut serde_json::Value) {
    match value {
        serde_json::Value::Object(members) => {
            members.retain(|name, _| name != "x-unknown");
            members.values_mut().for_each(drop_unknown);
        }
        serde_json::Value::Array(items) => items.iter_mut().for_each(drop_unknown),
        _ => {}
    }
}

#[test]
fn updates_are_read_as_java_reads_them() {
    for case in cases("vupdates") {
        let read = ViewUpdate::parse(&serde_json::from_str::<Raw>(&case.input).unwrap());
        assert_eq!(read.is_ok(), case.accepted, "{}: {read:?}", case.name);
    }
    assert!(matches!(update(r#"{"action":"SET-PROPERTIES","updated":{"a":"b"}}"#), ViewUpdate::SetProperties(_)));
    let unknown: Raw = serde_json::from_str(r#"{"action":"set-current-schema","schema-id":0}"#).unwrap();
    let error = ViewUpdate::parse(&unknown).unwrap_err();
    assert_eq!(error.to_string(), "Cannot apply update set-current-schema to a view");
}

#[test]
fn unknown_members_survive_updates() {
    let text = String::from_utf8(base().to_bytes()).unwrap();
    let text = text.replacen('{', r#"{"x-top":1.50,"#, 1).replace(r#""name":"x""#, r#""name":"x","x-field":[ ]"#);
    let text = text.replace(r#""dialect":"spark""#, r#""dialect":"spark","x-sql":1"#);
    let view = ViewMetadata::parse(text.as_bytes()).unwrap();
    let updates = [add_version(2, 0, "select 2", &["spark", "trino"]), set_current(-1)];
    let written = apply_view(&view, &updates, NOW).unwrap().metadata.to_bytes();
    let written = String::from_utf8(written).unwrap();
    for member in [r#""x-top":1.50"#, r#""x-field":[ ]"#, r#""x-sql":1"#] {
        assert!(written.contains(member), "{member} is not in {written}");
    }
}

#[test]
fn wrong_metadata_is_refused() {
    let text = String::from_utf8(base().to_bytes()).unwrap();
    let version =
        r#"{"version-id":1,"timestamp-ms":1,"schema-id":0,"summary":{},"default-namespace":[],"representations":[]}"#;
    let bad = [
        text.replace(r#""current-version-id":1"#, r#""current-version-id":2"#),
        text.replace(r#""schema-id":0,"summary""#, r#""schema-id":3,"summary""#),
        text.replace("version-log", "log"),
        text.replace(r#""comment":"c""#, r#""comment":1"#),
        text.replace(r#""format-version":1"#, r#""format-version":0"#),
        text.replace(r#""default-namespace":["a","b"],"#, ""),
        text.replace(r#""schemas":["#, r#""schemas":[{"type":"struct","fields":[]},"#),
        text.replace(r#""versions":["#, &format!(r#""versions":[{version},"#)),
    ];
    let lines: Vec<_> = bad.iter().map(|text| ViewMetadata::parse(text.as_bytes()).unwrap_err().to_string()).collect();
    insta::assert_snapshot!(lines.join("\n"), @r#"
    Cannot find current version 2 in view versions: [1]
    Cannot find current schema with id 3 in schemas: [0]
    Cannot parse missing list: version-log
    Cannot parse to a string value: comment: 1
    Unsupported format version: 0
    Cannot parse missing list: default-namespace
    Invalid view: multiple schemas with id 0
    Invalid view: multiple versions with id 1
    "#);
}

#[test]
fn a_replace_adds_a_version_and_logs_it() {
    let applied =
        apply(&[add_schema("y"), add_version(2, -1, "select 2", &["spark", "trino"]), set_current(-1)]).unwrap();
    let view = applied.metadata;
    assert!(applied.changed);
    assert_eq!((view.current_version_id, view.current_version().unwrap().schema_id), (2, 1));
    assert_eq!(log(&view), [(1_573_518_431_292, 1), (1_650_000_000_000, 2)]);
    let back = apply_view(&view, &[set_current(1)], NOW).unwrap().metadata;
    assert_eq!(log(&back).last(), Some(&(NOW, 1)), "an old version becomes current now");
}

#[test]
fn concurrent_replaces_get_other_numbers() {
    let first = apply(&[add_version(2, 0, "select 2", &["spark", "trino"]), set_current(-1)]).unwrap().metadata;
    let second = [add_version(2, 0, "select 3", &["spark", "trino"]), set_current(-1)];
    let view = apply_view(&first, &second, NOW).unwrap().metadata;
    assert_eq!((view.current_version_id, versions(&view)), (3, vec![1, 2, 3]));
}

#[test]
fn equal_schemas_and_versions_are_found_again() {
    let replace = [add_schema("x"), add_version(2, -1, "select 2", &["spark", "trino"]), set_current(-1)];
    let once = apply(&replace).unwrap().metadata;
    assert_eq!(once.schemas.len(), 1);
    let twice = apply_view(&once, &replace, NOW).unwrap();
    assert!(!twice.changed);
    assert_eq!(value(&twice.metadata), value(&once));
}

#[test]
fn nothing_to_do_changes_nothing() {
    let same = base();
    let updates = [
        ViewUpdate::AssignUuid(same.view_uuid.clone()),
        ViewUpdate::UpgradeFormatVersion(1),
        ViewUpdate::SetLocation(format!("{}//", same.location)),
        ViewUpdate::SetProperties(Vec::new()),
        ViewUpdate::RemoveProperties(Vec::new()),
        add_schema("x"),
        set_current(1),
    ];
    let applied = apply(&updates).unwrap();
    assert!(!applied.changed);
    assert_eq!(value(&applied.metadata), value(&same));
}

#[test]
fn properties_and_location_change() {
    let updates = [
        set_property("a", "b"),
        ViewUpdate::RemoveProperties(vec!["comment".to_owned(), "none".to_owned()]),
        ViewUpdate::SetLocation("s3://b/other/".to_owned()),
    ];
    let view = apply(&updates).unwrap().metadata;
    assert_eq!(view.properties.iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>(), ["a=b"]);
    assert_eq!(view.location, "s3://b/other");
}

#[test]
fn updates_that_cannot_be_are_refused() {
    let drop_trino = [add_version(2, 0, "select 2", &["SPARK"]), set_current(-1)];
    let other = r#"{"action":"add-view-version","view-version":{"version-id":2,"schema-id":0,"timestamp-ms":1,
        "summary":{},"default-namespace":[],"representations":[{"type":"substrait","plan":[]}]}}"#;
    let lines = [
        refusal(&[ViewUpdate::AssignUuid("other".to_owned())]),
        refusal(&[ViewUpdate::UpgradeFormatVersion(2)]),
        refusal(&[ViewUpdate::UpgradeFormatVersion(0)]),
        refusal(&[ViewUpdate::SetLocation(String::new())]),
        refusal(&[add_version(2, 5, "select 2", &["spark"])]),
        refusal(&[add_version(2, -1, "select 2", &["spark"])]),
        refusal(&[add_version(2, 0, "select 2", &["trino", "spark", "Trino"])]),
        refusal(&[update(other)]),
        refusal(&[set_current(-1)]),
        refusal(&[set_current(4)]),
        refusal(&[add_version(i32::MAX, 0, "2", &["spark"]), add_version(2, 0, "3", &["spark"])]),
        refusal(&[set_property("version.history.num-entries", "0")]),
        refusal(&[set_property("version.history.num-entries", "many")]),
        refusal(&drop_trino),
    ];
    insta::assert_snapshot!(lines.join("\n"), @r#"
    Cannot reassign uuid
    Unsupported format version: 2
    Cannot downgrade v1 view to v0
    Invalid location: empty
    Cannot add version with unknown schema: 5
    Cannot set last added schema: no schema has been added
    Invalid view version: Cannot add multiple queries for dialect trino
    Found unsupported view representations: [substrait]
    Cannot set last version id: no current version id has been set
    Cannot set current version to unknown version: 4
    Cannot add version: there is no number left for it
    version.history.num-entries must be positive but was 0
    version.history.num-entries must be positive but was many
    Cannot replace view due to loss of view dialects (replace.drop-dialect.allowed=false):
    Previous dialects: [spark, trino]
    New dialects: [spark]
    "#);
    let allowed = [&[set_property("replace.drop-dialect.allowed", "True")][..], &drop_trino].concat();
    assert!(apply(&allowed).is_ok());
    let duplicate = apply(&[add_version(2, 0, "2", &["a", "A"])]).unwrap_err();
    assert!(matches!(duplicate, Error::IllegalArgument(_)));
}

#[test]
fn old_versions_are_dropped_and_the_log_before_them() {
    let mut view = base();
    for id in 2..=12 {
        let updates = [add_version(id, 0, &format!("select {id}"), &["spark", "trino"]), set_current(-1)];
        view = apply_view(&view, &updates, NOW).unwrap().metadata;
    }
    assert_eq!(versions(&view), (3..=12).collect::<Vec<_>>(), "ten are kept");
    assert_eq!(log(&view).iter().map(|(_, id)| *id).collect::<Vec<_>>(), (3..=12).collect::<Vec<_>>());
    let back = [set_current(3), set_property("version.history.num-entries", "2")];
    view = apply_view(&view, &back, NOW).unwrap().metadata;
    assert_eq!(versions(&view), [3, 12], "the current one is kept, and the newest");
    assert_eq!(log(&view).iter().map(|(_, id)| *id).collect::<Vec<_>>(), [12, 3]);
    let added: Vec<_> = (20..=22).map(|id| add_version(id, 0, &format!("{id}"), &["spark", "trino"])).collect();
    view = apply_view(&view, &added, NOW).unwrap().metadata;
    assert_eq!(versions(&view), [3, 20, 21, 22], "what was just added is kept");
}

#[test]
fn a_created_view_has_one_version_and_one_schema() {
    let body = |representations: &str| {
        format!(
            r#"{{"name":"v","location":null,"properties":{{"k":"v"}},"x":1,"schema":{{"type":"struct","schema-id":5,
            "fields":[{{"id":1,"name":"x","required":false,"type":"variant"}}]}},"view-version":{{"version-id":9,
            "schema-id":5,"timestamp-ms":1650000000000,"summary":{{"engine-name":"Spark"}},"default-namespace":[],
            "representations":[{representations}]}}}}"#
        )
    };
    let create = |representations: &str| CreateViewRequest::parse(body(representations).as_bytes()).unwrap();
    let view = create(r#"{"type":"sql","sql":"select 1","dialect":"spark"}"#).build("s3://b/v/", "the-uuid").unwrap();
    insta::assert_snapshot!(String::from_utf8(view.to_bytes()).unwrap(), @r#"{"view-uuid":"the-uuid","format-version":1,"location":"s3://b/v","properties":{"k":"v"},"schemas":[{"type":"struct","schema-id":0,"fields":[{"id":1,"name":"x","required":false,"type":"variant"}]}],"current-version-id":1,"versions":[{"version-id":1,"timestamp-ms":1650000000000,"schema-id":0,"summary":{"engine-name":"Spark"},"default-namespace":[],"representations":[{"type":"sql","sql":"select 1","dialect":"spark"}]}],"version-log":[{"timestamp-ms":1650000000000,"version-id":1}]}"#);
    assert_eq!(value(&ViewMetadata::parse(&view.to_bytes()).unwrap()), value(&view));
    let none = create("").build("s3://b/v", "u").unwrap_err();
    assert_eq!(none, Error::invalid("Cannot create view without specifying a query"));
    let twice = r#"{"type":"sql","sql":"1","dialect":"trino"},{"type":"sql","sql":"2","dialect":"TRINO"}"#;
    let twice = create(twice).build("s3://b/v", "u").unwrap_err();
    let text = "Invalid view version: Cannot add multiple queries for dialect trino";
    assert_eq!(twice, Error::IllegalArgument(text.to_owned()));
}

#[test]
fn commits_name_their_view_and_what_must_hold() {
    let body = r#"{"identifier":{"namespace":["a"],"name":"v"},"requirements":[{"type":"ASSERT-VIEW-UUID",
        "uuid":"FA6506C3-7681-40c8-86dc-e36561f83385"}],"updates":[{"action":"set-location","location":"s3://x"}]}"#;
    let request = CommitViewRequest::parse(body.as_bytes()).unwrap();
    assert_eq!(request.identifier.unwrap().to_string(), "a.v");
    assert_eq!(request.updates.len(), 1);
    assert_eq!(request.requirements[0].check(&base()), Ok(()));
    let other = ViewRequirement::AssertViewUuid("other".to_owned()).check(&base()).unwrap_err();
    let text = "Requirement failed: view UUID does not match: expected fa6506c3-7681-40c8-86dc-e36561f83385 != other";
    assert_eq!(other, Error::conflict(text));
    let table = CommitViewRequest::parse(br#"{"requirements":[{"type":"assert-create"}],"updates":[]}"#).unwrap_err();
    assert_eq!(table, Error::invalid("Cannot validate assert-create against a view"));
    assert!(CommitViewRequest::parse(b"{}").unwrap().updates.is_empty());
}
