//! Scan planning.
//!
//! Every plan is answered at once. Nothing is kept of it: its id and its tasks carry what they stand for.

use super::access::Asks;
use super::error::{Error, IcebergErrorResponse};
use super::extract::{Body, InWarehouse, PlanPath, TablePath};
use super::limits::heavy_turn;
use super::load_result::{json, secret_json};
use super::shapes::expression::Expression;
use super::shapes::scan::{ContentFile, FileScanTask};
use crate::app::App;
use crate::auth::Caller;
use crate::commit::{self, PlanOf, StorageCredential};
use crate::plan::PlanRequest;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use serde::Deserialize;
use utoipa::ToSchema;

/// What to scan: one snapshot, or what was added between two; without either, the current snapshot.
#[derive(ToSchema)]
#[serde(rename_all = "kebab-case")]
#[expect(dead_code, reason = "describes what the planner reads")]
pub(super) struct PlanTableScanRequest {
    snapshot_id: Option<i64>,
    /// Exclusive.
    start_snapshot_id: Option<i64>,
    /// Inclusive.
    end_snapshot_id: Option<i64>,
    select: Option<Vec<String>>,
    /// An expression, in either grammar of the specification.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    filter: Option<Expression>,
    case_sensitive: Option<bool>,
    use_snapshot_schema: Option<bool>,
    /// Columns whose statistics are sent.
    stats_fields: Option<Vec<String>>,
    #[schema(minimum = 0)]
    min_rows_requested: Option<i64>,
}

/// A plan.
#[derive(ToSchema)]
#[serde(rename_all = "kebab-case")]
#[expect(dead_code, reason = "describes bytes that are put together without it")]
pub(super) struct CompletedPlanningResult {
    status: CompletedTag,
    plan_id: String,
    /// For the table's files, where the client asks for them.
    storage_credentials: Option<Vec<StorageCredential>>,
    plan_tasks: Option<Vec<String>>,
    delete_files: Option<Vec<ContentFile>>,
    file_scan_tasks: Vec<FileScanTask>,
}

#[derive(ToSchema)]
#[schema(rename_all = "kebab-case")]
#[expect(dead_code, reason = "describes bytes that are put together without it")]
pub(super) enum CompletedTag {
    Completed,
}

/// A part of a plan.
#[derive(ToSchema)]
#[serde(rename_all = "kebab-case")]
#[expect(dead_code, reason = "describes bytes that are put together without it")]
pub(super) struct FetchScanTasksResult {
    plan_tasks: Option<Vec<String>>,
    delete_files: Option<Vec<ContentFile>>,
    file_scan_tasks: Vec<FileScanTask>,
}

/// The part of a plan to fetch.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) struct FetchScanTasksRequest {
    plan_task: String,
}

/// Plans a scan: which files to read, and which deletes apply to each.
#[utoipa::path(
    post, path = "/iceberg/v1/{prefix}/namespaces/{namespace}/tables/{table}/plan", operation_id = "planTableScan",
    tag = "catalog",
    params(
        ("prefix" = String, Path), ("namespace" = String, Path), ("table" = String, Path),
        ("X-Iceberg-Access-Delegation" = Option<String>, Header, description = "what the client can do: `vended-credentials`, `remote-signing`")
    ),
    request_body = PlanTableScanRequest,
    responses(
        (status = 200, body = CompletedPlanningResult),
        (status = 400, description = "wrong request, or broken table", body = IcebergErrorResponse),
        (status = 404, description = "no such table, or a file of it is gone", body = IcebergErrorResponse),
        (status = 406, description = "the table is encrypted, or lists its manifests in its metadata", body = IcebergErrorResponse),
        (status = 413, body = IcebergErrorResponse),
        (status = 503, body = IcebergErrorResponse)
    )
)]
pub(super) async fn plan_table_scan(
    State(app): State<App>,
    InWarehouse(warehouse): InWarehouse,
    TablePath(ident): TablePath,
    caller: Caller,
    asks: Asks,
    body: Body,
) -> Result<Response, Error> {
    let _turn = heavy_turn(&app).await?;
    let request = PlanRequest::parse(&body.0).map_err(commit::Error::from)?;
    let plan = commit::plan_scan(&app, &warehouse, &caller, &ident, PlanOf::Request(request)).await?;
    let Some(asker) = asks.of(&caller, &warehouse, &ident) else { return Ok(json(plan.into())) };
    Ok(match commit::with_credentials(&app, &warehouse, &ident, asker, &plan).await? {
        Some(plan) => secret_json(plan.into()),
        None => json(plan.into()),
    })
}

