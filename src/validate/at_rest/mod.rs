//! A table at rest: what its snapshots hold, judged by the rules that commits are judged by.
//!
//! Each snapshot is judged twice. First as the commit that it was, against its parent, as far as that is still there.
//! Then as the state that it is: every live manifest is read, whoever wrote it, and judged as of its writer; every
//! live deletion vector is read, and compared with its data file; row ids are laid side by side. What is no fault but
//! costs space or reads is a [`Remark`].

mod burden;
mod deletes;
mod files;
mod remarks;
mod report;
mod snapshot;
mod writers;

use std::collections::{HashMap, HashSet};

use crate::spec::{Snapshot, TableMetadata};

use super::cache::{Cache, PathKey};
use super::facts::Decoded;
use super::levels::Levels;
use super::read::ReadBytes;

pub use burden::{Burden, FileDeletes, MOST_FILES_LISTED};
pub use remarks::Remark;
pub use report::{Counts, SnapshotReport, TableReport, Verdict};

/// Which snapshots are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Snapshots {
    /// The one that readers see.
    Current,
    /// Every one that the metadata keeps.
    All,
}

/// How much is looked at.
#[derive(Debug, Clone, Copy)]
pub struct Scope {
    /// Which snapshots.
    pub snapshots: Snapshots,
    /// Of how many live files of a snapshot something is kept in memory: some 16 bytes of a data file, some 300 of a
    /// delete file. Beyond, the snapshot counts as not wholly checked.
    pub most_files: usize,
}

/// How far the check is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Progress {
    /// Snapshots that are done.
    pub snapshots_done: usize,
    /// Snapshots in all.
    pub snapshots: usize,
    /// Manifests of the snapshot at hand that were read.
    pub manifests_done: usize,
    /// Live manifests of the snapshot at hand.
    pub manifests: usize,
    /// Its deletion vectors that were read.
    pub vectors_done: usize,
    /// Its deletion vectors.
    pub vectors: usize,
}

/// Is told how far the check is, now and then.
pub type Watch<'a> = &'a (dyn Fn(Progress) + Send + Sync);

/// Checks a table at rest, its newest snapshots first. If storage stops to answer, the report holds what was found
/// until then.
pub async fn check<R: ReadBytes>(
    reader: &R,
    cache: &Cache,
    levels: &Levels,
    table: &TableMetadata,
    scope: Scope,
    watch: Watch<'_>,
) -> TableReport {
    let chosen = chosen(table, scope.snapshots);
    let mut seen = Seen::default();
    let mut report = TableReport::of(table);
    for (done, snapshot) in chosen.iter().enumerate() {
        let progress = Progress { snapshots_done: done, snapshots: chosen.len(), ..Progress::default() };
        watch(progress);
        let work = snapshot::Work { reader, cache, levels, table, snapshot, scope, watch, progress };
        match work.check(&mut seen).await {
            Ok(snapshot) => report.snapshots.push(snapshot),
            Err(unavailable) => {
                report.stopped = Some(unavailable);
                break;
            }
        }
    }
    report
}

/// The snapshots to look at, the current one first, then the newest.
fn chosen(table: &TableMetadata, which: Snapshots) -> Vec<&Snapshot> {
    let current = table.current_snapshot();
    let mut chosen: Vec<&Snapshot> = match which {
        Snapshots::Current => current.into_iter().collect(),
        Snapshots::All => table.snapshots.iter().collect(),
    };
    let is_other = |snapshot: &Snapshot| current.is_none_or(|current| current.snapshot_id != snapshot.snapshot_id);
    chosen.sort_by_key(|snapshot| (is_other(snapshot), -snapshot.sequence_number, -snapshot.timestamp_ms));
    chosen
}

/// What was judged already in this run, so that it is not read again for the next snapshot.
#[derive(Debug, Default)]
struct Seen {
    manifests: HashSet<Box<str>>,
    /// Vectors that were read; none where one is broken.
    vectors: HashMap<BlobKey, Option<Decoded>>,
    /// The places of the vectors that the footers of Puffin files name.
    puffins: HashMap<PathKey, Vec<(i64, i64)>>,
}

/// Where a vector is: its file, its offset, its length.
type BlobKey = (PathKey, i64, i64);

/// The format version in force when a snapshot was made, as far as that can be told. The versions that came before the
/// current one had no sequence numbers (1), or no row ids (2).
fn version_of(table: &TableMetadata, snapshot: &Snapshot) -> u8 {
    if table.format_version >= 3 && snapshot.first_row_id.is_some() {
        table.format_version
    } else if snapshot.sequence_number == 0 {
        1
    } else {
        table.format_version.min(2)
    }
}
