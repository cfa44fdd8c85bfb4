//! The JSON of requests and replies, named as in the specification.

use super::shapes::commit::{TableRequirement, TableUpdate};
use super::shapes::schema::{PartitionSpec, Schema, SortOrder};
use super::shapes::table::TableMetadata;
use super::shapes::view::{ViewMetadata, ViewRequirement, ViewUpdate, ViewVersion};
use crate::app::Names;
use crate::commit::StorageCredential;
use crate::spec::{Namespace, TableIdent};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use utoipa::ToSchema;

/// `GET /v1/config`
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct CatalogConfig {
    /// Used where the client has no setting of its own.
    pub defaults: BTreeMap<String, String>,
    /// Beat the client's settings.
    pub overrides: BTreeMap<String, String>,
    /// What is served, as `VERB /v1/{prefix}/…`.
    pub endpoints: Vec<&'static str>,
    /// How long an `Idempotency-Key` is honoured, as an ISO-8601 duration.
    #[serde(rename = "idempotency-key-lifetime")]
    pub idempotency_key_lifetime: String,
}

/// A list of namespaces.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) struct ListNamespacesResponse {
    #[schema(value_type = Vec<Vec<String>>)]
    pub namespaces: Vec<Namespace>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_page_token: Option<String>,
}

/// A namespace to create.
#[derive(Debug, Deserialize, ToSchema)]
pub(super) struct CreateNamespaceRequest {
    #[schema(value_type = Vec<String>)]
    pub namespace: Namespace,
    pub properties: Option<BTreeMap<String, String>>,
}

impl Names for CreateNamespaceRequest {
    fn lower(&mut self) {
        self.namespace.lower();
    }
}

/// A namespace with its properties.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct GetNamespaceResponse {
    #[schema(value_type = Vec<String>)]
    pub namespace: Namespace,
    pub properties: BTreeMap<String, String>,
}

/// Properties to remove and to set.
#[derive(Debug, Deserialize, ToSchema)]
pub(super) struct UpdateNamespacePropertiesRequest {
    pub removals: Option<Vec<String>>,
    pub updates: Option<BTreeMap<String, String>>,
}

/// What became of each property.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct UpdateNamespacePropertiesResponse {
    pub updated: Vec<String>,
    pub removed: Vec<String>,
    pub missing: Vec<String>,
}

/// A list of tables or views.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) struct ListTablesResponse {
    pub identifiers: Vec<TableIdentifier>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_page_token: Option<String>,
}

/// The name of a table or view.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(super) struct TableIdentifier {
    #[schema(value_type = Vec<String>)]
    pub namespace: Namespace,
    pub name: String,
}

impl From<TableIdent> for TableIdentifier {
    fn from(ident: TableIdent) -> Self {
        Self { namespace: ident.namespace, name: ident.name }
    }
}

/// A table or view and its new name.
#[derive(Debug, Deserialize, ToSchema)]
pub(super) struct RenameTableRequest {
    #[schema(value_type = TableIdentifier)]
    pub source: TableIdent,
    #[schema(value_type = TableIdentifier)]
    pub destination: TableIdent,
}

impl Names for RenameTableRequest {
    fn lower(&mut self) {
        self.source.lower();
        self.destination.lower();
    }
}

/// A metadata file to point a name at.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) struct RegisterTableRequest {
    pub name: String,
    pub metadata_location: String,
    pub overwrite: Option<bool>,
}

impl Names for RegisterTableRequest {
    fn lower(&mut self) {
        self.name.lower();
    }
}

/// A table with its metadata.
#[derive(ToSchema)]
#[serde(rename_all = "kebab-case")]
#[expect(dead_code, reason = "describes bytes that are put together without it")]
pub(super) struct LoadTableResult {
    metadata_location: Option<String>,
    metadata: TableMetadata,
    config: Option<BTreeMap<String, String>>,
    /// For the table's files, where the client asks for them and the warehouse vends some.
    storage_credentials: Option<Vec<StorageCredential>>,
}

/// A table's metadata after a commit.
#[derive(ToSchema)]
#[serde(rename_all = "kebab-case")]
#[expect(dead_code, reason = "describes bytes that are put together without it")]
pub(super) struct CommitTableResponse {
    metadata_location: String,
    metadata: TableMetadata,
}

/// A table to create.
#[derive(ToSchema)]
#[serde(rename_all = "kebab-case")]
#[expect(dead_code, reason = "describes what the pure core reads")]
pub(super) struct CreateTableRequest {
    name: String,
    location: Option<String>,
    schema: Schema,
    partition_spec: Option<PartitionSpec>,
    write_order: Option<SortOrder>,
    stage_create: Option<bool>,
    properties: Option<BTreeMap<String, String>>,
}

/// A commit to one table.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes what the pure core reads")]
pub(super) struct CommitTableRequest {
    identifier: Option<TableIdentifier>,
    requirements: Vec<TableRequirement>,
    updates: Vec<TableUpdate>,
}

/// A commit to several tables.
#[derive(ToSchema)]
#[serde(rename_all = "kebab-case")]
#[expect(dead_code, reason = "describes what the pure core reads")]
pub(super) struct CommitTransactionRequest {
    table_changes: Vec<CommitTableRequest>,
}

/// A view's metadata file to point a name at.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) struct RegisterViewRequest {
    pub name: String,
    pub metadata_location: String,
}

impl Names for RegisterViewRequest {
    fn lower(&mut self) {
        self.name.lower();
    }
}

/// A view with its metadata.
#[derive(ToSchema)]
#[serde(rename_all = "kebab-case")]
#[expect(dead_code, reason = "describes bytes that are put together without it")]
pub(super) struct LoadViewResult {
    metadata_location: String,
    metadata: ViewMetadata,
    config: Option<BTreeMap<String, String>>,
}

/// A view to create.
#[derive(ToSchema)]
#[serde(rename_all = "kebab-case")]
#[expect(dead_code, reason = "describes what the pure core reads")]
pub(super) struct CreateViewRequest {
    name: String,
    location: Option<String>,
    schema: Schema,
    view_version: ViewVersion,
    properties: Option<BTreeMap<String, String>>,
}

/// A commit to a view.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes what the pure core reads")]
pub(super) struct CommitViewRequest {
    identifier: Option<TableIdentifier>,
    requirements: Option<Vec<ViewRequirement>>,
    updates: Vec<ViewUpdate>,
}

/// An engine's report on a scan or a commit.
#[derive(ToSchema)]
#[serde(rename_all = "kebab-case")]
#[expect(dead_code, reason = "describes what the pure core reads")]
pub(super) struct ReportMetricsRequest {
    /// Other members are kept as they are.
    report_type: ReportType,
}

#[derive(ToSchema)]
#[schema(rename_all = "kebab-case")]
#[expect(dead_code, reason = "describes what the pure core reads")]
pub(super) enum ReportType {
    ScanReport,
    CommitReport,
}
