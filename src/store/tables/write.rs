//! Creating, changing and removing tables and views.

use sqlx::query;

use super::read::{kind_of, read};
use super::{Kind, TableRow};
use crate::spec::TableIdent;
use crate::store::error::{Error, Result, is_unique, on_foreign_key};
use crate::store::locations::{Claim, Taking, leave, leave_home, share, take, take_turn};
use crate::store::namespaces::{entity, key};
use crate::store::text::{check_name, text};
use crate::store::{Tx, grants};

/// A table or view to add.
#[derive(Debug, Clone)]
pub struct NewTable<'a> {
    /// A fresh uuid, not Iceberg's.
    pub id: &'a str,
    /// The warehouse it belongs to.
    pub warehouse_id: &'a str,
    /// Its name.
    pub ident: &'a TableIdent,
    /// Table or view.
    pub kind: Kind,
    /// `location` of its metadata in normal form, without a slash at its end: what is compared.
    pub location_key: &'a str,
    /// Whether the location must be free.
    pub claim: Claim,
    /// What its metadata file says, and where that is.
    pub change: Change<'a>,
}

/// What a new metadata file says about a table or view.
#[derive(Debug, Clone)]
pub struct Change<'a> {
    /// `table-uuid` or `view-uuid`.
    pub uuid: &'a str,
    /// `format-version`.
    pub format_version: u8,
    /// `location`, letter for letter.
    pub location: &'a str,
    /// The metadata file, which is written already.
    pub metadata_location: &'a str,
    /// Places besides its location where its properties have files go, in normal form.
    pub paths: &'a [String],
    /// The time of the request, epoch milliseconds.
    pub now_ms: i64,
}

/// A change of the pointer of a table or view that was read before.
#[derive(Debug, Clone)]
pub struct Swap<'a> {
    /// The row as read: its id and version must still be there.
    pub row: &'a TableRow,
    /// What its new metadata file says, and where that is.
    pub change: Change<'a>,
    /// The normal form of its new location, without a slash at its end, if the location changed. The old one is then
    /// remembered as left behind.
    pub moved_to: Option<&'a str>,
}

/// Adds a table or view, at version 0.
///
/// Together with [`swap`] in one transaction: swaps first, then creates in order of their names, so that two
/// transactions cannot wait for each other.
///
/// # Errors
/// [`Error::AlreadyExists`] with what has the name, be it a table or a view; [`Error::NotFound`] with the namespace;
/// [`Error::LocationTaken`].
pub async fn create(tx: &mut Tx, new: &NewTable<'_>) -> Result<TableRow> {
    const SQL: &str = "
        INSERT INTO tables (id, warehouse_id, namespace, name, kind, uuid, format_version, location,
                            metadata_location, version, created_ms, updated_ms)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, 0, $10, $10)
        ON CONFLICT (warehouse_id, namespace, name) DO NOTHING";
    check_name("table name", &new.ident.name)?;
    take_turn(tx, new.location_key).await?;
    let change = &new.change;
    let insert = query(SQL).bind(new.id).bind(new.warehouse_id).bind(key(&new.ident.namespace)).bind(&new.ident.name);
    let insert = insert.bind(new.kind.as_str()).bind(change.uuid).bind(i64::from(change.format_version));
    let insert = insert.bind(change.location).bind(change.metadata_location).bind(change.now_ms);
    let missing = Error::NotFound(entity(&new.ident.namespace));
    if tx.execute(insert).await.map_err(|e| on_foreign_key(e, missing))? == 0 {
        return Err(name_taken(tx, new.warehouse_id, new.ident).await?);
    }
    take(
        tx,
        &Taking {
            location: new.location_key,
            table_id: new.id,
            warehouse_id: new.warehouse_id,
            claim: new.claim,
            now_ms: change.now_ms,
        },
    )
    .await?;
    for place in change.paths {
        share(tx, place, new.id, new.warehouse_id, change.now_ms).await?;
    }
    Ok(created(new))
}

