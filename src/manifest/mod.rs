//! Manifest lists and manifests: Avro bytes in, typed rows out.
//!
//! Iceberg keeps the files of a snapshot in two levels of Avro object container files (spec: "Manifests"): a
//! [`ManifestList`] names manifests, a [`Manifest`] names data files and delete files. Writers differ in record
//! names, field order and optional fields, so every column is found by its Avro `field-id`; what is not
//! asked for (column statistics, above all, which no rule needs) is skipped without being decoded.
//!
//! Input is hostile. No length or count in a file is believed before it is compared with the bytes that are left,
//! what a block may decompress to is bounded by [`Limits`], and no byte sequence makes these readers panic.

mod bounds;
mod codec;
mod compare;
mod container;
mod cursor;
mod details;
mod entry;
mod layout;
mod list;
mod partition;
mod schema;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

pub use details::{Bounds, Counts, Details};
pub use entry::{DataFile, FileContent, FileFormat, Manifest, ManifestEntry, Status, live_files};
pub use list::{FieldSummary, ManifestContent, ManifestFile, ManifestList};
pub use partition::{Kind, Partition, PartitionColumn, Value};

/// Which of the two a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    /// A manifest list.
    List,
    /// A manifest.
    Manifest,
}

/// Tells a manifest list from a manifest, by the columns of its schema.
pub fn kind_of(bytes: &[u8]) -> Result<FileKind, ParseError> {
    let file = container::Container::open(bytes)?;
    let fields = layout::record_fields(&file.schema, &file, "a manifest list or a manifest")?;
    let has = |id: i32, name: &str| fields.iter().any(|field| field.id == Some(id) || field.name == name);
    if has(500, "manifest_path") {
        Ok(FileKind::List)
    } else if has(2, "data_file") {
        Ok(FileKind::Manifest)
    } else {
        let expected = "the columns of a manifest list (500) or of a manifest (2)";
        Err(ParseError::new(file.header_offset, expected, "neither"))
    }
}

/// The key-value pairs of an Avro header (`schema`, `partition-spec-id`, `snapshot-id`, ...), `avro.*` included.
pub type Metadata = BTreeMap<String, String>;

/// What one file may cost to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The most bytes that all blocks of a file together may decompress to.
    pub decompressed_bytes: usize,
    /// The most rows (manifests of a list, entries of a manifest) a file may hold.
    pub rows: usize,
}

impl Default for Limits {
    /// 256 MiB and one million rows: some twenty times what Iceberg's default manifest size (8 MiB) can hold.
    fn default() -> Self {
        Self { decompressed_bytes: 256 << 20, rows: 1_000_000 }
    }
}

/// Why a manifest list or a manifest cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("at byte {offset}: expected {expected}, found {found}")]
pub struct ParseError {
    /// Byte offset in the file; for a fault inside a (possibly compressed) block, where that block starts.
    pub offset: u64,
    /// What must be there.
    pub expected: String,
    /// What is there instead.
    pub found: String,
}

impl ParseError {
    fn new(offset: usize, expected: impl Into<String>, found: impl Into<String>) -> Self {
        Self { offset: offset as u64, expected: expected.into(), found: found.into() }
    }
}
