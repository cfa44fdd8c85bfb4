//! The live deletes of a snapshot: every vector read and compared with its data file, one for each data file.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::manifest::{DataFile, FileContent, ManifestEntry, ManifestFile, ManifestList};
use crate::validate::cache::{Index, PathKey, PathKeys};
use crate::validate::facts::{DataFileState, PuffinFacts, Vector};
use crate::validate::finding::Finding;
use crate::validate::gather::{MOST_ANCESTORS, Notes, Wanted, find_in_history, read_vectors};
use crate::validate::read::{ReadBytes, Unavailable};

use super::burden::{FileDeletes, MostDeleted, ratio};
use super::files::LiveData;
use super::remarks::{Largest, Remark};
use super::report::{Counts, SnapshotReport};
use super::snapshot::{State, history_is_expired};
use super::{BlobKey, Seen};

/// About how many vectors are read together.
const TOGETHER: usize = 500;

/// A live entry of a delete manifest.
#[derive(Debug, Clone, Copy)]
struct Live<'a> {
    entry: &'a ManifestEntry,
    manifest: &'a ManifestFile,
}

/// All of them: the vectors by file and offset, then the others.
#[derive(Debug)]
pub(super) struct Deletes<'a> {
    vectors: Vec<Live<'a>>,
    others: Vec<Live<'a>>,
}

/// Where an entry says that its vector is.
pub(super) fn blob_key(keys: &PathKeys, file: &DataFile) -> Option<BlobKey> {
    Some((keys.key(&file.file_path), file.content_offset?, file.content_size_in_bytes?))
}

impl<'a> Live<'a> {
    fn file(self) -> &'a DataFile {
        &self.entry.data_file
    }

    fn referenced(self) -> Option<&'a str> {
        self.file().referenced_data_file.as_deref()
    }

    fn bytes(self) -> u64 {
        self.file().content_size_in_bytes.and_then(|size| u64::try_from(size).ok()).unwrap_or(0)
    }

    fn wanted(self, path: &str) -> Wanted {
        let (spec_id, partition) = (self.manifest.partition_spec_id, self.file().partition.clone());
        Wanted { path: path.into(), spec_id, partition, thorough: true }
    }

    fn as_vector(self, data_file: DataFileState) -> Vector {
        Vector {
            manifest: self.manifest.manifest_path.clone(),
            spec_id: self.manifest.partition_spec_id,
            sequence_number: self.entry.sequence_number.unwrap_or(self.manifest.sequence_number),
            entry: self.entry.clone(),
            data_file,
            puffin: None,
            decoded: None,
            previous: Vec::new(),
        }
    }
}

impl Seen {
    /// Keeps where a Puffin file has its vectors.
    pub(super) fn note_puffin(&mut self, path: PathKey, puffin: Option<&PuffinFacts>) {
        let Some(footer) = puffin.and_then(|puffin| puffin.footer.as_ref()) else { return };
        self.puffins.entry(path).or_insert_with(|| {
            let vectors = footer.blobs.iter().filter(|blob| blob.blob_type == crate::puffin::DELETION_VECTOR_V1);
            vectors.map(|blob| (blob.offset, blob.length)).collect()
        });
    }
}

impl<'a> Deletes<'a> {
    /// The live entries of these manifests, counted.
    pub(super) fn of(indexes: &'a [(usize, Arc<Index>)], list: &'a ManifestList, counts: &mut Counts) -> Self {
        let mut deletes = Self { vectors: Vec::new(), others: Vec::new() };
        for (place, index) in indexes {
            let (Index::Deletes(entries), Some(manifest)) = (&**index, list.manifests.get(*place)) else { continue };
            counts.delete_manifests += 1;
            let (vectors, others): (Vec<Live<'_>>, Vec<Live<'_>>) =
                entries.iter().map(|entry| Live { entry, manifest }).partition(|live| live.file().is_deletion_vector());
            deletes.vectors.extend(vectors);
            deletes.others.extend(others);
        }
        deletes.vectors.sort_by_key(|live| (&*live.file().file_path, live.file().content_offset));
        deletes.count(counts);
        deletes
    }

    pub(super) fn len(&self) -> usize {
        self.vectors.len() + self.others.len()
    }

    fn count(&self, counts: &mut Counts) {
        for live in &self.others {
            let of_positions = live.file().content == FileContent::PositionDeletes;
            counts.position_delete_files += u64::from(of_positions);
            counts.position_delete_files_of_one_file +=
                u64::from(of_positions && live.file().only_data_file().is_some());
            counts.equality_delete_files += u64::from(live.file().content == FileContent::EqualityDeletes);
        }
        for live in &self.vectors {
            counts.deletion_vectors += 1;
            let positions = u64::try_from(live.file().record_count).unwrap_or(0);
            counts.deleted_positions = counts.deleted_positions.saturating_add(positions);
            counts.puffin_bytes_live = counts.puffin_bytes_live.saturating_add(live.bytes());
        }
    }

