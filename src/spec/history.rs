//! The two logs of table metadata: which snapshot was current when, and which file held the metadata when.

use serde_json::value::RawValue;

use super::error::{Error, Result};
use super::json::{ObjectWriter, Raw, raw_from_valid};
use super::members::{equal_by_text, members, pick};

/// How far clocks may differ between two entries, in milliseconds; Java's tolerance, when it writes and reads.
pub(super) const CLOCK_TOLERANCE_MS: i64 = 60_000;

/// From this time on, this snapshot was the current one.
#[derive(Debug, Clone)]
pub struct SnapshotLogEntry {
    /// Milliseconds since 1970.
    pub timestamp_ms: i64,
    /// The snapshot; it may have been removed since.
    pub snapshot_id: i64,
    raw: Raw,
}

/// This file held the table's metadata until it was replaced.
#[derive(Debug, Clone)]
pub struct MetadataLogEntry {
    /// `last-updated-ms` of that metadata.
    pub timestamp_ms: i64,
    /// Location of the file.
    pub metadata_file: String,
    raw: Raw,
}

equal_by_text!(SnapshotLogEntry, MetadataLogEntry);

members! {
    struct SnapshotEntry {
        timestamp_ms: "timestamp-ms",
        snapshot_id: "snapshot-id",
    }
}

members! {
    struct MetadataEntry {
        timestamp_ms: "timestamp-ms",
        metadata_file: "metadata-file",
    }
}

impl SnapshotLogEntry {
    /// A new entry.
    pub fn new(timestamp_ms: i64, snapshot_id: i64) -> Self {
        let raw = entry(timestamp_ms, |object| object.int("snapshot-id", snapshot_id));
        Self { timestamp_ms, snapshot_id, raw }
    }

    /// Reads an entry of `snapshot-log`.
    pub(super) fn parse(raw: Raw) -> Result<Self> {
        let picked: SnapshotEntry<'_> = pick("snapshot-log", &raw)?;
        let (timestamp_ms, snapshot_id) = (picked.timestamp_ms.required()?, picked.snapshot_id.required()?);
        Ok(Self { timestamp_ms, snapshot_id, raw })
    }

    /// The entry as it was read.
    pub fn to_json(&self) -> &RawValue {
        &self.raw
    }
}

impl MetadataLogEntry {
    /// A new entry.
    pub fn new(timestamp_ms: i64, metadata_file: impl Into<String>) -> Self {
        let metadata_file = metadata_file.into();
        let raw = entry(timestamp_ms, |object| object.str("metadata-file", &metadata_file));
        Self { timestamp_ms, metadata_file, raw }
    }

    /// Reads an entry of `metadata-log`.
    pub(super) fn parse(raw: Raw) -> Result<Self> {
        let picked: MetadataEntry<'_> = pick("metadata-log", &raw)?;
        let (timestamp_ms, metadata_file) = (picked.timestamp_ms.required()?, picked.metadata_file.required()?);
        Ok(Self { timestamp_ms, metadata_file, raw })
    }

    /// The entry as it was read.
    pub fn to_json(&self) -> &RawValue {
        &self.raw
    }
}

fn entry(timestamp_ms: i64, member: impl FnOnce(&mut ObjectWriter<'_>)) -> Raw {
    let mut out = String::new();
    let mut object = ObjectWriter::new(&mut out);
    object.int("timestamp-ms", timestamp_ms);
    member(&mut object);
    object.finish();
    raw_from_valid(out)
}

/// Whether each time is at most a minute before the one before it.
pub(super) fn check_ascending(times: impl Iterator<Item = i64>, error: &str) -> Result<()> {
    let mut last: Option<i64> = None;
    for time in times {
        if last.is_some_and(|last| is_before(time, last)) {
            return Err(Error::invalid(error));
        }
        last = Some(time);
    }
    Ok(())
}

/// Whether `time` is more than a minute before `other`.
pub(super) fn is_before(time: i64, other: i64) -> bool {
    time.saturating_sub(other) < -CLOCK_TOLERANCE_MS
}
