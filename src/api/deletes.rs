//! What the deletes of a table cost.

use super::error::{Error, IcebergErrorResponse};
use super::extract::{ManagedWarehouse, Query, TablePath};
use super::limits::heavy_turn;
use crate::app::App;
use crate::auth::Caller;
use crate::commit;
use crate::validate::at_rest::{Burden, MOST_FILES_LISTED};
use axum::Json;
use axum::extract::State;
use utoipa::ToSchema;

/// How many data files are listed where nothing else is asked for.
const FILES_LISTED: usize = 20;

/// What the deletes of a table's current snapshot cost.
#[derive(ToSchema)]
#[serde(rename_all = "kebab-case")]
#[expect(dead_code, reason = "describes what the pure core makes")]
pub(super) struct DeletesResponse {
    /// The table's format version.
    format_version: u8,
    /// The current snapshot; null if there is none.
    snapshot_id: Option<i64>,
    /// Whether all of it could be looked at.
    complete: bool,
    /// What was not looked at, and why; empty if everything was.
    #[schema(value_type = Vec<Object>)]
    not_checked: (),
    /// Broken rules that refuse commits: the numbers are of a table that is not in order.
    #[schema(value_type = Vec<Object>)]
    refused: (),
    /// What is live: vectors and the rows that they delete, Puffin bytes live and dead, data files that are fully
    /// deleted, position and equality delete files.
    #[schema(value_type = Object)]
    counts: (),
    /// The share of all rows that vectors delete.
    ratio: f64,
    /// The data files with the largest shares of deleted rows, largest first.
    files: Vec<FileDeletesModel>,
}

/// A data file with a deletion vector.
#[derive(ToSchema)]
#[serde(rename_all = "kebab-case")]
#[expect(dead_code, reason = "describes what the pure core makes")]
pub(super) struct FileDeletesModel {
    /// The data file.
    data_file: String,
    /// Rows in it, deleted ones included.
    records: u64,
    /// Rows that its vector deletes.
    deleted_rows: u64,
    /// Their share.
    ratio: f64,
    /// Where the vector is.
    puffin_file: String,
    /// Its length.
    vector_bytes: u64,
}

/// Tells what the deletes of a table cost: live vectors, deleted rows file by file, dead bytes. Reads the whole of its
/// current snapshot but for the data.
#[utoipa::path(
    get, path = "/management/v1/warehouses/{warehouse}/namespaces/{namespace}/tables/{table}/deletes",
    operation_id = "describeDeletes", tag = "management",
    params(
        ("warehouse" = String, Path),
        ("namespace" = String, Path, description = "levels joined by 0x1F"),
        ("table" = String, Path),
        ("top" = Option<u32>, Query, description = "how many data files are listed: 1 to 1000, 20 where not said")
    ),
    responses(
        (status = 200, body = DeletesResponse),
        (status = 400, body = IcebergErrorResponse),
        (status = 404, body = IcebergErrorResponse),
        (status = 503, body = IcebergErrorResponse)
    )
)]
pub(super) async fn describe_deletes(
    State(app): State<App>,
    ManagedWarehouse(warehouse): ManagedWarehouse,
    TablePath(ident): TablePath,
    caller: Caller,
    query: Query,
) -> Result<Json<Burden>, Error> {
    let _turn = heavy_turn(&app).await?;
    let top = query.filled("top").map_or(Ok(FILES_LISTED), |text| {
        let number = text.parse().ok().filter(|number| (1..=MOST_FILES_LISTED).contains(number));
        number.ok_or_else(|| Error::BadRequest(format!("Invalid top: expected 1 to {MOST_FILES_LISTED}, found {text}")))
    })?;
    Ok(Json(commit::burden(&app, &warehouse, &caller, &ident, top).await?))
}
