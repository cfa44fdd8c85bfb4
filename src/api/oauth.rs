//! The token endpoint, in OAuth's own form: it alone does not answer in Iceberg's (`spec.md` 1.3). And the public keys
//! that its tokens are checked with.

mod error;
mod form;

use super::audit;
use super::authorise::Trace;
use super::error::Error;
use crate::app::App;
use crate::auth::{At, Client, GrantError, Identities, Issued, claimed_name};
use axum::Json;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use error::{OAuthError, Refusal};
use form::{Basic, Form};
use serde::Serialize;
use utoipa::ToSchema;

/// The kind of every token that is given.
const ACCESS_TOKEN: &str = "urn:ietf:params:oauth:token-type:access_token";

/// Kinds by which clients call a token of ours.
const OUR_KINDS: [&str; 2] = [ACCESS_TOKEN, "urn:ietf:params:oauth:token-type:jwt"];

/// How much is told of a name that somebody claims to have, in characters.
const MAX_NAME: usize = 100;

/// A token.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct OAuthTokenResponse {
    /// To be sent as `Authorization: Bearer`.
    access_token: String,
    /// `bearer`.
    token_type: &'static str,
    /// Seconds that it is good for.
    expires_in: u32,
    /// What kind of token it is.
    issued_token_type: &'static str,
}

/// Gives a token to a built-in identity: for its id and secret (`client_credentials`), for a token that is still good
/// (`urn:ietf:params:oauth:grant-type:token-exchange`), or for an assertion that is signed with its key
/// (`urn:ietf:params:oauth:grant-type:jwt-bearer`).
#[utoipa::path(
    post, path = "/iceberg/v1/oauth/tokens", operation_id = "getToken", tag = "catalog",
    request_body(content = Object, content_type = "application/x-www-form-urlencoded"),
    responses(
        (status = 200, body = OAuthTokenResponse),
        (status = 400, description = "malformed, or what is shown in exchange is not good", body = OAuthError),
        (status = 401, description = "no such client, or a wrong secret", body = OAuthError),
        (status = 408, description = "the form did not come in time", body = OAuthError),
        (status = 501, description = "this server gives no tokens", body = OAuthError),
        (status = 503, description = "come back in a moment", body = OAuthError)
    )
)]
pub(super) async fn get_token(State(app): State<App>, request: Request) -> Response {
    let asked = audit::Asked::of(&request);
    let (parts, body) = request.into_parts();
    let mut name = String::new();
    match grant(&app, &parts.headers, body, &mut name).await {
        Ok(issued) => {
            tracing::info!(identity = issued.name, "a token was given");
            metrics::counter!("guillemot_tokens_given_total").increment(1);
            let token = OAuthTokenResponse {
                access_token: issued.token,
                token_type: "bearer",
                expires_in: issued.expires_in_s,
                issued_token_type: ACCESS_TOKEN,
            };
            ([(header::CACHE_CONTROL, HeaderValue::from_static("no-store"))], Json(token)).into_response()
        }
        Err(refusal) => {
            metrics::counter!("guillemot_tokens_refused_total").increment(1);
            let is_denied = refusal.is_denial();
            let response = refusal.into_response();
            if is_denied {
                let name: String = name.chars().filter(|c| !c.is_control()).take(MAX_NAME).collect();
                let trace = Trace::of_nobody(format!("log in as {name}"));
                audit::keep(&app, &asked, trace, false, response.status());
            }
            response
        }
    }
}

/// Gives a token. `name` becomes what the client calls itself, as far as it does.
async fn grant(app: &App, headers: &HeaderMap, body: Body, name: &mut String) -> Result<Issued, Refusal> {
    let Some(identities) = app.auth.identities() else { return Err(Refusal::GivesNone { open: app.auth.is_open() }) };
    // Read first, or the connection would be closed on a client that is still sending.
    let form = Form::read(headers, body).await?;
    let basic = Basic::read(headers)?;
    let claimed = basic.as_ref().map(|basic| basic.id.as_str()).or_else(|| form.find("client_id"));
    claimed.unwrap_or_default().clone_into(name);
    let at = At { db: &app.db, now_ms: app.clock.now_ms() };
    match form.required("grant_type")? {
        "client_credentials" => {
            let client = client(&form, basic.as_ref())?;
            let client = client.ok_or(GrantError::InvalidClient("client id and secret are missing"))?;
            Ok(identities.by_secret(at, client).await?)
        }
        "urn:ietf:params:oauth:grant-type:token-exchange" => exchange(identities, at, &form, basic.as_ref()).await,
        "urn:ietf:params:oauth:grant-type:jwt-bearer" => {
            let assertion = form.required("assertion")?;
            *name = claimed_name(assertion).unwrap_or_default();
            Ok(identities.by_assertion(at, assertion).await?)
        }
        other => Err(Refusal::Unsupported(other.chars().take(100).collect())),
    }
}

/// RFC 8693, as Iceberg's Java client refreshes its token. There is nobody to act for but the identity itself.
async fn exchange(identities: &Identities, at: At<'_>, form: &Form, basic: Option<&Basic>) -> Result<Issued, Refusal> {
    let subject = form.required("subject_token")?;
    if !OUR_KINDS.contains(&form.required("subject_token_type")?) {
        return Err(Refusal::Malformed(format!("subject_token_type: expected {ACCESS_TOKEN}")));
    }
    if form.find("actor_token").is_some() {
        return Err(Refusal::Malformed("actor_token: this catalog lets nobody act for another".to_owned()));
    }
    Ok(identities.by_exchange(at, subject, client(form, basic)?).await?)
}

/// Id and secret, from the header or from the form, and not from both.
fn client<'a>(form: &'a Form, basic: Option<&'a Basic>) -> Result<Option<Client<'a>>, Refusal> {
    match (basic, form.find("client_id"), form.find("client_secret")) {
        (None, None, None) => Ok(None),
        (None, Some(id), Some(secret)) => Ok(Some(Client { id, secret })),
        (None, _, _) => Err(GrantError::InvalidClient("client_id and client_secret are needed both").into()),
        (Some(_), _, Some(_)) => Err(Refusal::Malformed("the client's secret is given twice".to_owned())),
        (Some(basic), Some(id), None) if id != basic.id => Err(Refusal::Malformed("two clients are named".to_owned())),
        (Some(basic), _, None) => Ok(Some(Client { id: &basic.id, secret: &basic.secret })),
    }
}

/// The public keys of this catalog's tokens, as a JWK set (RFC 7517).
#[utoipa::path(
    get, path = "/.well-known/jwks.json", operation_id = "getPublicKeys", tag = "operation",
    responses((status = 200, body = Object), (status = 503, body = super::error::IcebergErrorResponse))
)]
pub(super) async fn public_keys(State(app): State<App>) -> Result<Response, Error> {
    let keys = match app.auth.identities() {
        Some(identities) => identities.public_keys(At { db: &app.db, now_ms: app.clock.now_ms() }).await?.keys,
        None => Vec::new(),
    };
    let age = HeaderValue::from_static("public, max-age=60");
    Ok(([(header::CACHE_CONTROL, age)], Json(serde_json::json!({ "keys": keys }))).into_response())
}
