//! Management of warehouses, under `/management/v1`.

use super::authorise::{Need, require};
use super::error::{Error, IcebergErrorResponse};
use super::extract::{Body, Query, WarehousePath};
use super::visible::filled;
use crate::app::{App, WarehouseSettings};
use crate::auth::{Action, Caller, Object};
use crate::commit::{self, NewWarehouse, StorageSecret, WarehouseChange};
use crate::store::warehouses::{self, Status};
use crate::store::{self, Entity};
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use std::fmt;
use utoipa::ToSchema;

/// A warehouse.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) struct WarehouseModel {
    /// Given by the server; never changes.
    id: String,
    /// What clients call it.
    name: String,
    /// Where its tables are. In lists, this and what follows is for those alone who may ask for the warehouse itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    location: Option<String>,
    /// Whether it serves requests.
    active: bool,
    /// What differs from the server's settings.
    #[serde(skip_serializing_if = "Option::is_none")]
    settings: Option<WarehouseSettings>,
    /// `***` where its store is reached with a secret of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    storage_secret: Option<&'static str>,
    /// When it was added, epoch milliseconds.
    created_ms: i64,
    /// When it was last changed, epoch milliseconds.
    updated_ms: i64,
}

impl From<warehouses::Warehouse> for WarehouseModel {
    fn from(row: warehouses::Warehouse) -> Self {
        Self {
            settings: Some(settings(&row)),
            storage_secret: row.storage_secret.map(|_| "***"),
            id: row.id,
            name: row.name,
            location: Some(row.location),
            active: row.status == Status::Active,
            created_ms: row.created_ms,
            updated_ms: row.updated_ms,
        }
    }
}

fn settings(row: &warehouses::Warehouse) -> WarehouseSettings {
    serde_json::from_str(&row.properties).unwrap_or_default()
}

/// A list of warehouses.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) struct ListWarehousesResponse {
    warehouses: Vec<WarehouseModel>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_page_token: Option<String>,
}

/// A warehouse to add.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct CreateWarehouseRequest {
    /// Segments of letters, digits, `-`, `.` and `_`, joined by `/`.
    name: String,
    /// A URI: `gs://…`, `s3://…` or `file:///…`.
    location: String,
    #[serde(default)]
    settings: WarehouseSettings,
    /// What its store is reached with, where the server's own credentials do not do.
    #[serde(default)]
    #[schema(value_type = Option<StorageSecret>)]
    storage_secret: Option<WriteOnly>,
}

/// What to change; what is left out stays.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct UpdateWarehouseRequest {
    /// Replaces all settings.
    settings: Option<WarehouseSettings>,
    /// Switches it on or off.
    active: Option<bool>,
    /// Replaces the secret of its store; `null` takes it away.
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<StorageSecret>)]
    #[expect(clippy::option_option, reason = "left out, `null` and a value are three things")]
    storage_secret: Option<Option<WriteOnly>>,
}

/// Tells a value that is given as `null` from one that is not given.
#[expect(clippy::option_option, reason = "left out, `null` and a value are three things")]
fn given<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Option<WriteOnly>>, D::Error> {
    Option::deserialize(from).map(Some)
}

/// A secret in a request: read later, so that no error quotes it.
#[derive(Deserialize)]
#[serde(transparent)]
pub(super) struct WriteOnly(Value);

impl fmt::Debug for WriteOnly {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

impl WriteOnly {
    fn read(self) -> Result<StorageSecret, Error> {
        let known = "expected an object of type `gcs-service-account` with `key`, or `s3-access-key` with \
            `access-key-id` and `secret-access-key`";
        serde_json::from_value(self.0).map_err(|_| Error::BadRequest(format!("storage-secret: {known}")))
    }
}

/// The warehouses that the caller may see.
#[utoipa::path(
    get, path = "/management/v1/warehouses", operation_id = "listWarehouses", tag = "management",
    params(("pageToken" = Option<String>, Query), ("pageSize" = Option<u32>, Query)),
    responses((status = 200, body = ListWarehousesResponse), (status = 400, body = IcebergErrorResponse))
)]
pub(super) async fn list_warehouses(
    State(app): State<App>,
    access: Caller,
    query: Query,
) -> Result<Json<ListWarehousesResponse>, Error> {
    let shown = |row: &warehouses::Warehouse| access.may(&Action::See, &Object::Warehouse(row.id.clone()));
    let read = |db, page| async move { warehouses::list(&db, &page).await };
    let listing = filled(&app.db, &query.page()?, read, |row| row.name.clone(), shown).await?;
    Ok(Json(ListWarehousesResponse {
        next_page_token: query.next_page_token(&listing),
        warehouses: listing.items.into_iter().map(|row| in_list(&access, row)).collect(),
    }))
}

