//! Metrics reports of engines: taken from them, and shown to those who manage the warehouse.

use super::error::{Error, IcebergErrorResponse};
use super::extract::{Body, InWarehouse, TablePath, WarehousePath};
use super::model::ReportMetricsRequest;
use crate::app::App;
use crate::commit;
use crate::spec::{self, MetricsReport};
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::Serialize;
use utoipa::ToSchema;

/// A report that was taken.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) struct ReportModel {
    /// When it came, epoch milliseconds.
    received_ms: i64,
    /// What the engine sent.
    #[schema(value_type = Object)]
    report: spec::json::Raw,
}

/// The latest reports on a table, newest first.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct ListReportsResponse {
    reports: Vec<ReportModel>,
}

/// Takes an engine's report on a scan or a commit. The latest 100 of each table are kept.
#[utoipa::path(
    post, path = "/iceberg/v1/{prefix}/namespaces/{namespace}/tables/{table}/metrics", operation_id = "reportMetrics",
    tag = "catalog",
    params(("prefix" = String, Path), ("namespace" = String, Path), ("table" = String, Path)),
    request_body = ReportMetricsRequest,
    responses(
        (status = 204),
        (status = 400, body = IcebergErrorResponse),
        (status = 404, body = IcebergErrorResponse),
        (status = 413, description = "larger than 64 KiB", body = IcebergErrorResponse),
        (status = 503, body = IcebergErrorResponse)
    )
)]
pub(super) async fn report_metrics(
    State(app): State<App>,
    InWarehouse(warehouse): InWarehouse,
    TablePath(ident): TablePath,
    body: Body,
) -> Result<StatusCode, Error> {
    if body.0.len() > MetricsReport::MAX_BYTES {
        return Err(Error::TooLarge { limit: MetricsReport::MAX_BYTES });
    }
    let report = MetricsReport::parse(&body.0)?;
    let at = app.clone();
    app.finish(async move {
        commit::record_report(&at, &warehouse, &ident, &report).await?;
        Ok(StatusCode::NO_CONTENT)
    })
    .await
}

/// The latest reports that engines sent on a table, 100 at most.
#[utoipa::path(
    get, path = "/management/v1/warehouses/{warehouse}/namespaces/{namespace}/tables/{table}/metrics",
    operation_id = "listMetricsReports", tag = "management",
    params(
        ("warehouse" = String, Path),
        ("namespace" = String, Path, description = "levels joined by 0x1F"),
        ("table" = String, Path)
    ),
    responses(
        (status = 200, body = ListReportsResponse),
        (status = 400, body = IcebergErrorResponse),
        (status = 404, body = IcebergErrorResponse)
    )
)]
pub(super) async fn list_reports(
    State(app): State<App>,
    WarehousePath(warehouse): WarehousePath,
    TablePath(ident): TablePath,
) -> Result<Json<ListReportsResponse>, Error> {
    let warehouse = app.warehouse(Some(&warehouse)).await?;
    let reports = commit::latest_reports(&app, &warehouse, &ident).await?;
    let shown = reports.into_iter().map(|(received_ms, report)| ReportModel { received_ms, report: report.into_raw() });
    Ok(Json(ListReportsResponse { reports: shown.collect() }))
}
