//! The step that makes a change visible: metadata files are noted and put, create only, then one SQL transaction moves
//! every pointer and takes the notes back. A lost swap starts again with the state that won.

use crate::app::{App, Warehouse};
use crate::commit::files::{NewFile, next_file};
use crate::commit::load::keep;
use crate::commit::once::{metadata, nothing};
use crate::commit::places::shared_paths;
use crate::commit::{Document, Error, Once, Stored};
use crate::spec::TableIdent;
use crate::store;
use crate::store::idempotency::Answer;
use crate::store::locations::Claim;
use crate::store::loose_files::{self, LooseFile};
use crate::store::tables::{self, Change, NewTable, Swap, TableRow};
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

/// How often a change is tried before its client is told to come back.
const TRIES: usize = 5;

/// How long a commit waits for those before it on this server. A slow one holds the others up no longer than that: they
/// go on beside it, and who swaps first wins.
const TURN_LIMIT: Duration = Duration::from_secs(2);

/// Pause before the second try; doubled before each further one.
const PAUSE: Duration = Duration::from_millis(10);

/// A change of one table or view, or of several, that can be worked out anew from the state it meets.
pub(super) trait Attempt<M: Document>: Send {
    /// Works out the change from the state that is there now.
    fn prepare(&mut self) -> impl Future<Output = Result<Vec<Prepared<M>>, Error>> + Send;

    /// Whether a failed swap is worth another try; `Err` is what the client reads if not.
    fn judge(&self, error: store::Error) -> Result<store::Error, Error> {
        match error {
            store::Error::Conflict | store::Error::Busy(_) => Ok(error),
            other => Err(other.into()),
        }
    }

    /// What the request is answered: the table or view as it is now, unless it is said otherwise.
    fn answer(&self, prepared: &[Prepared<M>]) -> Answer {
        prepared.first().map_or_else(nothing, Prepared::answer)
    }

    /// Is told that the change was made.
    fn made(&mut self) {}

    /// What is changed.
    fn idents(&self) -> Vec<&TableIdent>;
}

/// One change, ready for the swap.
pub(super) enum Prepared<M> {
    /// Nothing changes.
    Same(Arc<Stored<M>>, TableRow),
    /// The pointer moves.
    Swap(Box<Write<M>>, TableRow),
    /// The table or view is new.
    Create(Box<Write<M>>),
}

impl<M: Document> Prepared<M> {
    /// [`TableRow::id`] of what is changed or added.
    pub(super) fn table_id(&self) -> &str {
        match self {
            Self::Same(_, row) => &row.id,
            Self::Swap(write, _) | Self::Create(write) => &write.id,
        }
    }

    pub(super) fn answer(&self) -> Answer {
        match self {
            Self::Same(stored, row) => metadata(M::KIND, &row.id, stored.location()),
            Self::Swap(write, _) | Self::Create(write) => metadata(M::KIND, &write.id, &write.file.location),
        }
    }
}

/// What [`Write::new`] needs to know besides the metadata.
pub(super) struct New<'a> {
    pub ident: &'a TableIdent,
    /// Of the row.
    pub id: String,
    /// The metadata file that this one follows.
    pub previous: Option<&'a str>,
    /// The location in normal form; empty where it stays as it is.
    pub location_key: String,
    /// Whether the location must be free; counts for what is new.
    pub claim: Claim,
    /// Metadata files of the table's own that left the log, where it wants them deleted.
    pub dropped: Vec<String>,
}

/// A metadata file to write, and what the row will say of it.
pub(super) struct Write<M> {
    ident: TableIdent,
    id: String,
    file: NewFile,
    note: LooseFile,
    stored: Arc<Stored<M>>,
    location_key: String,
    paths: Vec<String>,
    claim: Claim,
    dropped: Vec<LooseFile>,
    now_ms: i64,
}

