//! Namespaces.

use super::error::{Error, IcebergErrorResponse};
use super::extract::{Body, InWarehouse, NamespacePath, Query};
use super::model::{
    CreateNamespaceRequest, GetNamespaceResponse, ListNamespacesResponse, UpdateNamespacePropertiesRequest,
    UpdateNamespacePropertiesResponse,
};
use super::visible;
use crate::app::App;
use crate::auth::{Action, Caller, Object};
use crate::commit::{self, Once};
use crate::store::idempotency::Answer;
use crate::store::namespaces::{self, PropertiesUpdate};
use crate::store::{self, Entity};
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::Serialize;
use std::collections::BTreeMap;

/// Namespaces directly under `parent`, or at the top.
#[utoipa::path(
    get, path = "/iceberg/v1/{prefix}/namespaces", operation_id = "listNamespaces", tag = "catalog",
    params(
        ("prefix" = String, Path),
        ("parent" = Option<String>, Query, description = "levels joined by 0x1F; empty is the top"),
        ("pageToken" = Option<String>, Query), ("pageSize" = Option<u32>, Query)
    ),
    responses(
        (status = 200, body = ListNamespacesResponse),
        (status = 400, body = IcebergErrorResponse),
        (status = 404, body = IcebergErrorResponse)
    )
)]
pub(super) async fn list_namespaces(
    State(app): State<App>,
    InWarehouse(warehouse): InWarehouse,
    access: Caller,
    query: Query,
) -> Result<Json<ListNamespacesResponse>, Error> {
    let (parent, page) = (app.names(query.parent()?), query.page()?);
    let listing = match visible::namespaces(&access, &warehouse.row.id, parent.as_ref(), &page) {
        Some(some) => some,
        None => namespaces::list(&app.db, &warehouse.row.id, parent.as_ref(), &page).await?,
    };
    Ok(Json(ListNamespacesResponse { next_page_token: query.next_page_token(&listing), namespaces: listing.items }))
}

/// Creates a namespace; its parent must exist.
#[utoipa::path(
    post, path = "/iceberg/v1/{prefix}/namespaces", operation_id = "createNamespace", tag = "catalog",
    params(("prefix" = String, Path)), request_body = CreateNamespaceRequest,
    responses(
        (status = 200, body = GetNamespaceResponse),
        (status = 400, body = IcebergErrorResponse),
        (status = 404, description = "no such parent", body = IcebergErrorResponse),
        (status = 409, body = IcebergErrorResponse),
        (status = 413, body = IcebergErrorResponse)
    )
)]
pub(super) async fn create_namespace(
    State(app): State<App>,
    InWarehouse(warehouse): InWarehouse,
    caller: Caller,
    once: Once,
    body: Body,
) -> Result<Json<GetNamespaceResponse>, Error> {
    let request: CreateNamespaceRequest = app.names(body.json()?);
    let properties = request.properties.unwrap_or_default();
    let namespace = request.namespace;
    commit::check_namespace_properties(&app, &warehouse, &caller, &namespace, &properties).await?;
    let at = app.clone();
    app.finish(async move {
        let mut tx = at.db.begin().await?;
        namespaces::create(&mut tx, &warehouse.row.id, &namespace, &properties, at.clock.now_ms()).await?;
        let made = GetNamespaceResponse { namespace, properties };
        once.keep(&at, &mut tx, || answer(&made)).await?;
        tx.commit().await?;
        Ok(Json(made))
    })
    .await
}

/// A namespace with its properties.
#[utoipa::path(
    get, path = "/iceberg/v1/{prefix}/namespaces/{namespace}", operation_id = "loadNamespaceMetadata", tag = "catalog",
    params(("prefix" = String, Path), ("namespace" = String, Path, description = "levels joined by 0x1F")),
    responses(
        (status = 200, body = GetNamespaceResponse),
        (status = 400, body = IcebergErrorResponse),
        (status = 404, body = IcebergErrorResponse)
    )
)]
pub(super) async fn load_namespace_metadata(
    State(app): State<App>,
    InWarehouse(warehouse): InWarehouse,
    NamespacePath(namespace): NamespacePath,
    access: Caller,
) -> Result<Json<GetNamespaceResponse>, Error> {
    let row = namespaces::load(&app.db, &warehouse.row.id, &namespace).await?;
    let row = row.ok_or_else(|| store::Error::NotFound(Entity::Namespace(namespace.to_string())))?;
    // Who only sees something in it learns its name, and no more.
    let reads = access.may(&Action::Read, &Object::Namespace(warehouse.row.id.clone(), namespace.clone()));
    let properties = if reads { row.properties } else { BTreeMap::new() };
    Ok(Json(GetNamespaceResponse { namespace, properties }))
}

