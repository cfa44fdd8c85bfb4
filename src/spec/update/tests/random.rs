//! Random lists of updates: whatever is accepted leaves a table that agrees with itself, and no counter falls.

use std::collections::HashSet;

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::spec::table::TableMetadata;
use crate::spec::testing::{NOW_MS, commit_to, parse, snapshot, table};

fn any_update() -> impl Strategy<Value = Value> {
    let id = 8_i64..16;
    let name = prop::sample::select(vec!["main", "audit", "tag"]);
    let rows = (0_i64..80, 0_i64..9);
    let parent = prop::option::of(id.clone());
    let add = (id.clone(), parent, 1_i64..9, rows, -200_000_i64..200_000).prop_map(
        |(id, parent, sequence, (first, added), time)| {
            json!({"action": "add-snapshot", "snapshot": snapshot(&json!({
                "snapshot-id": id, "parent-snapshot-id": parent, "sequence-number": sequence, "first-row-id": first,
                "added-rows": added, "timestamp-ms": NOW_MS + time, "manifest-list": format!("s3://b/{id}-{sequence}"),
            }))})
        },
    );
    let set = (name.clone(), id.clone(), any::<bool>()).prop_map(|(name, id, branch)| {
        let kind = if branch { "branch" } else { "tag" };
        json!({"action": "set-snapshot-ref", "ref-name": name, "type": kind, "snapshot-id": id})
    });
    prop_oneof![
        4 => add,
        4 => set,
        1 => name.prop_map(|name| json!({"action": "remove-snapshot-ref", "ref-name": name})),
        1 => prop::collection::vec(id, 0..3).prop_map(|ids| json!({"action": "remove-snapshots", "snapshot-ids": ids})),
        2 => schema_updates(),
        1 => (1..5).prop_map(|to| json!({"action": "upgrade-format-version", "format-version": to})),
        1 => "[ab]".prop_map(|value| json!({"action": "set-properties", "updates": {"p": value}})),
    ]
}

fn schema_updates() -> impl Strategy<Value = Value> {
    let id = -1_i64..5;
    let ids = prop::collection::vec(0_i64..5, 0..3);
    prop_oneof![
        (1_i64..6, 1_i64..6).prop_map(|(one, other)| {
            let field = |id: i64| json!({"id": id, "name": format!("c{id}"), "required": false, "type": "long"});
            let fields = if one == other { json!([field(one)]) } else { json!([field(one), field(other)]) };
            json!({"action": "add-schema", "schema": {"type": "struct", "schema-id": 1, "fields": fields}})
        }),
        id.clone().prop_map(|id| json!({"action": "set-current-schema", "schema-id": id})),
        ids.clone().prop_map(|ids| json!({"action": "remove-schemas", "schema-ids": ids})),
        (1_i64..4, 2_u32..5).prop_map(|(source, width)| {
            let transform = format!("bucket[{width}]");
            let field = json!({"source-id": source, "name": format!("p{source}_{width}"), "transform": transform});
            json!({"action": "add-spec", "spec": {"spec-id": 1, "fields": [field]}})
        }),
        id.prop_map(|id| json!({"action": "set-default-spec", "spec-id": id})),
        ids.prop_map(|ids| json!({"action": "remove-partition-specs", "spec-ids": ids})),
    ]
}

fn agrees_with_itself(table: &TableMetadata) {
    let ids: HashSet<i64> = table.snapshots.iter().map(|snapshot| snapshot.snapshot_id).collect();
    assert_eq!(ids.len(), table.snapshots.len(), "every snapshot once");
    assert!(table.refs.values().all(|reference| ids.contains(&reference.snapshot_id)), "every branch has its snapshot");
    let main = table.refs.get("main").map(|main| main.snapshot_id);
    assert_eq!(main, table.current_snapshot_id, "main is the current snapshot");
    let last = table.snapshot_log.last().map(|entry| entry.snapshot_id);
    assert!(table.current_snapshot_id.is_none() || last == table.current_snapshot_id, "the log ends with it");
    assert!(table.snapshots.iter().all(|snapshot| snapshot.sequence_number <= table.last_sequence_number));
    assert!(table.current_schema().is_some() && table.default_spec().is_some());
    let highest = table.schemas.iter().map(crate::spec::schema::Schema::highest_field_id).max();
    assert!(highest <= Some(table.last_column_id));
}

fn no_counter_fell(before: &TableMetadata, after: &TableMetadata) {
    assert!(before.format_version <= after.format_version);
    assert!(before.last_sequence_number <= after.last_sequence_number);
    assert!(before.next_row_id <= after.next_row_id);
    assert!(before.last_column_id <= after.last_column_id);
    assert!(before.last_partition_id <= after.last_partition_id);
    assert!(before.last_updated_ms <= after.last_updated_ms);
    let schema_ids =
        |table: &TableMetadata| table.schemas.iter().map(|schema| schema.schema_id).collect::<HashSet<_>>();
    let known = schema_ids(before);
    let highest = known.iter().max();
    assert!(schema_ids(after).difference(&known).all(|id| Some(id) > highest), "a new schema has a new number");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn tables_stay_whole(
        version in 2_u8..=3, requests in prop::collection::vec(prop::collection::vec(any_update(), 1..4), 1..12),
    ) {
        let mut at = parse(&table(version));
        for request in &requests {
            let Ok(applied) = commit_to(&at, request) else { continue };
            agrees_with_itself(&applied.metadata);
            no_counter_fell(&at, &applied.metadata);
            prop_assert_eq!(applied.changed, applied.metadata != at);
            at = applied.metadata;
        }
    }
}
