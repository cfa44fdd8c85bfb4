//! Tables that were dropped and can be brought back, under `/management/v1`.

use super::error::{Error, IcebergErrorResponse};
use super::extract::{Body, DroppedPath, ManagedWarehouse, Query};
use super::model::TableIdentifier;
use crate::app::App;
use crate::commit::{self, Which};
use crate::spec::TableIdent;
use crate::store::dropped::{self, Dropped};
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A table that was dropped and can be brought back.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) struct DroppedTable {
    /// Names it among those that had the same name.
    id: String,
    /// The name that it had.
    identifier: TableIdentifier,
    /// `table-uuid` of its metadata.
    table_uuid: String,
    /// Where its files are.
    location: String,
    /// Its metadata file.
    metadata_location: String,
    /// Whether its files are deleted when its time is over.
    purge_requested: bool,
    /// When it was dropped, epoch milliseconds.
    dropped_ms: i64,
    /// Until when it can be brought back, epoch milliseconds.
    expires_ms: i64,
}

impl From<Dropped> for DroppedTable {
    fn from(dropped: Dropped) -> Self {
        let Dropped { row, terms } = dropped;
        Self {
            id: row.id,
            identifier: row.ident.into(),
            table_uuid: row.uuid,
            location: row.location,
            metadata_location: row.metadata_location,
            purge_requested: terms.purge,
            dropped_ms: terms.dropped_ms,
            expires_ms: terms.expires_ms,
        }
    }
}

/// A list of dropped tables.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) struct ListDroppedTablesResponse {
    tables: Vec<DroppedTable>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_page_token: Option<String>,
}

/// A table to bring back: by its id, or else the one that had this name and was dropped last.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct UndropTableRequest {
    id: Option<String>,
    #[schema(value_type = Option<TableIdentifier>)]
    identifier: Option<TableIdent>,
    /// Its new name, where that is not the old one.
    #[schema(value_type = Option<TableIdentifier>)]
    destination: Option<TableIdent>,
}

/// A table that is back.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) struct UndropTableResponse {
    identifier: TableIdentifier,
    metadata_location: String,
}

/// Tables of a warehouse that were dropped and can be brought back.
#[utoipa::path(
    get, path = "/management/v1/warehouses/{warehouse}/dropped", operation_id = "listDroppedTables",
    tag = "management",
    params(
        ("warehouse" = String, Path), ("pageToken" = Option<String>, Query), ("pageSize" = Option<u32>, Query)
    ),
    responses(
        (status = 200, body = ListDroppedTablesResponse),
        (status = 400, body = IcebergErrorResponse),
        (status = 404, body = IcebergErrorResponse)
    )
)]
pub(super) async fn list_dropped_tables(
    State(app): State<App>,
    ManagedWarehouse(warehouse): ManagedWarehouse,
    query: Query,
) -> Result<Json<ListDroppedTablesResponse>, Error> {
    let listing = dropped::list(&app.db, &warehouse.row.id, &query.bounded_page()?).await?;
    Ok(Json(ListDroppedTablesResponse {
        next_page_token: query.next_page_token(&listing),
        tables: listing.items.into_iter().map(DroppedTable::from).collect(),
    }))
}

/// Brings back a table that was dropped.
#[utoipa::path(
    post, path = "/management/v1/warehouses/{warehouse}/undrop", operation_id = "undropTable", tag = "management",
    params(("warehouse" = String, Path)), request_body = UndropTableRequest,
    responses(
        (status = 200, body = UndropTableResponse),
        (status = 400, body = IcebergErrorResponse),
        (status = 404, description = "no such warehouse, dropped table or namespace", body = IcebergErrorResponse),
        (status = 409, description = "the name is taken: `destination` gives another one", body = IcebergErrorResponse),
        (status = 413, body = IcebergErrorResponse)
    )
)]
pub(super) async fn undrop_table(
    State(app): State<App>,
    ManagedWarehouse(warehouse): ManagedWarehouse,
    body: Body,
) -> Result<Json<UndropTableResponse>, Error> {
    let request: UndropTableRequest = body.json()?;
    let which = match (request.id, request.identifier) {
        (Some(id), None) => Which::Id(id),
        (None, Some(ident)) => Which::Name(ident),
        _ => return Err(Error::BadRequest("Invalid undrop: expected either id or identifier".to_owned())),
    };
    let at = app.clone();
    app.finish(async move {
        let row = commit::undrop(&at, &warehouse, &which, request.destination.as_ref()).await?;
        Ok(Json(UndropTableResponse { identifier: row.ident.into(), metadata_location: row.metadata_location }))
    })
    .await
}

/// Ends the time of a table that was dropped: it cannot be brought back any more. Its files are deleted if that was
/// asked for when it was dropped, or is now.
#[utoipa::path(
    delete, path = "/management/v1/warehouses/{warehouse}/dropped/{id}", operation_id = "endDroppedTable",
    tag = "management",
    params(
        ("warehouse" = String, Path), ("id" = String, Path),
        ("purgeRequested" = Option<bool>, Query, description = "whether its files are deleted")
    ),
    responses((status = 204), (status = 400, body = IcebergErrorResponse), (status = 404, body = IcebergErrorResponse))
)]
pub(super) async fn end_dropped_table(
    State(app): State<App>,
    ManagedWarehouse(warehouse): ManagedWarehouse,
    DroppedPath(id): DroppedPath,
    query: Query,
) -> Result<StatusCode, Error> {
    let purge = query.flag("purgeRequested")?;
    let at = app.clone();
    app.finish(async move {
        commit::end_dropped(&at, &warehouse, &id, purge).await?;
        Ok(StatusCode::NO_CONTENT)
    })
    .await
}
