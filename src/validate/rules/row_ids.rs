//! Rules about row lineage (format version 3).

use crate::manifest::{FileContent, ManifestContent, Status};
use crate::validate::facts::{Facts, Origin, Parent, RowRange};
use crate::validate::finding::{Finding, Findings};
use crate::validate::level::Level::{Deny, Warn};

use super::{Check, EntryView, Reads, Rule};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "manifest-first-row-id-missing",
        level: Deny,
        statement: "every data manifest in a list of format version 3 has a first_row_id",
        protects: "Rows have no ids, and the next writer cannot give them any.",
        source: "spec: Row Lineage, First Row ID Assignment",
        reads: Reads::ManifestList,
        broken_by: "",
        check: Check::Snapshot(first_row_id_present),
    },
    Rule {
        id: "delete-manifest-first-row-id",
        level: Warn,
        statement: "a delete manifest is given no first_row_id",
        protects: "Nothing: readers ignore it.",
        source: "spec: Manifest Lists, first_row_id",
        reads: Reads::ManifestList,
        broken_by: "DuckDB before July 2026, also on delete manifests that it carries over",
        check: Check::Snapshot(none_on_delete_manifests),
    },
    Rule {
        id: "row-id-ranges-overlap",
        level: Deny,
        statement: "row ids are assigned once: ranges start where no id was given out before, and do not overlap",
        protects: "Two rows have one id: changes are told of the wrong row.",
        source: "spec: Row Lineage, First Row ID Assignment",
        reads: Reads::NewManifests,
        broken_by: "",
        check: Check::Snapshot(ranges_apart),
    },
    Rule {
        id: "added-rows-too-small",
        level: Warn,
        statement: "the snapshot's added-rows covers every row id that its list assigns",
        protects: "A catalog that counts by added-rows gives ids out twice; this one counts by the list.",
        source: "spec: Snapshots, added-rows",
        reads: Reads::ManifestList,
        broken_by: "writers that follow the spec's own example, where added-rows counts added files only",
        check: Check::Snapshot(added_rows_cover),
    },
    Rule {
        id: "first-row-id-ahead",
        level: Warn,
        statement: "a snapshot's first-row-id is the table's next-row-id",
        protects: "Row ids are used up that no row gets.",
        source: "spec: Row Lineage, First Row ID Assignment",
        reads: Reads::Metadata,
        broken_by: "DuckDB 1.5.5, in a MERGE",
        check: Check::Snapshot(not_ahead),
    },
    Rule {
        id: "added-file-first-row-id",
        level: Warn,
        statement: "a data file that is added has no first_row_id of its own",
        protects: "An id that another file has already.",
        source: "spec: Row Lineage, first_row_id of data files",
        reads: Reads::NewManifests,
        broken_by: "cherry-picks and writers that assign ids beforehand",
        check: Check::Entry(none_on_added_files),
    },
    Rule {
        id: "existing-file-first-row-id",
        level: Warn,
        statement: "a data file that is carried into a new manifest keeps its first_row_id",
        protects: "Its rows get new ids: lineage is lost, data is not.",
        source: "spec: Row Lineage, first_row_id of data files",
        reads: Reads::NewManifests,
        broken_by: "Iceberg Java before May 2026 when it merges manifests",
        check: Check::Entry(kept_on_existing_files),
    },
    Rule {
        id: "delete-file-first-row-id",
        level: Warn,
        statement: "a delete file has no first_row_id",
        protects: "Nothing: readers ignore it.",
        source: "spec: Data File Fields, first_row_id",
        reads: Reads::NewManifests,
        broken_by: "",
        check: Check::Entry(none_on_delete_files),
    },
];

fn first_row_id_present(facts: &Facts<'_>, findings: &mut Findings) {
    let data = facts.list.manifests.iter().filter(|file| file.content == ManifestContent::Data);
    for file in data.filter(|_| facts.format_version >= 3) {
        findings.expect(file.first_row_id.is_some(), || Finding::new(&file.manifest_path, "a first_row_id", "null"));
    }
}

fn none_on_delete_manifests(facts: &Facts<'_>, findings: &mut Findings) {
    let deletes = facts.rows().filter(|(file, _)| file.content == ManifestContent::Deletes);
    for (file, origin) in deletes {
        // Who carries a manifest over must describe it as it is.
        let carried = matches!(origin, Origin::Parent(place)
            if facts.parent_row(place).is_some_and(|known| known.first_row_id == file.first_row_id));
        if let Some(id) = file.first_row_id.filter(|_| !carried) {
            findings.add(|| Finding::new(&file.manifest_path, "no first_row_id", id));
        }
    }
}

