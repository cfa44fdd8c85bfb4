//! How validation reads storage: the one thing it asks of the outside.

use std::error::Error;
use std::ops::Range;

use bytes::Bytes;

/// Bytes of objects by their location. Implemented over object storage, and over a map in tests.
pub trait ReadBytes: Send + Sync {
    /// Whether `location` lies where this reader may look ([`ReadError::Outside`] if not).
    fn permit(&self, location: &str) -> Result<(), ReadError>;

    /// Whether this reader may look at `location` at all, which may take asking somebody. Asked before anything that
    /// another reader left in the [`Cache`](super::Cache) is used.
    fn admit(&self, location: &str) -> impl Future<Output = Result<(), ReadError>> + Send {
        async { self.permit(location) }
    }

    /// The size of an object in bytes.
    fn size(&self, location: &str) -> impl Future<Output = Result<u64, ReadError>> + Send;

    /// The bytes of an object, all or those of `range`.
    fn read(&self, location: &str, range: Option<Range<u64>>) -> impl Future<Output = Result<Bytes, ReadError>> + Send;

    /// Parses an object: here and now, unless the reader knows a thread that nobody waits for.
    fn parse<T: Send + 'static>(
        &self,
        bytes: Bytes,
        parse: impl FnOnce(&[u8]) -> T + Send + 'static,
    ) -> impl Future<Output = T> + Send {
        async move { parse(&bytes) }
    }
}

/// Why an object cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// There is no such object.
    #[error("{location} does not exist")]
    NotFound {
        /// The object.
        location: String,
    },
    /// The location is in no place that the warehouse may use, or in one that is closed to this table.
    #[error("{location} is outside the allowed locations")]
    Outside {
        /// The object.
        location: String,
        /// The prefixes that are allowed; none where the place is closed.
        allowed: Vec<String>,
    },
    /// The object is larger than what is read whole.
    #[error("{location} has {size} bytes, more than {limit}")]
    TooLarge {
        /// The object.
        location: String,
        /// Its size in bytes.
        size: u64,
        /// The most that is read, in bytes.
        limit: u64,
    },
    /// Storage did not answer; the same read may succeed later.
    #[error("{location} cannot be read now")]
    Unavailable {
        /// The object.
        location: String,
        /// What went wrong.
        source: Box<dyn Error + Send + Sync>,
    },
}

/// Storage did not answer, so there is no verdict: neither a pass nor a refusal.
#[derive(Debug, thiserror::Error)]
#[error("storage is unavailable, {location} could not be validated")]
pub struct Unavailable {
    /// The object that could not be read.
    pub location: String,
    /// What went wrong.
    pub source: Box<dyn Error + Send + Sync>,
}
