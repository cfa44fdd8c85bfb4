//! What a snapshot does to deletes: vectors it adds, vectors it drops, vectors it leaves.

use std::collections::{HashMap, HashSet};

use crate::manifest::{DataFile, FileContent, ManifestContent, ManifestEntry, ManifestFile, Status};
use crate::validate::cache::Index;
use crate::validate::facts::{
    DataFileState, DuplicateVector, Facts, LostDelete, Origin, Parent, PreviousDelete, Stale, StaleDelete, Vector,
    VectorPlace,
};
use crate::validate::read::{ReadBytes, Unavailable};

use super::data_files::{self, Wanted, may_contain};
use super::source::indexes;
use super::{Context, Notes};

/// Up to how many carried delete manifests are all read when a vector is added. With more, only those are that can
/// hold a vector of the same partition: a vector is in its data file's partition (rule `dv-partition`).
const READ_ALL_UP_TO: usize = 100;

/// How many carried delete manifests one commit may cost to read.
const MOST_READ: usize = 2_000;

/// A live delete with the manifest that lists it; its data sequence number is inherited if need be.
#[derive(Debug, Clone)]
struct Delete {
    manifest: Box<str>,
    spec_id: i32,
    entry: ManifestEntry,
}

/// What makes two entries the same vector.
type BlobKey<'a> = (&'a str, Option<i64>, Option<i64>, Option<&'a str>);

fn blob_key(file: &DataFile) -> BlobKey<'_> {
    (&file.file_path, file.content_offset, file.content_size_in_bytes, file.referenced_data_file.as_deref())
}

impl Delete {
    fn file(&self) -> &DataFile {
        &self.entry.data_file
    }

    /// The only data file that it applies to, if it says so. Position delete files of version 2 may say it by bounds.
    fn referenced(&self) -> Option<&str> {
        let file = self.file();
        if file.is_deletion_vector() { file.referenced_data_file.as_deref() } else { file.only_data_file() }
    }

    fn wanted(&self, path: &str, thorough: bool) -> Wanted {
        Wanted { path: path.into(), spec_id: self.spec_id, partition: self.file().partition.clone(), thorough }
    }

    fn place(&self) -> VectorPlace {
        VectorPlace { file_path: self.file().file_path.clone(), content_offset: self.file().content_offset }
    }
}

/// Gathers everything about deletes but the contents of Puffin files.
pub(super) async fn gather<R: ReadBytes>(
    context: &Context<'_, R>,
    facts: &mut Facts<'_>,
    notes: &mut Notes,
) -> Result<(), Unavailable> {
    if context.format_version < 3 {
        return Ok(());
    }
    let before = dropped_deletes(context, facts, notes).await?;
    let after = new_deletes(facts);
    let known: HashSet<BlobKey<'_>> = before.iter().map(|delete| blob_key(delete.file())).collect();
    let (added, kept): (Vec<&Delete>, Vec<&Delete>) = after
        .iter()
        .partition(|delete| delete.entry.status == Status::Added || !known.contains(&blob_key(delete.file())));
    let added: Vec<&Delete> = added.into_iter().filter(|delete| delete.file().is_deletion_vector()).collect();
    let gone = if facts.all_read(|file| file.content == ManifestContent::Deletes) {
        gone_deletes(&before, &after)
    } else {
        notes.skip("dv-lost", facts.list_location, "not every delete manifest of the snapshot could be read");
        Vec::new()
    };
    note_unscoped(&before, &after, notes);
    let carried = carried_deletes(context, facts, &added, &gone, notes).await?;

    let mut wanted: HashMap<&str, Wanted> = HashMap::new();
    for (delete, thorough) in gone.iter().map(|delete| (*delete, false)).chain(added.iter().map(|add| (*add, true))) {
        if let Some(path) = delete.referenced() {
            wanted.insert(path, delete.wanted(path, thorough));
        }
    }
    let states = data_files::find(context, facts, wanted.into_values().collect(), notes).await?;

    let vectors = added.iter().map(|delete| vector(delete, facts, &before, &states)).collect();
    let duplicates = duplicates(&added, &kept, &carried);
    let lost = lost(&gone, &carried, &states, notes);
    let stale = stale(context, facts, &added, &after, &carried, notes).await?;
    facts.vectors = vectors;
    facts.duplicate_vectors = duplicates;
    facts.lost_deletes = lost;
    facts.stale_deletes = stale;
    Ok(())
}

