//! Commits to one table or several: all of them happen, or none.
//!
//! ```text
//! pointers and base metadata -> requirements (409) -> updates (409 stale, 400 wrong) -> validate what is new (400)
//! -> PUT each metadata file, create only -> one SQL transaction that swaps every pointer -> reply
//! ```
//! A lost swap starts again from the top, with the new base; what was validated is not validated again, because the
//! files that a commit adds never change.

use crate::app::{App, Warehouse};
use crate::commit::files::{NewFile, next_file};
use crate::commit::load::{keep, load_table};
use crate::commit::location::{check_metadata, choose};
use crate::commit::{Error, Stored};
use crate::spec::{self, AddedSnapshot, Base, CommitTableRequest, TableIdent, TableMetadata, TableUpdate};
use crate::storage::Location;
use crate::store::locations::Claim;
use crate::store::tables::{self, Change, Kind, NewTable, Swap, TableRow};
use crate::store::{self, Entity};
use crate::validate;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

/// How often a commit is tried before its client is told to come back.
const TRIES: usize = 5;

/// Pause before the second try; doubled before each further one.
const PAUSE: Duration = Duration::from_millis(10);

/// A commit to one table.
#[derive(Debug)]
pub struct TableChange {
    /// The table.
    pub ident: TableIdent,
    /// What must hold, and what is to change.
    pub request: CommitTableRequest,
}

/// Commits to each of the tables, or to none; answers their new metadata in the order of the changes.
///
/// # Errors
/// 409 when a requirement does not hold or other commits win every time; 400 when an update is wrong or what it adds
/// would corrupt the table; [`store::Error::OutcomeUnknown`] when the database's answer was lost.
pub async fn commit_tables(
    app: &App,
    warehouse: &Warehouse,
    changes: &[TableChange],
) -> Result<Vec<Arc<Stored>>, Error> {
    refuse_repeated(changes)?;
    let mut validated = Validated::default();
    for attempt in 0..TRIES {
        if attempt > 0 {
            tokio::time::sleep(PAUSE * 2_u32.pow(u32::try_from(attempt - 1).unwrap_or(0))).await;
        }
        let mut prepared = Vec::with_capacity(changes.len());
        for change in changes {
            prepared.push(prepare(app, warehouse, change, &mut validated).await?);
        }
        write_files(app, &prepared).await?;
        match swap(app, warehouse, &prepared).await {
            Ok(()) => return Ok(finish(app, prepared).await),
            Err(error) => {
                if !matches!(error, store::Error::OutcomeUnknown(_)) {
                    delete_files(app, &prepared).await;
                }
                match error {
                    store::Error::Conflict | store::Error::Busy(_) => {
                        metrics::counter!("guillemot_commit_retries_total").increment(1);
                        tracing::debug!(attempt, cause = %error, "lost the swap");
                    }
                    other => return Err(as_requirement(other, changes)),
                }
            }
        }
    }
    let names: Vec<String> = changes.iter().map(|c| c.ident.to_string()).collect();
    Err(Error::Contention { table: names.join(", "), tries: TRIES })
}

/// One table in two changes would have two new metadata files for one pointer.
fn refuse_repeated(changes: &[TableChange]) -> Result<(), Error> {
    let mut seen = HashSet::new();
    match changes.iter().find(|change| !seen.insert(&change.ident)) {
        Some(twice) => Err(Error::Invalid(format!("Invalid transaction: {} is changed twice", twice.ident))),
        None => Ok(()),
    }
}

/// A create that met a table is a requirement that failed, whoever won the race (`spec.md` 2.1).
fn as_requirement(error: store::Error, changes: &[TableChange]) -> Error {
    match error {
        store::Error::AlreadyExists(Entity::Table(name)) => {
            spec::Error::conflict(format!("Requirement failed: table already exists: {name}")).into()
        }
        store::Error::NotFound(Entity::Namespace(_)) if changes.iter().any(|c| !is_create(&c.request)) => error.into(),
        other => other.into(),
    }
}

fn is_create(request: &CommitTableRequest) -> bool {
    request.is_create().unwrap_or(false)
}

/// One change, ready for the swap.
enum Prepared {
    /// Nothing changes.
    Same(Arc<Stored>),
    /// The pointer moves.
    Swap(Box<Write>, TableRow),
    /// The table is new.
    Create(Box<Write>),
}

/// A metadata file to write, and what the row will say of it.
struct Write {
    ident: TableIdent,
    id: String,
    file: NewFile,
    stored: Arc<Stored>,
    location_key: String,
    /// Metadata files that left the log and that the table wants deleted.
    dropped: Vec<String>,
    now_ms: i64,
}

impl Prepared {
    fn write(&self) -> Option<&Write> {
        match self {
            Self::Same(_) => None,
            Self::Swap(write, _) | Self::Create(write) => Some(write),
        }
    }
}

