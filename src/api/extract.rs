//! What handlers take from a request: the warehouse, names in the path, the page, the body.

use crate::api::error::Error;
use crate::api::path::{ClientPath, NO_PREFIX};
use crate::app::{Agent, App, Warehouse};
use crate::spec::{Namespace, TableIdent};
use crate::store::{self, Entity, Listing, Page, warehouses};
use axum::body::Bytes;
use axum::extract::{FromRequest, FromRequestParts, Path, Request};
use axum::http::HeaderMap;
use axum::http::header::USER_AGENT;
use axum::http::request::Parts;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::Arc;
use tower_http::timeout::TimeoutError;

/// The separator of a namespace's levels in a path, once decoded.
const SEPARATOR: char = '\u{1f}';

/// Entries of one page when the client starts a walk without saying how many it wants.
const PAGE_SIZE: u32 = 1000;

/// How many views `referenced-by` may name, and in how many bytes.
const MAX_REFERENCED: usize = 64;
const MAX_REFERENCED_BYTES: usize = 8 * 1024;

/// The names in a path, decoded.
async fn names(parts: &mut Parts, app: &App) -> Result<HashMap<String, String>, Error> {
    let path = Path::<HashMap<String, String>>::from_request_parts(parts, app).await;
    path.map(|Path(names)| names).map_err(|e| Error::BadRequest(format!("Invalid path: {}", e.body_text())))
}

fn take(names: &mut HashMap<String, String>, key: &str) -> Result<String, Error> {
    names.remove(key).ok_or_else(|| Error::BadRequest(format!("Invalid path: no {key}")))
}

/// What the prefix of the path names: a warehouse, or none.
pub(super) async fn named_warehouse(parts: &mut Parts, app: &App) -> Result<Option<String>, Error> {
    let prefix = take(&mut names(parts, app).await?, "prefix")?;
    Ok((prefix != NO_PREFIX).then_some(prefix))
}

/// The warehouse that the prefix of the path names.
#[derive(Debug)]
pub(super) struct InWarehouse(pub(super) Arc<Warehouse>);

impl FromRequestParts<App> for InWarehouse {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Error> {
        let named = named_warehouse(parts, app).await?;
        Ok(Self(app.warehouse(named.as_deref()).await?))
    }
}

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

/// `{namespace}` of the path.
#[derive(Debug)]
pub(super) struct NamespacePath(pub(super) Namespace);

impl FromRequestParts<App> for NamespacePath {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Error> {
        let joined = take(&mut names(parts, app).await?, "namespace")?;
        if has_empty_level(&joined) {
            return Err(store::Error::NotFound(Entity::Namespace(joined.replace(SEPARATOR, "."))).into());
        }
        Ok(Self(app.names(split_namespace(&joined)?)))
    }
}

/// `{namespace}` and `{table}` of the path.
#[derive(Debug)]
pub(super) struct TablePath(pub(super) TableIdent);

impl FromRequestParts<App> for TablePath {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Error> {
        Ok(Self(app.names(named(&mut names(parts, app).await?, "table", Entity::Table)?)))
    }
}

/// `{namespace}` and `{view}` of the path.
#[derive(Debug)]
pub(super) struct ViewPath(pub(super) TableIdent);

impl FromRequestParts<App> for ViewPath {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Error> {
        Ok(Self(app.names(named(&mut names(parts, app).await?, "view", Entity::View)?)))
    }
}

/// `{namespace}` and `{function}` of the path.
#[derive(Debug)]
pub(super) struct FunctionPath(pub(super) TableIdent);

impl FromRequestParts<App> for FunctionPath {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Error> {
        let mut names = names(parts, app).await?;
        let namespace = split_namespace(&take(&mut names, "namespace")?)?;
        Ok(Self(app.names(TableIdent::new(namespace, take(&mut names, "function")?)?)))
    }
}

/// `{namespace}`, `{table}` and `{plan-id}` of the path.
#[derive(Debug)]
pub(super) struct PlanPath(pub(super) TableIdent, pub(super) String);

impl FromRequestParts<App> for PlanPath {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Error> {
        let TablePath(ident) = TablePath::from_request_parts(parts, app).await?;
        Ok(Self(ident, take(&mut names(parts, app).await?, "plan-id")?))
    }
}

/// `{name}` of a warehouse in a management path.
#[derive(Debug)]
pub(super) struct WarehousePath(pub(super) String);

impl FromRequestParts<App> for WarehousePath {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Error> {
        Ok(Self(take(&mut names(parts, app).await?, "warehouse")?))
    }
}

/// The warehouse of a management path, ready for use; switched off or not.
#[derive(Debug)]
pub(super) struct ManagedWarehouse(pub(super) Arc<Warehouse>);

