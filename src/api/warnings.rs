//! What validation warned of, shown to those who manage the warehouse.

use super::authorise::reads;
use super::error::{Error, IcebergErrorResponse};
use super::extract::{ManagedWarehouse, Query};
use super::model::TableIdentifier;
use super::visible::filled;
use crate::app::App;
use crate::auth::Caller;
use crate::store::warnings::{self, Warning};
use axum::Json;
use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;

/// A rule that a change broke, and that did not refuse it.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) struct WarningModel {
    /// When it was found, epoch milliseconds.
    time_ms: i64,
    /// The table's name then.
    table: TableIdentifier,
    /// What was done: `commit` or `register`.
    action: String,
    /// The rule's id.
    rule: String,
    /// Whether the rule refuses where rules are not only logged.
    would_refuse: bool,
    /// The file that breaks it.
    object: String,
    /// All of it in sentences.
    message: String,
}

impl From<Warning> for WarningModel {
    fn from(warning: Warning) -> Self {
        Self {
            time_ms: warning.created_ms,
            table: warning.table.into(),
            action: warning.action,
            rule: warning.rule,
            would_refuse: warning.would_refuse,
            object: warning.object,
            message: warning.message,
        }
    }
}

/// The latest warnings, newest first.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) struct ListWarningsResponse {
    warnings: Vec<WarningModel>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_page_token: Option<String>,
}

/// What commits and registrations broke without being refused. The latest 1000 of each warehouse are kept.
#[utoipa::path(
    get, path = "/management/v1/warehouses/{warehouse}/warnings", operation_id = "listWarnings", tag = "management",
    params(
        ("warehouse" = String, Path), ("pageToken" = Option<String>, Query), ("pageSize" = Option<u32>, Query)
    ),
    responses(
        (status = 200, body = ListWarningsResponse),
        (status = 400, body = IcebergErrorResponse),
        (status = 404, body = IcebergErrorResponse)
    )
)]
pub(super) async fn list_warnings(
    State(app): State<App>,
    ManagedWarehouse(warehouse): ManagedWarehouse,
    access: Caller,
    query: Query,
) -> Result<Json<ListWarningsResponse>, Error> {
    app.write_journal().await;
    let id = &warehouse.row.id;
    let read = |db, page| async move { warnings::list(&db, id, &page).await };
    let shown = |warning: &Warning| reads(&access, id, &warning.table);
    let listing = filled(&app.db, &query.page()?, read, |warning| warning.id.clone(), shown).await?;
    Ok(Json(ListWarningsResponse {
        next_page_token: query.next_page_token(&listing),
        warnings: listing.items.into_iter().map(WarningModel::from).collect(),
    }))
}
