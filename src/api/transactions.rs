//! Commits to several tables at once.

use super::error::{Error, IcebergErrorResponse};
use super::extract::{Body, InWarehouse};
use super::model::CommitTransactionRequest;
use crate::app::{Agent, App};
use crate::auth::Caller;
use crate::commit::{self, Once, TableChange};
use crate::spec::{self, CommitTableRequest, TableIdent};
use axum::extract::State;
use axum::http::StatusCode;
use serde::Deserialize;
use serde_json::value::RawValue;

/// Commits to several tables: all of them, or none.
#[utoipa::path(
    post, path = "/iceberg/v1/{prefix}/transactions/commit", operation_id = "commitTransaction", tag = "catalog",
    params(("prefix" = String, Path)), request_body = CommitTransactionRequest,
    responses(
        (status = 204),
        (status = 400, body = IcebergErrorResponse),
        (status = 404, body = IcebergErrorResponse),
        (status = 409, body = IcebergErrorResponse),
        (status = 413, body = IcebergErrorResponse),
        (status = 500, description = "the outcome is unknown", body = IcebergErrorResponse),
        (status = 503, description = "storage or database is not reachable, nothing was changed", body = IcebergErrorResponse)
    )
)]
pub(super) async fn commit_transaction(
    State(app): State<App>,
    InWarehouse(warehouse): InWarehouse,
    caller: Caller,
    agent: Agent,
    once: Once,
    body: Body,
) -> Result<StatusCode, Error> {
    let change = |(ident, request)| TableChange { ident, request, caller: caller.clone(), agent: agent.clone() };
    let changes: Vec<_> = requests(&app, &body)?.into_iter().map(change).collect();
    let at = app.clone();
    app.finish(async move {
        commit::commit_tables(&at, &warehouse, &changes, &once).await?;
        Ok(StatusCode::NO_CONTENT)
    })
    .await
}

/// The changes with their texts as they were sent: numbers keep all their digits.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Request<'a> {
    #[serde(borrow)]
    table_changes: Vec<&'a RawValue>,
}

/// The commits of a transaction, each with its table.
pub(super) fn requests(app: &App, body: &Body) -> Result<Vec<(TableIdent, CommitTableRequest)>, Error> {
    spec::json::Object::parse_document(&body.0)?;
    let request: Request<'_> = body.borrowed()?;
    if request.table_changes.is_empty() {
        return Err(Error::BadRequest("Invalid transaction: table-changes is empty".into()));
    }
    request.table_changes.into_iter().map(|raw| change(app, raw)).collect()
}

fn change(app: &App, raw: &RawValue) -> Result<(TableIdent, CommitTableRequest), Error> {
    let request = app.names(CommitTableRequest::parse_raw(raw)?);
    match request.identifier.clone() {
        Some(ident) => Ok((ident, request)),
        None => Err(Error::BadRequest("Invalid transaction: a change has no identifier".into())),
    }
}
