//! Commits to one table or several: all of them happen, or none.
//!
//! ```text
//! pointers and base metadata -> requirements (409) -> updates (409 stale, 400 wrong) -> validate what is new (400)
//! -> PUT each metadata file, create only -> one SQL transaction that swaps every pointer -> reply
//! ```
//! A lost swap starts again from the top, with the new base; what was validated is not validated again, because the
//! files that a commit adds never change.

use crate::app::{Agent, App, Use, Warehouse};
use crate::auth::{Action, Caller, Object};
use crate::commit::check::check_version;
use crate::commit::location::choose;
use crate::commit::once::nothing;
use crate::commit::places::{Places, paths_of};
use crate::commit::swap::{Attempt, New, Prepared, Write, until_won};
use crate::commit::validated::Validated;
use crate::commit::verdict::Subject;
use crate::commit::{Error, Once, Owned, Stored, load, name_taken};
use crate::spec::{self, Base, CommitTableRequest, SnapshotRef, TableIdent, TableMetadata, TableUpdate};
use crate::store::idempotency::Answer;
use crate::store::locations::Claim;
use crate::store::tables::{self, Kind, TableRow};
use crate::store::{self, Entity};
use std::collections::HashSet;
use std::sync::Arc;

/// A commit to one table.
#[derive(Debug)]
pub struct TableChange {
    /// The table.
    pub ident: TableIdent,
    /// What must hold, and what is to change.
    pub request: CommitTableRequest,
    /// Who asks for it.
    pub caller: Caller,
    /// With what.
    pub agent: Agent,
}

/// Commits to a table, and answers its new metadata.
///
/// # Errors
/// 409 when a requirement does not hold or other commits win every time; 400 when an update is wrong or what it adds
/// would corrupt the table; [`store::Error::OutcomeUnknown`] when the database's answer was lost.
pub async fn commit_table(
    app: &App,
    warehouse: &Warehouse,
    change: &TableChange,
    once: &Once,
) -> Result<Arc<Stored>, Error> {
    let changes = std::slice::from_ref(change);
    let commit = Commit { app, warehouse, changes, silent: false, validated: Validated::default(), tables: Vec::new() };
    let mut done = until_won(app, warehouse, commit, once).await?;
    // One change has one answer.
    done.pop().ok_or(Error::Store(store::Error::Conflict))
}

/// Commits to each of the tables, or to none.
///
/// # Errors
/// As [`commit_table`].
pub async fn commit_tables(
    app: &App,
    warehouse: &Warehouse,
    changes: &[TableChange],
    once: &Once,
) -> Result<(), Error> {
    refuse_repeated(changes)?;
    let commit = Commit { app, warehouse, changes, silent: true, validated: Validated::default(), tables: Vec::new() };
    until_won(app, warehouse, commit, once).await.map(drop)
}

/// One table in two changes would have two new metadata files for one pointer.
fn refuse_repeated(changes: &[TableChange]) -> Result<(), Error> {
    let mut seen = HashSet::new();
    match changes.iter().find(|change| !seen.insert(&change.ident)) {
        Some(twice) => Err(Error::Invalid(format!("Invalid transaction: {} is changed twice", twice.ident))),
        None => Ok(()),
    }
}

/// Changes of tables on their way to the swap.
struct Commit<'a> {
    app: &'a App,
    warehouse: &'a Warehouse,
    changes: &'a [TableChange],
    /// Whether the request is answered without metadata.
    silent: bool,
    validated: Validated,
    /// The ids of the tables, in the order of the changes.
    tables: Vec<String>,
}