/// Live deletes of the parent's manifests that the new list does not carry.
async fn dropped_deletes<R: ReadBytes>(
    context: &Context<'_, R>,
    facts: &Facts<'_>,
    notes: &mut Notes,
) -> Result<Vec<Delete>, Unavailable> {
    let Parent::Known(parent) = &facts.parent else { return Ok(Vec::new()) };
    let carried: HashSet<usize> = facts.rows().filter_map(|(_, origin)| parent_place(origin)).collect();
    let rows = parent.manifests.iter().enumerate().filter(|(place, _)| !carried.contains(place));
    let dropped: Vec<&ManifestFile> = rows.map(|(_, file)| file).filter(|file| is_live_delete(file)).collect();
    read_deletes(context, &dropped, &["dv-lost", "dv-loses-positions"], notes).await
}

fn parent_place(origin: Origin) -> Option<usize> {
    match origin {
        Origin::Parent(place) => Some(place),
        _ => None,
    }
}

fn is_live_delete(file: &ManifestFile) -> bool {
    file.content == ManifestContent::Deletes && file.may_be_live()
}

async fn read_deletes<R: ReadBytes>(
    context: &Context<'_, R>,
    files: &[&ManifestFile],
    rules: &[&'static str],
    notes: &mut Notes,
) -> Result<Vec<Delete>, Unavailable> {
    let (encrypted, readable): (Vec<&ManifestFile>, Vec<&ManifestFile>) = files.iter().partition(|file| file.encrypted);
    for (file, rule) in encrypted.iter().flat_map(|file| rules.iter().map(move |rule| (file, rule))) {
        notes.skip(rule, &file.manifest_path, "the delete manifest is encrypted");
    }
    let mut deletes = Vec::new();
    for (file, read) in readable.iter().zip(indexes(context.source, &readable).await) {
        match read {
            Ok(index) => {
                if let Index::Deletes(entries) = &*index {
                    deletes.extend(entries.iter().map(|entry| delete(file, entry)));
                }
            }
            Err(fault) => {
                let reason = fault.reason()?;
                for rule in rules {
                    notes.skip(rule, &file.manifest_path, reason.clone());
                }
            }
        }
    }
    Ok(deletes)
}

fn delete(file: &ManifestFile, entry: &ManifestEntry) -> Delete {
    let mut entry = entry.clone();
    entry.sequence_number = entry.sequence_number.or(Some(file.sequence_number));
    Delete { manifest: file.manifest_path.clone(), spec_id: file.partition_spec_id, entry }
}

/// Live deletes of the manifests that this snapshot wrote.
fn new_deletes(facts: &Facts<'_>) -> Vec<Delete> {
    let mut deletes = Vec::new();
    for new in &facts.manifests {
        let Some(file) = facts.row(new).filter(|file| file.content == ManifestContent::Deletes) else { continue };
        let live = new.manifest.entries.iter().filter(|entry| entry.is_live());
        deletes.extend(live.map(|entry| delete(file, entry)));
    }
    deletes
}

/// Deletes of one data file that were there before and have no successor in what the snapshot wrote.
fn gone_deletes<'a>(before: &'a [Delete], after: &[Delete]) -> Vec<&'a Delete> {
    let vectors = after.iter().filter(|delete| delete.file().is_deletion_vector());
    let covered: HashSet<&str> = vectors.filter_map(Delete::referenced).collect();
    let kept: HashSet<BlobKey<'_>> = after.iter().map(|delete| blob_key(delete.file())).collect();
    let of_one_file = before.iter().filter(|delete| {
        let stays = kept.contains(&blob_key(delete.file()));
        !stays && delete.referenced().is_some_and(|path| !covered.contains(path))
    });
    of_one_file.collect()
}

