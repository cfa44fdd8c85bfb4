//! Commits that are right or wrong by what was there before.

use super::support::{refused, warned};
use super::writer::{Changes, Entry, LOCATION, Snapshot, Table, data, list_location, puffin};
use crate::validate::{Levels, Report};

fn judge(table: &mut Table, changes: Changes) -> Report {
    let next = table.next(changes);
    table.judge(&[next]).unwrap()
}

fn assert_passes(report: &Report) {
    assert!(report.refused.is_empty(), "{:#?}", report.refused);
    assert!(report.warnings.is_empty(), "{:#?}", report.warnings);
    assert!(report.not_checked.is_empty(), "{:#?}", report.not_checked);
}

/// Two data files in two partitions, each with a vector; both vectors in one Puffin file.
struct Deleted {
    table: Table,
    files: [Entry; 2],
    vectors: Vec<Entry>,
    by: Snapshot,
}

fn deleted() -> Deleted {
    let mut table = Table::new(3, true);
    let files = [data("a", 100).in_partition(1), data("b", 100).in_partition(2)];
    table.commit(Changes { operation: Some("append"), data: files.to_vec(), ..Changes::default() });
    let vectors = puffin(&mut table.objects, "old", &[(&files[0], &[1, 2]), (&files[1], &[7])]);
    let by = table.commit(Changes { operation: Some("delete"), deletes: vectors.clone(), ..Changes::default() });
    Deleted { table, files, vectors, by }
}

impl Deleted {
    /// The vectors as entries of a later manifest.
    fn old(&self, place: usize, status: i32) -> Entry {
        let writer = if status == 2 { self.by.id + 100 } else { self.by.id };
        self.vectors[place].later(status, writer, self.by.sequence_number)
    }

    /// A commit that replaces the delete manifest by these entries.
    fn replace(&mut self, deletes: Vec<Entry>) -> Report {
        judge(&mut self.table, Changes { deletes, drop: vec!["x200".to_owned()], ..Changes::default() })
    }

    fn puffin(&mut self, name: &str, place: usize, positions: &[u32]) -> Entry {
        puffin(&mut self.table.objects, name, &[(&self.files[place], positions)]).remove(0)
    }
}

#[test]
fn a_superset_that_replaces_a_vector_passes() {
    let mut case = deleted();
    let new = case.puffin("new", 0, &[1, 2, 3]);
    let entries = vec![new, case.old(0, 2), case.old(1, 0)];
    assert_passes(&case.replace(entries));
}

#[test]
fn a_vector_for_a_file_of_the_same_commit_passes() {
    let mut table = Table::new(3, true);
    let file = data("a", 100).in_partition(1);
    let deletes = puffin(&mut table.objects, "v", &[(&file, &[99])]);
    assert_passes(&judge(&mut table, Changes { data: vec![file], deletes, ..Changes::default() }));
}

#[test]
fn a_second_vector_is_refused_wherever_the_first_is() {
    let mut case = deleted();
    let new = case.puffin("new", 0, &[1, 2, 3]);
    // The first is in a carried manifest.
    let report = judge(&mut case.table, Changes { deletes: vec![new.clone()], ..Changes::default() });
    assert_eq!(refused(&report), ["two-dvs"]);
    assert!(report.refused[0].message.contains("multiple DVs"), "{}", report.refused[0].message);
    // The first is moved beside it.
    let entries = vec![new, case.old(0, 0), case.old(1, 0)];
    assert_eq!(refused(&case.replace(entries)), ["two-dvs"]);
}

