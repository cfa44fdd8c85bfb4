//! Who may do what on what, under `/management/v1`.

use super::authorise::{Need, require};
use super::error::{Error, IcebergErrorResponse};
use super::extract::{Body, GrantPath, Query};
use super::visible::filled;
use crate::app::{App, Names};
use crate::auth::{Action, Caller, Decision, Grant, Grantee, Object, Principal, Privilege};
use crate::commit::{self, Target};
use crate::spec::{Namespace, TableIdent};
use crate::store::grants::{self, GrantRow, On};
use crate::store::tables::Kind;
use crate::store::{self, Entity};
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use utoipa::ToSchema;

/// Who is given something: either a user or a role.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum GranteeModel {
    /// A principal, by its name.
    User(String),
    /// Everyone who has a role, by its name.
    Role(String),
}

impl From<GranteeModel> for Grantee {
    fn from(model: GranteeModel) -> Self {
        match model {
            GranteeModel::User(name) => Self::User(name),
            GranteeModel::Role(name) => Self::Role(name),
        }
    }
}

impl From<Grantee> for GranteeModel {
    fn from(grantee: Grantee) -> Self {
        match grantee {
            Grantee::User(name) => Self::User(name),
            Grantee::Role(name) => Self::Role(name),
        }
    }
}

/// What a grant is on: a table or view, else a namespace, else a warehouse, else the whole server.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ObjectModel {
    #[serde(skip_serializing_if = "Option::is_none")]
    warehouse: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<String>>)]
    namespace: Option<Namespace>,
    #[serde(skip_serializing_if = "Option::is_none")]
    table: Option<String>,
}

impl Names for ObjectModel {
    fn lower(&mut self) {
        self.namespace.lower();
        self.table.lower();
    }
}

/// A grant.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) struct GrantModel {
    id: String,
    grantee: GranteeModel,
    /// `viewer`, `editor`, `admin`, `commit-to-ref`, `upgrade-format-version`, `drop`, `purge` or `manage-grants`.
    privilege: String,
    /// The branch or tag of `commit-to-ref`.
    #[serde(skip_serializing_if = "String::is_empty", rename = "ref")]
    ref_name: String,
    on: ObjectModel,
    /// The id of a table that is dropped and may come back: the grant waits for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    dropped_table_id: Option<String>,
    created_by: String,
    /// Epoch milliseconds.
    created_ms: i64,
}

impl From<GrantRow> for GrantModel {
    fn from(row: GrantRow) -> Self {
        let mut on = ObjectModel { warehouse: row.warehouse, ..ObjectModel::default() };
        let mut dropped_table_id = None;
        match (row.on, row.table) {
            (On::Server | On::Warehouse(_), _) => {}
            (On::Namespace(_, namespace), _) => on.namespace = Some(namespace),
            (On::Table(..), Some(table)) => {
                on.namespace = Some(table.ident.namespace);
                on.table = Some(table.ident.name);
            }
            (On::Table(_, id), None) => dropped_table_id = Some(id),
        }
        Self {
            id: row.id,
            grantee: row.grantee.into(),
            privilege: row.privilege,
            ref_name: row.ref_name,
            on,
            dropped_table_id,
            created_by: row.created_by,
            created_ms: row.created_ms,
        }
    }
}

/// A list of grants.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) struct ListGrantsResponse {
    grants: Vec<GrantModel>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_page_token: Option<String>,
}

/// A grant to make.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CreateGrantRequest {
    grantee: GranteeModel,
    privilege: String,
    /// The branch or tag of `commit-to-ref`.
    #[serde(default, rename = "ref")]
    ref_name: String,
    #[serde(default)]
    on: ObjectModel,
}

impl Names for CreateGrantRequest {
    fn lower(&mut self) {
        self.on.lower();
    }
}

/// Whether something is allowed, and why.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) struct CheckResponse {
    allowed: bool,
    /// Whether it is known to be there.
    visible: bool,
    /// In a sentence.
    reason: String,
    /// The grant that allows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    grant: Option<GrantModel>,
}

/// Grants: the caller's own, and those that it may take back.
#[utoipa::path(
    get, path = "/management/v1/grants", operation_id = "listGrants", tag = "management",
    params(("pageToken" = Option<String>, Query), ("pageSize" = Option<u32>, Query)),
    responses((status = 200, body = ListGrantsResponse), (status = 400, body = IcebergErrorResponse))
)]
pub(super) async fn list_grants(
    State(app): State<App>,
    access: Caller,
    query: Query,
) -> Result<Json<ListGrantsResponse>, Error> {
    let read = |db, page| async move { grants::list(&db, &page).await };
    let shown = |row: &GrantRow| is_shown(&access, row);
    let listing = filled(&app.db, &query.bounded_page()?, read, |row| row.id.clone(), shown).await?;
    Ok(Json(ListGrantsResponse {
        next_page_token: query.next_page_token(&listing),
        grants: listing.items.into_iter().map(GrantModel::from).collect(),
    }))
}

