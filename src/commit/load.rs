//! Reading a table or view: one SQL query for the pointer, then its metadata file, cached.

use crate::app::{App, Warehouse};
use crate::commit::{Document, Error, Stored};
use crate::spec::TableIdent;
use crate::store;
use crate::store::tables::{self, Kind, TableRow};
use std::sync::Arc;

/// The pointer of a table, or of a view. One of the other kind is none, and nothing is in a namespace that is not
/// there: clients ask for metadata tables such as `ns.table.files` that way (`spec.md` 6.5).
pub async fn load_pointer(app: &App, warehouse: &Warehouse, kind: Kind, ident: &TableIdent) -> Result<TableRow, Error> {
    match tables::load(&app.db, &warehouse.row.id, ident).await? {
        Some(row) if row.kind == kind => Ok(row),
        _ => Err(store::Error::NotFound(kind.entity(ident)).into()),
    }
}

/// As [`load_pointer`], with the version of all grants at that moment.
pub async fn load_pointer_with_grants(
    app: &App,
    warehouse: &Warehouse,
    kind: Kind,
    ident: &TableIdent,
) -> Result<(TableRow, i64), Error> {
    match tables::load_with_grants(&app.db, &warehouse.row.id, ident).await? {
        Some((row, version)) if row.kind == kind => Ok((row, version)),
        _ => Err(store::Error::NotFound(kind.entity(ident)).into()),
    }
}

/// The pointer and the metadata of a table or view.
pub async fn load<M: Document>(
    app: &App,
    warehouse: &Warehouse,
    ident: &TableIdent,
) -> Result<(TableRow, Arc<Stored<M>>), Error> {
    let row = load_pointer(app, warehouse, M::KIND, ident).await?;
    verify_file(app, &row.metadata_location).await?;
    let stored = stored(app, &row.metadata_location).await?;
    Ok((row, stored))
}

/// A metadata file, from the cache or from storage.
pub async fn stored<M: Document>(app: &App, location: &str) -> Result<Arc<Stored<M>>, Error> {
    if let Some(known) = app.metadata.find::<Stored<M>>(location).await {
        return Ok(known);
    }
    let stored = read(app, location).await?;
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

/// A metadata file as it is in storage now.
pub(super) async fn read<M: Document>(app: &App, location: &str) -> Result<Arc<Stored<M>>, Error> {
    let file = app.storage.read(location).await.map_err(Error::from_storage)?;
    Ok(Arc::new(Stored::parse(location, &file, &M::client_config(app, location))?))
}

/// Puts metadata that was just written into the cache.
pub(super) async fn keep<M: Document>(app: &App, stored: Arc<Stored<M>>) {
    let weight = stored.weight();
    app.metadata.keep(stored.location().to_owned(), stored, weight).await;
}