async fn prepare(
    app: &App,
    warehouse: &Warehouse,
    change: &TableChange,
    validated: &mut Validated,
) -> Result<Prepared, Error> {
    if change.request.is_create()? {
        return prepare_create(app, warehouse, change, validated).await;
    }
    let (row, base) = load_table(app, warehouse, &change.ident).await?;
    for requirement in &change.request.requirements {
        requirement.check(base.metadata())?;
    }
    let now_ms = app.clock.now_ms();
    let of = Base { metadata: base.metadata(), location: base.location() };
    let applied = spec::apply(Some(of), &change.request.updates, now_ms)?;
    if !applied.changed {
        return Ok(Prepared::Same(base));
    }
    let mut metadata = applied.metadata;
    let location_key = if metadata.location == row.location && same_metadata_path(base.metadata(), &metadata) {
        None
    } else {
        Some(check_metadata(warehouse, &metadata)?)
    };
    validated.check(app, warehouse, Some(base.metadata()), &mut metadata, &applied.added_snapshots).await?;
    let dropped = if deletes_old_files(&metadata) { applied.dropped_metadata_files } else { Vec::new() };
    let new = New { ident: &change.ident, id: row.id.clone(), previous: Some(base.location()), location_key, dropped };
    Ok(Prepared::Swap(Box::new(write(app, new, metadata, now_ms)?), row))
}

async fn prepare_create(
    app: &App,
    warehouse: &Warehouse,
    change: &TableChange,
    validated: &mut Validated,
) -> Result<Prepared, Error> {
    match tables::load(&app.db, &warehouse.row.id, &change.ident).await? {
        Some(row) if row.kind == Kind::View => {
            return Err(store::Error::AlreadyExists(Entity::View(change.ident.to_string())).into());
        }
        Some(_) => {
            let message = format!("Requirement failed: table already exists: {}", change.ident);
            return Err(spec::Error::conflict(message).into());
        }
        None => {}
    }
    let now_ms = app.clock.now_ms();
    let updates = complete(app, warehouse, change).await?;
    let applied = spec::apply(None, &updates, now_ms)?;
    let mut metadata = applied.metadata;
    let location_key = Some(check_metadata(warehouse, &metadata)?);
    validated.check(app, warehouse, None, &mut metadata, &applied.added_snapshots).await?;
    let new = New { ident: &change.ident, id: app.ids.uuid(), previous: None, location_key, dropped: Vec::new() };
    Ok(Prepared::Create(Box::new(write(app, new, metadata, now_ms)?)))
}

/// The updates of a create, with the uuid and the location that a client may have left to the catalog.
async fn complete(app: &App, warehouse: &Warehouse, change: &TableChange) -> Result<Vec<TableUpdate>, Error> {
    let given = &change.request.updates;
    let mut updates = Vec::with_capacity(given.len() + 2);
    if !given.iter().any(|update| matches!(update, TableUpdate::AssignUuid { .. })) {
        updates.push(TableUpdate::AssignUuid { uuid: app.ids.uuid() });
    }
    if !given.iter().any(|update| matches!(update, TableUpdate::SetLocation { .. })) {
        let location = choose(app, warehouse, &change.ident, None).await?.location;
        updates.push(TableUpdate::SetLocation { location });
    }
    updates.extend(given.iter().cloned());
    Ok(updates)
}

fn same_metadata_path(old: &TableMetadata, new: &TableMetadata) -> bool {
    old.properties.get("write.metadata.path") == new.properties.get("write.metadata.path")
}

fn deletes_old_files(metadata: &TableMetadata) -> bool {
    metadata
        .properties
        .get("write.metadata.delete-after-commit.enabled")
        .is_some_and(|value| value.eq_ignore_ascii_case("true"))
}

/// What [`write`] needs to know besides the metadata.
struct New<'a> {
    ident: &'a TableIdent,
    id: String,
    previous: Option<&'a str>,
    location_key: Option<Location>,
    dropped: Vec<String>,
}

fn write(app: &App, new: New<'_>, metadata: TableMetadata, now_ms: i64) -> Result<Write, Error> {
    let document = metadata.to_bytes();
    let location_key = new.location_key.map(|key| key.to_string()).unwrap_or_default();
    let file = next_file(&metadata, document.clone(), new.previous, &app.ids.uuid())?;
    let config = app.storage.client_config(&file.location);
    let stored = Arc::new(Stored::new(file.location.clone(), &document, metadata, &config));
    Ok(Write { ident: new.ident.clone(), id: new.id, file, stored, location_key, dropped: new.dropped, now_ms })
}

/// What was validated already in this request: a verdict on immutable files stays true when the swap is tried again.
#[derive(Default)]
struct Validated {
    /// For each snapshot that passed, the end of the row ids that its manifest list assigns.
    row_id_ends: HashMap<i64, Option<i64>>,
}

