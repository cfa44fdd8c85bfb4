//! Registering a table or view by a metadata file that exists.

use crate::app::{App, Warehouse};
use crate::commit::check::{check_registered, check_version};
use crate::commit::create::require_free;
use crate::commit::load::{keep, read};
use crate::commit::location::{check_inside, check_metadata, check_no_neighbour};
use crate::commit::once::metadata;
use crate::commit::verdict::Subject;
use crate::commit::{Document, Error, Once, Stored, name_taken};
use crate::config::RegisterCheck;
use crate::spec::{Namespace, TableIdent};
use crate::store;
use crate::store::locations::Claim;
use crate::store::tables::{self, Change, Kind, NewTable, Swap};
use std::sync::Arc;

/// `POST /v1/{prefix}/namespaces/{namespace}/register`, and `…/register-view`.
#[derive(Debug)]
pub struct RegisterRequest {
    /// The name of the table or view.
    pub name: String,
    /// Its metadata file.
    pub metadata_location: String,
    /// Whether a table of this name may be there already, and gets this file. Views have no such wish.
    pub overwrite: bool,
    /// How strictly the table is checked, where that is more than the settings ask for.
    pub check: RegisterCheck,
}

/// Points a name at a metadata file. The file stays as and where it is.
pub async fn register<M: Document>(
    app: &App,
    warehouse: &Warehouse,
    namespace: &Namespace,
    request: &RegisterRequest,
    once: &Once,
) -> Result<Arc<Stored<M>>, Error> {
    let ident = TableIdent::new(namespace.clone(), request.name.clone())?;
    let replaced = match tables::load(&app.db, &warehouse.row.id, &ident).await? {
        Some(row) if request.overwrite && row.kind == M::KIND => Some(row),
        _ => None,
    };
    if replaced.is_none() {
        require_free(app, warehouse, M::KIND, &ident).await?;
    }
    let table_id = replaced.as_ref().map_or("", |row| row.id.as_str());
    let place = check_inside(warehouse, "metadata-location", &request.metadata_location)?;
    check_no_neighbour(app, "metadata-location", &place.folder(), table_id).await?;
    // Read afresh: the name of a dropped table's file may be written anew, by a test or by hand.
    let stored: Arc<Stored<M>> = read(app, &request.metadata_location).await?;
    let found = stored.metadata();
    let location_key = check_metadata(app, warehouse, &**found, table_id).await?.to_string();
    let mut warnings = Vec::new();
    if let Some(table) = found.as_table() {
        check_version(warehouse, table.format_version)?;
        let subject = Subject { app, warehouse, table: &ident, row: replaced.as_ref(), action: "register" };
        warnings = check_registered(subject, table, request.check.max(warehouse.register_check)).await?;
    }
    let change = Change {
        uuid: found.uuid(),
        format_version: found.format_version(),
        location: found.location(),
        metadata_location: stored.location(),
        now_ms: app.clock.now_ms(),
    };
    if let Some(row) = &replaced {
        let moved_to = (row.location != found.location()).then_some(location_key.as_str());
        replace(app, M::KIND, Swap { row, change, moved_to }, once).await?;
    } else {
        let new = NewTable {
            id: &app.ids.uuid(),
            warehouse_id: &warehouse.row.id,
            ident: &ident,
            kind: M::KIND,
            location_key: &location_key,
            claim: Claim::Requested,
            change,
        };
        insert(app, &new, once).await.map_err(|error| name_taken(M::KIND, error))?;
    }
    app.note_warnings(warnings);
    keep(app, Arc::clone(&stored)).await;
    Ok(stored)
}

async fn insert(app: &App, new: &NewTable<'_>, once: &Once) -> Result<(), store::Error> {
    let mut tx = app.db.begin().await?;
    tables::create(&mut tx, new).await?;
    once.keep(app, &mut tx, || metadata(new.kind, new.id, new.change.metadata_location)).await?;
    tx.commit().await
}

async fn replace(app: &App, kind: Kind, swap: Swap<'_>, once: &Once) -> Result<(), store::Error> {
    let mut tx = app.db.begin().await?;
    tables::swap(&mut tx, std::slice::from_ref(&swap), &[]).await?;
    once.keep(app, &mut tx, || metadata(kind, &swap.row.id, swap.change.metadata_location)).await?;
    tx.commit().await
}
