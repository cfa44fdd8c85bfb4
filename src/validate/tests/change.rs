//! Commits that change the metadata, each broken by one rule; and those that were right for an older table.

use serde_json::{Value as Json, json};

use super::support::{Commit, new_cache, refused, warned};
use super::writer::{Changes, LOCATION, Table, data};
use crate::spec::{TableMetadata, Transform};
use crate::validate::{Level, Levels, Report};

/// A table of two columns with one snapshot, and a file of statistics beside it.
fn table() -> Table {
    let mut table = Table::new(3, true);
    let file = data("a", 10).in_partition(1);
    table.commit(Changes { operation: Some("append"), data: vec![file], ..Changes::default() });
    table.objects.put(STATISTICS, statistics_file());
    table.objects.put(&format!("{STATISTICS}-not"), "no Puffin file, whatever it is called");
    table
}

const STATISTICS: &str = "gs://warehouse/t/metadata/s.puffin";

fn statistics_file() -> Vec<u8> {
    let blob =
        json!({"type": "ndv", "fields": [1], "snapshot-id": 100, "sequence-number": 1, "offset": 4, "length": 2});
    let footer = json!({"blobs": [blob]}).to_string();
    let size = u32::try_from(footer.len()).unwrap().to_le_bytes();
    [b"PFA1xxPFA1", footer.as_bytes(), &size, &[0; 4], b"PFA1"].concat()
}

fn set_statistics(changes: &Json) -> Json {
    let size = statistics_file().len();
    let mut file = json!({"snapshot-id": 100, "statistics-path": STATISTICS, "file-size-in-bytes": size,
        "file-footer-size-in-bytes": size - 6, "blob-metadata":
        [{"type": "ndv", "snapshot-id": 100, "sequence-number": 1, "fields": [1]}]});
    for (key, value) in changes.as_object().unwrap() {
        file[key] = value.clone();
    }
    json!([{"action": "set-statistics", "statistics": file}])
}

/// A change to the schema: members of its fields by id, and whole fields that are new.
fn schema(changes: &Json) -> Json {
    let mut fields = base_fields();
    for (id, change) in changes.as_object().unwrap() {
        let id: i64 = id.parse().unwrap();
        match fields.iter_mut().find(|field| field["id"] == id) {
            Some(field) => change.as_object().unwrap().iter().for_each(|(key, value)| field[key] = value.clone()),
            None => fields.push(change.clone()),
        }
    }
    let schema = json!({"type": "struct", "schema-id": 1, "fields": fields});
    json!([{"action": "add-schema", "schema": schema}, {"action": "set-current-schema", "schema-id": -1}])
}

fn base_fields() -> Vec<Json> {
    vec![
        json!({"id": 1, "name": "id", "required": false, "type": "long"}),
        json!({"id": 2, "name": "p", "required": false, "type": "int"}),
    ]
}

fn field(id: i32, required: bool, of: impl Into<Json>) -> Json {
    json!({"id": id, "name": format!("f{id}"), "required": required, "type": of.into()})
}

fn map_with_variant_keys() -> Json {
    json!({"type": "map", "key-id": 4, "key": "variant", "value-id": 5, "value": "int", "value-required": false})
}

fn key(id: &str, by: &str) -> Json {
    json!({"key-id": id, "encrypted-key-metadata": "c29tZQ==", "encrypted-by-id": by})
}

