//! Rules about what became of files that were there before.

use crate::validate::facts::{Facts, Stale};
use crate::validate::finding::{Finding, Findings};
use crate::validate::level::Level::Warn;

use super::{Check, Reads, Rule};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "existing-file-unknown",
        level: Warn,
        statement: "an EXISTING entry is a live file of a manifest that the snapshot replaces",
        protects: "A removed file is back, or a file that nobody added is there.",
        source: "spec: Manifest Entry Fields, status",
        reads: Reads::KnownManifests,
        broken_by: "tools that restore an old state of a table",
        check: Check::Snapshot(existing_known),
    },
    Rule {
        id: "existing-file-changed",
        level: Warn,
        statement: "an EXISTING entry keeps the file's sequence numbers, counts, spec and row id",
        protects: "Deletes apply to files they must not apply to, or not to those they must; lineage is lost.",
        source: "spec: Manifest Entry Fields; Row Lineage",
        reads: Reads::KnownManifests,
        broken_by: "Iceberg Java 1.10 renumbers rows in rewrite_manifests",
        check: Check::Snapshot(existing_unchanged),
    },
    Rule {
        id: "deleted-file-unknown",
        level: Warn,
        statement: "a DELETED entry was a live file of a manifest that the snapshot replaces",
        protects: "The commit was made for another state of the table.",
        source: "spec: Optimistic Concurrency",
        reads: Reads::KnownManifests,
        broken_by: "",
        check: Check::Snapshot(deleted_known),
    },
    Rule {
        id: "live-file-vanished",
        level: Warn,
        statement: "every live file of a replaced manifest is EXISTING or DELETED in a new one",
        protects: "Files are lost without an entry that says so.",
        source: "spec: Manifests",
        reads: Reads::KnownManifests,
        broken_by: "writers that drop entries of removed files",
        check: Check::Snapshot(nothing_vanishes),
    },
    Rule {
        id: "file-already-live",
        level: Warn,
        statement: "a data file that is added is not live in a manifest that is carried over",
        protects: "Every row of it is read twice.",
        source: "spec: Manifests; a file is at most once in a snapshot",
        reads: Reads::KnownManifests,
        broken_by: "users who add the same files twice",
        check: Check::Snapshot(not_added_again),
    },
    Rule {
        id: "dv-left-behind",
        level: Warn,
        statement: "the deletes of a data file leave the table with it",
        protects: "Delete files that apply to nothing are read by every scan.",
        source: "spec: Deletion Vectors",
        reads: Reads::KnownManifests,
        broken_by: "Iceberg Java before July 2025",
        check: Check::Snapshot(deletes_leave),
    },
    Rule {
        id: "position-deletes-left-behind",
        level: Warn,
        statement: "the position delete file of a data file leaves when a vector takes its place",
        protects: "A file that every reader must ignore is read by every scan.",
        source: "spec: Deletion Vectors",
        reads: Reads::DeleteManifests,
        broken_by: "DuckDB, Trino 483",
        check: Check::Snapshot(position_deletes_leave),
    },
];

fn existing_known(facts: &Facts<'_>, findings: &mut Findings) {
    for (manifest, path) in &facts.history.existing_unknown {
        findings.add(|| Finding::new(manifest, "EXISTING entries of live files of the parent", path));
    }
}

fn existing_unchanged(facts: &Facts<'_>, findings: &mut Findings) {
    for (manifest, path, change) in &facts.history.existing_changed {
        findings.add(|| Finding::new(manifest, "EXISTING entries as they were", format!("{change} for {path}")));
    }
}

fn deleted_known(facts: &Facts<'_>, findings: &mut Findings) {
    for (manifest, path) in &facts.history.deleted_unknown {
        findings.add(|| Finding::new(manifest, "DELETED entries of live files of the parent", path));
    }
}

fn nothing_vanishes(facts: &Facts<'_>, findings: &mut Findings) {
    let vanished = facts.history.vanished;
    findings.expect(vanished == 0, || {
        let expected = "every live file of the replaced manifests, EXISTING or DELETED";
        Finding::new(facts.list_location, expected, format!("{vanished} without an entry"))
    });
}

fn not_added_again(facts: &Facts<'_>, findings: &mut Findings) {
    for (manifest, path) in &facts.history.added_again {
        findings.add(|| Finding::new(manifest, "data files that are not in the table", path));
    }
}

fn deletes_leave(facts: &Facts<'_>, findings: &mut Findings) {
    stale(facts, Stale::DataFileRemoved, "no live deletes of a data file that is removed", findings);
}

fn position_deletes_leave(facts: &Facts<'_>, findings: &mut Findings) {
    stale(facts, Stale::VectorAdded, "no position delete file of a data file that gets a vector", findings);
}

fn stale(facts: &Facts<'_>, why: Stale, expected: &str, findings: &mut Findings) {
    for delete in facts.stale_deletes.iter().filter(|delete| delete.why == why) {
        findings.add(|| {
            let of = delete.file.only_data_file().unwrap_or_default();
            Finding::new(&delete.manifest, expected, format!("{} for {of}", delete.file.file_path))
        });
    }
}
