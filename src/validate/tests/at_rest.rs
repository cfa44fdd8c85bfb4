//! Tables at rest: what engines left, what a broken commit would have left, and what only a look at the whole finds.

use futures::executor::block_on;
use serde_json::{Value as Json, json};

use super::corrupt::{case_names, commit as corrupt_commit};
use super::support::{Objects, folder, json, new_cache, objects_of, refused, table_names, versions, warned};
use super::writer::{Changes, Entry, Table, data, puffin};
use crate::spec::TableMetadata;
use crate::validate::Levels;
use crate::validate::at_rest::{Burden, Progress, Scope, SnapshotReport, Snapshots, TableReport, Verdict, check};

const CURRENT: Scope = Scope { snapshots: Snapshots::Current, most_files: 1000 };
const ALL: Scope = Scope { snapshots: Snapshots::All, most_files: 1000 };

fn verify(objects: &Objects, table: &TableMetadata, scope: Scope) -> TableReport {
    block_on(check(objects, &new_cache(), &Levels::default(), table, scope, &|_| ()))
}

fn current(objects: &Objects, table: &TableMetadata) -> SnapshotReport {
    let mut report = verify(objects, table, CURRENT);
    assert_eq!((report.snapshots.len(), report.stopped.is_none()), (1, true));
    report.snapshots.remove(0)
}

#[test]
fn tables_of_engines_are_in_order_but_for_the_bad_ones() {
    for name in table_names() {
        let table = versions(&name).pop().unwrap();
        let objects = objects_of(&name);
        let report = verify(&objects, &table, ALL);
        let rules: Vec<_> = report.snapshots.iter().flat_map(|snapshot| refused(&snapshot.report)).collect();
        let expected = match name.as_str() {
            "duckdb153_bad" => "puffin-head-magic",
            "t16_bad_java" => "dv-position-out-of-range",
            _ => "",
        };
        let right = if expected.is_empty() { rules.is_empty() } else { rules.contains(&expected) };
        assert!(right, "{name}: {rules:?} {:#?}", report.snapshots);
        let unknown = refused(&report.snapshots[0].report).contains(&"dv-references-unknown-data-file");
        assert_eq!(unknown, name == "t16_bad_java", "the vector of snapshot 2 is live in snapshot 3");
        assert_eq!(report.verdict(), if expected.is_empty() { Verdict::Ok } else { Verdict::Broken }, "{name}");
    }
}

#[test]
fn what_a_broken_commit_would_have_left_is_broken() {
    for name in case_names() {
        let case = json(&folder("corrupt").join(&name).join("case.json"));
        let verdict = if case["verdict"] == "policy" { &case["default"] } else { &case["verdict"] };
        let (objects, commit) = corrupt_commit(&name);
        let report = verify(&objects, &commit.new, CURRENT);
        let rules = refused(&report.snapshots[0].report);
        match verdict.as_str().unwrap() {
            "accept" => assert_eq!((rules, report.verdict()), (vec![], Verdict::Ok), "{name}"),
            _ => assert!(rules.contains(&case["code"].as_str().unwrap()), "{name}: {rules:?}"),
        }
    }
}

#[test]
fn a_broken_vector_is_found_after_any_number_of_good_commits() {
    for name in ["blob-crc", "position-equals-rows", "puffin-missing", "footer-no-blob"] {
        let case = json(&folder("corrupt").join(name).join("case.json"));
        let (objects, commit) = corrupt_commit(name);
        // The next snapshot has the same files, and its parent is expired.
        let mut table: Json = serde_json::from_slice(&commit.new.to_bytes()).unwrap();
        let broken = commit.new.current_snapshot_id.unwrap();
        let snapshots = table["snapshots"].as_array_mut().unwrap();
        snapshots.retain(|snapshot| snapshot["snapshot-id"] == broken);
        snapshots[0]["snapshot-id"] = json!(7);
        snapshots[0]["parent-snapshot-id"] = json!(broken);
        (table["current-snapshot-id"], table["refs"]["main"]["snapshot-id"]) = (json!(7), json!(7));
        let table = TableMetadata::parse(table.to_string().as_bytes()).unwrap();
        let report = current(&objects, &table).report;
        assert!(refused(&report).contains(&case["code"].as_str().unwrap()), "{name}: {report:#?}");
    }
}

/// Four data files, the first with a vector.
fn four_files() -> Table {
    let mut table = Table::new(3, true);
    let files = ["a", "b", "c", "d"].map(|name| data(name, 10).in_partition(1));
    for file in &files {
        table.commit(Changes { operation: Some("append"), data: vec![file.clone()], ..Changes::default() });
    }
    let deletes = puffin(&mut table.objects, "v", &[(&files[0], &[0, 1]), (&files[1], &[3])]);
    table.commit(Changes { deletes, ..Changes::default() });
    table
}

