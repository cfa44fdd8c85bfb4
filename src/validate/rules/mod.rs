//! The rules: one table row and one small pure function each.
//!
//! A rule's id is what clients, logs, metrics, settings and documentation call it, so ids never change their meaning.
//! `spec` below is the Iceberg table specification, `puffin-spec` the one of Puffin files.

mod at_rest;
mod carried;
mod details;
mod entries;
mod files;
mod history;
mod lists;
mod manifests;
mod objects;
mod partitions;
mod places;
mod puffin;
mod removed;
mod row_ids;
mod schemas;
mod stale;
mod statistics;
mod vectors;

use serde::Serialize;

pub(super) use stale::ANSWERED_WITH_CONFLICT;

use crate::manifest::{ManifestEntry, ManifestFile};

use super::facts::{ChangeFacts, Facts, NewManifest, Vector};
use super::finding::{Finding, Findings};
use super::level::Level;

/// A rule, as it is documented.
#[derive(Debug, Serialize)]
pub struct Rule {
    /// What it is called everywhere.
    pub id: &'static str,
    /// What it does when it is not configured.
    pub level: Level,
    /// What must hold, as a clause.
    pub statement: &'static str,
    /// What goes wrong in a table that breaks it.
    pub protects: &'static str,
    /// Where the rule comes from.
    pub source: &'static str,
    /// What is read to check it.
    pub reads: Reads,
    /// Who is known to break it; empty if nobody is.
    pub broken_by: &'static str,
    #[serde(skip)]
    pub(super) check: Check,
}

/// What is read to check a rule, from cheap to dear.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reads {
    /// Table metadata only.
    Metadata,
    /// The new manifest list.
    ManifestList,
    /// The new and the parent's manifest list.
    ParentList,
    /// Manifests that the snapshot wrote.
    NewManifests,
    /// Delete manifests that the snapshot carries or drops.
    DeleteManifests,
    /// Carried data manifests that can hold a data file.
    DataManifests,
    /// Manifests that were read before; the rule is not checked on others.
    KnownManifests,
    /// Size, head and footer of Puffin files.
    PuffinFooter,
    /// Blobs of added deletion vectors.
    Vector,
    /// Blobs of replaced deletion vectors.
    PreviousVector,
    /// The sizes of objects.
    Objects,
    /// Every manifest and every vector of a table at rest.
    WholeTable,
}

/// How a rule is checked.
#[derive(Debug)]
pub(super) enum Check {
    /// Reading a file finds it out, under the rule's id.
    Reading,
    /// A look at all facts.
    Snapshot(fn(&Facts<'_>, &mut Findings)),
    /// A look at each manifest that the snapshot wrote.
    Manifest(fn(&ManifestView<'_>, &mut Findings)),
    /// A look at each entry of those manifests.
    Entry(fn(&EntryView<'_>, &mut Findings)),
    /// A look at each vector that the snapshot adds.
    Vector(fn(&Vector, &mut Findings)),
    /// A look at all snapshots or all files of a table at rest finds it out, under the rule's id.
    AtRest,
    /// A look at what the commit changes in the metadata.
    Change(fn(&ChangeFacts<'_>, &mut Findings)),
}

/// A manifest that the snapshot wrote, with what the list says of it.
pub(super) struct ManifestView<'a> {
    facts: &'a Facts<'a>,
    file: &'a ManifestFile,
    new: &'a NewManifest,
}

/// An entry of a manifest that the snapshot wrote.
pub(super) struct EntryView<'a> {
    facts: &'a Facts<'a>,
    file: &'a ManifestFile,
    entry: &'a ManifestEntry,
}

impl EntryView<'_> {
    /// A finding about the entry: the manifest is the object, the file is named.
    fn finding(&self, expected: impl std::fmt::Display, found: impl std::fmt::Display) -> Finding {
        let found = format!("{found} for {}", self.entry.data_file.file_path);
        Finding::new(&self.file.manifest_path, expected, found)
    }
}

/// Every rule.
const TABLES: &[&[Rule]] = &[
    lists::RULES,
    stale::RULES,
    carried::RULES,
    row_ids::RULES,
    manifests::RULES,
    partitions::RULES,
    entries::RULES,
    files::RULES,
    details::RULES,
    objects::RULES,
    history::RULES,
    vectors::RULES,
    puffin::RULES,
    schemas::RULES,
    removed::RULES,
    statistics::RULES,
    at_rest::RULES,
];

/// Every rule, in the order of the documentation: from the manifest list down to the bits of a vector.
pub(super) fn all() -> impl Iterator<Item = &'static Rule> {
    TABLES.iter().copied().flatten()
}

impl Check {
    pub(super) fn run(&self, facts: &Facts<'_>, findings: &mut Findings) {
        match self {
            Self::Reading | Self::AtRest | Self::Change(_) => {}
            Self::Snapshot(check) => check(facts, findings),
            Self::Vector(check) => facts.vectors.iter().for_each(|vector| check(vector, findings)),
            Self::Manifest(check) => {
                for new in &facts.manifests {
                    if let Some(file) = facts.row(new) {
                        check(&ManifestView { facts, file, new }, findings);
                    }
                }
            }
            Self::Entry(check) => {
                for new in &facts.manifests {
                    let Some(file) = facts.row(new) else { continue };
                    for entry in &new.manifest.entries {
                        check(&EntryView { facts, file, entry }, findings);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn ids_are_kebab_case_and_unique() {
        let mut seen = HashSet::new();
        for rule in all() {
            let kebab = rule.id.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
            assert!(kebab && !rule.id.starts_with('-'), "{}", rule.id);
            assert!(seen.insert(rule.id), "{} twice", rule.id);
        }
        assert!(seen.len() > 100, "{}", seen.len());
    }

    #[test]
    fn every_row_is_documented_and_its_statement_is_a_clause() {
        for rule in all() {
            assert!(!rule.protects.is_empty() && !rule.source.is_empty(), "{}", rule.id);
            assert!(!rule.statement.ends_with('.'), "{}: the message adds the full stop", rule.id);
        }
    }
}
