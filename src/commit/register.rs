//! Registering a table or view by a metadata file that exists.

use crate::app::{App, Warehouse};
use crate::auth::{Action, Caller, Object};
use crate::commit::check::{Findings, check_registered, check_version};
use crate::commit::create::require_free;
use crate::commit::load::{keep, read};
use crate::commit::once::metadata;
use crate::commit::places::{Places, check_inside, paths_of, shared_paths};
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
    /// How strictly the table is checked, where that is more than the settings ask for.
    pub check: RegisterCheck,
}

/// Points a name at a metadata file. The file stays as and where it is.
pub async fn register<M: Document>(
    app: &App,
    warehouse: &Warehouse,
    namespace: &Namespace,
    request: &RegisterRequest,
    caller: &Caller,
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
    let candidate = Candidate { app, warehouse, caller, ident, replaced };
    let stored = candidate.read::<M>(&request.metadata_location).await?;
    candidate.may_upgrade(stored.metadata().format_version())?;
    candidate.check(stored, request.check).await?.carry_out(app, warehouse, once).await
}

/// A name that is to be pointed at a metadata file.
#[derive(Debug)]
pub struct Candidate<'a> {
    /// The server's parts.
    pub app: &'a App,
    /// The warehouse.
    pub warehouse: &'a Warehouse,
    /// Who asks for it.
    pub caller: &'a Caller,
    /// The name.
    pub ident: TableIdent,
    /// What has the name, and is to get the file; it must still be as it was read when that is carried out.
    pub replaced: Option<TableRow>,
}

impl Candidate<'_> {
    /// Reads a metadata file that is to be registered, if it lies where the warehouse allows, no other table lives, and the
    /// caller may take up what was left.
    pub async fn read<M: Document>(&self, metadata_location: &str) -> Result<Arc<Stored<M>>, Error> {
        let place = check_inside(self.warehouse, "metadata-location", metadata_location)?;
        self.places().check("metadata-location", &place.folder(), false).await?;
        // Read afresh: the name of a dropped table's file may be written anew, by a test or by hand.
        read(self.app, metadata_location).await
    }

    /// Checks that the name may be pointed at a metadata file that was read, all but whether the name is free. Nothing has
    /// changed yet.
    pub async fn check<M: Document>(
        self,
        stored: Arc<Stored<M>>,
        check: RegisterCheck,
    ) -> Result<Registration<M>, Error> {
        let found = stored.metadata();
        let places = self.places();
        let location_key = places.check_metadata(&**found).await?.to_string();
        let mut findings = Findings::default();
        if let Some(table) = found.as_table() {
            check_version(self.warehouse, table.format_version)?;
            let paths: Vec<_> = paths_of(&**found).collect();
            let subject = Subject { places, paths: &paths, table: &self.ident, action: "register" };
            findings = check_registered(subject, table, check.max(self.warehouse.register_check)).await?;
        }
        let Self { ident, replaced, .. } = self;
        Ok(Registration { ident, replaced, stored, location_key, findings })
    }

    fn places(&self) -> Places<'_> {
        let (namespace, row) = (&self.ident.namespace, self.replaced.as_ref());
        Places { app: self.app, warehouse: self.warehouse, caller: self.caller, namespace, row }
    }

    /// Refuses to get a table that is there to a higher format version, to those who may not do that by a commit.
    fn may_upgrade(&self, version: u8) -> Result<(), Error> {
        let Some(row) = self.replaced.as_ref().filter(|row| row.format_version < version) else { return Ok(()) };
        let (ident, from) = (&self.ident, row.format_version);
        let table = Object::Table(self.warehouse.row.id.clone(), ident.clone());
        if self.caller.may(&Action::Upgrade, &table) {
            return Ok(());
        }
        Err(Error::Forbidden(format!(
            "Not allowed: that would take table {ident} from version {from} to {version}, which takes \
             upgrade-format-version on it"
        )))
    }
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
        let paths = shared_paths(&**found);
        let change = Change {
            uuid: found.uuid(),
            format_version: found.format_version(),
            location: found.location(),
            metadata_location: stored.location(),
            paths: &paths,
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