impl Validated {
    async fn check(
        &mut self,
        app: &App,
        warehouse: &Warehouse,
        base: Option<&TableMetadata>,
        metadata: &mut TableMetadata,
        added: &[AddedSnapshot],
    ) -> Result<(), Error> {
        let new: Vec<AddedSnapshot> =
            added.iter().filter(|snapshot| !self.row_id_ends.contains_key(&snapshot.snapshot_id)).copied().collect();
        let reader = app.scoped(warehouse);
        let verdict = validate::snapshots(&reader, &app.manifests, &warehouse.levels, base, metadata, &new).await;
        let report = verdict.map_err(|unavailable| Error::StorageUnavailable {
            location: unavailable.location.clone(),
            source: Box::new(unavailable),
        })?;
        note(&report);
        if !report.refused.is_empty() {
            return Err(Error::Refused(Box::new(report)));
        }
        self.row_id_ends.extend(new.iter().map(|snapshot| (snapshot.snapshot_id, report.row_id_end)));
        for end in added.iter().filter_map(|snapshot| self.row_id_ends.get(&snapshot.snapshot_id).copied().flatten()) {
            metadata.raise_next_row_id(end);
        }
        Ok(())
    }
}

/// Counts a verdict, and logs what was found but not refused.
fn note(report: &validate::Report) {
    for violation in &report.refused {
        tracing::info!(rule = violation.rule, object = violation.object, "refused: {}", violation.message);
        metrics::counter!("guillemot_rule_refusals_total", "rule" => violation.rule).increment(1);
    }
    for violation in &report.warnings {
        metrics::counter!("guillemot_rule_warnings_total", "rule" => violation.rule).increment(1);
        tracing::warn!(rule = violation.rule, object = violation.object, "{}", violation.message);
    }
    for skipped in &report.not_checked {
        metrics::counter!("guillemot_rule_not_checked_total", "rule" => skipped.rule).increment(1);
    }
}

async fn write_files(app: &App, prepared: &[Prepared]) -> Result<(), Error> {
    for write in prepared.iter().filter_map(Prepared::write) {
        let put = app.storage.write_new(&write.file.location, write.file.bytes.clone()).await;
        if let Err(error) = put {
            delete_files(app, prepared).await;
            return Err(Error::from_write(error));
        }
    }
    Ok(())
}

/// Deletes files that no pointer names, and surely never will.
async fn delete_files(app: &App, prepared: &[Prepared]) {
    for write in prepared.iter().filter_map(Prepared::write) {
        delete_quietly(app, &write.file.location).await;
    }
}

/// Deletes a file that nothing needs. When that fails the file is litter, not harm.
pub(super) async fn delete_quietly(app: &App, location: &str) {
    if let Err(error) = app.storage.delete(location).await {
        tracing::warn!(location, cause = %error, "could not delete a file that nothing needs");
    }
}

/// One SQL transaction: swaps first, then creates in order of their names.
async fn swap(app: &App, warehouse: &Warehouse, prepared: &[Prepared]) -> Result<(), store::Error> {
    let mut swaps = Vec::new();
    let mut creates = Vec::new();
    for item in prepared {
        match item {
            Prepared::Same(_) => {}
            Prepared::Swap(write, row) => swaps.push(as_swap(write, row)),
            Prepared::Create(write) => creates.push(write),
        }
    }
    if swaps.is_empty() && creates.is_empty() {
        return Ok(());
    }
    creates.sort_by(|a, b| a.ident.cmp(&b.ident));
    let mut tx = app.db.begin().await?;
    tables::swap(&mut tx, &swaps).await?;
    for write in creates {
        tables::create(&mut tx, &as_new_table(warehouse, write)).await?;
    }
    tx.commit().await
}

fn as_swap<'a>(write: &'a Write, row: &'a TableRow) -> Swap<'a> {
    let moved = row.location != write.stored.metadata().location;
    Swap { row, change: as_change(write), moved_to: moved.then_some(write.location_key.as_str()) }
}

fn as_new_table<'a>(warehouse: &'a Warehouse, write: &'a Write) -> NewTable<'a> {
    NewTable {
        id: &write.id,
        warehouse_id: &warehouse.row.id,
        ident: &write.ident,
        kind: Kind::Table,
        location_key: &write.location_key,
        claim: Claim::Shared,
        change: as_change(write),
    }
}

fn as_change(write: &Write) -> Change<'_> {
    let metadata = write.stored.metadata();
    Change {
        uuid: &metadata.table_uuid,
        format_version: metadata.format_version,
        location: &metadata.location,
        metadata_location: &write.file.location,
        now_ms: write.now_ms,
    }
}

/// After the swap: the cache learns what was written, and files that left the log go.
async fn finish(app: &App, prepared: Vec<Prepared>) -> Vec<Arc<Stored>> {
    let mut done = Vec::with_capacity(prepared.len());
    for item in prepared {
        match item {
            Prepared::Same(stored) => done.push(stored),
            Prepared::Swap(write, _) | Prepared::Create(write) => {
                keep(app, Arc::clone(&write.stored)).await;
                for location in &write.dropped {
                    delete_quietly(app, location).await;
                }
                done.push(write.stored);
            }
        }
    }
    metrics::counter!("guillemot_commits_total").increment(1);
    done
}