#[test]
fn duplicates_that_the_parent_has_are_not_blamed_on_the_commit_that_repairs_them() {
    let mut case = deleted();
    let second = case.puffin("second", 0, &[1, 2, 3]);
    let broken = case.table.next(Changes { deletes: vec![second], ..Changes::default() });
    case.table.accept(broken);
    // An append, and a vector for the other file.
    let append = Changes { operation: Some("append"), data: vec![data("c", 5).in_partition(1)], ..Changes::default() };
    assert_passes(&judge(&mut case.table, append));
    // The repair: one vector in the place of both.
    let merged = case.puffin("merged", 0, &[1, 2, 3]);
    let entries = vec![merged, case.old(1, 0)];
    let drop = vec!["x200".to_owned(), "x300".to_owned()];
    let report = judge(&mut case.table, Changes { deletes: entries, drop, ..Changes::default() });
    assert!(report.refused.is_empty(), "{:#?}", report.refused);
    // Half a repair: the older of the two goes, the newer stays in its own manifest.
    let entries = vec![case.old(1, 0)];
    let report =
        judge(&mut case.table, Changes { deletes: entries, drop: vec!["x200".to_owned()], ..Changes::default() });
    assert!(report.refused.is_empty(), "{:#?}", report.refused);
}

#[test]
fn a_vector_that_disappears_is_refused_while_its_file_stays() {
    let mut case = deleted();
    // With an entry that says so, or without.
    let entries = vec![case.old(0, 2), case.old(1, 0)];
    assert_eq!(refused(&case.replace(entries)), ["dv-lost"]);
    let entries = vec![case.old(1, 0)];
    assert_eq!(refused(&case.replace(entries)), ["dv-lost"]);
    let report = judge(&mut case.table, Changes { drop: vec!["x200".to_owned()], ..Changes::default() });
    assert_eq!(refused(&report), ["dv-lost"]);
    assert_eq!(report.refused_count, 2);
}

#[test]
fn a_vector_leaves_with_its_file() {
    let mut case = deleted();
    let gone = case.files[0].later(2, 300, 1);
    let kept = Entry { first_row_id: Some(100), ..case.files[1].later(0, 100, 1) };
    let deletes = vec![case.old(0, 2), case.old(1, 0)];
    let drop = vec!["d100".to_owned(), "x200".to_owned()];
    let report = judge(&mut case.table, Changes { data: vec![gone, kept], deletes, drop, ..Changes::default() });
    assert!(report.refused.is_empty(), "{:#?}", report.refused);
}

#[test]
fn a_vector_that_stays_without_its_file_is_warned_of() {
    let mut case = deleted();
    let gone = case.files[0].later(2, 300, 1);
    let kept = Entry { first_row_id: Some(100), ..case.files[1].later(0, 100, 1) };
    let changes = Changes { data: vec![gone, kept], drop: vec!["d100".to_owned()], ..Changes::default() };
    let report = judge(&mut case.table, changes);
    assert_eq!((refused(&report), warned(&report)), (vec![], vec!["dv-left-behind"]));
}

#[test]
fn a_vector_that_forgets_positions_is_refused() {
    let mut case = deleted();
    let new = case.puffin("new", 0, &[2, 3, 4]);
    let entries = vec![new, case.old(0, 2), case.old(1, 0)];
    let report = case.replace(entries);
    assert_eq!(refused(&report), ["dv-loses-positions"]);
    let found = &report.refused[0].found;
    assert!(found.starts_with("1 previously deleted positions dropped, 1 the first"), "{found}");
}

#[test]
fn a_rule_that_is_off_is_not_looked_at() {
    let mut case = deleted();
    let mut levels = Levels::default();
    levels.set("dv-loses-positions", "off").unwrap();
    let new = case.puffin("new", 0, &[2, 3, 4]);
    let deletes = vec![new, case.old(0, 2), case.old(1, 0)];
    let next = case.table.next(Changes { deletes, drop: vec!["x200".to_owned()], ..Changes::default() });
    let report = case.table.judge_with(&[next], &levels).unwrap();
    assert!(report.refused.is_empty() && report.warnings.is_empty());
    assert!(!case.table.objects.take_reads().contains(&"old.puffin".to_owned()));
}

