//! Rules about the manifest list.

use std::collections::HashSet;

use crate::manifest::{ManifestContent, ManifestFile};
use crate::spec::Transform;
use crate::validate::facts::{Facts, Origin};
use crate::validate::finding::{Finding, Findings};
use crate::validate::level::Level::{Deny, Off, Warn};

use super::places::is_under;
use super::{Check, Reads, Rule};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "manifest-list-missing",
        level: Deny,
        statement: "the manifest list of a snapshot exists",
        protects: "No engine can read the snapshot.",
        source: "spec: Snapshots, manifest-list",
        reads: Reads::ManifestList,
        broken_by: "",
        check: Check::Reading,
    },
    Rule {
        id: "manifest-list-outside",
        level: Deny,
        statement: "the manifest list lies where the warehouse may read",
        protects: "A client could make the server read what the client itself may not.",
        source: "server policy",
        reads: Reads::Metadata,
        broken_by: "",
        check: Check::Reading,
    },
    Rule {
        id: "manifest-list-too-large",
        level: Deny,
        statement: "the manifest list is not larger than what the server reads",
        protects: "The server's memory.",
        source: "server policy",
        reads: Reads::ManifestList,
        broken_by: "",
        check: Check::Reading,
    },
    Rule {
        id: "manifest-list-unreadable",
        level: Deny,
        statement: "the manifest list is an Avro file with the fields of manifest_file, found by field id",
        protects: "No engine can read the snapshot.",
        source: "spec: Manifest Lists",
        reads: Reads::ManifestList,
        broken_by: "",
        check: Check::Reading,
    },
    Rule {
        id: "commit-too-large",
        level: Deny,
        statement: "a snapshot writes no more manifests and entries than the server reads",
        protects: "The server's memory.",
        source: "server policy",
        reads: Reads::NewManifests,
        broken_by: "",
        check: Check::Reading,
    },
    Rule {
        id: "manifest-list-fields",
        level: Deny,
        statement: "the manifest list has every field that format versions 2 and 3 require",
        protects: "Readers fail on a missing field, or take a default that means something else.",
        source: "spec: Manifest Lists",
        reads: Reads::ManifestList,
        broken_by: "",
        check: Check::Snapshot(required_fields),
    },
    Rule {
        id: "manifest-list-metadata",
        level: Warn,
        statement: "the manifest list's own key-value pairs agree with the snapshot",
        protects: "A list that was written for another snapshot goes unnoticed.",
        source: "Iceberg Java writes them; the spec does not demand them",
        reads: Reads::ManifestList,
        broken_by: "",
        check: Check::Snapshot(own_metadata),
    },
    Rule {
        id: "manifest-list-not-under-table",
        level: Warn,
        statement: "the manifest list lies under the table's location or its write.metadata.path",
        protects: "Clean-up by location misses it, or takes it for another table's.",
        source: "convention of all writers",
        reads: Reads::Metadata,
        broken_by: "",
        check: Check::Snapshot(under_table),
    },
    Rule {
        id: "manifest-twice",
        level: Deny,
        statement: "a manifest is listed once",
        protects: "Every row of it would be read twice.",
        source: "spec: Manifest Lists",
        reads: Reads::ManifestList,
        broken_by: "",
        check: Check::Snapshot(listed_once),
    },
    Rule {
        id: "unknown-partition-spec",
        level: Deny,
        statement: "the partition spec of a manifest is one of the table's",
        protects: "Readers cannot plan a scan of the manifest.",
        source: "spec: Manifest Lists, partition_spec_id",
        reads: Reads::ManifestList,
        broken_by: "",
        check: Check::Snapshot(known_spec),
    },
    Rule {
        id: "manifest-content",
        level: Deny,
        statement: "a manifest holds data files (0) or delete files (1)",
        protects: "Readers do not know what to do with it.",
        source: "spec: Manifest Lists, content",
        reads: Reads::ManifestList,
        broken_by: "",
        check: Check::Snapshot(known_content),
    },
    Rule {
        id: "deletes-in-v1",
        level: Deny,
        statement: "a table of format version 1 has no deletes",
        protects: "Readers of version 1 ignore deletes: deleted rows come back.",
        source: "spec: Version 2",
        reads: Reads::ManifestList,
        broken_by: "",
        check: Check::Snapshot(no_deletes_in_v1),
    },
    Rule {
        id: "manifest-counts",
        level: Deny,
        statement: "the list counts a new manifest's files and rows: not null, not negative, no rows without files",
        protects: "Iceberg Java fails on null; planning and row ids rely on the counts.",
        source: "spec: Manifest Lists, fields 504-506 and 512-514",
        reads: Reads::ManifestList,
        broken_by: "",
        check: Check::Snapshot(counts),
    },
    Rule {
        id: "manifest-sequence-number",
        level: Deny,
        statement: "a new manifest has the snapshot's sequence number, and a minimum between 0 and it",
        protects: "Deletes would apply to files they must not apply to, or not to those they must.",
        source: "spec: Sequence Number Inheritance",
        reads: Reads::ManifestList,
        broken_by: "",
        check: Check::Snapshot(new_sequence_number),
    },
    Rule {
        id: "manifest-sequence-ahead",
        level: Deny,
        statement: "no manifest has a sequence number above the snapshot's",
        protects: "Deletes of the next commits would not apply to its files.",
        source: "spec: Sequence Numbers",
        reads: Reads::ManifestList,
        broken_by: "",
        check: Check::Snapshot(sequence_not_ahead),
    },
    Rule {
        id: "unknown-transform-data",
        level: Deny,
        statement: "no data is added with a partition spec that has an unknown transform",
        protects: "Nobody can tell whether the files' partition values are right.",
        source: "spec: Partition Transforms",
        reads: Reads::ManifestList,
        broken_by: "",
        check: Check::Snapshot(known_transforms),
    },
    Rule {
        id: "append-with-deletes",
        level: Warn,
        statement: "an append adds no delete files and removes no files",
        protects: "Readers of changes skip what an append deletes.",
        source: "spec: Snapshots, operation",
        reads: Reads::ManifestList,
        broken_by: "",
        check: Check::Snapshot(append_only),
    },
    Rule {
        id: "snapshot-operation",
        level: Warn,
        statement: "the operation of a snapshot is append, replace, overwrite or delete",
        protects: "Readers of changes do not know what the snapshot does.",
        source: "spec: Snapshots, operation",
        reads: Reads::Metadata,
        broken_by: "",
        check: Check::Snapshot(known_operation),
    },
    Rule {
        id: "snapshot-row-ids-before-v3",
        level: Off,
        statement: "a snapshot of format version 1 or 2 has no first-row-id and no added-rows",
        protects: "A sign of a writer that takes the table for version 3.",
        source: "spec: Snapshots, first-row-id",
        reads: Reads::Metadata,
        broken_by: "",
        check: Check::Snapshot(no_snapshot_row_ids_before_v3),
    },
    Rule {
        id: "v2-first-row-id",
        level: Off,
        statement: "a list of format version 2 assigns no row ids",
        protects: "A sign of a writer that takes the table for version 3.",
        source: "spec: Manifest Lists, first_row_id",
        reads: Reads::ManifestList,
        broken_by: "",
        check: Check::Snapshot(no_row_ids_before_v3),
    },
];