/// Grants something. Nobody grants what they may not do themselves.
#[utoipa::path(
    post, path = "/management/v1/grants", operation_id = "createGrant", tag = "management",
    request_body = CreateGrantRequest,
    responses(
        (status = 200, description = "the grant is there, and was perhaps before", body = GrantModel),
        (status = 400, body = IcebergErrorResponse),
        (status = 403, description = "the caller may not grant that", body = IcebergErrorResponse),
        (status = 404, description = "no such object", body = IcebergErrorResponse)
    )
)]
pub(super) async fn create_grant(
    State(app): State<App>,
    access: Caller,
    body: Body,
) -> Result<Json<GrantModel>, Error> {
    let request: CreateGrantRequest = app.names(body.json()?);
    let privilege = Privilege::new(&request.privilege, &request.ref_name).ok_or_else(|| wrong_privilege(&request))?;
    let target = find(&app, &access, &request.on).await?;
    may_grant(&access, &privilege, &object(&target), &shown(&request.on))?;
    let grantee = Grantee::from(request.grantee);
    let at = app.clone();
    app.finish(async move {
        let what = (privilege.as_str(), privilege.ref_name());
        let (row, _) = commit::make_grant(&at, &grantee, what, &target.on, &access.principal.name).await?;
        Ok(Json(row.into()))
    })
    .await
}

/// Takes a grant back. Who may not make it may not do that, either.
#[utoipa::path(
    delete, path = "/management/v1/grants/{grant}", operation_id = "deleteGrant", tag = "management",
    params(("grant" = String, Path)),
    responses(
        (status = 204),
        (status = 403, body = IcebergErrorResponse),
        (status = 404, body = IcebergErrorResponse)
    )
)]
pub(super) async fn delete_grant(
    State(app): State<App>,
    GrantPath(id): GrantPath,
    access: Caller,
) -> Result<StatusCode, Error> {
    let row = grants::load(&app.db, &id).await?.filter(|row| is_shown(&access, row));
    let row = row.ok_or_else(|| store::Error::NotFound(Entity::Grant(id.clone())))?;
    let on = object_of(&row);
    match Privilege::new(&row.privilege, &row.ref_name) {
        Some(privilege) => may_grant(&access, &privilege, &on, "its object")?,
        // What a newer version granted, only those may take back who may do everything.
        None => may_grant(&access, &Privilege::Admin, &on, "its object")?,
    }
    let at = app.clone();
    app.finish(async move {
        commit::take_back(&at, &id).await?;
        Ok(StatusCode::NO_CONTENT)
    })
    .await
}

/// Whether the caller, or who else is named, may do something, and why. Of others only those learn it who manage grants
/// there.
#[utoipa::path(
    get, path = "/management/v1/check", operation_id = "checkAccess", tag = "management",
    params(
        ("user" = Option<String>, Query, description = "the caller where left out"),
        ("role" = Option<Vec<String>>, Query, description = "roles that this user has"),
        ("action" = String, Query, description = "`see`, `read`, `create`, `write`, `commit-to-ref:NAME`, `upgrade-format-version`, `drop`, `purge`, `manage-grants` or `administer`"),
        ("warehouse" = Option<String>, Query),
        ("namespace" = Option<String>, Query, description = "levels joined by 0x1F"),
        ("table" = Option<String>, Query)
    ),
    responses(
        (status = 200, body = CheckResponse),
        (status = 400, body = IcebergErrorResponse),
        (status = 403, body = IcebergErrorResponse),
        (status = 404, description = "no such object", body = IcebergErrorResponse)
    )
)]
pub(super) async fn check_access(
    State(app): State<App>,
    access: Caller,
    query: Query,
) -> Result<Json<CheckResponse>, Error> {
    let action = query.filled("action").unwrap_or_default();
    let action = Action::parse(action).ok_or_else(|| wrong_action(action))?;
    let on = app.names(ObjectModel {
        warehouse: query.filled("warehouse").map(str::to_owned),
        namespace: query.namespace()?,
        table: query.filled("table").map(str::to_owned),
    });
    let target = find(&app, &access, &on).await?;
    let object = object(&target);
    let asked = match query.filled("user") {
        None => access,
        Some(user) => {
            require(&access, &need(Action::ManageGrants, &target))?;
            let roles = query.all("role").map(str::to_owned).collect();
            app.access(Arc::new(Principal { name: user.to_owned(), roles, unrestricted: false })).await?
        }
    };
    let who = &asked.principal.name;
    let (allowed, visible, grant) = match asked.decide(&action, &object) {
        Decision::Unrestricted => (true, true, None),
        Decision::Allowed(grant) => (true, true, grants::load(&app.db, &grant.id).await?),
        Decision::Denied { visible } => (false, visible, None),
    };
    let reason = match &grant {
        Some(row) => format!("{who} may {action} on {}: granted as {}", shown(&on), row.privilege),
        None if allowed => format!("{who} may {action} on {}: this server runs without authentication", shown(&on)),
        None => format!("{who} may not {action} on {}: no grant allows it", shown(&on)),
    };
    Ok(Json(CheckResponse { allowed, visible, reason, grant: grant.map(GrantModel::from) }))
}

