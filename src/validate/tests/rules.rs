//! Each rule on facts that break it and no other rule that refuses.

use std::collections::HashSet;
use std::sync::Arc;

use futures::executor::block_on;
use serde_json::Value as Json;

use super::support::{Commit, folder, json, new_cache, refused, warned};
use super::writer::{Changes, Entry, Table, data, puffin};
use crate::manifest::{
    Bounds, Details, FileContent, FileFormat, Kind, Manifest, ManifestContent, ManifestEntry, ManifestFile, Status,
};
use crate::spec::{Primitive, Snapshot, TableMetadata, Type};
use crate::validate::facts::{
    DataFileState, DuplicateVector, Facts, FileObject, Frame, Gathered, LostDelete, LostPositions, ObjectState, Origin,
    Parent, PuffinFacts, Request, Stale, StaleDelete, VectorPlace,
};
use crate::validate::gather::{Context, Source, gather};
use crate::validate::{Level, Levels, Report, catalogue, judge};

/// A table whose last snapshot does all there is: adds two data files, carries a manifest, rewrites another with an
/// EXISTING and a DELETED entry, replaces one vector and moves another.
fn table() -> Table {
    let mut table = Table::new(3, true);
    let files = [data("a", 100).in_partition(1), data("b", 100).in_partition(2)];
    let append = |data: Vec<Entry>| Changes { operation: Some("append"), data, ..Changes::default() };
    table.commit(append(files.to_vec()));
    table.commit(append(vec![data("c", 10).in_partition(3), data("d", 10).in_partition(3)]));
    let vectors = puffin(&mut table.objects, "old", &[(&files[0], &[1, 2]), (&files[1], &[7])]);
    let by = table.commit(Changes { deletes: vectors.clone(), ..Changes::default() });
    let kept = Entry { first_row_id: Some(200), ..data("c", 10).in_partition(3).later(0, 200, 2) };
    let gone = Entry { first_row_id: Some(210), ..data("d", 10).in_partition(3).later(2, 400, 2) };
    let added = [data("e", 5).in_partition(4), data("f", 5).in_partition(4)];
    let mut deletes = puffin(&mut table.objects, "new", &[(&files[0], &[1, 2, 3])]);
    deletes.push(vectors[0].later(2, 400, by.sequence_number));
    deletes.push(vectors[1].later(0, by.id, by.sequence_number));
    let data = [&added[..], &[kept, gone]].concat();
    let drop = vec!["d200".to_owned(), "x300".to_owned()];
    table.commit(Changes { operation: Some("overwrite"), data, deletes, drop });
    table
}