impl FromRequestParts<App> for ManagedWarehouse {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Error> {
        let WarehousePath(name) = WarehousePath::from_request_parts(parts, app).await?;
        let row = warehouses::load(&app.db, &name).await?;
        let row = row.ok_or(store::Error::NotFound(Entity::Warehouse(name)))?;
        Ok(Self(Arc::new(app.ready_warehouse(row)?)))
    }
}

/// `{task}` of a management path.
#[derive(Debug)]
pub(super) struct TaskPath(pub(super) String);

impl FromRequestParts<App> for TaskPath {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Error> {
        Ok(Self(take(&mut names(parts, app).await?, "task")?))
    }
}

/// `{grant}` of a management path.
#[derive(Debug)]
pub(super) struct GrantPath(pub(super) String);

impl FromRequestParts<App> for GrantPath {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Error> {
        Ok(Self(take(&mut names(parts, app).await?, "grant")?))
    }
}

/// `{id}` of a dropped table in a management path.
#[derive(Debug)]
pub(super) struct DroppedPath(pub(super) String);

impl FromRequestParts<App> for DroppedPath {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Error> {
        Ok(Self(take(&mut names(parts, app).await?, "id")?))
    }
}

/// The namespace and the name that `key` stands for in the path. What a path names is there or not: a client that asks
/// for an empty name, as Flink does while it looks what `a.b` may mean, is told that there is no such thing.
fn named(
    names: &mut HashMap<String, String>,
    key: &str,
    missing: impl FnOnce(String) -> Entity,
) -> Result<TableIdent, Error> {
    let (joined, name) = (take(names, "namespace")?, take(names, key)?);
    if has_empty_level(&joined) || name.is_empty() {
        return Err(store::Error::NotFound(missing(format!("{}.{name}", joined.replace(SEPARATOR, ".")))).into());
    }
    Ok(TableIdent::new(split_namespace(&joined)?, name)?)
}

fn has_empty_level(joined: &str) -> bool {
    joined.split(SEPARATOR).any(str::is_empty)
}

/// Splits a namespace as it stands in a path or query, once decoded.
fn split_namespace(joined: &str) -> Result<Namespace, Error> {
    Ok(Namespace::new(joined.split(SEPARATOR).map(str::to_owned).collect())?)
}

/// The parameters of the query, form-decoded; of a repeated one the first counts.
#[derive(Debug, Default)]
pub(super) struct Query {
    parameters: Vec<(String, String)>,
    /// The path: page tokens say which list they are of.
    path: String,
}

