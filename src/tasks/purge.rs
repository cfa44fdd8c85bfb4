//! Deleting the files of a table that was dropped for good: those that its metadata reaches, each by its name.
//!
//! Never a prefix: two tables may share one, and what no metadata names is not known to be the table's. Children go
//! before what names them, the metadata file last; so a purge that is cut off finds its way again, and what is missing
//! was deleted before.

use super::Failure;
use super::progress::Progress;
use crate::app::App;
use crate::commit::{self, Owned, PurgeOrder};
use crate::manifest::{self, Limits, ManifestList};
use crate::spec::{Snapshot, TableMetadata};
use crate::storage::{Location, Scoped};
use crate::store::locations;
use crate::store::tasks::Task;
use crate::telemetry::chain;
use crate::validate::{ReadBytes, ReadError};
use bytes::Bytes;
use futures::{StreamExt, TryStreamExt};
use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Mutex, PoisonError};

/// Manifests that are worked on at a time: so many times their file names are in memory.
const MANIFESTS_AT_ONCE: usize = 4;

/// Files that are deleted at a time, for each of the manifests.
const DELETES_AT_ONCE: usize = 16;

/// Between so many files it is asked again whether another table has come to live at the place.
const CHUNK: usize = 500;

/// How many manifests are remembered as done, at 8 bytes each. Beyond that some are asked for twice.
const REMEMBERED: usize = 1_000_000;

/// Deletes the files of the table that the task names; answers what there is to say about it.
pub(super) async fn purge(app: &App, task: &Task, progress: &Progress) -> Result<String, Failure> {
    let order: PurgeOrder = serde_json::from_str(&task.payload)
        .map_err(|error| Failure::Never(format!("the order is not understood: {error}")))?;
    let allowed: Vec<Location> = order.allowed.iter().filter_map(|place| Location::parse(place).ok()).collect();
    let reader = Scoped::new(app.storage.clone(), allowed.clone());
    let root = &order.metadata_location;
    reader.permit(root).map_err(|error| Failure::Never(chain(&error)))?;
    let stored = match commit::stored::<TableMetadata>(app, root).await {
        Ok(stored) => stored,
        Err(commit::Error::NoSuchFile(_)) => {
            return Ok("there is no metadata file (any more): nothing to do".to_owned());
        }
        Err(commit::Error::Invalid(reason)) => return Err(Failure::Never(reason)),
        Err(error) => return Err(Failure::Later(chain(&error))),
    };
    let metadata = stored.metadata();
    let owned = Owned::of(app, &order.table_id, metadata, &allowed).await?;
    if let Some(other) = owned.cohabitant(app).await? {
        return Ok(format!("no file is deleted: table {other} lives at the same place and may need them"));
    }
    let purge = Purge { app, reader, owned, progress, done: Mutex::default(), hasher: RandomState::new() };
    let complete = purge.all_but_root(metadata).await?;
    if !complete {
        let text = format!("some files cannot be read, and what they name stays; the metadata file is still {root}");
        return Err(Failure::Never(text));
    }
    purge.delete(vec![root.clone()]).await?;
    purge.forget_places(&order.table_id).await?;
    Ok(format!("deleted {} files; kept {} that are not the table's own", progress.deleted(), progress.kept()))
}

/// A purge under way.
struct Purge<'a> {
    app: &'a App,
    reader: Scoped,
    owned: Owned,
    progress: &'a Progress,
    /// Hashes of the manifests that are done: most snapshots name the manifests of the one before.
    done: Mutex<HashSet<u64>>,
    hasher: RandomState,
}

/// A file that names others.
enum Found {
    Bytes(Bytes),
    /// It was deleted before, or lies where the table has no business.
    Gone,
    /// It can never be read.
    Unreadable,
}

/// Whether everything below a file is deleted. If something could not be read, the file that names it must stay.
type Complete = bool;

