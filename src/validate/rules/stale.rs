//! Rules about commits that were right for an older state of the table (409): reading the table again mends them.

use crate::validate::facts::Facts;
use crate::validate::finding::{Finding, Findings};
use crate::validate::level::Level::Deny;

use super::manifests::spec_difference;
use super::{Check, Reads, Rule};

/// Rules that are answered with 409 where their level is deny: what they find, somebody else's commit brought about.
pub(in crate::validate) const ANSWERED_WITH_CONFLICT: &[&str] =
    &["partition-spec-removed", "partition-spec-renumbered", "deleted-file-unknown", "dv-dangling"];

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "partition-spec-removed",
        level: Deny,
        statement: "the partition spec of a manifest was not removed from the table meanwhile",
        protects: "Readers cannot plan a scan of the manifest.",
        source: "spec: Manifest Lists, partition_spec_id",
        reads: Reads::ManifestList,
        broken_by: "",
        check: Check::Snapshot(removed),
    },
    Rule {
        id: "partition-spec-renumbered",
        level: Deny,
        statement: "manifests mean the partition spec that got the number in the table",
        protects: "Partition values are read with another spec: files vanish by pruning.",
        source: "spec: Manifests, partition-spec-id",
        reads: Reads::NewManifests,
        broken_by: "commits that add a partition spec while another one does",
        check: Check::Snapshot(renumbered),
    },
];

fn removed(facts: &Facts<'_>, findings: &mut Findings) {
    let Some(base) = facts.request.base else { return };
    let highest = base.partition_specs.iter().map(|spec| spec.spec_id).max().unwrap_or(-1);
    for file in &facts.list.manifests {
        let id = file.partition_spec_id;
        // Of a spec that this request itself removes it is not the table that moved on.
        let gone = base.partition_spec(id).is_none() && facts.table.partition_spec(id).is_none();
        let was_there = (0..=highest).contains(&id) || facts.request.renumbered_specs.contains(&id);
        findings.expect(!(gone && was_there), || {
            Finding::new(&file.manifest_path, "the id of a partition spec of the table", format!("{id}, which is gone"))
        });
    }
}

fn renumbered(facts: &Facts<'_>, findings: &mut Findings) {
    for new in &facts.manifests {
        let Some(file) = facts.row(new) else { continue };
        if !facts.request.renumbered_specs.contains(&file.partition_spec_id) {
            continue;
        }
        if let Some((expected, found)) = spec_difference(facts, file, new) {
            findings.add(|| Finding::new(&file.manifest_path, expected, format!("{found}, numbered by the client")));
        }
    }
}
