//! Tables that were dropped and can be brought back, under `/management/v1`.

use super::authorise::{Need, reads, require};
use super::error::{Error, IcebergErrorResponse};
use super::extract::{Body, DroppedPath, ManagedWarehouse, Query};
use super::model::TableIdentifier;
use super::visible::filled;
use crate::app::{App, Names};
use crate::auth::{Action, Caller, Object};
use crate::commit::{self, Which};
use crate::spec::TableIdent;
use crate::store::dropped::{self, Dropped};
use crate::store::tables::Kind;
use crate::store::{self, Entity};
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

impl Names for UndropTableRequest {
    fn lower(&mut self) {
        self.identifier.lower();
        self.destination.lower();
    }
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
    access: Caller,
    query: Query,
) -> Result<Json<ListDroppedTablesResponse>, Error> {
    let id = &warehouse.row.id;
    let read = |db, page| async move { dropped::list(&db, id, &page).await };
    let key = |dropped: &Dropped| dropped.row.id.clone();
    let shown = |dropped: &Dropped| reads(&access, id, &dropped.row.ident);
    let listing = filled(&app.db, &query.bounded_page()?, read, key, shown).await?;
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
    access: Caller,
    body: Body,
) -> Result<Json<UndropTableResponse>, Error> {
    let see = Need::warehouse(Action::See, &warehouse.row);
    require(&access, &see)?;
    let request: UndropTableRequest = app.names(body.json()?);
    let which = match (request.id, request.identifier) {
        (Some(id), None) => Which::Id(id),
        (None, Some(ident)) => Which::Name(ident),
        _ => return Err(Error::BadRequest("Invalid undrop: expected either id or identifier".to_owned())),
    };
    may_undrop(&app, &access, &warehouse.row.id, &which, request.destination.as_ref()).await?;
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
    access: Caller,
    query: Query,
) -> Result<StatusCode, Error> {
    require(&access, &Need::warehouse(Action::See, &warehouse.row))?;
    let purge = query.flag("purgeRequested")?;
    may_end(&app, &access, &warehouse.row.id, &id, purge).await?;
    let at = app.clone();
    app.finish(async move {
        commit::end_dropped(&at, &warehouse, &id, purge).await?;
        Ok(StatusCode::NO_CONTENT)
    })
    .await
}

/// Who brings a table back may write to it where it was, and create one where it goes.
async fn may_undrop(
    app: &App,
    access: &Caller,
    warehouse_id: &str,
    which: &Which,
    destination: Option<&TableIdent>,
) -> Result<(), Error> {
    let was = match which {
        Which::Name(ident) => ident.clone(),
        Which::Id(id) => visible(app, access, warehouse_id, id).await?,
    };
    require(access, &Need::table(Action::Write, warehouse_id, Kind::Table, &was))?;
    let namespace = &destination.unwrap_or(&was).namespace;
    require(access, &Need::namespace(Action::Create, warehouse_id, namespace))
}

/// Who ends a dropped table's time may drop it, and purge it if that is asked for.
async fn may_end(app: &App, access: &Caller, warehouse_id: &str, id: &str, purge: bool) -> Result<(), Error> {
    let was = visible(app, access, warehouse_id, id).await?;
    require(access, &Need::table(Action::Drop, warehouse_id, Kind::Table, &was))?;
    if purge { require(access, &Need::table(Action::Purge, warehouse_id, Kind::Table, &was)) } else { Ok(()) }
}

/// The name that a dropped table had, for those who may know of it.
async fn visible(app: &App, access: &Caller, warehouse_id: &str, id: &str) -> Result<TableIdent, Error> {
    let missing = || store::Error::NotFound(Entity::Table(id.to_owned()));
    let was = dropped::load(&app.db, warehouse_id, id).await?.ok_or_else(missing)?.row.ident;
    let seen = access.may(&Action::See, &Object::Table(warehouse_id.to_owned(), was.clone()));
    if seen { Ok(was) } else { Err(missing().into()) }
}
