//! Rules about data files and delete files in general; those about deletion vectors have their own tables.

use std::collections::{HashMap, HashSet};

use crate::manifest::{FileContent, FileFormat, ManifestContent, ManifestFile, Status};
use crate::spec::{Primitive, Type};
use crate::validate::facts::Facts;
use crate::validate::finding::{Finding, Findings};
use crate::validate::level::Level::{Deny, Off, Warn};

use super::{Check, EntryView, Reads, Rule};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "file-added-twice",
        level: Deny,
        statement: "one commit adds a data file once",
        protects: "Every row of it would be read twice.",
        source: "spec: Manifests; a file is at most once in a snapshot",
        reads: Reads::NewManifests,
        broken_by: "",
        check: Check::Snapshot(added_once),
    },
    Rule {
        id: "file-format",
        level: Deny,
        statement: "a file's format is avro, orc or parquet, or puffin for a deletion vector",
        protects: "Readers cannot open the file.",
        source: "spec: Data File Fields, file_format",
        reads: Reads::NewManifests,
        broken_by: "",
        check: Check::Entry(format),
    },
    Rule {
        id: "file-path-relative",
        level: Off,
        statement: "a file's path is a full URI",
        protects: "Engines resolve the path differently.",
        source: "spec: Data File Fields, file_path",
        reads: Reads::NewManifests,
        broken_by: "tests and imported tables",
        check: Check::Entry(path_is_uri),
    },
    Rule {
        id: "equality-ids-missing",
        level: Deny,
        statement: "an equality delete file says which fields it compares",
        protects: "Readers fail.",
        source: "spec: Data File Fields, equality_ids",
        reads: Reads::NewManifests,
        broken_by: "",
        check: Check::Entry(equality_ids_present),
    },
    Rule {
        id: "equality-ids",
        level: Warn,
        statement: "equality_ids are fields of the table, and only on equality delete files",
        protects: "Readers fail, or compare other columns than the writer meant.",
        source: "spec: Data File Fields, equality_ids",
        reads: Reads::NewManifests,
        broken_by: "",
        check: Check::Entry(equality_ids_known),
    },
    Rule {
        id: "equality-delete-float",
        level: Off,
        statement: "equality deletes do not compare float or double fields",
        protects: "Engines differ on NaN and -0.0: they delete different rows.",
        source: "spec: Equality Delete Files",
        reads: Reads::NewManifests,
        broken_by: "",
        check: Check::Entry(no_floats_compared),
    },
    Rule {
        id: "sort-order-id",
        level: Warn,
        statement: "a file's sort order is one of the table's, and position deletes have none",
        protects: "Nothing: readers must ignore an unknown one.",
        source: "spec: Data File Fields, sort_order_id",
        reads: Reads::NewManifests,
        broken_by: "",
        check: Check::Entry(sort_order),
    },
    Rule {
        id: "delete-file-content-offset",
        level: Warn,
        statement: "only a deletion vector has content_offset and content_size_in_bytes",
        protects: "Readers may take the file for a vector.",
        source: "spec: Data File Fields, content_offset",
        reads: Reads::NewManifests,
        broken_by: "",
        check: Check::Entry(no_content_offset),
    },
    Rule {
        id: "summary",
        level: Off,
        statement: "the counts of the snapshot's summary are those of its manifests",
        protects: "Statistics that tools show.",
        source: "spec: Snapshots, summary; optional",
        reads: Reads::NewManifests,
        broken_by: "DuckDB 1.5",
        check: Check::Snapshot(summary_counts),
    },
];

fn added_once(facts: &Facts<'_>, findings: &mut Findings) {
    let mut added: HashSet<&str> = HashSet::new();
    for new in &facts.manifests {
        let Some(file) = facts.row(new) else { continue };
        let entries = new.manifest.entries.iter().filter(|entry| entry.status == Status::Added);
        for path in entries
            .filter(|entry| entry.data_file.content == FileContent::Data)
            .map(|entry| &*entry.data_file.file_path)
        {
            findings
                .expect(added.insert(path), || Finding::new(&file.manifest_path, format!("{path} once"), "it again"));
        }
    }
}

fn format(view: &EntryView<'_>, findings: &mut Findings) {
    if view.entry.status == Status::Deleted {
        return;
    }
    let file = &view.entry.data_file;
    let fits = match file.file_format {
        FileFormat::Other(_) => false,
        FileFormat::Puffin => file.content == FileContent::PositionDeletes,
        _ => true,
    };
    findings.expect(fits, || {
        let expected = match file.content {
            FileContent::PositionDeletes => "avro, orc, parquet or puffin",
            _ => "avro, orc or parquet",
        };
        view.finding(expected, format!("{:?}", file.file_format).to_lowercase())
    });
}

fn path_is_uri(view: &EntryView<'_>, findings: &mut Findings) {
    let path = &view.entry.data_file.file_path;
    let is_uri = path
        .split_once(':')
        .is_some_and(|(scheme, _)| !scheme.is_empty() && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric()));
    findings.expect(is_uri, || view.finding("a full URI", "a relative path"));
}

