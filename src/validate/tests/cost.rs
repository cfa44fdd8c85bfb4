//! What a verdict reads: bounded by what the commit adds, not by the table.

use super::support::refused;
use super::writer::{Changes, Listed, Table, data, puffin, puffin_with};

fn names(reads: &[&str]) -> Vec<String> {
    reads.iter().map(|name| (*name).to_owned()).collect()
}

/// A partitioned table with 30 data manifests, one partition each, and no deletes.
fn many_manifests() -> (Table, Vec<super::writer::Entry>) {
    let mut table = Table::new(3, true);
    let files: Vec<_> = (0..30).map(|n| data(&format!("f{n}"), 100).in_partition(n)).collect();
    for file in &files {
        table.commit(Changes { operation: Some("append"), data: vec![file.clone()], ..Changes::default() });
    }
    (table, files)
}

#[test]
fn an_append_reads_two_lists_and_its_own_manifest() {
    let (mut table, _) = many_manifests();
    table.cold();
    let file = data("new", 5).in_partition(3);
    let next = table.next(Changes { operation: Some("append"), data: vec![file], ..Changes::default() });
    let report = table.judge(std::slice::from_ref(&next)).unwrap();
    assert!(report.refused.is_empty() && report.warnings.is_empty());
    assert_eq!(table.objects.take_reads(), names(&["d3100.avro", "snap-3000.avro", "snap-3100.avro"]));
    // What was read of the parent is not read again; what is new is, even when it was judged before.
    table.judge(&[next]).unwrap();
    assert_eq!(table.objects.take_reads(), names(&["d3100.avro", "snap-3100.avro"]));
}

#[test]
fn a_vector_costs_only_the_manifests_that_can_hold_its_data_file() {
    let (mut table, files) = many_manifests();
    table.cold();
    let deletes = puffin(&mut table.objects, "v1", &[(&files[7], &[1, 2])]);
    let next = table.next(Changes { operation: Some("delete"), deletes, ..Changes::default() });
    let report = table.judge(&[next]).unwrap();
    assert!(report.refused.is_empty(), "{:#?}", report.refused);
    let reads = ["d800.avro", "snap-3000.avro", "snap-3100.avro", "v1.puffin", "v1.puffin", "x3100.avro"];
    assert_eq!(table.objects.take_reads(), names(&reads), "size and bytes of the Puffin file are two reads");
}

#[test]
fn delete_manifests_that_are_all_carried_are_not_read() {
    let (mut table, files) = many_manifests();
    let deletes = puffin(&mut table.objects, "v1", &[(&files[7], &[1, 2])]);
    table.commit(Changes { deletes, ..Changes::default() });
    table.cold();
    let next = table.next(Changes { data: vec![data("new", 5).in_partition(3)], ..Changes::default() });
    table.judge(&[next]).unwrap();
    assert_eq!(table.objects.take_reads(), names(&["d3200.avro", "snap-3100.avro", "snap-3200.avro"]));
}

#[test]
fn vectors_that_are_only_moved_are_not_read_again() {
    let (mut table, files) = many_manifests();
    let deletes = puffin(&mut table.objects, "v1", &[(&files[7], &[1]), (&files[8], &[1])]);
    let added = table.commit(Changes { deletes: deletes.clone(), ..Changes::default() });
    let kept = deletes.iter().map(|entry| entry.later(0, added.id, added.sequence_number)).collect();
    let next = table.next(Changes {
        operation: Some("replace"),
        deletes: kept,
        drop: vec!["x3100".to_owned()],
        ..Changes::default()
    });
    let report = table.judge(&[next]).unwrap();
    assert!(report.refused.is_empty(), "{:#?}", report.refused);
    assert!(!table.objects.take_reads().contains(&"v1.puffin".to_owned()));
}

#[test]
fn a_replaced_vector_is_read_once_and_its_siblings_are_not() {
    let (mut table, files) = many_manifests();
    let deletes = puffin(&mut table.objects, "old", &[(&files[7], &[1]), (&files[8], &[1])]);
    let added = table.commit(Changes { deletes: deletes.clone(), ..Changes::default() });
    let mut new = puffin(&mut table.objects, "new", &[(&files[7], &[1, 5])]);
    new.push(deletes[0].later(2, 3200, added.sequence_number));
    new.push(deletes[1].later(0, added.id, added.sequence_number));
    let drop = vec!["x3100".to_owned()];
    let next = table.next(Changes { deletes: new, drop, ..Changes::default() });
    let report = table.judge(&[next]).unwrap();
    assert!(report.refused.is_empty(), "{:#?}", report.refused);
    let reads = ["new.puffin", "new.puffin", "old.puffin", "snap-3200.avro", "x3200.avro"];
    assert_eq!(table.objects.take_reads(), names(&reads), "the manifests are known");
}

#[test]
fn many_vectors_of_one_file_are_read_together() {
    let (mut table, files) = many_manifests();
    let vectors: Vec<_> = files.iter().map(|file| (file, &[1_u32, 50][..])).collect();
    // 30 vectors 20,000 bytes apart: too large to be read whole, near enough to be read at once.
    let deletes = puffin_with(&mut table.objects, "v", &vectors, 20_000);
    let next = table.next(Changes { deletes, ..Changes::default() });
    let report = table.judge(&[next]).unwrap();
    assert!(report.refused.is_empty(), "{:#?}", report.refused);
    let reads = table.objects.take_reads().into_iter().filter(|name| name == "v.puffin").count();
    assert_eq!(reads, 4, "size, head, tail, and one range with all blobs");
}

#[test]
fn a_snapshot_of_too_many_manifests_is_refused_before_they_are_read() {
    let mut table = Table::new(3, false);
    let mut next = table.next(Changes { data: vec![data("a", 1)], ..Changes::default() });
    let one = next.manifests[0].clone();
    for n in 0..20_000 {
        next.manifests.push(Listed { path: format!("{}-{n}", one.path), ..one.clone() });
    }
    let report = table.judge(&[next]).unwrap();
    assert!(refused(&report).contains(&"commit-too-large"), "{:?}", refused(&report));
    assert_eq!(table.objects.take_reads(), names(&["snap-100.avro"]));
}
