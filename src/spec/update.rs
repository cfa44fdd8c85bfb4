//! What a commit may change in a table (spec.md 2.3): the updates as requests spell them.
//!
//! [`apply()`] makes new metadata of a base and a list of updates. Each folder-mate holds the rules of one part.

use serde_json::value::RawValue;

use super::encryption::EncryptedKey;
use super::error::{Error, Result};
use super::json::{Object, shown};
use super::partition::UnboundPartitionSpec;
use super::refs::SnapshotRef;
use super::schema::Schema;
use super::snapshot::Snapshot;
use super::sort::SortOrder;
use super::statistics::{PartitionStatisticsFile, StatisticsFile};

mod apply;
mod encryption;
mod finish;
mod format_version;
mod identity;
mod partition;
mod properties;
mod refs;
mod resend;
mod schema;
mod snapshot;
mod sort;
mod statistics;
#[cfg(test)]
mod tests;

pub use apply::{AddedSnapshot, Applied, Base, apply};

/// One update of a table. Ids of -1 mean the object that was added last in the same request.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the fields are the members of the same names in the specification")]
pub enum TableUpdate {
    /// `assign-uuid`
    AssignUuid { uuid: String },
    /// `upgrade-format-version`
    UpgradeFormatVersion { format_version: i32 },
    /// `add-schema`
    AddSchema { schema: Schema },
    /// `set-current-schema`
    SetCurrentSchema { schema_id: i32 },
    /// `add-spec`
    AddSpec { spec: UnboundPartitionSpec },
    /// `set-default-spec`
    SetDefaultSpec { spec_id: i32 },
    /// `add-sort-order`
    AddSortOrder { sort_order: SortOrder },
    /// `set-default-sort-order`
    SetDefaultSortOrder { sort_order_id: i32 },
    /// `add-snapshot`
    AddSnapshot { snapshot: Snapshot },
    /// `set-snapshot-ref`
    SetSnapshotRef { ref_name: String, reference: SnapshotRef },
    /// `remove-snapshots`
    RemoveSnapshots { snapshot_ids: Vec<i64> },
    /// `remove-snapshot-ref`
    RemoveSnapshotRef { ref_name: String },
    /// `set-location`
    SetLocation { location: String },
    /// `set-properties`
    SetProperties { updates: Vec<(String, String)> },
    /// `remove-properties`
    RemoveProperties { removals: Vec<String> },
    /// `set-statistics`
    SetStatistics { statistics: StatisticsFile },
    /// `remove-statistics`
    RemoveStatistics { snapshot_id: i64 },
    /// `set-partition-statistics`
    SetPartitionStatistics { partition_statistics: PartitionStatisticsFile },
    /// `remove-partition-statistics`
    RemovePartitionStatistics { snapshot_id: i64 },
    /// `remove-partition-specs`
    RemovePartitionSpecs { spec_ids: Vec<i32> },
    /// `remove-schemas`
    RemoveSchemas { schema_ids: Vec<i32> },
    /// `add-encryption-key`
    AddEncryptionKey { encryption_key: EncryptedKey },
    /// `remove-encryption-key`
    RemoveEncryptionKey { key_id: String },
}

impl TableUpdate {
    /// Reads one element of `updates`; the action in any letter case. Members that are not known are ignored.
    ///
    /// # Errors
    /// [`Error::Invalid`] that names the unknown action, or the member which is missing or wrong.
    pub fn parse(raw: &RawValue) -> Result<Self> {
        if !raw.get().starts_with('{') {
            let found = shown(raw);
            return Err(Error::invalid(format!("Cannot parse metadata update from non-object value: {found}")));
        }
        let mut object = Object::parse_raw(raw)?;
        let action = object.optional_str("action")?;
        let action = action.ok_or_else(|| Error::invalid("Cannot parse metadata update. Missing field: action"))?;
        Self::read(&action, &mut object)
    }

