//! Signing requests to S3 for clients.

use super::access::access;
use super::error::{Error, IcebergErrorResponse};
use super::extract::{Body, InWarehouse, TablePath};
use crate::app::App;
use crate::auth::Caller;
use crate::commit;
use crate::vending::signing::SignRequest;
use axum::Json;
use axum::extract::State;
use axum::http::header;
use axum::response::IntoResponse;
use serde::Serialize;
use std::collections::BTreeMap;
use utoipa::ToSchema;

/// The request as it may be sent.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct RemoteSignResponse {
    uri: String,
    /// What to add to the request's headers.
    headers: BTreeMap<String, Vec<String>>,
}

/// The headers of a signature.
const ADDED: [&str; 4] = ["authorization", "x-amz-content-sha256", "x-amz-date", "x-amz-security-token"];

/// Signs a request to S3 that does to the table's files what the caller may.
#[utoipa::path(
    post, path = "/iceberg/v1/{prefix}/namespaces/{namespace}/tables/{table}/sign",
    operation_id = "signRequest", tag = "catalog",
    params(("prefix" = String, Path), ("namespace" = String, Path), ("table" = String, Path)),
    request_body = SignRequest,
    responses(
        (status = 200, body = RemoteSignResponse),
        (status = 400, body = IcebergErrorResponse),
        (status = 403, description = "the request does something else", body = IcebergErrorResponse),
        (status = 404, body = IcebergErrorResponse),
        (status = 413, body = IcebergErrorResponse),
        (status = 503, body = IcebergErrorResponse)
    )
)]
pub(super) async fn sign_request(
    State(app): State<App>,
    InWarehouse(warehouse): InWarehouse,
    TablePath(ident): TablePath,
    caller: Caller,
    body: Body,
) -> Result<impl IntoResponse, Error> {
    let request: SignRequest = body.json()?;
    let (uri, signed) = commit::sign(&app, &warehouse, &ident, access(&caller, &warehouse, &ident), &request).await?;
    let mut headers: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (name, value) in &signed {
        // What the client sent is there already; some clients would send it twice.
        let is_new = ADDED.contains(&name.as_str());
        if let Some(text) = value.to_str().ok().filter(|_| is_new) {
            headers.entry(name.as_str().to_owned()).or_default().push(text.to_owned());
        }
    }
    // A signature is good for one request at one time.
    Ok(([(header::CACHE_CONTROL, "no-cache")], Json(RemoteSignResponse { uri, headers })))
}
