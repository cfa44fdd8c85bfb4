//! Views: their metadata, and what changes them.

use super::schema::Schema;
use serde::Serialize;
use std::collections::BTreeMap;
use utoipa::ToSchema;

/// A view's metadata. Members that only newer writers know are kept and sent as well.
#[derive(ToSchema, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(in crate::api) struct ViewMetadata {
    view_uuid: String,
    #[schema(minimum = 1, maximum = 1)]
    format_version: i32,
    location: String,
    current_version_id: i32,
    versions: Vec<ViewVersion>,
    version_log: Vec<ViewHistoryEntry>,
    schemas: Vec<Schema>,
    properties: Option<BTreeMap<String, String>>,
}

/// A version of a view.
#[derive(ToSchema, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(in crate::api) struct ViewVersion {
    version_id: i32,
    timestamp_ms: i64,
    schema_id: i32,
    summary: BTreeMap<String, String>,
    representations: Vec<ViewRepresentation>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    default_catalog: Option<String>,
    default_namespace: Vec<String>,
}

/// The query of a view in one dialect.
#[derive(ToSchema, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(in crate::api) struct ViewRepresentation {
    r#type: RepresentationTag,
    sql: String,
    dialect: String,
}

#[derive(ToSchema, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(in crate::api) enum RepresentationTag {
    Sql,
}

#[derive(ToSchema, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(in crate::api) struct ViewHistoryEntry {
    version_id: i32,
    timestamp_ms: i64,
}

/// What must hold of a view, or else nothing is changed.
#[derive(ToSchema, Serialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub(in crate::api) enum ViewRequirement {
    AssertViewUuid { uuid: String },
}

/// A change of a view. The number -1 means the schema or version that this request added last.
#[derive(ToSchema, Serialize)]
#[serde(tag = "action", rename_all = "kebab-case")]
pub(in crate::api) enum ViewUpdate {
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
    SetLocation {
        location: String,
    },
    SetProperties {
        updates: BTreeMap<String, String>,
    },
    RemoveProperties {
        removals: Vec<String>,
    },
    #[serde(rename_all = "kebab-case")]
    AddViewVersion {
        view_version: ViewVersion,
    },
    #[serde(rename_all = "kebab-case")]
    SetCurrentViewVersion {
        view_version_id: i32,
    },
}
