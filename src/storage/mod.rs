//! Objects: metadata files and what commits bring, on the local file system, GCS and S3.
//!
//! Whole objects are read and written, and ranges read. Nothing is ever overwritten: [`Storage::write_new`] creates.
//! Deleting takes one named object, never a prefix, because two tables may share one. Every call ends: requests,
//! retries and calls have time limits, and objects a size limit.

mod config;
mod error;
mod folder;
mod gcs_emulator;
mod location;
mod mapped;
mod scoped;
mod secret;
mod sigv4;
mod stores;

use std::collections::BTreeMap;
use std::future::Future;
use std::io;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures::StreamExt;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt, PutMode};

pub use config::StorageConfig;
pub use error::{Error, Source};
pub use folder::Folder;
pub use location::{Location, Scheme, segment};
pub use mapped::Mapped;
pub use scoped::{Neighbours, Scoped};
pub use secret::StorageSecret;
pub use sigv4::Payload;
use stores::Stores;

/// How long one call may take, retries included.
const CALL_LIMIT: Duration = Duration::from_secs(90);

/// How long [`Storage::check`] waits: who asks whether the server is ready does not wait long.
const CHECK_LIMIT: Duration = Duration::from_secs(5);

/// Reads, writes and deletes objects. A clone is another handle on the same clients.
#[derive(Debug, Clone)]
pub struct Storage {
    config: Arc<StorageConfig>,
    stores: Arc<Stores>,
}

impl Storage {
    /// Makes a storage of these settings. Connects nowhere yet.
    ///
    /// # Errors
    /// [`Error::Invalid`] if an endpoint is no URL.
    pub fn new(config: StorageConfig) -> Result<Self, Error> {
        Ok(Self { config: Arc::new(config.resolved()?), stores: Arc::default() })
    }

    /// From now on reaches what lies in this place with this secret, or with what the environment gives again.
    pub fn use_secret(&self, place: &Location, secret: Option<Arc<StorageSecret>>) {
        self.stores.use_secret(place, secret);
    }

    /// Reads a whole object.
    ///
    /// # Errors
    /// [`Error::TooLarge`] before anything is read, if it has more bytes than [`StorageConfig::max_object_bytes`].
    pub async fn read(&self, location: &str) -> Result<Bytes, Error> {
        let (store, path) = self.object(location)?;
        within(CALL_LIMIT, location, async {
            let object = store.get(&path).await.map_err(|e| Error::from_store(location, e))?;
            self.check_size(location, object.meta.size)?;
            object.bytes().await.map_err(|e| Error::from_store(location, e))
        })
        .await
    }

    /// Reads a range of bytes; fewer, or none, if the object ends before the range does.
    pub async fn read_range(&self, location: &str, range: Range<u64>) -> Result<Bytes, Error> {
        let (store, path) = self.object(location)?;
        self.check_size(location, range.end.saturating_sub(range.start))?;
        if range.is_empty() {
            return Ok(Bytes::new());
        }
        within(CALL_LIMIT, location, async {
            match store.get_range(&path, range.clone()).await {
                Ok(bytes) => Ok(bytes),
                // Stores answer a range that begins behind the end each with an error of its own.
                Err(error) => match store.head(&path).await {
                    Ok(object) if object.size <= range.start => Ok(Bytes::new()),
                    _ => Err(Error::from_store(location, error)),
                },
            }
        })
        .await
    }

    /// An object's size in bytes.
    pub async fn size(&self, location: &str) -> Result<u64, Error> {
        let (store, path) = self.object(location)?;
        within(CALL_LIMIT, location, async {
            let object = store.head(&path).await.map_err(|e| Error::from_store(location, e))?;
            Ok(object.size)
        })
        .await
    }

    /// Creates an object, durably. On the local file system missing folders are created too.
    ///
    /// # Errors
    /// [`Error::AlreadyExists`] if there is an object with other content. One with the same content is taken for what
    /// an earlier try of this very call wrote, whose answer got lost.
    pub async fn write_new(&self, location: &str, content: Bytes) -> Result<(), Error> {
        let (store, path) = self.object(location)?;
        within(CALL_LIMIT, location, async {
            match store.put_opts(&path, content.clone().into(), PutMode::Create.into()).await {
                Ok(_) => Ok(()),
                Err(error) => match Error::from_store(location, error) {
                    Error::AlreadyExists { .. } if holds(&*store, &path, &content).await => Ok(()),
                    error => Err(error),
                },
            }
        })
        .await
    }

