//! Tables.

use super::access::Asks;
use super::authorise::still_reads;
use super::error::{Error, IcebergErrorResponse};
use super::extract::{Body, InWarehouse, NamespacePath, Query, TablePath};
use super::load_result::{entity_tag, header_value, holds, json, loaded, made, secret_json, whole};
use super::model::{
    CommitTableRequest, CommitTableResponse, CreateTableRequest, ListTablesResponse, LoadTableResult,
    RegisterTableRequest, RenameTableRequest, TableIdentifier,
};
use super::visible;
use crate::app::{Agent, App, Use, Warehouse};
use crate::auth::Caller;
use crate::commit::{self, Created, Once, RegisterRequest, Subject, TableChange};
use crate::config::RegisterCheck;
use crate::spec::{self, Namespace, TableIdent, TableMetadata};
use crate::store::tables::{self, Kind};
use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};

/// Tables of a namespace.
#[utoipa::path(
    get, path = "/iceberg/v1/{prefix}/namespaces/{namespace}/tables", operation_id = "listTables", tag = "catalog",
    params(
        ("prefix" = String, Path), ("namespace" = String, Path),
        ("pageToken" = Option<String>, Query), ("pageSize" = Option<u32>, Query)
    ),
    responses(
        (status = 200, body = ListTablesResponse),
        (status = 400, body = IcebergErrorResponse),
        (status = 404, body = IcebergErrorResponse)
    )
)]
pub(super) async fn list_tables(
    State(app): State<App>,
    InWarehouse(warehouse): InWarehouse,
    NamespacePath(namespace): NamespacePath,
    access: Caller,
    query: Query,
) -> Result<Json<ListTablesResponse>, Error> {
    list(&app, &access, &warehouse, &namespace, Kind::Table, &query).await
}

/// The page of a namespace's tables, or of its views, that a query asks for: of those that the caller may see.
pub(super) async fn list(
    app: &App,
    access: &Caller,
    warehouse: &Warehouse,
    namespace: &Namespace,
    kind: Kind,
    query: &Query,
) -> Result<Json<ListTablesResponse>, Error> {
    let page = query.page()?;
    let listing = match visible::tables(access, &warehouse.row.id, namespace, kind, &page) {
        Some(some) => some,
        None => tables::list(&app.db, &warehouse.row.id, namespace, kind, &page).await?,
    };
    let ident = |name| TableIdentifier { namespace: namespace.clone(), name };
    Ok(Json(ListTablesResponse {
        next_page_token: query.next_page_token(&listing),
        identifiers: listing.items.into_iter().map(ident).collect(),
    }))
}

/// Creates a table, or stages it for a commit that creates it.
#[utoipa::path(
    post, path = "/iceberg/v1/{prefix}/namespaces/{namespace}/tables", operation_id = "createTable", tag = "catalog",
    params(
        ("prefix" = String, Path), ("namespace" = String, Path),
        ("X-Iceberg-Access-Delegation" = Option<String>, Header, description = "what the client can do: `vended-credentials`, `remote-signing`")
    ),
    request_body = CreateTableRequest,
    responses(
        (status = 200, body = LoadTableResult),
        (status = 400, body = IcebergErrorResponse),
        (status = 404, description = "no such namespace", body = IcebergErrorResponse),
        (status = 409, body = IcebergErrorResponse),
        (status = 413, body = IcebergErrorResponse),
        (status = 503, description = "storage or database is not reachable, nothing was changed", body = IcebergErrorResponse)
    )
)]
pub(super) async fn create_table(
    State(app): State<App>,
    InWarehouse(warehouse): InWarehouse,
    NamespacePath(namespace): NamespacePath,
    (caller, asks): (Caller, Asks),
    once: Once,
    body: Body,
) -> Result<Response, Error> {
    let request = app.names(spec::CreateTableRequest::parse(&body.0)?);
    let at = app.clone();
    app.finish(async move {
        match commit::create_table(&at, &warehouse, &namespace, &request, &caller, &once).await? {
            Created::Table(stored) => {
                let ident = TableIdent::new(namespace, request.name)?;
                Ok(made(&at, &warehouse, &ident, &stored, asks.of(&caller, &warehouse, &ident)).await)
            }
            Created::Staged(staged) => {
                let subject = Subject { ident: &staged.ident, id: "", location: &staged.location };
                let granted = match asks.of(&caller, &warehouse, &staged.ident) {
                    Some(asker) => commit::grant(&at, &warehouse, subject, asker).await?,
                    None => None,
                };
                Ok(match granted {
                    Some(grant) => secret_json(staged.granted_reply(&grant)),
                    None => json(staged.reply),
                })
            }
        }
    })
    .await
}

