//! What a request needs: the actions it comes down to, each on an object.

use super::operations::Rule;
use crate::api::error::Error;
use crate::api::extract::{Body, NamespacePath, Query, TablePath, ViewPath, named_warehouse};
use crate::api::model::{CreateNamespaceRequest, RegisterTableRequest, RegisterViewRequest, RenameTableRequest};
use crate::api::transactions;
use crate::app::{App, Names, Warehouse, WarehouseError};
use crate::auth::{Action, Object};
use crate::spec::{CommitTableRequest, Namespace, RefKind, TableIdent, TableUpdate};
use crate::store::tables::Kind;
use crate::store::{self, Entity, warehouses};
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use std::collections::BTreeSet;
use std::fmt;

/// One action that a request comes down to.
#[derive(Debug)]
pub(in crate::api) struct Need {
    pub(in crate::api) action: Action,
    pub(in crate::api) object: Object,
    /// The object as the client calls it.
    pub(in crate::api) named: Named,
}

/// An object as clients call it.
#[derive(Debug)]
pub(in crate::api) enum Named {
    Server,
    /// The warehouse that is meant where none is named.
    UnnamedWarehouse,
    Entity(Entity),
}

impl Named {
    /// What is answered where the object must not be known of: the same as if it were not there.
    pub(super) fn absent(&self) -> Error {
        match self {
            // It is always known of.
            Self::Server => Error::Forbidden("Not allowed".to_owned()),
            Self::UnnamedWarehouse => WarehouseError::NotNamed.into(),
            Self::Entity(Entity::Warehouse(name)) => WarehouseError::NotFound(name.clone()).into(),
            Self::Entity(entity) => store::Error::NotFound(entity.clone()).into(),
        }
    }
}

impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Server => f.write_str("this server"),
            Self::UnnamedWarehouse => f.write_str("the warehouse"),
            Self::Entity(entity) => entity.fmt(f),
        }
    }
}

impl Need {
    pub(in crate::api) fn server(action: Action) -> Self {
        Self { action, object: Object::Server, named: Named::Server }
    }

    pub(in crate::api) fn warehouse(action: Action, row: &warehouses::Warehouse) -> Self {
        let named = Named::Entity(Entity::Warehouse(row.name.clone()));
        Self { action, object: Object::Warehouse(row.id.clone()), named }
    }

    pub(in crate::api) fn namespace(action: Action, warehouse_id: &str, namespace: &Namespace) -> Self {
        let named = Named::Entity(Entity::Namespace(namespace.to_string()));
        Self { action, object: Object::Namespace(warehouse_id.to_owned(), namespace.clone()), named }
    }

    pub(in crate::api) fn table(action: Action, warehouse_id: &str, kind: Kind, ident: &TableIdent) -> Self {
        let named = Named::Entity(kind.entity(ident));
        Self { action, object: Object::Table(warehouse_id.to_owned(), ident.clone()), named }
    }
}

/// What a request needs, in the order in which it is decided. An error means that the request makes no sense, whoever
/// sends it; what of that depends on the body is left to the handler to say, to those who may know.
pub(super) async fn needs(rule: &Rule, app: &App, parts: &mut Parts, body: Option<&Body>) -> Result<Vec<Need>, Error> {
    match rule {
        Rule::Open | Rule::Anyone | Rule::Inside => Ok(Vec::new()),
        Rule::Server(action) => Ok(vec![Need::server(action.clone())]),
        Rule::Config => {
            let query = query(app, parts).await?;
            let warehouse = app.warehouse(query.filled("warehouse")).await?;
            Ok(vec![visible(&warehouse, query.filled("warehouse"))])
        }
        Rule::Managed(action) => Ok(vec![Need::warehouse(action.clone(), &managed(app, parts).await?)]),
        Rule::ManagedTable(action) => {
            let row = managed(app, parts).await?;
            let TablePath(ident) = TablePath::from_request_parts(parts, app).await?;
            let see = Need::warehouse(Action::See, &row);
            Ok(vec![see, Need::table(action.clone(), &row.id, Kind::Table, &ident)])
        }
        rule => {
            let named = named_warehouse(parts, app).await?;
            let warehouse = app.warehouse(named.as_deref()).await?;
            let mut needs = vec![visible(&warehouse, named.as_deref())];
            needs.extend(in_warehouse(rule, app, parts, body, &warehouse).await?);
            Ok(needs)
        }
    }
}

/// The warehouse that a request names, served or not, and how it names it.
pub(super) async fn warehouse(
    rule: &Rule,
    app: &App,
    parts: &mut Parts,
) -> Result<Option<(String, warehouses::Warehouse)>, Error> {
    use crate::api::extract::WarehousePath;
    let name = match rule {
        Rule::Open | Rule::Anyone | Rule::Inside | Rule::Server(_) => None,
        Rule::Config => query(app, parts).await?.filled("warehouse").map(str::to_owned),
        Rule::Managed(_) | Rule::ManagedTable(_) => Some(WarehousePath::from_request_parts(parts, app).await?.0),
        _ => named_warehouse(parts, app).await?,
    };
    let Some(name) = name else { return Ok(None) };
    let row = app.warehouse_row(&name).await?;
    Ok(row.map(|row| (name, row)))
}

