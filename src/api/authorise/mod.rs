//! The one place that decides whether a request may do what it asks for: in front of every route, before any work.
//!
//! ```text
//! method and route -> what it needs (`operations`) -> actions on objects (`needs`) -> decision (`auth::decide`)
//!   the object must not be known of  -> 404, as if it were not there
//!   it may be seen, but not that     -> 403
//! ```
//! What a handler must decide itself, because only it knows what the request is about, it decides by [`require`].

mod needs;
mod operations;

pub(super) use needs::{Named, Need};

use super::audit;
use super::error::Error;
use super::extract::{Body, client_path, read_body};
use super::idempotency::Denied;
use crate::app::{App, WarehouseError};
use crate::auth::{Action, Caller, Decision, Object, Principal};
use crate::spec::TableIdent;
use crate::store::tables::Kind;
use crate::store::warehouses;
use axum::body;
use axum::extract::{FromRequestParts, MatchedPath, Request, State};
use axum::http::Method;
use axum::http::request::Parts;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use operations::Rule;
use std::sync::Arc;

impl FromRequestParts<App> for Caller {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, Error> {
        // Every route that has a caller is behind the guard.
        parts.extensions.get::<Self>().cloned().ok_or(Error::NotAuthenticated)
    }
}

/// The route that a setting may open.
const METRICS: &str = "/metrics";

/// Whether an operation asks nobody who they are.
pub(super) fn is_open(app: &App, method: &Method, route: &str) -> bool {
    operations::find(method, route).is_some_and(|(_, _, rule)| opens(app, rule, route))
}

fn opens(app: &App, rule: &Rule, route: &str) -> bool {
    *rule == Rule::Open || (route == METRICS && app.config.auth.open_metrics)
}

/// What was decided about a request, for the audit log.
#[derive(Debug, Default)]
pub(super) struct Trace {
    /// The caller, if they are known.
    pub(super) principal: Option<Arc<Principal>>,
    /// What the request comes down to.
    needs: Vec<Need>,
    /// The same in words, where no action is decided on.
    words: String,
    /// The grant that allowed the last of them.
    pub(super) grant_id: Option<String>,
    /// Whether one of them is not allowed.
    pub(super) denied: bool,
}

impl Trace {
    /// Of a request on which nothing is decided here.
    pub(super) fn of(principal: Arc<Principal>, words: &str) -> Self {
        Self { principal: Some(principal), words: words.to_owned(), ..Self::default() }
    }

    /// Of somebody who is not known, and is refused.
    pub(super) fn of_nobody(words: String) -> Self {
        Self { words, denied: true, ..Self::default() }
    }

    /// The actions that the request comes down to, each with its object.
    pub(super) fn actions(&self) -> String {
        if self.needs.is_empty() {
            return self.words.clone();
        }
        let told = self.needs.iter().take(MOST_TRACED).map(|need| format!("{} on {}", need.action, need.named));
        told.collect::<Vec<_>>().join(", ")
    }
}

/// How many actions of one request the audit log tells.
const MOST_TRACED: usize = 20;

/// Stands around all routes.
pub(super) async fn guard(State(app): State<App>, mut request: Request, next: Next) -> Result<Response, Error> {
    let route = request.extensions().get::<MatchedPath>().cloned();
    let route = route.as_ref().map_or("", MatchedPath::as_str);
    let Some((_, _, rule)) = operations::find(request.method(), route) else {
        let path = client_path(request.extensions(), request.uri().path());
        return Err(Error::Forbidden(format!("Not allowed: nobody may {} {path}", request.method())));
    };
    if opens(&app, rule, route) {
        return Ok(next.run(request).await);
    }
    // Authentication stands in front.
    let principal = request.extensions().get::<Arc<Principal>>().cloned().ok_or(Error::NotAuthenticated);
    if let Ok(principal) = &principal
        && principal.unrestricted
    {
        let access = app.access(Arc::clone(principal)).await?;
        request.extensions_mut().insert(access);
        return Ok(next.run(request).await);
    }
    let asked = audit::Asked::of(&request);
    let changes = rule.changes(request.method());
    let mut trace = Trace::default();
    let response = match admit(&app, rule, principal, request, &mut trace).await {
        Ok(request) => next.run(request).await,
        Err(error) => {
            let mut response = error.into_response();
            response.extensions_mut().insert(Denied);
            response
        }
    };
    audit::keep(&app, &asked, trace, changes, response.status());
    Ok(response)
}

