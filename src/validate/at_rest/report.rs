//! What a check of a table at rest answers.

use serde::Serialize;

use crate::spec::{Snapshot, TableMetadata};
use crate::validate::finding::NotChecked;
use crate::validate::read::Unavailable;
use crate::validate::report::Report;

use super::{FileDeletes, Remark};

/// The verdict on a table at rest.
#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct TableReport {
    /// The table's identity.
    pub table_uuid: String,
    /// Where it lives.
    pub location: String,
    /// Its format version.
    pub format_version: u8,
    /// Its snapshots that were checked, the current one first.
    pub snapshots: Vec<SnapshotReport>,
    /// Why the check ended before all of them were.
    #[serde(skip)]
    pub stopped: Option<Unavailable>,
}

/// What became of the check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// No rule of level deny is broken.
    Ok,
    /// One is.
    Broken,
    /// None is in what could be looked at, and not everything could.
    NotChecked,
}

/// The verdict on one snapshot.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct SnapshotReport {
    /// Its id.
    pub snapshot_id: i64,
    /// Its place in the order of commits.
    pub sequence_number: i64,
    /// The branches and tags that point to it.
    pub refs: Vec<String>,
    /// Whether everything that is live in it was looked at. What else was not checked, such as the comparison with a
    /// parent that is expired, is in the report.
    pub complete: bool,
    /// Broken rules, and what was not checked.
    #[serde(flatten)]
    pub report: Report,
    /// What is no fault and worth knowing.
    pub remarks: Vec<Remark>,
    /// What it holds.
    pub counts: Counts,
    /// The data files with the largest shares of deleted rows, at most [`MOST_FILES_LISTED`](super::MOST_FILES_LISTED).
    #[serde(skip)]
    pub most_deleted: Vec<FileDeletes>,
}

/// What is live in a snapshot.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Counts {
    /// Manifests of data files with live entries.
    pub data_manifests: u64,
    /// Of them, those that have no first row id.
    pub manifests_without_row_ids: u64,
    /// Manifests of delete files with live entries.
    pub delete_manifests: u64,
    /// Data files.
    pub data_files: u64,
    /// Rows in them, deleted ones included.
    pub records: u64,
    /// Deletion vectors.
    pub deletion_vectors: u64,
    /// Rows that they delete.
    pub deleted_positions: u64,
    /// Data files all of whose rows they delete.
    pub fully_deleted_files: u64,
    /// Vectors whose data file is not live.
    pub dangling_vectors: u64,
    /// Puffin files that hold them.
    pub puffin_files: u64,
    /// Bytes of live vectors.
    pub puffin_bytes_live: u64,
    /// Bytes of vectors in the same files that are not live any more.
    pub puffin_bytes_dead: u64,
    /// Position delete files that are no vectors.
    pub position_delete_files: u64,
    /// Of them, those that say which data file they apply to.
    pub position_delete_files_of_one_file: u64,
    /// Equality delete files.
    pub equality_delete_files: u64,
}

impl TableReport {
    pub(super) fn of(table: &TableMetadata) -> Self {
        Self {
            table_uuid: table.table_uuid.clone(),
            location: table.location.clone(),
            format_version: table.format_version,
            snapshots: Vec::new(),
            stopped: None,
        }
    }

    /// The report on a table whose current snapshot was not looked at to the end.
    pub fn unfinished(table: &TableMetadata, reason: String) -> Self {
        let mut report = Self::of(table);
        if let Some(current) = table.current_snapshot() {
            let mut snapshot = SnapshotReport::of(table, current);
            snapshot.complete = false;
            let object = table.location.clone();
            snapshot.report.not_checked.push(NotChecked { rule: "*", object, reason });
            report.snapshots.push(snapshot);
        }
        report
    }

    /// What became of the check.
    pub fn verdict(&self) -> Verdict {
        if self.snapshots.iter().any(|snapshot| !snapshot.report.refused.is_empty()) {
            Verdict::Broken
        } else if self.stopped.is_some() || self.snapshots.iter().any(|snapshot| !snapshot.complete) {
            Verdict::NotChecked
        } else {
            Verdict::Ok
        }
    }
}

impl SnapshotReport {
    pub(super) fn of(table: &TableMetadata, snapshot: &Snapshot) -> Self {
        let points_here = table.refs.iter().filter(|(_, reference)| reference.snapshot_id == snapshot.snapshot_id);
        Self {
            snapshot_id: snapshot.snapshot_id,
            sequence_number: snapshot.sequence_number,
            refs: points_here.map(|(name, _)| name.clone()).collect(),
            complete: true,
            report: Report::default(),
            remarks: Vec::new(),
            counts: Counts::default(),
            most_deleted: Vec::new(),
        }
    }
}
