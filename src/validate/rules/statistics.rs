//! Rules about statistics files that a commit adds to the metadata.

use crate::validate::facts::ChangeFacts;
use crate::validate::finding::{Finding, Findings};
use crate::validate::level::Level::Warn;

use super::{Check, Reads, Rule};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "statistics-snapshot",
        level: Warn,
        statement: "the snapshot of a statistics file is in the table",
        protects: "Nobody uses the file.",
        source: "spec: Table Statistics, snapshot-id",
        reads: Reads::Metadata,
        broken_by: "",
        check: Check::Change(snapshot),
    },
    Rule {
        id: "statistics-file",
        level: Warn,
        statement: "a statistics file is a Puffin file of the sizes and with the blobs that the metadata says",
        protects: "Engines that look for statistics fail, or take others.",
        source: "spec: Table Statistics; puffin-spec: File structure",
        reads: Reads::PuffinFooter,
        broken_by: "",
        check: Check::Change(file),
    },
];

fn snapshot(facts: &ChangeFacts<'_>, findings: &mut Findings) {
    for file in facts.statistics.iter().map(|of_file| of_file.file) {
        let known = facts.new.snapshot(file.snapshot_id).is_some();
        findings.expect(known, || {
            Finding::new(&file.statistics_path, "the id of a snapshot of the table", file.snapshot_id)
        });
    }
}

fn file(facts: &ChangeFacts<'_>, findings: &mut Findings) {
    for of_file in &facts.statistics {
        let file = of_file.file;
        if let Some(fault) = &of_file.fault {
            findings.add(|| fault.clone());
        }
        let Some(read) = &of_file.read else { continue };
        let sizes = [
            ("file-size-in-bytes", file.file_size_in_bytes, read.size),
            ("file-footer-size-in-bytes", file.file_footer_size_in_bytes, read.footer_size),
        ];
        for (name, declared, actual) in sizes {
            findings.expect(u64::try_from(declared) == Ok(actual), || {
                Finding::new(&file.statistics_path, format!("{name} {actual}"), declared)
            });
        }
        for (kind, fields) in &file.blobs {
            let is_there = read.footer.blobs.iter().any(|blob| blob.blob_type == *kind && blob.fields == *fields);
            findings.expect(is_there, || {
                Finding::new(&file.statistics_path, format!("a blob {kind} of fields {fields:?}"), "none in the footer")
            });
        }
    }
}
