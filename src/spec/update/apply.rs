//! Applies a list of updates to a table, or makes a table of them (spec.md 2.3, 2.4, 6.3).

use std::collections::{HashMap, HashSet};

use super::TableUpdate;
use super::resend::is_resend;
use crate::spec::error::{Error, Result};
use crate::spec::table::{DEFAULT_FORMAT_VERSION, MAX_FORMAT_VERSION, TableMetadata};

/// The table before the updates.
#[derive(Debug, Clone, Copy)]
pub struct Base<'a> {
    /// Its metadata.
    pub metadata: &'a TableMetadata,
    /// The file that holds it, which goes to the new metadata's log.
    pub location: &'a str,
}

/// A snapshot that the updates added, for whoever checks its files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AddedSnapshot {
    /// Its id.
    pub snapshot_id: i64,
    /// The format version in force at its place in the list: the one whose rules its files must obey.
    pub format_version: u8,
    /// The table's `next-row-id` at its place in the list; none where the version has none.
    pub next_row_id: Option<i64>,
}

/// The table after the updates.
#[derive(Debug, Clone)]
pub struct Applied {
    /// The new metadata; the base where nothing changed.
    pub metadata: TableMetadata,
    /// Whether there is anything to write.
    pub changed: bool,
    /// The snapshots that are new and still there, in the order in which they were added.
    pub added_snapshots: Vec<AddedSnapshot>,
    /// Numbers that the request gave to partition specs and that the table did not: files of the same request may
    /// still mean them.
    pub renumbered_specs: Vec<i32>,
    /// Metadata files that left the metadata log: to be deleted after the commit, if the table wants that.
    pub dropped_metadata_files: Vec<String>,
    /// Whether the table has this very commit already: nothing is to be done, and the answer is success.
    pub resent: bool,
}

impl Applied {
    fn unchanged(base: &TableMetadata, resent: bool) -> Self {
        Self {
            metadata: base.clone(),
            changed: false,
            added_snapshots: Vec::new(),
            renumbered_specs: Vec::new(),
            dropped_metadata_files: Vec::new(),
            resent,
        }
    }
}

/// Applies the updates in order to a copy of the base. Without a base they make a new table, and must say everything
/// about it: uuid, location, schema, partition spec and sort order.
///
/// # Errors
/// [`Error::Conflict`] `Validation failed, please retry: ..` where the request was made for an older table,
/// [`Error::Invalid`] where it is wrong. Nothing of a list that fails is applied.
pub fn apply(base: Option<Base<'_>>, updates: &[TableUpdate], now_ms: i64) -> Result<Applied> {
    if let Some(base) = base
        && is_resend(base.metadata, updates)?
    {
        return Ok(Applied::unchanged(base.metadata, true));
    }
    let mut change = Change::new(base, updates, now_ms)?;
    updates.iter().try_for_each(|update| change.apply(update))?;
    match base {
        Some(base) if !change.changed => Ok(Applied::unchanged(base.metadata, false)),
        _ => change.finish(),
    }
}

/// A table while updates are applied to it.
#[derive(Debug)]
pub(super) struct Change<'a> {
    pub(super) base: Option<Base<'a>>,
    pub(super) metadata: TableMetadata,
    /// The server's time.
    pub(super) now_ms: i64,
    /// `last-updated-ms` of the result: the server's time, but not before the base.
    pub(super) updated_ms: i64,
    /// Whether an update did something, by Java's reckoning.
    pub(super) changed: bool,
    pub(super) schema_ids: Numbers,
    pub(super) spec_ids: Numbers,
    pub(super) order_ids: Numbers,
    /// The numbers that clients gave to schemas of this request.
    pub(super) sent_schema_ids: HashSet<i32>,
    /// The numbers that clients gave to specs of this request, where they got others.
    pub(super) renumbered_specs: Vec<i32>,
    /// Where in the list each snapshot is that has not been removed.
    pub(super) snapshots: HashMap<i64, usize>,
    /// Places of removed snapshots, which leave the list at the end.
    pub(super) removed: HashSet<usize>,
    pub(super) added: Vec<AddedSnapshot>,
    pub(super) added_ids: HashSet<i64>,
    /// Added snapshots that `main` was set to.
    pub(super) were_main: HashSet<i64>,
}

/// Numbers of schemas, specs or orders. None is given twice, even where its object was removed.
#[derive(Debug)]
pub(super) struct Numbers {
    /// Highest number that was ever seen; one less than the first.
    highest: i32,
    /// The object added last in this request, or the older one that is equal to it.
    last_added: Option<i32>,
}

impl Numbers {
    fn new(first: i32, used: impl Iterator<Item = i32>) -> Self {
        Self { highest: used.fold(first.saturating_sub(1), i32::max), last_added: None }
    }

    /// The next number, for the object that is added now.
    pub(super) fn next(&mut self, what: &str) -> Result<i32> {
        let exhausted = || Error::invalid(format!("Cannot add another {what}: ids are exhausted"));
        self.highest = self.highest.checked_add(1).ok_or_else(exhausted)?;
        self.last_added = Some(self.highest);
        Ok(self.highest)
    }

