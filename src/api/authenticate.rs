//! Who is calling: found out before anything else is done for them.

use super::audit;
use super::authorise::{Trace, is_open};
use super::error::Error;
use crate::app::App;
use crate::auth::{At, Principal};
use axum::extract::{MatchedPath, Request, State};
use axum::http::header::AUTHORIZATION;
use axum::http::{HeaderMap, HeaderValue};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use std::sync::Arc;
use tracing::Span;

/// Google's name of the project that pays for a request. It is logged, and gives nobody a right to anything.
const USER_PROJECT: &str = "x-goog-user-project";

/// Longest name of a project. Google's have 30 characters, and a domain before them in old organisations.
const MAX_PROJECT: usize = 128;

/// Stands around all routes: puts the [`Principal`] into the request, or answers that none is known.
pub(super) async fn guard(State(app): State<App>, mut request: Request, next: Next) -> Result<Response, Error> {
    let route = request.extensions().get::<MatchedPath>().cloned();
    let route = route.as_ref().map_or("", MatchedPath::as_str);
    if is_open(&app, request.method(), route) {
        return Ok(next.run(request).await);
    }
    let at = At { db: &app.db, now_ms: app.clock.now_ms() };
    let found = match request.extensions().get::<Arc<Principal>>() {
        // Whoever embeds the service may know its callers already; the server's own binary puts none there.
        Some(known) => Ok(Arc::clone(known)),
        None => principal(&app, at, request.headers()).await,
    };
    let principal = match found {
        Ok(principal) => principal,
        Err(error) => {
            let response = error.into_response();
            audit::keep(&app, &audit::Asked::of(&request), Trace::default(), false, response.status());
            return Ok(response);
        }
    };
    let span = Span::current();
    span.record("principal", principal.name.as_str());
    if let Some(project) = user_project(request.headers())? {
        span.record("project", project);
    }
    request.extensions_mut().insert(principal);
    Ok(next.run(request).await)
}

async fn principal(app: &App, at: At<'_>, headers: &HeaderMap) -> Result<Arc<Principal>, Error> {
    Ok(app.auth.principal(at, authorization(headers)?).await?)
}

fn authorization(headers: &HeaderMap) -> Result<Option<&str>, Error> {
    let mut given = headers.get_all(AUTHORIZATION).iter();
    let refused = |reason: &str| crate::auth::Error::Refused(reason.to_owned());
    match (given.next(), given.next()) {
        (None, _) => Ok(None),
        (Some(value), None) => Ok(Some(value.to_str().map_err(|_| refused("Authorization is no plain text"))?)),
        (Some(_), Some(_)) => Err(refused("there is more than one Authorization").into()),
    }
}

fn user_project(headers: &HeaderMap) -> Result<Option<&str>, Error> {
    let plain = |value: &&str| value.len() <= MAX_PROJECT;
    let Some(value) = headers.get(USER_PROJECT) else { return Ok(None) };
    let project = value.to_str().ok().filter(plain);
    let expected = || format!("Invalid {USER_PROJECT}: expected at most {MAX_PROJECT} visible characters");
    project.map(Some).ok_or_else(|| Error::BadRequest(expected()))
}

/// What a refused caller is told to do (RFC 6750).
pub(super) fn challenge(error: &crate::auth::Error) -> Option<HeaderValue> {
    use crate::auth::Error as E;
    let text = match error {
        E::NoToken => "Bearer realm=\"guillemot\"",
        E::Expired => {
            "Bearer realm=\"guillemot\", error=\"invalid_token\", error_description=\"the token has expired\""
        }
        E::Refused(_) => "Bearer realm=\"guillemot\", error=\"invalid_token\"",
        E::Unavailable { .. } | E::Store(_) | E::Keys(_) => return None,
    };
    Some(HeaderValue::from_static(text))
}
