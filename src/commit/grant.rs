//! Making grants and taking them back; finding what they are on.

use crate::app::App;
use crate::commit::Error;
use crate::spec::{Namespace, TableIdent};
use crate::store::grants::{self, GrantRow, Grantee, NewGrant, On};
use crate::store::tables::{self, TableRow};
use crate::store::{self, Entity, namespaces, warehouses};

/// What a grant is on, as it was found.
#[derive(Debug, Clone)]
pub struct Target {
    /// What never changes of it.
    pub on: On,
    /// The warehouse that it is or lies in.
    pub warehouse: Option<warehouses::Warehouse>,
    /// The table or view that it is.
    pub table: Option<TableRow>,
}

/// Finds what a grant is to be on: a table or view, else a namespace, else a warehouse, else the server.
///
/// # Errors
/// [`store::Error::NotFound`]; [`Error::Invalid`] if a table is named without its namespace, or that without its
/// warehouse.
pub async fn find_target(
    app: &App,
    warehouse: Option<&str>,
    namespace: Option<&Namespace>,
    table: Option<&str>,
) -> Result<Target, Error> {
    let missing = |entity| Error::from(store::Error::NotFound(entity));
    let Some(name) = warehouse else {
        return match (namespace, table) {
            (None, None) => Ok(Target { on: On::Server, warehouse: None, table: None }),
            _ => Err(Error::Invalid("Invalid object: a namespace or table is named without its warehouse".into())),
        };
    };
    let row = warehouses::load(&app.db, name).await?.ok_or_else(|| missing(Entity::Warehouse(name.to_owned())))?;
    let id = row.id.clone();
    let (on, table) = match (namespace, table) {
        (None, None) => (On::Warehouse(id), None),
        (None, Some(_)) => return Err(Error::Invalid("Invalid object: a table is named without its namespace".into())),
        (Some(namespace), None) => {
            if !namespaces::exists(&app.db, &id, namespace).await? {
                return Err(missing(Entity::Namespace(namespace.to_string())));
            }
            (On::Namespace(id, namespace.clone()), None)
        }
        (Some(namespace), Some(table)) => {
            let ident = TableIdent::new(namespace.clone(), table)?;
            let found = tables::load(&app.db, &id, &ident).await?;
            let found = found.ok_or_else(|| missing(Entity::Table(ident.to_string())))?;
            (On::Table(id, found.id.clone()), Some(found))
        }
    };
    Ok(Target { on, warehouse: Some(row), table })
}

/// Makes a grant, and answers it and whether it is new.
pub async fn make_grant(
    app: &App,
    grantee: &Grantee,
    (privilege, ref_name): (&str, &str),
    on: &On,
    created_by: &str,
) -> Result<(GrantRow, bool), Error> {
    let id = app.ids.uuid();
    let now_ms = app.clock.now_ms();
    let mut tx = app.db.begin().await?;
    let new = NewGrant { id: &id, grantee, privilege, ref_name, on, created_by, now_ms };
    let made = grants::create(&mut tx, &new).await?;
    tx.commit().await?;
    let all = grants::of_grantee(&app.db, grantee).await?;
    let is_it = |row: &GrantRow| row.on == *on && row.privilege == privilege && row.ref_name == ref_name;
    // It may be taken back at once.
    let row = all.into_iter().find(is_it).ok_or(store::Error::Conflict)?;
    Ok((row, made))
}

/// Takes a grant back.
pub async fn take_back(app: &App, id: &str) -> Result<(), Error> {
    let mut tx = app.db.begin().await?;
    grants::delete(&mut tx, id).await?;
    Ok(tx.commit().await?)
}