/// Makes a snapshot part of the table although it may break rules.
fn force(table: &mut Table, changes: Changes) {
    let next = table.next(changes);
    table.accept(next);
}

#[test]
fn a_table_in_order_is_counted() {
    let table = four_files();
    let report = current(&table.objects, &table.metadata);
    assert_eq!((refused(&report.report), warned(&report.report), report.complete), (vec![], vec![], true));
    assert_eq!(report.refs, ["main"]);
    let counts = report.counts;
    assert_eq!((counts.data_manifests, counts.data_files, counts.records), (4, 4, 40));
    assert_eq!((counts.delete_manifests, counts.deletion_vectors, counts.deleted_positions), (1, 2, 3));
    assert_eq!((counts.puffin_files, counts.puffin_bytes_dead, report.remarks), (1, 0, vec![]));
}

#[test]
fn two_vectors_for_a_file_are_found_wherever_they_came_from() {
    let mut table = four_files();
    let second = puffin(&mut table.objects, "w", &[(&data("a", 10).in_partition(1), &[0, 1, 2])]);
    force(&mut table, Changes { deletes: second, ..Changes::default() });
    force(&mut table, Changes { data: vec![data("e", 5).in_partition(1)], ..Changes::default() });
    let report = current(&table.objects, &table.metadata);
    assert_eq!(refused(&report.report), ["two-dvs"]);
    assert!(report.report.refused[0].found.contains("v.puffin at 4"), "{:?}", report.report.refused);
}

#[test]
fn dead_vectors_and_files_without_rows_are_remarked_upon() {
    let mut table = four_files();
    let (a, b) = (data("a", 10).in_partition(1), data("b", 10).in_partition(1));
    let all: Vec<u32> = (0..10).collect();
    let mut deletes = puffin(&mut table.objects, "w", &[(&a, &all)]);
    let old = puffin(&mut table.objects, "v", &[(&a, &[0, 1]), (&b, &[3])]);
    deletes.push(old[0].later(2, 600, 5));
    deletes.push(old[1].later(0, 500, 5));
    force(&mut table, Changes { deletes, drop: vec!["x500".to_owned()], ..Changes::default() });
    let report = current(&table.objects, &table.metadata);
    assert_eq!((refused(&report.report), warned(&report.report)), (vec![], vec![]));
    let kinds: Vec<_> = report.remarks.iter().map(|remark| (remark.kind, &*remark.message)).collect();
    let dead = "44 bytes are of vectors that are not live any more (1 of 2)";
    let empty = "all 10 rows are deleted, and the file is still there";
    assert_eq!(kinds, [("puffin-bytes-dead", dead), ("file-fully-deleted", empty)]);
    assert_eq!((report.counts.puffin_bytes_dead, report.counts.fully_deleted_files), (44, 1));
}

#[test]
fn the_burden_of_deletes_is_told_file_by_file() {
    let table = four_files();
    let burden =
        |table: &Table, most| Burden::of(&table.metadata, verify(&table.objects, &table.metadata, CURRENT), most);
    let found = burden(&table, 10);
    assert_eq!(
        (found.format_version, found.snapshot_id, found.complete),
        (3, table.metadata.current_snapshot_id, true)
    );
    assert_eq!((found.counts.deletion_vectors, found.counts.deleted_positions, found.counts.records), (2, 3, 40));
    assert!((found.ratio - 0.075).abs() < 1e-9);
    let names = |burden: &Burden| -> Vec<(String, u64, u64)> {
        let files = burden.files.iter();
        files.map(|file| (file.data_file.clone(), file.deleted_rows, file.records)).collect()
    };
    let (a, b) = (data("a", 10).path, data("b", 10).path);
    assert_eq!(names(&found), [(a.clone(), 2, 10), (b, 1, 10)]);
    assert!((found.files[0].ratio - 0.2).abs() < 1e-9);
    assert!(found.files[0].puffin_file.ends_with("v.puffin") && found.files[0].vector_bytes > 0);
    assert_eq!(names(&burden(&table, 1)), [(a, 2, 10)]);

    let empty = burden(&Table::new(3, true), 10);
    assert_eq!((empty.snapshot_id, empty.complete, empty.files.len(), empty.ratio.to_bits()), (None, true, 0, 0));
    let mut out = four_files();
    let lost = out.snapshots[1].manifests[0].path.clone();
    out.objects.remove(&lost);
    let found = burden(&out, 10);
    assert_eq!((found.complete, found.refused[0].rule), (false, "manifest-missing"), "{found:?}");
}

