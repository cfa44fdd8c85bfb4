//! Reading manifests whole that a table already has: for a table at rest, where no list says what is new.

use std::collections::HashSet;
use std::sync::Arc;

use futures::FutureExt;

use crate::manifest::{ManifestFile, ManifestList};
use crate::spec::Snapshot;
use crate::validate::cache::Index;
use crate::validate::facts::{Failure, NewManifest};
use crate::validate::read::{ReadBytes, Unavailable};

use super::Context;
use super::source::{CONCURRENT_READS, Fault, Kind, indexes, try_concurrently};

/// How many manifests are in memory at a time.
pub(in crate::validate) const TOGETHER: usize = CONCURRENT_READS;

/// What became of a manifest.
pub(in crate::validate) enum Whole {
    /// It was read, and nobody judged it before.
    Read(NewManifest, Arc<Index>),
    /// It was judged before; its live files.
    Known(Arc<Index>),
    /// It breaks a rule by how it reads.
    Broken(Failure),
}

/// Reads manifests of a list side by side, each by its place; those that were judged before only for their live files.
pub(in crate::validate) async fn whole_manifests<R: ReadBytes>(
    context: &Context<'_, R>,
    list: &ManifestList,
    wanted: &[(usize, bool)],
) -> Result<Vec<(usize, Whole)>, Unavailable> {
    let rows = wanted.iter().filter_map(|(place, judged)| Some((*place, *judged, list.manifests.get(*place)?)));
    let reads = rows.map(|(place, judged, file)| read(context, place, judged, file).boxed()).collect();
    try_concurrently(reads).await
}

async fn read<R: ReadBytes>(
    context: &Context<'_, R>,
    place: usize,
    judged: bool,
    file: &ManifestFile,
) -> Result<(usize, Whole), Unavailable> {
    let read: Result<Whole, Fault> = if judged {
        context.source.index(file).await.map(Whole::Known)
    } else {
        context.source.whole_manifest(place, file).await.map(|(new, index)| Whole::Read(new, index))
    };
    match read {
        Ok(whole) => Ok((place, whole)),
        Err(fault) => Ok((place, Whole::Broken(fault.failure(Kind::Manifest)?))),
    }
}

/// Reads the manifests that the parent has and the snapshot has not, so that what became of their files is known. What
/// cannot be read is left to the rules.
pub(in crate::validate) async fn read_replaced<R: ReadBytes>(context: &Context<'_, R>) -> Result<(), Unavailable> {
    let parent = context.snapshot.parent_snapshot_id.and_then(|id| context.table.snapshot(id));
    let Some(parent) = parent else { return Ok(()) };
    let (before, now) = (read_list(context, parent).await?, read_list(context, context.snapshot).await?);
    let (Some(before), Some(now)) = (before, now) else { return Ok(()) };
    let kept: HashSet<&str> = now.manifests.iter().map(|file| &*file.manifest_path).collect();
    let replaced = |file: &&ManifestFile| !kept.contains(&*file.manifest_path) && file.may_be_live() && !file.encrypted;
    let replaced: Vec<&ManifestFile> = before.manifests.iter().filter(replaced).collect();
    for some in replaced.chunks(TOGETHER) {
        for read in indexes(context.source, some).await {
            if let Err(fault) = read {
                fault.reason()?;
            }
        }
    }
    Ok(())
}

/// The manifest list of a snapshot that the table has, none if it has none that can be read.
pub(in crate::validate) async fn read_list<R: ReadBytes>(
    context: &Context<'_, R>,
    snapshot: &Snapshot,
) -> Result<Option<Arc<ManifestList>>, Unavailable> {
    let location = snapshot.manifest_list.as_deref().filter(|_| snapshot.key_id.is_none());
    let Some(location) = location else { return Ok(None) };
    match context.source.list(location).await {
        Ok(list) => Ok(Some(list)),
        Err(fault) => fault.reason().map(|_| None),
    }
}
