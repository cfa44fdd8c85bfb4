//! Registering a table by a metadata file that exists.

use crate::app::{App, Warehouse};
use crate::commit::create::{insert, require_free};
use crate::commit::load::keep;
use crate::commit::location::{check_inside, check_metadata};
use crate::commit::{Error, Stored};
use crate::spec::{Namespace, TableIdent};
use crate::store::tables::{self, Change, Kind, NewTable, Swap};
use crate::store::{self, locations};
use std::sync::Arc;

/// `POST /v1/{prefix}/namespaces/{namespace}/register`
#[derive(Debug)]
pub struct RegisterRequest {
    /// The table's name.
    pub name: String,
    /// Its metadata file.
    pub metadata_location: String,
    /// Whether a table of this name may be there already, and gets this file.
    pub overwrite: bool,
}

/// Points a name at a metadata file. The file stays as and where it is.
pub async fn register_table(
    app: &App,
    warehouse: &Warehouse,
    namespace: &Namespace,
    request: &RegisterRequest,
) -> Result<Arc<Stored>, Error> {
    let ident = TableIdent::new(namespace.clone(), request.name.clone())?;
    let replaced = match tables::load(&app.db, &warehouse.row.id, &ident).await? {
        Some(row) if request.overwrite && row.kind == Kind::Table => Some(row),
        _ => None,
    };
    if replaced.is_none() {
        require_free(app, warehouse, &ident).await?;
    }
    check_inside(warehouse, "metadata-location", &request.metadata_location)?;
    // Read afresh: the name of a dropped table's file may be written anew, by a test or by hand.
    let location = &request.metadata_location;
    let file = app.storage.read(location).await.map_err(Error::from_storage)?;
    let stored = Arc::new(Stored::parse(location, &file, &app.storage.client_config(location))?);
    let location_key = check_metadata(warehouse, stored.metadata())?.to_string();
    let metadata = stored.metadata();
    let change = Change {
        uuid: &metadata.table_uuid,
        format_version: metadata.format_version,
        location: &metadata.location,
        metadata_location: stored.location(),
        now_ms: app.clock.now_ms(),
    };
    if let Some(row) = &replaced {
        let moved_to = (row.location != metadata.location).then_some(location_key.as_str());
        replace(app, Swap { row, change, moved_to }).await?;
    } else {
        let new = NewTable {
            id: &app.ids.uuid(),
            warehouse_id: &warehouse.row.id,
            ident: &ident,
            kind: Kind::Table,
            location_key: &location_key,
            claim: locations::Claim::Shared,
            change,
        };
        insert(app, &new).await?;
    }
    keep(app, Arc::clone(&stored)).await;
    Ok(stored)
}

async fn replace(app: &App, swap: Swap<'_>) -> Result<(), store::Error> {
    let mut tx = app.db.begin().await?;
    tables::swap(&mut tx, std::slice::from_ref(&swap)).await?;
    tx.commit().await
}
