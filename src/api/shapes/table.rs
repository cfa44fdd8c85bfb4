//! What a table's metadata is made of.

use super::schema::{PartitionSpec, Schema, SortOrder};
use serde::Serialize;
use std::collections::BTreeMap;
use utoipa::ToSchema;

/// A table's metadata. Members that only newer writers know are kept and sent as well.
#[derive(ToSchema, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(in crate::api) struct TableMetadata {
    #[schema(minimum = 1, maximum = 3)]
    format_version: i32,
    table_uuid: String,
    location: Option<String>,
    last_updated_ms: Option<i64>,
    /// The first row id that no snapshot has taken; from version 3 on.
    next_row_id: Option<i64>,
    properties: Option<BTreeMap<String, String>>,
    schemas: Option<Vec<Schema>>,
    current_schema_id: Option<i32>,
    last_column_id: Option<i32>,
    partition_specs: Option<Vec<PartitionSpec>>,
    default_spec_id: Option<i32>,
    last_partition_id: Option<i32>,
    sort_orders: Option<Vec<SortOrder>>,
    default_sort_order_id: Option<i32>,
    encryption_keys: Option<Vec<EncryptedKey>>,
    snapshots: Option<Vec<Snapshot>>,
    refs: Option<BTreeMap<String, SnapshotReference>>,
    /// Null, absent or -1 where there is no snapshot.
    current_snapshot_id: Option<i64>,
    last_sequence_number: Option<i64>,
    snapshot_log: Option<Vec<SnapshotLogEntry>>,
    metadata_log: Option<Vec<MetadataLogEntry>>,
    statistics: Option<Vec<StatisticsFile>>,
    partition_statistics: Option<Vec<PartitionStatisticsFile>>,
}

/// A version of a table's content.
#[derive(ToSchema, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(in crate::api) struct Snapshot {
    snapshot_id: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    parent_snapshot_id: Option<i64>,
    sequence_number: Option<i64>,
    timestamp_ms: i64,
    /// The file that lists its manifests; a version 1 table may hold `manifests` instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    manifest_list: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    summary: Option<BTreeMap<String, String>>,
    schema_id: Option<i32>,
    /// From version 3 on.
    first_row_id: Option<i64>,
    /// From version 3 on.
    added_rows: Option<i64>,
    /// The encryption key of its manifest list.
    key_id: Option<String>,
}

/// A branch or a tag.
#[derive(ToSchema, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(in crate::api) struct SnapshotReference {
    r#type: ReferenceType,
    snapshot_id: i64,
    #[schema(minimum = 1)]
    max_ref_age_ms: Option<i64>,
    /// Of branches.
    #[schema(minimum = 1)]
    max_snapshot_age_ms: Option<i64>,
    /// Of branches.
    #[schema(minimum = 1)]
    min_snapshots_to_keep: Option<i32>,
}

#[derive(ToSchema, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(in crate::api) enum ReferenceType {
    Branch,
    Tag,
}

#[derive(ToSchema, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(in crate::api) struct SnapshotLogEntry {
    snapshot_id: i64,
    timestamp_ms: i64,
}

#[derive(ToSchema, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(in crate::api) struct MetadataLogEntry {
    metadata_file: String,
    timestamp_ms: i64,
}

/// A file of statistics about a snapshot.
#[derive(ToSchema, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(in crate::api) struct StatisticsFile {
    snapshot_id: i64,
    statistics_path: String,
    file_size_in_bytes: i64,
    file_footer_size_in_bytes: i64,
    blob_metadata: Vec<BlobMetadata>,
}

/// A blob in a file of statistics.
#[derive(ToSchema, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(in crate::api) struct BlobMetadata {
    r#type: String,
    snapshot_id: i64,
    sequence_number: i64,
    fields: Vec<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    properties: Option<BTreeMap<String, String>>,
}

/// A file of statistics about a snapshot's partitions.
#[derive(ToSchema, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(in crate::api) struct PartitionStatisticsFile {
    snapshot_id: i64,
    statistics_path: String,
    file_size_in_bytes: i64,
}

/// An encryption key, itself encrypted.
#[derive(ToSchema, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(in crate::api) struct EncryptedKey {
    key_id: String,
    /// In Base64.
    encrypted_key_metadata: String,
    encrypted_by_id: Option<String>,
    properties: Option<BTreeMap<String, String>>,
}