#[test]
fn a_new_vector_in_the_clothes_of_an_old_one_is_checked_like_a_new_one() {
    let mut case = deleted();
    let mut forged = case.puffin("forged", 0, &[1, 2, 100]).later(0, 100, 1);
    forged.first_row_id = None;
    let entries = vec![forged, case.old(0, 2), case.old(1, 0)];
    let report = case.replace(entries);
    assert!(refused(&report).contains(&"dv-position-out-of-range"), "{:?}", refused(&report));
    assert!(warned(&report).contains(&"existing-file-unknown"));
}

#[test]
fn a_vector_of_a_removed_file_is_warned_of_and_of_an_unknown_one_refused() {
    let mut case = deleted();
    // Another commit removed file a, and its vector with it.
    let gone = case.files[0].later(2, 300, 1);
    let kept = Entry { first_row_id: Some(100), ..case.files[1].later(0, 100, 1) };
    let deletes = vec![case.old(0, 2), case.old(1, 0)];
    let drop = vec!["d100".to_owned(), "x200".to_owned()];
    let removal = case.table.next(Changes { data: vec![gone, kept], deletes, drop, ..Changes::default() });
    case.table.accept(removal);
    let late = case.puffin("late", 0, &[1, 2, 3]);
    let report = judge(&mut case.table, Changes { deletes: vec![late], ..Changes::default() });
    assert_eq!((refused(&report), warned(&report)), (vec![], vec!["dv-dangling"]));

    let never = data("never", 10).in_partition(1);
    let deletes = puffin(&mut case.table.objects, "ghost", &[(&never, &[1])]);
    let report = judge(&mut case.table, Changes { deletes, ..Changes::default() });
    assert_eq!(refused(&report), ["dv-references-unknown-data-file"]);
}

#[test]
fn a_vector_in_another_partition_than_its_file_is_refused() {
    let mut case = deleted();
    let file = data("c", 10).in_partition(5);
    case.table.commit(Changes { data: vec![file.clone()], ..Changes::default() });
    let mut deletes = puffin(&mut case.table.objects, "c", &[(&file, &[1])]);
    deletes[0].partition = Some(6);
    let report = judge(&mut case.table, Changes { deletes, ..Changes::default() });
    assert_eq!(refused(&report), ["dv-partition"]);
}

#[test]
fn a_vector_older_than_its_file_is_refused() {
    let mut case = deleted();
    let file = data("c", 10).in_partition(5);
    case.table.commit(Changes { data: vec![file.clone()], ..Changes::default() });
    let mut deletes = puffin(&mut case.table.objects, "c", &[(&file, &[1])]);
    deletes[0].sequence_number = Some(2);
    let report = judge(&mut case.table, Changes { deletes, ..Changes::default() });
    assert_eq!(
        (refused(&report), warned(&report)),
        (vec!["dv-sequence-number"], vec!["added-entry-file-sequence-number"])
    );
}

#[test]
fn position_delete_files_are_for_version_2_and_vectors_for_version_3() {
    let file = data("a", 100).in_partition(1);
    let parquet = Entry { content: 1, referenced: Some(file.path.clone()), ..data("p", 3).in_partition(1) };
    for (version, rule) in [(2, "dv-in-v2"), (3, "not-puffin")] {
        let mut table = Table::new(version, true);
        table.commit(Changes { data: vec![file.clone()], ..Changes::default() });
        let vector = puffin(&mut table.objects, "v", &[(&file, &[1])]).remove(0);
        let (right, wrong) = if version == 2 { (&parquet, &vector) } else { (&vector, &parquet) };
        let passes = judge(&mut table, Changes { deletes: vec![right.clone()], ..Changes::default() });
        assert!(passes.refused.is_empty(), "{:#?}", passes.refused);
        let refusal = judge(&mut table, Changes { deletes: vec![wrong.clone()], ..Changes::default() });
        assert_eq!(refused(&refusal), [rule]);
    }
}

#[test]
fn an_equality_delete_beside_vectors_needs_its_field_ids() {
    let mut case = deleted();
    let equality = Entry { content: 2, ..data("e", 3).in_partition(1) };
    let report = judge(&mut case.table, Changes { deletes: vec![equality], ..Changes::default() });
    assert_eq!(refused(&report), ["equality-ids-missing"]);
}

