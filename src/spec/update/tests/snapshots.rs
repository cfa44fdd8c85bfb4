use insta::assert_snapshot;
use serde_json::{Value, json};

use super::refusals;
use crate::spec::testing::{NOW_MS, add_snapshot, after, change, commit, commit_to, parse, refusal, set_branch, table};

/// A list of one added snapshot.
fn add(changes: &Value) -> Vec<Value> {
    vec![add_snapshot(changes)]
}

/// A list of an added snapshot that becomes the head of `main`.
fn append(changes: &Value) -> Vec<Value> {
    let add = add_snapshot(changes);
    let id = add["snapshot"]["snapshot-id"].as_i64().unwrap();
    vec![add, set_branch("main", id)]
}

#[test]
fn stale_snapshots_are_conflicts_and_wrong_ones_are_not() {
    let lists = [
        add(&json!({"sequence-number": 2})),
        add(&json!({"parent-snapshot-id": 777})),
        add(&json!({"first-row-id": 29})),
        add(&json!({"schema-id": 55})),
        add(&json!({"schema-id": -1})),
        add(&json!({"first-row-id": null, "added-rows": null})),
        add(&json!({"first-row-id": 30 + (1_i64 << 40) + 1})),
        add(&json!({"first-row-id": 1_i64 << 40, "added-rows": i64::MAX})),
        add(&json!({"snapshot-id": 11})),
        add(&json!({"snapshot-id": 0})),
        add(&json!({"snapshot-id": -5})),
        add(&json!({"sequence-number": null})),
        add(&json!({"sequence-number": -1, "parent-snapshot-id": null})),
        add(&json!({"manifest-list": ""})),
        add(&json!({"manifest-list": null, "manifests": ["a"]})),
        add(&json!({"manifests": ["a"]})),
        add(&json!({"summary": null})),
        add(&json!({"summary": {}})),
        add(&json!({"summary": {"added-files": "1"}})),
        add(&json!({"key-id": "none"})),
        vec![set_branch("b", 99)],
        vec![json!({"action": "set-snapshot-ref", "ref-name": "main", "type": "tag", "snapshot-id": 10})],
    ];
    assert_snapshot!(refusals(&table(3), &lists), @r"
    409 Validation failed, please retry: Cannot add snapshot with sequence number 2 older than last sequence number 2
    409 Validation failed, please retry: Cannot find parent snapshot 777 of snapshot 12
    409 Validation failed, please retry: Cannot add a snapshot, first-row-id is behind table next-row-id: 29 < 30
    400 Cannot find schema 55 of snapshot 12
    400 Cannot find schema -1 of snapshot 12
    400 Cannot add a snapshot: first-row-id is null
    400 Cannot add a snapshot, first-row-id is too far ahead of table next-row-id: 1099511627807 > 30 + 1099511627776
    400 Invalid added-rows: 1099511627776 + 9223372036854775807 is no row id
    400 Snapshot already exists for id: 11
    400 Invalid snapshot-id: 0 (must be positive)
    400 Invalid snapshot-id: -5 (must be positive)
    400 Invalid sequence-number of snapshot 12: 0 (must be positive)
    400 Invalid sequence-number of snapshot 12: -1 (must be positive)
    400 Invalid manifest-list of snapshot 12: it is empty
    400 Invalid snapshot 12 for v3: it must have a manifest-list and no manifests
    400 Invalid snapshot 12 for v3: it must have a manifest-list and no manifests
    400 Invalid snapshot 12: its summary has no operation
    400 Invalid snapshot 12: its summary has no operation
    400 Invalid snapshot 12: its summary has no operation
    400 Cannot find encryption key none of snapshot 12
    400 Cannot set b to unknown snapshot: 99
    400 Cannot set main to a tag, it must be a branch
    ");
}

#[test]
fn gaps_are_allowed_and_the_counters_take_the_higher_value() {
    let after = after(&table(3), &add(&json!({"sequence-number": 9, "first-row-id": 100, "added-rows": 7})));
    assert_eq!((&after["last-sequence-number"], &after["next-row-id"]), (&json!(9), &json!(107)));
    let without_rows = commit(&table(3), &add(&json!({"added-rows": 0}))).unwrap();
    assert_eq!(without_rows.metadata.next_row_id, Some(30));
    let furthest = commit(&table(3), &add(&json!({"first-row-id": 30 + (1_i64 << 40), "added-rows": 0}))).unwrap();
    assert_eq!(furthest.metadata.next_row_id, Some(30 + (1 << 40)));
}

#[test]
fn concurrent_replaces_carry_one_sequence_number() {
    let replace = |id: i64, sequence: i64| {
        let without_parent = json!({"snapshot-id": id, "sequence-number": sequence, "parent-snapshot-id": null});
        vec![
            json!({"action": "remove-snapshot-ref", "ref-name": "main"}),
            add_snapshot(&without_parent),
            set_branch("main", id),
        ]
    };
    let first = after(&table(2), &replace(12, 3));
    let second = after(&first, &replace(13, 3));
    assert_eq!((&second["last-sequence-number"], &second["current-snapshot-id"]), (&json!(3), &json!(13)));
    let older = after(&second, &replace(14, 1));
    assert_eq!(older["last-sequence-number"], 3, "it never falls");
    assert_eq!(older["snapshot-log"].as_array().unwrap().len(), 5, "the log stays");
}

#[test]
fn a_writer_that_missed_the_upgrade_may_try_again() {
    let mut upgraded = table(3);
    for snapshot in upgraded["snapshots"].as_array_mut().unwrap() {
        change(snapshot, &json!({"first-row-id": null, "added-rows": null}));
    }
    upgraded["next-row-id"] = json!(0);
    let old = json!({"first-row-id": null, "added-rows": null});
    assert_snapshot!(refusal(commit(&upgraded, &add(&old))), @"409 Validation failed, please retry: Cannot add a snapshot: first-row-id is null");
    let mut list = vec![json!({"action": "upgrade-format-version", "format-version": 3})];
    list.extend(add(&old));
    assert_snapshot!(refusal(commit(&table(2), &list)), @"400 Cannot add a snapshot: first-row-id is null");
}

#[test]
fn a_parent_of_minus_one_is_none() {
    assert!(commit(&table(2), &add(&json!({"parent-snapshot-id": -1}))).unwrap().changed);
}

#[test]
fn an_earlier_snapshot_of_the_request_may_be_the_parent() {
    let mut list = add(&json!({}));
    list.extend(append(
        &json!({"snapshot-id": 13, "parent-snapshot-id": 12, "sequence-number": 4, "first-row-id": 35}),
    ));
    let after = after(&table(3), &list);
    assert_eq!(after["next-row-id"], 40);
    assert_eq!(after["snapshot-log"][2]["snapshot-id"], 13);
}

#[test]
fn times_must_fit_into_the_log() {
    let minute = 60_000;
    let last = 1_699_999_999_000_i64;
    for time in [last - minute, NOW_MS + minute] {
        assert!(commit(&table(2), &append(&json!({"timestamp-ms": time}))).unwrap().changed);
    }
    let wrong = [
        append(&json!({"timestamp-ms": last - minute - 1})),
        append(&json!({"timestamp-ms": NOW_MS + minute + 1})),
        append(&json!({"timestamp-ms": i64::MIN})),
        append(&json!({"timestamp-ms": i64::MAX})),
    ];
    assert_snapshot!(refusals(&table(2), &wrong), @r"
    400 Invalid timestamp-ms of snapshot 12: 1699999938999 is more than 60000 ms before the snapshot log's last entry at 1699999999000 (server time 1700000100000)
    400 Invalid timestamp-ms of snapshot 12: 1700000160001 is more than 60000 ms in the future (server time 1700000100000)
    400 Invalid timestamp-ms of snapshot 12: -9223372036854775808 is more than 60000 ms before the snapshot log's last entry at 1699999999000 (server time 1700000100000)
    400 Invalid timestamp-ms of snapshot 12: 9223372036854775807 is more than 60000 ms in the future (server time 1700000100000)
    ");
    for time in [0, i64::MAX] {
        let mut staged = add(&json!({"timestamp-ms": time}));
        assert!(commit(&table(2), &staged).unwrap().changed, "staged snapshots are free");
        staged.push(set_branch("audit", 12));
        assert!(commit(&table(2), &staged).unwrap().changed, "and so are other branches");
    }
}

#[test]
fn only_the_last_head_of_a_request_is_logged() {
    let mut list = append(&json!({"timestamp-ms": 0}));
    list.extend(append(&json!({"snapshot-id": 13, "parent-snapshot-id": 12, "sequence-number": 4})));
    let after = after(&table(2), &list);
    let logged: Vec<_> = after["snapshot-log"].as_array().unwrap().iter().map(|entry| &entry["snapshot-id"]).collect();
    assert_eq!(logged, [10, 11, 13]);
}

#[test]
fn a_rollback_is_logged_when_it_happens() {
    let after = after(&table(2), &[set_branch("main", 10)]);
    assert_eq!(after["snapshot-log"][2], json!({"timestamp-ms": NOW_MS, "snapshot-id": 10}));
    assert_eq!(after["current-snapshot-id"], 10);
}

#[test]
fn removing_main_leaves_an_empty_table_with_its_past() {
    let after = after(&table(2), &[json!({"action": "remove-snapshot-ref", "ref-name": "main"})]);
    assert_eq!((&after["current-snapshot-id"], &after["refs"]), (&json!(-1), &json!({})));
    assert_eq!(after["snapshot-log"].as_array().unwrap().len(), 2);
}

#[test]
fn removed_snapshots_take_refs_and_history_with_them() {
    let mut base = table(2);
    base["refs"]["t"] = json!({"snapshot-id": 10, "type": "tag"});
    let remove = |ids: &[i64]| json!({"action": "remove-snapshots", "snapshot-ids": ids});
    let old = after(&base, &[remove(&[10, 99])]);
    assert_eq!(old["refs"], json!({"main": {"snapshot-id": 11, "type": "branch"}}));
    assert_eq!(old["snapshot-log"].as_array().unwrap().len(), 1, "nothing before the hole");
    let current = after(&base, &[remove(&[11])]);
    assert_eq!((&current["current-snapshot-id"], &current["refs"]["t"]["snapshot-id"]), (&json!(-1), &json!(10)));
    assert_eq!(current["snapshot-log"], json!([]));
    let all = after(&base, &[remove(&[10]), remove(&[11])]);
    assert_eq!((&all["snapshots"], &all["refs"], &all["snapshot-log"]), (&json!([]), &json!({}), &json!([])));
    assert_eq!(all["last-sequence-number"], 2);
}

#[test]
fn a_table_without_a_log_can_be_expired() {
    let mut base = table(2);
    base["snapshot-log"] = json!([]);
    let after = after(&base, &[json!({"action": "remove-snapshots", "snapshot-ids": [10]})]);
    assert_eq!((&after["current-snapshot-id"], &after["snapshot-log"]), (&json!(11), &json!([])));
}

#[test]
fn a_moved_branch_keeps_what_nobody_knows() {
    let mut base = table(2);
    base["refs"]["main"]["x-owner"] = json!("me");
    base["refs"]["main"]["max-ref-age-ms"] = json!(5);
    let after = after(&base, &[set_branch("main", 10)]);
    assert_eq!(after["refs"]["main"], json!({"snapshot-id": 10, "type": "branch", "x-owner": "me"}));
}

#[test]
fn keys_may_come_with_the_snapshot_that_needs_them() {
    let mut list = add(&json!({"key-id": "k"}));
    list.push(json!({"action": "add-encryption-key", "encryption-key": {"key-id": "k", "encrypted-key-metadata": ""}}));
    assert!(commit(&table(2), &list).unwrap().changed);
}

#[test]
fn a_commit_that_comes_twice_is_answered_as_before() {
    let staged = add(&json!({}));
    let published = append(&json!({}));
    let base = commit(&table(3), &published).unwrap().metadata;
    for again in [&staged, &published] {
        let applied = commit_to(&base, again).unwrap();
        assert!(applied.resent && !applied.changed && applied.added_snapshots.is_empty());
    }
    let child = json!({"snapshot-id": 13, "parent-snapshot-id": 12, "sequence-number": 4, "first-row-id": 35});
    let moved_on = commit_to(&base, &append(&child)).unwrap().metadata;
    assert!(commit_to(&moved_on, &published).unwrap().resent, "the branch still holds it");
    let rolled_back = commit_to(&moved_on, &[set_branch("main", 11)]).unwrap().metadata;
    assert!(commit_to(&rolled_back, &staged).unwrap().resent);
    let mut with_another = published.clone();
    with_another.extend(add(&child));
    let refused = [
        refusal(commit_to(&rolled_back, &published)),
        refusal(commit_to(&base, &add(&json!({"manifest-list": "s3://b/t/other.avro"})))),
        refusal(commit_to(&base, &with_another)),
        refusal(commit(&table(3), &[staged.clone(), staged].concat())),
    ];
    assert_snapshot!(refused.join("\n"), @r"
    409 Validation failed, please retry: snapshot 12 is in the table, but main does not contain it
    400 Snapshot already exists for id: 12
    400 Snapshot already exists for id: 12
    400 Snapshot already exists for id: 12
    ");
    assert_eq!(parse(&table(3)), commit(&table(3), &[]).unwrap().metadata);
}

#[test]
fn version_1_has_no_sequence_numbers() {
    let mut base = table(2);
    change(&mut base, &json!({"format-version": 1, "last-sequence-number": null}));
    for snapshot in base["snapshots"].as_array_mut().unwrap() {
        change(snapshot, &json!({"sequence-number": null}));
    }
    let after = after(&base, &append(&json!({"sequence-number": null, "summary": null})));
    assert_eq!((&after["current-snapshot-id"], after.get("last-sequence-number")), (&json!(12), None));
    assert_snapshot!(refusal(commit(&base, &add(&json!({})))), @"400 Sequence number must be 0 in v1: 3");
}
