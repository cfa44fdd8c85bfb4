//! A manifest is judged as of the snapshot that wrote it, also where that one is expired.

use std::sync::Arc;

use serde_json::json;
use serde_json::value::RawValue;

use crate::manifest::{DataFile, Manifest, ManifestFile, ManifestList, Metadata};
use crate::spec::{Snapshot, TableMetadata};
use crate::validate::facts::{Facts, History, NewManifest, Origin, Parent, Request};

use super::version_of;

/// The snapshot that wrote a manifest, and the format version that it wrote; none if it cannot be made up.
pub(super) fn writer(table: &TableMetadata, file: &ManifestFile, manifest: &Manifest) -> Option<(Snapshot, u8)> {
    let known = file.added_snapshot_id.and_then(|id| table.snapshot(id));
    if let Some(snapshot) = known {
        return Some((snapshot.clone(), version_of(table, snapshot)));
    }
    let own = manifest.metadata.get("format-version").and_then(|version| version.parse().ok());
    let version = own.filter(|version| (1..=table.format_version).contains(version));
    let version = version.unwrap_or_else(|| version_by_content(table, file, manifest));
    let json = json!({
        "snapshot-id": file.added_snapshot_id.unwrap_or_default(),
        "sequence-number": file.sequence_number,
        "timestamp-ms": 0,
        "manifest-list": "",
        "summary": {"operation": "replace"},
    });
    let raw = RawValue::from_string(json.to_string()).ok()?;
    Some((Snapshot::parse(raw).ok()?, version))
}

/// The version of a manifest that does not say it.
fn version_by_content(table: &TableMetadata, file: &ManifestFile, manifest: &Manifest) -> u8 {
    if file.sequence_number == 0 {
        1
    } else if manifest.entries.iter().map(|entry| &entry.data_file).any(DataFile::is_deletion_vector) {
        table.format_version
    } else {
        table.format_version.min(2)
    }
}

/// Facts about nothing but one manifest, as of its writer.
pub(super) fn facts<'a>(
    table: &'a TableMetadata,
    writer: &'a Snapshot,
    format_version: u8,
    file: &ManifestFile,
    new: NewManifest,
) -> Facts<'a> {
    let list = ManifestList { metadata: Metadata::new(), manifests: vec![file.clone()], missing_fields: Vec::new() };
    Facts {
        format_version,
        request: Request::default(),
        table,
        snapshot: writer,
        list_location: "",
        list: Arc::new(list),
        origins: vec![Origin::New],
        parent: Parent::Unreadable,
        manifests: vec![NewManifest { place: 0, ..new }],
        row_ranges: Vec::new(),
        vectors: Vec::new(),
        duplicate_vectors: Vec::new(),
        lost_deletes: Vec::new(),
        stale_deletes: Vec::new(),
        history: History::default(),
        objects: Vec::new(),
    }
}
