//! Renaming a table: its row moves, its files stay.

use crate::app::{App, Warehouse};
use crate::commit::Error;
use crate::spec::TableIdent;
use crate::store::tables::{self, Kind};
use crate::store::{self, Entity};

/// Gives a table another name, in the same or another namespace of its warehouse.
pub async fn rename_table(
    app: &App,
    warehouse: &Warehouse,
    source: &TableIdent,
    destination: &TableIdent,
) -> Result<(), Error> {
    let mut tx = app.db.begin().await?;
    let now_ms = app.clock.now_ms();
    let renamed = tables::rename(&mut tx, &warehouse.row.id, Kind::Table, source, destination, now_ms).await;
    match renamed {
        Ok(()) => Ok(tx.commit().await?),
        Err(store::Error::AlreadyExists(taken)) => Err(Error::RenameTaken {
            from: source.clone(),
            to: destination.clone(),
            kind: if matches!(taken, Entity::View(_)) { "View" } else { "Table" },
        }),
        Err(other) => Err(other.into()),
    }
}