#[test]
fn snapshots_of_one_commit_build_on_each_other() {
    let mut table = Table::new(3, true);
    let file = data("a", 100).in_partition(1);
    let first = table.next(Changes { operation: Some("append"), data: vec![file.clone()], ..Changes::default() });
    table.snapshots.push(first.clone());
    let deletes = puffin(&mut table.objects, "v", &[(&file, &[1])]);
    let mut second = table.next(Changes { deletes, ..Changes::default() });
    second.first_row_id = 100;
    table.snapshots.pop();
    let report = table.judge(&[first, second]).unwrap();
    assert_passes(&report);
    assert_eq!(report.row_id_end, Some(100));
}

#[test]
fn storage_that_does_not_answer_gives_no_verdict() {
    for place in ["snap-300.avro", "x300.avro", "new.puffin", "old.puffin", "d100.avro", "snap-200.avro"] {
        let mut case = deleted();
        case.table.cold();
        let new = case.puffin("new", 0, &[1, 2, 3]);
        let deletes = vec![new, case.old(0, 2), case.old(1, 0)];
        let next = case.table.next(Changes { deletes, drop: vec!["x200".to_owned()], ..Changes::default() });
        case.table.objects.unavailable = vec![place.to_owned()];
        let fault = case.table.judge(&[next]).expect_err(place);
        assert!(fault.location.ends_with(place), "{fault}");
    }
}

#[test]
fn what_lies_outside_the_warehouse_is_not_read() {
    let mut case = deleted();
    let mut next = case.table.next(Changes { data: vec![data("c", 5).in_partition(1)], ..Changes::default() });
    next.manifests.last_mut().unwrap().path = "gs://other/d300.avro".to_owned();
    let report = case.table.judge(&[next]).unwrap();
    assert_eq!(refused(&report), ["manifest-outside"]);
    assert_eq!(report.refused[0].expected, "a location under gs://warehouse");

    let mut vector = case.puffin("new", 0, &[1, 2, 3]);
    vector.path = "file:/etc/passwd".to_owned();
    let entries = vec![vector, case.old(0, 2), case.old(1, 0)];
    assert_eq!(refused(&case.replace(entries)), ["puffin-outside"]);
}

/// A second reader, with a narrower boundary, gets nothing of what the first left in the cache.
#[test]
fn the_cache_is_no_way_around_the_boundary() {
    let mut case = deleted();
    case.table.commit(Changes { data: vec![data("c", 5).in_partition(1)], ..Changes::default() });
    case.table.objects.forbidden = vec!["d100.avro".to_owned(), "snap-300.avro".to_owned()];
    let new = case.puffin("new", 0, &[1, 2, 3]);
    let deletes = vec![new, case.old(0, 2), case.old(1, 0)];
    let report = judge(&mut case.table, Changes { deletes, drop: vec!["x200".to_owned()], ..Changes::default() });
    let skipped: Vec<_> = report.not_checked.iter().map(|skipped| skipped.rule).collect();
    assert!(skipped.contains(&"carried-*") && skipped.contains(&"dv-*"), "{skipped:?}");
}

#[test]
fn encrypted_files_are_not_checked_and_that_is_said() {
    let mut case = deleted();
    let mut vector = case.puffin("new", 0, &[1, 2, 3]);
    vector.key_metadata = Some(vec![1]);
    let entries = vec![vector, case.old(0, 2), case.old(1, 0)];
    let report = case.replace(entries);
    assert!(report.refused.is_empty(), "{:#?}", report.refused);
    assert_eq!(report.not_checked[0].reason, "the file is encrypted");

    let mut next =
        case.table.next(Changes { deletes: vec![case.old(1, 0)], drop: vec!["x200".to_owned()], ..Changes::default() });
    next.manifests.last_mut().unwrap().key_metadata = Some(vec![1]);
    let report = case.table.judge(&[next]).unwrap();
    assert!(report.refused.is_empty(), "{:#?}", report.refused);
    let skipped: Vec<_> = report.not_checked.iter().map(|skipped| skipped.rule).collect();
    assert_eq!(skipped, ["manifest-*", "dv-lost"]);
}

