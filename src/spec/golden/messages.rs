//! Updates and requirements as Java writes them, from what we read of them.

use serde_json::{Value, json};

use crate::spec::error::Result;
use crate::spec::json::Raw;
use crate::spec::partition::UNPARTITIONED_LAST_ID;
use crate::spec::requirement::TableRequirement;
use crate::spec::update::TableUpdate;

/// What we read of a message, written again; `None` for kinds of messages that are not about tables.
pub(super) fn round_trip(kind: &str, input: &str) -> Option<Result<Value>> {
    let raw: Raw = serde_json::from_str(input).unwrap();
    match kind {
        "updates" => Some(TableUpdate::parse(&raw).map(|update| update_json(&update))),
        "reqs" => Some(TableRequirement::parse(&raw).map(|requirement| requirement_json(&requirement))),
        "views" | "vupdates" => None,
        _ => panic!("unknown kind of message: {kind}"),
    }
}

fn value(json: &str) -> Value {
    serde_json::from_str(json).unwrap()
}

fn update_json(update: &TableUpdate) -> Value {
    use TableUpdate as U;
    match update {
        U::AssignUuid { uuid } => json!({"action": "assign-uuid", "uuid": uuid}),
        U::UpgradeFormatVersion { format_version } => {
            json!({"action": "upgrade-format-version", "format-version": format_version})
        }
        U::AddSchema { schema } => {
            let last = schema.highest_field_id();
            json!({"action": "add-schema", "schema": value(schema.to_json().get()), "last-column-id": last})
        }
        U::SetCurrentSchema { schema_id } => json!({"action": "set-current-schema", "schema-id": schema_id}),
        U::AddSpec { spec } => {
            let spec = spec.clone().with_ids(UNPARTITIONED_LAST_ID, &[]);
            json!({"action": "add-spec", "spec": value(spec.to_json().get())})
        }
        U::SetDefaultSpec { spec_id } => json!({"action": "set-default-spec", "spec-id": spec_id}),
        U::AddSortOrder { sort_order } => {
            json!({"action": "add-sort-order", "sort-order": value(sort_order.to_json().get())})
        }
        U::SetDefaultSortOrder { sort_order_id } => {
            json!({"action": "set-default-sort-order", "sort-order-id": sort_order_id})
        }
        U::AddSnapshot { snapshot } => json!({"action": "add-snapshot", "snapshot": value(snapshot.to_json().get())}),
        U::SetSnapshotRef { ref_name, reference } => {
            let mut json = value(reference.to_json().get());
            json["action"] = "set-snapshot-ref".into();
            json["ref-name"] = ref_name.as_str().into();
            json
        }
        U::RemoveSnapshots { snapshot_ids } => json!({"action": "remove-snapshots", "snapshot-ids": snapshot_ids}),
        U::RemoveSnapshotRef { ref_name } => json!({"action": "remove-snapshot-ref", "ref-name": ref_name}),
        other => other_update_json(other),
    }
}

fn other_update_json(update: &TableUpdate) -> Value {
    use TableUpdate as U;
    match update {
        U::SetLocation { location } => json!({"action": "set-location", "location": location}),
        U::SetProperties { updates } => {
            let updates: serde_json::Map<_, _> =
                updates.iter().map(|(key, value)| (key.clone(), value.as_str().into())).collect();
            json!({"action": "set-properties", "updates": updates})
        }
        U::RemoveProperties { removals } => json!({"action": "remove-properties", "removals": removals}),
        U::SetStatistics { statistics } => {
            let id = statistics.snapshot_id;
            let statistics = value(statistics.to_json().get());
            json!({"action": "set-statistics", "snapshot-id": id, "statistics": statistics})
        }
        U::RemoveStatistics { snapshot_id } => json!({"action": "remove-statistics", "snapshot-id": snapshot_id}),
        U::SetPartitionStatistics { partition_statistics } => {
            let statistics = value(partition_statistics.to_json().get());
            json!({"action": "set-partition-statistics", "partition-statistics": statistics})
        }
        U::RemovePartitionStatistics { snapshot_id } => {
            json!({"action": "remove-partition-statistics", "snapshot-id": snapshot_id})
        }
        U::RemovePartitionSpecs { spec_ids } => json!({"action": "remove-partition-specs", "spec-ids": spec_ids}),
        U::RemoveSchemas { schema_ids } => json!({"action": "remove-schemas", "schema-ids": schema_ids}),
        U::AddEncryptionKey { encryption_key } => {
            json!({"action": "add-encryption-key", "encryption-key": value(encryption_key.to_json().get())})
        }
        U::RemoveEncryptionKey { key_id } => json!({"action": "remove-encryption-key", "key-id": key_id}),
        _ => panic!("written elsewhere: {update:?}"),
    }
}

fn requirement_json(requirement: &TableRequirement) -> Value {
    use TableRequirement as R;
    let mut json = match requirement {
        R::NotExists => json!({}),
        R::TableUuid { uuid } | R::ViewUuid { uuid } => json!({"uuid": uuid}),
        R::RefSnapshotId { name, snapshot_id } => json!({"ref": name, "snapshot-id": snapshot_id}),
        R::LastAssignedFieldId(id) => json!({"last-assigned-field-id": id}),
        R::CurrentSchemaId(id) => json!({"current-schema-id": id}),
        R::LastAssignedPartitionId(id) => json!({"last-assigned-partition-id": id}),
        R::DefaultSpecId(id) => json!({"default-spec-id": id}),
        R::DefaultSortOrderId(id) => json!({"default-sort-order-id": id}),
    };
    json["type"] = requirement.kind().into();
    json
}