/// Points a name at a metadata file that exists.
#[utoipa::path(
    post, path = "/iceberg/v1/{prefix}/namespaces/{namespace}/register", operation_id = "registerTable",
    tag = "catalog",
    params(
        ("prefix" = String, Path), ("namespace" = String, Path),
        ("check" = Option<String>, Query, description = "`warn` or `deny`, where that is stricter than the settings"),
        ("X-Iceberg-Access-Delegation" = Option<String>, Header, description = "what the client can do: `vended-credentials`, `remote-signing`")
    ),
    request_body = RegisterTableRequest,
    responses(
        (status = 200, body = LoadTableResult),
        (status = 400, body = IcebergErrorResponse),
        (status = 404, description = "no such namespace, or no such file", body = IcebergErrorResponse),
        (status = 409, body = IcebergErrorResponse),
        (status = 413, body = IcebergErrorResponse),
        (status = 503, body = IcebergErrorResponse)
    )
)]
#[expect(clippy::too_many_arguments, reason = "one for each part of the request")]
pub(super) async fn register_table(
    State(app): State<App>,
    InWarehouse(warehouse): InWarehouse,
    NamespacePath(namespace): NamespacePath,
    query: Query,
    (caller, asks): (Caller, Asks),
    once: Once,
    body: Body,
) -> Result<Response, Error> {
    let request: RegisterTableRequest = app.names(body.json()?);
    let ident = TableIdent::new(namespace.clone(), request.name.clone())?;
    let request = RegisterRequest {
        name: request.name,
        metadata_location: request.metadata_location,
        overwrite: request.overwrite.unwrap_or(false),
        check: match query.filled("check") {
            None => RegisterCheck::Off,
            Some(text) => text
                .parse()
                .map_err(|_| Error::BadRequest(format!("Invalid check: expected off, warn or deny, found {text}")))?,
        },
    };
    let at = app.clone();
    app.finish(async move {
        let stored = commit::register::<TableMetadata>(&at, &warehouse, &namespace, &request, &caller, &once).await?;
        Ok(made(&at, &warehouse, &ident, &stored, asks.of(&caller, &warehouse, &ident)).await)
    })
    .await
}

