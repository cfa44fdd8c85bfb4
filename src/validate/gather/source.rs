//! Reading and parsing files: from storage, from what this call read already, or from the cache.

use std::collections::HashMap;
use std::error::Error;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt, TryStreamExt};

use crate::manifest::{self, Manifest, ManifestFile, ManifestList};
use crate::validate::cache::{Cache, Index, Parsed, PathKeys};
use crate::validate::facts::{Failure, NewManifest};
use crate::validate::finding::Finding;
use crate::validate::levels::Levels;
use crate::validate::read::{ReadBytes, ReadError, Unavailable};

use super::measure;

/// How many reads one validation has under way at a time.
pub(super) const CONCURRENT_READS: usize = 16;

/// What kind of file is read: its faults have their own rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    List,
    Manifest,
    Puffin,
}

/// Why a file cannot be used.
#[derive(Debug, thiserror::Error)]
pub(super) enum Fault {
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error("{location} cannot be read: {fault}")]
    Parse { location: String, fault: manifest::ParseError },
}

/// Where files come from.
pub(in crate::validate) struct Source<'a, R> {
    pub(super) reader: &'a R,
    cache: &'a Cache,
    /// Files of snapshots that this call validates. They go to the cache if all of them pass.
    fresh: Mutex<HashMap<Box<str>, Parsed>>,
    limits: manifest::Limits,
    /// Whether manifests are read with bounds and split offsets.
    with_details: bool,
}

/// Rules that look at what manifests say beyond what all rules need.
const DETAIL_RULES: &[&str] = &["split-offsets", "column-bounds"];

impl<'a, R: ReadBytes> Source<'a, R> {
    pub(in crate::validate) fn new(reader: &'a R, cache: &'a Cache, levels: &Levels) -> Self {
        let with_details = levels.any(DETAIL_RULES);
        Self { reader, cache, fresh: Mutex::default(), limits: manifest::Limits::default(), with_details }
    }

    pub(in crate::validate) fn keys(&self) -> &PathKeys {
        self.cache.keys()
    }

    /// Puts what this call read into the cache. To be called when the verdict is a pass.
    pub(in crate::validate) async fn keep(self) {
        let fresh = self.fresh.into_inner().unwrap_or_else(PoisonError::into_inner);
        for (path, parsed) in fresh {
            self.cache.insert(&path, parsed).await;
        }
    }

    /// The manifest list of the snapshot that is validated: always from storage.
    pub(super) async fn new_list(&self, location: &str) -> Result<Arc<ManifestList>, Fault> {
        let list = Arc::new(self.read_list(location).await?);
        self.remember(location, Parsed::List(Arc::clone(&list)));
        Ok(list)
    }

    /// The manifest list of a snapshot that the table already has.
    pub(super) async fn list(&self, location: &str) -> Result<Arc<ManifestList>, Fault> {
        self.reader.admit(location).await?;
        if let Some(Parsed::List(list)) = self.remembered(location) {
            return Ok(list);
        }
        let known = self.cache.list(location).await;
        measure::asked_cache(known.is_some());
        if let Some(list) = known {
            return Ok(list);
        }
        let list = Arc::new(self.read_list(location).await?);
        self.cache.insert(location, Parsed::List(Arc::clone(&list))).await;
        Ok(list)
    }

    /// A manifest that the snapshot wrote, with its size: always from storage.
    pub(super) async fn new_manifest(&self, place: usize, file: &ManifestFile) -> Result<NewManifest, Fault> {
        let (manifest, size) = self.read_manifest(&file.manifest_path).await?;
        let index = Index::of(&manifest, file, self.keys());
        self.remember(&file.manifest_path, Parsed::Manifest(Arc::new(index)));
        Ok(NewManifest { place, manifest: Arc::new(manifest), size })
    }

    /// A manifest that the table already has, whole, with its live files.
    pub(super) async fn whole_manifest(
        &self,
        place: usize,
        file: &ManifestFile,
    ) -> Result<(NewManifest, Arc<Index>), Fault> {
        let (manifest, size) = self.read_manifest(&file.manifest_path).await?;
        let index = Arc::new(Index::of(&manifest, file, self.keys()));
        self.cache.insert(&file.manifest_path, Parsed::Manifest(Arc::clone(&index))).await;
        Ok((NewManifest { place, manifest: Arc::new(manifest), size }, index))
    }

    /// The live files of a manifest that the table already has.
    pub(super) async fn index(&self, file: &ManifestFile) -> Result<Arc<Index>, Fault> {
        if let Some(index) = self.known_index(file).await? {
            return Ok(index);
        }
        let (manifest, _) = self.read_manifest(&file.manifest_path).await?;
        let index = Arc::new(Index::of(&manifest, file, self.keys()));
        self.cache.insert(&file.manifest_path, Parsed::Manifest(Arc::clone(&index))).await;
        Ok(index)
    }

