//! Credentials for a table's files.

use super::error::{Error, IcebergErrorResponse};
use super::extract::{InWarehouse, Query, TablePath};
use crate::app::App;
use crate::commit;
use crate::store::tables::Kind;
use axum::Json;
use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;

/// Credentials by storage prefix.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) struct LoadCredentialsResponse {
    /// Empty: clients use their own, and what an emulator needs is in the table's `config`.
    #[schema(value_type = Vec<Object>)]
    storage_credentials: [(); 0],
}

/// Credentials for a table's files: none are vended.
#[utoipa::path(
    get, path = "/iceberg/v1/{prefix}/namespaces/{namespace}/tables/{table}/credentials",
    operation_id = "loadCredentials", tag = "catalog",
    params(
        ("prefix" = String, Path), ("namespace" = String, Path), ("table" = String, Path),
        ("planId" = Option<String>, Query), ("referenced-by" = Option<String>, Query)
    ),
    responses(
        (status = 200, body = LoadCredentialsResponse),
        (status = 400, body = IcebergErrorResponse),
        (status = 404, body = IcebergErrorResponse)
    )
)]
pub(super) async fn load_credentials(
    State(app): State<App>,
    InWarehouse(warehouse): InWarehouse,
    TablePath(ident): TablePath,
    query: Query,
) -> Result<Json<LoadCredentialsResponse>, Error> {
    query.check_referenced_by()?;
    commit::load_pointer(&app, &warehouse, Kind::Table, &ident).await?;
    Ok(Json(LoadCredentialsResponse { storage_credentials: [] }))
}
