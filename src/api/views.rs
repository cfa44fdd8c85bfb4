//! Views.

use super::error::{Error, IcebergErrorResponse};
use super::extract::{Body, InWarehouse, NamespacePath, Query, ViewPath};
use super::load_result::json;
use super::model::{
    CommitViewRequest, CreateViewRequest, ListTablesResponse, LoadViewResult, RegisterViewRequest, RenameTableRequest,
};
use super::tables::list;
use crate::app::App;
use crate::auth::Caller;
use crate::commit::{self, Once, RegisterRequest};
use crate::config::RegisterCheck;
use crate::spec::{self, ViewMetadata};
use crate::store::tables::Kind;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;

/// Views of a namespace.
#[utoipa::path(
    get, path = "/iceberg/v1/{prefix}/namespaces/{namespace}/views", operation_id = "listViews", tag = "catalog",
    params(
        ("prefix" = String, Path), ("namespace" = String, Path),
        ("pageToken" = Option<String>, Query), ("pageSize" = Option<u32>, Query)
    ),
    responses(
        (status = 200, body = ListTablesResponse),
        (status = 400, body = IcebergErrorResponse),
        (status = 404, body = IcebergErrorResponse)
    )
)]
pub(super) async fn list_views(
    State(app): State<App>,
    InWarehouse(warehouse): InWarehouse,
    NamespacePath(namespace): NamespacePath,
    access: Caller,
    query: Query,
) -> Result<Json<ListTablesResponse>, Error> {
    list(&app, &access, &warehouse, &namespace, Kind::View, &query).await
}

/// Creates a view.
#[utoipa::path(
    post, path = "/iceberg/v1/{prefix}/namespaces/{namespace}/views", operation_id = "createView", tag = "catalog",
    params(("prefix" = String, Path), ("namespace" = String, Path)), request_body = CreateViewRequest,
    responses(
        (status = 200, body = LoadViewResult),
        (status = 400, body = IcebergErrorResponse),
        (status = 404, description = "no such namespace", body = IcebergErrorResponse),
        (status = 409, description = "a view or a table has the name", body = IcebergErrorResponse),
        (status = 413, body = IcebergErrorResponse),
        (status = 503, description = "storage or database is not reachable, nothing was changed", body = IcebergErrorResponse)
    )
)]
pub(super) async fn create_view(
    State(app): State<App>,
    InWarehouse(warehouse): InWarehouse,
    NamespacePath(namespace): NamespacePath,
    caller: Caller,
    once: Once,
    body: Body,
) -> Result<Response, Error> {
    let request = app.names(spec::CreateViewRequest::parse(&body.0)?);
    let at = app.clone();
    app.finish(async move {
        Ok(json(commit::create_view(&at, &warehouse, &namespace, &request, &caller, &once).await?.reply()))
    })
    .await
}

/// A view's metadata.
#[utoipa::path(
    get, path = "/iceberg/v1/{prefix}/namespaces/{namespace}/views/{view}", operation_id = "loadView", tag = "catalog",
    params(
        ("prefix" = String, Path), ("namespace" = String, Path), ("view" = String, Path),
        ("referenced-by" = Option<String>, Query, description = "the views through which the view is read")
    ),
    responses(
        (status = 200, body = LoadViewResult),
        (status = 400, body = IcebergErrorResponse),
        (status = 404, body = IcebergErrorResponse),
        (status = 503, body = IcebergErrorResponse)
    )
)]
pub(super) async fn load_view(
    State(app): State<App>,
    InWarehouse(warehouse): InWarehouse,
    ViewPath(ident): ViewPath,
    query: Query,
) -> Result<Response, Error> {
    query.check_referenced_by()?;
    let (_, stored) = commit::load::<ViewMetadata>(&app, &warehouse, &ident).await?;
    Ok(json(stored.reply()))
}