/// Position delete files of several data files that are gone: which of these have a vector instead is not looked up.
fn note_unscoped(before: &[Delete], after: &[Delete], notes: &mut Notes) {
    let kept: HashSet<BlobKey<'_>> = after.iter().map(|delete| blob_key(delete.file())).collect();
    for delete in before.iter().filter(|delete| !kept.contains(&blob_key(delete.file()))) {
        let file = delete.file();
        if file.content == FileContent::PositionDeletes && delete.referenced().is_none() {
            let reason = "it is gone, and which data files it was for is not known without opening it";
            notes.skip("position-deletes-lost", &file.file_path, reason);
        }
    }
}

/// Live deletes of carried manifests, as far as they may concern what this snapshot adds or drops.
async fn carried_deletes<R: ReadBytes>(
    context: &Context<'_, R>,
    facts: &Facts<'_>,
    added: &[&Delete],
    gone: &[&Delete],
    notes: &mut Notes,
) -> Result<Vec<Delete>, Unavailable> {
    if added.is_empty() && gone.is_empty() {
        return Ok(Vec::new());
    }
    let rows = facts.rows().filter(|(file, origin)| *origin != Origin::New && is_live_delete(file));
    let mut files: Vec<&ManifestFile> = rows.map(|(file, _)| file).collect();
    if files.len() > READ_ALL_UP_TO {
        let all = files.len();
        files.retain(|file| {
            let mut concerned = added.iter().chain(gone);
            concerned.any(|delete| may_contain(context.table, file, delete.spec_id, &delete.file().partition))
        });
        if files.len() < all {
            let reason = format!("{} delete manifests of other partitions were not read (cost)", all - files.len());
            notes.skip("two-dvs", facts.list_location, reason);
        }
    }
    let files = affordable(context, facts, files, notes).await?;
    let concerned: HashSet<&str> = added.iter().chain(gone).filter_map(|delete| delete.referenced()).collect();
    let mut carried = read_deletes(context, &files, &["two-dvs"], notes).await?;
    carried.retain(|delete| delete.referenced().is_some_and(|path| concerned.contains(path)));
    Ok(carried)
}

/// Those manifests that are known already, and as many others as one commit may cost to read.
async fn affordable<'a, R: ReadBytes>(
    context: &Context<'_, R>,
    facts: &Facts<'_>,
    files: Vec<&'a ManifestFile>,
    notes: &mut Notes,
) -> Result<Vec<&'a ManifestFile>, Unavailable> {
    let all = files.len();
    if all <= MOST_READ {
        return Ok(files);
    }
    let mut kept = Vec::new();
    let mut unknown = 0;
    for file in files {
        let known = matches!(context.source.known_index(file).await, Ok(Some(_)));
        if known || unknown < MOST_READ {
            unknown += usize::from(!known);
            kept.push(file);
        }
    }
    if kept.len() < all {
        notes.skip("two-dvs", facts.list_location, format!("{} delete manifests (cost)", all - kept.len()));
    }
    Ok(kept)
}

fn vector(delete: &Delete, facts: &Facts<'_>, before: &[Delete], states: &HashMap<Box<str>, DataFileState>) -> Vector {
    let path = delete.referenced();
    let state = path.and_then(|path| states.get(path)).cloned().unwrap_or(DataFileState::NotSearched);
    let previous = before
        .iter()
        .filter(|old| path.is_some() && old.referenced() == path && blob_key(old.file()) != blob_key(delete.file()));
    Vector {
        manifest: delete.manifest.clone(),
        spec_id: delete.spec_id,
        sequence_number: delete.entry.sequence_number.unwrap_or(facts.snapshot.sequence_number),
        entry: delete.entry.clone(),
        data_file: state,
        puffin: None,
        decoded: None,
        previous: previous.map(|old| PreviousDelete { file: old.file().clone(), lost: None }).collect(),
    }
}

/// Pairs of live vectors for one data file, the first of which is new. What the parent had twice is not blamed.
fn duplicates(added: &[&Delete], kept: &[&Delete], carried: &[Delete]) -> Vec<DuplicateVector> {
    let mut live: HashMap<&str, Vec<&Delete>> = HashMap::new();
    for delete in carried.iter().chain(kept.iter().copied()).filter(|delete| delete.file().is_deletion_vector()) {
        if let Some(path) = delete.referenced() {
            live.entry(path).or_default().push(delete);
        }
    }
    let mut duplicates = Vec::new();
    for delete in added {
        let Some(path) = delete.referenced() else { continue };
        let others = live.entry(path).or_default();
        if let Some(other) = others.first() {
            duplicates.push(DuplicateVector {
                manifest: delete.manifest.clone(),
                data_file: path.into(),
                added: delete.place(),
                other: other.place(),
            });
        }
        others.push(delete);
    }
    duplicates
}

