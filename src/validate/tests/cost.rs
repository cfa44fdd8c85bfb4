//! What a verdict reads: bounded by what the commit adds, not by the table.

use super::support::refused;
use super::writer::{Changes, Entry, Listed, Table, data, puffin, puffin_with};

fn names(reads: &[&str]) -> Vec<String> {
    reads.iter().map(|name| (*name).to_owned()).collect()
}

/// A partitioned table with 30 data manifests, one partition each, and no deletes.
fn many_manifests() -> (Table, Vec<Entry>) {
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
    assert_eq!(reads, 3, "size, tail, and one range with the head and all blobs");
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

/// 10,000 data files in 100 manifests; the first ten files of each have a vector, in ten Puffin files.
struct Large {
    table: Table,
    files: Vec<Entry>,
    vectors: Vec<Entry>,
    /// The name of the manifest of the vectors.
    manifest: String,
}

impl Large {
    fn new() -> Self {
        let mut table = Table::new(3, true);
        let mut files = Vec::new();
        for manifest in 0..100 {
            let all = (0..100).map(|n| data(&format!("f{manifest}-{n}"), 1000).in_partition(manifest));
            let all: Vec<_> = all.collect();
            files.extend(all[..10].to_vec());
            let next = table.next(Changes { operation: Some("append"), data: all, ..Changes::default() });
            table.accept(next);
        }
        let mut large = Self { table, files, vectors: Vec::new(), manifest: String::new() };
        let vectors = large.write("old", &[1, 5]);
        let added = large.table.next(Changes { deletes: vectors.clone(), ..Changes::default() });
        large.vectors = vectors.iter().map(|entry| entry.later(2, added.id + 100, added.sequence_number)).collect();
        large.manifest = format!("x{}", added.id);
        large.table.accept(added);
        large
    }

    /// A vector for each file, 100 in a Puffin file, 4000 bytes from each other: too much to be read whole.
    fn write(&mut self, name: &str, positions: &[u32]) -> Vec<Entry> {
        let mut entries = Vec::new();
        for (n, files) in self.files.chunks(100).enumerate() {
            let vectors: Vec<_> = files.iter().map(|file| (file, positions)).collect();
            entries.extend(puffin_with(&mut self.table.objects, &format!("{name}{n}"), &vectors, 4000));
        }
        entries
    }

    /// What a commit reads that puts a larger vector in the place of each, by name without digits, with counts.
    fn replace_all(&mut self) -> Vec<(String, usize)> {
        let mut deletes = self.write("new", &[1, 5, 9]);
        deletes.extend(self.vectors.clone());
        let drop = vec![self.manifest.clone()];
        let next = self.table.next(Changes { deletes, drop, ..Changes::default() });
        let report = self.table.judge(&[next]).unwrap();
        assert!(report.refused.is_empty() && report.not_checked.is_empty(), "{:#?}", report.refused);
        let mut counts = std::collections::BTreeMap::new();
        for read in self.table.objects.take_reads() {
            *counts.entry(read.replace(|letter: char| letter.is_ascii_digit(), "")).or_insert(0) += 1;
        }
        counts.into_iter().collect()
    }
}

#[test]
fn a_thousand_vectors_on_a_large_table_cost_what_they_are() {
    let mut large = Large::new();
    large.table.cold();
    let counts = |reads: &[(&str, usize)]| reads.iter().map(|(name, n)| ((*name).to_owned(), *n)).collect::<Vec<_>>();
    // Nothing is known: each data manifest once, the dropped delete manifest and the new one, both lists.
    let cold = [("d.avro", 100), ("new.puffin", 30), ("old.puffin", 10), ("snap-.avro", 2), ("x.avro", 2)];
    assert_eq!(large.replace_all(), counts(&cold));
    // All manifests are known: size, footer and all blobs of each new file, and the vectors that are replaced.
    let warm = [("new.puffin", 30), ("old.puffin", 10), ("snap-.avro", 1), ("x.avro", 1)];
    assert_eq!(large.replace_all(), counts(&warm));
}

#[test]
fn an_append_to_ten_thousand_manifests_reads_none_of_them() {
    let mut table = Table::new(3, false);
    let mut first = table.next(Changes { operation: Some("append"), data: vec![data("a", 1)], ..Changes::default() });
    let one = first.manifests[0].clone();
    for n in 1..10_000 {
        first.manifests.push(Listed { path: format!("{}-{n}", one.path), first_row_id: Some(n), ..one.clone() });
    }
    first.added_rows = 10_000;
    table.accept(first);
    let append = |table: &mut Table, name: &str| {
        let next = table.next(Changes { operation: Some("append"), data: vec![data(name, 5)], ..Changes::default() });
        let report = table.judge(std::slice::from_ref(&next)).unwrap();
        assert!(report.refused.is_empty(), "{:#?}", report.refused);
        (next, table.objects.take_reads())
    };
    let (next, reads) = append(&mut table, "b");
    assert_eq!(reads, names(&["d200.avro", "snap-100.avro", "snap-200.avro"]));
    table.accept(next);
    let (_, reads) = append(&mut table, "c");
    assert_eq!(reads, names(&["d300.avro", "snap-300.avro"]), "the parent's list is known");
}
