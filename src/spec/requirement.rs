//! What a commit may demand of the table it changes (spec.md 2.2). A demand that does not hold is a conflict.

use serde_json::value::RawValue;

use super::error::{Error, Result};
use super::json::{Object, shown};
use super::table::TableMetadata;

/// One requirement of a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TableRequirement {
    /// `assert-create`: there is no such table.
    NotExists,
    /// `assert-table-uuid`: the table is this one.
    TableUuid {
        /// The uuid, in any letter case.
        uuid: String,
    },
    /// `assert-view-uuid`: for views; it never holds for a table.
    ViewUuid {
        /// The uuid.
        uuid: String,
    },
    /// `assert-ref-snapshot-id`: the branch or tag points to this snapshot.
    RefSnapshotId {
        /// Name of the branch or tag.
        name: String,
        /// The snapshot; `None` demands that there is no such branch or tag.
        snapshot_id: Option<i64>,
    },
    /// `assert-last-assigned-field-id`.
    LastAssignedFieldId(i32),
    /// `assert-current-schema-id`.
    CurrentSchemaId(i32),
    /// `assert-last-assigned-partition-id`.
    LastAssignedPartitionId(i32),
    /// `assert-default-spec-id`.
    DefaultSpecId(i32),
    /// `assert-default-sort-order-id`.
    DefaultSortOrderId(i32),
}

impl TableRequirement {
    /// Reads one element of `requirements`; the type in any letter case.
    ///
    /// # Errors
    /// [`Error::Invalid`] that names the unknown type, or the member which is missing or wrong.
    pub fn parse(raw: &RawValue) -> Result<Self> {
        if !raw.get().starts_with('{') {
            let found = shown(raw);
            return Err(Error::invalid(format!("Cannot parse update requirement from non-object value: {found}")));
        }
        let mut object = Object::parse_raw(raw)?;
        let kind = object.optional_str("type")?;
        let kind = kind.ok_or_else(|| Error::invalid("Cannot parse update requirement. Missing field: type"))?;
        Ok(match kind.to_lowercase().as_str() {
            "assert-create" => Self::NotExists,
            "assert-table-uuid" => Self::TableUuid { uuid: object.required_str("uuid")? },
            "assert-view-uuid" => Self::ViewUuid { uuid: object.required_str("uuid")? },
            "assert-ref-snapshot-id" => Self::RefSnapshotId {
                name: object.required_str("ref")?,
                snapshot_id: object.optional_i64("snapshot-id")?,
            },
            "assert-last-assigned-field-id" => {
                Self::LastAssignedFieldId(object.required_i32("last-assigned-field-id")?)
            }
            "assert-current-schema-id" => Self::CurrentSchemaId(object.required_i32("current-schema-id")?),
            "assert-last-assigned-partition-id" => {
                Self::LastAssignedPartitionId(object.required_i32("last-assigned-partition-id")?)
            }
            "assert-default-spec-id" => Self::DefaultSpecId(object.required_i32("default-spec-id")?),
            "assert-default-sort-order-id" => Self::DefaultSortOrderId(object.required_i32("default-sort-order-id")?),
            _ => return Err(Error::invalid(format!("Unknown update requirement type: {kind}"))),
        })
    }

    /// The type as requests spell it.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::NotExists => "assert-create",
            Self::TableUuid { .. } => "assert-table-uuid",
            Self::ViewUuid { .. } => "assert-view-uuid",
            Self::RefSnapshotId { .. } => "assert-ref-snapshot-id",
            Self::LastAssignedFieldId(_) => "assert-last-assigned-field-id",
            Self::CurrentSchemaId(_) => "assert-current-schema-id",
            Self::LastAssignedPartitionId(_) => "assert-last-assigned-partition-id",
            Self::DefaultSpecId(_) => "assert-default-spec-id",
            Self::DefaultSortOrderId(_) => "assert-default-sort-order-id",
        }
    }

    /// Whether the table is as demanded.
    ///
    /// # Errors
    /// [`Error::Conflict`] `Requirement failed: ..` if it is not; [`Error::Invalid`] for a demand on a view.
    pub fn check(&self, base: &TableMetadata) -> Result<()> {
        match self {
            Self::NotExists => Err(failed("table already exists")),
            Self::TableUuid { uuid } if uuid.eq_ignore_ascii_case(&base.table_uuid) => Ok(()),
            Self::TableUuid { uuid } => {
                Err(failed(&format!("UUID does not match: expected {} != {uuid}", base.table_uuid)))
            }
            Self::ViewUuid { .. } => Err(Error::invalid("Cannot validate assert-view-uuid against a table")),
            Self::RefSnapshotId { name, snapshot_id } => check_ref(base, name, *snapshot_id),
            Self::LastAssignedFieldId(id) => equal("last assigned field id", *id, base.last_column_id),
            Self::CurrentSchemaId(id) => equal("current schema", *id, base.current_schema_id),
            Self::LastAssignedPartitionId(id) => equal("last assigned partition id", *id, base.last_partition_id),
            Self::DefaultSpecId(id) => equal("default partition spec", *id, base.default_spec_id),
            Self::DefaultSortOrderId(id) => equal("default sort order", *id, base.default_sort_order_id),
        }
    }
}

fn check_ref(base: &TableMetadata, name: &str, expected: Option<i64>) -> Result<()> {
    match (base.refs.get(name), expected) {
        (None, None) => Ok(()),
        (None, Some(expected)) => Err(failed(&format!("branch or tag {name} is missing, expected {expected}"))),
        (Some(found), None) => Err(failed(&format!("{} {name} was created concurrently", found.kind.as_str()))),
        (Some(found), Some(expected)) if found.snapshot_id == expected => Ok(()),
        (Some(found), Some(expected)) => {
            let (kind, actual) = (found.kind.as_str(), found.snapshot_id);
            Err(failed(&format!("{kind} {name} has changed: expected id {expected} != {actual}")))
        }
    }
}

fn equal(what: &str, expected: i32, actual: i32) -> Result<()> {
    if expected == actual {
        return Ok(());
    }
    Err(failed(&format!("{what} changed: expected id {expected} != {actual}")))
}

fn failed(what: &str) -> Error {
    Error::conflict(format!("Requirement failed: {what}"))
}

#[cfg(test)]
mod tests;
