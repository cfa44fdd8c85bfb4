//! `add-snapshot`, `remove-snapshots` (spec.md 2.4, 3.5 and 4.2).

use std::collections::HashSet;

use super::apply::{AddedSnapshot, Change, stale};
use crate::spec::error::{Error, Result};
use crate::spec::refs::MAIN_BRANCH;
use crate::spec::snapshot::Snapshot;
use crate::spec::table::ROW_LINEAGE_VERSION;

/// How far a snapshot's row ids may start beyond the table's next one (spec.md 4.2 check 9). Java accepts any distance;
/// a few such snapshots would use up all ids.
const MAX_ROW_ID_GAP: i64 = 1 << 40;

impl Change<'_> {
    /// Adds a snapshot: first what is wrong with it by itself, then whether the table has moved on, then the rest.
    pub(super) fn add_snapshot(&mut self, snapshot: &Snapshot) -> Result<()> {
        self.check_ready_for_snapshots()?;
        let id = snapshot.snapshot_id;
        if self.snapshots.contains_key(&id) {
            return Err(Error::invalid(format!("Snapshot already exists for id: {id}")));
        }
        let format_version = self.metadata.format_version;
        snapshot.check_new(format_version)?;
        self.check_parent(snapshot)?;
        self.check_sequence(snapshot)?;
        let row_ids_after = self.row_ids_after(snapshot)?;
        self.check_schema_id(snapshot)?;
        let next_row_id = self.metadata.next_row_id;
        if let Some(next) = row_ids_after {
            self.metadata.raise_next_row_id(next);
        }
        self.metadata.last_sequence_number = self.metadata.last_sequence_number.max(snapshot.sequence_number);
        self.snapshots.insert(id, self.metadata.snapshots.len());
        self.metadata.snapshots.push(snapshot.clone());
        self.added_ids.insert(id);
        self.added.push(AddedSnapshot { snapshot_id: id, format_version, next_row_id });
        self.changed = true;
        Ok(())
    }

    fn check_ready_for_snapshots(&self) -> Result<()> {
        let missing = match &self.metadata {
            table if table.schemas.is_empty() => "schema",
            table if table.partition_specs.is_empty() => "partition spec",
            table if table.sort_orders.is_empty() => "sort order",
            _ => return Ok(()),
        };
        Err(Error::invalid(format!("Attempting to add a snapshot before a {missing} is added")))
    }

    /// Check 12: writers take the parent from metadata that they loaded, so a missing one was expired since.
    /// Some clients write -1 for none.
    fn check_parent(&self, snapshot: &Snapshot) -> Result<()> {
        match snapshot.parent_snapshot_id {
            Some(parent) if parent != -1 && !self.snapshots.contains_key(&parent) => {
                let id = snapshot.snapshot_id;
                Err(stale(format_args!("Cannot find parent snapshot {parent} of snapshot {id}")))
            }
            _ => Ok(()),
        }
    }

    /// Check 5. Snapshots without a parent are exempt: concurrent replaces carry the same number, and both succeed.
    fn check_sequence(&self, snapshot: &Snapshot) -> Result<()> {
        let (sequence, last) = (snapshot.sequence_number, self.metadata.last_sequence_number);
        if self.metadata.format_version == 1 || sequence > last || snapshot.parent_snapshot_id.is_none() {
            return Ok(());
        }
        let text = "Cannot add snapshot with sequence number";
        Err(stale(format_args!("{text} {sequence} older than last sequence number {last}")))
    }

    /// Checks 7 to 10: what `next-row-id` must at least be after the snapshot; `None` before format version 3.
    fn row_ids_after(&self, snapshot: &Snapshot) -> Result<Option<i64>> {
        if self.metadata.format_version < ROW_LINEAGE_VERSION {
            return Ok(None);
        }
        let next = self.metadata.next_row_id.unwrap_or(0);
        let Some(first) = snapshot.first_row_id else {
            return Err(self.without_row_ids(snapshot));
        };
        if first < next {
            let text = "Cannot add a snapshot, first-row-id is behind table next-row-id";
            return Err(stale(format_args!("{text}: {first} < {next}")));
        }
        if first.saturating_sub(next) > MAX_ROW_ID_GAP {
            let text = "Cannot add a snapshot, first-row-id is too far ahead of table next-row-id";
            return Err(Error::invalid(format!("{text}: {first} > {next} + {MAX_ROW_ID_GAP}")));
        }
        let added = snapshot.added_rows.unwrap_or(0);
        let overflow = || Error::invalid(format!("Invalid added-rows: {first} + {added} is no row id"));
        first.checked_add(added).ok_or_else(overflow).map(Some)
    }

    /// Check 7: a writer that read the table before it was upgraded knows no row ids; it only has to read it again.
    fn without_row_ids(&self, snapshot: &Snapshot) -> Error {
        let text = "Cannot add a snapshot: first-row-id is null";
        let was_upgraded = self.base.is_some_and(|base| {
            let parent = snapshot.parent_snapshot_id.and_then(|parent| base.metadata.snapshot(parent));
            base.metadata.format_version >= ROW_LINEAGE_VERSION
                && parent.is_some_and(|parent| parent.first_row_id.is_none())
        });
        if was_upgraded { stale(text) } else { Error::invalid(text) }
    }

    /// Check 14. A schema that was removed since, or that this request numbers otherwise, is seen by reading again.
    fn check_schema_id(&self, snapshot: &Snapshot) -> Result<()> {
        let Some(schema_id) = snapshot.schema_id.filter(|&id| self.metadata.schema(id).is_none()) else {
            return Ok(());
        };
        let text = format!("Cannot find schema {schema_id} of snapshot {}", snapshot.snapshot_id);
        if self.schema_ids.was_used(schema_id) || self.sent_schema_ids.contains(&schema_id) {
            return Err(stale(text));
        }
        Err(Error::invalid(text))
    }

    /// Removes snapshots with their statistics and with all branches and tags that point to them. Unknown ids are
    /// ignored; files are the client's business.
    pub(super) fn remove_snapshots(&mut self, ids: &[i64]) {
        let mut gone = HashSet::new();
        for id in ids {
            if let Some(at) = self.snapshots.remove(id) {
                self.removed.insert(at);
                gone.insert(*id);
            }
        }
        if gone.is_empty() {
            return;
        }
        self.metadata.statistics.retain(|file| !gone.contains(&file.snapshot_id));
        self.metadata.partition_statistics.retain(|file| !gone.contains(&file.snapshot_id));
        self.metadata.refs.retain(|_, reference| !gone.contains(&reference.snapshot_id));
        if !self.metadata.refs.contains_key(MAIN_BRANCH)
            && self.metadata.current_snapshot_id.is_some_and(|current| gone.contains(&current))
        {
            self.metadata.current_snapshot_id = None;
        }
        self.changed = true;
    }
}
