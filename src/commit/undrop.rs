//! Bringing back a table that was dropped and is kept aside.

use crate::app::{App, Warehouse};
use crate::commit::{Error, name_taken};
use crate::spec::TableIdent;
use crate::store::dropped;
use crate::store::tables::{self, Kind, TableRow};
use crate::store::tasks;
use crate::store::{self, Entity};

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
    let ident = destination.unwrap_or(&taken.row.ident).clone();
    tables::restore(&mut tx, &taken.row, &ident, now_ms).await.map_err(|error| name_taken(Kind::Table, error))?;
    tasks::cancel(&mut tx, &taken.terms.task_id, now_ms).await?;
    tx.commit().await?;
    Ok(TableRow { ident, version: taken.row.version + 1, updated_ms: now_ms, ..taken.row })
}