impl Purge<'_> {
    async fn all_but_root(&self, metadata: &TableMetadata) -> Result<Complete, Failure> {
        // Other tables may use the data files of a table that says so; Java keeps them then, too.
        let collects = metadata.properties.get("gc.enabled").is_none_or(|value| !value.eq_ignore_ascii_case("false"));
        let mut complete = true;
        for snapshot in &metadata.snapshots {
            complete &= self.snapshot(snapshot, collects).await?;
        }
        let statistics = metadata.statistics.iter().map(|file| file.statistics_path.clone());
        let partition_statistics = metadata.partition_statistics.iter().map(|file| file.statistics_path.clone());
        self.delete(statistics.chain(partition_statistics).collect()).await?;
        self.delete(metadata.metadata_log.iter().map(|entry| entry.metadata_file.clone()).collect()).await?;
        Ok(complete)
    }

    async fn snapshot(&self, snapshot: &Snapshot, collects: bool) -> Result<Complete, Failure> {
        let Some(list) = &snapshot.manifest_list else {
            return self.manifests(snapshot.embedded_manifests(), collects).await;
        };
        let parsed = match self.read(list).await? {
            Found::Bytes(bytes) => {
                self.reader.parse(bytes, |bytes| ManifestList::parse(bytes, Limits::default())).await
            }
            Found::Gone => return Ok(true),
            Found::Unreadable => return Ok(false),
        };
        let Ok(parsed) = parsed else { return Ok(false) };
        let paths = parsed.manifests.into_iter().map(|file| file.manifest_path.into()).collect();
        let complete = self.manifests(paths, collects).await?;
        if complete {
            self.delete(vec![list.clone()]).await?;
        }
        Ok(complete)
    }

    async fn manifests(&self, paths: Vec<String>, collects: bool) -> Result<Complete, Failure> {
        let new = paths.into_iter().filter(|path| self.is_new(path));
        let work = futures::stream::iter(new).map(|path| self.manifest(path, collects));
        work.buffer_unordered(MANIFESTS_AT_ONCE).try_fold(true, |all, one| async move { Ok(all && one) }).await
    }

    async fn manifest(&self, path: String, collects: bool) -> Result<Complete, Failure> {
        if collects {
            let files = match self.read(&path).await? {
                Found::Bytes(bytes) => {
                    self.reader.parse(bytes, |bytes| manifest::live_files(bytes, Limits::default())).await
                }
                Found::Gone => return Ok(true),
                Found::Unreadable => return Ok(false),
            };
            let Ok(files) = files else { return Ok(false) };
            self.delete(files.into_iter().map(String::from).collect()).await?;
        }
        self.delete(vec![path]).await?;
        Ok(true)
    }

    async fn read(&self, location: &str) -> Result<Found, Failure> {
        match self.reader.read(location, None).await {
            Ok(bytes) => Ok(Found::Bytes(bytes)),
            Err(ReadError::NotFound { .. } | ReadError::Outside { .. }) => Ok(Found::Gone),
            Err(ReadError::TooLarge { .. }) => Ok(Found::Unreadable),
            Err(error @ ReadError::Unavailable { .. }) => Err(Failure::Later(chain(&error))),
        }
    }

    /// Deletes the table's own among these files.
    async fn delete(&self, files: Vec<String>) -> Result<(), Failure> {
        let mut files = files.into_iter().peekable();
        while files.peek().is_some() {
            let some = files.by_ref().take(CHUNK).collect();
            let (own, others) = self.owned.split(self.app, some).await?;
            self.progress.add_kept(others);
            let deletes = futures::stream::iter(own).map(|file| self.delete_one(file));
            deletes.buffer_unordered(DELETES_AT_ONCE).try_collect::<()>().await?;
        }
        Ok(())
    }

    async fn delete_one(&self, file: String) -> Result<(), Failure> {
        self.app.storage.delete(&file).await.map_err(|error| Failure::Later(chain(&error)))?;
        self.progress.add_deleted();
        Ok(())
    }

    fn is_new(&self, path: &str) -> bool {
        let mut done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        if done.len() >= REMEMBERED {
            done.clear();
        }
        done.insert(self.hasher.hash_one(path))
    }

    /// The places can be given to other tables once nothing is there any more.
    async fn forget_places(&self, table_id: &str) -> Result<(), Failure> {
        for place in locations::of_table(&self.app.db, table_id).await? {
            let some_left = self.app.storage.list_any(&place.location).await;
            if some_left.map_err(|error| Failure::Later(chain(&error)))? {
                return Ok(());
            }
        }
        let mut tx = self.app.db.begin().await?;
        locations::forget_table(&mut tx, table_id).await?;
        Ok(tx.commit().await?)
    }
}
