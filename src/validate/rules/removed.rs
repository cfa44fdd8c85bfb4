//! Rules about what a commit removes from the metadata while files still need it.

use crate::validate::levels::Level::{self, Warn};
use crate::validate::levels::Levels;
use crate::validate::report::{Collected, Finding, Findings, Report};

use super::{Check, Reads, Rule, all};

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

/// What a commit removes and retained snapshots still need.
#[derive(Debug, Default)]
pub(in crate::validate) struct RemovedFacts<'a> {
    /// The table's location.
    pub(in crate::validate) table: &'a str,
    /// Manifests of removed specs: location and spec id.
    pub(in crate::validate) manifests_of_removed_specs: Vec<(Box<str>, i32)>,
    /// Snapshots of removed schemas: snapshot id and schema id.
    pub(in crate::validate) snapshots_of_removed_schemas: Vec<(i64, i32)>,
}

/// Applies these rules.
pub(in crate::validate) fn check(facts: &RemovedFacts<'_>, levels: &Levels, report: &mut Report) {
    let mut collected = Collected::default();
    for (rule, (_, level)) in all().zip(levels.iter()) {
        if let (Check::Removed(check), true) = (&rule.check, level != Level::Off) {
            let mut findings = Findings::default();
            check(facts, &mut findings);
            collected.add(rule, level, findings);
        }
    }
    collected.report(report);
}

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
