//! Tables that were dropped and are kept aside: bringing one back, and ending its time.

use crate::app::{App, Warehouse};
use crate::commit::drop::{allowed, queue_purge};
use crate::commit::{Error, name_taken};
use crate::spec::TableIdent;
use crate::store::dropped;
use crate::store::tables::{self, Kind, TableRow};
use crate::store::tasks;
use crate::store::{self, Entity, locations};

/// Which of the dropped tables is meant.
#[derive(Debug, Clone)]
pub enum Which {
    /// The one with this [`TableRow::id`].
    Id(String),
    /// The one that had this name, and was dropped last.
    Name(TableIdent),
}

/// Brings a table back under its old name, or under another one.
///
/// # Errors
/// [`store::Error::NotFound`] if there is no such table (any more), or the namespace is gone;
/// [`Error::NameTaken`] if the name has been given to another table or view.
pub async fn undrop(
    app: &App,
    warehouse: &Warehouse,
    which: &Which,
    destination: Option<&TableIdent>,
) -> Result<TableRow, Error> {
    let warehouse_id = &warehouse.row.id;
    let missing = |what: &str| store::Error::NotFound(Entity::Table(what.to_owned()));
    let id = match which {
        Which::Id(id) => id.clone(),
        Which::Name(ident) => {
            let found = dropped::latest(&app.db, warehouse_id, ident).await?;
            found.ok_or_else(|| missing(&ident.to_string()))?
        }
    };
    let now_ms = app.clock.now_ms();
    let mut tx = app.db.begin().await?;
    let taken = dropped::take(&mut tx, warehouse_id, &id).await?.ok_or_else(|| missing(&id))?;
    let ident = app.names(destination.unwrap_or(&taken.row.ident).clone());
    tables::restore(&mut tx, &taken.row, &ident, now_ms).await.map_err(|error| name_taken(Kind::Table, error))?;
    tasks::cancel(&mut tx, &taken.terms.task_id, now_ms).await?;
    tx.commit().await?;
    Ok(TableRow { ident, version: taken.row.version + 1, updated_ms: now_ms, ..taken.row })
}

/// Ends the time of a table that is kept aside: it cannot be brought back any more. Its files are deleted if that was
/// asked for when it was dropped, or is now.
///
/// # Errors
/// [`store::Error::NotFound`] if there is no such table (any more).
pub async fn end_dropped(app: &App, warehouse: &Warehouse, id: &str, purge: bool) -> Result<(), Error> {
    let now_ms = app.clock.now_ms();
    let mut tx = app.db.begin().await?;
    let taken = dropped::take(&mut tx, &warehouse.row.id, id).await?;
    let taken = taken.ok_or_else(|| store::Error::NotFound(Entity::Table(id.to_owned())))?;
    locations::leave(&mut tx, &taken.row, now_ms).await?;
    tasks::cancel(&mut tx, &taken.terms.task_id, now_ms).await?;
    if purge || taken.terms.purge {
        queue_purge(app, &mut tx, &taken.row, allowed(warehouse)).await?;
    }
    tx.commit().await?;
    app.work.notify_one();
    Ok(())
}
