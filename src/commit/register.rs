//! Registering a table or view by a metadata file that exists.

use crate::app::{App, Warehouse};
use crate::commit::check::{Findings, check_registered, check_version};
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
use crate::store::tables::{self, Change, Kind, NewTable, Swap, TableRow};
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
    /// Whether the table that is there may get a file of a higher format version.
    pub may_upgrade: bool,
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
    let stored = read_candidate::<M>(app, warehouse, &request.metadata_location, replaced.as_ref()).await?;
    if let Some(row) = replaced.as_ref().filter(|row| row.format_version < stored.metadata().format_version())
        && !request.may_upgrade
    {
        let (from, to) = (row.format_version, stored.metadata().format_version());
        let what = "which takes upgrade-format-version on it";
        return Err(Error::Forbidden(format!(
            "Not allowed: that would take table {ident} from version {from} to {to}, {what}"
        )));
    }
    check_candidate(app, warehouse, ident, replaced, stored, request.check).await?.carry_out(app, warehouse, once).await
}

/// Reads a metadata file that is to be registered, if it lies where the warehouse allows and no other table than `own`
/// lives.
pub async fn read_candidate<M: Document>(
    app: &App,
    warehouse: &Warehouse,
    metadata_location: &str,
    own: Option<&TableRow>,
) -> Result<Arc<Stored<M>>, Error> {
    let place = check_inside(warehouse, "metadata-location", metadata_location)?;
    check_no_neighbour(app, "metadata-location", &place.folder(), own.map_or("", |row| &row.id)).await?;
    // Read afresh: the name of a dropped table's file may be written anew, by a test or by hand.
    read(app, metadata_location).await
}

/// Checks that a name may be pointed at a metadata file that was read, all but whether the name is free. Nothing has
/// changed yet.
///
/// `replaced` is what has the name, and is to get the file; it must still be as it was read when that is carried out.
pub async fn check_candidate<M: Document>(
    app: &App,
    warehouse: &Warehouse,
    ident: TableIdent,
    replaced: Option<TableRow>,
    stored: Arc<Stored<M>>,
    check: RegisterCheck,
) -> Result<Registration<M>, Error> {
    let found = stored.metadata();
    let table_id = replaced.as_ref().map_or("", |row| row.id.as_str());
    let location_key = check_metadata(app, warehouse, &**found, table_id).await?.to_string();
    let mut findings = Findings::default();
    if let Some(table) = found.as_table() {
        check_version(warehouse, table.format_version)?;
        let subject = Subject { app, warehouse, table: &ident, row: replaced.as_ref(), action: "register" };
        findings = check_registered(subject, table, check.max(warehouse.register_check)).await?;
    }
    Ok(Registration { ident, replaced, stored, location_key, findings })
}

/// A name that may be pointed at a metadata file.
#[derive(Debug)]
pub struct Registration<M: Document> {
    ident: TableIdent,
    replaced: Option<TableRow>,
    stored: Arc<Stored<M>>,
    /// The location in normal form.
    location_key: String,
    findings: Findings,
}

impl<M: Document> Registration<M> {
    /// What was found in the table, and let pass.
    pub fn findings(&self) -> &Findings {
        &self.findings
    }

    /// Points the name at the file.
    pub async fn carry_out(self, app: &App, warehouse: &Warehouse, once: &Once) -> Result<Arc<Stored<M>>, Error> {
        let Self { ident, replaced, stored, location_key, findings } = self;
        let found = stored.metadata();
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
        app.note_warnings(findings.warnings);
        keep(app, Arc::clone(&stored)).await;
        Ok(stored)
    }
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
