//! The token endpoint of the catalog: not there until clients are authenticated, and saying so in OAuth's own form.

use axum::Json;
use axum::http::StatusCode;
use serde::Serialize;
use utoipa::ToSchema;

/// An error of OAuth: this endpoint alone does not answer in Iceberg's form (`spec.md` 1.3).
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct OAuthError {
    /// OAuth's name of the kind of error.
    error: &'static str,
    /// For people.
    error_description: &'static str,
}

/// Gives no token: this server does not authenticate its clients.
#[utoipa::path(
    post, path = "/iceberg/v1/oauth/tokens", operation_id = "getToken", tag = "catalog",
    responses((status = 501, description = "clients are not authenticated", body = OAuthError))
)]
pub(super) async fn get_token() -> (StatusCode, Json<OAuthError>) {
    let error = OAuthError {
        error: "unsupported_grant_type",
        error_description: "this catalog does not authenticate its clients and issues no tokens: \
                            connect without `credential` and without `token`",
    };
    (StatusCode::NOT_IMPLEMENTED, Json(error))
}