/// Deletes that are gone while their data file is live and nothing else deletes its rows.
fn lost(
    gone: &[&Delete],
    carried: &[Delete],
    states: &HashMap<Box<str>, DataFileState>,
    notes: &mut Notes,
) -> Vec<LostDelete> {
    let vectors = carried.iter().filter(|delete| delete.file().is_deletion_vector());
    let covered: HashSet<&str> = vectors.filter_map(Delete::referenced).collect();
    let mut lost = Vec::new();
    for delete in gone {
        let Some(path) = delete.referenced().filter(|path| !covered.contains(path)) else { continue };
        match states.get(path) {
            Some(DataFileState::Live(_)) => {
                lost.push(LostDelete { file: delete.file().clone(), data_file: path.into() });
            }
            Some(DataFileState::NotSearched) => {
                notes.skip("dv-lost", path, "whether the data file is still live is not known");
            }
            _ => {}
        }
    }
    lost
}

/// Deletes that apply to nothing any more.
async fn stale<R: ReadBytes>(
    context: &Context<'_, R>,
    facts: &Facts<'_>,
    added: &[&Delete],
    after: &[Delete],
    carried: &[Delete],
    notes: &mut Notes,
) -> Result<Vec<StaleDelete>, Unavailable> {
    let covered: HashSet<&str> = added.iter().filter_map(|delete| delete.referenced()).collect();
    let removed = removed_data_files(facts);
    let mut known: Vec<Delete> = Vec::new();
    if !removed.is_empty() && context.levels.any(&["dv-left-behind"]) {
        known = known_carried_deletes(context, facts, notes).await?;
    }
    let mut seen = HashSet::new();
    let mut stale = Vec::new();
    for delete in after.iter().chain(carried).chain(&known) {
        let Some(path) = delete.referenced() else { continue };
        let why = if removed.contains(path) {
            Stale::DataFileRemoved
        } else if !delete.file().is_deletion_vector() && covered.contains(path) {
            Stale::VectorAdded
        } else {
            continue;
        };
        if seen.insert(blob_key(delete.file())) {
            let (manifest, file) = (delete.manifest.clone(), delete.file().clone());
            stale.push(StaleDelete { manifest, file, why });
        }
    }
    Ok(stale)
}

/// Data files that this snapshot removes and does not keep in another entry.
fn removed_data_files<'a>(facts: &'a Facts<'_>) -> HashSet<&'a str> {
    let data =
        facts.manifests.iter().filter(|new| facts.row(new).is_some_and(|file| file.content == ManifestContent::Data));
    let entries = || data.clone().flat_map(|new| &new.manifest.entries);
    let mut removed: HashSet<&str> =
        entries().filter(|entry| entry.status == Status::Deleted).map(|entry| &*entry.data_file.file_path).collect();
    if !removed.is_empty() {
        for entry in entries().filter(|entry| entry.is_live()) {
            removed.remove(&*entry.data_file.file_path);
        }
    }
    removed
}

/// Deletes of carried manifests that need not be read for it.
async fn known_carried_deletes<R: ReadBytes>(
    context: &Context<'_, R>,
    facts: &Facts<'_>,
    notes: &mut Notes,
) -> Result<Vec<Delete>, Unavailable> {
    let mut known = Vec::new();
    let mut unknown = 0;
    for (file, _) in facts.rows().filter(|(file, origin)| *origin != Origin::New && is_live_delete(file)) {
        match context.source.known_index(file).await {
            Ok(Some(index)) => {
                if let Index::Deletes(entries) = &*index {
                    known.extend(entries.iter().map(|entry| delete(file, entry)));
                }
            }
            Ok(None) => unknown += 1,
            Err(fault) => notes.skip("dv-left-behind", &file.manifest_path, fault.reason()?),
        }
    }
    if unknown > 0 {
        notes.skip("dv-left-behind", facts.list_location, format!("{unknown} delete manifests were not read (cost)"));
    }
    Ok(known)
}