#[test]
fn a_vector_without_its_data_file_is_warned_of() {
    let mut table = four_files();
    let removed = vec![data("a", 10).in_partition(1).later(2, 600, 1)];
    force(&mut table, Changes { data: removed, drop: vec!["d100".to_owned()], ..Changes::default() });
    force(&mut table, Changes { data: vec![data("e", 5).in_partition(1)], ..Changes::default() });
    let report = current(&table.objects, &table.metadata);
    assert_eq!((refused(&report.report), warned(&report.report)), (vec![], vec!["dv-dangling"]));
    assert_eq!(report.counts.dangling_vectors, 1);
}

#[test]
fn row_ids_are_laid_side_by_side() {
    let mut table = four_files();
    let clash = Entry { first_row_id: Some(5), ..data("e", 10).in_partition(1) };
    force(&mut table, Changes { data: vec![clash], ..Changes::default() });
    force(&mut table, Changes { data: vec![data("f", 5).in_partition(1)], ..Changes::default() });
    let report = current(&table.objects, &table.metadata);
    assert_eq!(refused(&report.report), ["row-id-ranges-overlap"]);
    assert_eq!(report.report.refused[0].found, "5..15");

    let mut table = four_files();
    table.metadata.next_row_id = Some(39);
    let report = current(&table.objects, &table.metadata);
    assert_eq!((refused(&report.report), warned(&report.report)), (vec![], vec!["next-row-id-behind"]));
}

#[test]
fn ids_that_a_first_row_id_skips_are_no_fault() {
    let mut table = four_files();
    let mut next = table.next(Changes { data: vec![data("e", 5).in_partition(1)], ..Changes::default() });
    next.first_row_id += 7;
    table.accept(next);
    let report = current(&table.objects, &table.metadata);
    assert_eq!((refused(&report.report), warned(&report.report)), (vec![], vec![]));
}

#[test]
fn a_file_that_is_there_twice_is_named() {
    let mut table = four_files();
    force(&mut table, Changes { data: vec![data("c", 10).in_partition(1)], ..Changes::default() });
    force(&mut table, Changes { data: vec![data("f", 5).in_partition(1)], ..Changes::default() });
    let report = current(&table.objects, &table.metadata);
    assert_eq!((refused(&report.report), warned(&report.report)), (vec![], vec!["file-already-live"]));
    assert!(report.report.warnings[0].expected.ends_with("/c.parquet once"), "{:?}", report.report.warnings);
}

#[test]
fn carried_manifests_are_judged_as_of_their_writer() {
    let mut table = four_files();
    // A manifest whose list counts another number of files, carried twice since.
    let mut third = table.snapshots[2].clone();
    third.manifests[2].entries.push(data("x", 3).in_partition(1));
    let listed = third.manifests[2].clone();
    let mut in_last = listed.clone();
    table.put_manifest(&mut in_last);
    let report = current(&table.objects, &table.metadata);
    assert!(refused(&report.report).contains(&"manifest-file-counts"), "{:?}", refused(&report.report));
    table.objects.remove(&listed.path);
    let report = current(&table.objects, &table.metadata);
    assert_eq!((refused(&report.report), report.complete), (vec!["manifest-missing"], false));
}

#[test]
fn what_is_not_looked_at_is_no_pass() {
    let mut table = four_files();
    let few = Scope { snapshots: Snapshots::Current, most_files: 1 };
    assert_eq!(verify(&table.objects, &table.metadata, few).verdict(), Verdict::NotChecked);
    table.objects.unavailable.push("d200".to_owned());
    let report = verify(&table.objects, &table.metadata, ALL);
    assert_eq!((report.verdict(), report.stopped.is_some()), (Verdict::NotChecked, true));
    let empty = Table::new(3, true);
    assert_eq!(verify(&empty.objects, &empty.metadata, ALL).verdict(), Verdict::Ok);
}

#[test]
fn every_manifest_and_every_vector_is_read_once() {
    let table = four_files();
    table.objects.take_reads();
    verify(&table.objects, &table.metadata, CURRENT);
    let reads = table.objects.take_reads();
    for name in ["d100.avro", "d200.avro", "d300.avro", "d400.avro", "x500.avro"] {
        assert_eq!(reads.iter().filter(|read| *read == name).count(), 1, "{name}: {reads:?}");
    }
    assert_eq!(reads.iter().filter(|read| *read == "v.puffin").count(), 2, "its size and its bytes");
}

#[test]
fn the_check_says_how_far_it_is() {
    let table = four_files();
    let seen = std::sync::Mutex::new(Vec::new());
    let watch = |progress: Progress| seen.lock().unwrap().push(progress);
    block_on(check(&table.objects, &new_cache(), &Levels::default(), &table.metadata, ALL, &watch));
    let seen = seen.into_inner().unwrap();
    assert_eq!((seen[0].snapshots, seen[0].snapshots_done), (5, 0));
    assert!(seen.iter().any(|progress| (progress.vectors_done, progress.vectors) == (2, 2)));
    assert_eq!(seen.last().unwrap().snapshots_done, 4);
}
