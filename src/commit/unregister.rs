//! Taking a table out of the catalog, and handing it over: its files stay, and the client learns where it is.

use crate::app::{App, Warehouse};
use crate::commit::once::{Once, metadata};
use crate::commit::{Error, Stored, load};
use crate::spec::{TableIdent, TableMetadata};
use crate::store::tables::{self, Kind};
use std::sync::Arc;

/// How often another change may come between.
const TRIES: usize = 5;

/// Removes a table from the catalog, at once even where dropped tables are kept aside, and answers its last metadata.
/// A table whose metadata cannot be read stays: it can be dropped.
pub async fn unregister(
    app: &App,
    warehouse: &Warehouse,
    ident: &TableIdent,
    once: &Once,
) -> Result<Arc<Stored<TableMetadata>>, Error> {
    for _ in 0..TRIES {
        let (row, stored) = load::<TableMetadata>(app, warehouse, ident).await?;
        let mut tx = app.db.begin().await?;
        let gone = tables::drop(&mut tx, &warehouse.row.id, Kind::Table, ident, app.clock.now_ms()).await?;
        if (&gone.id, gone.version) != (&row.id, row.version) {
            // What is handed over must be what was taken out.
            continue;
        }
        once.keep(app, &mut tx, || metadata(Kind::Table, &row.id, stored.location())).await?;
        tx.commit().await?;
        return Ok(stored);
    }
    Err(Error::Contention { table: ident.to_string(), tries: TRIES })
}