fn ranges_apart(facts: &Facts<'_>, findings: &mut Findings) {
    let least = unused_from(facts);
    let mut before: Option<(i64, &RowRange)> = None;
    // A manifest without rows to give ids to may keep an old start: Sail does so where all entries are DELETED.
    for range in facts.row_ranges.iter().filter(|range| range.rows > 0) {
        findings.expect(range.start >= least, || {
            Finding::new(&range.object, format!("a first_row_id of {least} or above"), range.start)
        });
        let Some(end) = range.start.checked_add(range.rows) else {
            findings.add(|| {
                let found = format!("{} rows from {}", range.rows, range.start);
                Finding::new(&range.object, "row ids below 2^63", found)
            });
            continue;
        };
        // Of a manifest that was not read the rows are an upper bound, which proves no overlap. Where bounds overlap,
        // gathering reads the manifests first.
        if !range.exact {
            continue;
        }
        if let Some((taken, other)) = before {
            findings.expect(range.start >= taken, || {
                let expected = format!("a first_row_id of {taken} or above, after the rows of {}", other.object);
                Finding::new(&range.object, expected, range.start)
            });
        }
        if before.is_none_or(|(taken, _)| end > taken) {
            before = Some((end, range));
        }
    }
    ids_of_files_apart(facts, findings);
}

/// From where on no row id was given out before. That is the snapshot's first-row-id, or less if that skips some: in a
/// MERGE, DuckDB counts the positions of its vector among the rows of the first of two snapshots, but not in the second's
/// manifest list.
fn unused_from(facts: &Facts<'_>) -> i64 {
    let first = facts.snapshot.first_row_id.unwrap_or(0);
    let next = facts.request.next_row_id.or_else(|| earlier_end(facts));
    next.map_or(first, |next| next.min(first))
}

/// Where the row ids of earlier snapshots end, as a table at rest tells it; nothing if the parent has expired.
fn earlier_end(facts: &Facts<'_>) -> Option<i64> {
    facts.table.snapshot(facts.snapshot.parent_snapshot_id?)?;
    let earlier = facts.table.snapshots.iter().filter(|one| one.sequence_number < facts.snapshot.sequence_number);
    earlier.filter_map(|one| Some(one.first_row_id?.saturating_add(one.added_rows?))).max()
}

/// An added file that brings its own row ids must not take those that the list assigns to others.
fn ids_of_files_apart(facts: &Facts<'_>, findings: &mut Findings) {
    let exact: Vec<&RowRange> = facts.row_ranges.iter().filter(|range| range.exact && range.rows > 0).collect();
    for new in &facts.manifests {
        let Some(file) = facts.row(new) else { continue };
        for entry in new.manifest.entries.iter().filter(|entry| entry.status == Status::Added) {
            let Some(start) = entry.data_file.first_row_id else { continue };
            if entry.data_file.content != FileContent::Data || entry.data_file.record_count <= 0 {
                continue;
            }
            let end = start.saturating_add(entry.data_file.record_count);
            let place = exact.partition_point(|range| range.start.saturating_add(range.rows) <= start);
            if let Some(range) = exact.get(place).filter(|range| range.start < end) {
                findings.add(|| {
                    let expected = format!("row ids that {} does not get", range.object);
                    let found = format!("{start}..{end} for {}", entry.data_file.file_path);
                    Finding::new(&file.manifest_path, expected, found)
                });
            }
        }
    }
}

fn added_rows_cover(facts: &Facts<'_>, findings: &mut Findings) {
    let (Some(first), Some(added)) = (facts.snapshot.first_row_id, facts.snapshot.added_rows) else { return };
    let covered = first.saturating_add(added);
    let last = facts.row_ranges.iter().max_by_key(|range| range.start.saturating_add(range.rows));
    if let Some(last) = last {
        let end = last.start.saturating_add(last.rows);
        findings.expect(end <= covered, || {
            Finding::new(&last.object, format!("row ids below {covered} (first-row-id + added-rows)"), end)
        });
    }
}

/// A first-row-id that is behind is a conflict that needs no files (`spec`).
fn not_ahead(facts: &Facts<'_>, findings: &mut Findings) {
    if let (Some(first), Some(next)) = (facts.snapshot.first_row_id, facts.request.next_row_id) {
        let expected = format!("first-row-id {next}, the table's next-row-id");
        findings.expect(first <= next, || Finding::new(facts.list_location, expected, first));
    }
}

fn none_on_added_files(view: &EntryView<'_>, findings: &mut Findings) {
    let added = view.entry.status == Status::Added && view.entry.data_file.content == FileContent::Data;
    if let Some(id) = view.entry.data_file.first_row_id.filter(|_| added) {
        findings.add(|| view.finding("no first_row_id", id));
    }
}

fn kept_on_existing_files(view: &EntryView<'_>, findings: &mut Findings) {
    let existing = view.entry.status == Status::Existing && view.entry.data_file.content == FileContent::Data;
    if existing && parent_has_row_ids(view.facts) {
        findings.expect(view.entry.data_file.first_row_id.is_some(), || view.finding("a first_row_id", "null"));
    }
}

/// Whether every file of the parent has row ids; before the first commit of version 3 none has.
fn parent_has_row_ids(facts: &Facts<'_>) -> bool {
    let Parent::Known(parent) = &facts.parent else { return false };
    let mut data = parent.manifests.iter().filter(|file| file.content == ManifestContent::Data);
    facts.format_version >= 3 && data.all(|file| file.first_row_id.is_some())
}

fn none_on_delete_files(view: &EntryView<'_>, findings: &mut Findings) {
    if let Some(id) = view.entry.data_file.first_row_id.filter(|_| view.entry.data_file.content != FileContent::Data) {
        findings.add(|| view.finding("no first_row_id", id));
    }
}
