//! Errors of the token endpoint (RFC 6749, 5.2), as Iceberg's clients read them.

use crate::auth::{Error, GrantError};
use crate::telemetry::chain;
use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use utoipa::ToSchema;

/// An error of OAuth.
#[derive(Debug, Serialize, ToSchema)]
pub(in crate::api) struct OAuthError {
    /// OAuth's name of the kind of error.
    error: &'static str,
    /// For people.
    error_description: String,
}

/// Why no token is given.
#[derive(Debug, thiserror::Error)]
pub(super) enum Refusal {
    /// The request is malformed.
    #[error("{0}")]
    Malformed(String),
    /// The form did not come in its time.
    #[error("the form did not come in time")]
    TooSlow,
    /// Tokens are given in other ways.
    #[error(
        "grant_type `{0}` is not served: expected client_credentials, \
         urn:ietf:params:oauth:grant-type:token-exchange or urn:ietf:params:oauth:grant-type:jwt-bearer"
    )]
    Unsupported(String),
    /// This server gives none.
    #[error("{}", gives_none(*open))]
    GivesNone {
        /// Whether it also asks for none.
        open: bool,
    },
    /// The client, or what it shows in exchange, is not good; or that cannot be known now.
    #[error(transparent)]
    Grant(#[from] GrantError),
}

fn gives_none(open: bool) -> &'static str {
    if open {
        "this catalog does not authenticate its clients and issues no tokens: \
         connect without `credential` and without `token`"
    } else {
        "this catalog issues no tokens: bring one of an issuer that it knows"
    }
}

impl Refusal {
    /// Whether somebody claims to be who they are not, as far as this server can tell.
    pub(super) fn is_denial(&self) -> bool {
        matches!(self, Self::Grant(GrantError::InvalidClient(_) | GrantError::InvalidGrant(_)))
    }

    fn wire(&self) -> (StatusCode, &'static str) {
        match self {
            Self::Malformed(_) => (StatusCode::BAD_REQUEST, "invalid_request"),
            Self::TooSlow => (StatusCode::REQUEST_TIMEOUT, "invalid_request"),
            Self::Unsupported(_) => (StatusCode::BAD_REQUEST, "unsupported_grant_type"),
            Self::GivesNone { .. } => (StatusCode::NOT_IMPLEMENTED, "unsupported_grant_type"),
            Self::Grant(GrantError::InvalidClient(_)) => (StatusCode::UNAUTHORIZED, "invalid_client"),
            Self::Grant(GrantError::InvalidGrant(_)) => (StatusCode::BAD_REQUEST, "invalid_grant"),
            Self::Grant(GrantError::Failed(Error::Keys(_))) => (StatusCode::INTERNAL_SERVER_ERROR, "server_error"),
            Self::Grant(GrantError::Busy | GrantError::Failed(_)) => {
                (StatusCode::SERVICE_UNAVAILABLE, "temporarily_unavailable")
            }
        }
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let (status, error) = self.wire();
        if status.is_server_error() && status != StatusCode::NOT_IMPLEMENTED {
            tracing::error!(status = status.as_u16(), error, cause = ?chain(&self), "no token was given");
        } else {
            // As a debug text: what clients write must not look like a line of the log.
            tracing::info!(status = status.as_u16(), error, reason = ?self.to_string(), "no token was given");
        }
        let mut response = (status, Json(OAuthError { error, error_description: self.to_string() })).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Basic realm=\"guillemot\""));
        }
        if status == StatusCode::SERVICE_UNAVAILABLE {
            headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
        }
        response
    }
}
