//! Functions: there are none, and clients that look for them are told so.

use super::error::{Error, IcebergErrorResponse};
use super::extract::{FunctionPath, InWarehouse, NamespacePath, Query};
use crate::app::{App, Warehouse};
use crate::spec::{Namespace, TableIdent};
use crate::store::{self, Entity, namespaces};
use axum::Json;
use axum::extract::State;
use serde::Serialize;
use std::convert::Infallible;
use utoipa::ToSchema;

/// The functions of a namespace.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct ListFunctionsResponse {
    /// Always empty.
    #[schema(value_type = Vec<Vec<String>>)]
    identifiers: [(); 0],
}

/// Functions of a namespace: none.
#[utoipa::path(
    get, path = "/iceberg/v1/{prefix}/namespaces/{namespace}/functions", operation_id = "listFunctions",
    tag = "catalog",
    params(
        ("prefix" = String, Path), ("namespace" = String, Path),
        ("pageToken" = Option<String>, Query), ("pageSize" = Option<u32>, Query)
    ),
    responses(
        (status = 200, body = ListFunctionsResponse),
        (status = 400, body = IcebergErrorResponse),
        (status = 404, body = IcebergErrorResponse)
    )
)]
pub(super) async fn list_functions(
    State(app): State<App>,
    InWarehouse(warehouse): InWarehouse,
    NamespacePath(namespace): NamespacePath,
    query: Query,
) -> Result<Json<ListFunctionsResponse>, Error> {
    query.page()?;
    require(&app, &warehouse, &namespace).await?;
    Ok(Json(ListFunctionsResponse { identifiers: [] }))
}

/// A function: there is none of any name.
#[utoipa::path(
    get, path = "/iceberg/v1/{prefix}/namespaces/{namespace}/functions/{function}", operation_id = "loadFunction",
    tag = "catalog",
    params(("prefix" = String, Path), ("namespace" = String, Path), ("function" = String, Path)),
    responses(
        (status = 400, body = IcebergErrorResponse),
        (status = 404, description = "no such function, or no such namespace", body = IcebergErrorResponse)
    )
)]
pub(super) async fn load_function(
    State(app): State<App>,
    InWarehouse(warehouse): InWarehouse,
    FunctionPath(TableIdent { namespace, name }): FunctionPath,
) -> Result<Infallible, Error> {
    require(&app, &warehouse, &namespace).await?;
    Err(Error::NoSuchFunction(format!("{namespace}.{name}")))
}

async fn require(app: &App, warehouse: &Warehouse, namespace: &Namespace) -> Result<(), Error> {
    if namespaces::exists(&app.db, &warehouse.row.id, namespace).await? {
        return Ok(());
    }
    Err(store::Error::NotFound(Entity::Namespace(namespace.to_string())).into())
}
