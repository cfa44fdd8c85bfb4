//! What was read of manifests, kept by path: files of a table never change.

use std::fmt;
use std::sync::Arc;

use crate::manifest::{Manifest, ManifestEntry, ManifestFile, ManifestList};

/// Manifest lists and live files of manifests, statistics included; bounded by bytes and shared by all requests.
pub struct Cache(moka::future::Cache<Arc<str>, Parsed>);

#[derive(Debug, Clone)]
enum Parsed {
    List(Arc<ManifestList>),
    Files(Arc<Files>),
}

/// The live entries of a manifest, in its order.
#[derive(Debug)]
pub(super) struct Files(Vec<Arc<ManifestEntry>>);

impl fmt::Debug for Cache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cache").field("bytes", &self.0.weighted_size()).finish()
    }
}

impl Cache {
    /// A cache that holds at most about `bytes` bytes.
    pub fn new(bytes: u64) -> Self {
        let weigh =
            |path: &Arc<str>, parsed: &Parsed| u32::try_from(path.len() + parsed.size_bytes()).unwrap_or(u32::MAX);
        Self(moka::future::Cache::builder().weigher(weigh).max_capacity(bytes).build())
    }

    pub(super) async fn list(&self, path: &str) -> Option<Arc<ManifestList>> {
        match self.0.get(path).await {
            Some(Parsed::List(list)) => Some(list),
            _ => None,
        }
    }

    pub(super) async fn keep_list(&self, path: &str, list: &Arc<ManifestList>) {
        self.0.insert(path.into(), Parsed::List(Arc::clone(list))).await;
    }

    pub(super) async fn files(&self, path: &str) -> Option<Arc<Files>> {
        match self.0.get(path).await {
            Some(Parsed::Files(files)) => Some(files),
            _ => None,
        }
    }

    pub(super) async fn keep_files(&self, path: &str, files: &Arc<Files>) {
        self.0.insert(path.into(), Parsed::Files(Arc::clone(files))).await;
    }
}

impl Files {
    pub(super) fn of(manifest: Manifest) -> Self {
        Self(manifest.entries.into_iter().filter(ManifestEntry::is_live).map(Arc::new).collect())
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Arc<ManifestEntry>> {
        self.0.iter()
    }
}

impl Parsed {
    fn size_bytes(&self) -> usize {
        match self {
            Self::Files(files) => files.iter().map(|entry| entry_bytes(entry)).sum(),
            Self::List(list) => list.manifests.iter().map(manifest_bytes).sum(),
        }
    }
}

fn entry_bytes(entry: &ManifestEntry) -> usize {
    let file = &entry.data_file;
    size_of::<ManifestEntry>()
        + file.file_path.len()
        + file.referenced_data_file.as_ref().map_or(0, |path| path.len())
        + file.equality_ids.as_ref().map_or(0, |ids| 4 * ids.len())
        + file.partition.size_bytes()
        + file.details.as_ref().map_or(0, |details| details.size_bytes())
}

fn manifest_bytes(file: &ManifestFile) -> usize {
    let summaries = file.partitions.as_ref().map_or(0, |summaries| 80 * summaries.len());
    size_of::<ManifestFile>() + file.manifest_path.len() + summaries
}
