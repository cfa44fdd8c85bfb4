//! Scan planning: which files a scan of a table reads, and which deletes apply to each.
//!
//! A [`PlanRequest`] is resolved against a table's metadata into a [`Scan`]: snapshot, schema, bound filter. Planning
//! then reads the manifest list and the manifests that the filter does not exclude (through
//! [`ReadBytes`](crate::validate::ReadBytes), the only thing it asks of the outside), drops files that hold no row
//! that passes, and finds the deletes of the rest. Everything else here is pure: expressions, projections, statistics
//! and the matching of deletes are values in, values out.
//!
//! Nothing is kept between requests but a cache of manifests. A plan id and a plan task carry the whole request, so
//! that any replica answers them.

mod bind;
mod cache;
mod content_file;
mod deletes;
mod expression;
mod files;
mod filter;
mod literal;
mod metrics;
mod partitions;
mod predicate;
mod projection;
mod request;
mod scan;
mod source;
#[cfg(test)]
mod tests;
mod token;
mod transform;
mod value;

use crate::manifest::ParseError;
use crate::spec;
use crate::validate::ReadError;

pub use cache::Cache;
pub use files::{Limits, Planned, plan};
pub use request::PlanRequest;
pub use scan::Scan;

/// Why a scan cannot be planned.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The request is wrong, or does not fit the table.
    #[error("{0}")]
    Invalid(String),
    /// The table uses what is not planned here.
    #[error("{0}")]
    Unsupported(String),
    /// The plan id is none of this server's, or of another table.
    #[error("Plan does not exist: {0}")]
    NoSuchPlan(String),
    /// The plan task is none of this server's, or of another table, or of a snapshot that is gone.
    #[error("Plan task does not exist: {0}")]
    NoSuchTask(String),
    /// The table's files contradict each other.
    #[error("{0}")]
    Corrupt(String),
    /// A file of the table is no manifest list or manifest.
    #[error("{location} cannot be read {fault}")]
    Unreadable {
        /// The file.
        location: String,
        /// What is wrong with it.
        fault: ParseError,
    },
    /// A file of the table cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
}

impl From<spec::Error> for Error {
    fn from(error: spec::Error) -> Self {
        Self::Invalid(error.to_string())
    }
}
