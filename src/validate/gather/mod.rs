//! Gathers the facts about one added snapshot: the one part of validation that reads.
//!
//! Reads are bounded by what the commit adds. Always: the new manifest list, the parent's, and the manifests that the
//! snapshot wrote. Where it writes or drops delete manifests: the dropped ones, the carried ones, and the carried data
//! manifests that can hold a data file it deletes rows of (told by spec id and partition summaries). For each vector
//! that it adds: the Puffin footer, the blob, and the vector it replaces. Each once, side by side, and what was read
//! from manifests of the table is kept in the cache.

mod at_rest;
mod blobs;
mod change;
mod data_files;
mod deletes;
mod history;
mod measure;
mod objects;
mod origins;
mod puffins;
mod row_ids;
mod source;
mod statistics;

use std::sync::Arc;

use futures::FutureExt;

use crate::manifest::{ManifestFile, ManifestList};
use crate::spec::{Snapshot, TableMetadata};

use super::facts::{Facts, Failure, Gathered, History, NewManifest, Origin, Parent, Request};
use super::finding::{Finding, NotChecked};
use super::levels::Levels;
use super::read::{ReadBytes, Unavailable};
pub(super) use at_rest::{TOGETHER, Whole, read_list, read_replaced, whole_manifests};
pub(super) use change::change;
pub(super) use data_files::{MOST_ANCESTORS, Wanted, find_in_history};
pub(super) use puffins::gather as read_vectors;
pub(super) use source::Source;
use source::{Kind, concurrently};

/// How many things a report says were not checked; more are left out.
const MOST_NOT_CHECKED: usize = 100;
/// How many manifests one snapshot may write, and how many entries they may have in all: some 700 MB of memory.
const MOST_NEW_MANIFESTS: usize = 20_000;
const MOST_NEW_ENTRIES: usize = 2_000_000;
/// How many manifests are read before their entries are counted.
const COUNTED_TOGETHER: usize = 64;

/// What is gathered, and from where.
pub(super) struct Context<'a, R> {
    pub(super) source: &'a Source<'a, R>,
    pub(super) levels: &'a Levels,
    /// The table with the snapshot in it.
    pub(super) table: &'a TableMetadata,
    pub(super) snapshot: &'a Snapshot,
    pub(super) format_version: u8,
    pub(super) request: Request<'a>,
    /// Whether reads are limited to what one commit may cost.
    pub(super) thrifty: bool,
}

/// What is found out beside facts.
#[derive(Debug, Default)]
pub(super) struct Notes {
    failures: Vec<Failure>,
    not_checked: Vec<NotChecked>,
}

impl Notes {
    fn fail(&mut self, failure: Failure) {
        self.failures.push(failure);
    }

    fn skip(&mut self, rule: &'static str, object: &str, reason: impl Into<String>) {
        if self.not_checked.len() < MOST_NOT_CHECKED {
            self.not_checked.push(NotChecked { rule, object: object.to_owned(), reason: reason.into() });
        }
    }

    /// Faults and what was not checked.
    pub(super) fn into_parts(self) -> (Vec<Failure>, Vec<NotChecked>) {
        (self.failures, self.not_checked)
    }

    fn gathered(self, facts: Option<Facts<'_>>) -> Gathered<'_> {
        Gathered { facts, failures: self.failures, not_checked: self.not_checked }
    }
}

/// Gathers the facts about one snapshot.
pub(super) async fn gather<'a, R: ReadBytes>(context: &Context<'a, R>) -> Result<Gathered<'a>, Unavailable> {
    let mut notes = Notes::default();
    let Some((list_location, list)) = new_list(context, &mut notes).await? else {
        return Ok(notes.gathered(None));
    };
    let parent = parent_list(context, &mut notes).await?;
    let origins = origins::of(context, &list, &parent, &mut notes).await?;
    let manifests = new_manifests(context, &list, &origins, &mut notes).await?;
    let mut facts = Facts {
        format_version: context.format_version,
        request: context.request,
        table: context.table,
        snapshot: context.snapshot,
        list_location,
        list,
        origins,
        parent,
        manifests,
        row_ranges: Vec::new(),
        vectors: Vec::new(),
        duplicate_vectors: Vec::new(),
        lost_deletes: Vec::new(),
        stale_deletes: Vec::new(),
        history: History::default(),
        objects: Vec::new(),
    };
    facts.row_ranges = row_ids::ranges(context, &facts, &mut notes).await?;
    deletes::gather(context, &mut facts, &mut notes).await?;
    puffins::gather(context, &mut facts.vectors, &mut notes).await?;
    facts.history = history::gather(context, &facts, &mut notes).await?;
    facts.objects = objects::gather(context, &facts, &mut notes).await?;
    Ok(notes.gathered(Some(facts)))
}