fn required_fields(facts: &Facts<'_>, findings: &mut Findings) {
    if facts.format_version >= 2 && !facts.list.missing_fields.is_empty() {
        let missing = &facts.list.missing_fields;
        findings
            .add(|| Finding::new(facts.list_location, "fields 500-506 and 512-517", format!("none of {missing:?}")));
    }
}

fn own_metadata(facts: &Facts<'_>, findings: &mut Findings) {
    let snapshot = facts.snapshot;
    let parent = snapshot.parent_snapshot_id.map_or_else(|| "null".to_owned(), |id| id.to_string());
    let mut expected = vec![
        ("snapshot-id", snapshot.snapshot_id.to_string()),
        ("parent-snapshot-id", parent),
        ("sequence-number", snapshot.sequence_number.to_string()),
        ("format-version", facts.format_version.to_string()),
    ];
    expected.extend(snapshot.first_row_id.map(|id| ("first-row-id", id.to_string())));
    for (key, expected) in expected {
        if let Some(found) = facts.list.metadata.get(key) {
            findings
                .expect(*found == expected, || Finding::new(facts.list_location, format!("{key} {expected}"), found));
        }
    }
}

fn under_table(facts: &Facts<'_>, findings: &mut Findings) {
    let property = facts.table.properties.get("write.metadata.path").map(String::as_str);
    let roots = [Some(facts.table.location.as_str()), property].into_iter().flatten();
    let under = |root: &str| is_under(facts.list_location, root);
    let root = &facts.table.location;
    findings.expect(roots.into_iter().any(under), || {
        Finding::new(facts.list_location, format!("a place under {root}"), "another")
    });
}

fn listed_once(facts: &Facts<'_>, findings: &mut Findings) {
    let mut seen = HashSet::with_capacity(facts.list.manifests.len());
    for file in &facts.list.manifests {
        findings.expect(seen.insert(&file.manifest_path), || {
            Finding::new(facts.list_location, format!("{} once", file.manifest_path), "it again")
        });
    }
}

fn known_spec(facts: &Facts<'_>, findings: &mut Findings) {
    for file in &facts.list.manifests {
        let id = file.partition_spec_id;
        findings.expect(facts.table.partition_spec(id).is_some(), || {
            Finding::new(&file.manifest_path, "the id of a partition spec of the table", id)
        });
    }
}