#[test]
fn carried_manifests_must_be_as_they_were() {
    let mut case = deleted();
    let mut next = case.table.next(Changes { data: vec![data("c", 5).in_partition(1)], ..Changes::default() });
    next.manifests[0].sequence_number = 3;
    let report = case.table.judge(&[next]).unwrap();
    assert_eq!(refused(&report), ["carried-manifest-altered"]);
    assert_eq!((&*report.refused[0].expected, &*report.refused[0].found), ("sequence_number 1", "3"));
}

#[test]
fn manifests_of_nobody_are_refused_and_of_other_snapshots_warned_of() {
    let mut case = deleted();
    let mut next = case.table.next(Changes { data: vec![data("c", 5).in_partition(1)], ..Changes::default() });
    next.manifests.last_mut().unwrap().snapshot_id = 77;
    let report = case.table.judge(&[next]).unwrap();
    assert!(refused(&report).contains(&"carried-manifest-unknown"), "{:?}", refused(&report));

    // d100 leaves the table, and a later commit brings it back.
    let removal = case.table.next(Changes {
        operation: Some("delete"),
        drop: vec!["d100".to_owned(), "x200".to_owned()],
        ..Changes::default()
    });
    let old = case.table.snapshots[0].manifests[0].clone();
    case.table.accept(removal);
    let mut next = case.table.next(Changes { data: vec![data("c", 5).in_partition(1)], ..Changes::default() });
    next.manifests.push(old);
    let report = case.table.judge(&[next]).unwrap();
    assert_eq!(refused(&report), [""; 0]);
    assert!(warned(&report).contains(&"carried-manifest-from-elsewhere"), "{:?}", warned(&report));
}

#[test]
fn a_replaced_table_starts_without_a_parent() {
    let mut case = deleted();
    let drop = vec!["d100".to_owned(), "x200".to_owned()];
    let mut next = case.table.next(Changes { data: vec![data("c", 5).in_partition(1)], drop, ..Changes::default() });
    next.parent = None;
    assert_passes(&case.table.judge(&[next]).unwrap());
}

#[test]
fn row_ids_end_where_the_list_says_and_not_where_added_rows_does() {
    let mut table = Table::new(3, false);
    let mut next = table.next(Changes { data: vec![data("a", 100)], ..Changes::default() });
    next.added_rows = 10;
    let report = table.judge(&[next]).unwrap();
    assert_eq!((refused(&report), warned(&report)), (vec![], vec!["added-rows-too-small"]));
    assert_eq!(report.row_id_end, Some(100));
}

#[test]
fn the_first_commit_after_an_upgrade_gives_ids_to_carried_manifests() {
    let mut case = Table::new(3, false);
    let mut old = case.next(Changes { data: vec![data("a", 100)], ..Changes::default() });
    old.manifests[0].first_row_id = None;
    old.added_rows = 0;
    case.accept(old);
    let mut next = case.next(Changes { data: vec![data("b", 50)], ..Changes::default() });
    next.manifests[0].first_row_id = Some(50);
    next.added_rows = 150;
    let report = case.judge(std::slice::from_ref(&next)).unwrap();
    assert_eq!((refused(&report), warned(&report)), (vec![], vec![]));
    assert_eq!(report.row_id_end, Some(150));
    // Ranges that meet are refused.
    next.manifests[0].first_row_id = Some(49);
    assert_eq!(refused(&case.judge(std::slice::from_ref(&next)).unwrap()), ["row-id-ranges-overlap"]);
    // Without an id the old rows would stay without.
    next.manifests[0].first_row_id = None;
    assert_eq!(refused(&case.judge(&[next]).unwrap()), ["manifest-first-row-id-missing"]);
}