/// The plan that an id stands for.
#[utoipa::path(
    get, path = "/iceberg/v1/{prefix}/namespaces/{namespace}/tables/{table}/plan/{plan-id}",
    operation_id = "fetchPlanningResult", tag = "catalog",
    params(
        ("prefix" = String, Path), ("namespace" = String, Path), ("table" = String, Path), ("plan-id" = String, Path)
    ),
    responses(
        (status = 200, body = CompletedPlanningResult),
        (status = 400, body = IcebergErrorResponse),
        (status = 404, description = "no such plan, or no such table", body = IcebergErrorResponse),
        (status = 406, body = IcebergErrorResponse),
        (status = 503, body = IcebergErrorResponse)
    )
)]
pub(super) async fn fetch_planning_result(
    State(app): State<App>,
    InWarehouse(warehouse): InWarehouse,
    PlanPath(ident, id): PlanPath,
    caller: Caller,
) -> Result<Response, Error> {
    let _turn = heavy_turn(&app).await?;
    Ok(json(commit::plan_scan(&app, &warehouse, &caller, &ident, PlanOf::Id(&id)).await?.into()))
}

/// Ends a plan. Nothing is kept of one, so this frees nothing.
#[utoipa::path(
    delete, path = "/iceberg/v1/{prefix}/namespaces/{namespace}/tables/{table}/plan/{plan-id}",
    operation_id = "cancelPlanning", tag = "catalog",
    params(
        ("prefix" = String, Path), ("namespace" = String, Path), ("table" = String, Path), ("plan-id" = String, Path)
    ),
    responses(
        (status = 204),
        (status = 400, body = IcebergErrorResponse),
        (status = 404, description = "no such plan, or no such table", body = IcebergErrorResponse),
        (status = 503, body = IcebergErrorResponse)
    )
)]
pub(super) async fn cancel_planning(
    State(app): State<App>,
    InWarehouse(warehouse): InWarehouse,
    PlanPath(ident, id): PlanPath,
) -> Result<StatusCode, Error> {
    commit::cancel_plan(&app, &warehouse, &ident, &id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// The part of a plan that a plan task stands for.
#[utoipa::path(
    post, path = "/iceberg/v1/{prefix}/namespaces/{namespace}/tables/{table}/tasks", operation_id = "fetchScanTasks",
    tag = "catalog",
    params(("prefix" = String, Path), ("namespace" = String, Path), ("table" = String, Path)),
    request_body = FetchScanTasksRequest,
    responses(
        (status = 200, body = FetchScanTasksResult),
        (status = 400, body = IcebergErrorResponse),
        (status = 404, description = "no such plan task, or no such table", body = IcebergErrorResponse),
        (status = 406, body = IcebergErrorResponse),
        (status = 413, body = IcebergErrorResponse),
        (status = 503, body = IcebergErrorResponse)
    )
)]
pub(super) async fn fetch_scan_tasks(
    State(app): State<App>,
    InWarehouse(warehouse): InWarehouse,
    TablePath(ident): TablePath,
    caller: Caller,
    body: Body,
) -> Result<Response, Error> {
    let _turn = heavy_turn(&app).await?;
    let request: FetchScanTasksRequest = body.json()?;
    Ok(json(commit::plan_scan(&app, &warehouse, &caller, &ident, PlanOf::Task(&request.plan_task)).await?.into()))
}
