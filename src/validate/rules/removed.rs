//! Rules about what a commit takes out of the metadata, or moves, while files still need it.

use std::collections::HashSet;

use crate::validate::facts::ChangeFacts;
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
        check: Check::Change(specs),
    },
    Rule {
        id: "removed-schema-in-use",
        level: Warn,
        statement: "a schema that is removed is the schema of no retained snapshot",
        protects: "The snapshot cannot be read as it was.",
        source: "spec: Snapshots, schema-id",
        reads: Reads::Metadata,
        broken_by: "",
        check: Check::Change(schemas),
    },
    Rule {
        id: "removed-key-in-use",
        level: Warn,
        statement: "an encryption key that is removed is named by no retained snapshot and by no other key",
        protects: "Nobody can read the snapshot any more.",
        source: "spec: Encryption Keys; Snapshots, key-id",
        reads: Reads::Metadata,
        broken_by: "",
        check: Check::Change(keys),
    },
    Rule {
        id: "location-changed",
        level: Warn,
        statement: "a table with data stays where it is",
        protects: "Files of the table lie in two places: clean-up and vended credentials reach only one of them.",
        source: "convention of all writers",
        reads: Reads::Metadata,
        broken_by: "tools that move a table",
        check: Check::Change(location),
    },
];

fn specs(facts: &ChangeFacts<'_>, findings: &mut Findings) {
    for (manifest, spec_id) in &facts.manifests_of_removed_specs {
        findings.add(|| Finding::new(manifest, "a partition spec that stays in the table", format!("spec {spec_id}")));
    }
}

fn schemas(facts: &ChangeFacts<'_>, findings: &mut Findings) {
    let gone = |id: &i32| facts.base.schema(*id).is_some() && facts.new.schema(*id).is_none();
    for snapshot in &facts.new.snapshots {
        if let Some(id) = snapshot.schema_id.filter(gone) {
            let found = format!("schema {id} of snapshot {}", snapshot.snapshot_id);
            findings.add(|| Finding::new(&facts.new.location, "a schema that stays in the table", found));
        }
    }
}

fn keys(facts: &ChangeFacts<'_>, findings: &mut Findings) {
    let kept: HashSet<&str> = facts.new.encryption_keys.iter().map(|key| key.key_id.as_str()).collect();
    let known = facts.base.encryption_keys.iter().map(|key| key.key_id.as_str());
    let gone: HashSet<&str> = known.filter(|id| !kept.contains(id)).collect();
    let of_snapshots = facts
        .new
        .snapshots
        .iter()
        .filter_map(|snapshot| Some((snapshot.key_id.as_deref()?, format!("snapshot {}", snapshot.snapshot_id))));
    let of_keys = facts.new.encryption_keys.iter();
    let of_keys = of_keys.filter_map(|key| Some((key.encrypted_by_id.as_deref()?, format!("key {}", key.key_id))));
    for (key, user) in of_snapshots.chain(of_keys).filter(|(key, _)| gone.contains(key)) {
        let expected = "an encryption key that stays in the table";
        findings.add(|| Finding::new(&facts.new.location, expected, format!("{key}, which {user} needs")));
    }
}

fn location(facts: &ChangeFacts<'_>, findings: &mut Findings) {
    let (was, is) = (&facts.base.location, &facts.new.location);
    findings.expect(was == is || !facts.goes_on(), || Finding::new(is, was, is));
}
