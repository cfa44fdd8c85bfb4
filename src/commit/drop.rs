//! Dropping a table or view.

use crate::app::{App, Warehouse};
use crate::commit::Error;
use crate::spec::TableIdent;
use crate::store::tables::{self, Kind};

/// Removes a table or view from the catalog. Needs no metadata file, so a broken one can be dropped.
pub async fn drop(app: &App, warehouse: &Warehouse, kind: Kind, ident: &TableIdent) -> Result<(), Error> {
    let mut tx = app.db.begin().await?;
    tables::drop(&mut tx, &warehouse.row.id, kind, ident, app.clock.now_ms()).await?;
    tx.commit().await?;
    Ok(())
}
