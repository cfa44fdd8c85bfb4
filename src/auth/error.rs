//! Why a caller is not let in, and why a token is not given.

use crate::store;

/// A cause of whatever kind.
pub(super) type Cause = Box<dyn std::error::Error + Send + Sync>;

/// Why a caller is not let in.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It says nothing of who it is.
    #[error("a token is needed: send `Authorization: Bearer TOKEN`")]
    NoToken,
    /// Its token is none that this server takes.
    #[error("the token is not accepted: {0}")]
    Refused(String),
    /// Its token was good once.
    #[error("the token has expired")]
    Expired,
    /// Who could vouch for it does not answer; nothing is known of the token.
    #[error("{who} cannot be asked about the token")]
    Unavailable {
        /// Whom the server asked.
        who: String,
        /// What went wrong.
        source: Cause,
    },
    /// The database does not answer.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// A fault of this server.
    #[error("the server's keys cannot be used: {0}")]
    Keys(&'static str),
}

impl Error {
    pub(super) fn refused(reason: impl Into<String>) -> Self {
        Self::Refused(reason.into())
    }
}

/// Why a token is not given.
#[derive(Debug, thiserror::Error)]
pub enum GrantError {
    /// The client is none, or cannot prove it.
    #[error("{0}")]
    InvalidClient(&'static str),
    /// What it shows in exchange is not good.
    #[error("{0}")]
    InvalidGrant(String),
    /// Too many clients ask at once.
    #[error("too many clients ask for tokens at once")]
    Busy,
    /// A fault of the server, or of the database.
    #[error(transparent)]
    Failed(Error),
}

impl From<store::Error> for GrantError {
    fn from(error: store::Error) -> Self {
        Self::Failed(error.into())
    }
}

impl From<Error> for GrantError {
    /// What is wrong with a token that is shown in exchange for another one.
    fn from(error: Error) -> Self {
        match error {
            Error::NoToken | Error::Refused(_) | Error::Expired => Self::InvalidGrant(error.to_string()),
            Error::Unavailable { .. } | Error::Store(_) | Error::Keys(_) => Self::Failed(error),
        }
    }
}