/// A table's metadata. `snapshots=refs` leaves out snapshots that no branch or tag points to.
#[utoipa::path(
    get, path = "/iceberg/v1/{prefix}/namespaces/{namespace}/tables/{table}", operation_id = "loadTable",
    tag = "catalog",
    params(
        ("prefix" = String, Path), ("namespace" = String, Path), ("table" = String, Path),
        ("snapshots" = Option<String>, Query, description = "`all` or `refs`"),
        ("referenced-by" = Option<String>, Query, description = "the views through which the table is read"),
        ("If-None-Match" = Option<String>, Header, description = "the `ETag` of what the client holds"),
        ("X-Iceberg-Access-Delegation" = Option<String>, Header, description = "what the client can do: `vended-credentials`, `remote-signing`")
    ),
    responses(
        (status = 200, body = LoadTableResult),
        (status = 304, description = "the client holds this version"),
        (status = 400, body = IcebergErrorResponse),
        (status = 404, body = IcebergErrorResponse),
        (status = 503, body = IcebergErrorResponse)
    )
)]
#[expect(clippy::too_many_arguments, reason = "one for each part of the request")]
pub(super) async fn load_table(
    State(app): State<App>,
    InWarehouse(warehouse): InWarehouse,
    TablePath(ident): TablePath,
    query: Query,
    agent: Agent,
    (caller, asks): (Caller, Asks),
    headers: HeaderMap,
) -> Result<Response, Error> {
    query.check_referenced_by()?;
    let refs_only = match query.filled("snapshots") {
        None => false,
        Some(mode) if mode.eq_ignore_ascii_case("all") => false,
        Some(mode) if mode.eq_ignore_ascii_case("refs") => true,
        Some(mode) => {
            return Err(Error::BadRequest(format!("Invalid snapshots: expected all or refs, found {mode}")));
        }
    };
    let (row, version) = commit::load_pointer_with_grants(&app, &warehouse, Kind::Table, &ident).await?;
    let caller = still_reads(&app, caller, version, &warehouse.row, &ident).await?;
    app.note_engine(&row.id, &agent, Use::Read);
    commit::verify_file(&app, &row.metadata_location).await?;
    // The location is in the metadata file, so without a grant nothing is read before the tags are compared.
    let grant = match asks.of(&caller, &warehouse, &ident) {
        None => None,
        Some(asker) => {
            let stored = commit::stored::<TableMetadata>(&app, &row.metadata_location).await?;
            let subject = Subject { ident: &ident, id: &row.id, location: &stored.metadata().location };
            commit::grant(&app, &warehouse, subject, asker).await?
        }
    };
    let tag = entity_tag(&row.metadata_location, refs_only, grant.as_ref());
    if holds(&headers, &tag) {
        return Ok((StatusCode::NOT_MODIFIED, [(header::ETAG, tag)]).into_response());
    }
    let stored = commit::stored::<TableMetadata>(&app, &row.metadata_location).await?;
    let mut response = if let Some(grant) = &grant {
        secret_json(stored.granted_reply(grant, refs_only))
    } else if refs_only {
        json(stored.refs_reply(&app.storage.client_config(&row.metadata_location)))
    } else {
        whole(&stored, &headers)
    };
    response.headers_mut().insert(header::ETAG, header_value(&tag));
    Ok(response)
}

/// Whether a table exists. Needs no metadata file.
#[utoipa::path(
    head, path = "/iceberg/v1/{prefix}/namespaces/{namespace}/tables/{table}", operation_id = "tableExists",
    tag = "catalog",
    params(("prefix" = String, Path), ("namespace" = String, Path), ("table" = String, Path)),
    responses((status = 204), (status = 400), (status = 404))
)]
pub(super) async fn table_exists(
    State(app): State<App>,
    InWarehouse(warehouse): InWarehouse,
    TablePath(ident): TablePath,
) -> Result<StatusCode, Error> {
    commit::load_pointer(&app, &warehouse, Kind::Table, &ident).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Commits to a table, or creates one that was staged.
#[utoipa::path(
    post, path = "/iceberg/v1/{prefix}/namespaces/{namespace}/tables/{table}", operation_id = "updateTable",
    tag = "catalog",
    params(("prefix" = String, Path), ("namespace" = String, Path), ("table" = String, Path)),
    request_body = CommitTableRequest,
    responses(
        (status = 200, body = CommitTableResponse),
        (status = 400, description = "an update is wrong, or would corrupt the table: `violations` says how", body = IcebergErrorResponse),
        (status = 404, body = IcebergErrorResponse),
        (status = 409, description = "a requirement does not hold", body = IcebergErrorResponse),
        (status = 413, body = IcebergErrorResponse),
        (status = 500, description = "the outcome is unknown", body = IcebergErrorResponse),
        (status = 503, description = "storage or database is not reachable, nothing was changed", body = IcebergErrorResponse)
    )
)]
pub(super) async fn update_table(
    State(app): State<App>,
    InWarehouse(warehouse): InWarehouse,
    TablePath(ident): TablePath,
    (caller, agent): (Caller, Agent),
    once: Once,
    body: Body,
) -> Result<Response, Error> {
    let request = app.names(spec::CommitTableRequest::parse(&body.0)?);
    if let Some(named) = &request.identifier
        && *named != ident
    {
        return Err(Error::BadRequest(format!("Invalid identifier: the path names {ident}, the body {named}")));
    }
    let change = TableChange { ident, request, caller, agent };
    let at = app.clone();
    app.finish(async move { Ok(loaded(&*commit::commit_table(&at, &warehouse, &change, &once).await?)) }).await
}

