//! Reading for validation: only in places that the warehouse may use, whatever a client names.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;

use super::{Error, Location, Source, Storage};
use crate::validate::{ReadBytes, ReadError};

/// A manifest of this size has some 500 entries.
const LARGE_BYTES: usize = 64 << 10;

/// Tells whether a place is closed to a table, by asking whoever knows.
#[async_trait]
pub trait Neighbours: fmt::Debug + Send + Sync {
    /// Whether nothing in this place may be read for the table: another one lives in or around it, say.
    async fn closed_at(&self, place: &Location) -> Result<bool, Source>;
}

/// A [`Storage`] that reads only under some prefixes, and for a table not what is closed to it.
#[derive(Debug, Clone)]
pub struct Scoped {
    storage: Storage,
    allowed: Vec<Location>,
    /// Where the table lives: there nobody needs to be asked.
    home: Option<Location>,
    neighbours: Option<Arc<dyn Neighbours>>,
}

impl Scoped {
    /// Reads from this storage, under these prefixes.
    pub fn new(storage: Storage, allowed: Vec<Location>) -> Self {
        Self { storage, allowed, home: None, neighbours: None }
    }

    /// Reads for a table that lives at `home`, and not what is closed to it.
    pub fn beside(self, home: Option<Location>, neighbours: Arc<dyn Neighbours>) -> Self {
        Self { home, neighbours: Some(neighbours), ..self }
    }

    fn outside(&self, location: &str) -> ReadError {
        let allowed = self.allowed.iter().map(ToString::to_string).collect();
        ReadError::Outside { location: location.to_owned(), allowed }
    }
}

impl ReadBytes for Scoped {
    fn permit(&self, location: &str) -> Result<(), ReadError> {
        // What is no location is in no place. The local file system also follows links out of a place; who can make
        // links there can read the disk anyway.
        let allowed = Location::parse(location).is_ok_and(|parsed| self.allowed.iter().any(|p| parsed.is_under(p)));
        if allowed { Ok(()) } else { Err(self.outside(location)) }
    }

    async fn admit(&self, location: &str) -> Result<(), ReadError> {
        self.permit(location)?;
        let Some(neighbours) = &self.neighbours else { return Ok(()) };
        let parsed = Location::parse(location).map_err(|_| self.outside(location))?;
        if self.home.as_ref().is_some_and(|home| parsed.is_under(home)) {
            return Ok(());
        }
        match neighbours.closed_at(&parsed.folder()).await {
            Ok(false) => Ok(()),
            Ok(true) => Err(ReadError::Outside { location: location.to_owned(), allowed: Vec::new() }),
            Err(source) => Err(ReadError::Unavailable { location: location.to_owned(), source }),
        }
    }

    async fn size(&self, location: &str) -> Result<u64, ReadError> {
        self.admit(location).await?;
        self.storage.size(location).await.map_err(read_error)
    }

    async fn read(&self, location: &str, range: Option<Range<u64>>) -> Result<Bytes, ReadError> {
        self.admit(location).await?;
        let read = match range {
            Some(range) => self.storage.read_range(location, range).await,
            None => self.storage.read(location).await,
        };
        read.map_err(read_error)
    }

    /// A large object on a thread beside those that serve requests: they would wait for milliseconds.
    async fn parse<T: Send + 'static>(&self, bytes: Bytes, parse: impl FnOnce(&[u8]) -> T + Send + 'static) -> T {
        if bytes.len() < LARGE_BYTES {
            return parse(&bytes);
        }
        match tokio::task::spawn_blocking(move || parse(&bytes)).await {
            Ok(parsed) => parsed,
            Err(failed) => std::panic::resume_unwind(failed.into_panic()),
        }
    }
}

/// What an error means to validation: is the client to blame, or is there no verdict?
fn read_error(error: Error) -> ReadError {
    match error {
        // A location that is allowed but names no object, such as a bucket, is one where nothing is.
        Error::NotFound { location } | Error::Invalid { location, .. } => ReadError::NotFound { location },
        Error::TooLarge { location, size, limit } => ReadError::TooLarge { location, size, limit },
        Error::PermissionDenied { location, source } | Error::Unavailable { location, source } => {
            ReadError::Unavailable { location, source }
        }
        // No read ends so.
        Error::AlreadyExists { location } => {
            ReadError::Unavailable { location, source: "the object exists already".into() }
        }
    }
}
