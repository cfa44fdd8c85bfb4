//! What became of the files of manifests that a snapshot replaced.
//!
//! The rules about it only warn, so they look at manifests that are known already and read none for it.

use std::collections::HashMap;
use std::sync::Arc;

use crate::manifest::{DataFile, ManifestContent, ManifestEntry, ManifestFile, Status};
use crate::validate::cache::{Index, PathKey};
use crate::validate::facts::{Facts, History, Origin, Parent};
use crate::validate::read::{ReadBytes, Unavailable};

use super::{Context, Notes};

const RULES_ON_REPLACED: &[&str] =
    &["existing-file-unknown", "existing-file-changed", "deleted-file-unknown", "live-file-vanished"];

/// How many carried manifests are looked at for files that are added again.
const MOST_MANIFESTS: usize = 1_000;
/// How many times an added file is looked up in a carried manifest for one commit: some ten milliseconds.
const MOST_LOOK_UPS: usize = 200_000;

/// What is compared of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Before {
    spec_id: i32,
    record_count: i64,
    file_size_in_bytes: i64,
    sequence_number: i64,
    file_sequence_number: i64,
    first_row_id: Option<i64>,
}

/// A file of a manifest: a path, and for a vector its place in the file.
type FileKey = (PathKey, Option<i64>);

pub(super) async fn gather<R: ReadBytes>(
    context: &Context<'_, R>,
    facts: &Facts<'_>,
    notes: &mut Notes,
) -> Result<History, Unavailable> {
    let mut history = History::default();
    if facts.manifests.is_empty() {
        return Ok(history);
    }
    if context.levels.any(RULES_ON_REPLACED)
        && facts.all_read(|_| true)
        && let Some(before) = replaced_files(context, facts, notes).await?
    {
        compare(context, facts, before, &mut history);
    }
    if context.levels.any(&["file-already-live"]) {
        added_again(context, facts, &mut history, notes).await?;
    }
    Ok(history)
}

/// Live files of the parent's manifests that the list does not carry; none if one of them would have to be read.
async fn replaced_files<R: ReadBytes>(
    context: &Context<'_, R>,
    facts: &Facts<'_>,
    notes: &mut Notes,
) -> Result<Option<HashMap<FileKey, Before>>, Unavailable> {
    let Parent::Known(parent) = &facts.parent else { return Ok(None) };
    let mut replaced = vec![true; parent.manifests.len()];
    for (_, origin) in facts.rows() {
        if let Origin::Parent(place) = origin
            && let Some(replaced) = replaced.get_mut(place)
        {
            *replaced = false;
        }
    }
    let mut before = HashMap::new();
    let mut unknown = 0;
    for (file, _) in parent.manifests.iter().zip(replaced).filter(|(file, gone)| *gone && file.may_be_live()) {
        match context.source.known_index(file).await {
            Ok(Some(index)) => note_files(context, file, &index, &mut before),
            Ok(None) => unknown += 1,
            Err(fault) => {
                fault.reason()?;
                unknown += 1;
            }
        }
    }
    if unknown > 0 {
        let reason = format!("{unknown} manifests that the snapshot replaces were not read (cost)");
        for rule in RULES_ON_REPLACED {
            notes.skip(rule, facts.list_location, reason.clone());
        }
        return Ok(None);
    }
    Ok(Some(before))
}

fn note_files<R: ReadBytes>(
    context: &Context<'_, R>,
    file: &ManifestFile,
    index: &Arc<Index>,
    before: &mut HashMap<FileKey, Before>,
) {
    match &**index {
        Index::Data(files) => before.extend(files.iter().map(|(key, indexed)| {
            let known = Before {
                spec_id: file.partition_spec_id,
                record_count: indexed.record_count,
                file_size_in_bytes: indexed.file_size_in_bytes,
                sequence_number: indexed.sequence_number.unwrap_or(file.sequence_number),
                file_sequence_number: indexed.file_sequence_number.unwrap_or(file.sequence_number),
                first_row_id: indexed.first_row_id,
            };
            ((key, None), known)
        })),
        Index::Deletes(entries) => before.extend(entries.iter().map(|entry| {
            let key = (context.source.keys().key(&entry.data_file.file_path), entry.data_file.content_offset);
            (key, state(file, entry))
        })),
    }
}

