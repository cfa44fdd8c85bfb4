//! Who may do what on what: grants, and a version number that goes up whenever one of them changes.
//!
//! A grant on a table is kept under the table's id: it goes with the table through renames, and a table that gets the
//! name of a dropped one has none of its grants. What a privilege means is not known here.

use sqlx::Row;
use sqlx::any::AnyRow;
use sqlx::query;

use super::error::{Entity, Error, Result, on_foreign_key};
use super::namespaces::{entity, from_key, key};
use super::tables::Kind;
use super::text::{Listing, Page, check_name, number, text};
use super::{Db, Tx};
use crate::spec::{Namespace, TableIdent};

/// Who is given something.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Grantee {
    /// A principal, by its name.
    User(String),
    /// Everyone who has a role, by the role's name.
    Role(String),
}

impl Grantee {
    /// `user` or `role`.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::User(_) => "user",
            Self::Role(_) => "role",
        }
    }

    /// The name of the principal or role.
    pub fn name(&self) -> &str {
        match self {
            Self::User(name) | Self::Role(name) => name,
        }
    }
}

/// What a grant is on, by what never changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum On {
    /// The whole server.
    Server,
    /// A warehouse, by its id.
    Warehouse(String),
    /// A namespace of a warehouse.
    Namespace(String, Namespace),
    /// A table or view of a warehouse, by its id.
    Table(String, String),
}

/// A table or view that a grant is on, as it is called now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    /// Table or view.
    pub kind: Kind,
    /// Its name.
    pub ident: TableIdent,
}

/// A grant as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrantRow {
    /// A uuid.
    pub id: String,
    /// Who is given something.
    pub grantee: Grantee,
    /// What.
    pub privilege: String,
    /// The branch or tag that the privilege is about; empty where it is about none.
    pub ref_name: String,
    /// On what.
    pub on: On,
    /// The name of the warehouse that it is on or in.
    pub warehouse: Option<String>,
    /// The table or view that it is on; `None` for other objects, and for a table that is dropped and kept aside.
    pub table: Option<Named>,
    /// The name of the principal who made it.
    pub created_by: String,
    /// When, epoch milliseconds.
    pub created_ms: i64,
}

/// A grant to make.
#[derive(Debug, Clone)]
pub struct NewGrant<'a> {
    /// A fresh uuid.
    pub id: &'a str,
    /// Who is given something.
    pub grantee: &'a Grantee,
    /// What.
    pub privilege: &'a str,
    /// The branch or tag that the privilege is about; empty where it is about none.
    pub ref_name: &'a str,
    /// On what.
    pub on: &'a On,
    /// The name of the principal who makes it.
    pub created_by: &'a str,
    /// The time of the request, epoch milliseconds.
    pub now_ms: i64,
}

/// The version of all grants together.
pub async fn version(db: &Db) -> Result<i64> {
    const SQL: &str = "SELECT version FROM grants_version";
    match db.optional(query(SQL)).await? {
        Some(row) => number(&row, "version"),
        None => Err(Error::Corrupt { table: "grants_version", column: "version", row: "1".to_owned() }),
    }
}

/// Makes a grant, and answers whether it is new: one that is there already stays as it is.
///
/// # Errors
/// [`Error::NotFound`] if the object is gone.
pub async fn create(tx: &mut Tx, new: &NewGrant<'_>) -> Result<bool> {
    const SQL: &str = "
        INSERT INTO grants (id, grantee_kind, grantee, privilege, ref_name, warehouse_id, namespace, table_id, object,
                            created_by, created_ms)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
        ON CONFLICT (grantee_kind, grantee, object, privilege, ref_name) DO NOTHING";
    check_name("grantee", new.grantee.name())?;
    if !new.ref_name.is_empty() {
        check_name("branch or tag", new.ref_name)?;
    }
    // First, so that all who change grants wait for each other here.
    bump(tx).await?;
    if let On::Table(_, table_id) = new.on {
        require_table(tx, table_id).await?;
    }
    let (warehouse_id, namespace, table_id) = columns(new.on);
    let gone = match new.on {
        On::Namespace(_, namespace) => entity(namespace),
        _ => Entity::Warehouse(warehouse_id.clone().unwrap_or_default()),
    };
    let insert = query(SQL).bind(new.id).bind(new.grantee.kind()).bind(new.grantee.name()).bind(new.privilege);
    let insert = insert.bind(new.ref_name).bind(warehouse_id).bind(namespace).bind(table_id).bind(object(new.on));
    let inserted = tx.execute(insert.bind(new.created_by).bind(new.now_ms)).await;
    Ok(inserted.map_err(|error| on_foreign_key(error, Error::NotFound(gone)))? == 1)
}

