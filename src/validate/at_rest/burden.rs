//! What deletes cost those who read a table: rows that are read and thrown away, file by file, and bytes that lie dead.

use serde::Serialize;

use crate::spec::TableMetadata;
use crate::validate::finding::NotChecked;
use crate::validate::report::Violation;

use super::{Counts, TableReport};

/// How many data files are kept of a snapshot.
pub const MOST_FILES_LISTED: usize = 1000;

/// What the deletes of a table's current snapshot cost.
#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Burden {
    /// The table's format version.
    pub format_version: u8,
    /// The current snapshot; none if the table has none.
    pub snapshot_id: Option<i64>,
    /// Whether all of it could be looked at. If not, the numbers are of what was.
    pub complete: bool,
    /// What was not looked at, and why.
    pub not_checked: Vec<NotChecked>,
    /// Broken rules of level deny: the numbers are of a table that is not in order.
    pub refused: Vec<Violation>,
    /// What is live.
    pub counts: Counts,
    /// The share of the rows that vectors delete.
    pub ratio: f64,
    /// The data files with the largest shares of deleted rows.
    pub files: Vec<FileDeletes>,
}

/// A data file with a deletion vector.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct FileDeletes {
    /// The data file.
    pub data_file: String,
    /// Rows in it, deleted ones included.
    pub records: u64,
    /// Rows that the vector deletes.
    pub deleted_rows: u64,
    /// Their share.
    pub ratio: f64,
    /// Where the vector is.
    pub puffin_file: String,
    /// Its length in bytes.
    pub vector_bytes: u64,
}

impl Burden {
    /// Sums up a look at the current snapshot, with at most `most` files.
    pub fn of(table: &TableMetadata, report: TableReport, most: usize) -> Self {
        let snapshot = report.snapshots.into_iter().next();
        let counts = snapshot.as_ref().map(|snapshot| snapshot.counts).unwrap_or_default();
        let mut burden = Self {
            format_version: table.format_version,
            snapshot_id: None,
            complete: true,
            not_checked: Vec::new(),
            refused: Vec::new(),
            counts,
            ratio: ratio(counts.deleted_positions, counts.records),
            files: Vec::new(),
        };
        if let Some(snapshot) = snapshot {
            burden.snapshot_id = Some(snapshot.snapshot_id);
            burden.complete = snapshot.complete;
            if !snapshot.complete {
                burden.not_checked = snapshot.report.not_checked;
            }
            burden.refused = snapshot.report.refused;
            burden.files = snapshot.most_deleted;
            burden.files.truncate(most);
        }
        burden
    }
}

/// The data files with the largest shares of deleted rows.
#[derive(Debug, Default)]
pub(super) struct MostDeleted(Vec<FileDeletes>);

impl MostDeleted {
    pub(super) fn add(&mut self, file: FileDeletes) {
        self.0.push(file);
        if self.0.len() >= 2 * MOST_FILES_LISTED {
            self.cut();
        }
    }

    pub(super) fn into_files(mut self) -> Vec<FileDeletes> {
        self.cut();
        self.0
    }

    fn cut(&mut self) {
        self.0.sort_by(|one, other| {
            let larger = other.ratio.total_cmp(&one.ratio).then(other.deleted_rows.cmp(&one.deleted_rows));
            larger.then_with(|| one.data_file.cmp(&other.data_file))
        });
        self.0.truncate(MOST_FILES_LISTED);
    }
}

/// A share of rows; none of none is 0.
#[expect(clippy::cast_precision_loss, reason = "a share need not be exact")]
pub(super) fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_shares_come_first_and_memory_is_bounded() {
        let mut most = MostDeleted::default();
        for number in 0..5000_u64 {
            most.add(FileDeletes {
                data_file: format!("{number:04}"),
                records: 10_000,
                deleted_rows: number,
                ratio: ratio(number, 10_000),
                puffin_file: "p".to_owned(),
                vector_bytes: 40,
            });
            assert!(most.0.len() < 2 * MOST_FILES_LISTED);
        }
        let files = most.into_files();
        assert_eq!((files.len(), files[0].deleted_rows, files[999].deleted_rows), (MOST_FILES_LISTED, 4999, 4000));
        assert!(ratio(1, 0).abs() < f64::EPSILON);
    }
}
