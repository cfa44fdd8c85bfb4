//! Rules about what a commit removes from the metadata while files still need it.

use crate::validate::facts::RemovedFacts;
use crate::validate::finding::{Finding, Findings};
use crate::validate::level::Level::Warn;

use super::{Check, Reads, Rule};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "removed-spec-in-use",
        level: Warn,
        statement: "a partition spec that is removed is the spec of no manifest of a retained snapshot",
        protects: "The manifest's files and deletes cannot be read.",
        source: "spec: Manifest Lists, partition_spec_id",
        reads: Reads::ParentList,
        broken_by: "",
        check: Check::Removed(specs),
    },
    Rule {
        id: "removed-schema-in-use",
        level: Warn,
        statement: "a schema that is removed is the schema of no retained snapshot",
        protects: "The snapshot cannot be read as it was.",
        source: "spec: Snapshots, schema-id",
        reads: Reads::Metadata,
        broken_by: "",
        check: Check::Removed(schemas),
    },
];

fn specs(facts: &RemovedFacts<'_>, findings: &mut Findings) {
    for (manifest, spec_id) in &facts.manifests_of_removed_specs {
        findings.add(|| Finding::new(manifest, "a partition spec that stays in the table", format!("spec {spec_id}")));
    }
}

fn schemas(facts: &RemovedFacts<'_>, findings: &mut Findings) {
    for (snapshot, schema_id) in &facts.snapshots_of_removed_schemas {
        findings.add(|| {
            let found = format!("schema {schema_id} of snapshot {snapshot}");
            Finding::new(facts.table, "a schema that stays in the table", found)
        });
    }
}
