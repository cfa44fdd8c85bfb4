//! Credentials for a table's files.

use super::access::access;
use super::error::{Error, IcebergErrorResponse};
use super::extract::{InWarehouse, Query, TablePath};
use crate::app::App;
use crate::auth::Caller;
use crate::commit::{self, StorageCredential};
use axum::Json;
use axum::extract::State;
use axum::http::header;
use axum::response::IntoResponse;
use serde::Serialize;
use utoipa::ToSchema;

/// Credentials by storage prefix.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) struct LoadCredentialsResponse {
    /// Empty where the warehouse vends none: clients use their own.
    storage_credentials: Vec<StorageCredential>,
}

/// Credentials for a table's files, with half of their life before them at least.
#[utoipa::path(
    get, path = "/iceberg/v1/{prefix}/namespaces/{namespace}/tables/{table}/credentials",
    operation_id = "loadCredentials", tag = "catalog",
    params(
        ("prefix" = String, Path), ("namespace" = String, Path), ("table" = String, Path),
        ("planId" = Option<String>, Query), ("referenced-by" = Option<String>, Query)
    ),
    responses(
        (status = 200, body = LoadCredentialsResponse),
        (status = 400, description = "the table's place is not its own", body = IcebergErrorResponse),
        (status = 404, body = IcebergErrorResponse),
        (status = 503, description = "who gives them is not reachable", body = IcebergErrorResponse)
    )
)]
pub(super) async fn load_credentials(
    State(app): State<App>,
    InWarehouse(warehouse): InWarehouse,
    TablePath(ident): TablePath,
    query: Query,
    caller: Caller,
) -> Result<impl IntoResponse, Error> {
    query.check_referenced_by()?;
    let storage_credentials =
        commit::credentials(&app, &warehouse, &ident, access(&caller, &warehouse, &ident)).await?;
    Ok(([(header::CACHE_CONTROL, "no-store")], Json(LoadCredentialsResponse { storage_credentials })))
}
