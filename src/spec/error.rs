//! The error of every function in [`crate::spec`]: what the client reads, and which kind of answer it is.

/// Why a request or a metadata file was refused. The text is what the client reads (spec.md 2.2-2.7).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The request is wrong and will stay wrong: 400 `BadRequestException`.
    #[error("{0}")]
    Invalid(String),
    /// As [`Error::Invalid`], where clients look for the type `IllegalArgumentException` (duplicate view dialects).
    #[error("{0}")]
    IllegalArgument(String),
    /// The request was right for an older state: 409 `CommitFailedException`. The client refreshes and tries again.
    #[error("{0}")]
    Conflict(String),
}

impl Error {
    /// An [`Error::Invalid`] with this text.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::Invalid(message.into())
    }

    /// An [`Error::Conflict`] with this text.
    pub fn conflict(message: impl Into<String>) -> Self {
        Self::Conflict(message.into())
    }
}

/// The result of reading or changing Iceberg metadata.
pub type Result<T> = std::result::Result<T, Error>;
