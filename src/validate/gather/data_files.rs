//! Finds the data files that deletes refer to: in what the snapshot wrote, in what it carries, in its history.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::manifest::{FieldSummary, ManifestContent, ManifestFile, ManifestList, Partition};
use crate::spec::{PartitionSpec, TableMetadata};
use crate::validate::cache::{Index, PathKey};
use crate::validate::facts::{DataFileFacts, DataFileState, Facts, Origin};
use crate::validate::read::{ReadBytes, Unavailable};

use super::source::{CONCURRENT_READS, Fault, indexes};
use super::{Context, Notes};

/// How many carried data manifests one snapshot's deletes may cost to read, and how many bytes of them.
const MOST_MANIFESTS: usize = 2_000;
const MOST_BYTES: i64 = 1 << 30;
/// How many ancestors are searched for a data file that is not live.
pub(in crate::validate) const MOST_ANCESTORS: usize = 100;

/// A data file that a delete refers to.
#[derive(Debug, Clone)]
pub(in crate::validate) struct Wanted {
    pub(in crate::validate) path: Box<str>,
    /// Spec and partition of the delete, which should be the data file's.
    pub(in crate::validate) spec_id: i32,
    pub(in crate::validate) partition: Partition,
    /// Whether it must be found wherever it is: for a delete that is new. Else it is enough to know whether it is live
    /// in the delete's own partition.
    pub(in crate::validate) thorough: bool,
}

/// Looks up data files by path.
pub(super) async fn find<R: ReadBytes>(
    context: &Context<'_, R>,
    facts: &Facts<'_>,
    wanted: Vec<Wanted>,
    notes: &mut Notes,
) -> Result<HashMap<Box<str>, DataFileState>, Unavailable> {
    let mut found = HashMap::new();
    if wanted.is_empty() {
        return Ok(found);
    }
    let mut search = Search::new(context, wanted);
    search.in_new_manifests(facts, &mut found);
    let carried: Vec<&ManifestFile> = carried_data(facts).collect();
    search.in_manifests(&carried, true, &mut found, notes).await?;
    search.missing.retain(|_, wanted| wanted.thorough);
    search.in_manifests(&carried, false, &mut found, notes).await?;
    search.in_ancestors(&mut found, notes).await?;
    for wanted in search.missing.into_values() {
        let state = if search.incomplete { DataFileState::NotSearched } else { DataFileState::Unknown };
        found.insert(wanted.path, state);
    }
    Ok(found)
}

/// Looks up data files that are not live, by path, in the snapshot's history.
pub(in crate::validate) async fn find_in_history<R: ReadBytes>(
    context: &Context<'_, R>,
    wanted: Vec<Wanted>,
    notes: &mut Notes,
) -> Result<HashMap<Box<str>, DataFileState>, Unavailable> {
    let mut found = HashMap::new();
    let mut search = Search::new(context, wanted);
    search.in_ancestors(&mut found, notes).await?;
    for wanted in search.missing.into_values() {
        let state = if search.incomplete { DataFileState::NotSearched } else { DataFileState::Unknown };
        found.insert(wanted.path, state);
    }
    Ok(found)
}

/// Data manifests of the list that this snapshot did not write, those with the newest files first.
fn carried_data<'a>(facts: &'a Facts<'_>) -> impl Iterator<Item = &'a ManifestFile> {
    let mut rows: Vec<&ManifestFile> = facts
        .rows()
        .filter(|(file, origin)| *origin != Origin::New && is_live_data(file))
        .map(|(file, _)| file)
        .collect();
    rows.sort_by_key(|file| std::cmp::Reverse(file.sequence_number));
    rows.into_iter()
}

fn is_live_data(file: &ManifestFile) -> bool {
    file.content == ManifestContent::Data && file.may_be_live()
}

struct Search<'a, R> {
    context: &'a Context<'a, R>,
    missing: HashMap<PathKey, Wanted>,
    /// Manifests that were looked into.
    seen: HashSet<Box<str>>,
    manifests_left: usize,
    bytes_left: i64,
    /// Whether some manifest that may hold a missing file was not looked into.
    incomplete: bool,
}

