//! Reads manifest lists and manifests: the one part of planning that reads.

use std::collections::HashSet;
use std::sync::Arc;

use futures::future::BoxFuture;
use futures::{FutureExt, Stream, StreamExt, TryStreamExt};

use super::Error;
use super::cache::{Cache, Files};
use super::deletes::Delete;
use super::scan::Scan;
use crate::manifest::{Limits, Manifest, ManifestContent, ManifestFile, ManifestList, ParseError};
use crate::spec::Snapshot;
use crate::validate::ReadBytes;

/// How many reads one plan has under way at a time.
const CONCURRENT_READS: usize = 8;
/// How many delete files one snapshot may have live, some 700 MB of memory.
const MOST_DELETES: usize = 2_000_000;

/// A manifest with its number.
pub(super) type Numbered<'a> = (usize, &'a ManifestFile, Arc<Files>);

/// Where manifests come from.
pub(super) struct Source<'a, R> {
    pub(super) reader: &'a R,
    pub(super) cache: &'a Cache,
}

impl<R: ReadBytes> Source<'_, R> {
    pub(super) async fn list(&self, snapshot: &Snapshot) -> Result<Arc<ManifestList>, Error> {
        let id = snapshot.snapshot_id;
        let Some(location) = snapshot.manifest_list.as_deref() else {
            return Err(Error::Unsupported(format!("snapshot {id} has no manifest list")));
        };
        if snapshot.key_id.is_some() {
            return Err(Error::Unsupported(format!("the manifest list of snapshot {id} is encrypted")));
        }
        self.reader.admit(location).await?;
        if let Some(list) = self.cache.list(location).await {
            return Ok(list);
        }
        let bytes = self.reader.read(location, None).await?;
        let list = self.reader.parse(bytes, |bytes| ManifestList::parse(bytes, Limits::default())).await;
        let list = Arc::new(list.map_err(unreadable(location))?);
        self.cache.keep_list(location, &list).await;
        Ok(list)
    }

    pub(super) async fn files(&self, file: &ManifestFile) -> Result<Arc<Files>, Error> {
        let location = &*file.manifest_path;
        if file.encrypted {
            return Err(Error::Unsupported(format!("the manifest {location} is encrypted")));
        }
        self.reader.admit(location).await?;
        if let Some(files) = self.cache.files(location).await {
            return Ok(files);
        }
        let bytes = self.reader.read(location, None).await?;
        let parse = |bytes: &[u8]| Manifest::parse_with_details(bytes, Limits::default()).map(Files::of);
        let files = Arc::new(self.reader.parse(bytes, parse).await.map_err(unreadable(location))?);
        self.cache.keep_files(location, &files).await;
        Ok(files)
    }

    /// Reads manifests a few at a time, in their order. Each comes with its number.
    pub(super) fn read_ahead<'s>(
        &'s self,
        manifests: impl IntoIterator<Item = (usize, &'s ManifestFile)>,
    ) -> impl Stream<Item = Result<Numbered<'s>, Error>> + Unpin + Send {
        let read = |(number, file)| async move { Ok((number, file, self.files(file).await?)) }.boxed();
        let reads: Vec<BoxFuture<'s, _>> = manifests.into_iter().map(read).collect();
        futures::stream::iter(reads).buffered(CONCURRENT_READS)
    }

    /// The live deletes of a snapshot that may apply to rows which pass, in files of these manifests.
    pub(super) async fn deletes(
        &self,
        scan: &Scan<'_>,
        list: &ManifestList,
        data: &[(usize, &ManifestFile)],
    ) -> Result<Vec<Delete>, Error> {
        // A delete applies to no file that is newer.
        let oldest = data.iter().map(|(_, file)| file.min_sequence_number).min().unwrap_or(0);
        let mut manifests = Vec::new();
        for file in &list.manifests {
            let may_apply = file.content == ManifestContent::Deletes && file.sequence_number >= oldest;
            if may_apply && may_match(scan, file)? {
                manifests.push(file);
            }
        }
        let mut reads = self.read_ahead(manifests.into_iter().enumerate());
        let mut deletes = Vec::new();
        while let Some((_, file, files)) = reads.try_next().await? {
            let spec = scan.spec(file.partition_spec_id)?;
            for entry in files.iter().filter(|entry| spec.may_match(&scan.filter, &entry.data_file.partition)) {
                let sequence_number = entry.sequence_number.unwrap_or(file.sequence_number);
                deletes.push(Delete { entry: Arc::clone(entry), spec_id: file.partition_spec_id, sequence_number });
            }
            if deletes.len() > MOST_DELETES {
                return Err(Error::Unsupported(format!("the snapshot has more than {MOST_DELETES} delete files")));
            }
        }
        Ok(deletes)
    }

    /// The manifests with files that these snapshots added, each once, in the order of the snapshots.
    pub(super) async fn appended(&self, snapshots: &[&Snapshot]) -> Result<Vec<ManifestFile>, Error> {
        let ids: HashSet<i64> = snapshots.iter().map(|snapshot| snapshot.snapshot_id).collect();
        let lists: Vec<_> = snapshots.iter().map(|snapshot| self.list(snapshot).boxed()).collect();
        let mut lists = futures::stream::iter(lists).buffered(CONCURRENT_READS);
        let (mut seen, mut found) = (HashSet::new(), Vec::new());
        while let Some(list) = lists.try_next().await? {
            for file in &list.manifests {
                let is_theirs = file.added_snapshot_id.is_some_and(|id| ids.contains(&id));
                if is_theirs && file.content == ManifestContent::Data && seen.insert(file.manifest_path.clone()) {
                    found.push(file.clone());
                }
            }
        }
        Ok(found)
    }
}

fn unreadable(location: &str) -> impl FnOnce(ParseError) -> Error {
    move |fault| Error::Unreadable { location: location.to_owned(), fault }
}

/// Whether a manifest may list live files with rows that pass.
pub(super) fn may_match(scan: &Scan<'_>, file: &ManifestFile) -> Result<bool, Error> {
    Ok(file.may_be_live()
        && scan.spec(file.partition_spec_id)?.manifest_may_match(&scan.filter, file.partitions.as_deref()))
}