#[test]
fn a_next_row_id_that_another_catalog_left_behind_is_made_up_for() {
    let mut table = Table::new(3, false);
    let mut old = table.next(Changes { data: vec![data("a", 100)], ..Changes::default() });
    old.added_rows = 10;
    table.accept(old);
    let next = table.next(Changes { data: vec![data("b", 5)], ..Changes::default() });
    assert_eq!((next.first_row_id, next.added_rows), (10, 5));
    assert_eq!(table.judge(&[next]).unwrap().row_id_end, Some(100));
}

#[test]
fn ids_that_a_first_row_id_skips_may_be_given() {
    let mut table = Table::new(3, false);
    table.commit(Changes { data: vec![data("a", 100)], ..Changes::default() });
    let mut next = table.next(Changes { data: vec![data("b", 5)], ..Changes::default() });
    next.first_row_id = 107;
    let report = table.judge(std::slice::from_ref(&next)).unwrap();
    assert_eq!((refused(&report), warned(&report)), (vec![], vec!["first-row-id-ahead"]));
    // Those of other rows may not.
    next.manifests.last_mut().unwrap().first_row_id = Some(99);
    assert_eq!(refused(&table.judge(&[next]).unwrap()), ["row-id-ranges-overlap"]);
}

#[test]
fn many_faults_are_counted_and_few_are_shown() {
    let mut table = Table::new(3, false);
    let files: Vec<_> = (0..100).map(|n| Entry { size: -1, ..data(&format!("f{n}"), 1) }).collect();
    let report = judge(&mut table, Changes { data: files, ..Changes::default() });
    assert_eq!(report.refused.iter().filter(|violation| violation.rule == "negative-counts").count(), 5);
    assert!(report.refused_count >= 100, "{}", report.refused_count);
}

#[test]
fn messages_say_what_where_and_which_rule() {
    let mut case = deleted();
    let vector = case.puffin("new", 0, &[1, 2, 3]);
    let path = vector.path.clone();
    let mut bytes = case.table.objects.object(&path).to_vec();
    bytes[4 + 20] ^= 1;
    case.table.objects.put(&path, bytes);
    let entries = vec![vector, case.old(0, 2), case.old(1, 0)];
    let report = case.replace(entries);
    let [violation] = &report.refused[..] else { panic!("{:#?}", report.refused) };
    assert_eq!(violation.object, format!("{LOCATION}/data/new.puffin"));
    assert_eq!(violation.offset, Some(46));
    let start = "gs://warehouse/t/data/new.puffin at byte 46 breaks rule dv-crc: a vector's checksum is the CRC-32 of magic \
                 and bitmaps, big-endian. Expected CRC-32 ";
    assert!(violation.message.starts_with(start), "{}", violation.message);
    let json = serde_json::to_value(violation).unwrap();
    assert_eq!(json["rule"], "dv-crc");
    assert_eq!(json.as_object().unwrap().len(), 6);
}

#[test]
fn a_list_that_is_missing_or_broken_is_refused() {
    let mut table = Table::new(3, false);
    let next = table.next(Changes { data: vec![data("a", 100)], ..Changes::default() });
    table.judge(std::slice::from_ref(&next)).unwrap();
    let new = {
        table.accept(next);
        table.metadata.clone()
    };
    let empty = Table::new(3, false);
    let commit = super::support::Commit::between(Some(&empty.metadata), &new);
    for (object, rule) in [(None, "manifest-list-missing"), (Some("junk"), "manifest-list-unreadable")] {
        table.objects.remove(&list_location(100));
        if let Some(text) = object {
            table.objects.put(&list_location(100), text);
        }
        let report = commit.judge(&table.objects, &empty.cache, &Levels::default()).unwrap();
        assert_eq!(refused(&report), [rule]);
    }
}

#[test]
fn one_blob_is_not_two_files_vector() {
    let mut case = deleted();
    let new = case.puffin("new", 0, &[1, 2, 7]);
    let other = Entry { referenced: Some(case.files[1].path.clone()), partition: Some(2), ..new.clone() };
    let entries = vec![new, other, case.old(0, 2), case.old(1, 2)];
    assert_eq!(refused(&case.replace(entries)), ["blob-referenced-data-file", "puffin-entries-overlap"]);
}

