//! Dropping a table: its row goes, and its files too when a purge is asked for.

use crate::app::{App, Warehouse};
use crate::commit::Error;
use crate::spec::TableIdent;
use crate::store::tables::{self, Kind};

/// Removes a table from the catalog. Needs no metadata file, so a broken table can be dropped.
pub async fn drop_table(app: &App, warehouse: &Warehouse, ident: &TableIdent) -> Result<(), Error> {
    let mut tx = app.db.begin().await?;
    tables::drop(&mut tx, &warehouse.row.id, Kind::Table, ident, app.clock.now_ms()).await?;
    tx.commit().await?;
    Ok(())
}
