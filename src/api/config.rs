//! `GET /v1/config`: what a client needs to know before its first call (`spec.md` 1.6).

use super::error::{Error, IcebergErrorResponse};
use super::extract::Query;
use super::model::CatalogConfig;
use crate::app::App;
use crate::vending::Mode;
use axum::Json;
use axum::extract::State;
use std::collections::BTreeMap;

/// What is served, named exactly as in the specification: clients do not call what is not in it.
pub(super) const ENDPOINTS: [&str; 34] = [
    "GET /v1/{prefix}/namespaces",
    "POST /v1/{prefix}/namespaces",
    "GET /v1/{prefix}/namespaces/{namespace}",
    "HEAD /v1/{prefix}/namespaces/{namespace}",
    "DELETE /v1/{prefix}/namespaces/{namespace}",
    "POST /v1/{prefix}/namespaces/{namespace}/properties",
    "GET /v1/{prefix}/namespaces/{namespace}/tables",
    "POST /v1/{prefix}/namespaces/{namespace}/tables",
    "POST /v1/{prefix}/namespaces/{namespace}/register",
    "GET /v1/{prefix}/namespaces/{namespace}/tables/{table}",
    "HEAD /v1/{prefix}/namespaces/{namespace}/tables/{table}",
    "POST /v1/{prefix}/namespaces/{namespace}/tables/{table}",
    "DELETE /v1/{prefix}/namespaces/{namespace}/tables/{table}",
    "POST /v1/{prefix}/namespaces/{namespace}/tables/{table}/unregister",
    "POST /v1/{prefix}/tables/rename",
    "GET /v1/{prefix}/namespaces/{namespace}/tables/{table}/credentials",
    SIGN,
    "POST /v1/{prefix}/namespaces/{namespace}/tables/{table}/plan",
    "GET /v1/{prefix}/namespaces/{namespace}/tables/{table}/plan/{plan-id}",
    "DELETE /v1/{prefix}/namespaces/{namespace}/tables/{table}/plan/{plan-id}",
    "POST /v1/{prefix}/namespaces/{namespace}/tables/{table}/tasks",
    "POST /v1/{prefix}/namespaces/{namespace}/tables/{table}/metrics",
    "POST /v1/{prefix}/transactions/commit",
    "GET /v1/{prefix}/namespaces/{namespace}/functions",
    "GET /v1/{prefix}/namespaces/{namespace}/functions/{function}",
    "GET /v1/{prefix}/namespaces/{namespace}/views",
    "POST /v1/{prefix}/namespaces/{namespace}/views",
    "GET /v1/{prefix}/namespaces/{namespace}/views/{view}",
    "HEAD /v1/{prefix}/namespaces/{namespace}/views/{view}",
    "POST /v1/{prefix}/namespaces/{namespace}/views/{view}",
    "DELETE /v1/{prefix}/namespaces/{namespace}/views/{view}",
    "POST /v1/{prefix}/views/rename",
    "POST /v1/{prefix}/namespaces/{namespace}/register-view",
    "GET /v1/config",
];

/// Served where a warehouse says so.
const SIGN: &str = "POST /v1/{prefix}/namespaces/{namespace}/tables/{table}/sign";

/// Answers the prefix of the warehouse that is named, by name or location, and what is served.
#[utoipa::path(
    get, path = "/iceberg/v1/config", operation_id = "getConfig", tag = "catalog",
    params(("warehouse" = Option<String>, Query, description = "a warehouse's name or location")),
    responses(
        (status = 200, body = CatalogConfig),
        (status = 400, description = "no warehouse is named, and there are several", body = IcebergErrorResponse),
        (status = 404, description = "no such warehouse", body = IcebergErrorResponse)
    )
)]
pub(super) async fn get_config(State(app): State<App>, query: Query) -> Result<Json<CatalogConfig>, Error> {
    let warehouse = app.warehouse(query.filled("warehouse")).await?;
    let signs = warehouse.credentials.mode == Mode::RemoteSigning;
    let overrides = BTreeMap::from([("prefix".to_owned(), warehouse.row.name.clone())]);
    Ok(Json(CatalogConfig {
        defaults: BTreeMap::new(),
        overrides,
        endpoints: ENDPOINTS.into_iter().filter(|endpoint| signs || *endpoint != SIGN).collect(),
        idempotency_key_lifetime: app.config.idempotency_key_lifetime.as_str().to_owned(),
    }))
}