/// A warehouse as the caller may know it.
fn in_list(access: &Caller, row: warehouses::Warehouse) -> WarehouseModel {
    let whole = access.may(&Action::Read, &Object::Warehouse(row.id.clone()));
    let model = WarehouseModel::from(row);
    if whole { model } else { WarehouseModel { location: None, settings: None, storage_secret: None, ..model } }
}

/// Adds a warehouse.
#[utoipa::path(
    post, path = "/management/v1/warehouses", operation_id = "createWarehouse", tag = "management",
    request_body = CreateWarehouseRequest,
    responses(
        (status = 200, body = WarehouseModel),
        (status = 400, body = IcebergErrorResponse),
        (status = 409, description = "the name or the location is taken", body = IcebergErrorResponse),
        (status = 413, body = IcebergErrorResponse)
    )
)]
pub(super) async fn create_warehouse(State(app): State<App>, body: Body) -> Result<Json<WarehouseModel>, Error> {
    let request: CreateWarehouseRequest = body.json()?;
    let secret = request.storage_secret.map(WriteOnly::read).transpose()?;
    let new = NewWarehouse { name: request.name, location: request.location, settings: request.settings, secret };
    let at = app.clone();
    app.finish(async move { Ok(Json(commit::add_warehouse(&at, &new).await?.into())) }).await
}

/// One warehouse.
#[utoipa::path(
    get, path = "/management/v1/warehouses/{warehouse}", operation_id = "loadWarehouse", tag = "management",
    params(("warehouse" = String, Path)),
    responses((status = 200, body = WarehouseModel), (status = 400, body = IcebergErrorResponse), (status = 404, body = IcebergErrorResponse))
)]
pub(super) async fn load_warehouse(
    State(app): State<App>,
    WarehousePath(name): WarehousePath,
) -> Result<Json<WarehouseModel>, Error> {
    let row = warehouses::load(&app.db, &name).await?;
    let row = row.ok_or(store::Error::NotFound(Entity::Warehouse(name)))?;
    Ok(Json(row.into()))
}

/// Changes a warehouse's settings, or switches it on or off.
#[utoipa::path(
    patch, path = "/management/v1/warehouses/{warehouse}", operation_id = "updateWarehouse", tag = "management",
    params(("warehouse" = String, Path)), request_body = UpdateWarehouseRequest,
    responses(
        (status = 200, body = WarehouseModel),
        (status = 400, body = IcebergErrorResponse),
        (status = 404, body = IcebergErrorResponse),
        (status = 409, description = "changed by somebody else", body = IcebergErrorResponse),
        (status = 413, body = IcebergErrorResponse)
    )
)]
pub(super) async fn update_warehouse(
    State(app): State<App>,
    WarehousePath(name): WarehousePath,
    access: Caller,
    body: Body,
) -> Result<Json<WarehouseModel>, Error> {
    let request: UpdateWarehouseRequest = body.json()?;
    let before = warehouses::load(&app.db, &name).await?.map(|row| settings(&row).allow_prefixes);
    if request.settings.as_ref().is_some_and(|settings| Some(&settings.allow_prefixes) != before.as_ref()) {
        // Through them a warehouse reaches the files of others.
        require(&access, &Need::server(Action::Administer))?;
    }
    let secret = match request.storage_secret {
        Some(given) => Some(given.map(WriteOnly::read).transpose()?),
        None => None,
    };
    let change = WarehouseChange { settings: request.settings, active: request.active, secret };
    let at = app.clone();
    app.finish(async move { Ok(Json(commit::change_warehouse(&at, &name, &change).await?.into())) }).await
}

/// Removes an empty warehouse. Its files stay.
#[utoipa::path(
    delete, path = "/management/v1/warehouses/{warehouse}", operation_id = "deleteWarehouse", tag = "management",
    params(("warehouse" = String, Path)),
    responses(
        (status = 204),
        (status = 400, body = IcebergErrorResponse),
        (status = 404, body = IcebergErrorResponse),
        (status = 409, description = "it holds namespaces", body = IcebergErrorResponse)
    )
)]
pub(super) async fn delete_warehouse(
    State(app): State<App>,
    WarehousePath(name): WarehousePath,
) -> Result<StatusCode, Error> {
    let at = app.clone();
    app.finish(async move {
        commit::remove_warehouse(&at, &name).await?;
        Ok(StatusCode::NO_CONTENT)
    })
    .await
}