impl Query {
    /// A parameter's value.
    pub(super) fn find(&self, name: &str) -> Option<&str> {
        self.parameters.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// A parameter's value, unless it is empty.
    pub(super) fn filled(&self, name: &str) -> Option<&str> {
        self.find(name).filter(|value| !value.is_empty())
    }

    /// A boolean as clients spell it: `true`, and Python's `True`.
    pub(super) fn flag(&self, name: &'static str) -> Result<bool, Error> {
        match self.filled(name) {
            None => Ok(false),
            Some(value) if value.eq_ignore_ascii_case("true") => Ok(true),
            Some(value) if value.eq_ignore_ascii_case("false") => Ok(false),
            Some(value) => Err(Error::BadRequest(format!("Invalid {name}: expected true or false, found {value}"))),
        }
    }

    /// Bounds the views that a client names in `referenced-by`. Nothing depends on them yet.
    pub(super) fn check_referenced_by(&self) -> Result<(), Error> {
        let Some(views) = self.filled("referenced-by") else { return Ok(()) };
        if views.len() > MAX_REFERENCED_BYTES || views.split(',').count() > MAX_REFERENCED {
            let most = format!("at most {MAX_REFERENCED} views in {MAX_REFERENCED_BYTES} bytes");
            return Err(Error::BadRequest(format!("Invalid referenced-by: expected {most}")));
        }
        Ok(())
    }

    /// The namespace in `parent`; none where it is absent or empty.
    pub(super) fn parent(&self) -> Result<Option<Namespace>, Error> {
        self.filled("parent").map(split_namespace).transpose()
    }

    /// The namespace in `namespace`; none where it is absent or empty.
    pub(super) fn namespace(&self) -> Result<Option<Namespace>, Error> {
        self.filled("namespace").map(split_namespace).transpose()
    }

    /// Every value of a parameter that may be repeated.
    pub(super) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.parameters.iter().filter(move |(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// The page asked for. Without `pageToken` that is everything (`spec.md` 1.2).
    pub(super) fn page(&self) -> Result<Page, Error> {
        let size = match self.filled("pageSize") {
            None => PAGE_SIZE,
            Some(size) => match size.parse::<u32>() {
                Ok(size) if size >= 1 => size,
                _ => return Err(Error::BadRequest(format!("Invalid pageSize: expected 1 or more, found {size}"))),
            },
        };
        match self.find("pageToken") {
            None => Ok(Page::default()),
            Some("") => Ok(Page { after: None, limit: Some(size) }),
            Some(token) => Ok(Page { after: Some(self.read_token(token)?), limit: Some(size) }),
        }
    }

    /// The page asked for, and never everything at once.
    pub(super) fn bounded_page(&self) -> Result<Page, Error> {
        let page = self.page()?;
        let asked = self.filled("pageSize").and_then(|size| size.parse().ok());
        Ok(Page { limit: page.limit.or(asked).or(Some(PAGE_SIZE)), ..page })
    }

    /// The token of the page that comes after this one.
    pub(super) fn next_page_token<T>(&self, listing: &Listing<T>) -> Option<String> {
        listing.next.as_deref().map(|key| self.token(key))
    }

    fn token(&self, after: &str) -> String {
        URL_SAFE_NO_PAD.encode(format!("{}{after}", self.list()))
    }

    /// The key that a token stands for, if the token is one of this list.
    fn read_token(&self, token: &str) -> Result<String, Error> {
        let text = URL_SAFE_NO_PAD.decode(token).ok().and_then(|bytes| String::from_utf8(bytes).ok());
        let key = text.as_deref().and_then(|text| text.strip_prefix(&self.list())).filter(|key| !key.contains('\0'));
        let wrong = || Error::BadRequest(format!("Invalid pageToken: `{token}` is none of this list's"));
        key.map(str::to_owned).ok_or_else(wrong)
    }

    /// Tells lists apart.
    fn list(&self) -> String {
        let parent = self.filled("parent").unwrap_or_default();
        format!("{:08x}", crc32fast::hash(format!("{}?{parent}", self.path).as_bytes()))
    }
}

impl FromRequestParts<App> for Query {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, Error> {
        let query = parts.uri.query().unwrap_or_default();
        let parameters = url::form_urlencoded::parse(query.as_bytes()).into_owned().collect();
        Ok(Self { parameters, path: parts.uri.path().to_owned() })
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
pub(super) fn client_path(extensions: &axum::http::Extensions, fallback: &str) -> String {
    extensions.get::<ClientPath>().map_or_else(|| fallback.to_owned(), |path| path.0.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query(text: &str) -> Query {
        let parameters = url::form_urlencoded::parse(text.as_bytes()).into_owned().collect();
        Query { parameters, path: "/tables".to_owned() }
    }

    #[test]
    fn a_walk_starts_with_an_empty_token() {
        assert_eq!(query("").page().unwrap(), Page::default());
        assert_eq!(query("pageSize=5").page().unwrap(), Page::default());
        assert_eq!(query("pageToken=&pageSize=5").page().unwrap(), Page { after: None, limit: Some(5) });
        let token = query("").token("a\u{1f}b");
        let page = query(&format!("pageToken={token}&pageSize=2")).page().unwrap();
        assert_eq!(page, Page { after: Some("a\u{1f}b".into()), limit: Some(2) });
    }

    #[test]
    fn a_bounded_page_is_never_everything() {
        assert_eq!(query("").bounded_page().unwrap(), Page { after: None, limit: Some(PAGE_SIZE) });
        assert_eq!(query("pageSize=5").bounded_page().unwrap(), Page { after: None, limit: Some(5) });
        let page = query(&format!("pageToken={}&pageSize=2", query("").token("a"))).bounded_page().unwrap();
        assert_eq!(page, Page { after: Some("a".into()), limit: Some(2) });
        assert!(query("pageSize=0").bounded_page().is_err());
    }

    #[test]
    fn tokens_and_sizes_of_others_are_refused() {
        for bad in ["pageToken=garbage!!", "pageToken=&pageSize=0", "pageToken=&pageSize=-1", "pageToken=&pageSize=x"] {
            assert!(query(bad).page().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_token_of_another_list_is_refused() {
        let other = Query { path: "/views".to_owned(), ..Query::default() };
        for token in [other.token("a"), query("parent=b").token("a"), URL_SAFE_NO_PAD.encode("a")] {
            let error = query(&format!("pageToken={token}")).page().unwrap_err().to_string();
            assert_eq!(error, format!("Invalid pageToken: `{token}` is none of this list's"));
        }
    }

    #[test]
    fn gzip_is_sent_to_those_who_take_it() {
        let takes = |value: &'static str| {
            takes_gzip(&HeaderMap::from_iter([(axum::http::header::ACCEPT_ENCODING, value.parse().unwrap())]))
        };
        assert!(takes("gzip, deflate") && takes("br;q=1.0, gzip;q=0.8") && takes("*"));
        assert!(!takes("identity") && !takes("gzip;q=0"));
    }
}