/// What a request names, if the caller may see it.
async fn find(app: &App, access: &Caller, on: &ObjectModel) -> Result<Target, Error> {
    // Decided by the names first: what must not be known of is absent, whether it is there or not.
    let row = match &on.warehouse {
        Some(name) => store::warehouses::load(&app.db, name).await?,
        None => None,
    };
    if let Some(row) = &row {
        require(access, &Need::warehouse(Action::See, row))?;
        if let Some(namespace) = &on.namespace {
            let need = match &on.table {
                Some(table) => {
                    let ident = TableIdent::new(namespace.clone(), table.clone())?;
                    Need::table(Action::See, &row.id, Kind::Table, &ident)
                }
                None => Need::namespace(Action::See, &row.id, namespace),
            };
            require(access, &need)?;
        }
    }
    Ok(commit::find_target(app, on.warehouse.as_deref(), on.namespace.as_ref(), on.table.as_deref()).await?)
}

/// Refuses to let somebody grant more than they have.
fn may_grant(access: &Caller, privilege: &Privilege, object: &Object, named: &str) -> Result<(), Error> {
    let needed = std::iter::once(Action::ManageGrants).chain(privilege.actions());
    let lacking = needed.filter(|action| !access.may(action, object)).map(|action| action.to_string());
    match lacking.collect::<Vec<_>>().as_slice() {
        [] => Ok(()),
        lacking => Err(Error::Forbidden(format!(
            "Not allowed: {} cannot grant {privilege} on {named}, lacking {} there",
            access.principal.name,
            lacking.join(", ")
        ))),
    }
}

/// Whether a grant is the caller's own, or one that it manages.
fn is_shown(access: &Caller, row: &GrantRow) -> bool {
    let own = Grant::from_row(row.clone()).is_some_and(|grant| grant.is_for(&access.principal));
    own || access.may(&Action::ManageGrants, &object_of(row))
}

/// What a grant is on. One on a table that has no name now is its warehouse's matter.
fn object_of(row: &GrantRow) -> Object {
    match (&row.on, &row.table) {
        (On::Server, _) => Object::Server,
        (On::Table(id, _), Some(table)) => Object::Table(id.clone(), table.ident.clone()),
        (On::Namespace(id, namespace), _) => Object::Namespace(id.clone(), namespace.clone()),
        (On::Warehouse(id) | On::Table(id, _), _) => Object::Warehouse(id.clone()),
    }
}

fn object(target: &Target) -> Object {
    match (&target.on, &target.table) {
        (On::Server, _) => Object::Server,
        (On::Namespace(id, namespace), _) => Object::Namespace(id.clone(), namespace.clone()),
        (On::Table(id, _), Some(row)) => Object::Table(id.clone(), row.ident.clone()),
        (On::Warehouse(id) | On::Table(id, _), _) => Object::Warehouse(id.clone()),
    }
}

fn need(action: Action, target: &Target) -> Need {
    match (&target.on, &target.warehouse, &target.table) {
        (On::Namespace(id, namespace), ..) => Need::namespace(action, id, namespace),
        (On::Table(id, _), _, Some(row)) => Need::table(action, id, row.kind, &row.ident),
        (_, Some(warehouse), _) => Need::warehouse(action, warehouse),
        _ => Need::server(action),
    }
}

fn shown(on: &ObjectModel) -> String {
    match (&on.warehouse, &on.namespace, &on.table) {
        (Some(_), Some(namespace), Some(table)) => format!("table {namespace}.{table}"),
        (Some(_), Some(namespace), None) => format!("namespace {namespace}"),
        (Some(warehouse), ..) => format!("warehouse {warehouse}"),
        _ => "this server".to_owned(),
    }
}

fn wrong_privilege(request: &CreateGrantRequest) -> Error {
    let known = Privilege::NAMES.join(", ");
    Error::BadRequest(format!(
        "Invalid privilege: expected one of {known}, and a ref with commit-to-ref alone; found {} with ref `{}`",
        request.privilege, request.ref_name
    ))
}

fn wrong_action(found: &str) -> Error {
    let known = Action::PLAIN.iter().map(Action::as_str).collect::<Vec<_>>().join(", ");
    Error::BadRequest(format!("Invalid action: expected one of {known}, or commit-to-ref:NAME; found `{found}`"))
}