/// Whatever is in a file, there is a verdict; and a vector with a flipped bit anywhere is refused.
#[test]
fn no_changed_byte_goes_unjudged() {
    let mut case = deleted();
    let new = case.puffin("new", 0, &[1, 2, 3]);
    let deletes = vec![new.clone(), case.old(0, 2), case.old(1, 0)];
    let next = case.table.next(Changes { deletes, drop: vec!["x200".to_owned()], ..Changes::default() });
    let places = [list_location(300), format!("{LOCATION}/metadata/x300.avro"), new.path.clone()];
    case.table.judge(std::slice::from_ref(&next)).unwrap();
    let commit = case.table.commit_of(&next);
    for place in places {
        let good = case.table.objects.object(&place);
        let is_puffin = place.ends_with(".puffin");
        let blob_end = 4 + usize::try_from(new.length.unwrap()).unwrap();
        for at in (0..good.len()).step_by(if is_puffin { 1 } else { 7 }) {
            let mut changed = good.to_vec();
            changed[at] ^= 1 << (at % 8);
            case.table.objects.put(&place, changed);
            let report = commit.judge(&case.table.objects, &case.table.cache, &Levels::default()).unwrap();
            assert!(!is_puffin || at >= blob_end + 4 || !report.refused.is_empty(), "byte {at} of {place}");
        }
        case.table.objects.put(&place, good);
    }
}

#[test]
fn an_empty_manifest_list_passes() {
    let mut table = Table::new(3, true);
    assert_passes(&judge(&mut table, Changes::default()));
}

/// Judges an append of files with rules about objects.
fn judge_objects(table: &mut Table, files: Vec<Entry>) -> Report {
    let mut levels = Levels::default();
    for rule in ["data-file-missing", "data-file-size", "data-file-outside"] {
        levels.set(rule, "deny").unwrap();
    }
    let next = table.next(Changes { operation: Some("append"), data: files, ..Changes::default() });
    table.judge_with(&[next], &levels).unwrap()
}

#[test]
fn objects_of_data_files_are_looked_at_where_that_is_wanted() {
    let mut table = Table::new(3, true);
    let file = data("a", 10).in_partition(1);
    let append = |table: &mut Table| judge_objects(table, vec![file.clone()]);
    assert_eq!(refused(&append(&mut table)), ["data-file-missing"]);
    table.objects.put(&file.path, vec![0; 999]);
    assert_eq!(refused(&append(&mut table)), ["data-file-size"]);
    table.objects.put(&file.path, vec![0; 1000]);
    assert_passes(&append(&mut table));
    table.objects.forbidden.push(file.path.clone());
    assert_eq!(refused(&append(&mut table)), ["data-file-outside"]);
    assert_passes(&judge(&mut table, Changes { operation: Some("append"), data: vec![file], ..Changes::default() }));
}

#[test]
fn of_many_objects_a_sample_is_looked_at() {
    let mut table = Table::new(3, true);
    let files: Vec<Entry> = (0..250).map(|n| data(&format!("f{n}"), 1).in_partition(1)).collect();
    let report = judge_objects(&mut table, files);
    assert_eq!((refused(&report), report.refused_count), (vec!["data-file-missing"], 84));
    assert_eq!(report.not_checked[0].rule, "data-file-*");
}

#[test]
fn a_first_row_id_that_is_ahead_is_warned_of() {
    let mut table = Table::new(3, true);
    let file = data("a", 10).in_partition(1);
    let mut next = table.next(Changes { operation: Some("append"), data: vec![file], ..Changes::default() });
    next.first_row_id = 5;
    next.manifests[0].first_row_id = Some(5);
    let report = table.judge(&[next]).unwrap();
    assert_eq!((refused(&report), warned(&report)), (vec![], vec!["first-row-id-ahead"]));
}
