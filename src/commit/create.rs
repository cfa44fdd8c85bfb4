//! Creating a table, at once or staged for a later commit.

use crate::app::{App, Warehouse};
use crate::commit::files::{load_reply, next_file};
use crate::commit::load::keep;
use crate::commit::location::{check_metadata, choose};
use crate::commit::transaction::delete_quietly;
use crate::commit::{Error, Stored};
use crate::spec::{CreateTableRequest, Namespace, TableIdent};
use crate::store::tables::{self, Change, Kind, NewTable};
use crate::store::{self, Entity, namespaces};
use bytes::Bytes;
use std::sync::Arc;

/// What a create answers.
#[derive(Debug)]
pub enum Created {
    /// The table is there.
    Table(Arc<Stored>),
    /// Nothing is kept: the `LoadTableResult` that a create transaction starts from.
    Staged(Bytes),
}

/// Creates a table with fresh ids (`spec.md` 2.5), or computes what it would be when the request is staged.
pub async fn create_table(
    app: &App,
    warehouse: &Warehouse,
    namespace: &Namespace,
    request: &CreateTableRequest,
) -> Result<Created, Error> {
    let ident = TableIdent::new(namespace.clone(), request.name.clone())?;
    require_free(app, warehouse, &ident).await?;
    let mut tries = 0;
    loop {
        match try_create(app, warehouse, &ident, request).await {
            // Another create took the very location in between: choose again.
            Err(Error::Store(store::Error::LocationTaken { .. } | store::Error::Conflict)) if tries < 4 => tries += 1,
            done => return done,
        }
    }
}

async fn try_create(
    app: &App,
    warehouse: &Warehouse,
    ident: &TableIdent,
    request: &CreateTableRequest,
) -> Result<Created, Error> {
    let chosen = choose(app, warehouse, ident, request.location.as_deref()).await?;
    let now_ms = app.clock.now_ms();
    let metadata = request.build(&chosen.location, &app.ids.uuid(), now_ms)?;
    check_metadata(warehouse, &metadata)?;
    let document = metadata.to_bytes();
    if request.stage_create {
        let config = app.storage.client_config(&chosen.location);
        return Ok(Created::Staged(load_reply(None, &document, &config).0));
    }
    let file = next_file(&metadata, document.clone(), None, &app.ids.uuid())?;
    app.storage.write_new(&file.location, file.bytes).await.map_err(Error::from_write)?;
    let new = NewTable {
        id: &app.ids.uuid(),
        warehouse_id: &warehouse.row.id,
        ident,
        kind: Kind::Table,
        location_key: &chosen.key,
        claim: chosen.claim,
        change: Change {
            uuid: &metadata.table_uuid,
            format_version: metadata.format_version,
            location: &metadata.location,
            metadata_location: &file.location,
            now_ms,
        },
    };
    if let Err(error) = insert(app, &new).await {
        if !matches!(error, store::Error::OutcomeUnknown(_)) {
            delete_quietly(app, &file.location).await;
        }
        return Err(error.into());
    }
    let config = app.storage.client_config(&file.location);
    let stored = Arc::new(Stored::new(file.location, &document, metadata, &config));
    keep(app, Arc::clone(&stored)).await;
    Ok(Created::Table(stored))
}

/// Adds the row of a table whose metadata file is written.
pub(super) async fn insert(app: &App, new: &NewTable<'_>) -> Result<(), store::Error> {
    let mut tx = app.db.begin().await?;
    tables::create(&mut tx, new).await?;
    tx.commit().await
}

/// Refuses early what the insert would refuse after the file is written. The insert still has the last word.
pub(super) async fn require_free(app: &App, warehouse: &Warehouse, ident: &TableIdent) -> Result<(), Error> {
    if let Some(row) = tables::load(&app.db, &warehouse.row.id, ident).await? {
        return Err(store::Error::AlreadyExists(row.kind.entity(ident)).into());
    }
    if !namespaces::exists(&app.db, &warehouse.row.id, &ident.namespace).await? {
        return Err(store::Error::NotFound(Entity::Namespace(ident.namespace.to_string())).into());
    }
    Ok(())
}