fn visible(warehouse: &Warehouse, named: Option<&str>) -> Need {
    let named = named.map_or(Named::UnnamedWarehouse, |name| Named::Entity(Entity::Warehouse(name.to_owned())));
    Need { action: Action::See, object: Object::Warehouse(warehouse.row.id.clone()), named }
}

async fn in_warehouse(
    rule: &Rule,
    app: &App,
    parts: &mut Parts,
    body: Option<&Body>,
    warehouse: &Warehouse,
) -> Result<Vec<Need>, Error> {
    let id = &warehouse.row.id;
    let on_table = |action: Action, ident: &TableIdent| Need::table(action, id, Kind::Table, ident);
    Ok(match rule {
        Rule::ListNamespaces => {
            let parent = app.names(query(app, parts).await?.parent()?);
            parent.iter().map(|parent| Need::namespace(Action::See, id, parent)).collect()
        }
        Rule::CreateNamespace => {
            match parsed::<CreateNamespaceRequest>(app, body).and_then(|new| new.namespace.parent()) {
                Some(parent) => vec![Need::namespace(Action::Create, id, &parent)],
                None => vec![Need::warehouse(Action::Create, &warehouse.row)],
            }
        }
        Rule::Namespace(action) => {
            let NamespacePath(namespace) = NamespacePath::from_request_parts(parts, app).await?;
            vec![Need::namespace(action.clone(), id, &namespace)]
        }
        Rule::Register(kind) => {
            let NamespacePath(namespace) = NamespacePath::from_request_parts(parts, app).await?;
            let mut needs = vec![Need::namespace(Action::Create, id, &namespace)];
            let replaced = match kind {
                Kind::Table => parsed::<RegisterTableRequest>(app, body).map(|request| request.name),
                Kind::View => parsed::<RegisterViewRequest>(app, body).map(|request| request.name),
            };
            if let Some(ident) = replaced.and_then(|name| TableIdent::new(namespace, name).ok()) {
                needs.push(Need::table(Action::Write, id, *kind, &ident));
            }
            needs
        }
        Rule::Rename(kind) => {
            let Some(request) = parsed::<RenameTableRequest>(app, body) else { return Ok(Vec::new()) };
            let (from, to) = (&request.source, &request.destination);
            vec![
                Need::table(Action::Write, id, *kind, from),
                Need::table(Action::Drop, id, *kind, from),
                Need::namespace(Action::Create, id, &to.namespace),
            ]
        }
        Rule::Transaction => {
            let changes = body.and_then(|body| transactions::requests(app, body).ok()).unwrap_or_default();
            changes.iter().flat_map(|(ident, request)| commit(id, ident, request)).collect()
        }
        Rule::View(action) => {
            let ViewPath(ident) = ViewPath::from_request_parts(parts, app).await?;
            vec![Need::table(action.clone(), id, Kind::View, &ident)]
        }
        rule => {
            let TablePath(ident) = TablePath::from_request_parts(parts, app).await?;
            match rule {
                Rule::Table(action) => vec![on_table(action.clone(), &ident)],
                Rule::DropTable => {
                    let purge = query(app, parts).await?.flag("purgeRequested")?;
                    let mut needs = vec![on_table(Action::Drop, &ident)];
                    needs.extend(purge.then(|| on_table(Action::Purge, &ident)));
                    needs
                }
                Rule::Unregister => vec![on_table(Action::Read, &ident), on_table(Action::Drop, &ident)],
                Rule::Commit => match body.and_then(|body| CommitTableRequest::parse(&body.0).ok()) {
                    Some(request) => commit(id, &ident, &request),
                    None => vec![on_table(Action::Write, &ident)],
                },
                _ => vec![on_table(Action::Read, &ident)],
            }
        }
    })
}

/// What a commit needs: to create the table, or to read it and to change what its updates change.
fn commit(warehouse_id: &str, ident: &TableIdent, request: &CommitTableRequest) -> Vec<Need> {
    let on_table = |action: Action| Need::table(action, warehouse_id, Kind::Table, ident);
    if request.is_create().unwrap_or(false) {
        return vec![Need::namespace(Action::Create, warehouse_id, &ident.namespace)];
    }
    // The reply holds the metadata.
    let mut needs = vec![on_table(Action::Read)];
    needs.extend(changes(&request.updates).into_iter().map(on_table));
    needs
}

