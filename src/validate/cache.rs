//! What was read from manifests, kept by path: they never change once they are part of a table.

use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use crate::manifest::{Manifest, ManifestContent, ManifestEntry, ManifestFile, ManifestList, Partition};

use super::facts::DataFileFacts;

/// Manifest lists and manifests of tables, as far as rules about later snapshots need them, bounded by bytes and
/// shared by all requests. Only files of snapshots that passed are in it: a file of a refused commit may be written
/// anew under the same name.
pub struct Cache {
    parsed: moka::future::Cache<Arc<str>, Parsed>,
    keys: PathKeys,
}

/// A parsed file.
#[derive(Debug, Clone)]
pub(super) enum Parsed {
    List(Arc<ManifestList>),
    Manifest(Arc<Index>),
}

/// The live files of one manifest.
#[derive(Debug)]
pub(super) enum Index {
    Data(DataFiles),
    /// Entries of a delete manifest, as they are.
    Deletes(Vec<ManifestEntry>),
}

/// The live data files of a manifest, by path. Paths are most of a manifest's bytes, so keys stand for them.
#[derive(Debug, Default)]
pub(super) struct DataFiles {
    partitions: Vec<Partition>,
    /// Ordered by key.
    files: Vec<(PathKey, IndexedFile)>,
    /// Rows of files without a row id of their own: they get ids from the manifest's.
    pub(super) unassigned_rows: i64,
}

/// What is kept of a data file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct IndexedFile {
    pub(super) record_count: i64,
    pub(super) file_size_in_bytes: i64,
    /// None means: inherited from the manifest.
    pub(super) sequence_number: Option<i64>,
    pub(super) file_sequence_number: Option<i64>,
    pub(super) first_row_id: Option<i64>,
    partition: u32,
}

/// 128 bits that stand for a path. The hash is keyed at random, so nobody can make two paths meet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct PathKey(u128);

/// Makes keys of paths.
#[derive(Debug, Clone, Default)]
pub(super) struct PathKeys {
    high: RandomState,
    low: RandomState,
}

impl PathKeys {
    pub(super) fn key(&self, path: &str) -> PathKey {
        PathKey(u128::from(self.high.hash_one(path)) << 64 | u128::from(self.low.hash_one(path)))
    }
}

impl fmt::Debug for Cache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cache").field("bytes", &self.parsed.weighted_size()).finish_non_exhaustive()
    }
}

impl Cache {
    /// A cache that holds at most about `bytes` bytes.
    pub fn new(bytes: u64) -> Self {
        let parsed = moka::future::Cache::builder()
            .weigher(|path: &Arc<str>, parsed: &Parsed| {
                u32::try_from(path.len() + parsed.size_bytes()).unwrap_or(u32::MAX)
            })
            .max_capacity(bytes)
            .build();
        Self { parsed, keys: PathKeys::default() }
    }

    pub(super) fn keys(&self) -> &PathKeys {
        &self.keys
    }

    pub(super) async fn list(&self, path: &str) -> Option<Arc<ManifestList>> {
        match self.parsed.get(path).await {
            Some(Parsed::List(list)) => Some(list),
            _ => None,
        }
    }

    pub(super) async fn manifest(&self, path: &str) -> Option<Arc<Index>> {
        match self.parsed.get(path).await {
            Some(Parsed::Manifest(index)) => Some(index),
            _ => None,
        }
    }

    pub(super) async fn insert(&self, path: &str, parsed: Parsed) {
        self.parsed.insert(path.into(), parsed).await;
    }
}

impl Index {
    /// Indexes the live files of a manifest.
    pub(super) fn of(manifest: &Manifest, file: &ManifestFile, keys: &PathKeys) -> Self {
        match file.content {
            ManifestContent::Data => Self::Data(DataFiles::of(manifest, keys)),
            _ => Self::Deletes(manifest.entries.iter().filter(|entry| entry.is_live()).cloned().collect()),
        }
    }