async fn new_list<'a, R: ReadBytes>(
    context: &Context<'a, R>,
    notes: &mut Notes,
) -> Result<Option<(&'a str, Arc<ManifestList>)>, Unavailable> {
    let snapshot = context.snapshot;
    let object = format!("snapshot {}", snapshot.snapshot_id);
    let Some(location) = snapshot.manifest_list.as_deref() else {
        notes.skip("manifest-*", &object, "the snapshot has no manifest list: it names its manifests itself");
        return Ok(None);
    };
    if snapshot.key_id.is_some() {
        notes.skip("manifest-*", location, "the manifest list is encrypted");
        return Ok(None);
    }
    match context.source.new_list(location).await {
        Ok(list) => Ok(Some((location, list))),
        Err(fault) => {
            notes.fail(fault.failure(Kind::List)?);
            Ok(None)
        }
    }
}

async fn parent_list<R: ReadBytes>(context: &Context<'_, R>, notes: &mut Notes) -> Result<Parent, Unavailable> {
    let Some(id) = context.snapshot.parent_snapshot_id else { return Ok(Parent::None) };
    let parent = context.table.snapshot(id);
    let location = parent.and_then(|parent| parent.manifest_list.as_deref());
    let (Some(parent), Some(location)) = (parent, location) else {
        notes.skip("carried-*", &format!("snapshot {id}"), "the parent snapshot has no manifest list in the table");
        return Ok(Parent::Unreadable);
    };
    if parent.key_id.is_some() {
        notes.skip("carried-*", location, "the parent's manifest list is encrypted");
        return Ok(Parent::Unreadable);
    }
    match context.source.list(location).await {
        Ok(list) => Ok(Parent::Known(list)),
        Err(fault) => {
            notes.skip("carried-*", location, format!("the parent's manifest list: {}", fault.reason()?));
            Ok(Parent::Unreadable)
        }
    }
}

async fn new_manifests<R: ReadBytes>(
    context: &Context<'_, R>,
    list: &ManifestList,
    origins: &[Origin],
    notes: &mut Notes,
) -> Result<Vec<NewManifest>, Unavailable> {
    let rows: Vec<(usize, &ManifestFile)> = list.manifests.iter().enumerate().collect();
    let new = rows.into_iter().zip(origins).filter(|(_, origin)| **origin == Origin::New);
    let mut reads = Vec::new();
    for ((place, file), _) in new {
        if file.encrypted {
            notes.skip("manifest-*", &file.manifest_path, "the manifest is encrypted");
        } else {
            reads.push(context.source.new_manifest(place, file).boxed());
        }
    }
    let mut manifests: Vec<NewManifest> = Vec::new();
    let mut entries = 0;
    if reads.len() > MOST_NEW_MANIFESTS {
        notes.fail(too_large(context, format!("{} manifests", reads.len())));
        return Ok(manifests);
    }
    while !reads.is_empty() && entries <= MOST_NEW_ENTRIES {
        let some: Vec<_> = reads.drain(..reads.len().min(COUNTED_TOGETHER)).collect();
        for read in concurrently(some).await {
            match read {
                Ok(new) => {
                    entries += new.manifest.entries.len();
                    manifests.push(new);
                }
                Err(fault) => notes.fail(fault.failure(Kind::Manifest)?),
            }
        }
    }
    if entries > MOST_NEW_ENTRIES {
        notes.fail(too_large(context, format!("more than {MOST_NEW_ENTRIES} entries")));
    }
    Ok(manifests)
}

fn too_large<R>(context: &Context<'_, R>, found: String) -> Failure {
    let expected = format!("at most {MOST_NEW_MANIFESTS} manifests of {MOST_NEW_ENTRIES} entries");
    let object = context.snapshot.manifest_list.as_deref().unwrap_or_default();
    Failure { rule: "commit-too-large", finding: Finding::new(object, expected, found) }
}
