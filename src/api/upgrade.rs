//! Whether a table is ready for a newer format version.

use super::error::{Error, IcebergErrorResponse};
use super::extract::{ManagedWarehouse, Query, TablePath};
use super::limits::heavy_turn;
use crate::app::App;
use crate::auth::Caller;
use crate::commit;
use crate::readiness::Readiness;
use axum::Json;
use axum::extract::State;
use utoipa::ToSchema;

/// Whether a table is ready for a format version, and why.
#[derive(ToSchema)]
#[serde(rename_all = "kebab-case")]
#[expect(dead_code, reason = "describes what the pure core makes")]
pub(super) struct UpgradeCheckResponse {
    /// The table's version now.
    format_version: u8,
    /// The version it is to get.
    to: u8,
    /// `ready`, `ready-with-remarks` or `not-ready`.
    verdict: String,
    /// What hinders it.
    hindrances: Vec<String>,
    /// What is to be known.
    remarks: Vec<String>,
    /// What is live in the current snapshot; null if there is none.
    #[schema(value_type = Option<Object>)]
    counts: (),
    /// Broken rules that refuse commits.
    #[schema(value_type = Vec<Object>)]
    refused: (),
    /// Broken rules that only warn.
    #[schema(value_type = Vec<Object>)]
    warnings: (),
    /// The clients that were seen on the table in the last 30 days, and what is known of them.
    #[schema(value_type = Vec<Object>)]
    engines: (),
}

/// Tells whether a table is ready for a newer format version: what is in it, and who uses it. Reads the whole of its
/// current snapshot but for the data.
#[utoipa::path(
    get, path = "/management/v1/warehouses/{warehouse}/namespaces/{namespace}/tables/{table}/upgrade-check",
    operation_id = "checkUpgrade", tag = "management",
    params(
        ("warehouse" = String, Path),
        ("namespace" = String, Path, description = "levels joined by 0x1F"),
        ("table" = String, Path),
        ("to" = Option<u8>, Query, description = "the format version: 2 or 3, which is the default")
    ),
    responses(
        (status = 200, body = UpgradeCheckResponse),
        (status = 400, body = IcebergErrorResponse),
        (status = 404, body = IcebergErrorResponse),
        (status = 503, body = IcebergErrorResponse)
    )
)]
pub(super) async fn check_upgrade(
    State(app): State<App>,
    ManagedWarehouse(warehouse): ManagedWarehouse,
    TablePath(ident): TablePath,
    caller: Caller,
    query: Query,
) -> Result<Json<Readiness>, Error> {
    let _turn = heavy_turn(&app).await?;
    let wrong = |text: &str| Error::BadRequest(format!("Invalid to: expected 2 or 3, found {text}"));
    let to = query.filled("to").map_or(Ok(3), |text| text.parse().map_err(|_| wrong(text)))?;
    Ok(Json(commit::upgrade_check(&app, &warehouse, &caller, &ident, to).await?))
}
