//! Rules about the objects of data files and delete files. Off unless they are wanted: they cost a request for each
//! file, of up to a hundred.

use crate::validate::facts::{Facts, ObjectState};
use crate::validate::finding::{Finding, Findings};
use crate::validate::level::Level::Off;

use super::{Check, Reads, Rule};

pub(super) const RULES: &[Rule] = &[
    Rule {
        check: Check::Snapshot(present),
        ..object("data-file-missing", "a data file or delete file that is added exists", "Scans fail.")
    },
    Rule {
        check: Check::Snapshot(size),
        ..object(
            "data-file-size",
            "file_size_in_bytes of a data file or delete file is the object's size",
            "Readers that find the footer by the size find something else.",
        )
    },
    Rule {
        check: Check::Snapshot(inside),
        ..object(
            "data-file-outside",
            "a data file or delete file that is added lies where the warehouse may read",
            "Credentials that the catalog vends do not reach the file.",
        )
    },
];

const fn object(id: &'static str, statement: &'static str, protects: &'static str) -> Rule {
    Rule {
        id,
        level: Off,
        statement,
        protects,
        source: "spec: Data File Fields, file_path and file_size_in_bytes",
        reads: Reads::Objects,
        broken_by: "tests and imported tables",
        check: Check::Reading,
    }
}

fn present(facts: &Facts<'_>, findings: &mut Findings) {
    for object in facts.objects.iter().filter(|object| object.found == ObjectState::Missing) {
        findings.add(|| Finding::new(&object.manifest, format!("an object {}", object.path), "none"));
    }
}

fn inside(facts: &Facts<'_>, findings: &mut Findings) {
    for object in facts.objects.iter().filter(|object| object.found == ObjectState::Outside) {
        findings.add(|| Finding::new(&object.manifest, "files in the warehouse's places", &object.path));
    }
}

fn size(facts: &Facts<'_>, findings: &mut Findings) {
    for object in &facts.objects {
        let ObjectState::Size(size) = object.found else { continue };
        findings.expect(u64::try_from(object.declared) == Ok(size), || {
            let expected = format!("file_size_in_bytes {size}, the size of {}", object.path);
            Finding::new(&object.manifest, expected, object.declared)
        });
    }
}
