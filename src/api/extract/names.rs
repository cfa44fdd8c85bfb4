//! The names in a request's path: the warehouse, namespaces, tables, what management knows.

use crate::api::error::Error;
use crate::api::path::NO_PREFIX;
use crate::app::{App, Warehouse};
use crate::spec::{Namespace, TableIdent};
use crate::store::{self, Entity, warehouses};
use axum::extract::{FromRequestParts, RawPathParams};
use axum::http::request::Parts;
use std::sync::Arc;

/// The separator of a namespace's levels in a path, once decoded.
const SEPARATOR: char = '\u{1f}';

/// The names in a path, decoded.
async fn names(parts: &mut Parts, app: &App) -> Result<RawPathParams, Error> {
    let names = RawPathParams::from_request_parts(parts, app).await;
    names.map_err(|e| Error::BadRequest(format!("Invalid path: {}", e.body_text())))
}

fn find<'a>(names: &'a RawPathParams, key: &str) -> Result<&'a str, Error> {
    let found = names.iter().find(|(known, _)| *known == key);
    found.map(|(_, name)| name).ok_or_else(|| Error::BadRequest(format!("Invalid path: no {key}")))
}

/// The name that `key` stands for in the path.
async fn name(parts: &mut Parts, app: &App, key: &str) -> Result<String, Error> {
    find(&names(parts, app).await?, key).map(str::to_owned)
}

/// What the prefix of the path names: a warehouse, or none.
pub(in crate::api) async fn named_warehouse(parts: &mut Parts, app: &App) -> Result<Option<String>, Error> {
    let prefix = name(parts, app, "prefix").await?;
    Ok((prefix != NO_PREFIX).then_some(prefix))
}

/// The warehouse that the prefix of the path names.
#[derive(Debug)]
pub(in crate::api) struct InWarehouse(pub(in crate::api) Arc<Warehouse>);

impl FromRequestParts<App> for InWarehouse {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Error> {
        let named = named_warehouse(parts, app).await?;
        Ok(Self(app.warehouse(named.as_deref()).await?))
    }
}

/// `{namespace}` of the path.
#[derive(Debug)]
pub(in crate::api) struct NamespacePath(pub(in crate::api) Namespace);

impl FromRequestParts<App> for NamespacePath {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Error> {
        let names = names(parts, app).await?;
        let joined = find(&names, "namespace")?;
        if has_empty_level(joined) {
            return Err(store::Error::NotFound(Entity::Namespace(joined.replace(SEPARATOR, "."))).into());
        }
        Ok(Self(app.names(split_namespace(joined)?)))
    }
}

/// `{namespace}` and `{table}` of the path.
#[derive(Debug)]
pub(in crate::api) struct TablePath(pub(in crate::api) TableIdent);

impl FromRequestParts<App> for TablePath {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Error> {
        Ok(Self(app.names(named(&names(parts, app).await?, "table", Entity::Table)?)))
    }
}

/// `{namespace}` and `{view}` of the path.
#[derive(Debug)]
pub(in crate::api) struct ViewPath(pub(in crate::api) TableIdent);

impl FromRequestParts<App> for ViewPath {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Error> {
        Ok(Self(app.names(named(&names(parts, app).await?, "view", Entity::View)?)))
    }
}

/// `{namespace}` and `{function}` of the path.
#[derive(Debug)]
pub(in crate::api) struct FunctionPath(pub(in crate::api) TableIdent);

impl FromRequestParts<App> for FunctionPath {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Error> {
        let names = names(parts, app).await?;
        let namespace = split_namespace(find(&names, "namespace")?)?;
        Ok(Self(app.names(TableIdent::new(namespace, find(&names, "function")?)?)))
    }
}

/// `{namespace}`, `{table}` and `{plan-id}` of the path.
#[derive(Debug)]
pub(in crate::api) struct PlanPath(pub(in crate::api) TableIdent, pub(in crate::api) String);

impl FromRequestParts<App> for PlanPath {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Error> {
        let TablePath(ident) = TablePath::from_request_parts(parts, app).await?;
        Ok(Self(ident, name(parts, app, "plan-id").await?))
    }
}

/// `{name}` of a warehouse in a management path.
#[derive(Debug)]
pub(in crate::api) struct WarehousePath(pub(in crate::api) String);

impl FromRequestParts<App> for WarehousePath {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Error> {
        Ok(Self(name(parts, app, "warehouse").await?))
    }
}

/// The warehouse of a management path, ready for use; switched off or not.
#[derive(Debug)]
pub(in crate::api) struct ManagedWarehouse(pub(in crate::api) Arc<Warehouse>);

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
pub(in crate::api) struct TaskPath(pub(in crate::api) String);

impl FromRequestParts<App> for TaskPath {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Error> {
        Ok(Self(name(parts, app, "task").await?))
    }
}

/// `{grant}` of a management path.
#[derive(Debug)]
pub(in crate::api) struct GrantPath(pub(in crate::api) String);

impl FromRequestParts<App> for GrantPath {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Error> {
        Ok(Self(name(parts, app, "grant").await?))
    }
}

/// `{id}` of a dropped table in a management path.
#[derive(Debug)]
pub(in crate::api) struct DroppedPath(pub(in crate::api) String);

impl FromRequestParts<App> for DroppedPath {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Error> {
        Ok(Self(name(parts, app, "id").await?))
    }
}

/// The namespace and the name that `key` stands for in the path. What a path names is there or not: a client that asks
/// for an empty name, as Flink does while it looks what `a.b` may mean, is told that there is no such thing.
fn named(names: &RawPathParams, key: &str, missing: impl FnOnce(String) -> Entity) -> Result<TableIdent, Error> {
    let (joined, name) = (find(names, "namespace")?, find(names, key)?);
    if has_empty_level(joined) || name.is_empty() {
        return Err(store::Error::NotFound(missing(format!("{}.{name}", joined.replace(SEPARATOR, ".")))).into());
    }
    Ok(TableIdent::new(split_namespace(joined)?, name)?)
}

fn has_empty_level(joined: &str) -> bool {
    joined.split(SEPARATOR).any(str::is_empty)
}

/// Splits a namespace as it stands in a path or query, once decoded.
pub(super) fn split_namespace(joined: &str) -> Result<Namespace, Error> {
    Ok(Namespace::new(joined.split(SEPARATOR).map(str::to_owned).collect())?)
}
