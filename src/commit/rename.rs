//! Renaming a table or view: its row moves, its files stay.

use crate::app::{App, Warehouse};
use crate::commit::{Error, Once, nothing};
use crate::spec::TableIdent;
use crate::store::tables::{self, Kind};
use crate::store::{self, Entity};

/// Gives a table or view another name, in the same or another namespace of its warehouse.
pub async fn rename(
    app: &App,
    warehouse: &Warehouse,
    kind: Kind,
    source: &TableIdent,
    destination: &TableIdent,
    once: &Once,
) -> Result<(), Error> {
    let mut tx = app.db.begin().await?;
    let now_ms = app.clock.now_ms();
    let renamed = tables::rename(&mut tx, &warehouse.row.id, kind, source, destination, now_ms).await;
    match renamed {
        Ok(()) => {
            once.keep(app, &mut tx, nothing).await?;
            Ok(tx.commit().await?)
        }
        Err(store::Error::AlreadyExists(taken)) => Err(Error::RenameTaken {
            from: source.clone(),
            to: destination.clone(),
            kind: if matches!(taken, Entity::View(_)) { "View" } else { "Table" },
        }),
        Err(other) => Err(other.into()),
    }
}
