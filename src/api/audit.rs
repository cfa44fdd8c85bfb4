//! The audit log: what goes into it, and the list under `/management/v1`.

use super::authorise::Trace;
use super::error::{Error, IcebergErrorResponse};
use super::extract::{Query, client_path};
use crate::app::App;
use crate::store::audit::{self, Entry, Filter};
use crate::store::tasks::new_id;
use axum::Json;
use axum::extract::{MatchedPath, Request, State};
use axum::http::header::USER_AGENT;
use axum::http::{HeaderValue, Method, StatusCode};
use serde::Serialize;
use std::sync::Arc;
use tower_http::request_id::RequestId;
use utoipa::ToSchema;

/// What a client calls the project that it works for.
const PROJECT: &str = "x-goog-user-project";

/// Longest text of a client's that is kept, in bytes.
const MAX_BYTES: usize = 300;

/// An entry of the audit log.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) struct AuditEntry {
    id: String,
    /// When, epoch milliseconds.
    at_ms: i64,
    /// Who; empty where nobody said who they are.
    principal: String,
    /// Method and route.
    operation: String,
    path: String,
    /// What the request came down to: `write on table a.t`.
    actions: String,
    /// `allowed` or `denied`.
    decision: &'static str,
    /// The grant that allowed the last of the actions.
    #[serde(skip_serializing_if = "Option::is_none")]
    grant_id: Option<String>,
    /// The status of the reply.
    status: u16,
    user_agent: String,
    /// What the client calls its project; it allows nothing.
    project: String,
    request_id: String,
}

impl From<Entry> for AuditEntry {
    fn from(entry: Entry) -> Self {
        Self {
            id: entry.id,
            at_ms: entry.at_ms,
            principal: entry.principal,
            operation: entry.operation,
            path: entry.path,
            actions: entry.actions,
            decision: if entry.allowed { "allowed" } else { "denied" },
            grant_id: entry.grant_id,
            status: entry.status,
            user_agent: entry.user_agent,
            project: entry.project,
            request_id: entry.request_id,
        }
    }
}

/// A part of the audit log, the newest entries first.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) struct ListAuditResponse {
    entries: Vec<AuditEntry>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_page_token: Option<String>,
}

/// Who changed what, and what was refused.
#[utoipa::path(
    get, path = "/management/v1/audit", operation_id = "listAudit", tag = "management",
    params(
        ("principal" = Option<String>, Query, description = "only what this caller did; empty: what nobody known did"),
        ("since" = Option<i64>, Query, description = "only what was done at this time or later, epoch milliseconds"),
        ("pageToken" = Option<String>, Query), ("pageSize" = Option<u32>, Query)
    ),
    responses(
        (status = 200, body = ListAuditResponse),
        (status = 400, body = IcebergErrorResponse),
        (status = 403, body = IcebergErrorResponse)
    )
)]
pub(super) async fn list_audit(State(app): State<App>, query: Query) -> Result<Json<ListAuditResponse>, Error> {
    let page = query.bounded_page()?;
    let since_ms = match query.filled("since") {
        None => 0,
        Some(text) => text.parse().map_err(|_| {
            Error::BadRequest(format!("Invalid since: expected a time in milliseconds since 1970, found {text}"))
        })?,
    };
    let filter = Filter { principal: query.find("principal"), since_ms };
    app.write_audit().await;
    let listing = audit::list(&app.db, filter, &page).await?;
    Ok(Json(ListAuditResponse {
        next_page_token: query.next_page_token(&listing),
        entries: listing.items.into_iter().map(AuditEntry::from).collect(),
    }))
}

/// What is known of a request before it is answered. Most requests leave no entry, so nothing is put into words yet.
#[derive(Debug)]
pub(super) struct Asked {
    method: Method,
    route: Option<MatchedPath>,
    path: Arc<str>,
    user_agent: Option<HeaderValue>,
    project: Option<HeaderValue>,
    request_id: Option<RequestId>,
}

impl Asked {
    pub(super) fn of(request: &Request) -> Self {
        let (extensions, headers) = (request.extensions(), request.headers());
        Self {
            method: request.method().clone(),
            route: extensions.get().cloned(),
            path: client_path(extensions, request.uri().path()),
            user_agent: headers.get(USER_AGENT).cloned(),
            project: headers.get(PROJECT).cloned(),
            request_id: extensions.get().cloned(),
        }
    }
}

/// Keeps what became of a request: in the log of events, and, if it was a change or was refused, in the database.
pub(super) fn keep(app: &App, asked: &Asked, trace: Trace, changes: bool, status: StatusCode) {
    let denied = trace.denied || [StatusCode::UNAUTHORIZED, StatusCode::FORBIDDEN].contains(&status);
    let kept = changes || denied;
    if !kept && !tracing::enabled!(target: "audit", tracing::Level::DEBUG) {
        return;
    }
    let (at_ms, actions) = (app.clock.now_ms(), trace.actions());
    let entry = Entry {
        id: new_id(at_ms, &app.ids.uuid()),
        at_ms,
        principal: trace.principal.map_or_else(String::new, |principal| principal.name.clone()),
        operation: format!("{} {}", asked.method, asked.route.as_ref().map_or("", MatchedPath::as_str)),
        path: plain(&asked.path),
        actions,
        allowed: !denied,
        grant_id: trace.grant_id,
        status: status.as_u16(),
        user_agent: text(asked.user_agent.as_ref()),
        project: text(asked.project.as_ref()),
        request_id: text(asked.request_id.as_ref().map(RequestId::header_value)),
    };
    macro_rules! event {
        ($level:ident) => {
            tracing::$level!(
                target: "audit",
                principal = entry.principal, operation = entry.operation, path = entry.path, actions = entry.actions,
                allowed = entry.allowed, grant = entry.grant_id, status = entry.status,
                user_agent = entry.user_agent, project = entry.project, request_id = entry.request_id,
                "request"
            )
        };
    }
    if kept {
        event!(info);
        app.audit(entry);
    } else {
        event!(debug);
    }
}

fn text(header: Option<&HeaderValue>) -> String {
    plain(header.and_then(|value| value.to_str().ok()).unwrap_or_default())
}

/// What a client wrote, as plain text of a bounded length.
fn plain(text: &str) -> String {
    text.chars().filter(|c| matches!(c, ' '..='~')).take(MAX_BYTES).collect()
}
