//! What takes more than one step: create, commit, transaction, register, rename, drop, scan planning.
//!
//! Each use-case reads as its steps. Nothing before the SQL swap is visible; the swap is the commit.

mod check;
mod create;
mod credentials;
mod document;
mod drop;
mod files;
mod grant;
mod load;
mod location;
mod namespace;
mod once;
mod owned;
mod places;
mod plan;
mod ready;
mod register;
mod rename;
mod report;
mod retry;
mod swap;
mod transaction;
mod undrop;
mod unregister;
mod validated;
mod verdict;
mod view;
mod warehouse;

pub use check::{Findings, burden, upgrade_check};
pub use create::{Created, Staged, create_table};
pub use credentials::{Asker, Grant, Secrets, StorageCredential, Subject, credentials, grant, sign, with_credentials};
pub use document::Document;
pub use drop::{EXPIRE_TABLE, ExpireOrder, PURGE_TABLE, PurgeOrder, drop, queue_purge};
pub use files::Stored;
pub use grant::{Target, find_target, make_grant, take_back};
pub use load::{load, load_pointer, load_pointer_with_grants, stored, verify_file};
pub use namespace::check_namespace_properties;
pub use once::{Once, answered, document, nothing};
pub use owned::Owned;
pub use plan::{PlanOf, cancel_plan, plan_scan};
pub use ready::check_ready;
pub use register::{Candidate, RegisterRequest, Registration, register};
pub use rename::rename;
pub use report::{latest_reports, record_report};
pub use retry::retry_task;
pub use transaction::{TableChange, commit_table, commit_tables};
pub use undrop::{Which, end_dropped, undrop};
pub use unregister::unregister;
pub use view::{commit_view, create_view};
pub use warehouse::{
    NewWarehouse, RESERVED_NAMES, WarehouseChange, add_warehouse, change_warehouse, ensure_warehouse, remove_warehouse,
};

pub use crate::storage::StorageSecret;

use crate::spec::{self, TableIdent};
use crate::store::Entity;
use crate::store::tables::Kind;
use crate::{app, plan as planning, storage, store, validate, vending};

/// Why a use-case was not carried out. The outer text is what the client reads; the cause is for the log.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The request breaks a rule of the metadata, or met a newer state.
    #[error(transparent)]
    Spec(#[from] spec::Error),
    /// The database said no, or could not be asked.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// The name is taken, by its like or by the other kind: tables and views share their names.
    #[error("{}", taken_text(*.wanted, .taken))]
    NameTaken {
        /// What was to get the name.
        wanted: Kind,
        /// What has it.
        taken: Entity,
    },
    /// A scan cannot be planned.
    #[error(transparent)]
    Plan(#[from] planning::Error),
    /// The request cannot be carried out as it is.
    #[error("{0}")]
    Invalid(String),
    /// What the commit adds would corrupt the table.
    #[error("{}", refusal(.0))]
    Refused(Box<validate::Report>),
    /// A file that the request depends on is not where it was named.
    #[error("Failed to open input stream for file: {0}")]
    NoSuchFile(String),
    /// Object storage cannot be asked now. Nothing was applied.
    #[error("object storage is not reachable, nothing was changed: {location}")]
    StorageUnavailable {
        /// What was to be read or written.
        location: String,
        /// What storage said.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// Other commits won every time.
    #[error("Cannot commit to {table}: other commits won {tries} times in a row, please retry")]
    Contention {
        /// The table, or the tables, of the commit.
        table: String,
        /// How often the swap was tried.
        tries: usize,
    },
    /// Renaming onto a name that is taken, worded as the clients know it.
    #[error("Cannot rename {from} to {to}. {kind} already exists")]
    RenameTaken {
        /// Old name.
        from: TableIdent,
        /// New name.
        to: TableIdent,
        /// What holds the new name: `Table` or `View`.
        kind: &'static str,
    },
    /// The warehouse is not there.
    #[error(transparent)]
    Warehouse(#[from] app::WarehouseError),
    /// The caller may not do this.
    #[error("{0}")]
    Forbidden(String),
    /// There are no credentials for a table's files.
    #[error(transparent)]
    Vending(#[from] vending::Error),
}

impl Error {
    /// A storage error of writing a new file, or of looking for a place for it: what is not found is the store.
    pub(crate) fn from_write(error: storage::Error) -> Self {
        match error {
            storage::Error::Invalid { .. } => Self::Invalid(error.to_string()),
            storage::Error::NotFound { ref location }
            | storage::Error::TooLarge { ref location, .. }
            | storage::Error::AlreadyExists { ref location }
            | storage::Error::PermissionDenied { ref location, .. }
            | storage::Error::Unavailable { ref location, .. } => {
                Self::StorageUnavailable { location: location.clone(), source: Box::new(error) }
            }
        }
    }

    /// A storage error of reading: a missing file is the client's trouble, an unreachable store ours.
    pub(crate) fn from_storage(error: storage::Error) -> Self {
        match error {
            storage::Error::NotFound { location } => Self::NoSuchFile(location),
            storage::Error::Invalid { .. } | storage::Error::TooLarge { .. } => Self::Invalid(error.to_string()),
            storage::Error::AlreadyExists { ref location }
            | storage::Error::PermissionDenied { ref location, .. }
            | storage::Error::Unavailable { ref location, .. } => {
                Self::StorageUnavailable { location: location.clone(), source: Box::new(error) }
            }
        }
    }
}

impl From<vending::signing::Refusal> for Error {
    fn from(refusal: vending::signing::Refusal) -> Self {
        match refusal {
            vending::signing::Refusal::Malformed(_) => Self::Invalid(refusal.to_string()),
            vending::signing::Refusal::Forbidden(_) => Self::Forbidden(refusal.to_string()),
        }
    }
}

/// An error of the database, with names that are taken told from the side of what wanted them.
fn name_taken(wanted: Kind, error: store::Error) -> Error {
    match error {
        store::Error::AlreadyExists(taken @ (Entity::Table(_) | Entity::View(_))) => Error::NameTaken { wanted, taken },
        other => other.into(),
    }
}

/// The texts that clients know (`spec.md` 5.5).
fn taken_text(wanted: Kind, taken: &Entity) -> String {
    match (wanted, taken) {
        (Kind::Table, Entity::View(name)) => format!("View with same name already exists: {name}"),
        (Kind::View, Entity::Table(name)) => format!("Table with same name already exists: {name}"),
        (Kind::Table, Entity::Table(name)) => format!("Table already exists: {name}"),
        (Kind::View, Entity::View(name)) => format!("View already exists: {name}"),
        (_, other) => format!("{other} already exists"),
    }
}

/// Every broken rule in a sentence of its own; the same is in the error object's `violations`.
fn refusal(report: &validate::Report) -> String {
    let broken: Vec<&str> = report.refused.iter().map(|violation| violation.message.as_str()).collect();
    let more = report.refused_count.saturating_sub(broken.len());
    let rest = if more == 0 { String::new() } else { format!(" And {more} more.") };
    let what = if report.stale { "Validation failed, please retry" } else { "Invalid commit, nothing was changed" };
    format!("{what}: {}{rest}", broken.join(" "))
}
