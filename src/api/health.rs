//! Whether the server is alive and ready, its metrics, and its OpenAPI document.

use super::error::{Error, IcebergErrorResponse};
use crate::app::App;
use crate::commit;
use crate::telemetry;
use axum::extract::State;
use axum::http::header;
use axum::response::IntoResponse;
use metrics_exporter_prometheus::PrometheusHandle;

/// The process answers.
#[utoipa::path(
    get, path = "/health", operation_id = "health", tag = "operation",
    responses((status = 200, body = String, content_type = "text/plain"))
)]
pub(super) async fn health() -> &'static str {
    "alive\n"
}

/// Database and storage answer too.
#[utoipa::path(
    get, path = "/ready", operation_id = "ready", tag = "operation",
    responses(
        (status = 200, body = String, content_type = "text/plain"),
        (status = 503, description = "database or storage is not reachable", body = IcebergErrorResponse)
    )
)]
pub(super) async fn ready(State(app): State<App>) -> Result<&'static str, Error> {
    commit::check_ready(&app).await?;
    Ok("ready\n")
}

/// Metrics in Prometheus' text form.
#[utoipa::path(
    get, path = "/metrics", operation_id = "metrics", tag = "operation",
    responses((status = 200, body = String, content_type = "text/plain"))
)]
pub(super) async fn metrics() -> impl IntoResponse {
    let text = telemetry::metrics().map(PrometheusHandle::render).unwrap_or_default();
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4")], text)
}

/// This server's OpenAPI document.
#[utoipa::path(
    get, path = "/openapi.json", operation_id = "openapi", tag = "operation",
    responses((status = 200, body = Object, content_type = "application/json"))
)]
pub(super) async fn openapi() -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "application/json")], super::openapi_json())
}