/// A rule, a change of the table before the commit (JSON pointers), and updates that break only this rule.
pub(super) fn cases() -> Vec<(&'static str, Json, Json)> {
    let remove_key = || json!([{"action": "remove-encryption-key", "key-id": "k"}]);
    vec![
        ("field-type-changed", json!({}), schema(&json!({"1": {"type": "string"}}))),
        ("field-type-changed", json!({}), schema(&json!({"1": {"type": "int"}}))),
        ("field-type-changed", json!({}), schema(&json!({"1": {"type": {"type": "struct", "fields": []}}}))),
        (
            "promotion-changes-partitions",
            json!({"/schemas/0/fields/1/type": "date"}),
            schema(&json!({"2": {"type": "timestamp"}})),
        ),
        (
            "initial-default-changed",
            json!({"/schemas/0/fields/0/initial-default": 5}),
            schema(&json!({"1": {"initial-default": 6}})),
        ),
        ("initial-default-changed", json!({}), schema(&json!({"1": {"initial-default": 6}}))),
        ("required-field-without-default", json!({}), schema(&json!({"3": field(3, true, "int")}))),
        ("field-made-required", json!({}), schema(&json!({"1": {"required": true}}))),
        ("field-id-reused", json!({"/last-column-id": 9}), schema(&json!({"5": field(5, false, "int")}))),
        ("map-key-type", json!({}), schema(&json!({"3": field(3, false, map_with_variant_keys())}))),
        ("crs", json!({}), schema(&json!({"3": field(3, false, "geometry(projjson:none)")}))),
        ("crs", json!({}), schema(&json!({"3": field(3, false, "geography({\"type\":\"GeographicCRS\"})")}))),
        (
            "removed-key-in-use",
            json!({"/encryption-keys": [key("k", "kek")], "/snapshots/0/key-id": "k"}),
            remove_key(),
        ),
        ("removed-key-in-use", json!({"/encryption-keys": [key("k", "kek"), key("other", "k")]}), remove_key()),
        ("location-changed", json!({}), json!([{"action": "set-location", "location": "gs://warehouse/t2"}])),
        ("statistics-snapshot", json!({}), set_statistics(&json!({"snapshot-id": 99}))),
        ("statistics-file", json!({}), set_statistics(&json!({"statistics-path": format!("{STATISTICS}-none")}))),
        ("statistics-file", json!({}), set_statistics(&json!({"statistics-path": format!("{STATISTICS}-not")}))),
        ("statistics-file", json!({}), set_statistics(&json!({"file-size-in-bytes": 7}))),
        ("statistics-file", json!({}), set_statistics(&json!({"file-footer-size-in-bytes": 7}))),
        (
            "statistics-file",
            json!({}),
            set_statistics(&json!({"blob-metadata":
                [{"type": "ndv", "snapshot-id": 100, "sequence-number": 1, "fields": [2]}]})),
        ),
    ]
}

/// Updates that break nothing.
fn good() -> Vec<(Json, Json)> {
    let new_struct = json!({"type": "struct", "fields": [field(4, true, "int")]});
    let with_defaults = json!({"id": 3, "name": "f3", "required": true, "type": "int",
        "initial-default": 1, "write-default": 2});
    vec![
        (json!({}), schema(&json!({"2": {"type": "long"}, "1": {"name": "renamed", "doc": "d"}}))),
        (json!({}), schema(&json!({"3": with_defaults}))),
        (json!({}), schema(&json!({"3": field(3, false, new_struct)}))),
        (json!({"/properties": {"a": "{}"}}), schema(&json!({"3": field(3, false, "geometry(projjson:a)")}))),
        (json!({}), schema(&json!({"3": field(3, false, "geography(srid:4326, karney)")}))),
        (json!({"/encryption-keys": [key("k", "kek")]}), json!([{"action": "remove-encryption-key", "key-id": "k"}])),
        (json!({}), set_statistics(&json!({}))),
        (json!({}), json!([{"action": "set-location", "location": LOCATION}])),
        // The default of writers may change.
        (json!({"/schemas/0/fields/0/write-default": 5}), schema(&json!({"1": {"write-default": 6}}))),
    ]
}

fn commit(table: &Table, before: &Json, updates: &Json) -> Commit {
    let mut base: Json = serde_json::from_slice(&table.metadata.to_bytes()).unwrap();
    for (pointer, value) in before.as_object().unwrap() {
        let (parent, key) = pointer.rsplit_once('/').unwrap();
        base.pointer_mut(parent).unwrap()[key] = value.clone();
    }
    let base = TableMetadata::parse(base.to_string().as_bytes()).unwrap();
    Commit::of_request(&base, &json!({"requirements": [], "updates": updates}))
}

fn judge(before: &Json, updates: &Json, levels: &Levels) -> Report {
    let table = table();
    commit(&table, before, updates).judge(&table.objects, &new_cache(), levels).unwrap()
}

#[test]
fn each_rule_is_broken_by_its_own_change() {
    for (rule, before, updates) in cases() {
        let mut levels = Levels::default();
        if levels.of(rule) == Level::Off {
            levels.set(rule, "warn").unwrap();
        }
        let report = judge(&before, &updates, &levels);
        let found = (refused(&report), warned(&report));
        let expected = if levels.of(rule) == Level::Deny { (vec![rule], vec![]) } else { (vec![], vec![rule]) };
        assert_eq!(found, expected, "{updates}");
        levels.set(rule, "off").unwrap();
        let report = judge(&before, &updates, &levels);
        assert_eq!((refused(&report), warned(&report)), (vec![], vec![]), "{rule} is off");
    }
}

