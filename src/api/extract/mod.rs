//! What handlers take from a request: the warehouse, names in the path, the page, the body.

mod names;
mod query;

pub(super) use names::{
    DroppedPath, FunctionPath, GrantPath, InWarehouse, ManagedWarehouse, NamespacePath, PlanPath, TablePath, TaskPath,
    ViewPath, WarehousePath, named_warehouse,
};
pub(super) use query::Query;

use super::error::Error;
use super::path::ClientPath;
use crate::app::{Agent, App};
use axum::body::Bytes;
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::HeaderMap;
use axum::http::header::USER_AGENT;
use axum::http::request::Parts;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::convert::Infallible;
use std::sync::Arc;
use tower_http::timeout::TimeoutError;

/// What clients of Iceberg's own library say of it; the engine around it says nothing.
const CLIENT_VERSION: &str = "x-client-version";

impl FromRequestParts<App> for Agent {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, Infallible> {
        let header = |name: &str| parts.headers.get(name).and_then(|value| value.to_str().ok());
        let said = [header(CLIENT_VERSION), header(USER_AGENT.as_str())];
        Ok(Self::new(&said.into_iter().flatten().collect::<Vec<_>>().join(", ")))
    }
}

/// The bytes of the body, up to the server's limit, whatever its content type says.
#[derive(Debug)]
pub(super) struct Body(pub(super) Bytes);

impl FromRequest<App> for Body {
    type Rejection = Error;

    async fn from_request(request: Request, app: &App) -> Result<Self, Error> {
        read_body(request.into_body(), app.config.max_body_bytes).await
    }
}

/// Reads a body of at most so many bytes.
pub(super) async fn read_body(body: axum::body::Body, limit: usize) -> Result<Body, Error> {
    match Limited::new(body, limit).collect().await {
        Ok(body) => Ok(Body(body.to_bytes())),
        Err(e) if e.downcast_ref::<LengthLimitError>().is_some() => Err(Error::TooLarge { limit }),
        Err(e) if is_late(e.as_ref()) => Err(Error::BodyTooSlow),
        Err(e) => Err(Error::BadRequest(format!("request body cannot be read: {e}"))),
    }
}

/// Whether a body failed because its time was over.
fn is_late(error: &(dyn std::error::Error + 'static)) -> bool {
    std::iter::successors(Some(error), |error| error.source()).any(<dyn std::error::Error>::is::<TimeoutError>)
}

impl Body {
    /// The body as JSON that borrows from it.
    pub(super) fn borrowed<'a, T: Deserialize<'a>>(&'a self) -> Result<T, Error> {
        serde_json::from_slice(&self.0).map_err(|e| Error::BadRequest(format!("Malformed request: {e}")))
    }

    /// The body as JSON of a known shape; unknown members are ignored.
    pub(super) fn json<T: DeserializeOwned>(&self) -> Result<T, Error> {
        serde_json::from_slice(&self.0).map_err(|e| Error::BadRequest(format!("Malformed request: {e}")))
    }
}

/// Whether a client takes gzip.
pub(super) fn takes_gzip(headers: &HeaderMap) -> bool {
    let accepted = headers.get_all("accept-encoding").iter().filter_map(|value| value.to_str().ok());
    accepted.flat_map(|value| value.split(',')).any(|coding| {
        let mut parts = coding.split(';').map(str::trim);
        let gzip = parts.next().is_some_and(|name| name.eq_ignore_ascii_case("gzip") || name == "*");
        let refused = parts.any(|p| p.strip_prefix("q=").is_some_and(|q| q.parse::<f32>().is_ok_and(|q| q == 0.0)));
        gzip && !refused
    })
}

/// The path as the client wrote it, for errors.
pub(super) fn client_path(extensions: &axum::http::Extensions, fallback: &str) -> Arc<str> {
    extensions.get::<ClientPath>().map_or_else(|| fallback.into(), |path| Arc::clone(&path.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gzip_is_sent_to_those_who_take_it() {
        let takes = |value: &'static str| {
            takes_gzip(&HeaderMap::from_iter([(axum::http::header::ACCEPT_ENCODING, value.parse().unwrap())]))
        };
        assert!(takes("gzip, deflate") && takes("br;q=1.0, gzip;q=0.8") && takes("*"));
        assert!(!takes("identity") && !takes("gzip;q=0"));
    }
}