impl Attempt<TableMetadata> for Commit<'_> {
    async fn prepare(&mut self) -> Result<Vec<Prepared<TableMetadata>>, Error> {
        let mut prepared = Vec::with_capacity(self.changes.len());
        for change in self.changes {
            prepared.push(prepare(self.app, self.warehouse, change, &mut self.validated).await?);
        }
        self.tables = prepared.iter().map(|change| change.table_id().to_owned()).collect();
        Ok(prepared)
    }

    fn judge(&self, error: store::Error) -> Result<store::Error, Error> {
        match error {
            store::Error::Conflict | store::Error::Busy(_) => Ok(error),
            // A create that met a table is a requirement that failed, whoever won the race (`spec.md` 2.1).
            store::Error::AlreadyExists(Entity::Table(name)) => Err(already_exists(&name).into()),
            other => Err(name_taken(Kind::Table, other)),
        }
    }

    fn answer(&self, prepared: &[Prepared<TableMetadata>]) -> Answer {
        let first = prepared.first().filter(|_| !self.silent);
        first.map_or_else(nothing, Prepared::answer)
    }

    fn made(&mut self) {
        for (id, change) in self.tables.iter().zip(self.changes) {
            self.app.note_engine(id, &change.agent, Use::Write);
        }
        self.app.note_warnings(self.validated.take_warnings());
    }

    fn idents(&self) -> Vec<&TableIdent> {
        self.changes.iter().map(|change| &change.ident).collect()
    }
}

fn already_exists(table: &str) -> spec::Error {
    spec::Error::conflict(format!("Requirement failed: table already exists: {table}"))
}

async fn prepare(
    app: &App,
    warehouse: &Warehouse,
    change: &TableChange,
    validated: &mut Validated,
) -> Result<Prepared<TableMetadata>, Error> {
    if change.request.is_create()? {
        return prepare_create(app, warehouse, change, validated).await;
    }
    let (row, base) = load::<TableMetadata>(app, warehouse, &change.ident).await?;
    for requirement in &change.request.requirements {
        requirement.check(base.metadata())?;
    }
    let now_ms = app.clock.now_ms();
    let of = Base { metadata: base.metadata(), location: base.location() };
    let mut applied = spec::apply(Some(of), &change.request.updates, now_ms)?;
    if !applied.changed {
        return Ok(Prepared::Same(base, row));
    }
    let (caller, namespace) = (&change.caller, &change.ident.namespace);
    keep_retention(warehouse, change, base.metadata(), &mut applied.metadata)?;
    let places = Places { app, warehouse, caller, namespace, row: Some(&row) };
    let location_key = places.check_changed(&**base.metadata(), &applied.metadata).await?;
    places.check_files(&change.request.updates, &applied.metadata).await?;
    check_version(warehouse, applied.metadata.format_version)?;
    let paths: Vec<_> = paths_of(&**base.metadata()).chain(paths_of(&applied.metadata)).collect();
    let subject = Subject { places, paths: &paths, table: &change.ident, action: "commit" };
    validated.check(subject, Some(base.metadata()), &mut applied).await?;
    let metadata = applied.metadata;
    let new = New {
        ident: &change.ident,
        id: row.id.clone(),
        previous: Some(base.location()),
        location_key,
        claim: Claim::Requested,
        dropped: disposable(app, warehouse, &row, &metadata, applied.dropped_metadata_files).await?,
    };
    Ok(Prepared::Swap(Write::new(app, new, metadata, now_ms)?, row))
}

/// Keeps how long branches and tags keep what they have, where the caller may add to them and no more: who says nothing of
/// it (as PyIceberg does) changes nothing, and who says something else is refused.
fn keep_retention(
    warehouse: &Warehouse,
    change: &TableChange,
    old: &TableMetadata,
    new: &mut TableMetadata,
) -> Result<(), Error> {
    let table = Object::Table(warehouse.row.id.clone(), change.ident.clone());
    if change.caller.may(&Action::Write, &table) {
        return Ok(());
    }
    let retention = |of: &SnapshotRef| (of.min_snapshots_to_keep, of.max_snapshot_age_ms, of.max_ref_age_ms);
    for (name, of) in &mut new.refs {
        let Some(kept) = old.refs.get(name).map(retention).filter(|kept| *kept != retention(of)) else { continue };
        if retention(of) != (None, None, None) {
            let why = format!("to change the retention of ref {name} takes write on table {}", change.ident);
            return Err(Error::Forbidden(format!("Not allowed: {why}")));
        }
        (of.min_snapshots_to_keep, of.max_snapshot_age_ms, of.max_ref_age_ms) = kept;
    }
    Ok(())
}