fn known_content(facts: &Facts<'_>, findings: &mut Findings) {
    for file in &facts.list.manifests {
        if let ManifestContent::Other(number) = file.content {
            findings.add(|| Finding::new(&file.manifest_path, "content 0 or 1", number));
        }
    }
}

fn no_deletes_in_v1(facts: &Facts<'_>, findings: &mut Findings) {
    let deletes = facts.list.manifests.iter().filter(|file| file.content == ManifestContent::Deletes);
    for file in deletes.filter(|_| facts.format_version < 2) {
        findings.add(|| Finding::new(&file.manifest_path, "a manifest of data files", "one of delete files"));
    }
}

fn counts(facts: &Facts<'_>, findings: &mut Findings) {
    for file in facts.new_rows().filter(|_| facts.format_version >= 2) {
        let pairs = [
            ("added", file.added_files_count, file.added_rows_count),
            ("existing", file.existing_files_count, file.existing_rows_count),
            ("deleted", file.deleted_files_count, file.deleted_rows_count),
        ];
        for (what, files, rows) in pairs {
            let shown = |count: Option<i64>| count.map_or_else(|| "null".to_owned(), |count| count.to_string());
            let coherent = matches!((files, rows), (Some(0), Some(0)) | (Some(1..), Some(0..)));
            findings.expect(coherent, || {
                let expected = format!("counts of {what} files and rows that go together");
                Finding::new(&file.manifest_path, expected, format!("{} files, {} rows", shown(files), shown(rows)))
            });
        }
    }
}

fn new_sequence_number(facts: &Facts<'_>, findings: &mut Findings) {
    let expected = facts.snapshot.sequence_number;
    for file in facts.new_rows().filter(|_| facts.format_version >= 2) {
        findings.expect(file.sequence_number == expected, || {
            Finding::new(&file.manifest_path, format!("sequence number {expected}"), file.sequence_number)
        });
        findings.expect((0..=file.sequence_number).contains(&file.min_sequence_number), || {
            let expected = format!("a minimum sequence number from 0 to {}", file.sequence_number);
            Finding::new(&file.manifest_path, expected, file.min_sequence_number)
        });
    }
}

fn sequence_not_ahead(facts: &Facts<'_>, findings: &mut Findings) {
    let most = facts.snapshot.sequence_number;
    let carried = facts.rows().filter(|(_, origin)| *origin != Origin::New).map(|(file, _)| file);
    for file in carried.filter(|_| facts.format_version >= 2) {
        findings.expect(file.sequence_number <= most, || {
            Finding::new(&file.manifest_path, format!("a sequence number of at most {most}"), file.sequence_number)
        });
    }
}

fn known_transforms(facts: &Facts<'_>, findings: &mut Findings) {
    for file in facts.new_rows().filter(|file| file.added_files_count != Some(0)) {
        let spec = facts.table.partition_spec(file.partition_spec_id);
        for field in spec.into_iter().flat_map(|spec| &spec.fields) {
            if let Transform::Other(name) = &field.transform {
                findings.add(|| Finding::new(&file.manifest_path, "a spec of known transforms", name));
            }
        }
    }
}

fn append_only(facts: &Facts<'_>, findings: &mut Findings) {
    if facts.snapshot.operation.as_deref() != Some("append") {
        return;
    }
    for file in facts.new_rows() {
        let adds_deletes = file.content == ManifestContent::Deletes && file.added_files_count != Some(0);
        findings.expect(!adds_deletes && !removes_files(file), || {
            let found = if adds_deletes { "delete files" } else { "removed files" };
            Finding::new(&file.manifest_path, "only added data files in an append", found)
        });
    }
}

fn removes_files(file: &ManifestFile) -> bool {
    file.deleted_files_count.is_some_and(|count| count > 0)
}

fn known_operation(facts: &Facts<'_>, findings: &mut Findings) {
    let operation = facts.snapshot.operation.as_deref();
    if let Some(other) = operation.filter(|name| !["append", "replace", "overwrite", "delete"].contains(name)) {
        let object = facts.list_location;
        findings.add(|| Finding::new(object, "an operation append, replace, overwrite or delete", other));
    }
}

fn no_snapshot_row_ids_before_v3(facts: &Facts<'_>, findings: &mut Findings) {
    if let Some(id) = facts.snapshot.first_row_id.filter(|_| facts.format_version < 3) {
        findings.add(|| Finding::new(facts.list_location, "a snapshot without first-row-id", id));
    }
}

fn no_row_ids_before_v3(facts: &Facts<'_>, findings: &mut Findings) {
    for file in facts.list.manifests.iter().filter(|_| facts.format_version < 3) {
        if let Some(id) = file.first_row_id {
            findings.add(|| Finding::new(&file.manifest_path, "no first_row_id", id));
        }
    }
}