/// What is gathered about the last snapshot of the table.
fn with_facts(table: &Table, change: impl FnOnce(&mut Facts<'_>), levels: &Levels) -> Report {
    let snapshot = table.metadata.current_snapshot().unwrap();
    let cache = new_cache();
    let source = Source::new(&table.objects, &cache, levels);
    let context = Context {
        source: &source,
        levels,
        table: &table.metadata,
        snapshot,
        format_version: 3,
        request: Request::default(),
        thrifty: true,
    };
    let mut gathered: Gathered<'_> = block_on(gather(&context)).unwrap();
    change(gathered.facts.as_mut().unwrap());
    let mut report = Report::default();
    judge::check(gathered, levels, &mut report);
    report
}

/// The row of the manifest that the snapshot wrote: of data files, or of delete files.
fn row<'a>(facts: &'a mut Facts<'_>, content: ManifestContent) -> &'a mut ManifestFile {
    let place = facts.rows().position(|(file, origin)| origin == Origin::New && file.content == content).unwrap();
    &mut Arc::make_mut(&mut facts.list).manifests[place]
}

fn data_row<'a>(facts: &'a mut Facts<'_>) -> &'a mut ManifestFile {
    row(facts, ManifestContent::Data)
}

fn deletes_row<'a>(facts: &'a mut Facts<'_>) -> &'a mut ManifestFile {
    row(facts, ManifestContent::Deletes)
}

/// The row of the manifest that the snapshot carries.
fn carried<'a>(facts: &'a mut Facts<'_>) -> &'a mut ManifestFile {
    let place = facts.origins.iter().position(|origin| matches!(origin, Origin::Parent(_))).unwrap();
    &mut Arc::make_mut(&mut facts.list).manifests[place]
}

fn carried_origin<'a>(facts: &'a mut Facts<'_>) -> &'a mut Origin {
    facts.origins.iter_mut().find(|origin| matches!(origin, Origin::Parent(_))).unwrap()
}

fn parent_rows<'a>(facts: &'a mut Facts<'_>) -> &'a mut Vec<ManifestFile> {
    let Parent::Known(list) = &mut facts.parent else { panic!("no parent") };
    &mut Arc::make_mut(list).manifests
}

fn manifest<'a>(facts: &'a mut Facts<'_>, content: ManifestContent) -> &'a mut Manifest {
    let list = Arc::clone(&facts.list);
    let new = facts.manifests.iter_mut().find(|new| list.manifests[new.place].content == content).unwrap();
    Arc::make_mut(&mut new.manifest)
}

/// The first entry of the manifest of data files, or of delete files, with a status.
fn entry<'a>(facts: &'a mut Facts<'_>, content: ManifestContent, status: Status) -> &'a mut ManifestEntry {
    manifest(facts, content).entries.iter_mut().find(|entry| entry.status == status).unwrap()
}

fn added<'a>(facts: &'a mut Facts<'_>) -> &'a mut ManifestEntry {
    entry(facts, ManifestContent::Data, Status::Added)
}

fn vector<'a>(facts: &'a mut Facts<'_>) -> &'a mut ManifestEntry {
    entry(facts, ManifestContent::Deletes, Status::Added)
}

/// Replaces the snapshot by one whose JSON has another value.
fn change_snapshot(facts: &mut Facts<'_>, key: &str, value: Json) {
    let mut json: Json = serde_json::from_str(facts.snapshot.to_json().get()).unwrap();
    json[key] = value;
    let raw = serde_json::value::RawValue::from_string(json.to_string()).unwrap();
    facts.snapshot = Box::leak(Box::new(Snapshot::parse(raw).unwrap()));
}

/// Replaces the table by a changed one.
fn change_table(facts: &mut Facts<'_>, change: impl FnOnce(&mut TableMetadata)) {
    let mut table = facts.table.clone();
    change(&mut table);
    facts.table = Box::leak(Box::new(table));
}

fn live<'a>(facts: &'a mut Facts<'_>) -> &'a mut crate::validate::facts::DataFileFacts {
    match &mut facts.vectors[0].data_file {
        DataFileState::Live(data_file) => data_file,
        other => panic!("{other:?}"),
    }
}

fn lost(facts: &Facts<'_>, format: FileFormat) -> LostDelete {
    let mut file = facts.vectors[0].entry.data_file.clone();
    file.file_format = format;
    LostDelete { file, data_file: "gs://warehouse/t/data/a.parquet".into() }
}

fn stale(facts: &Facts<'_>, why: Stale) -> StaleDelete {
    StaleDelete { manifest: "m".into(), file: facts.vectors[0].entry.data_file.clone(), why }
}

fn details(split_offsets: Option<&[i64]>, bounds: &[(i32, &[u8])]) -> Box<Details> {
    let lower_bounds = Some(Bounds::of(bounds));
    Box::new(Details { split_offsets: split_offsets.map(Into::into), lower_bounds, ..Details::default() })
}

fn object(found: ObjectState) -> FileObject {
    let (manifest, path) = pair();
    FileObject { manifest, path, declared: 5, found }
}

fn pair() -> (Box<str>, Box<str>) {
    ("gs://warehouse/t/metadata/m.avro".into(), "gs://warehouse/t/data/a.parquet".into())
}

type Change = fn(&mut Facts<'_>);

/// A rule, and a change to good facts that breaks it.
const CHANGES: &[(&str, Change)] = &[
    ("manifest-list-fields", |facts| Arc::make_mut(&mut facts.list).missing_fields.push(517)),
    ("manifest-list-metadata", |facts| {
        Arc::make_mut(&mut facts.list).metadata.insert("snapshot-id".to_owned(), "9".to_owned());
    }),
    ("manifest-list-not-under-table", |facts| facts.list_location = "gs://warehouse/t2/metadata/l.avro"),
    ("manifest-twice", |facts| {
        let again = carried(facts).clone();
        Arc::make_mut(&mut facts.list).manifests.push(again);
        let origin = *carried_origin(facts);
        facts.origins.push(origin);
    }),
    ("unknown-partition-spec", |facts| change_table(facts, |table| table.partition_specs[0].spec_id = 5)),
    ("manifest-content", |facts| data_row(facts).content = ManifestContent::Other(2)),
    ("deletes-in-v1", |facts| {
        facts.format_version = 1;
        let deletes = manifest(facts, ManifestContent::Deletes);
        deletes.entries.iter_mut().for_each(|entry| entry.data_file.file_format = FileFormat::Parquet);
        facts.vectors.clear();
    }),
    ("manifest-counts", |facts| data_row(facts).added_rows_count = None),
    ("manifest-counts", |facts| deletes_row(facts).deleted_files_count = None),
    ("manifest-sequence-number", |facts| data_row(facts).sequence_number = 3),
    ("manifest-sequence-number", |facts| data_row(facts).min_sequence_number = -1),
    ("manifest-sequence-ahead", |facts| {
        carried(facts).sequence_number = 99;
        let path = carried(facts).manifest_path.clone();
        parent_rows(facts).iter_mut().find(|row| row.manifest_path == path).unwrap().sequence_number = 99;
    }),
    ("unknown-transform-data", |facts| {
        change_table(facts, |table| {
            table.partition_specs[0].fields[0].transform = crate::spec::Transform::Other("zorder".to_owned());
        });
    }),
    ("append-with-deletes", |facts| change_snapshot(facts, "summary", serde_json::json!({"operation": "append"}))),
    ("v2-first-row-id", |facts| facts.format_version = 2),
    ("snapshot-row-ids-before-v3", |facts| facts.format_version = 2),
    ("snapshot-operation", |facts| change_snapshot(facts, "summary", serde_json::json!({"operation": "compact"}))),
    ("first-row-id-ahead", |facts| facts.request.next_row_id = Some(0)),
    ("carried-manifest-altered", |facts| carried(facts).manifest_length += 1),
    ("carried-manifest-altered", |facts| carried(facts).existing_files_count = Some(9)),
    ("carried-manifest-altered", |facts| carried(facts).first_row_id = Some(9)),
    ("carried-manifest-unknown", |facts| *carried_origin(facts) = Origin::Nowhere),
    ("carried-manifest-from-elsewhere", |facts| *carried_origin(facts) = Origin::OtherSnapshot(5)),
    ("carried-manifest-without-parent", |facts| {
        *carried_origin(facts) = Origin::Nowhere;
        facts.parent = Parent::None;
    }),
    ("live-file-count", |facts| {
        let mut more = parent_rows(facts)[0].clone();
        more.manifest_path = "gs://warehouse/t/metadata/more.avro".into();
        parent_rows(facts).push(more);
    }),
    ("manifest-first-row-id-missing", |facts| data_row(facts).first_row_id = None),
    ("delete-manifest-first-row-id", |facts| deletes_row(facts).first_row_id = Some(1)),
    ("row-id-ranges-overlap", |facts| facts.row_ranges[0].start = 0),
    ("row-id-ranges-overlap", |facts| facts.row_ranges[0].start = i64::MAX),
    ("row-id-ranges-overlap", |facts| {
        let mut other = facts.row_ranges[0].clone();
        other.start += other.rows - 1;
        facts.row_ranges.push(other);
    }),
    ("row-id-ranges-overlap", |facts| {
        let start = facts.row_ranges[0].start;
        added(facts).data_file.first_row_id = Some(start + 4);
    }),
    ("added-rows-too-small", |facts| facts.row_ranges[0].rows += 1000),
    ("added-file-first-row-id", |facts| added(facts).data_file.first_row_id = Some(1 << 40)),
    ("existing-file-first-row-id", |facts| {
        entry(facts, ManifestContent::Data, Status::Existing).data_file.first_row_id = None;
    }),
    ("delete-file-first-row-id", |facts| vector(facts).data_file.first_row_id = Some(1)),
    ("manifest-length", |facts| facts.manifests[0].size += 1),
    ("manifest-content-differs", |facts| {
        manifest(facts, ManifestContent::Deletes).metadata.insert("content".to_owned(), "data".to_owned());
    }),
    ("manifest-spec-id", |facts| {
        manifest(facts, ManifestContent::Data).metadata.insert("partition-spec-id".to_owned(), "3".to_owned());
    }),
    ("manifest-spec-fields", |facts| {
        manifest(facts, ManifestContent::Data).metadata.insert("partition-spec".to_owned(), "[]".to_owned());
    }),
    ("manifest-file-counts", |facts| data_row(facts).added_files_count = Some(7)),
    ("manifest-row-counts", |facts| data_row(facts).added_rows_count = Some(7)),
    ("delete-manifest-row-counts", |facts| deletes_row(facts).added_rows_count = Some(7)),
    ("partition-tuple", |facts| manifest(facts, ManifestContent::Data).partition_columns[0].kind = Kind::Text),
    ("partition-tuple", |facts| manifest(facts, ManifestContent::Data).partition_columns.clear()),
    ("partition-tuple", |facts| {
        let columns = &mut manifest(facts, ManifestContent::Data).partition_columns;
        columns.push(crate::manifest::PartitionColumn { field_id: 1001, kind: Kind::Integer });
    }),
    ("partition-summary-count", |facts| data_row(facts).partitions = Some(Vec::new())),
    ("partition-summary-bounds", |facts| {
        data_row(facts).partitions.as_mut().unwrap()[0].upper_bound = Some(3_i32.to_le_bytes().into());
    }),
    ("entry-status", |facts| {
        let mut more = added(facts).clone();
        more.status = Status::Other(7);
        manifest(facts, ManifestContent::Data).entries.push(more);
    }),
    ("added-entry-snapshot-id", |facts| added(facts).snapshot_id = Some(1)),
    ("added-entry-sequence-number", |facts| added(facts).sequence_number = Some(99)),
    ("added-entry-file-sequence-number", |facts| added(facts).file_sequence_number = Some(1)),
    ("carried-entry-fields", |facts| entry(facts, ManifestContent::Data, Status::Existing).sequence_number = None),
    ("carried-entry-fields", |facts| {
        entry(facts, ManifestContent::Deletes, Status::Existing).file_sequence_number = None;
    }),
    ("deleted-entry-fields", |facts| entry(facts, ManifestContent::Data, Status::Deleted).sequence_number = None),
    ("entry-snapshot-id", |facts| entry(facts, ManifestContent::Deletes, Status::Existing).snapshot_id = None),
    ("entry-snapshot-id", |facts| entry(facts, ManifestContent::Data, Status::Deleted).snapshot_id = Some(1)),
    ("entry-snapshot-id", |facts| entry(facts, ManifestContent::Data, Status::Existing).snapshot_id = Some(400)),
    ("file-content", |facts| added(facts).data_file.content = FileContent::Other(9)),
    ("negative-counts", |facts| added(facts).data_file.file_size_in_bytes = -1),
    ("file-added-twice", |facts| {
        let path = added(facts).data_file.file_path.clone();
        let entries = &mut manifest(facts, ManifestContent::Data).entries;
        entries.iter_mut().filter(|entry| entry.status == Status::Added).for_each(|entry| {
            entry.data_file.file_path = path.clone();
        });
    }),
    ("file-format", |facts| added(facts).data_file.file_format = FileFormat::Puffin),
    ("file-format", |facts| added(facts).data_file.file_format = FileFormat::Other("csv".into())),
    ("file-path-relative", |facts| added(facts).data_file.file_path = "a.parquet".into()),
    ("equality-ids-missing", |facts| {
        let file = &mut entry(facts, ManifestContent::Deletes, Status::Existing).data_file;
        (file.content, file.file_format) = (FileContent::EqualityDeletes, FileFormat::Parquet);
    }),
    ("equality-ids", |facts| added(facts).data_file.equality_ids = Some(vec![1])),
    ("equality-ids", |facts| {
        let file = &mut entry(facts, ManifestContent::Deletes, Status::Existing).data_file;
        (file.content, file.file_format) = (FileContent::EqualityDeletes, FileFormat::Parquet);
        file.equality_ids = Some(vec![77]);
    }),
    ("equality-delete-float", |facts| {
        change_table(facts, |table| table.schemas[0].fields[0].field_type = Type::Primitive(Primitive::Float));
        let file = &mut vector(facts).data_file;
        (file.content, file.file_format) = (FileContent::EqualityDeletes, FileFormat::Parquet);
        (file.content_offset, file.content_size_in_bytes) = (None, None);
        file.equality_ids = Some(vec![1]);
    }),
    ("split-offsets", |facts| added(facts).data_file.details = Some(details(Some(&[4, 4]), &[]))),
    ("split-offsets", |facts| added(facts).data_file.details = Some(details(Some(&[4, 1 << 40]), &[]))),
    ("column-bounds", |facts| added(facts).data_file.details = Some(details(None, &[(2, &[1, 2, 3])]))),
    ("data-file-missing", |facts| facts.objects.push(object(ObjectState::Missing))),
    ("data-file-outside", |facts| facts.objects.push(object(ObjectState::Outside))),
    ("data-file-size", |facts| facts.objects.push(object(ObjectState::Size(7)))),
    ("sort-order-id", |facts| added(facts).data_file.sort_order_id = Some(9)),
    ("delete-file-content-offset", |facts| added(facts).data_file.content_offset = Some(4)),
    ("summary", |facts| {
        change_snapshot(facts, "summary", serde_json::json!({"operation": "overwrite", "added-dvs": "5"}));
    }),
    ("existing-file-unknown", |facts| facts.history.existing_unknown.push(pair())),
    ("existing-file-changed", |facts| {
        facts.history.existing_changed.push((pair().0, pair().1, "record_count 3 instead of 4".to_owned()));
    }),
    ("deleted-file-unknown", |facts| facts.history.deleted_unknown.push(pair())),
    ("live-file-vanished", |facts| facts.history.vanished = 1),
    ("file-already-live", |facts| facts.history.added_again.push(pair())),
    ("dv-left-behind", |facts| facts.stale_deletes.push(stale(facts, Stale::DataFileRemoved))),
    ("position-deletes-left-behind", |facts| facts.stale_deletes.push(stale(facts, Stale::VectorAdded))),
    ("not-puffin", |facts| vector(facts).data_file.file_format = FileFormat::Parquet),
    ("dv-in-v2", |facts| facts.format_version = 2),
    ("dv-missing-referenced-data-file", |facts| vector(facts).data_file.referenced_data_file = None),
    ("dv-missing-content-offset", |facts| vector(facts).data_file.content_offset = None),
    ("dv-missing-content-size", |facts| vector(facts).data_file.content_size_in_bytes = None),
    ("dv-out-of-bounds", |facts| {
        facts.vectors[0].puffin = None;
        facts.vectors[0].entry.data_file.content_offset = Some(0);
    }),
    ("bare-dv-blob", |facts| {
        let frame = Frame::Bare { allowed: false };
        facts.vectors[0].puffin = Some(Arc::new(PuffinFacts { size: 1 << 20, footer: None, frame }));
        facts.vectors[0].entry.data_file.file_size_in_bytes = 1 << 20;
    }),
    ("puffin-not-under-table", |facts| change_table(facts, |table| table.location = "gs://warehouse/t2".to_owned())),
    ("two-dvs", |facts| {
        let place = |name: &str| VectorPlace { file_path: name.into(), content_offset: Some(4) };
        let (manifest, data_file) = pair();
        facts.duplicate_vectors.push(DuplicateVector { manifest, data_file, added: place("x"), other: place("y") });
    }),
    ("dv-lost", |facts| facts.lost_deletes.push(lost(facts, FileFormat::Puffin))),
    ("position-deletes-lost", |facts| facts.lost_deletes.push(lost(facts, FileFormat::Parquet))),
    ("dv-references-unknown-data-file", |facts| facts.vectors[0].data_file = DataFileState::Unknown),
    ("dv-dangling", |facts| facts.vectors[0].data_file = DataFileState::Removed { by: "a commit".to_owned() }),
    ("dv-partition", |facts| live(facts).spec_id = 3),
    ("dv-partition", |facts| live(facts).partition = crate::manifest::Partition::default()),
    ("dv-sequence-number", |facts| live(facts).sequence_number = 99),
    ("dv-position-out-of-range", |facts| live(facts).record_count = 3),
    ("dv-position-out-of-range", |facts| {
        facts.vectors[0].data_file = DataFileState::NotSearched;
        facts.vectors[0].decoded.as_mut().unwrap().max_position = Some(1 << 42);
    }),
    ("dv-empty", |facts| {
        (facts.vectors[0].puffin, facts.vectors[0].decoded) = (None, None);
        facts.vectors[0].entry.data_file.record_count = 0;
    }),
    ("dv-cardinality-shrinks", |facts| facts.vectors[0].previous[0].file.record_count = 99),
    ("dv-loses-positions", |facts| {
        facts.vectors[0].previous[0].lost = Some(LostPositions { count: 2, first: Some(1) });
    }),
    ("puffin-size", |facts| facts.vectors[0].entry.data_file.file_size_in_bytes += 1),
    ("dv-cardinality", |facts| facts.vectors[0].decoded.as_mut().unwrap().cardinality = 2),
];

#[test]
fn good_facts_break_nothing() {
    let report = with_facts(&table(), |_| {}, &Levels::default());
    assert_eq!((refused(&report), warned(&report)), (vec![], vec![]));
}

#[test]
fn each_rule_is_broken_by_its_own_fault_and_no_other_rule_refuses_it() {
    let table = table();
    for (rule, change) in CHANGES {
        let mut levels = Levels::default();
        if levels.of(rule) == Level::Off {
            levels.set(rule, "warn").unwrap();
        }
        let report = with_facts(&table, change, &levels);
        if levels.of(rule) == Level::Deny {
            assert_eq!(refused(&report), [*rule]);
        } else {
            assert!(warned(&report).contains(rule), "{rule}: {:?}", warned(&report));
            // Taking the table for version 2 makes its vectors wrong too.
            assert!(
                refused(&report).is_empty() || rule.contains("v2-") || rule.ends_with("-v3"),
                "{rule}: {:?}",
                refused(&report)
            );
        }
        levels.set(rule, "off").unwrap();
        let report = with_facts(&table, change, &levels);
        assert!(!refused(&report).contains(rule) && !warned(&report).contains(rule), "{rule} is off");
    }
}

#[test]
fn an_entry_that_is_removed_inherits_its_snapshot_id() {
    let inherits = |facts: &mut Facts<'_>| entry(facts, ManifestContent::Data, Status::Deleted).snapshot_id = None;
    let report = with_facts(&table(), inherits, &Levels::default());
    assert_eq!((refused(&report), warned(&report)), (vec![], vec![]));
}

#[test]
fn who_carries_a_delete_manifest_over_is_not_warned_of_the_row_id_that_another_gave_it() {
    let carry = |facts: &mut Facts<'_>, before: Option<i64>| {
        let place = facts.rows().position(|(file, _)| file.content == ManifestContent::Deletes).unwrap();
        deletes_row(facts).first_row_id = Some(7);
        let known = ManifestFile { first_row_id: before, ..facts.list.manifests[place].clone() };
        parent_rows(facts).push(known);
        facts.origins[place] = Origin::Parent(parent_rows(facts).len() - 1);
    };
    let warned_of = |before| {
        let report = with_facts(&table(), |facts| carry(facts, before), &Levels::default());
        warned(&report).contains(&"delete-manifest-first-row-id")
    };
    assert!(!warned_of(Some(7)));
    assert!(warned_of(None) && warned_of(Some(6)));
}

#[test]
fn what_is_removed_while_it_is_needed_is_warned_of() {
    let table = table();
    let mut new = table.metadata.clone();
    new.partition_specs[0].spec_id = 5;
    new.schemas[0].schema_id = 5;
    let commit = Commit { base: Some(table.metadata.clone()), new, added: Vec::new(), renumbered_specs: Vec::new() };
    let report = commit.judge(&table.objects, &new_cache(), &Levels::default()).unwrap();
    assert_eq!((refused(&report), warned(&report)), (vec![], vec!["removed-schema-in-use", "removed-spec-in-use"]));
    let unchanged = Commit { new: table.metadata.clone(), ..commit };
    table.objects.take_reads();
    let report = unchanged.judge(&table.objects, &new_cache(), &Levels::default()).unwrap();
    assert_eq!(report, Report::default());
    assert!(table.objects.take_reads().is_empty());
}

/// Codes of the parsers and of faults while reading, as their sources name them.
fn codes_in_sources() -> HashSet<&'static str> {
    const SOURCES: [&str; 5] = [
        include_str!("../../dv/mod.rs"),
        include_str!("../../dv/walk.rs"),
        include_str!("../../puffin.rs"),
        include_str!("../gather/source.rs"),
        include_str!("../gather/puffins.rs"),
    ];
    let words = SOURCES.iter().flat_map(|source| source.split('"'));
    words.filter(|word| catalogue().any(|rule| rule.id == *word)).collect()
}