    /// Notes that the object which was added now is equal to an older one.
    pub(super) fn reuse(&mut self, id: i32) {
        self.last_added = Some(id);
    }

    /// The number that a request means: -1 is the last added one.
    pub(super) fn resolve(&self, id: i32, none: &str) -> Result<i32> {
        if id != -1 {
            return Ok(id);
        }
        self.last_added.ok_or_else(|| Error::invalid(none))
    }

    /// Whether an object of this number once was there, if it is not now.
    pub(super) fn was_used(&self, id: i32) -> bool {
        (0..=self.highest).contains(&id)
    }
}

impl<'a> Change<'a> {
    fn new(base: Option<Base<'a>>, updates: &[TableUpdate], now_ms: i64) -> Result<Self> {
        let metadata = match base {
            Some(base) => base.metadata.clone(),
            None => TableMetadata::empty(first_version(updates)?),
        };
        let place = |(at, snapshot): (usize, &crate::spec::snapshot::Snapshot)| (snapshot.snapshot_id, at);
        Ok(Self {
            now_ms,
            updated_ms: now_ms.max(metadata.last_updated_ms),
            changed: false,
            schema_ids: Numbers::new(0, metadata.schemas.iter().map(|schema| schema.schema_id)),
            spec_ids: Numbers::new(0, metadata.partition_specs.iter().map(|spec| spec.spec_id)),
            order_ids: Numbers::new(1, metadata.sort_orders.iter().map(|order| order.order_id)),
            sent_schema_ids: HashSet::new(),
            renumbered_specs: Vec::new(),
            snapshots: metadata.snapshots.iter().enumerate().map(place).collect(),
            removed: HashSet::new(),
            added: Vec::new(),
            added_ids: HashSet::new(),
            were_main: HashSet::new(),
            base,
            metadata,
        })
    }

    fn apply(&mut self, update: &TableUpdate) -> Result<()> {
        use TableUpdate as U;
        match update {
            U::AssignUuid { uuid } => self.assign_uuid(uuid)?,
            U::UpgradeFormatVersion { format_version } => self.upgrade_format_version(*format_version)?,
            U::AddSchema { schema } => self.add_schema(schema)?,
            U::SetCurrentSchema { schema_id } => self.set_current_schema(*schema_id)?,
            U::RemoveSchemas { schema_ids } => self.remove_schemas(schema_ids)?,
            U::AddSpec { spec } => self.add_spec(spec)?,
            U::SetDefaultSpec { spec_id } => self.set_default_spec(*spec_id)?,
            U::RemovePartitionSpecs { spec_ids } => self.remove_partition_specs(spec_ids)?,
            U::AddSortOrder { sort_order } => self.add_sort_order(sort_order)?,
            U::SetDefaultSortOrder { sort_order_id } => self.set_default_sort_order(*sort_order_id)?,
            U::AddSnapshot { snapshot } => self.add_snapshot(snapshot)?,
            U::RemoveSnapshots { snapshot_ids } => self.remove_snapshots(snapshot_ids),
            U::SetSnapshotRef { ref_name, reference } => self.set_snapshot_ref(ref_name, reference)?,
            U::RemoveSnapshotRef { ref_name } => self.remove_snapshot_ref(ref_name),
            U::SetLocation { location } => self.set_location(location)?,
            U::SetProperties { updates } => self.set_properties(updates),
            U::RemoveProperties { removals } => self.remove_properties(removals),
            U::SetStatistics { statistics } => self.set_statistics(statistics),
            U::RemoveStatistics { snapshot_id } => self.remove_statistics(*snapshot_id),
            U::SetPartitionStatistics { partition_statistics } => self.set_partition_statistics(partition_statistics),
            U::RemovePartitionStatistics { snapshot_id } => self.remove_partition_statistics(*snapshot_id),
            U::AddEncryptionKey { encryption_key } => self.add_encryption_key(encryption_key),
            U::RemoveEncryptionKey { key_id } => self.remove_encryption_key(key_id),
        }
        Ok(())
    }
}

/// The format version of a table that is made of updates: the first one that they ask for.
fn first_version(updates: &[TableUpdate]) -> Result<u8> {
    let asked = updates.iter().find_map(|update| match update {
        TableUpdate::UpgradeFormatVersion { format_version } => Some(*format_version),
        _ => None,
    });
    let Some(asked) = asked else { return Ok(DEFAULT_FORMAT_VERSION) };
    let known = u8::try_from(asked).ok().filter(|version| (1..=MAX_FORMAT_VERSION).contains(version));
    known.ok_or_else(|| Error::invalid(format!("Unsupported format version: v{asked}")))
}

/// The error of a request that was right for an older table.
pub(super) fn stale(what: impl std::fmt::Display) -> Error {
    Error::conflict(format!("Validation failed, please retry: {what}"))
}
