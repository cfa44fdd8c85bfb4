//! Statistics files that table metadata points to (spec.md 1.5, 2.3).

use serde_json::value::RawValue;

use super::error::{Error, Result};
use super::json::{Raw, elements, shown};
use super::members::{equal_by_text, members, pick};

/// A Puffin file with statistics of one snapshot.
#[derive(Debug, Clone)]
pub struct StatisticsFile {
    /// The snapshot it describes; it need not exist.
    pub snapshot_id: i64,
    /// Location of the file.
    pub statistics_path: String,
    /// The size of the file in bytes.
    pub file_size_in_bytes: i64,
    /// The size of its footer in bytes.
    pub file_footer_size_in_bytes: i64,
    /// What it holds: the type of each blob, and the fields that the blob is of.
    pub blobs: Vec<(String, Vec<i32>)>,
    raw: Raw,
}

/// A file with statistics of one snapshot's partitions.
#[derive(Debug, Clone)]
pub struct PartitionStatisticsFile {
    /// The snapshot it describes; it need not exist.
    pub snapshot_id: i64,
    /// Location of the file.
    pub statistics_path: String,
    raw: Raw,
}

equal_by_text!(StatisticsFile, PartitionStatisticsFile);

members! {
    struct Picked {
        snapshot_id: "snapshot-id",
        statistics_path: "statistics-path",
        file_size_in_bytes: "file-size-in-bytes",
        file_footer_size_in_bytes: "file-footer-size-in-bytes",
        blob_metadata: "blob-metadata",
    }
}

members! {
    struct Blob {
        kind: "type",
        snapshot_id: "snapshot-id",
        sequence_number: "sequence-number",
        fields: "fields",
        properties: "properties",
    }
}

impl StatisticsFile {
    /// Reads an entry of `statistics`.
    ///
    /// # Errors
    /// [`Error::Invalid`] that names the member which is missing or wrong.
    pub fn parse(raw: Raw) -> Result<Self> {
        let picked: Picked<'_> = pick("statistics file", &raw)?;
        let (snapshot_id, statistics_path) = picked.common()?;
        let file_size_in_bytes = picked.file_size_in_bytes.required()?;
        let file_footer_size_in_bytes = picked.file_footer_size_in_bytes.required()?;
        let blobs = read_blobs(picked.blob_metadata.raw)?;
        Ok(Self { snapshot_id, statistics_path, file_size_in_bytes, file_footer_size_in_bytes, blobs, raw })
    }

    /// The entry as it was sent.
    pub fn to_json(&self) -> &RawValue {
        &self.raw
    }
}

impl PartitionStatisticsFile {
    /// Reads an entry of `partition-statistics`.
    ///
    /// # Errors
    /// [`Error::Invalid`] that names the member which is missing or wrong.
    pub fn parse(raw: Raw) -> Result<Self> {
        let picked: Picked<'_> = pick("partition statistics file", &raw)?;
        let (snapshot_id, statistics_path) = picked.common()?;
        Ok(Self { snapshot_id, statistics_path, raw })
    }

    /// The entry as it was sent.
    pub fn to_json(&self) -> &RawValue {
        &self.raw
    }
}

impl Picked<'_> {
    /// What both kinds of file must have.
    fn common(&self) -> Result<(i64, String)> {
        let snapshot_id = self.snapshot_id.required()?;
        let statistics_path = self.statistics_path.required()?;
        self.file_size_in_bytes.required::<i64>()?;
        Ok((snapshot_id, statistics_path))
    }
}

fn read_blobs(blobs: Option<&RawValue>) -> Result<Vec<(String, Vec<i32>)>> {
    let refused = |found: &str| Error::invalid(format!("Cannot parse blob metadata from non-array: {found}"));
    let blobs = blobs.ok_or_else(|| refused("null"))?;
    let mut read = Vec::new();
    for blob in elements("blob-metadata", blobs).map_err(|_| refused(&shown(blobs)))? {
        let blob: Blob<'_> = pick("blob metadata", &blob)?;
        let kind = blob.kind.required::<String>()?;
        blob.snapshot_id.required::<i64>()?;
        blob.sequence_number.required::<i64>()?;
        let fields = blob.fields.required::<Vec<i32>>()?;
        blob.properties.present::<Vec<(String, String)>>()?;
        read.push((kind, fields));
    }
    Ok(read)
}
