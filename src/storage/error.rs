//! What can go wrong with an object, and whose fault it is.

use std::error::Error as StdError;
use std::io;

/// The cause of an error.
pub type Source = Box<dyn StdError + Send + Sync>;

/// Why an object could not be read, written or deleted. `location` is the text that the caller gave.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no such object, or no such bucket.
    #[error("{location} does not exist")]
    NotFound {
        /// The object.
        location: String,
    },
    /// Something else is there already. Nothing was written.
    #[error("{location} already exists")]
    AlreadyExists {
        /// The object.
        location: String,
    },
    /// This is no location of an object, whatever the store holds.
    #[error("{location} is not a valid location: {reason}")]
    Invalid {
        /// What was given.
        location: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The object is larger than what may be taken into memory.
    #[error("{location} has {size} bytes, more than the {limit} that are read at once")]
    TooLarge {
        /// The object.
        location: String,
        /// Its size in bytes.
        size: u64,
        /// The limit in bytes.
        limit: u64,
    },
    /// The store refuses this server's credentials.
    #[error("access to {location} is denied")]
    PermissionDenied {
        /// The object.
        location: String,
        /// What the store said.
        #[source]
        source: Source,
    },
    /// The store did not answer, or failed. Whether a write took place is not known.
    #[error("{location} cannot be reached")]
    Unavailable {
        /// The object.
        location: String,
        /// What happened.
        #[source]
        source: Source,
    },
}

impl Error {
    /// What it is about: the text that the caller gave, or the location of what was found.
    pub fn location(&self) -> &str {
        match self {
            Self::NotFound { location }
            | Self::AlreadyExists { location }
            | Self::Invalid { location, .. }
            | Self::TooLarge { location, .. }
            | Self::PermissionDenied { location, .. }
            | Self::Unavailable { location, .. } => location,
        }
    }

    pub(super) fn unavailable(location: &str, source: impl Into<Source>) -> Self {
        Self::Unavailable { location: location.to_owned(), source: source.into() }
    }

    /// Says of a store's error what it means for this location.
    pub(super) fn from_store(location: &str, error: object_store::Error) -> Self {
        use object_store::Error as E;
        let location = location.to_owned();
        match error {
            E::NotFound { .. } => Self::NotFound { location },
            E::AlreadyExists { .. } | E::Precondition { .. } => Self::AlreadyExists { location },
            E::InvalidPath { source } => Self::Invalid { location, reason: source.to_string() },
            E::PermissionDenied { source, .. } | E::Unauthenticated { source, .. } => {
                Self::PermissionDenied { location, source }
            }
            other => Self::from_io(location, other),
        }
    }

    /// What an error of the operating system means for this location.
    pub(super) fn from_os(location: String, error: io::Error) -> Self {
        Self::of_kind(location, Some(error.kind()), error.into())
    }

    /// Looks for the operating system's word, which the local store hides in its general error.
    fn from_io(location: String, error: object_store::Error) -> Self {
        Self::of_kind(location, io_kind(&error), error.into())
    }

    fn of_kind(location: String, kind: Option<io::ErrorKind>, source: Source) -> Self {
        match kind {
            // A file where a folder is due: nothing can be there.
            Some(io::ErrorKind::NotADirectory) => Self::NotFound { location },
            Some(io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem) => {
                Self::PermissionDenied { location, source }
            }
            Some(io::ErrorKind::InvalidFilename) => {
                Self::Invalid { location, reason: "the file system takes no such name".to_owned() }
            }
            _ => Self::Unavailable { location, source },
        }
    }
}

fn io_kind(error: &object_store::Error) -> Option<io::ErrorKind> {
    let mut cause: Option<&(dyn StdError + 'static)> = Some(error);
    while let Some(error) = cause {
        if let Some(io) = error.downcast_ref::<io::Error>() {
            return Some(io.kind());
        }
        cause = error.source();
    }
    None
}