fn state(file: &ManifestFile, entry: &ManifestEntry) -> Before {
    Before {
        spec_id: file.partition_spec_id,
        record_count: entry.data_file.record_count,
        file_size_in_bytes: entry.data_file.file_size_in_bytes,
        sequence_number: entry.sequence_number.unwrap_or(file.sequence_number),
        file_sequence_number: entry.file_sequence_number.unwrap_or(file.sequence_number),
        first_row_id: entry.data_file.first_row_id,
    }
}

fn compare<R: ReadBytes>(
    context: &Context<'_, R>,
    facts: &Facts<'_>,
    mut before: HashMap<FileKey, Before>,
    history: &mut History,
) {
    for new in &facts.manifests {
        let Some(file) = facts.row(new) else { continue };
        for entry in new.manifest.entries.iter().filter(|entry| entry.status != Status::Added) {
            let path = &entry.data_file.file_path;
            let offset = (file.content == ManifestContent::Deletes).then_some(entry.data_file.content_offset).flatten();
            let found = before.remove(&(context.source.keys().key(path), offset));
            let places = || (file.manifest_path.clone(), path.clone());
            match (found, entry.status) {
                (Some(was), Status::Existing) => {
                    if let Some(change) = change(was, state(file, entry), &entry.data_file) {
                        let (manifest, path) = places();
                        history.existing_changed.push((manifest, path, change));
                    }
                }
                (None, Status::Existing) => history.existing_unknown.push(places()),
                (None, Status::Deleted) => history.deleted_unknown.push(places()),
                _ => {}
            }
        }
    }
    history.vanished = before.len();
}

/// What changed of a file that should be as it was.
fn change(was: Before, is: Before, file: &DataFile) -> Option<String> {
    let row_id_lost = was.first_row_id.is_some() && was.first_row_id != is.first_row_id;
    let fields = [
        ("spec id", was.spec_id.into(), is.spec_id.into()),
        ("record_count", was.record_count, is.record_count),
        ("file_size_in_bytes", was.file_size_in_bytes, is.file_size_in_bytes),
        ("data sequence number", was.sequence_number, is.sequence_number),
        ("file sequence number", was.file_sequence_number, is.file_sequence_number),
    ];
    let changed = fields.into_iter().find(|(_, was, is): &(_, i64, i64)| was != is);
    match changed {
        Some((field, was, is)) => Some(format!("{field} {is} instead of {was}")),
        None if row_id_lost => {
            let now = file.first_row_id.map_or_else(|| "null".to_owned(), |id| id.to_string());
            Some(format!("first_row_id {now} instead of {}", was.first_row_id.unwrap_or_default()))
        }
        None => None,
    }
}

/// Finds added data files in carried manifests that are known.
async fn added_again<R: ReadBytes>(
    context: &Context<'_, R>,
    facts: &Facts<'_>,
    history: &mut History,
    notes: &mut Notes,
) -> Result<(), Unavailable> {
    let is_data = |file: &ManifestFile| file.content == ManifestContent::Data && file.may_be_live();
    let rows = facts.rows().filter(|(file, origin)| *origin != Origin::New && is_data(file));
    let rows: Vec<&ManifestFile> = rows.map(|(file, _)| file).collect();
    let entries: usize = facts.manifests.iter().map(|new| new.manifest.entries.len()).sum();
    if rows.len() > MOST_MANIFESTS || entries.saturating_mul(rows.len()) > MOST_LOOK_UPS {
        notes.skip("file-already-live", facts.list_location, "too many files and manifests (cost)");
        return Ok(());
    }
    let mut carried = Vec::new();
    let mut unknown = 0;
    for file in rows {
        match context.source.known_index(file).await {
            Ok(Some(index)) => carried.push(index),
            Ok(None) => unknown += 1,
            Err(fault) => {
                fault.reason()?;
                unknown += 1;
            }
        }
    }
    for new in &facts.manifests {
        let Some(file) = facts.row(new).filter(|file| file.content == ManifestContent::Data) else { continue };
        for entry in new.manifest.entries.iter().filter(|entry| entry.status == Status::Added) {
            let path = &entry.data_file.file_path;
            let key = context.source.keys().key(path);
            if carried.iter().any(|index| index.holds(key)) {
                history.added_again.push((file.manifest_path.clone(), path.clone()));
            }
        }
    }
    if unknown > 0 {
        notes.skip("file-already-live", facts.list_location, format!("{unknown} manifests were not read (cost)"));
    }
    Ok(())
}