/// Drops a table. Works when its metadata file is gone or broken.
#[utoipa::path(
    delete, path = "/iceberg/v1/{prefix}/namespaces/{namespace}/tables/{table}", operation_id = "dropTable",
    tag = "catalog",
    params(
        ("prefix" = String, Path), ("namespace" = String, Path), ("table" = String, Path),
        ("purgeRequested" = Option<bool>, Query, description = "whether its files are deleted afterwards")
    ),
    responses((status = 204), (status = 400, body = IcebergErrorResponse), (status = 404, body = IcebergErrorResponse))
)]
pub(super) async fn drop_table(
    State(app): State<App>,
    InWarehouse(warehouse): InWarehouse,
    TablePath(ident): TablePath,
    query: Query,
    once: Once,
) -> Result<StatusCode, Error> {
    let purge = query.flag("purgeRequested")?;
    let at = app.clone();
    app.finish(async move {
        commit::drop(&at, &warehouse, Kind::Table, &ident, purge, &once).await?;
        Ok(StatusCode::NO_CONTENT)
    })
    .await
}

/// Takes a table out of the catalog and hands it over: its files stay, and the reply says where it is.
#[utoipa::path(
    post, path = "/iceberg/v1/{prefix}/namespaces/{namespace}/tables/{table}/unregister",
    operation_id = "unregisterTable", tag = "catalog",
    params(("prefix" = String, Path), ("namespace" = String, Path), ("table" = String, Path)),
    responses(
        (status = 200, body = CommitTableResponse),
        (status = 400, body = IcebergErrorResponse),
        (status = 404, body = IcebergErrorResponse),
        (status = 409, description = "others change the table all the time", body = IcebergErrorResponse),
        (status = 500, description = "the outcome is unknown", body = IcebergErrorResponse),
        (status = 503, body = IcebergErrorResponse)
    )
)]
pub(super) async fn unregister_table(
    State(app): State<App>,
    InWarehouse(warehouse): InWarehouse,
    TablePath(ident): TablePath,
    once: Once,
) -> Result<Response, Error> {
    let at = app.clone();
    app.finish(async move { Ok(loaded(&*commit::unregister(&at, &warehouse, &ident, &once).await?)) }).await
}

/// Renames a table. Works when its metadata file is gone or broken.
#[utoipa::path(
    post, path = "/iceberg/v1/{prefix}/tables/rename", operation_id = "renameTable", tag = "catalog",
    params(("prefix" = String, Path)), request_body = RenameTableRequest,
    responses(
        (status = 204),
        (status = 400, body = IcebergErrorResponse),
        (status = 404, body = IcebergErrorResponse),
        (status = 409, body = IcebergErrorResponse),
        (status = 413, body = IcebergErrorResponse)
    )
)]
pub(super) async fn rename_table(
    State(app): State<App>,
    InWarehouse(warehouse): InWarehouse,
    once: Once,
    body: Body,
) -> Result<StatusCode, Error> {
    let request: RenameTableRequest = app.names(body.json()?);
    let at = app.clone();
    app.finish(async move {
        commit::rename(&at, &warehouse, Kind::Table, &request.source, &request.destination, &once).await?;
        Ok(StatusCode::NO_CONTENT)
    })
    .await
}
