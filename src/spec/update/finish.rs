//! What is done once when all updates are applied: the logs, and the checks of the whole (spec.md 2.4).

use std::collections::HashSet;

use indexmap::IndexMap;

use super::apply::{Applied, Change};
use crate::spec::error::{Error, Result};
use crate::spec::history::{CLOCK_TOLERANCE_MS, MetadataLogEntry, SnapshotLogEntry, is_before};
use crate::spec::snapshot::Snapshot;

/// How many entries the metadata log keeps.
const PREVIOUS_VERSIONS_MAX: &str = "write.metadata.previous-versions-max";

/// The length of the metadata log where the property does not say.
const DEFAULT_PREVIOUS_VERSIONS_MAX: usize = 100;

impl Change<'_> {
    pub(super) fn finish(mut self) -> Result<Applied> {
        if self.base.is_none() && self.metadata.table_uuid.is_empty() {
            return Err(Error::invalid("Cannot create a table without a uuid"));
        }
        self.drop_removed_snapshots();
        self.trim_snapshot_log()?;
        self.check_times()?;
        self.check_keys()?;
        self.check_defaults()?;
        let dropped_metadata_files = self.log_previous_file()?;
        self.metadata.last_updated_ms = self.updated_ms;
        self.metadata.check()?;
        let mut added_snapshots = self.added;
        added_snapshots.retain(|added| self.snapshots.contains_key(&added.snapshot_id));
        Ok(Applied {
            metadata: self.metadata,
            changed: true,
            added_snapshots,
            renumbered_specs: self.renumbered_specs,
            dropped_metadata_files,
            resent: false,
        })
    }

    fn drop_removed_snapshots(&mut self) {
        if self.removed.is_empty() {
            return;
        }
        let mut at = 0;
        self.metadata.snapshots.retain(|_| {
            at += 1;
            !self.removed.contains(&(at - 1))
        });
    }

    /// Takes out of the log what never became the current snapshot, and everything before a removed one: with a hole,
    /// the log would say of an older snapshot that it was current for longer than it was.
    fn trim_snapshot_log(&mut self) -> Result<()> {
        let current = self.metadata.current_snapshot_id;
        let passed = |id: i64| self.were_main.contains(&id) && current != Some(id);
        if self.removed.is_empty() && !self.were_main.iter().any(|&id| passed(id)) {
            return Ok(());
        }
        let mut kept = Vec::with_capacity(self.metadata.snapshot_log.len());
        for entry in self.metadata.snapshot_log.drain(..) {
            let id = entry.snapshot_id;
            if !self.snapshots.contains_key(&id) {
                if !self.removed.is_empty() {
                    kept.clear();
                }
            } else if !passed(id) {
                kept.push(entry);
            }
        }
        self.metadata.snapshot_log = kept;
        match (self.metadata.snapshot_log.last(), current) {
            (Some(last), Some(current)) if last.snapshot_id != current => {
                let text = "Cannot set invalid snapshot log: latest entry is not the current snapshot";
                Err(Error::invalid(text))
            }
            _ => Ok(()),
        }
    }

    /// Check 19 of spec.md 4.2: a snapshot that became current fits into the log. Java opens no table otherwise.
    fn check_times(&self) -> Result<()> {
        let mut last: Option<i64> = None;
        for entry in &self.metadata.snapshot_log {
            if let Some(last) = last.filter(|&last| is_before(entry.timestamp_ms, last)) {
                return Err(self.wrong_time(entry, &format!("before the snapshot log's last entry at {last}")));
            }
            last = Some(entry.timestamp_ms);
        }
        match self.metadata.snapshot_log.last() {
            Some(entry) if is_before(self.updated_ms, entry.timestamp_ms) => {
                Err(self.wrong_time(entry, "in the future"))
            }
            _ => Ok(()),
        }
    }

    fn wrong_time(&self, entry: &SnapshotLogEntry, why: &str) -> Error {
        let (id, time, now) = (entry.snapshot_id, entry.timestamp_ms, self.now_ms);
        let text = format!("Invalid timestamp-ms of snapshot {id}: {time} is more than {CLOCK_TOLERANCE_MS} ms");
        Error::invalid(format!("{text} {why} (server time {now})"))
    }

    /// Check 20: the key that an added snapshot names is there, from before or from the same request.
    fn check_keys(&self) -> Result<()> {
        let keys: HashSet<&str> = self.metadata.encryption_keys.iter().map(|key| key.key_id.as_str()).collect();
        let is_added = |snapshot: &&Snapshot| self.added_ids.contains(&snapshot.snapshot_id);
        for snapshot in self.metadata.snapshots.iter().filter(is_added) {
            if let Some(key) = snapshot.key_id.as_deref().filter(|key| !keys.contains(key)) {
                let id = snapshot.snapshot_id;
                return Err(Error::invalid(format!("Cannot find encryption key {key} of snapshot {id}")));
            }
        }
        Ok(())
    }

    /// The default spec and sort order are there and fit the current schema.
    fn check_defaults(&self) -> Result<()> {
        let table = &self.metadata;
        if !table.partition_specs.is_empty() && table.default_spec().is_none() {
            return Err(Error::invalid(format!("Cannot find default partition spec: {}", table.default_spec_id)));
        }
        if !table.sort_orders.is_empty() && table.sort_order(table.default_sort_order_id).is_none() {
            return Err(Error::invalid(format!("Cannot find default sort order: {}", table.default_sort_order_id)));
        }
        table.check_default_spec_and_order()
    }

    /// Appends the base's file to the metadata log and returns the files that the log no longer holds.
    fn log_previous_file(&mut self) -> Result<Vec<String>> {
        let Some(base) = self.base else { return Ok(Vec::new()) };
        let length = log_length(&self.metadata.properties, &base.metadata.properties)?;
        let log = &mut self.metadata.metadata_log;
        let excess = (log.len() + 1).saturating_sub(length);
        let dropped = log.drain(..excess).map(|entry| entry.metadata_file).collect();
        log.push(MetadataLogEntry::new(base.metadata.last_updated_ms, base.location));
        Ok(dropped)
    }
}

/// How long the metadata log may be. A value that is no number is refused when it is set, and ignored where it was
/// stored before.
fn log_length(properties: &IndexMap<String, String>, base: &IndexMap<String, String>) -> Result<usize> {
    let Some(value) = properties.get(PREVIOUS_VERSIONS_MAX) else { return Ok(DEFAULT_PREVIOUS_VERSIONS_MAX) };
    match value.parse::<i32>() {
        Ok(length) => Ok(usize::try_from(length).unwrap_or(1).max(1)),
        Err(_) if base.get(PREVIOUS_VERSIONS_MAX) == Some(value) => Ok(DEFAULT_PREVIOUS_VERSIONS_MAX),
        Err(_) => Err(Error::invalid(format!("Invalid value of {PREVIOUS_VERSIONS_MAX}: {value} is no integer"))),
    }
}