/// Lets a request through that may do what it asks for, with its caller.
async fn admit(
    app: &App,
    rule: &Rule,
    principal: Result<Arc<Principal>, Error>,
    request: Request,
    trace: &mut Trace,
) -> Result<Request, Error> {
    let principal = principal?;
    trace.principal = Some(Arc::clone(&principal));
    let (mut parts, body) = request.into_parts();
    // Before anything is refused, or the connection would be closed on a client that is still sending.
    let (content, body) = match parts.method {
        Method::GET | Method::HEAD => (None, body),
        _ => {
            let content = read_body(body, app.config.max_body_bytes).await?;
            let again = body::Body::from(content.0.clone());
            (Some(content), again)
        }
    };
    let access = decide(app, rule, principal, &mut parts, content.as_ref(), trace).await?;
    parts.extensions.insert(access);
    Ok(Request::from_parts(parts, body))
}

async fn decide(
    app: &App,
    rule: &Rule,
    principal: Arc<Principal>,
    parts: &mut Parts,
    body: Option<&Body>,
    trace: &mut Trace,
) -> Result<Caller, Error> {
    if *rule == Rule::LoadTable {
        let access = app.access_from_memory(Arc::clone(&principal)).await?;
        if let Ok(needs) = needs::needs(rule, app, parts, body).await
            && needs.iter().all(|need| access.may(&need.action, &need.object))
        {
            return traced(access, needs, trace);
        }
        // Memory may be old, and a new grant allow it.
    }
    let access = app.access(principal).await?;
    let needs = needs_of(rule, app, &access, parts, body).await?;
    traced(access, needs, trace)
}

/// What a request needs. One that makes no sense tells a caller so only in a warehouse that it may see: elsewhere it is
/// answered as if there were none, sense or not.
async fn needs_of(
    rule: &Rule,
    app: &App,
    access: &Caller,
    parts: &mut Parts,
    body: Option<&Body>,
) -> Result<Vec<Need>, Error> {
    let error = match needs::needs(rule, app, parts, body).await {
        Ok(needs) => return Ok(needs),
        Err(error) => error,
    };
    match needs::warehouse(rule, app, parts).await? {
        Some((name, row)) if !access.may(&Action::See, &Object::Warehouse(row.id.clone())) => {
            Err(WarehouseError::NotFound(name).into())
        }
        _ => Err(error),
    }
}

/// Decides on each of the needs, and notes what was decided.
fn traced(access: Caller, needs: Vec<Need>, trace: &mut Trace) -> Result<Caller, Error> {
    let mut allowed_by = None;
    let refused = needs.iter().find_map(|need| match access.decide(&need.action, &need.object) {
        Decision::Unrestricted => None,
        Decision::Allowed(grant) => {
            allowed_by = Some(&grant.id);
            None
        }
        Decision::Denied { visible } => Some(refusal(&access, need, visible)),
    });
    trace.grant_id = allowed_by.cloned();
    trace.denied = refused.is_some();
    trace.needs = needs;
    refused.map_or(Ok(access), Err)
}

/// Refuses what the caller may not do: as not allowed, or as absent where it must not know of it.
pub(super) fn require(access: &Caller, need: &Need) -> Result<(), Error> {
    match access.decide(&need.action, &need.object) {
        Decision::Unrestricted | Decision::Allowed(_) => Ok(()),
        Decision::Denied { visible } => Err(refusal(access, need, visible)),
    }
}

fn refusal(access: &Caller, need: &Need, visible: bool) -> Error {
    if !visible {
        return need.named.absent();
    }
    Error::Forbidden(format!("Not allowed: {} lacks {} on {}", access.principal.name, need.action, need.named))
}

/// Decides once more about a table that was let through by what is in memory, if that is older than this version.
/// Answers the caller as of this version: what else is decided about it must not be old either.
pub(super) async fn still_reads(
    app: &App,
    access: Caller,
    version: i64,
    warehouse: &warehouses::Warehouse,
    ident: &TableIdent,
) -> Result<Caller, Error> {
    if access.principal.unrestricted || access.granted.version >= version {
        return Ok(access);
    }
    let access = app.access_at(access.principal, version).await?;
    require(&access, &Need::warehouse(Action::See, warehouse))?;
    require(&access, &Need::table(Action::Read, &warehouse.id, Kind::Table, ident))?;
    Ok(access)
}

/// Whether the caller may read a table or view.
pub(super) fn reads(access: &Caller, warehouse_id: &str, ident: &TableIdent) -> bool {
    access.may(&Action::Read, &Object::Table(warehouse_id.to_owned(), ident.clone()))
}

/// Whether the caller may change a table or view.
pub(super) fn writes(access: &Caller, warehouse_id: &str, ident: &TableIdent) -> bool {
    access.may(&Action::Write, &Object::Table(warehouse_id.to_owned(), ident.clone()))
}