    /// Deletes one object. It is no error if there is none.
    pub async fn delete(&self, location: &str) -> Result<(), Error> {
        let (store, path) = self.object(location)?;
        within(CALL_LIMIT, location, async {
            match store.delete(&path).await.map_err(|e| Error::from_store(location, e)) {
                Err(Error::NotFound { .. }) => Ok(()),
                result => result,
            }
        })
        .await
    }

    /// Deletes what a write of this object left behind when it was cut off. Only the local file system has such
    /// remains: the file that was to get the object's name, under that name with `#1`, `#2`, … at its end.
    pub async fn delete_remains(&self, location: &str) -> Result<(), Error> {
        let parsed = Location::parse(location)?;
        if parsed.scheme() != Scheme::File {
            return Ok(());
        }
        for number in 1.. {
            match tokio::fs::remove_file(format!("/{}#{number}", parsed.key())).await {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => break,
                Err(error) => return Err(Error::unavailable(location, error)),
            }
        }
        Ok(())
    }

    /// Whether any object lies in this place.
    pub async fn list_any(&self, prefix: &str) -> Result<bool, Error> {
        let place = Location::parse(prefix)?;
        let store = self.stores.store(&self.config, &place)?;
        let path = path_of(&place, prefix)?;
        within(CALL_LIMIT, prefix, async {
            match store.list(Some(&path)).next().await {
                None => Ok(false),
                Some(Ok(_)) => Ok(true),
                Some(Err(error)) => Err(Error::from_store(prefix, error)),
            }
        })
        .await
    }

    /// What lies directly in a place: nothing, if there is no such place. An entry that cannot be used is one of
    /// [`Folder::faults`].
    ///
    /// # Errors
    /// [`Error::Unavailable`] also for a place with so much in it that listing it takes longer than a call may.
    pub async fn list_folder(&self, place: &Location) -> Result<Folder, Error> {
        let named = place.to_string();
        if place.scheme() == Scheme::File {
            let place = place.clone();
            let listing = tokio::task::spawn_blocking(move || Folder::local(&place));
            return within(CALL_LIMIT, &named, async {
                listing.await.unwrap_or_else(|failed| Err(Error::unavailable(&named, failed)))
            })
            .await;
        }
        let store = self.stores.store(&self.config, place)?;
        let path = path_of(place, &named)?;
        within(CALL_LIMIT, &named, async {
            let found = store.list_with_delimiter(Some(&path)).await.map_err(|e| Error::from_store(&named, e))?;
            let below = |path: &Path| place.with_key(path.as_ref());
            Ok(Folder {
                folders: found.common_prefixes.iter().map(below).collect(),
                objects: found.objects.iter().map(|object| below(&object.location)).collect(),
                faults: Vec::new(),
            })
        })
        .await
    }

    /// Answers when the store of this warehouse does: for `/ready`.
    pub async fn check(&self, warehouse: &str) -> Result<(), Error> {
        within(CHECK_LIMIT, warehouse, self.list_any(warehouse)).await.map(|_| ())
    }

    /// What a client's file IO must be told to reach this location: nothing unless it is in an emulator, or in a store
    /// that speaks S3.
    pub fn client_config(&self, location: &str) -> BTreeMap<String, String> {
        Location::parse(location).map(|location| self.config.for_clients(location.scheme())).unwrap_or_default()
    }

    fn object(&self, location: &str) -> Result<(Arc<dyn ObjectStore>, Path), Error> {
        let parsed = Location::parse(location)?;
        if parsed.key().is_empty() {
            let reason = "it names a bucket, not an object".to_owned();
            return Err(Error::Invalid { location: location.to_owned(), reason });
        }
        Ok((self.stores.store(&self.config, &parsed)?, path_of(&parsed, location)?))
    }

    fn check_size(&self, location: &str, size: u64) -> Result<(), Error> {
        let limit = self.config.max_object_bytes;
        if size > limit {
            return Err(Error::TooLarge { location: location.to_owned(), size, limit });
        }
        Ok(())
    }
}

/// The key as the client library wants it: literal, not encoded once more.
fn path_of(parsed: &Location, location: &str) -> Result<Path, Error> {
    Path::parse(parsed.key())
        .map_err(|error| Error::Invalid { location: location.to_owned(), reason: error.to_string() })
}

/// Whether an object has exactly this content. Any failure counts as no.
async fn holds(store: &dyn ObjectStore, path: &Path, content: &Bytes) -> bool {
    let Ok(object) = store.get(path).await else { return false };
    object.meta.size == content.len() as u64 && object.bytes().await.is_ok_and(|bytes| bytes == content)
}

async fn within<T>(limit: Duration, location: &str, call: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
    match tokio::time::timeout(limit, call).await {
        Ok(result) => result,
        Err(elapsed) => Err(Error::unavailable(location, elapsed)),
    }
}
