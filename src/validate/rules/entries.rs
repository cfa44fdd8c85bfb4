//! Rules about manifest entries: status, snapshot ids, sequence numbers.

use crate::manifest::{FileContent, ManifestContent, Status};
use crate::validate::finding::Findings;
use crate::validate::level::Level::{Deny, Warn};

use super::{Check, EntryView, Reads, Rule};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "entry-status",
        level: Deny,
        statement: "an entry is EXISTING (0), ADDED (1) or DELETED (2)",
        protects: "Readers do not know whether the file is live.",
        source: "spec: Manifest Entry Fields, status",
        reads: Reads::NewManifests,
        broken_by: "",
        check: Check::Entry(status),
    },
    Rule {
        id: "added-entry-snapshot-id",
        level: Deny,
        statement: "an ADDED entry belongs to the snapshot that writes it",
        protects: "Readers of changes tell the file of another snapshot.",
        source: "spec: Manifest Entry Fields, snapshot_id",
        reads: Reads::NewManifests,
        broken_by: "",
        check: Check::Entry(added_snapshot_id),
    },
    Rule {
        id: "added-entry-sequence-number",
        level: Deny,
        statement: "an ADDED entry's data sequence number is not above the snapshot's",
        protects: "Deletes of the next commits would not apply to the file.",
        source: "spec: Sequence Number Inheritance",
        reads: Reads::NewManifests,
        broken_by: "",
        check: Check::Entry(added_sequence_number),
    },
    Rule {
        id: "added-entry-file-sequence-number",
        level: Warn,
        statement: "an ADDED entry's file sequence number is the snapshot's",
        protects: "Nothing that is known.",
        source: "spec: Manifest Entry Fields, file_sequence_number",
        reads: Reads::NewManifests,
        broken_by: "",
        check: Check::Entry(added_file_sequence_number),
    },
    Rule {
        id: "carried-entry-fields",
        level: Deny,
        statement: "an EXISTING entry says both sequence numbers",
        protects: "Only ADDED entries inherit them: readers fail, or deletes that applied to the file no longer do.",
        source: "spec: Manifest Entry Fields",
        reads: Reads::NewManifests,
        broken_by: "",
        check: Check::Entry(carried_fields),
    },
    Rule {
        id: "deleted-entry-fields",
        level: Warn,
        statement: "a DELETED entry says both sequence numbers",
        protects: "Only ADDED entries inherit them: readers of changes cannot tell when the file was added.",
        source: "spec: Manifest Entry Fields",
        reads: Reads::NewManifests,
        broken_by: "",
        check: Check::Entry(deleted_fields),
    },
    Rule {
        id: "entry-snapshot-id",
        level: Warn,
        statement: "an EXISTING entry belongs to an earlier snapshot, a DELETED one to this",
        protects: "Readers of changes tell the wrong snapshot's changes.",
        source: "spec: Manifest Entry Fields, snapshot_id",
        reads: Reads::NewManifests,
        broken_by: "DuckDB 1.5.5 leaves it out, so that the entry inherits the commit's",
        check: Check::Entry(carried_snapshot_id),
    },
    Rule {
        id: "file-content",
        level: Deny,
        statement: "a data manifest holds data files, a delete manifest position or equality deletes",
        protects: "Delete files are read as data, or data files as deletes.",
        source: "spec: Manifests",
        reads: Reads::NewManifests,
        broken_by: "",
        check: Check::Entry(file_content),
    },
    Rule {
        id: "negative-counts",
        level: Deny,
        statement: "record_count and file_size_in_bytes are not negative",
        protects: "Planning and row ids rely on them.",
        source: "spec: Data File Fields",
        reads: Reads::NewManifests,
        broken_by: "",
        check: Check::Entry(counts_not_negative),
    },
];

fn status(view: &EntryView<'_>, findings: &mut Findings) {
    if let Status::Other(number) = view.entry.status {
        findings.add(|| view.finding("status 0, 1 or 2", number));
    }
}

fn added_snapshot_id(view: &EntryView<'_>, findings: &mut Findings) {
    let this = view.facts.snapshot.snapshot_id;
    if let Some(id) = view.entry.snapshot_id.filter(|_| view.entry.status == Status::Added) {
        findings.expect(id == this, || view.finding(format!("snapshot_id {this} or null"), id));
    }
}

fn added_sequence_number(view: &EntryView<'_>, findings: &mut Findings) {
    let most = view.facts.snapshot.sequence_number;
    if let Some(number) = view.entry.sequence_number.filter(|_| is_added_since_v2(view)) {
        findings.expect((0..=most).contains(&number), || {
            view.finding(format!("a data sequence number from 0 to {most}, or null"), number)
        });
    }
}

fn added_file_sequence_number(view: &EntryView<'_>, findings: &mut Findings) {
    let expected = view.facts.snapshot.sequence_number;
    if let Some(number) = view.entry.file_sequence_number.filter(|_| is_added_since_v2(view)) {
        findings
            .expect(number == expected, || view.finding(format!("file sequence number {expected}, or null"), number));
    }
}

fn is_added_since_v2(view: &EntryView<'_>) -> bool {
    view.entry.status == Status::Added && view.facts.format_version >= 2
}

fn carried_fields(view: &EntryView<'_>, findings: &mut Findings) {
    sequence_numbers(view, Status::Existing, findings);
}

fn deleted_fields(view: &EntryView<'_>, findings: &mut Findings) {
    sequence_numbers(view, Status::Deleted, findings);
}

fn sequence_numbers(view: &EntryView<'_>, status: Status, findings: &mut Findings) {
    if view.facts.format_version < 2 || view.entry.status != status {
        return;
    }
    let fields =
        [("sequence_number", view.entry.sequence_number), ("file_sequence_number", view.entry.file_sequence_number)];
    for (name, value) in fields {
        findings.expect(value.is_some(), || view.finding(format!("a {name}"), "null"));
    }
}

fn carried_snapshot_id(view: &EntryView<'_>, findings: &mut Findings) {
    let this = view.facts.snapshot.snapshot_id;
    // Whatever its status, an entry without a snapshot id inherits that of the snapshot that wrote the manifest. That is
    // right for one that is removed now, and wrong for one that was there before.
    let id = view.entry.snapshot_id;
    match view.entry.status {
        Status::Existing => findings.expect(id.is_some_and(|id| id != this), || {
            let found = id.map_or_else(|| format!("null, which stands for {this}"), |id| id.to_string());
            view.finding("the id of an earlier snapshot", found)
        }),
        Status::Deleted => findings.expect(id.is_none_or(|id| id == this), || {
            view.finding(format!("snapshot_id {this}, or null"), id.unwrap_or_default())
        }),
        _ => {}
    }
}

fn file_content(view: &EntryView<'_>, findings: &mut Findings) {
    let content = view.entry.data_file.content;
    let fits = match view.file.content {
        ManifestContent::Data => content == FileContent::Data,
        ManifestContent::Deletes => matches!(content, FileContent::PositionDeletes | FileContent::EqualityDeletes),
        ManifestContent::Other(_) => true,
    };
    findings.expect(fits, || {
        view.finding(format!("files of a manifest of {:?}", view.file.content), format!("{content:?}"))
    });
}

fn counts_not_negative(view: &EntryView<'_>, findings: &mut Findings) {
    let file = &view.entry.data_file;
    for (name, count) in [("record_count", file.record_count), ("file_size_in_bytes", file.file_size_in_bytes)] {
        findings.expect(count >= 0, || view.finding(format!("a {name} of 0 or more"), count));
    }
}
