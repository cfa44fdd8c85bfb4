//! Rules about manifests that the snapshot carries over from others.

use crate::manifest::{ManifestContent, ManifestFile};
use crate::validate::facts::{Facts, Origin, Parent};
use crate::validate::finding::{Finding, Findings};
use crate::validate::level::Level::{Deny, Warn};

use super::{Check, Reads, Rule};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "carried-manifest-altered",
        level: Deny,
        statement: "a manifest that is carried over is described as the parent's list describes it",
        protects: "A changed sequence number brings deleted rows back or deletes others; a changed count loses files.",
        source: "spec: Manifest Lists; manifests are immutable",
        reads: Reads::ParentList,
        broken_by: "",
        check: Check::Snapshot(unaltered),
    },
    Rule {
        id: "carried-manifest-unknown",
        level: Deny,
        statement: "a manifest that the snapshot did not write is in the list of some snapshot of the table",
        protects: "Files that nobody committed become part of the table.",
        source: "spec: Manifest Lists, added_snapshot_id",
        reads: Reads::ParentList,
        broken_by: "",
        check: Check::Snapshot(known),
    },
    Rule {
        id: "carried-manifest-from-elsewhere",
        level: Warn,
        statement: "a manifest that is carried over comes from the parent snapshot",
        protects: "Rows that later commits deleted are live again.",
        source: "spec: Manifest Lists",
        reads: Reads::ParentList,
        broken_by: "tools that restore an old state of a table",
        check: Check::Snapshot(from_parent),
    },
    Rule {
        id: "carried-manifest-without-parent",
        level: Warn,
        statement: "a snapshot without a parent carries nothing over that the table does not have",
        protects: "Files that nobody committed become part of the table.",
        source: "spec: Manifest Lists, added_snapshot_id",
        reads: Reads::ManifestList,
        broken_by: "tools that make a table of another table's manifests",
        check: Check::Snapshot(parentless),
    },
    Rule {
        id: "live-file-count",
        level: Warn,
        statement: "the number of live files is the parent's plus those added less those removed",
        protects: "Files vanish from the table, or removed ones come back, without an entry that says so.",
        source: "spec: Manifests; manifests are the only record of a file",
        reads: Reads::ParentList,
        broken_by: "",
        check: Check::Snapshot(live_file_count),
    },
];

fn unaltered(facts: &Facts<'_>, findings: &mut Findings) {
    for (file, origin) in facts.rows() {
        let Origin::Parent(place) = origin else { continue };
        if let Some((field, was, is)) = facts.parent_row(place).and_then(|known| known.difference(file)) {
            findings.add(|| Finding::new(&file.manifest_path, format!("{field} {was}"), is));
        }
    }
}

fn known(facts: &Facts<'_>, findings: &mut Findings) {
    for (file, origin) in facts.rows().filter(|_| !matches!(facts.parent, Parent::None)) {
        findings.expect(origin != Origin::Nowhere, || {
            let writer = file.added_snapshot_id.unwrap_or_default();
            let found = format!("one that no list has so, written by snapshot {writer}");
            Finding::new(&file.manifest_path, "a manifest of the table", found)
        });
    }
}

fn from_parent(facts: &Facts<'_>, findings: &mut Findings) {
    for (file, origin) in facts.rows() {
        if let Origin::OtherSnapshot(id) = origin {
            let found = format!("one of snapshot {id}");
            findings.add(|| Finding::new(&file.manifest_path, "a manifest of the parent snapshot", found));
        }
    }
}

fn parentless(facts: &Facts<'_>, findings: &mut Findings) {
    for (file, origin) in facts.rows().filter(|_| matches!(facts.parent, Parent::None)) {
        findings.expect(origin != Origin::Nowhere, || {
            let writer = file.added_snapshot_id.unwrap_or_default();
            let expected = format!("a manifest that snapshot {} wrote", facts.snapshot.snapshot_id);
            Finding::new(&file.manifest_path, expected, format!("one that snapshot {writer} wrote"))
        });
    }
}

fn live_file_count(facts: &Facts<'_>, findings: &mut Findings) {
    let Parent::Known(parent) = &facts.parent else { return };
    for content in [ManifestContent::Data, ManifestContent::Deletes] {
        let of = |file: &&ManifestFile| file.content == content;
        let before = sum(parent.manifests.iter().filter(of).map(ManifestFile::live_files));
        let now = sum(facts.list.manifests.iter().filter(of).map(ManifestFile::live_files));
        let added = sum(facts.new_rows().filter(of).map(|file| file.added_files_count));
        let removed = sum(facts.new_rows().filter(of).map(|file| file.deleted_files_count));
        let (Some(before), Some(now), Some(added), Some(removed)) = (before, now, added, removed) else { continue };
        let expected = before.saturating_add(added).saturating_sub(removed);
        findings.expect(now == expected, || {
            let what = if content == ManifestContent::Data { "data files" } else { "delete files" };
            let sum = format!("{before} + {added} - {removed} = {expected} live {what}");
            Finding::new(facts.list_location, sum, now)
        });
    }
}

/// The sum of counts, none if one is not known.
fn sum(mut counts: impl Iterator<Item = Option<i64>>) -> Option<i64> {
    counts.try_fold(0_i64, |sum, count| sum.checked_add(count?))
}