impl<M: Document> Write<M> {
    pub(super) fn new(app: &App, new: New<'_>, metadata: M, now_ms: i64) -> Result<Box<Self>, Error> {
        let document = metadata.to_bytes();
        let file = next_file(&metadata, document.clone(), new.previous, &app.ids.uuid())?;
        let config = M::client_config(app, &file.location);
        let paths = shared_paths(&metadata);
        let stored = Arc::new(Stored::new(file.location.clone(), &document, metadata, &config));
        let loose = |location: String| LooseFile { id: app.ids.uuid(), location, table_id: new.id.clone() };
        let note = loose(file.location.clone());
        let dropped = new.dropped.into_iter().map(loose).collect();
        Ok(Box::new(Self {
            ident: new.ident.clone(),
            file,
            note,
            stored,
            location_key: new.location_key,
            paths,
            claim: new.claim,
            dropped,
            now_ms,
            id: new.id,
        }))
    }

    fn change(&self) -> Change<'_> {
        let metadata = self.stored.metadata();
        Change {
            uuid: metadata.uuid(),
            format_version: metadata.format_version(),
            location: metadata.location(),
            metadata_location: &self.file.location,
            paths: &self.paths,
            now_ms: self.now_ms,
        }
    }

    fn as_swap<'a>(&'a self, row: &'a TableRow) -> Swap<'a> {
        let moved = row.location != self.stored.metadata().location();
        Swap { row, change: self.change(), moved_to: moved.then_some(self.location_key.as_str()) }
    }

    fn as_new_table<'a>(&'a self, warehouse: &'a Warehouse) -> NewTable<'a> {
        NewTable {
            id: &self.id,
            warehouse_id: &warehouse.row.id,
            ident: &self.ident,
            kind: M::KIND,
            location_key: &self.location_key,
            claim: self.claim,
            change: self.change(),
        }
    }
}

/// Prepares and swaps until the swap is won, at most [`TRIES`] times; answers the new metadata in the order of the
/// changes.
pub(super) async fn until_won<M: Document>(
    app: &App,
    warehouse: &Warehouse,
    mut attempt: impl Attempt<M>,
    once: &Once,
) -> Result<Vec<Arc<Stored<M>>>, Error> {
    // Commits that meet would prepare, write and delete files that lose. In turn each of them wins at once.
    let key = |ident: &&TableIdent| format!("{}/{ident}", warehouse.row.id);
    let _turns = app.changing.all(attempt.idents().iter().map(key).collect(), TURN_LIMIT).await;
    let mut tried = 1;
    loop {
        let prepared = attempt.prepare().await?;
        let answer = || attempt.answer(&prepared);
        let done = match note(app, &prepared).await {
            Ok(()) => {
                write_files(app, &prepared).await?;
                swap(app, warehouse, &prepared, once, answer).await
            }
            Err(error) => Err(error),
        };
        let Err(error) = done else {
            attempt.made();
            return Ok(finish(app, prepared).await);
        };
        if !matches!(error, store::Error::OutcomeUnknown(_)) {
            delete_files(app, &prepared).await;
        }
        let error = attempt.judge(error)?;
        if tried == TRIES {
            return Err(match error {
                store::Error::Conflict => Error::Contention { table: names(&attempt.idents()), tries: TRIES },
                other => other.into(),
            });
        }
        metrics::counter!("guillemot_commit_retries_total").increment(1);
        tracing::debug!(tried, cause = %error, "lost the swap");
        tokio::time::sleep(PAUSE * 2_u32.pow(u32::try_from(tried - 1).unwrap_or(0))).await;
        tried += 1;
    }
}

