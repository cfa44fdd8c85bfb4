//! How far a task is, for the people who wait for it.

use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicU64, Ordering};

/// Counts of files. A task that is started again goes on counting, so a file that it meets twice counts twice.
#[derive(Debug, Default)]
pub(super) struct Progress {
    deleted: AtomicU64,
    kept: AtomicU64,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
struct Counts {
    files_deleted: u64,
    files_kept: u64,
}

impl Progress {
    /// Goes on from what [`Progress::to_json`] wrote.
    pub(super) fn from_json(text: &str) -> Self {
        let counts: Counts = serde_json::from_str(text).unwrap_or_default();
        Self { deleted: counts.files_deleted.into(), kept: counts.files_kept.into() }
    }

    pub(super) fn to_json(&self) -> String {
        let counts = Counts { files_deleted: self.deleted(), files_kept: self.kept() };
        serde_json::to_string(&counts).unwrap_or_else(|_| "{}".to_owned())
    }

    /// A file is deleted, or was already.
    pub(super) fn add_deleted(&self) {
        self.deleted.fetch_add(1, Ordering::Relaxed);
    }

    /// Files are not the task's to delete.
    pub(super) fn add_kept(&self, files: usize) {
        self.kept.fetch_add(files as u64, Ordering::Relaxed);
    }

    pub(super) fn deleted(&self) -> u64 {
        self.deleted.load(Ordering::Relaxed)
    }

    pub(super) fn kept(&self) -> u64 {
        self.kept.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counting_goes_on_where_it_was_left() {
        let progress = Progress::from_json("{}");
        progress.add_deleted();
        progress.add_kept(2);
        let again = Progress::from_json(&progress.to_json());
        again.add_deleted();
        assert_eq!((again.deleted(), again.kept()), (2, 2));
    }
}
