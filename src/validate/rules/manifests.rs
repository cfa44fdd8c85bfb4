//! Rules about manifests that the snapshot wrote, as files.

use crate::manifest::{ManifestContent, ManifestFile, Status};
use crate::spec::Transform;
use crate::validate::facts::{Facts, NewManifest};
use crate::validate::finding::{Finding, Findings};
use crate::validate::level::Level::{Deny, Warn};

use super::{Check, ManifestView, Reads, Rule};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "manifest-missing",
        level: Deny,
        statement: "every manifest of the list exists",
        protects: "No engine can read the snapshot.",
        source: "spec: Manifest Lists, manifest_path",
        reads: Reads::NewManifests,
        broken_by: "",
        check: Check::Reading,
    },
    Rule {
        id: "manifest-outside",
        level: Deny,
        statement: "a new manifest lies where the warehouse may read",
        protects: "A client could make the server read what the client itself may not.",
        source: "server policy",
        reads: Reads::ManifestList,
        broken_by: "",
        check: Check::Reading,
    },
    Rule {
        id: "manifest-too-large",
        level: Deny,
        statement: "a new manifest is not larger than what the server reads",
        protects: "The server's memory.",
        source: "server policy",
        reads: Reads::NewManifests,
        broken_by: "",
        check: Check::Reading,
    },
    Rule {
        id: "manifest-unreadable",
        level: Deny,
        statement: "a manifest is an Avro file with the fields of manifest_entry, found by field id",
        protects: "No engine can read the snapshot.",
        source: "spec: Manifests",
        reads: Reads::NewManifests,
        broken_by: "",
        check: Check::Reading,
    },
    Rule {
        id: "manifest-length",
        level: Deny,
        statement: "the list gives the manifest's true length",
        protects: "Readers that open the file by its length read half of it, or past its end.",
        source: "spec: Manifest Lists, manifest_length",
        reads: Reads::NewManifests,
        broken_by: "",
        check: Check::Manifest(length),
    },
    Rule {
        id: "manifest-content-differs",
        level: Warn,
        statement: "the manifest's own `content` agrees with the list",
        protects: "A reader that goes by the manifest takes deletes for data; those that are known go by the list.",
        source: "spec: Manifests, content",
        reads: Reads::NewManifests,
        broken_by: "DuckDB up to 1.5.3",
        check: Check::Manifest(content),
    },
    Rule {
        id: "manifest-spec-id",
        level: Deny,
        statement: "the manifest's own `partition-spec-id` agrees with the list",
        protects: "Partition values are read with the wrong spec: files vanish by pruning.",
        source: "spec: Manifests, partition-spec-id",
        reads: Reads::NewManifests,
        broken_by: "",
        check: Check::Manifest(spec_id),
    },
    Rule {
        id: "manifest-spec-fields",
        level: Warn,
        statement: "the manifest's own `partition-spec` is the table's spec of that id",
        protects: "The writer and the table mean different specs by one id.",
        source: "spec: Manifests, partition-spec",
        reads: Reads::NewManifests,
        broken_by: "",
        check: Check::Manifest(spec_fields),
    },
    Rule {
        id: "manifest-file-counts",
        level: Deny,
        statement: "the list counts the files that are in the manifest",
        protects: "Planning skips manifests by their counts; files vanish.",
        source: "spec: Manifest Lists, fields 504-506",
        reads: Reads::NewManifests,
        broken_by: "",
        check: Check::Manifest(file_counts),
    },
    Rule {
        id: "manifest-row-counts",
        level: Deny,
        statement: "the list counts the rows that are in a data manifest",
        protects: "Row ids are assigned by these counts.",
        source: "spec: Manifest Lists, fields 512-514",
        reads: Reads::NewManifests,
        broken_by: "",
        check: Check::Manifest(data_row_counts),
    },
    Rule {
        id: "delete-manifest-row-counts",
        level: Warn,
        statement: "the list counts the deletes that are in a delete manifest",
        protects: "Statistics.",
        source: "spec: Manifest Lists, fields 512-514",
        reads: Reads::NewManifests,
        broken_by: "",
        check: Check::Manifest(delete_row_counts),
    },
];

fn length(view: &ManifestView<'_>, findings: &mut Findings) {
    let declared = view.file.manifest_length;
    findings.expect(u64::try_from(declared) == Ok(view.new.size), || {
        Finding::new(
            &view.file.manifest_path,
            format!("manifest_length {}, the object's size", view.new.size),
            declared,
        )
    });
}