    /// The live files of a manifest if they need not be read.
    pub(super) async fn known_index(&self, file: &ManifestFile) -> Result<Option<Arc<Index>>, Fault> {
        self.reader.admit(&file.manifest_path).await?;
        let known = if let Some(Parsed::Manifest(index)) = self.remembered(&file.manifest_path) {
            Some(index)
        } else {
            let known = self.cache.manifest(&file.manifest_path).await;
            measure::asked_cache(known.is_some());
            known
        };
        // A list that calls a data manifest a delete manifest must not be answered with the index of the other kind.
        Ok(known.filter(|index| index.is_of(file.content)))
    }

    /// Bytes of an object, all or those of `range`, counted.
    pub(super) async fn read(&self, location: &str, range: Option<Range<u64>>) -> Result<Bytes, ReadError> {
        let bytes = self.reader.read(location, range).await?;
        measure::read(bytes.len());
        Ok(bytes)
    }

    async fn read_list(&self, location: &str) -> Result<ManifestList, Fault> {
        measure::opened(Kind::List);
        let (bytes, limits) = (self.read(location, None).await?, self.limits);
        let list = self.reader.parse(bytes, move |bytes| ManifestList::parse(bytes, limits)).await;
        list.map_err(|fault| Fault::Parse { location: location.to_owned(), fault })
    }

    async fn read_manifest(&self, location: &str) -> Result<(Manifest, u64), Fault> {
        measure::opened(Kind::Manifest);
        let (bytes, limits) = (self.read(location, None).await?, self.limits);
        let size = bytes.len() as u64;
        let parse = if self.with_details { Manifest::parse_with_details } else { Manifest::parse };
        let manifest = self.reader.parse(bytes, move |bytes| parse(bytes, limits)).await;
        Ok((manifest.map_err(|fault| Fault::Parse { location: location.to_owned(), fault })?, size))
    }

    fn remember(&self, path: &str, parsed: Parsed) {
        self.fresh.lock().unwrap_or_else(PoisonError::into_inner).insert(path.into(), parsed);
    }

    fn remembered(&self, path: &str) -> Option<Parsed> {
        self.fresh.lock().unwrap_or_else(PoisonError::into_inner).get(path).cloned()
    }
}

impl Fault {
    /// The fault as a broken rule of this commit; storage that does not answer is no rule.
    pub(super) fn failure(self, kind: Kind) -> Result<Failure, Unavailable> {
        Ok(match self {
            Self::Read(ReadError::NotFound { location }) => {
                let rule = pick(kind, ["manifest-list-missing", "manifest-missing", "puffin-missing"]);
                Failure { rule, finding: Finding::new(&location, "an object", "none") }
            }
            Self::Read(ReadError::Outside { location, allowed }) => {
                let rule = pick(kind, ["manifest-list-outside", "manifest-outside", "puffin-outside"]);
                let expected = if allowed.is_empty() {
                    "a place that is this table's own".to_owned()
                } else {
                    format!("a location under {}", allowed.join(" or "))
                };
                Failure { rule, finding: Finding::new(&location, expected, &location) }
            }
            Self::Read(ReadError::TooLarge { location, size, limit }) => {
                let rule = pick(kind, ["manifest-list-too-large", "manifest-too-large", "puffin-too-large"]);
                let (expected, found) = (format!("at most {limit} bytes"), format!("{size} bytes"));
                Failure { rule, finding: Finding::new(&location, expected, found) }
            }
            Self::Parse { location, fault } => {
                let rule = pick(kind, ["manifest-list-unreadable", "manifest-unreadable", "puffin-missing"]);
                let finding = Finding::new(&location, fault.expected, fault.found).at(fault.offset);
                Failure { rule, finding }
            }
            Self::Read(ReadError::Unavailable { location, source }) => return Err(Unavailable { location, source }),
        })
    }

    /// The fault as the reason why something was not checked; storage that does not answer is no such reason.
    pub(super) fn reason(self) -> Result<String, Unavailable> {
        match self {
            Self::Read(ReadError::Unavailable { location, source }) => Err(Unavailable { location, source }),
            fault => {
                let detail = fault.source().map(|source| format!(": {source}")).unwrap_or_default();
                Ok(format!("{fault}{detail}"))
            }
        }
    }
}

fn pick(kind: Kind, [list, manifest, puffin]: [&'static str; 3]) -> &'static str {
    match kind {
        Kind::List => list,
        Kind::Manifest => manifest,
        Kind::Puffin => puffin,
    }
}

/// Runs reads side by side, so many at a time; answers in the order of `reads`.
pub(super) async fn concurrently<T: Send>(reads: Vec<BoxFuture<'_, T>>) -> Vec<T> {
    futures::stream::iter(reads).buffered(CONCURRENT_READS).collect().await
}

/// Like [`concurrently`], until one fails.
pub(super) async fn try_concurrently<T: Send, E: Send>(reads: Vec<BoxFuture<'_, Result<T, E>>>) -> Result<Vec<T>, E> {
    futures::stream::iter(reads).buffered(CONCURRENT_READS).try_collect().await
}

/// Reads the indexes of manifests that the table already has, in the order of `files`.
pub(super) async fn indexes<R: ReadBytes>(
    source: &Source<'_, R>,
    files: &[&ManifestFile],
) -> Vec<Result<Arc<Index>, Fault>> {
    concurrently(files.iter().map(|file| source.index(file).boxed()).collect()).await
}