    /// The data files that they refer to.
    pub(super) fn wanted(&self, keys: &PathKeys) -> impl Iterator<Item = PathKey> {
        let all = self.vectors.iter().chain(&self.others);
        all.filter_map(|live| Some(keys.key(live.referenced()?)))
    }

    /// Judges them, and says what is no fault and worth knowing.
    pub(super) async fn judge<R: ReadBytes>(
        &self,
        state: &mut State<'_, R>,
        data: &LiveData,
        done: &mut SnapshotReport,
    ) -> Result<(), Unavailable> {
        self.judge_pairs(state);
        self.judge_overlaps(state);
        let gone = self.find_gone(state, data).await?;
        self.judge_vectors(state, data, &gone).await?;
        done.remarks = self.remarks(state, data, &mut done.counts);
        done.most_deleted = self.most_deleted(state, data);
        Ok(())
    }

    /// At most one vector for each data file.
    fn judge_pairs<R: ReadBytes>(&self, state: &mut State<'_, R>) {
        let mut first: HashMap<&str, Live<'_>> = HashMap::new();
        for live in &self.vectors {
            let Some(path) = live.referenced().filter(|path| !state.own.duplicates.contains(*path)) else { continue };
            if let Some(other) = first.insert(path, *live) {
                state.tally.add("two-dvs", || {
                    let shown = |live: Live<'_>| {
                        format!("{} at {}", live.file().file_path, live.file().content_offset.unwrap_or(-1))
                    };
                    let found = format!("multiple DVs: {} and {}", shown(other), shown(*live));
                    Finding::new(&live.manifest.manifest_path, format!("one live vector for {path}"), found)
                });
            }
        }
    }

    /// Vectors of one Puffin file lie apart. Those that the snapshot added together were compared already.
    fn judge_overlaps<R: ReadBytes>(&self, state: &mut State<'_, R>) {
        let keys = state.context.source.keys();
        for (first, second) in self.vectors.iter().zip(self.vectors.iter().skip(1)) {
            let (one, other) = (first.file(), second.file());
            if one.file_path != other.file_path {
                continue;
            }
            let places = (blob_key(keys, one), blob_key(keys, other));
            let (Some(one_key), Some(other_key)) = places else { continue };
            let end = one_key.1.saturating_add(one_key.2);
            let said = state.own.vectors.contains(&one_key) && state.own.vectors.contains(&other_key);
            if other_key.1 < end && !said {
                state.tally.add("puffin-entries-overlap", || {
                    Finding::new(&one.file_path, format!("the next vector at byte {end} or later"), other_key.1)
                });
            }
        }
    }

    /// What became of data files that vectors refer to and that are not live.
    async fn find_gone<R: ReadBytes>(
        &self,
        state: &mut State<'_, R>,
        data: &LiveData,
    ) -> Result<HashMap<Box<str>, DataFileState>, Unavailable> {
        let keys = state.context.source.keys();
        let is_gone = |path: &str| matches!(data.wanted.get(&keys.key(path)), Some(None));
        let gone = self.vectors.iter().filter_map(|live| Some((live, live.referenced().filter(|path| is_gone(path))?)));
        let wanted: Vec<Wanted> = gone.map(|(live, path)| live.wanted(path)).collect();
        let table = state.context.table;
        let no_history = table.snapshots.len() > MOST_ANCESTORS || history_is_expired(table, state.context.snapshot);
        if wanted.is_empty() || no_history || !state.complete {
            return Ok(HashMap::new());
        }
        let mut notes = Notes::default();
        let found = find_in_history(state.context, wanted, &mut notes).await?;
        state.not_checked.extend(notes.into_parts().1);
        Ok(found)
    }

    async fn judge_vectors<R: ReadBytes>(
        &self,
        state: &mut State<'_, R>,
        data: &LiveData,
        gone: &HashMap<Box<str>, DataFileState>,
    ) -> Result<(), Unavailable> {
        let mut done = 0;
        let mut unread: Vec<Vector> = Vec::new();
        let mut last_path = "";
        for live in &self.vectors {
            // Vectors of one file are read together.
            if unread.len() >= TOGETHER && live.file().file_path.as_ref() != last_path {
                state.vectors(done, self.vectors.len());
                read_and_judge(std::mem::take(&mut unread), state).await?;
            }
            done += 1;
            last_path = &live.file().file_path;
            let key = blob_key(state.context.source.keys(), live.file());
            if key.is_some_and(|key| state.own.vectors.contains(&key)) {
                continue;
            }
            let mut vector = live.as_vector(data_file(*live, state, data, gone));
            match key.and_then(|key| state.seen.vectors.get(&key)) {
                Some(decoded) => {
                    vector.decoded = *decoded;
                    state.tally.vector(&vector, state.context.levels);
                }
                None => unread.push(vector),
            }
        }
        state.vectors(done, self.vectors.len());
        read_and_judge(unread, state).await
    }

    /// The live data files that vectors delete most of.
    fn most_deleted<R: ReadBytes>(&self, state: &State<'_, R>, data: &LiveData) -> Vec<FileDeletes> {
        let keys = state.context.source.keys();
        let mut most = MostDeleted::default();
        for live in &self.vectors {
            let Some(path) = live.referenced() else { continue };
            let Some(Some(file)) = data.wanted.get(&keys.key(path)) else { continue };
            let records = u64::try_from(file.record_count).unwrap_or(0);
            let deleted_rows = u64::try_from(live.file().record_count).unwrap_or(0);
            most.add(FileDeletes {
                data_file: path.to_owned(),
                records,
                deleted_rows,
                ratio: ratio(deleted_rows, records),
                puffin_file: live.file().file_path.to_string(),
                vector_bytes: live.bytes(),
            });
        }
        most.into_files()
    }

    fn remarks<R: ReadBytes>(&self, state: &State<'_, R>, data: &LiveData, counts: &mut Counts) -> Vec<Remark> {
        let keys = state.context.source.keys();
        let location = state.context.table.location.as_str();
        let mut dead = Largest::new("puffin-bytes-dead");
        for of_file in self.vectors.chunk_by(|one, other| one.file().file_path == other.file().file_path) {
            let Some(first) = of_file.first() else { continue };
            counts.puffin_files += 1;
            let live: HashSet<(i64, i64)> = of_file.iter().filter_map(|live| place(live.file())).collect();
            let all = state.seen.puffins.get(&keys.key(&first.file().file_path)).map_or(&[][..], Vec::as_slice);
            let gone: Vec<i64> = all.iter().filter(|place| !live.contains(place)).map(|(_, length)| *length).collect();
            let bytes = gone.iter().filter_map(|length| u64::try_from(*length).ok()).fold(0, u64::saturating_add);
            counts.puffin_bytes_dead = counts.puffin_bytes_dead.saturating_add(bytes);
            if bytes > 0 {
                dead.add(bytes, &first.file().file_path, || {
                    format!("{bytes} bytes are of vectors that are not live any more ({} of {})", gone.len(), all.len())
                });
            }
        }
        let mut empty = Largest::new("file-fully-deleted");
        for live in &self.vectors {
            let Some(path) = live.referenced() else { continue };
            match data.wanted.get(&keys.key(path)) {
                Some(Some(file)) if file.record_count > 0 && file.record_count == live.file().record_count => {
                    counts.fully_deleted_files += 1;
                    let rows = u64::try_from(file.record_count).unwrap_or(0);
                    empty.add(rows, path, || format!("all {rows} rows are deleted, and the file is still there"));
                }
                Some(None) => counts.dangling_vectors += 1,
                _ => {}
            }
        }
        let mut remarks = dead.into_remarks(location);
        remarks.extend(empty.into_remarks(location));
        remarks.extend(position_deletes_left(location, state.context.format_version, counts));
        remarks
    }
}

