//! Finding tables and views.

use sqlx::any::AnyRow;
use sqlx::query;

use super::{Kind, TableRow};
use crate::spec::{Namespace, TableIdent};
use crate::store::error::{Error, Result};
use crate::store::namespaces::{from_key, key, require};
use crate::store::text::{Listing, Page, number, text};
use crate::store::{Db, Tx};

/// The table or view of this name: one look-up on the unique key. `None` also if the namespace does not exist.
pub async fn load(db: &Db, warehouse_id: &str, ident: &TableIdent) -> Result<Option<TableRow>> {
    const SQL: &str = "
        SELECT id, kind, uuid, format_version, location, metadata_location, version, created_ms, updated_ms
        FROM tables WHERE warehouse_id = $1 AND namespace = $2 AND name = $3";
    let row = db.optional(query(SQL).bind(warehouse_id).bind(key(&ident.namespace)).bind(&ident.name)).await?;
    row.map(|row| read(&row, warehouse_id, ident)).transpose()
}

/// As [`load`], with the version of all grants at that moment ([`crate::store::grants::version`]): who may read the row
/// is known from memory, and this tells whether memory is old, at no further round trip.
pub async fn load_with_grants(db: &Db, warehouse_id: &str, ident: &TableIdent) -> Result<Option<(TableRow, i64)>> {
    const SQL: &str = "
        SELECT id, kind, uuid, format_version, location, metadata_location, version, created_ms, updated_ms,
               (SELECT version FROM grants_version) AS grants_version
        FROM tables WHERE warehouse_id = $1 AND namespace = $2 AND name = $3";
    let row = db.optional(query(SQL).bind(warehouse_id).bind(key(&ident.namespace)).bind(&ident.name)).await?;
    row.map(|row| Ok((read(&row, warehouse_id, ident)?, number(&row, "grants_version")?))).transpose()
}

/// The table or view with this [`TableRow::id`], whatever its name is now.
pub async fn load_by_id(db: &Db, id: &str) -> Result<Option<TableRow>> {
    const SQL: &str = "
        SELECT id, warehouse_id, namespace, name, kind, uuid, format_version, location, metadata_location, version,
               created_ms, updated_ms
        FROM tables WHERE id = $1";
    let Some(row) = db.optional(query(SQL).bind(id)).await? else { return Ok(None) };
    let namespace = from_key(&text(&row, "namespace")?)?;
    let ident = TableIdent::new(namespace, text(&row, "name")?).map_err(|_| corrupt(&row, "name"))?;
    Ok(Some(read(&row, &text(&row, "warehouse_id")?, &ident)?))
}

/// A part of the list of a namespace's tables, or of its views, by name. [`Page::after`] is a name.
///
/// # Errors
/// [`Error::NotFound`] if the namespace does not exist.
pub async fn list(
    db: &Db,
    warehouse_id: &str,
    namespace: &Namespace,
    kind: Kind,
    page: &Page,
) -> Result<Listing<String>> {
    const SQL: &str = "
        SELECT name FROM tables
        WHERE warehouse_id = $1 AND namespace = $2 AND kind = $3 AND name > $4 ORDER BY name LIMIT $5";
    let statement = query(SQL).bind(warehouse_id).bind(key(namespace)).bind(kind.as_str());
    let rows = db.rows(statement.bind(page.after_key()).bind(page.rows())).await?;
    if rows.is_empty() {
        require(db, warehouse_id, namespace).await?;
    }
    let names = rows.iter().map(|row| text(row, "name")).collect::<Result<Vec<_>>>()?;
    Ok(Listing::cut(names, page, Clone::clone))
}

/// What kind of thing has this name, as seen from within a transaction.
pub(super) async fn kind_of(tx: &mut Tx, warehouse_id: &str, ident: &TableIdent) -> Result<Option<Kind>> {
    const SQL: &str = "SELECT id, kind FROM tables WHERE warehouse_id = $1 AND namespace = $2 AND name = $3";
    let row = tx.optional(query(SQL).bind(warehouse_id).bind(key(&ident.namespace)).bind(&ident.name)).await?;
    row.map(|row| kind(&row)).transpose()
}

/// Makes a [`TableRow`] of all columns but the key, which the caller knows.
pub(super) fn read(row: &AnyRow, warehouse_id: &str, ident: &TableIdent) -> Result<TableRow> {
    let format_version = number(row, "format_version")?;
    Ok(TableRow {
        id: text(row, "id")?,
        warehouse_id: warehouse_id.to_owned(),
        kind: kind(row)?,
        ident: ident.clone(),
        uuid: text(row, "uuid")?,
        format_version: u8::try_from(format_version).map_err(|_| corrupt(row, "format_version"))?,
        location: text(row, "location")?,
        metadata_location: text(row, "metadata_location")?,
        version: number(row, "version")?,
        created_ms: number(row, "created_ms")?,
        updated_ms: number(row, "updated_ms")?,
    })
}

fn kind(row: &AnyRow) -> Result<Kind> {
    Kind::parse(&text(row, "kind")?).ok_or_else(|| corrupt(row, "kind"))
}

fn corrupt(row: &AnyRow, column: &'static str) -> Error {
    Error::Corrupt { table: "tables", column, row: text(row, "id").unwrap_or_default() }
}