/// Takes a grant back.
///
/// # Errors
/// [`Error::NotFound`].
pub async fn delete(tx: &mut Tx, id: &str) -> Result<()> {
    const SQL: &str = "DELETE FROM grants WHERE id = $1";
    bump(tx).await?;
    match tx.execute(query(SQL).bind(id)).await? {
        0 => Err(Error::NotFound(Entity::Grant(id.to_owned()))),
        _ => Ok(()),
    }
}

/// One grant.
pub async fn load(db: &Db, id: &str) -> Result<Option<GrantRow>> {
    const SQL: &str = "
        SELECT g.id, grantee_kind, grantee, privilege, ref_name, g.warehouse_id, g.namespace, table_id, created_by,
               g.created_ms, w.name AS warehouse, t.kind, t.namespace AS table_namespace, t.name AS table_name
        FROM grants g LEFT JOIN warehouses w ON w.id = g.warehouse_id LEFT JOIN tables t ON t.id = g.table_id WHERE g.id = $1";
    db.optional(query(SQL).bind(id)).await?.as_ref().map(read).transpose()
}

/// A part of the list of all grants. [`Page::after`] is an id.
pub async fn list(db: &Db, page: &Page) -> Result<Listing<GrantRow>> {
    const SQL: &str = "
        SELECT g.id, grantee_kind, grantee, privilege, ref_name, g.warehouse_id, g.namespace, table_id, created_by,
               g.created_ms, w.name AS warehouse, t.kind, t.namespace AS table_namespace, t.name AS table_name
        FROM grants g LEFT JOIN warehouses w ON w.id = g.warehouse_id LEFT JOIN tables t ON t.id = g.table_id WHERE g.id > $1 ORDER BY g.id LIMIT $2";
    let rows = db.rows(query(SQL).bind(page.after_key()).bind(page.rows())).await?;
    let grants = rows.iter().map(read).collect::<Result<Vec<_>>>()?;
    Ok(Listing::cut(grants, page, |grant| grant.id.clone()))
}

/// Every grant of one user or role.
pub async fn of_grantee(db: &Db, grantee: &Grantee) -> Result<Vec<GrantRow>> {
    const SQL: &str = "
        SELECT g.id, grantee_kind, grantee, privilege, ref_name, g.warehouse_id, g.namespace, table_id, created_by,
               g.created_ms, w.name AS warehouse, t.kind, t.namespace AS table_namespace, t.name AS table_name
        FROM grants g LEFT JOIN warehouses w ON w.id = g.warehouse_id LEFT JOIN tables t ON t.id = g.table_id
        WHERE grantee_kind = $1 AND grantee = $2 ORDER BY g.id";
    db.rows(query(SQL).bind(grantee.kind()).bind(grantee.name())).await?.iter().map(read).collect()
}

/// Forgets the grants on a namespace that is dropped: one that is made later under its name has none of them.
pub(super) async fn forget_namespace(tx: &mut Tx, warehouse_id: &str, namespace: &Namespace) -> Result<()> {
    const SQL: &str = "DELETE FROM grants WHERE warehouse_id = $1 AND namespace = $2";
    if tx.execute(query(SQL).bind(warehouse_id).bind(key(namespace))).await? > 0 {
        bump(tx).await?;
    }
    Ok(())
}

/// Forgets the grants on a table that is gone for good.
pub async fn forget_table(tx: &mut Tx, table_id: &str) -> Result<()> {
    const SQL: &str = "DELETE FROM grants WHERE table_id = $1";
    if tx.execute(query(SQL).bind(table_id)).await? > 0 {
        bump(tx).await?;
    }
    Ok(())
}