fn created(new: &NewTable<'_>) -> TableRow {
    TableRow {
        id: new.id.to_owned(),
        warehouse_id: new.warehouse_id.to_owned(),
        kind: new.kind,
        ident: new.ident.clone(),
        uuid: new.change.uuid.to_owned(),
        format_version: new.change.format_version,
        location: new.change.location.to_owned(),
        metadata_location: new.change.metadata_location.to_owned(),
        version: 0,
        created_ms: new.change.now_ms,
        updated_ms: new.change.now_ms,
    }
}

/// The error for a name that is taken. If it was freed in between, another change came first.
async fn name_taken(tx: &mut Tx, warehouse_id: &str, ident: &TableIdent) -> Result<Error> {
    Ok(match kind_of(tx, warehouse_id, ident).await? {
        Some(kind) => Error::AlreadyExists(kind.entity(ident)),
        None => Error::Conflict,
    })
}

/// Moves the pointers of one or several tables or views, while `same` stay as they were read: all of them or, when the
/// transaction is dropped, none. The order of the lists does not matter.
///
/// # Errors
/// [`Error::Conflict`] if one of either was changed or dropped since it was read; [`Error::LocationTaken`] if one moves to
/// where another table is.
pub async fn swap(tx: &mut Tx, swaps: &[Swap<'_>], same: &[&TableRow]) -> Result<()> {
    // Rows are locked in one order, so that two transactions cannot wait for each other.
    let moved = swaps.iter().map(|swap| (swap.row, Some(swap)));
    let mut in_order: Vec<(&TableRow, Option<&Swap<'_>>)> = moved.chain(same.iter().map(|row| (*row, None))).collect();
    in_order.sort_by_key(|(row, _)| &row.id);
    for (row, swap) in &in_order {
        match swap {
            Some(swap) => swap_one(tx, swap).await?,
            None => hold(tx, row).await?,
        }
    }
    for swap in in_order.iter().filter_map(|(_, swap)| *swap) {
        if let Some(location) = swap.moved_to {
            move_to(tx, swap, location).await?;
        }
        // After the move: what it names may be where it lived.
        for place in swap.change.paths {
            share(tx, place, &swap.row.id, &swap.row.warehouse_id, swap.change.now_ms).await?;
        }
    }
    Ok(())
}

async fn swap_one(tx: &mut Tx, swap: &Swap<'_>) -> Result<()> {
    const SQL: &str = "
        UPDATE tables SET metadata_location = $1, uuid = $2, format_version = $3, location = $4, updated_ms = $5,
                          version = version + 1
        WHERE id = $6 AND version = $7";
    let change = &swap.change;
    let update = query(SQL).bind(change.metadata_location).bind(change.uuid).bind(i64::from(change.format_version));
    let update = update.bind(change.location).bind(change.now_ms).bind(&swap.row.id).bind(swap.row.version);
    match tx.execute(update).await? {
        0 => Err(Error::Conflict),
        _ => Ok(()),
    }
}

/// Locks a row that is still as it was read.
async fn hold(tx: &mut Tx, row: &TableRow) -> Result<()> {
    const SQL: &str = "UPDATE tables SET version = version WHERE id = $1 AND version = $2";
    match tx.execute(query(SQL).bind(&row.id).bind(row.version)).await? {
        0 => Err(Error::Conflict),
        _ => Ok(()),
    }
}

async fn move_to(tx: &mut Tx, swap: &Swap<'_>, location: &str) -> Result<()> {
    let now_ms = swap.change.now_ms;
    let TableRow { id: table_id, warehouse_id, .. } = swap.row;
    take_turn(tx, location).await?;
    leave_home(tx, swap.row, now_ms).await?;
    take(tx, &Taking { location, table_id, warehouse_id, claim: Claim::Requested, now_ms }).await
}

/// Gives a table or view another name, in the same or another namespace of its warehouse.
///
/// A commit that read the row before loses its swap, reads again and finds nothing under the old name.
///
/// # Errors
/// [`Error::NotFound`] with the source, or with the destination's namespace; [`Error::AlreadyExists`] with what has
/// the destination's name.
pub async fn rename(
    tx: &mut Tx,
    warehouse_id: &str,
    kind: Kind,
    from: &TableIdent,
    to: &TableIdent,
    now_ms: i64,
) -> Result<()> {
    const SQL: &str = "
        UPDATE tables SET namespace = $1, name = $2, updated_ms = $3, version = version + 1
        WHERE warehouse_id = $4 AND namespace = $5 AND name = $6 AND kind = $7";
    const ID: &str = "SELECT id FROM tables WHERE warehouse_id = $1 AND namespace = $2 AND name = $3";
    check_name("table name", &to.name)?;
    let update = query(SQL).bind(key(&to.namespace)).bind(&to.name).bind(now_ms).bind(warehouse_id);
    let update = update.bind(key(&from.namespace)).bind(&from.name).bind(kind.as_str());
    match tx.attempt(update).await {
        Ok(0) => Err(Error::NotFound(kind.entity(from))),
        Ok(_) => {
            let id = query(ID).bind(warehouse_id).bind(key(&to.namespace)).bind(&to.name);
            match tx.optional(id).await? {
                Some(row) => grants::renamed(tx, &text(&row, "id")?).await,
                None => Ok(()),
            }
        }
        Err(error) if is_unique(&error) => Err(name_taken(tx, warehouse_id, to).await?),
        Err(error) => Err(on_foreign_key(error, Error::NotFound(entity(&to.namespace)))),
    }
}

/// Removes a table or view from the catalog and answers what it was. No file is touched; its location is remembered
/// as left behind until [`crate::store::locations::forget_table`].
///
/// # Errors
/// [`Error::NotFound`].
pub async fn drop(tx: &mut Tx, warehouse_id: &str, kind: Kind, ident: &TableIdent, now_ms: i64) -> Result<TableRow> {
    let dropped = remove(tx, warehouse_id, kind, ident).await?;
    leave(tx, &dropped, now_ms).await?;
    grants::forget_table(tx, &dropped.id).await?;
    Ok(dropped)
}

/// As [`drop`], but its location stays live: for a table that is kept aside, and may come back by [`restore`].
///
/// # Errors
/// [`Error::NotFound`].
pub async fn remove(tx: &mut Tx, warehouse_id: &str, kind: Kind, ident: &TableIdent) -> Result<TableRow> {
    const SQL: &str = "
        DELETE FROM tables WHERE warehouse_id = $1 AND namespace = $2 AND name = $3 AND kind = $4
        RETURNING id, kind, uuid, format_version, location, metadata_location, version, created_ms, updated_ms";
    let delete = query(SQL).bind(warehouse_id).bind(key(&ident.namespace)).bind(&ident.name).bind(kind.as_str());
    let Some(row) = tx.optional(delete).await? else {
        return Err(Error::NotFound(kind.entity(ident)));
    };
    let removed = read(&row, warehouse_id, ident)?;
    grants::renamed(tx, &removed.id).await?;
    Ok(removed)
}

/// Brings back what [`remove`] took, under this name.
///
/// # Errors
/// [`Error::AlreadyExists`] with what has the name; [`Error::NotFound`] with the namespace.
pub async fn restore(tx: &mut Tx, row: &TableRow, ident: &TableIdent, now_ms: i64) -> Result<()> {
    const SQL: &str = "
        INSERT INTO tables (id, warehouse_id, namespace, name, kind, uuid, format_version, location,
                            metadata_location, version, created_ms, updated_ms)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
        ON CONFLICT (warehouse_id, namespace, name) DO NOTHING";
    check_name("table name", &ident.name)?;
    let insert = query(SQL).bind(&row.id).bind(&row.warehouse_id).bind(key(&ident.namespace)).bind(&ident.name);
    let insert = insert.bind(row.kind.as_str()).bind(&row.uuid).bind(i64::from(row.format_version));
    let insert = insert.bind(&row.location).bind(&row.metadata_location).bind(row.version + 1);
    let missing = Error::NotFound(entity(&ident.namespace));
    match tx.execute(insert.bind(row.created_ms).bind(now_ms)).await.map_err(|e| on_foreign_key(e, missing))? {
        0 => Err(name_taken(tx, &row.warehouse_id, ident).await?),
        _ => grants::renamed(tx, &row.id).await,
    }
}