async fn prepare_create(
    app: &App,
    warehouse: &Warehouse,
    change: &TableChange,
    validated: &mut Validated,
) -> Result<Prepared<TableMetadata>, Error> {
    match tables::load(&app.db, &warehouse.row.id, &change.ident).await? {
        Some(row) if row.kind == Kind::View => {
            return Err(name_taken(Kind::Table, store::Error::AlreadyExists(row.kind.entity(&change.ident))));
        }
        Some(_) => return Err(already_exists(&change.ident.to_string()).into()),
        None => {}
    }
    let now_ms = app.clock.now_ms();
    let (caller, namespace) = (&change.caller, &change.ident.namespace);
    let places = Places { app, warehouse, caller, namespace, row: None };
    let updates = complete(places, change).await?;
    let mut applied = spec::apply(None, &updates, now_ms)?;
    let location_key = places.check_metadata(&applied.metadata).await?.to_string();
    places.check_files(&updates, &applied.metadata).await?;
    check_version(warehouse, applied.metadata.format_version)?;
    let paths: Vec<_> = paths_of(&applied.metadata).collect();
    let subject = Subject { places, paths: &paths, table: &change.ident, action: "commit" };
    validated.check(subject, None, &mut applied).await?;
    let metadata = applied.metadata;
    let new = New {
        ident: &change.ident,
        id: app.ids.uuid(),
        previous: None,
        location_key,
        claim: Claim::Requested,
        dropped: Vec::new(),
    };
    Ok(Prepared::Create(Write::new(app, new, metadata, now_ms)?))
}

/// The updates of a create, with what a client may have left to the catalog: uuid, location, format version.
async fn complete(places: Places<'_>, change: &TableChange) -> Result<Vec<TableUpdate>, Error> {
    let given = &change.request.updates;
    let mut updates = Vec::with_capacity(given.len() + 2);
    if !given.iter().any(|update| matches!(update, TableUpdate::AssignUuid { .. })) {
        updates.push(TableUpdate::AssignUuid { uuid: places.app.ids.uuid() });
    }
    if !given.iter().any(|update| matches!(update, TableUpdate::SetLocation { .. })) {
        let location = choose(places, &change.ident, None).await?.location;
        updates.push(TableUpdate::SetLocation { location });
    }
    let versions = &places.warehouse.versions;
    if versions.has_default && !given.iter().any(|update| matches!(update, TableUpdate::UpgradeFormatVersion { .. })) {
        updates.push(TableUpdate::UpgradeFormatVersion { format_version: versions.default.into() });
    }
    updates.extend(given.iter().cloned());
    Ok(updates)
}

/// Of the files that left the log, those to be deleted: the table's own, if it wants that.
async fn disposable(
    app: &App,
    warehouse: &Warehouse,
    row: &TableRow,
    metadata: &TableMetadata,
    left_the_log: Vec<String>,
) -> Result<Vec<String>, Error> {
    let wanted = metadata
        .properties
        .get("write.metadata.delete-after-commit.enabled")
        .is_some_and(|value| value.eq_ignore_ascii_case("true"));
    if !wanted || left_the_log.is_empty() {
        return Ok(Vec::new());
    }
    // Whoever may write metadata may write any name into its log.
    let metadata_files = left_the_log.into_iter().filter(|name| name.contains(".metadata.json")).collect();
    let owned = Owned::of(app, &row.id, metadata, &warehouse.allowed).await?;
    Ok(owned.split(app, metadata_files).await?.0)
}
