//! What holds for all table metadata that Java can open: checked on read and again before a write (spec.md 2.4, 2.6).

use std::collections::HashSet;
use std::fmt::Display;
use std::hash::Hash;

use super::TableMetadata;
use crate::spec::error::{Error, Result};
use crate::spec::history::{check_ascending, is_before};

impl TableMetadata {
    /// Checks what the constructor of Java's table metadata checks.
    ///
    /// # Errors
    /// [`Error::Invalid`] with Java's text.
    pub(in crate::spec) fn check(&self) -> Result<()> {
        self.check_identity()?;
        self.check_ids()?;
        self.check_snapshots()?;
        self.check_logs()
    }

    /// The default spec and sort order fit the current schema. Those that are missing are not judged here.
    ///
    /// # Errors
    /// [`Error::Invalid`] with the text of the first problem.
    pub(in crate::spec) fn check_default_spec_and_order(&self) -> Result<()> {
        let Some(schema) = self.current_schema() else { return Ok(()) };
        if let Some(spec) = self.default_spec() {
            spec.check_sources(schema)?;
        }
        match self.sort_order(self.default_sort_order_id) {
            Some(order) => order.check_sources(schema),
            None => Ok(()),
        }
    }

    fn check_identity(&self) -> Result<()> {
        let version = self.format_version;
        if self.partition_specs.is_empty() {
            return Err(Error::invalid("Partition specs cannot be null or empty"));
        }
        if self.sort_orders.is_empty() {
            return Err(Error::invalid("Sort orders cannot be null or empty"));
        }
        if version > 1 && self.table_uuid.is_empty() {
            return Err(Error::invalid(format!("UUID is required in format v{version}")));
        }
        if self.location.is_empty() {
            return Err(Error::invalid(format!("Table location is required in format v{version}")));
        }
        if self.current_schema().is_none() {
            let id = self.current_schema_id;
            return Err(Error::invalid(format!("Cannot find schema with current-schema-id={id} from schemas")));
        }
        Ok(())
    }

    fn check_ids(&self) -> Result<()> {
        unique(self.schemas.iter().map(|schema| schema.schema_id))?;
        unique(self.partition_specs.iter().map(|spec| spec.spec_id))?;
        unique(self.sort_orders.iter().map(|order| order.order_id)).map(drop)
    }

    fn check_snapshots(&self) -> Result<()> {
        let last = self.last_sequence_number;
        if let Some(beyond) = self.snapshots.iter().map(|snapshot| snapshot.sequence_number).find(|&s| s > last) {
            let text = "Invalid snapshot with sequence number";
            return Err(Error::invalid(format!("{text} {beyond} greater than last sequence number {last}")));
        }
        let ids = unique(self.snapshots.iter().map(|snapshot| snapshot.snapshot_id))?;
        for (name, reference) in &self.refs {
            if !ids.contains(&reference.snapshot_id) {
                let id = reference.snapshot_id;
                let text = format!("Snapshot for reference {name} does not exist in the existing snapshots list: {id}");
                return Err(Error::invalid(text));
            }
        }
        self.check_main(&ids)
    }

    /// The branch `main` and the current snapshot agree.
    fn check_main(&self, ids: &HashSet<i64>) -> Result<()> {
        match (self.current_snapshot_id, self.main()) {
            (Some(current), Some(main)) if current != main.snapshot_id => {
                let text = "Current snapshot ID does not match main branch";
                Err(Error::invalid(format!("{text} ({current} != {})", main.snapshot_id)))
            }
            (Some(current), _) if !ids.contains(&current) => {
                Err(Error::invalid("Invalid table metadata: Cannot find current version"))
            }
            (None, Some(main)) => {
                let text = "Current snapshot is not set, but main branch exists";
                Err(Error::invalid(format!("{text}: {}", main.snapshot_id)))
            }
            _ => Ok(()),
        }
    }

    fn check_logs(&self) -> Result<()> {
        let updated = self.last_updated_ms;
        let mut snapshots = self.snapshot_log.iter().map(|entry| entry.timestamp_ms);
        check_ascending(snapshots.clone(), "[BUG] Expected sorted snapshot log entries.")?;
        if let Some(last) = snapshots.next_back().filter(|&last| is_before(updated, last)) {
            let text = format!("Invalid update timestamp {updated}: before last snapshot log entry at {last}");
            return Err(Error::invalid(text));
        }
        let mut files = self.metadata_log.iter().map(|entry| entry.timestamp_ms);
        check_ascending(files.clone(), "[BUG] Expected sorted previous metadata log entries.")?;
        if let Some(last) = files.next_back().filter(|&last| is_before(updated, last)) {
            let text = "before the latest metadata log entry timestamp";
            return Err(Error::invalid(format!("Invalid update timestamp {updated}: {text} {last}")));
        }
        Ok(())
    }
}

/// The values as a set; an error if one comes twice.
fn unique<T: Copy + Eq + Hash + Display>(values: impl Iterator<Item = T>) -> Result<HashSet<T>> {
    let mut seen = HashSet::with_capacity(values.size_hint().0);
    for value in values {
        if !seen.insert(value) {
            return Err(Error::invalid(format!("Multiple entries with same key: {value}")));
        }
    }
    Ok(seen)
}
