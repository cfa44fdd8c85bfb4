//! `set-statistics` and its like (spec.md 2.3): at most one file of a kind for a snapshot, which need not exist.

use super::apply::Change;
use crate::spec::statistics::{PartitionStatisticsFile, StatisticsFile};

impl Change<'_> {
    pub(super) fn set_statistics(&mut self, file: &StatisticsFile) {
        replace(&mut self.metadata.statistics, file, |file| file.snapshot_id);
        self.changed = true;
    }

    pub(super) fn remove_statistics(&mut self, snapshot_id: i64) {
        let before = self.metadata.statistics.len();
        self.metadata.statistics.retain(|file| file.snapshot_id != snapshot_id);
        self.changed |= before != self.metadata.statistics.len();
    }

    pub(super) fn set_partition_statistics(&mut self, file: &PartitionStatisticsFile) {
        replace(&mut self.metadata.partition_statistics, file, |file| file.snapshot_id);
        self.changed = true;
    }

    pub(super) fn remove_partition_statistics(&mut self, snapshot_id: i64) {
        let before = self.metadata.partition_statistics.len();
        self.metadata.partition_statistics.retain(|file| file.snapshot_id != snapshot_id);
        self.changed |= before != self.metadata.partition_statistics.len();
    }
}

/// Puts the file where the first one for its snapshot was, or at the end.
fn replace<T: Clone>(files: &mut Vec<T>, file: &T, snapshot_id: impl Fn(&T) -> i64) {
    let id = snapshot_id(file);
    let at = files.iter().position(|old| snapshot_id(old) == id).unwrap_or(files.len());
    files.retain(|old| snapshot_id(old) != id);
    files.insert(at, file.clone());
}