    /// Whether it indexes a manifest of this content.
    pub(super) fn is_of(&self, content: ManifestContent) -> bool {
        matches!(self, Self::Data(_)) == (content == ManifestContent::Data)
    }

    /// The data file with this key.
    pub(super) fn data_file(&self, key: PathKey, file: &ManifestFile) -> Option<DataFileFacts> {
        let Self::Data(files) = self else { return None };
        let found = files.get(key)?;
        Some(DataFileFacts {
            spec_id: file.partition_spec_id,
            partition: files.partition(found),
            record_count: found.record_count,
            sequence_number: found.sequence_number.unwrap_or(file.sequence_number),
        })
    }

    /// Whether it has a data file with this key.
    pub(super) fn holds(&self, key: PathKey) -> bool {
        matches!(self, Self::Data(files) if files.get(key).is_some())
    }

    fn size_bytes(&self) -> usize {
        match self {
            Self::Data(data) => {
                let partitions: usize = data.partitions.iter().map(|partition| 64 + partition.size_bytes()).sum();
                partitions + data.files.len() * size_of::<(PathKey, IndexedFile)>()
            }
            Self::Deletes(entries) => entries.iter().map(entry_bytes).sum(),
        }
    }
}

fn entry_bytes(entry: &ManifestEntry) -> usize {
    let file = &entry.data_file;
    size_of::<ManifestEntry>()
        + file.file_path.len()
        + file.referenced_data_file.as_ref().map_or(0, |path| path.len())
        + file.path_in_bounds.as_ref().map_or(0, |path| path.len())
        + file.equality_ids.as_ref().map_or(0, |ids| 4 * ids.len())
        + file.partition.size_bytes()
}

impl Parsed {
    fn size_bytes(&self) -> usize {
        match self {
            Self::Manifest(index) => index.size_bytes(),
            Self::List(list) => {
                let rows = list.manifests.iter().map(|file| {
                    let summaries = file.partitions.as_ref().map_or(0, |summaries| 80 * summaries.len());
                    size_of::<ManifestFile>() + file.manifest_path.len() + summaries
                });
                let metadata = list.metadata.iter().map(|(key, value)| key.len() + value.len() + 64);
                rows.sum::<usize>() + metadata.sum::<usize>()
            }
        }
    }
}

impl DataFiles {
    fn of(manifest: &Manifest, keys: &PathKeys) -> Self {
        let mut data = Self::default();
        for entry in manifest.entries.iter().filter(|entry| entry.is_live()) {
            let file = &entry.data_file;
            if file.first_row_id.is_none() {
                data.unassigned_rows = data.unassigned_rows.saturating_add(file.record_count.max(0));
            }
            if data.partitions.last() != Some(&file.partition) {
                data.partitions.push(file.partition.clone());
            }
            let indexed = IndexedFile {
                record_count: file.record_count,
                file_size_in_bytes: file.file_size_in_bytes,
                sequence_number: entry.sequence_number,
                file_sequence_number: entry.file_sequence_number,
                first_row_id: file.first_row_id,
                partition: u32::try_from(data.partitions.len() - 1).unwrap_or(u32::MAX),
            };
            data.files.push((keys.key(&file.file_path), indexed));
        }
        data.files.sort_unstable_by_key(|(key, _)| *key);
        data.files.shrink_to_fit();
        data
    }

    /// The file with this key.
    pub(super) fn get(&self, key: PathKey) -> Option<&IndexedFile> {
        let place = self.files.binary_search_by_key(&key, |(key, _)| *key).ok()?;
        self.files.get(place).map(|(_, file)| file)
    }

    /// All files.
    pub(super) fn iter(&self) -> impl Iterator<Item = (PathKey, &IndexedFile)> {
        self.files.iter().map(|(key, file)| (*key, file))
    }

    /// A file's partition.
    pub(super) fn partition(&self, file: &IndexedFile) -> Partition {
        self.partitions.get(file.partition as usize).cloned().unwrap_or_default()
    }
}