fn names(idents: &[&TableIdent]) -> String {
    idents.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

fn writes<M>(prepared: &[Prepared<M>]) -> impl Iterator<Item = &Write<M>> {
    prepared.iter().filter_map(|item| match item {
        Prepared::Same(..) => None,
        Prepared::Swap(write, _) | Prepared::Create(write) => Some(&**write),
    })
}

/// Notes the files that are about to be written, so that none is forgotten if this server dies before the swap.
async fn note<M: Document>(app: &App, prepared: &[Prepared<M>]) -> Result<(), store::Error> {
    let notes: Vec<LooseFile> = writes(prepared).map(|write| write.note.clone()).collect();
    if notes.is_empty() {
        return Ok(());
    }
    let mut tx = app.db.begin().await?;
    loose_files::note(&mut tx, &notes, app.clock.now_ms()).await?;
    match tx.commit().await {
        // A note too many does no harm; of the change itself nothing has happened yet.
        Err(store::Error::OutcomeUnknown(cause)) => Err(store::Error::Sql(cause)),
        done => done,
    }
}

async fn write_files<M: Document>(app: &App, prepared: &[Prepared<M>]) -> Result<(), Error> {
    for write in writes(prepared) {
        let put = app.storage.write_new(&write.file.location, write.file.bytes.clone()).await;
        if let Err(error) = put {
            delete_files(app, prepared).await;
            return Err(Error::from_write(error));
        }
    }
    Ok(())
}

/// Deletes files that no pointer names, and surely never will.
async fn delete_files<M: Document>(app: &App, prepared: &[Prepared<M>]) {
    for write in writes(prepared) {
        delete_quietly(app, &write.file.location).await;
    }
}

/// Deletes a file that nothing needs. When that fails the file is litter, not harm.
async fn delete_quietly(app: &App, location: &str) {
    if let Err(error) = app.storage.delete(location).await {
        tracing::warn!(location, cause = %error, "could not delete a file that nothing needs");
    }
}

/// One SQL transaction: swaps first, and that what stays as it is was not changed meanwhile; then creates in order of their names; the notes of the files that pointers name
/// now, and of those that none names any more; the answer.
async fn swap<M: Document>(
    app: &App,
    warehouse: &Warehouse,
    prepared: &[Prepared<M>],
    once: &Once,
    answer: impl Fn() -> Answer,
) -> Result<(), store::Error> {
    let mut swaps = Vec::new();
    let mut creates = Vec::new();
    let mut same = Vec::new();
    for item in prepared {
        match item {
            Prepared::Same(_, row) => same.push(row),
            Prepared::Swap(write, row) => swaps.push(write.as_swap(row)),
            Prepared::Create(write) => creates.push(write),
        }
    }
    // What holds of one table was read at one moment. Several must be as they were read at one moment too.
    if swaps.is_empty() && creates.is_empty() && same.len() < 2 {
        return once.keep_alone(app, answer).await;
    }
    creates.sort_by(|a, b| a.ident.cmp(&b.ident));
    let mut tx = app.db.begin().await?;
    tables::swap(&mut tx, &swaps, &same).await?;
    for write in creates {
        tables::create(&mut tx, &write.as_new_table(warehouse)).await?;
    }
    for write in writes(prepared) {
        loose_files::name(&mut tx, &write.note.id).await?;
        loose_files::release(&mut tx, &write.dropped, write.now_ms).await?;
    }
    once.keep(app, &mut tx, answer).await?;
    tx.commit().await
}

/// After the swap: the cache learns what was written, and files that left the log go.
async fn finish<M: Document>(app: &App, prepared: Vec<Prepared<M>>) -> Vec<Arc<Stored<M>>> {
    let mut done = Vec::with_capacity(prepared.len());
    let mut dropped = Vec::new();
    for item in prepared {
        match item {
            Prepared::Same(stored, _) => done.push(stored),
            Prepared::Swap(write, _) | Prepared::Create(write) => {
                keep(app, Arc::clone(&write.stored)).await;
                dropped.extend(write.dropped);
                done.push(write.stored);
            }
        }
    }
    delete_dropped(app, &dropped).await;
    metrics::counter!("guillemot_commits_total").increment(1);
    done
}

/// Deletes files at once that a task would delete a little later.
async fn delete_dropped(app: &App, dropped: &[LooseFile]) {
    let mut gone = Vec::with_capacity(dropped.len());
    for file in dropped {
        if app.storage.delete(&file.location).await.is_ok() {
            gone.push(file);
        }
    }
    if !gone.is_empty()
        && let Err(error) = forget(app, &gone).await
    {
        tracing::debug!(cause = %error, "files that are deleted are not forgotten yet");
    }
}

async fn forget(app: &App, gone: &[&LooseFile]) -> Result<(), store::Error> {
    let mut tx = app.db.begin().await?;
    for file in gone {
        loose_files::forget(&mut tx, &file.id).await?;
    }
    tx.commit().await
}