fn place(file: &DataFile) -> Option<(i64, i64)> {
    Some((file.content_offset?, file.content_size_in_bytes?))
}

fn position_deletes_left(location: &str, format_version: u8, counts: &Counts) -> Option<Remark> {
    let files = counts.position_delete_files;
    (format_version >= 3 && files > 0).then(|| Remark {
        kind: "position-deletes-left",
        object: location.to_owned(),
        message: format!(
            "{files} position delete files of format version 2 are left, {} of them for one data file",
            counts.position_delete_files_of_one_file
        ),
    })
}

/// What is known of a vector's data file.
fn data_file<R: ReadBytes>(
    live: Live<'_>,
    state: &State<'_, R>,
    data: &LiveData,
    gone: &HashMap<Box<str>, DataFileState>,
) -> DataFileState {
    let found = live.referenced().and_then(|path| data.wanted.get(&state.context.source.keys().key(path)));
    match found {
        Some(Some(file)) => DataFileState::Live(file.clone()),
        Some(None) if state.complete => {
            let known = live.referenced().and_then(|path| gone.get(path));
            let known = known.filter(|state| **state != DataFileState::NotSearched).cloned();
            known.unwrap_or_else(|| DataFileState::Removed { by: "some snapshot".to_owned() })
        }
        _ => DataFileState::NotSearched,
    }
}

async fn read_and_judge<R: ReadBytes>(mut vectors: Vec<Vector>, state: &mut State<'_, R>) -> Result<(), Unavailable> {
    let mut notes = Notes::default();
    read_vectors(state.context, &mut vectors, &mut notes).await?;
    state.take_notes(notes);
    let keys = state.context.source.keys();
    for vector in &vectors {
        state.tally.vector(vector, state.context.levels);
        if let Some(key) = blob_key(keys, &vector.entry.data_file) {
            state.seen.vectors.insert(key, vector.decoded);
            state.seen.note_puffin(key.0, vector.puffin.as_deref());
        }
    }
    Ok(())
}