fn content(view: &ManifestView<'_>, findings: &mut Findings) {
    let own = view.new.manifest.metadata.get("content").map_or("data", String::as_str);
    let expected = match view.file.content {
        ManifestContent::Data => "data",
        ManifestContent::Deletes => "deletes",
        ManifestContent::Other(_) => return,
    };
    findings.expect(own == expected, || {
        Finding::new(&view.file.manifest_path, format!("content {expected}, as the list says"), own)
    });
}

fn spec_id(view: &ManifestView<'_>, findings: &mut Findings) {
    if let Some(own) = view.new.manifest.metadata.get("partition-spec-id") {
        let expected = view.file.partition_spec_id;
        findings.expect(own.parse() == Ok(expected), || {
            Finding::new(&view.file.manifest_path, format!("partition-spec-id {expected}, as the list says"), own)
        });
    }
}

fn spec_fields(view: &ManifestView<'_>, findings: &mut Findings) {
    if let Some((expected, found)) = spec_difference(view.facts, view.file, view.new) {
        findings.add(|| Finding::new(&view.file.manifest_path, expected, found));
    }
}

/// The table's spec of the manifest's number and the manifest's own, if they differ.
pub(super) fn spec_difference(facts: &Facts<'_>, file: &ManifestFile, new: &NewManifest) -> Option<(String, String)> {
    let spec = facts.table.partition_spec(file.partition_spec_id)?;
    let own = new.manifest.metadata.get("partition-spec")?;
    let expected: Vec<String> =
        spec.fields.iter().map(|field| shown_field(field.field_id, field.source.ids(), &field.transform)).collect();
    let found = own_fields(own);
    if found.as_ref() == Some(&expected) {
        return None;
    }
    let found = found.map_or_else(|| "what is no spec".to_owned(), |found| format!("[{}]", found.join(", ")));
    Some((format!("partition-spec [{}]", expected.join(", ")), found))
}

/// The fields of a spec's JSON, in the form of [`shown_field`].
fn own_fields(json: &str) -> Option<Vec<String>> {
    let json: serde_json::Value = serde_json::from_str(json).ok()?;
    let fields = json.as_array().or_else(|| json.get("fields")?.as_array())?;
    let field = |field: &serde_json::Value| {
        let id = |value: &serde_json::Value| value.as_i64().and_then(|id| i32::try_from(id).ok());
        let sources = match field.get("source-ids").and_then(serde_json::Value::as_array) {
            Some(ids) => ids.iter().map(id).collect::<Option<Vec<_>>>()?,
            None => vec![id(field.get("source-id")?)?],
        };
        let transform = Transform::parse(field.get("transform")?.as_str()?).ok()?;
        Some(shown_field(id(field.get("field-id")?)?, &sources, &transform))
    };
    fields.iter().map(field).collect()
}

fn shown_field(id: i32, sources: &[i32], transform: &Transform) -> String {
    format!("{id}: {transform} of {sources:?}")
}

fn file_counts(view: &ManifestView<'_>, findings: &mut Findings) {
    let declared = [view.file.added_files_count, view.file.existing_files_count, view.file.deleted_files_count];
    for ((status, what), declared) in STATUSES.into_iter().zip(declared) {
        let entries = view.new.manifest.entries.iter().filter(|entry| entry.status == status);
        let actual = i64::try_from(entries.count()).unwrap_or(i64::MAX);
        expect_count(view, findings, &format!("{what} files"), declared, actual);
    }
}

fn data_row_counts(view: &ManifestView<'_>, findings: &mut Findings) {
    if view.file.content == ManifestContent::Data {
        row_counts(view, findings);
    }
}

fn delete_row_counts(view: &ManifestView<'_>, findings: &mut Findings) {
    if view.file.content == ManifestContent::Deletes {
        row_counts(view, findings);
    }
}

fn row_counts(view: &ManifestView<'_>, findings: &mut Findings) {
    let declared = [view.file.added_rows_count, view.file.existing_rows_count, view.file.deleted_rows_count];
    for ((status, what), declared) in STATUSES.into_iter().zip(declared) {
        let entries = view.new.manifest.entries.iter().filter(|entry| entry.status == status);
        let actual = entries.map(|entry| entry.data_file.record_count).fold(0, i64::saturating_add);
        expect_count(view, findings, &format!("{what} rows"), declared, actual);
    }
}

const STATUSES: [(Status, &str); 3] =
    [(Status::Added, "added"), (Status::Existing, "existing"), (Status::Deleted, "deleted")];

/// A count that the list does not give is none to compare; that it must is rule `manifest-counts`.
fn expect_count(view: &ManifestView<'_>, findings: &mut Findings, what: &str, declared: Option<i64>, actual: i64) {
    if let Some(declared) = declared {
        findings.expect(declared == actual, || {
            let expected = format!("a count of {actual} {what}, as in the manifest");
            Finding::new(&view.file.manifest_path, expected, declared)
        });
    }
}