/// Whether a view exists. Needs no metadata file.
#[utoipa::path(
    head, path = "/iceberg/v1/{prefix}/namespaces/{namespace}/views/{view}", operation_id = "viewExists",
    tag = "catalog",
    params(("prefix" = String, Path), ("namespace" = String, Path), ("view" = String, Path)),
    responses((status = 204), (status = 400), (status = 404))
)]
pub(super) async fn view_exists(
    State(app): State<App>,
    InWarehouse(warehouse): InWarehouse,
    ViewPath(ident): ViewPath,
) -> Result<StatusCode, Error> {
    commit::load_pointer(&app, &warehouse, Kind::View, &ident).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Commits to a view.
#[utoipa::path(
    post, path = "/iceberg/v1/{prefix}/namespaces/{namespace}/views/{view}", operation_id = "replaceView",
    tag = "catalog",
    params(("prefix" = String, Path), ("namespace" = String, Path), ("view" = String, Path)),
    request_body = CommitViewRequest,
    responses(
        (status = 200, body = LoadViewResult),
        (status = 400, body = IcebergErrorResponse),
        (status = 404, body = IcebergErrorResponse),
        (status = 409, description = "a requirement does not hold", body = IcebergErrorResponse),
        (status = 413, body = IcebergErrorResponse),
        (status = 500, description = "the outcome is unknown", body = IcebergErrorResponse),
        (status = 503, description = "storage or database is not reachable, nothing was changed", body = IcebergErrorResponse)
    )
)]
pub(super) async fn replace_view(
    State(app): State<App>,
    InWarehouse(warehouse): InWarehouse,
    ViewPath(ident): ViewPath,
    caller: Caller,
    once: Once,
    body: Body,
) -> Result<Response, Error> {
    let request = app.names(spec::CommitViewRequest::parse(&body.0)?);
    if let Some(named) = &request.identifier
        && *named != ident
    {
        return Err(Error::BadRequest(format!("Invalid identifier: the path names {ident}, the body {named}")));
    }
    let at = app.clone();
    app.finish(async move {
        Ok(json(commit::commit_view(&at, &warehouse, &ident, &request, &caller, &once).await?.reply()))
    })
    .await
}

/// Drops a view. Works when its metadata file is gone or broken.
#[utoipa::path(
    delete, path = "/iceberg/v1/{prefix}/namespaces/{namespace}/views/{view}", operation_id = "dropView",
    tag = "catalog",
    params(("prefix" = String, Path), ("namespace" = String, Path), ("view" = String, Path)),
    responses((status = 204), (status = 400, body = IcebergErrorResponse), (status = 404, body = IcebergErrorResponse))
)]
pub(super) async fn drop_view(
    State(app): State<App>,
    InWarehouse(warehouse): InWarehouse,
    ViewPath(ident): ViewPath,
    once: Once,
) -> Result<StatusCode, Error> {
    let at = app.clone();
    app.finish(async move {
        commit::drop(&at, &warehouse, Kind::View, &ident, false, &once).await?;
        Ok(StatusCode::NO_CONTENT)
    })
    .await
}

/// Renames a view. Works when its metadata file is gone or broken.
#[utoipa::path(
    post, path = "/iceberg/v1/{prefix}/views/rename", operation_id = "renameView", tag = "catalog",
    params(("prefix" = String, Path)), request_body = RenameTableRequest,
    responses(
        (status = 204),
        (status = 400, body = IcebergErrorResponse),
        (status = 404, body = IcebergErrorResponse),
        (status = 409, description = "a view or a table has the new name", body = IcebergErrorResponse),
        (status = 413, body = IcebergErrorResponse)
    )
)]
pub(super) async fn rename_view(
    State(app): State<App>,
    InWarehouse(warehouse): InWarehouse,
    once: Once,
    body: Body,
) -> Result<StatusCode, Error> {
    let request: RenameTableRequest = app.names(body.json()?);
    let at = app.clone();
    app.finish(async move {
        commit::rename(&at, &warehouse, Kind::View, &request.source, &request.destination, &once).await?;
        Ok(StatusCode::NO_CONTENT)
    })
    .await
}

/// Points a name at a view's metadata file that exists.
#[utoipa::path(
    post, path = "/iceberg/v1/{prefix}/namespaces/{namespace}/register-view", operation_id = "registerView",
    tag = "catalog",
    params(("prefix" = String, Path), ("namespace" = String, Path)), request_body = RegisterViewRequest,
    responses(
        (status = 200, body = LoadViewResult),
        (status = 400, body = IcebergErrorResponse),
        (status = 404, description = "no such namespace, or no such file", body = IcebergErrorResponse),
        (status = 409, description = "a view or a table has the name", body = IcebergErrorResponse),
        (status = 413, body = IcebergErrorResponse),
        (status = 503, body = IcebergErrorResponse)
    )
)]
pub(super) async fn register_view(
    State(app): State<App>,
    InWarehouse(warehouse): InWarehouse,
    NamespacePath(namespace): NamespacePath,
    caller: Caller,
    once: Once,
    body: Body,
) -> Result<Response, Error> {
    let request: RegisterViewRequest = app.names(body.json()?);
    let request = RegisterRequest {
        name: request.name,
        metadata_location: request.metadata_location,
        overwrite: false,
        check: RegisterCheck::Off,
    };
    let at = app.clone();
    app.finish(async move {
        Ok(json(commit::register::<ViewMetadata>(&at, &warehouse, &namespace, &request, &caller, &once).await?.reply()))
    })
    .await
}