    fn read(action: &str, object: &mut Object) -> Result<Self> {
        Ok(match action.to_lowercase().as_str() {
            "assign-uuid" => Self::AssignUuid { uuid: object.required_str("uuid")? },
            "upgrade-format-version" => {
                Self::UpgradeFormatVersion { format_version: object.required_i32("format-version")? }
            }
            "add-schema" => Self::AddSchema { schema: Schema::parse(&object.required_raw("schema")?)? },
            "set-current-schema" => Self::SetCurrentSchema { schema_id: object.required_i32("schema-id")? },
            "add-spec" => Self::AddSpec { spec: UnboundPartitionSpec::parse(&object.required_raw("spec")?)? },
            "set-default-spec" => Self::SetDefaultSpec { spec_id: object.required_i32("spec-id")? },
            "add-sort-order" => {
                Self::AddSortOrder { sort_order: SortOrder::parse(&object.required_raw("sort-order")?)? }
            }
            "set-default-sort-order" => {
                Self::SetDefaultSortOrder { sort_order_id: object.required_i32("sort-order-id")? }
            }
            "add-snapshot" => {
                // Read as an object and written again, so that no two readers of the table take different ones of two
                // members with one name.
                let snapshot = object.required_object("snapshot")?;
                Self::AddSnapshot { snapshot: Snapshot::parse(snapshot.to_raw())? }
            }
            "set-snapshot-ref" => Self::SetSnapshotRef {
                ref_name: object.required_str("ref-name")?,
                reference: SnapshotRef::take(object)?,
            },
            "remove-snapshots" => Self::RemoveSnapshots { snapshot_ids: object.required_i64s("snapshot-ids")? },
            "remove-snapshot-ref" => Self::RemoveSnapshotRef { ref_name: object.required_str("ref-name")? },
            action => return Self::read_others(action, object),
        })
    }

    fn read_others(action: &str, object: &mut Object) -> Result<Self> {
        Ok(match action {
            "set-location" => Self::SetLocation { location: object.required_str("location")? },
            "set-properties" => {
                Self::SetProperties { updates: object.required_string_map(either(object, "updates", "updated"))? }
            }
            "remove-properties" => {
                Self::RemoveProperties { removals: object.required_strings(either(object, "removals", "removed"))? }
            }
            "set-statistics" => {
                Self::SetStatistics { statistics: StatisticsFile::parse(object.required_raw("statistics")?)? }
            }
            "remove-statistics" => Self::RemoveStatistics { snapshot_id: object.required_i64("snapshot-id")? },
            "set-partition-statistics" => {
                let statistics = object.required_raw("partition-statistics")?;
                Self::SetPartitionStatistics { partition_statistics: PartitionStatisticsFile::parse(statistics)? }
            }
            "remove-partition-statistics" => {
                Self::RemovePartitionStatistics { snapshot_id: object.required_i64("snapshot-id")? }
            }
            "remove-partition-specs" => Self::RemovePartitionSpecs { spec_ids: object.required_i32s("spec-ids")? },
            "remove-schemas" => Self::RemoveSchemas { schema_ids: object.required_i32s("schema-ids")? },
            "add-encryption-key" => {
                let key = object.required_raw("encryption-key")?;
                Self::AddEncryptionKey { encryption_key: EncryptedKey::parse(key)? }
            }
            "remove-encryption-key" => Self::RemoveEncryptionKey { key_id: object.required_str("key-id")? },
            "add-view-version" | "set-current-view-version" => {
                return Err(Error::invalid(format!("Cannot apply update {action} to a table")));
            }
            _ => return Err(Error::invalid(format!("Unknown metadata update action: {action}"))),
        })
    }
}

/// The member's name of today, unless the object has only the name of old.
fn either(object: &Object, today: &'static str, old: &'static str) -> &'static str {
    if object.has(old) && !object.has(today) { old } else { today }
}
