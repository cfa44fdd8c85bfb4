//! The one place that knows the `Idempotency-Key` header (`spec.md` 1.2): in front of every route that changes the
//! catalog.
//!
//! ```text
//! key known, same request   -> the answer of then, nothing is run
//! key known, other request  -> 400, nothing is run
//! key new                   -> the handler runs; it keeps its answer in the transaction of its change (`commit::Once`)
//!   refused for good (4xx)  -> the refusal is kept, in a transaction of its own
//!   anything else           -> not kept; but if the answer turns out to be there, that is the truth
//! ```
//! A route takes part by handing its [`Once`] on. Requests without the header pass through.

use super::audit;
use super::authorise::Trace;
use super::error::Error;
use super::extract::{Body, read_body};
use super::load_result::{json, loaded};
use crate::app::App;
use crate::auth::Principal;
use crate::commit::{self, Once};
use crate::spec::ViewMetadata;
use crate::store;
use crate::store::idempotency::{self, Answer, Key, Known, Reply};
use crate::store::tables::Kind;
use axum::body::{self, Bytes};
use axum::extract::{FromRequestParts, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use sha2::{Digest, Sha256};
use std::convert::Infallible;
use std::sync::Arc;
use utoipa::openapi::path::{ParameterBuilder, ParameterIn};
use utoipa::openapi::{ObjectBuilder, OpenApi, Required, schema};
use uuid::{Uuid, Variant};

const HEADER: &str = "idempotency-key";

/// Refusals with larger bodies are not kept, in bytes. To judge such a request again harms nobody: it changed nothing.
const MAX_REFUSAL: usize = 1024 * 1024;

/// Operations that are sent by POST or DELETE and change nothing, or nothing that a repetition would change again.
const EXEMPT: [&str; 6] =
    ["getToken", "signRequest", "planTableScan", "cancelPlanning", "fetchScanTasks", "reportMetrics"];

/// Mark of a reply to a caller who may not do that, and to whom it may therefore look as if there were no such thing. The
/// next grant changes it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Denied;

/// Adds the header to every operation that takes part.
pub(super) fn describe(document: &mut OpenApi) {
    let of_the_catalog = document.paths.paths.iter_mut().filter(|(path, _)| path.starts_with("/iceberg/"));
    for operation in of_the_catalog.flat_map(|(_, item)| item.post.iter_mut().chain(&mut item.delete)) {
        if operation.operation_id.as_deref().is_some_and(|id| EXEMPT.contains(&id)) {
            continue;
        }
        let header = ParameterBuilder::new()
            .name("Idempotency-Key")
            .parameter_in(ParameterIn::Header)
            .required(Required::False)
            .description(Some(
                "a UUIDv7: a request that repeats it is answered as the first one was, and not run again",
            ))
            .schema(Some(ObjectBuilder::new().schema_type(schema::Type::String).build()));
        operation.parameters.get_or_insert_default().push(header.build().into());
    }
}

impl FromRequestParts<App> for Once {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, Infallible> {
        Ok(parts.extensions.get::<Self>().cloned().unwrap_or_default())
    }
}

/// Stands around the routes of the catalog.
pub(super) async fn guard(State(app): State<App>, request: Request, next: Next) -> Result<Response, Error> {
    let changes = [Method::POST, Method::PUT, Method::PATCH, Method::DELETE].contains(request.method());
    let path = request.uri().path();
    let of_a_warehouse = path.starts_with("/iceberg/") && !path.starts_with("/iceberg/v1/oauth/");
    if !changes || !of_a_warehouse || !request.headers().contains_key(HEADER) {
        return Ok(next.run(request).await);
    }
    let (parts, body) = request.into_parts();
    let Body(content) = read_body(body, app.config.max_body_bytes).await?;
    let key = Key { id: key_of(&parts.headers)?, request: fingerprint(&parts, &content) };
    let request = Request::from_parts(parts, body::Body::from(content));
    let at = app.clone();
    // A client that goes away must not keep the answer from being kept.
    app.finish(async move { once(&at, key, request, next).await }).await
}

async fn once(app: &App, key: Key, mut request: Request, next: Next) -> Result<Response, Error> {
    let _turn = app.keys.turn(&key.id).await;
    let principal = request.extensions().get::<Arc<Principal>>().cloned().ok_or(Error::NotAuthenticated)?;
    if let Some(response) = known(app, &principal, &key).await? {
        if !principal.unrestricted {
            audit::keep(
                app,
                &audit::Asked::of(&request),
                Trace::of(principal, "answer of then"),
                true,
                response.status(),
            );
        }
        return Ok(response);
    }
    request.extensions_mut().insert(Once::under(key.clone()));
    let response = next.run(request).await;
    let status = response.status();
    if status.is_client_error() {
        let is_denied = response.extensions().get::<Denied>().is_some();
        return if is_final(status) && !is_denied {
            keep_refusal(app, &principal, &key, response).await
        } else {
            Ok(response)
        };
    }
    if status.is_server_error() {
        // The connection may have been lost after the change was made, or another server may have been faster.
        return Ok(known(app, &principal, &key).await.ok().flatten().unwrap_or(response));
    }
    Ok(response)
}

/// What is answered to a key that is not new.
async fn known(app: &App, principal: &Arc<Principal>, key: &Key) -> Result<Option<Response>, Error> {
    match idempotency::find(&app.db, key, app.clock.now_ms()).await? {
        None => Ok(None),
        Some(Known::Answered(answer)) => Ok(Some(again(app, principal, answer).await?)),
        Some(Known::OtherRequest) => {
            Err(Error::BadRequest(format!("Invalid Idempotency-Key: {} belongs to another request", key.id)))
        }
    }
}

/// Gives an answer once more.
async fn again(app: &App, principal: &Arc<Principal>, answer: Answer) -> Result<Response, Error> {
    metrics::counter!("guillemot_idempotent_replays_total").increment(1);
    let status = StatusCode::from_u16(answer.status).map_err(|_| Error::Internal)?;
    Ok(match answer.reply {
        Reply::Empty => status.into_response(),
        Reply::Body(text) => (status, json(text.into())).into_response(),
        Reply::Metadata { kind: Kind::Table, table_id, location } => {
            let caller = app.access(Arc::clone(principal)).await?;
            loaded(&*commit::answered(app, &caller, &table_id, &location).await?)
        }
        Reply::Metadata { kind: Kind::View, table_id, location } => {
            let caller = app.access(Arc::clone(principal)).await?;
            json(commit::answered::<ViewMetadata>(app, &caller, &table_id, &location).await?.reply())
        }
    })
}

/// Whether the same request will be refused again: not once somebody has logged in, or waited a little.
fn is_final(status: StatusCode) -> bool {
    !matches!(status.as_u16(), 401 | 403 | 408 | 419 | 429)
}

/// Keeps a refusal, unless the key got another answer in between: then that is the answer.
async fn keep_refusal(app: &App, principal: &Arc<Principal>, key: &Key, response: Response) -> Result<Response, Error> {
    let status = response.status().as_u16();
    let (parts, body) = response.into_parts();
    let content: Bytes = body::to_bytes(body, usize::MAX).await.map_err(|_| Error::Internal)?;
    let kept = match str::from_utf8(&content) {
        Ok(text) if content.len() <= MAX_REFUSAL => {
            let reply = if text.is_empty() { Reply::Empty } else { Reply::Body(text.to_owned()) };
            Once::under(key.clone()).keep_alone(app, || Answer { status, reply }).await
        }
        _ => Ok(()),
    };
    match kept {
        Err(store::Error::AlreadyAnswered) => {
            if let Some(response) = known(app, principal, key).await? {
                return Ok(response);
            }
        }
        Err(error) => tracing::warn!(cause = %error, status, "could not keep a refusal under its idempotency key"),
        Ok(()) => {}
    }
    Ok(Response::from_parts(parts, body::Body::from(content)))
}

/// The key, if it is a `UUIDv7` in its 36-character form.
fn key_of(headers: &HeaderMap) -> Result<String, Error> {
    let wrong = || Error::BadRequest("Invalid Idempotency-Key: expected one UUIDv7 of 36 characters".to_owned());
    let mut given = headers.get_all(HEADER).iter();
    let (Some(text), None) = (given.next(), given.next()) else { return Err(wrong()) };
    let text = text.to_str().ok().filter(|text| text.len() == 36).ok_or_else(wrong)?;
    match Uuid::try_parse(text) {
        Ok(uuid) if uuid.get_version_num() == 7 && uuid.get_variant() == Variant::RFC4122 => Ok(uuid.to_string()),
        _ => Err(wrong()),
    }
}

/// What makes a request the same: who sends it, method, path, query and body. Two callers with one key do not get each
/// other's answers.
fn fingerprint(parts: &Parts, body: &[u8]) -> String {
    let mut hash = Sha256::new();
    let caller = parts.extensions.get::<Arc<Principal>>().map_or("", |principal| principal.name.as_str());
    let texts = [caller, parts.method.as_str(), parts.uri.path(), parts.uri.query().unwrap_or_default()];
    for part in texts.map(str::as_bytes).into_iter().chain([body]) {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    STANDARD_NO_PAD.encode(hash.finalize())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(values: &[&str]) -> Result<String, Error> {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(HEADER, value.parse().unwrap());
        }
        key_of(&headers)
    }

    #[test]
    fn only_a_uuid_of_version_7_is_a_key() {
        let good = "0190A5B4-6E2F-7C11-8E3A-5D0C9B1F2A34";
        assert_eq!(key(&[good]).unwrap(), good.to_lowercase());
        for bad in [
            "",
            "x",
            "0190a5b46e2f7c118e3a5d0c9b1f2a34",
            "0190a5b4-6e2f-4c11-8e3a-5d0c9b1f2a34",
            "0190a5b4-6e2f-7c11-ce3a-5d0c9b1f2a34",
            "{190a5b4-6e2f-7c11-8e3a-5d0c9b1f2a3}",
            "0190a5b4-6e2f-7c11-8e3a-5d0c9b1f2a34 ",
        ] {
            assert!(key(&[bad]).is_err(), "{bad}");
        }
        assert!(key(&[good, good]).is_err());
    }

    #[test]
    fn another_caller_method_path_query_or_body_is_another_request() {
        let by = |name: &str, mut parts: Parts| {
            parts.extensions.insert(Arc::new(Principal { name: name.to_owned(), ..Principal::anonymous() }));
            parts
        };
        let parts =
            |method: &str, uri: &str| Request::builder().method(method).uri(uri).body(()).unwrap().into_parts().0;
        let one = fingerprint(&parts("POST", "/a?b"), b"{}");
        assert_eq!(one, fingerprint(&parts("POST", "/a?b"), b"{}"));
        for other in [
            fingerprint(&parts("DELETE", "/a?b"), b"{}"),
            fingerprint(&parts("POST", "/a"), b"{}"),
            fingerprint(&parts("POST", "/a?b="), b"{}"),
            fingerprint(&parts("POST", "/a?b"), b"{ }"),
            fingerprint(&by("identity:b", parts("POST", "/a?b")), b"{}"),
            fingerprint(&by("identity:c", parts("POST", "/a?b")), b"{}"),
        ] {
            assert_ne!(one, other);
        }
    }
}
