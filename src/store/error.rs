//! What can go wrong in the database, and whether the change was surely not applied.

use std::fmt;

use sqlx::error::ErrorKind;

/// A result whose error is [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

/// The thing an error is about. The text is the name as people write it: levels and table joined by dots.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entity {
    /// A warehouse, by its name or location, whichever the caller used.
    Warehouse(String),
    /// A namespace.
    Namespace(String),
    /// A table.
    Table(String),
    /// A view.
    View(String),
    /// A task, by its id.
    Task(String),
    /// A built-in identity.
    Identity(String),
    /// A grant, by its id.
    Grant(String),
}

impl fmt::Display for Entity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Warehouse(name) => write!(f, "warehouse {name}"),
            Self::Namespace(name) => write!(f, "namespace {name}"),
            Self::Table(name) => write!(f, "table {name}"),
            Self::View(name) => write!(f, "view {name}"),
            Self::Task(id) => write!(f, "task {id}"),
            Self::Identity(name) => write!(f, "identity {name}"),
            Self::Grant(id) => write!(f, "grant {id}"),
        }
    }
}

/// Why a statement or a transaction did not do what was asked.
///
/// Only [`Error::OutcomeUnknown`] leaves it open whether the change was applied; every other one means that it
/// surely was not.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no such thing (or, for a namespace, no such parent).
    #[error("{0} does not exist")]
    NotFound(Entity),
    /// The name is taken. The entity is the one that is there, so a table that meets a view says `View`.
    #[error("{0} already exists")]
    AlreadyExists(Entity),
    /// It still holds something and cannot be dropped.
    #[error("{0} is not empty")]
    NotEmpty(Entity),
    /// The location was asked for exclusively, but one that overlaps it was handed out before.
    #[error("location {wanted} overlaps {taken}, which was handed out before")]
    LocationTaken {
        /// What was asked for, in its normal form.
        wanted: String,
        /// What is in its way: the same location, one above it or one below it.
        taken: String,
    },
    /// Another change came first: a row's version is not the one that was read, or the database chose this
    /// transaction to give way (serialization failure, deadlock). Read again and retry.
    #[error("another change came first")]
    Conflict,
    /// A request with the same idempotency key was answered before, perhaps a moment ago by another server.
    #[error("a request with this idempotency key was answered before")]
    AlreadyAnswered,
    /// A name or location that the database cannot hold as a key.
    #[error("{what} {reason}")]
    Unstorable {
        /// What kind of text it is, in lower case: `table name`.
        what: &'static str,
        /// Why not: `is longer than 1024 bytes`.
        reason: String,
    },
    /// COMMIT was sent and its answer did not come, or does not say. The change may have been applied.
    #[error("the change may or may not have been applied")]
    OutcomeUnknown(#[source] sqlx::Error),
    /// No connection or no lock within the time allowed. Nothing was applied.
    #[error("the database is too busy")]
    Busy(#[source] sqlx::Error),
    /// A row holds what this version of the server never writes.
    #[error("row {row} of {table} holds an unexpected {column}")]
    Corrupt {
        /// The SQL table.
        table: &'static str,
        /// The column that makes no sense.
        column: &'static str,
        /// The row's key.
        row: String,
    },
    /// The database cannot be opened as configured, or its migrations do not run.
    #[error("the database cannot be prepared")]
    Setup(#[source] sqlx::Error),
    /// Any other failure. Nothing was applied.
    #[error("the database failed")]
    Sql(#[source] sqlx::Error),
}

impl From<sqlx::Error> for Error {
    /// Classifies the failure of a statement, that is, of anything but COMMIT.
    fn from(error: sqlx::Error) -> Self {
        match contention(&error) {
            Some(Contention::GiveWay) => Self::Conflict,
            Some(Contention::Wait) => Self::Busy(error),
            None if is_no_text(&error) => {
                Self::Unstorable { what: "a text", reason: "contains the null-byte character".to_owned() }
            }
            None => Self::Sql(error),
        }
    }
}

impl Error {
    /// Classifies the failure of COMMIT. Only what the database itself reports as rolled back is certain.
    pub(super) fn from_commit(error: sqlx::Error) -> Self {
        match contention(&error) {
            Some(Contention::GiveWay) => Self::Conflict,
            // SQLite reports a busy COMMIT before it has done anything; PostgreSQL has no such case at COMMIT.
            Some(Contention::Wait) if code(&error).is_some_and(|code| is_sqlite_busy(&code)) => Self::Busy(error),
            _ => Self::OutcomeUnknown(error),
        }
    }
}

/// Two ways in which transactions get in each other's way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Contention {
    /// The database rolled this transaction back for another's sake.
    GiveWay,
    /// A lock or a connection was not had in time.
    Wait,
}

/// SQLSTATE: the transaction was rolled back because of concurrent updates.
const SERIALIZATION_FAILURE: &str = "40001";
/// SQLSTATE: the transaction was rolled back to end a deadlock.
const DEADLOCK_DETECTED: &str = "40P01";
/// SQLSTATE: `lock_timeout` ran out.
const LOCK_NOT_AVAILABLE: &str = "55P03";
/// SQLSTATE: `statement_timeout` ran out.
const QUERY_CANCELED: &str = "57014";
/// SQLSTATE: no connection slot is free.
const TOO_MANY_CONNECTIONS: &str = "53300";
/// SQLSTATE: a text holds what the database has no character for. UTF-8 that Rust takes fails for its null byte alone.
const NOT_IN_REPERTOIRE: &str = "22021";
/// SQLSTATE: the server is starting or stopping.
const CANNOT_CONNECT_NOW: &str = "57P03";

/// Primary result codes of SQLite: the low byte of the extended code that sqlx reports.
const SQLITE_BUSY: u32 = 5;
const SQLITE_LOCKED: u32 = 6;

fn contention(error: &sqlx::Error) -> Option<Contention> {
    if matches!(error, sqlx::Error::PoolTimedOut) {
        return Some(Contention::Wait);
    }
    match code(error)?.as_str() {
        SERIALIZATION_FAILURE | DEADLOCK_DETECTED => Some(Contention::GiveWay),
        LOCK_NOT_AVAILABLE | QUERY_CANCELED | TOO_MANY_CONNECTIONS | CANNOT_CONNECT_NOW => Some(Contention::Wait),
        other => is_sqlite_busy(other).then_some(Contention::Wait),
    }
}

/// The database's own code: an SQLSTATE of five characters, or SQLite's extended code in decimal.
fn code(error: &sqlx::Error) -> Option<String> {
    Some(error.as_database_error()?.code()?.into_owned())
}

fn is_sqlite_busy(code: &str) -> bool {
    // An SQLSTATE has five characters; the extended codes of BUSY and LOCKED have at most three.
    code.len() < 5 && code.parse::<u32>().is_ok_and(|code| matches!(code & 0xff, SQLITE_BUSY | SQLITE_LOCKED))
}

/// Whether PostgreSQL was given a text that it does not take for one.
pub(super) fn is_no_text(error: &sqlx::Error) -> bool {
    code(error).is_some_and(|code| code == NOT_IN_REPERTOIRE)
}

pub(super) fn is_unique(error: &sqlx::Error) -> bool {
    error.as_database_error().is_some_and(|e| e.kind() == ErrorKind::UniqueViolation)
}

pub(super) fn is_foreign_key(error: &sqlx::Error) -> bool {
    error.as_database_error().is_some_and(|e| e.kind() == ErrorKind::ForeignKeyViolation)
}

/// `then` if the statement broke a foreign key, else the error classified as usual.
pub(super) fn on_foreign_key(error: sqlx::Error, then: Error) -> Error {
    if is_foreign_key(&error) { then } else { error.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sqlite_codes_of_contention() {
        for (code, busy) in [("5", true), ("517", true), ("261", true), ("6", true), ("262", true)] {
            assert_eq!(is_sqlite_busy(code), busy, "{code}");
        }
        for code in ["2067", "787", "23505", "40001", "10", "1"] {
            assert!(!is_sqlite_busy(code), "{code}");
        }
    }

    #[test]
    fn a_lost_connection_is_uncertain_only_at_commit() {
        let lost = || sqlx::Error::Io(std::io::ErrorKind::ConnectionReset.into());
        assert!(matches!(Error::from(lost()), Error::Sql(_)));
        assert!(matches!(Error::from_commit(lost()), Error::OutcomeUnknown(_)));
        assert!(matches!(Error::from_commit(sqlx::Error::PoolTimedOut), Error::OutcomeUnknown(_)));
        assert!(matches!(Error::from(sqlx::Error::PoolTimedOut), Error::Busy(_)));
    }
}