fn equality_ids_present(view: &EntryView<'_>, findings: &mut Findings) {
    let file = &view.entry.data_file;
    if file.content == FileContent::EqualityDeletes && view.entry.is_live() {
        let present = file.equality_ids.as_ref().is_some_and(|ids| !ids.is_empty());
        findings.expect(present, || view.finding("equality_ids", "none"));
    }
}

fn equality_ids_known(view: &EntryView<'_>, findings: &mut Findings) {
    let file = &view.entry.data_file;
    let Some(ids) = file.equality_ids.as_ref().filter(|ids| !ids.is_empty()) else { return };
    if file.content != FileContent::EqualityDeletes {
        findings.add(|| view.finding("no equality_ids", format!("{ids:?}")));
        return;
    }
    let schemas = &view.facts.table.schemas;
    let unknown = ids.iter().find(|id| !schemas.iter().any(|schema| schema.find_field(**id).is_some()));
    if let Some(unknown) = unknown {
        findings.add(|| view.finding("ids of fields of the table", unknown));
    }
}

fn no_floats_compared(view: &EntryView<'_>, findings: &mut Findings) {
    let file = &view.entry.data_file;
    if file.content != FileContent::EqualityDeletes || view.entry.status != Status::Added {
        return;
    }
    for id in file.equality_ids.iter().flatten() {
        let field = view.facts.table.current_schema().and_then(|schema| schema.find_field(*id));
        if let Some(field) = field.filter(|field| is_float(&field.field_type)) {
            findings
                .add(|| view.finding("fields of exact types", format!("{} of type {}", field.name, field.field_type)));
        }
    }
}

fn is_float(of: &Type) -> bool {
    matches!(of, Type::Primitive(Primitive::Float | Primitive::Double))
}

fn sort_order(view: &EntryView<'_>, findings: &mut Findings) {
    let file = &view.entry.data_file;
    let Some(id) = file.sort_order_id.filter(|id| *id != 0 && view.entry.status == Status::Added) else { return };
    let fits = file.content != FileContent::PositionDeletes && view.facts.table.sort_order(id).is_some();
    findings.expect(fits, || view.finding("a sort order of the table, and none for position deletes", id));
}

fn no_content_offset(view: &EntryView<'_>, findings: &mut Findings) {
    let file = &view.entry.data_file;
    if file.file_format != FileFormat::Puffin {
        let present = file.content_offset.or(file.content_size_in_bytes);
        if let Some(value) = present {
            findings.add(|| view.finding("no content_offset and content_size_in_bytes", value));
        }
    }
}

fn summary_counts(facts: &Facts<'_>, findings: &mut Findings) {
    let Some(summary) = summary(facts) else { return };
    for (key, actual) in actual_counts(facts).into_iter().chain(totals(facts)) {
        let declared = summary.get(key).and_then(|value| value.parse::<u64>().ok());
        if let Some(declared) = declared {
            findings
                .expect(declared == actual, || Finding::new(facts.list_location, format!("{key} {actual}"), declared));
        }
    }
}

fn summary(facts: &Facts<'_>) -> Option<HashMap<String, String>> {
    let json: serde_json::Value = serde_json::from_str(facts.snapshot.to_json().get()).ok()?;
    let pairs = json.get("summary")?.as_object()?.iter();
    Some(pairs.filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned()))).collect())
}

/// Totals, where the list gives every count.
fn totals(facts: &Facts<'_>) -> impl Iterator<Item = (&'static str, u64)> {
    let total = |content: ManifestContent, count: fn(&ManifestFile) -> Option<i64>| {
        let of = facts.list.manifests.iter().filter(|file| file.content == content);
        let sum = of.map(count).try_fold(0_i64, |sum, count| sum.checked_add(count?))?;
        u64::try_from(sum).ok()
    };
    let totals = [
        ("total-data-files", total(ManifestContent::Data, ManifestFile::live_files)),
        ("total-records", total(ManifestContent::Data, ManifestFile::live_rows)),
        ("total-delete-files", total(ManifestContent::Deletes, ManifestFile::live_files)),
    ];
    totals.into_iter().filter_map(|(key, total)| Some((key, total?)))
}

fn actual_counts(facts: &Facts<'_>) -> [(&'static str, u64); 6] {
    let mut counts = [0; 6];
    for entry in facts.manifests.iter().flat_map(|new| &new.manifest.entries) {
        let is_data = entry.data_file.content == FileContent::Data;
        let is_vector = entry.data_file.is_deletion_vector();
        let [added_data, deleted_data, added_deletes, removed_deletes, added_vectors, removed_vectors] = &mut counts;
        match (entry.status, is_data) {
            (Status::Added, true) => *added_data += 1,
            (Status::Deleted, true) => *deleted_data += 1,
            (Status::Added, false) => {
                *added_deletes += 1;
                *added_vectors += u64::from(is_vector);
            }
            (Status::Deleted, false) => {
                *removed_deletes += 1;
                *removed_vectors += u64::from(is_vector);
            }
            _ => {}
        }
    }
    let [added_data, deleted_data, added_deletes, removed_deletes, added_vectors, removed_vectors] = counts;
    [
        ("added-data-files", added_data),
        ("deleted-data-files", deleted_data),
        ("added-delete-files", added_deletes),
        ("removed-delete-files", removed_deletes),
        ("added-dvs", added_vectors),
        ("removed-dvs", removed_vectors),
    ]
}