impl<'a, R: ReadBytes> Search<'a, R> {
    fn new(context: &'a Context<'a, R>, wanted: Vec<Wanted>) -> Self {
        let keys = context.source.keys();
        let missing = wanted.into_iter().map(|wanted| (keys.key(&wanted.path), wanted)).collect();
        let (manifests_left, bytes_left) =
            if context.thrifty { (MOST_MANIFESTS, MOST_BYTES) } else { (usize::MAX, i64::MAX) };
        Self { context, missing, seen: HashSet::new(), manifests_left, bytes_left, incomplete: false }
    }

    fn in_new_manifests(&mut self, facts: &Facts<'_>, found: &mut HashMap<Box<str>, DataFileState>) {
        let keys = self.context.source.keys();
        let mut removed = Vec::new();
        for new in &facts.manifests {
            let Some(file) = facts.row(new).filter(|file| file.content == ManifestContent::Data) else { continue };
            for entry in &new.manifest.entries {
                let key = keys.key(&entry.data_file.file_path);
                if !self.missing.contains_key(&key) {
                    continue;
                }
                if !entry.is_live() {
                    removed.push(key);
                    continue;
                }
                let data_file = DataFileFacts {
                    spec_id: file.partition_spec_id,
                    partition: entry.data_file.partition.clone(),
                    record_count: entry.data_file.record_count,
                    sequence_number: entry.sequence_number.unwrap_or(file.sequence_number),
                };
                self.found(key, DataFileState::Live(data_file), found);
            }
        }
        for key in removed {
            self.found(key, DataFileState::Removed { by: "this snapshot".to_owned() }, found);
        }
    }

    fn found(&mut self, key: PathKey, state: DataFileState, found: &mut HashMap<Box<str>, DataFileState>) {
        if let Some(wanted) = self.missing.remove(&key) {
            found.insert(wanted.path, state);
        }
    }

    /// Looks into carried manifests; with `prune` only into those that can hold a file of the delete's partition.
    async fn in_manifests(
        &mut self,
        files: &[&ManifestFile],
        prune: bool,
        found: &mut HashMap<Box<str>, DataFileState>,
        notes: &mut Notes,
    ) -> Result<(), Unavailable> {
        for (file, index) in self.look_into(files, prune, notes).await? {
            for key in self.keys_in(&index) {
                if let Some(data_file) = index.data_file(key, file) {
                    self.found(key, DataFileState::Live(data_file), found);
                }
            }
        }
        Ok(())
    }

    /// Follows the snapshot's parents; a file that was live in one of them is removed, not unknown.
    async fn in_ancestors(
        &mut self,
        found: &mut HashMap<Box<str>, DataFileState>,
        notes: &mut Notes,
    ) -> Result<(), Unavailable> {
        let table = self.context.table;
        let mut next = self.context.snapshot.parent_snapshot_id;
        for _ in 0..MOST_ANCESTORS {
            let Some(ancestor) = next.and_then(|id| table.snapshot(id)) else { return Ok(()) };
            if self.missing.is_empty() {
                return Ok(());
            }
            next = ancestor.parent_snapshot_id;
            let Some(location) = ancestor.manifest_list.as_deref() else { continue };
            let list: Arc<ManifestList> = match self.context.source.list(location).await {
                Ok(list) => list,
                Err(fault) => {
                    self.not_read(location, fault, notes)?;
                    continue;
                }
            };
            let files: Vec<&ManifestFile> = list.manifests.iter().filter(|file| is_live_data(file)).collect();
            let by = format!("a snapshot after {}", ancestor.snapshot_id);
            for (_, index) in self.look_into(&files, true, notes).await? {
                for key in self.keys_in(&index) {
                    self.found(key, DataFileState::Removed { by: by.clone() }, found);
                }
            }
        }
        Ok(())
    }

    /// The missing files that an index holds.
    fn keys_in(&self, index: &Index) -> Vec<PathKey> {
        self.missing.keys().copied().filter(|key| index.holds(*key)).collect()
    }