/// What updates come down to. New snapshots on branches or tags need those; the format version needs its own; all else,
/// and nothing at all, is a write.
fn changes(updates: &[TableUpdate]) -> Vec<Action> {
    let is_upgrade = |update: &&TableUpdate| matches!(update, TableUpdate::UpgradeFormatVersion { .. });
    let (upgrades, others): (Vec<&TableUpdate>, Vec<&TableUpdate>) = updates.iter().partition(is_upgrade);
    let mut actions = Vec::new();
    if !upgrades.is_empty() {
        actions.push(Action::Upgrade);
    }
    if upgrades.is_empty() || !others.is_empty() {
        match only_refs(&others) {
            Some(refs) => actions.extend(refs.into_iter().map(|name| Action::CommitToRef(name.to_owned()))),
            None => actions.push(Action::Write),
        }
    }
    actions
}

/// The branches and tags that updates set, if they do nothing else than that and add snapshots. A branch that is set to
/// what is there already is moved back, or forth, and nothing is added to it: that is a write.
fn only_refs<'a>(updates: &[&'a TableUpdate]) -> Option<BTreeSet<&'a str>> {
    let added = |id: i64| {
        let is_it = |update: &&TableUpdate| matches!(update, TableUpdate::AddSnapshot { snapshot } if snapshot.snapshot_id == id);
        updates.iter().any(is_it)
    };
    let mut refs = BTreeSet::new();
    for update in updates {
        match update {
            TableUpdate::AddSnapshot { .. } => {}
            TableUpdate::SetSnapshotRef { ref_name, reference } => {
                if reference.kind == RefKind::Branch && !added(reference.snapshot_id) {
                    return None;
                }
                refs.insert(ref_name.as_str());
            }
            _ => return None,
        }
    }
    (!refs.is_empty()).then_some(refs)
}

async fn managed(app: &App, parts: &mut Parts) -> Result<warehouses::Warehouse, Error> {
    use crate::api::extract::WarehousePath;
    let WarehousePath(name) = WarehousePath::from_request_parts(parts, app).await?;
    let row = warehouses::load(&app.db, &name).await?;
    row.ok_or_else(|| store::Error::NotFound(Entity::Warehouse(name)).into())
}

async fn query(app: &App, parts: &mut Parts) -> Result<Query, Error> {
    Query::from_request_parts(parts, app).await
}

fn parsed<T: serde::de::DeserializeOwned + Names>(app: &App, body: Option<&Body>) -> Option<T> {
    body.and_then(|body| body.json().ok()).map(|request| app.names(request))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    const SNAPSHOT: &str = r#"{"action": "add-snapshot", "snapshot": {"snapshot-id": 1, "sequence-number": 1,
        "timestamp-ms": 1, "manifest-list": "gs://b/l", "summary": {"operation": "append"}, "schema-id": 0}}"#;
    const MAIN: &str = r#"{"action": "set-snapshot-ref", "ref-name": "main", "type": "branch", "snapshot-id": 1}"#;
    const BACK: &str = r#"{"action": "set-snapshot-ref", "ref-name": "main", "type": "branch", "snapshot-id": 7}"#;
    const AUDIT: &str = r#"{"action": "set-snapshot-ref", "ref-name": "audit", "type": "tag", "snapshot-id": 1}"#;
    const UPGRADE: &str = r#"{"action": "upgrade-format-version", "format-version": 3}"#;
    const EXPIRE: &str = r#"{"action": "remove-snapshots", "snapshot-ids": [1]}"#;
    const UNREF: &str = r#"{"action": "remove-snapshot-ref", "ref-name": "audit"}"#;

    #[rstest]
    #[case::back(&[MAIN], &["write"])]
    #[case::of_another_snapshot(&[SNAPSHOT, BACK], &["write"])]
    #[case::a_tag_on_what_is_there(&[AUDIT], &["commit-to-ref:audit"])]
    #[case::nothing(&[], &["write"])]
    #[case::an_append(&[SNAPSHOT, MAIN], &["commit-to-ref:main"])]
    #[case::two_refs(&[SNAPSHOT, MAIN, AUDIT], &["commit-to-ref:audit", "commit-to-ref:main"])]
    #[case::staged(&[SNAPSHOT], &["write"])]
    #[case::upgrade(&[UPGRADE], &["upgrade-format-version"])]
    #[case::upgrade_and_append(&[UPGRADE, SNAPSHOT, MAIN], &["upgrade-format-version", "commit-to-ref:main"])]
    #[case::upgrade_and_expire(&[UPGRADE, EXPIRE], &["upgrade-format-version", "write"])]
    #[case::expire(&[EXPIRE, AUDIT], &["write"])]
    #[case::a_ref_goes(&[UNREF], &["write"])]
    fn a_commit_needs_what_its_updates_change(#[case] updates: &[&str], #[case] expected: &[&str]) {
        let body = format!(r#"{{"requirements": [], "updates": [{}]}}"#, updates.join(", "));
        let request = CommitTableRequest::parse(body.as_bytes()).unwrap();
        let found: Vec<String> = changes(&request.updates).iter().map(ToString::to_string).collect();
        assert_eq!(found, expected);
    }
}