#[test]
fn every_code_of_a_parser_is_a_rule() {
    for source in [include_str!("../../dv/mod.rs"), include_str!("../../dv/walk.rs"), include_str!("../../puffin.rs")] {
        let code = source.split("#[cfg(test)]").next().unwrap();
        for after in code.split("ParseError::new(").skip(1).chain(code.split("check_magic(").skip(1)) {
            let Some(id) = after.trim_start().strip_prefix('"').and_then(|rest| rest.split('"').next()) else {
                continue;
            };
            assert!(catalogue().any(|rule| rule.id == id), "{id} is no rule");
        }
    }
}

#[test]
fn every_rule_is_tested() {
    let mut tested: HashSet<String> = CHANGES.iter().map(|(rule, _)| (*rule).to_owned()).collect();
    tested.extend(codes_in_sources().into_iter().map(str::to_owned));
    for entry in std::fs::read_dir(folder("corrupt")).unwrap() {
        let case = json(&entry.unwrap().path().join("case.json"));
        tested.extend(case["code"].as_str().map(str::to_owned));
    }
    tested.extend(super::change::cases().into_iter().map(|(rule, _, _)| rule.to_owned()));
    // Tests of their own in `change`, in `commits`, in `cost`, in `at_rest`, and here above.
    let elsewhere = [
        "partition-spec-removed",
        "partition-spec-renumbered",
        "puffin-entries-overlap",
        "removed-schema-in-use",
        "removed-spec-in-use",
        "commit-too-large",
        "next-row-id-behind",
    ];
    tested.extend(elsewhere.map(str::to_owned));
    let untested: Vec<_> = catalogue().map(|rule| rule.id).filter(|id| !tested.contains(*id)).collect();
    assert!(untested.is_empty(), "{untested:?}");
}