/// Whether a namespace exists.
#[utoipa::path(
    head, path = "/iceberg/v1/{prefix}/namespaces/{namespace}", operation_id = "namespaceExists", tag = "catalog",
    params(("prefix" = String, Path), ("namespace" = String, Path)),
    responses((status = 204), (status = 400), (status = 404))
)]
pub(super) async fn namespace_exists(
    State(app): State<App>,
    InWarehouse(warehouse): InWarehouse,
    NamespacePath(namespace): NamespacePath,
) -> Result<StatusCode, Error> {
    if namespaces::exists(&app.db, &warehouse.row.id, &namespace).await? {
        return Ok(StatusCode::NO_CONTENT);
    }
    Err(store::Error::NotFound(Entity::Namespace(namespace.to_string())).into())
}

/// Drops an empty namespace.
#[utoipa::path(
    delete, path = "/iceberg/v1/{prefix}/namespaces/{namespace}", operation_id = "dropNamespace", tag = "catalog",
    params(("prefix" = String, Path), ("namespace" = String, Path)),
    responses(
        (status = 204),
        (status = 400, body = IcebergErrorResponse),
        (status = 404, body = IcebergErrorResponse),
        (status = 409, description = "not empty", body = IcebergErrorResponse)
    )
)]
pub(super) async fn drop_namespace(
    State(app): State<App>,
    InWarehouse(warehouse): InWarehouse,
    NamespacePath(namespace): NamespacePath,
    once: Once,
) -> Result<StatusCode, Error> {
    let at = app.clone();
    app.finish(async move {
        let mut tx = at.db.begin().await?;
        namespaces::drop(&mut tx, &warehouse.row.id, &namespace).await?;
        once.keep(&at, &mut tx, commit::nothing).await?;
        tx.commit().await?;
        Ok(StatusCode::NO_CONTENT)
    })
    .await
}

/// Removes and sets properties of a namespace.
#[utoipa::path(
    post, path = "/iceberg/v1/{prefix}/namespaces/{namespace}/properties", operation_id = "updateProperties",
    tag = "catalog",
    params(("prefix" = String, Path), ("namespace" = String, Path)),
    request_body = UpdateNamespacePropertiesRequest,
    responses(
        (status = 200, body = UpdateNamespacePropertiesResponse),
        (status = 400, body = IcebergErrorResponse),
        (status = 404, body = IcebergErrorResponse),
        (status = 413, body = IcebergErrorResponse),
        (status = 422, description = "a key is both removed and set", body = IcebergErrorResponse)
    )
)]
pub(super) async fn update_properties(
    State(app): State<App>,
    InWarehouse(warehouse): InWarehouse,
    NamespacePath(namespace): NamespacePath,
    caller: Caller,
    once: Once,
    body: Body,
) -> Result<Json<UpdateNamespacePropertiesResponse>, Error> {
    let request: UpdateNamespacePropertiesRequest = body.json()?;
    let (removals, updates) = (request.removals.unwrap_or_default(), request.updates.unwrap_or_default());
    if let Some(both) = removals.iter().find(|key| updates.contains_key(*key)) {
        return Err(Error::Unprocessable(format!("Invalid namespace update: cannot both set and remove key {both}")));
    }
    commit::check_namespace_properties(&app, &warehouse, &caller, &namespace, &updates).await?;
    let at = app.clone();
    app.finish(async move {
        let mut tx = at.db.begin().await?;
        let change = PropertiesUpdate { removals: &removals, updates: &updates, now_ms: at.clock.now_ms() };
        let done = namespaces::update_properties(&mut tx, &warehouse.row.id, &namespace, &change).await?;
        let done =
            UpdateNamespacePropertiesResponse { updated: done.updated, removed: done.removed, missing: done.missing };
        once.keep(&at, &mut tx, || answer(&done)).await?;
        tx.commit().await?;
        Ok(Json(done))
    })
    .await
}

/// What a repeated request is answered: the same document. Maps and lists of texts always have a JSON form.
fn answer<T: Serialize>(reply: &T) -> Answer {
    commit::document(serde_json::to_string(reply).unwrap_or_default())
}