/// Says that a table got another name, or lost or regained its own: what servers keep in memory of the grants on it is
/// old then.
pub(super) async fn renamed(tx: &mut Tx, table_id: &str) -> Result<()> {
    const SQL: &str = "
        UPDATE grants_version SET version = version + 1 WHERE EXISTS (SELECT id FROM grants WHERE table_id = $1)";
    tx.execute(query(SQL).bind(table_id)).await?;
    Ok(())
}

async fn bump(tx: &mut Tx) -> Result<()> {
    const SQL: &str = "UPDATE grants_version SET version = version + 1";
    tx.execute(query(SQL)).await?;
    Ok(())
}

async fn require_table(tx: &mut Tx, table_id: &str) -> Result<()> {
    const SQL: &str = "SELECT id FROM tables WHERE id = $1";
    match tx.optional(query(SQL).bind(table_id)).await? {
        Some(_) => Ok(()),
        None => Err(Error::NotFound(Entity::Table(table_id.to_owned()))),
    }
}

fn columns(on: &On) -> (Option<String>, Option<String>, Option<String>) {
    match on {
        On::Server => (None, None, None),
        On::Warehouse(id) => (Some(id.clone()), None, None),
        On::Namespace(id, namespace) => (Some(id.clone()), Some(key(namespace)), None),
        On::Table(id, table_id) => (Some(id.clone()), None, Some(table_id.clone())),
    }
}

/// An object as one text: ids have no slashes, and what follows a namespace's first one is its own.
fn object(on: &On) -> String {
    match on {
        On::Server => "server".to_owned(),
        On::Warehouse(id) => format!("warehouse/{id}"),
        On::Namespace(id, namespace) => format!("namespace/{id}/{}", key(namespace)),
        On::Table(_, table_id) => format!("table/{table_id}"),
    }
}

fn read(row: &AnyRow) -> Result<GrantRow> {
    let id = text(row, "id")?;
    let corrupt = |column| Error::Corrupt { table: "grants", column, row: id.clone() };
    let grantee = match text(row, "grantee_kind")?.as_str() {
        "user" => Grantee::User(text(row, "grantee")?),
        "role" => Grantee::Role(text(row, "grantee")?),
        _ => return Err(corrupt("grantee_kind")),
    };
    let namespace: Option<String> = row.try_get("namespace")?;
    let namespace = namespace.map(|namespace| from_key(&namespace)).transpose()?;
    let on = match (row.try_get("warehouse_id")?, namespace, row.try_get("table_id")?) {
        (None, None, None) => On::Server,
        (Some(warehouse), None, None) => On::Warehouse(warehouse),
        (Some(warehouse), Some(namespace), None) => On::Namespace(warehouse, namespace),
        (Some(warehouse), None, Some(table)) => On::Table(warehouse, table),
        _ => return Err(corrupt("table_id")),
    };
    let table = match (row.try_get("kind")?, row.try_get("table_namespace")?, row.try_get("table_name")?) {
        (Some(kind), Some(namespace), Some(name)) => {
            let (kind, namespace, name): (String, String, String) = (kind, namespace, name);
            let kind = Kind::parse(&kind).ok_or_else(|| corrupt("kind"))?;
            Some(Named { kind, ident: TableIdent { namespace: from_key(&namespace)?, name } })
        }
        _ => None,
    };
    Ok(GrantRow {
        grantee,
        privilege: text(row, "privilege")?,
        ref_name: text(row, "ref_name")?,
        on,
        warehouse: row.try_get("warehouse")?,
        table,
        created_by: text(row, "created_by")?,
        created_ms: number(row, "created_ms")?,
        id,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_have_texts_of_their_own() {
        let namespace = |name: &str| Namespace::new(name.split('.').map(str::to_owned).collect()).unwrap();
        let all = [
            On::Server,
            On::Warehouse("w".into()),
            On::Namespace("w".into(), namespace("a")),
            On::Namespace("w".into(), namespace("a.b")),
            On::Table("w".into(), "t".into()),
        ];
        let texts: std::collections::HashSet<String> = all.iter().map(object).collect();
        assert_eq!(texts.len(), all.len());
    }
}