#[test]
fn changes_that_engines_make_pass() {
    let mut levels = Levels::default();
    levels.set("map-key-type", "deny").unwrap();
    for (before, updates) in good() {
        let report = judge(&before, &updates, &levels);
        assert_eq!((refused(&report), warned(&report)), (vec![], vec![]), "{updates}");
    }
}

#[test]
fn a_table_that_is_replaced_may_have_any_schema() {
    for (rule, before, updates) in cases() {
        let mut replaced = updates.as_array().unwrap().clone();
        replaced.insert(0, json!({"action": "remove-snapshot-ref", "ref-name": "main"}));
        let report = judge(&before, &replaced.into(), &Levels::default());
        let of_schema = ["field-", "promotion-", "initial-", "required-", "map-", "crs", "location-"];
        if of_schema.iter().any(|start| rule.starts_with(start)) {
            assert_eq!((refused(&report), warned(&report)), (vec![], vec![]), "{rule}");
        }
    }
}

#[test]
fn statistics_that_may_not_be_read_are_not_checked() {
    let mut table = table();
    table.objects.forbidden.push(STATISTICS.to_owned());
    let commit = commit(&table, &json!({}), &set_statistics(&json!({})));
    let report = commit.judge(&table.objects, &new_cache(), &Levels::default()).unwrap();
    assert_eq!((warned(&report), report.not_checked[0].rule), (vec![], "statistics-file"));
    table.objects.unavailable.push(STATISTICS.to_owned());
    table.objects.forbidden.clear();
    commit.judge(&table.objects, &new_cache(), &Levels::default()).unwrap_err();
}

/// A commit of a snapshot whose manifest says this partition spec, to a table that has others.
fn with_spec(spec_id: i32, before: &[i32], after: &[i32]) -> (Table, Commit) {
    let mut table = table();
    let file = data("b", 10).in_partition(1);
    let mut next = table.next(Changes { operation: Some("append"), data: vec![file], ..Changes::default() });
    let mut listed = next.manifests.pop().unwrap();
    listed.spec_id = spec_id;
    table.put_manifest(&mut listed);
    next.manifests.push(listed);
    table.judge(std::slice::from_ref(&next)).unwrap();
    let mut commit = table.commit_of(&next);
    let specs = |metadata: &mut TableMetadata, ids: &[i32]| {
        let spec = metadata.partition_specs[0].clone();
        metadata.partition_specs = ids.iter().map(|id| spec.clone().with_id(*id)).collect();
    };
    specs(commit.base.as_mut().unwrap(), before);
    specs(&mut commit.new, after);
    (table, commit)
}

fn judged(case: &(Table, Commit)) -> Report {
    case.1.judge(&case.0.objects, &new_cache(), &Levels::default()).unwrap()
}

#[test]
fn a_partition_spec_that_was_removed_meanwhile_is_a_conflict() {
    let report = judged(&with_spec(3, &[0, 5], &[0, 5]));
    assert_eq!((refused(&report), report.stale), (vec!["partition-spec-removed", "unknown-partition-spec"], true));
    // A number that no spec ever had, and a spec that the same commit removes, are the client's fault.
    let report = judged(&with_spec(6, &[0, 5], &[0, 5]));
    assert_eq!((refused(&report), report.stale), (vec!["unknown-partition-spec"], false));
    let report = judged(&with_spec(3, &[0, 3, 5], &[0, 5]));
    assert!(refused(&report).contains(&"unknown-partition-spec") && !report.stale);
}

#[test]
fn a_manifest_that_means_a_number_of_the_client_is_a_conflict() {
    let mut case = with_spec(1, &[0, 1], &[0, 1, 2]);
    case.1.new.partition_specs[1].fields[0].transform = Transform::Bucket(4);
    let report = judged(&case);
    assert_eq!((refused(&report), report.stale), (vec![], false), "nobody renumbered it");
    assert_eq!(warned(&report), ["manifest-spec-fields"]);
    case.1.renumbered_specs = vec![1];
    let report = judged(&case);
    assert_eq!((refused(&report), report.stale), (vec!["partition-spec-renumbered"], true));
    // The table's spec of that number is the same: whoever numbered it, the files are right.
    case.1.new.partition_specs[1].fields[0].transform = Transform::Identity;
    assert_eq!(refused(&judged(&case)), [""; 0]);
}
