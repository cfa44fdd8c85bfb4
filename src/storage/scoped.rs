//! Reading for validation: only in places that the warehouse may use, whatever a client names.

use std::ops::Range;

use bytes::Bytes;

use super::{Error, Location, Storage};
use crate::validate::{ReadBytes, ReadError};

/// A manifest of this size has some 500 entries.
const LARGE_BYTES: usize = 64 << 10;

/// A [`Storage`] that reads only under some prefixes.
#[derive(Debug, Clone)]
pub struct Scoped {
    storage: Storage,
    allowed: Vec<Location>,
}

impl Scoped {
    /// Reads from this storage, under these prefixes.
    pub fn new(storage: Storage, allowed: Vec<Location>) -> Self {
        Self { storage, allowed }
    }
}

impl ReadBytes for Scoped {
    fn permit(&self, location: &str) -> Result<(), ReadError> {
        // What is no location is in no place. The local file system also follows links out of a place; who can make
        // links there can read the disk anyway.
        let allowed = Location::parse(location).is_ok_and(|parsed| self.allowed.iter().any(|p| parsed.is_under(p)));
        if allowed {
            return Ok(());
        }
        let allowed = self.allowed.iter().map(ToString::to_string).collect();
        Err(ReadError::Outside { location: location.to_owned(), allowed })
    }

    async fn size(&self, location: &str) -> Result<u64, ReadError> {
        self.permit(location)?;
        self.storage.size(location).await.map_err(read_error)
    }

    async fn read(&self, location: &str, range: Option<Range<u64>>) -> Result<Bytes, ReadError> {
        self.permit(location)?;
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
