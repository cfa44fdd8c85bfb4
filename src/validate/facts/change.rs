//! What a commit changes in the metadata.

use std::collections::HashMap;

use crate::puffin::Footer;
use crate::spec::{Field, StatisticsFile, TableMetadata};
use crate::validate::finding::Finding;

/// What a commit changes in the metadata.
#[derive(Debug)]
pub(in crate::validate) struct ChangeFacts<'a> {
    /// The table before the commit.
    pub(in crate::validate) base: &'a TableMetadata,
    /// The table after it.
    pub(in crate::validate) new: &'a TableMetadata,
    /// Fields of schemas that the commit adds, or makes the current one, where it goes on with what the table has.
    pub(in crate::validate) fields: Vec<FieldChange<'a>>,
    /// Manifests of removed specs: location and spec id.
    pub(in crate::validate) manifests_of_removed_specs: Vec<(Box<str>, i32)>,
    /// Statistics files that the commit adds.
    pub(in crate::validate) statistics: Vec<StatisticsFacts<'a>>,
}

/// A field of a new schema against what the table knows by its id.
#[derive(Debug)]
pub(in crate::validate) struct FieldChange<'a> {
    /// The new schema.
    pub(in crate::validate) schema_id: i32,
    /// The field's full name.
    pub(in crate::validate) name: String,
    pub(in crate::validate) new: &'a Field,
    /// The newest older field of the same id.
    pub(in crate::validate) old: Option<&'a Field>,
    /// Whether a field that contains it is new too: no row that is there has a place for it.
    pub(in crate::validate) in_new: bool,
}

/// A statistics file, as far as it was read.
#[derive(Debug)]
pub(in crate::validate) struct StatisticsFacts<'a> {
    pub(in crate::validate) file: &'a StatisticsFile,
    /// What is wrong with the file by itself.
    pub(in crate::validate) fault: Option<Finding>,
    /// None if it was not read, or cannot be understood.
    pub(in crate::validate) read: Option<StatisticsRead>,
}

/// What a statistics file is.
#[derive(Debug)]
pub(in crate::validate) struct StatisticsRead {
    /// The size of the object in bytes.
    pub(in crate::validate) size: u64,
    /// The size of the footer in bytes.
    pub(in crate::validate) footer_size: u64,
    pub(in crate::validate) footer: Footer,
}

impl ChangeFacts<'_> {
    /// Whether the table's data stays: the current snapshot after the commit is the one before it or comes after it. A
    /// table that is replaced starts anew, and may have any schema.
    pub(in crate::validate) fn goes_on(&self) -> bool {
        let Some(before) = self.base.current_snapshot_id else { return false };
        let parents: HashMap<i64, Option<i64>> =
            self.new.snapshots.iter().map(|snapshot| (snapshot.snapshot_id, snapshot.parent_snapshot_id)).collect();
        let mut at = self.new.current_snapshot_id;
        // A chain of parents that is longer than the list of snapshots runs in a circle.
        for _ in 0..=parents.len() {
            match at {
                Some(id) if id == before => return true,
                Some(id) => at = parents.get(&id).copied().flatten(),
                None => return false,
            }
        }
        false
    }
}
