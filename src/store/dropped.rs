//! Tables that were dropped in a warehouse that keeps them for a while.
//!
//! Their names are free, their locations are not: those stay live until the time is over.

use sqlx::any::AnyRow;
use sqlx::query;

use super::error::{Error, Result};
use super::namespaces::{from_key, key};
use super::tables::{Kind, TableRow};
use super::text::{Listing, Page, number, text};
use super::{Db, Tx};
use crate::spec::TableIdent;

/// A table that is kept aside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dropped {
    /// As it was when it was dropped.
    pub row: TableRow,
    /// What is to become of it.
    pub terms: Terms,
}

/// What is to become of a table that is kept aside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Terms {
    /// Whether its files are deleted at the end.
    pub purge: bool,
    /// The task that ends its time.
    pub task_id: String,
    /// When it was dropped, epoch milliseconds.
    pub dropped_ms: i64,
    /// When its time is over, epoch milliseconds.
    pub expires_ms: i64,
}

/// Puts a table aside that was just taken out of the catalog by [`super::tables::remove`].
pub async fn put_aside(tx: &mut Tx, row: &TableRow, terms: &Terms) -> Result<()> {
    const SQL: &str = "
        INSERT INTO dropped_tables (id, warehouse_id, namespace, name, kind, uuid, format_version, location,
                                    metadata_location, version, created_ms, purge, task_id, dropped_ms, expires_ms)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)";
    let insert = query(SQL).bind(&row.id).bind(&row.warehouse_id).bind(key(&row.ident.namespace)).bind(&row.ident.name);
    let insert = insert.bind(row.kind.as_str()).bind(&row.uuid).bind(i64::from(row.format_version));
    let insert = insert.bind(&row.location).bind(&row.metadata_location).bind(row.version).bind(row.created_ms);
    let insert = insert.bind(i64::from(terms.purge)).bind(&terms.task_id).bind(terms.dropped_ms);
    tx.execute(insert.bind(terms.expires_ms)).await?;
    Ok(())
}

/// A part of the list of a warehouse's dropped tables. [`Page::after`] is an id.
pub async fn list(db: &Db, warehouse_id: &str, page: &Page) -> Result<Listing<Dropped>> {
    const SQL: &str = "
        SELECT id, warehouse_id, namespace, name, kind, uuid, format_version, location, metadata_location, version,
               created_ms, purge, task_id, dropped_ms, expires_ms
        FROM dropped_tables WHERE warehouse_id = $1 AND id > $2 ORDER BY id LIMIT $3";
    let rows = db.rows(query(SQL).bind(warehouse_id).bind(page.after_key()).bind(page.rows())).await?;
    let dropped = rows.iter().map(read).collect::<Result<Vec<_>>>()?;
    Ok(Listing::cut(dropped, page, |dropped| dropped.row.id.clone()))
}

/// One dropped table.
pub async fn load(db: &Db, warehouse_id: &str, id: &str) -> Result<Option<Dropped>> {
    const SQL: &str = "
        SELECT id, warehouse_id, namespace, name, kind, uuid, format_version, location, metadata_location, version,
               created_ms, purge, task_id, dropped_ms, expires_ms
        FROM dropped_tables WHERE warehouse_id = $1 AND id = $2";
    db.optional(query(SQL).bind(warehouse_id).bind(id)).await?.as_ref().map(read).transpose()
}

/// The id of the table that had this name and was dropped last.
pub async fn latest(db: &Db, warehouse_id: &str, ident: &TableIdent) -> Result<Option<String>> {
    const SQL: &str = "
        SELECT id FROM dropped_tables WHERE warehouse_id = $1 AND namespace = $2 AND name = $3
        ORDER BY dropped_ms DESC, id LIMIT 1";
    let row = db.optional(query(SQL).bind(warehouse_id).bind(key(&ident.namespace)).bind(&ident.name)).await?;
    row.map(|row| text(&row, "id")).transpose()
}

/// Takes a table out of what is kept aside: to bring it back, or because its time is over. `None` if somebody else
/// did.
pub async fn take(tx: &mut Tx, warehouse_id: &str, id: &str) -> Result<Option<Dropped>> {
    const SQL: &str = "
        DELETE FROM dropped_tables WHERE warehouse_id = $1 AND id = $2
        RETURNING id, warehouse_id, namespace, name, kind, uuid, format_version, location, metadata_location, version,
                  created_ms, purge, task_id, dropped_ms, expires_ms";
    tx.optional(query(SQL).bind(warehouse_id).bind(id)).await?.as_ref().map(read).transpose()
}

fn read(row: &AnyRow) -> Result<Dropped> {
    let id = text(row, "id")?;
    let corrupt = |column| Error::Corrupt { table: "dropped_tables", column, row: id.clone() };
    let ident =
        TableIdent::new(from_key(&text(row, "namespace")?)?, text(row, "name")?).map_err(|_| corrupt("name"))?;
    let dropped_ms = number(row, "dropped_ms")?;
    Ok(Dropped {
        row: TableRow {
            warehouse_id: text(row, "warehouse_id")?,
            kind: Kind::parse(&text(row, "kind")?).ok_or_else(|| corrupt("kind"))?,
            ident,
            uuid: text(row, "uuid")?,
            format_version: u8::try_from(number(row, "format_version")?).map_err(|_| corrupt("format_version"))?,
            location: text(row, "location")?,
            metadata_location: text(row, "metadata_location")?,
            version: number(row, "version")?,
            created_ms: number(row, "created_ms")?,
            updated_ms: dropped_ms,
            id,
        },
        terms: Terms {
            purge: number(row, "purge")? != 0,
            task_id: text(row, "task_id")?,
            dropped_ms,
            expires_ms: number(row, "expires_ms")?,
        },
    })
}
