//! What a commit demands of a table, and what it changes.

use super::schema::{PartitionSpec, Schema, SortOrder};
use super::table::{EncryptedKey, PartitionStatisticsFile, ReferenceType, Snapshot, StatisticsFile};
use serde::Serialize;
use std::collections::BTreeMap;
use utoipa::ToSchema;

/// What must hold of a table, or else nothing is changed.
#[derive(ToSchema, Serialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub(in crate::api) enum TableRequirement {
    /// There is no such table.
    AssertCreate,
    AssertTableUuid {
        uuid: String,
    },
    /// A branch or tag points to this snapshot; null: there is no such branch or tag.
    #[serde(rename_all = "kebab-case")]
    AssertRefSnapshotId {
        r#ref: String,
        snapshot_id: Option<i64>,
    },
    #[serde(rename_all = "kebab-case")]
    AssertLastAssignedFieldId {
        last_assigned_field_id: i32,
    },
    #[serde(rename_all = "kebab-case")]
    AssertCurrentSchemaId {
        current_schema_id: i32,
    },
    #[serde(rename_all = "kebab-case")]
    AssertLastAssignedPartitionId {
        last_assigned_partition_id: i32,
    },
    #[serde(rename_all = "kebab-case")]
    AssertDefaultSpecId {
        default_spec_id: i32,
    },
    #[serde(rename_all = "kebab-case")]
    AssertDefaultSortOrderId {
        default_sort_order_id: i32,
    },
}

/// A change of a table. The number -1 means the schema, spec or sort order that this request added last.
#[derive(ToSchema, Serialize)]
#[serde(tag = "action", rename_all = "kebab-case")]
pub(in crate::api) enum TableUpdate {
    AssignUuid {
        uuid: String,
    },
    #[serde(rename_all = "kebab-case")]
    UpgradeFormatVersion {
        format_version: i32,
    },
    AddSchema {
        schema: Schema,
    },
    #[serde(rename_all = "kebab-case")]
    SetCurrentSchema {
        schema_id: i32,
    },
    AddSpec {
        spec: PartitionSpec,
    },
    #[serde(rename_all = "kebab-case")]
    SetDefaultSpec {
        spec_id: i32,
    },
    #[serde(rename_all = "kebab-case")]
    AddSortOrder {
        sort_order: SortOrder,
    },
    #[serde(rename_all = "kebab-case")]
    SetDefaultSortOrder {
        sort_order_id: i32,
    },
    AddSnapshot {
        snapshot: Snapshot,
    },
    #[serde(rename_all = "kebab-case")]
    SetSnapshotRef {
        ref_name: String,
        r#type: ReferenceType,
        snapshot_id: i64,
        max_ref_age_ms: Option<i64>,
        max_snapshot_age_ms: Option<i64>,
        min_snapshots_to_keep: Option<i32>,
    },
    #[serde(rename_all = "kebab-case")]
    RemoveSnapshots {
        snapshot_ids: Vec<i64>,
    },
    #[serde(rename_all = "kebab-case")]
    RemoveSnapshotRef {
        ref_name: String,
    },
    SetLocation {
        location: String,
    },
    SetProperties {
        updates: BTreeMap<String, String>,
    },
    RemoveProperties {
        removals: Vec<String>,
    },
    SetStatistics {
        statistics: StatisticsFile,
    },
    #[serde(rename_all = "kebab-case")]
    RemoveStatistics {
        snapshot_id: i64,
    },
    #[serde(rename_all = "kebab-case")]
    SetPartitionStatistics {
        partition_statistics: PartitionStatisticsFile,
    },
    #[serde(rename_all = "kebab-case")]
    RemovePartitionStatistics {
        snapshot_id: i64,
    },
    #[serde(rename_all = "kebab-case")]
    RemovePartitionSpecs {
        spec_ids: Vec<i32>,
    },
    #[serde(rename_all = "kebab-case")]
    RemoveSchemas {
        schema_ids: Vec<i32>,
    },
    #[serde(rename_all = "kebab-case")]
    AddEncryptionKey {
        encryption_key: EncryptedKey,
    },
    #[serde(rename_all = "kebab-case")]
    RemoveEncryptionKey {
        key_id: String,
    },
}