    /// Indexes of those manifests that may hold a missing file: what is known already, then what must be read, as far
    /// as the budget goes. Reading stops when all files are found in what was read.
    async fn look_into<'f>(
        &mut self,
        files: &[&'f ManifestFile],
        prune: bool,
        notes: &mut Notes,
    ) -> Result<Vec<(&'f ManifestFile, Arc<Index>)>, Unavailable> {
        let mut indexed = Vec::new();
        let mut unread = Vec::new();
        let mut sought: HashSet<PathKey> = self.missing.keys().copied().collect();
        let places = self.places(&sought);
        for file in files {
            if self.seen.contains(&file.manifest_path) || !self.may_hold(file, prune, &places) {
                continue;
            }
            match self.context.source.known_index(file).await {
                Ok(Some(index)) => self.note_index(file, index, &mut sought, &mut indexed),
                Ok(None) => unread.push(*file),
                Err(fault) => self.not_read(&file.manifest_path, fault, notes)?,
            }
        }
        let mut unread = unread.into_iter();
        loop {
            let batch = self.next_batch(&mut unread, prune, &sought, notes);
            if batch.is_empty() {
                return Ok(indexed);
            }
            for (file, read) in batch.iter().zip(indexes(self.context.source, &batch).await) {
                match read {
                    Ok(index) => self.note_index(file, index, &mut sought, &mut indexed),
                    Err(fault) => self.not_read(&file.manifest_path, fault, notes)?,
                }
            }
        }
    }

    fn note_index<'f>(
        &mut self,
        file: &'f ManifestFile,
        index: Arc<Index>,
        sought: &mut HashSet<PathKey>,
        indexed: &mut Vec<(&'f ManifestFile, Arc<Index>)>,
    ) {
        self.seen.insert(file.manifest_path.clone());
        let before = sought.len();
        sought.retain(|key| !index.holds(*key));
        if sought.len() < before {
            indexed.push((file, index));
        }
    }

    fn next_batch<'f>(
        &mut self,
        unread: &mut impl Iterator<Item = &'f ManifestFile>,
        prune: bool,
        sought: &HashSet<PathKey>,
        notes: &mut Notes,
    ) -> Vec<&'f ManifestFile> {
        let mut batch = Vec::new();
        let places = self.places(sought);
        for file in unread {
            if !self.may_hold(file, prune, &places) {
                continue;
            }
            if file.encrypted {
                self.incomplete = true;
                notes.skip("dv-*", &file.manifest_path, "the data manifest is encrypted");
                continue;
            }
            if self.manifests_left == 0 || self.bytes_left < file.manifest_length {
                self.incomplete = true;
                notes.skip("dv-*", &file.manifest_path, "no more data manifests are read for one commit (cost)");
                break;
            }
            self.manifests_left -= 1;
            self.bytes_left -= file.manifest_length.max(0);
            batch.push(file);
            if batch.len() == CONCURRENT_READS {
                break;
            }
        }
        batch
    }

    fn not_read(&mut self, object: &str, fault: Fault, notes: &mut Notes) -> Result<(), Unavailable> {
        self.incomplete = true;
        notes.skip("dv-*", object, fault.reason()?);
        Ok(())
    }

    /// The partitions of the files that are sought, each once.
    fn places(&self, sought: &HashSet<PathKey>) -> HashSet<(i32, Partition)> {
        let wanted = sought.iter().filter_map(|key| self.missing.get(key));
        wanted.map(|wanted| (wanted.spec_id, wanted.partition.clone())).collect()
    }

    fn may_hold(&self, file: &ManifestFile, prune: bool, places: &HashSet<(i32, Partition)>) -> bool {
        let mut places = places.iter();
        if prune {
            places.any(|(spec_id, partition)| may_contain(self.context.table, file, *spec_id, partition))
        } else {
            places.next().is_some()
        }
    }
}

/// Whether a manifest can list a file of this partition, by its spec and its partition summaries.
pub(super) fn may_contain(table: &TableMetadata, file: &ManifestFile, spec_id: i32, partition: &Partition) -> bool {
    if file.partition_spec_id != spec_id {
        return false;
    }
    let (Some(summaries), Some(spec)) = (&file.partitions, table.partition_spec(spec_id)) else { return true };
    summaries.len() != spec.fields.len() || summaries_admit(spec, summaries, partition)
}

fn summaries_admit(spec: &PartitionSpec, summaries: &[FieldSummary], partition: &Partition) -> bool {
    let mut fields = spec.fields.iter().zip(summaries);
    fields.all(|(field, summary)| summary.admits(partition.value(field.field_id)))
}
