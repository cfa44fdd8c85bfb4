//! Reading a table: one SQL query for the pointer, then its metadata file, cached.

use crate::app::{App, Warehouse};
use crate::commit::{Error, Stored};
use crate::spec::TableIdent;
use crate::store::tables::{self, Kind, TableRow};
use std::sync::Arc;

/// The pointer of a table. A view of this name, or a namespace that is not there, is no table either.
pub async fn load_pointer(app: &App, warehouse: &Warehouse, ident: &TableIdent) -> Result<TableRow, Error> {
    match tables::load(&app.db, &warehouse.row.id, ident).await? {
        Some(row) if row.kind == Kind::Table => Ok(row),
        _ => Err(Error::NoSuchTable(ident.clone())),
    }
}

/// A table's pointer and its metadata.
pub async fn load_table(
    app: &App,
    warehouse: &Warehouse,
    ident: &TableIdent,
) -> Result<(TableRow, Arc<Stored>), Error> {
    let row = load_pointer(app, warehouse, ident).await?;
    let stored = stored(app, &row.metadata_location).await?;
    Ok((row, stored))
}

/// A metadata file, from the cache or from storage.
pub async fn stored(app: &App, location: &str) -> Result<Arc<Stored>, Error> {
    if let Some(known) = app.metadata.find::<Stored>(location).await {
        return Ok(known);
    }
    let file = app.storage.read(location).await.map_err(Error::from_storage)?;
    let stored = Arc::new(Stored::parse(location, &file, &app.storage.client_config(location))?);
    keep(app, Arc::clone(&stored)).await;
    Ok(stored)
}

/// Where the server is set to verify, asks storage whether a metadata file is still there, whatever the cache knows.
pub async fn verify_file(app: &App, location: &str) -> Result<(), Error> {
    if app.config.verify_metadata_on_load {
        app.storage.size(location).await.map_err(Error::from_storage)?;
    }
    Ok(())
}

/// Puts metadata that was just written into the cache.
pub(super) async fn keep(app: &App, stored: Arc<Stored>) {
    let weight = stored.weight();
    app.metadata.keep(stored.location().to_owned(), stored, weight).await;
}
