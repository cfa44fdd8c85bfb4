//! Checking a table that already exists, in this catalog or in any other.
//!
//! What is checked is in [`crate::validate::at_rest`]; here is how a table is found ([`Target`]), and what people and
//! programs are told of it.

mod page;
mod target;

pub use page::describe;
pub use target::{Found, Target, map, place};

use serde::Serialize;

use crate::storage::{self, Mapped};
use crate::validate::at_rest::{self, Scope, TableReport, Verdict, Watch};
use crate::validate::{Cache, Levels};
use crate::{client, spec, validate};

/// How much is kept in memory of what was read of manifests, in bytes.
const CACHE_BYTES: u64 = 256 << 20;

/// Why a table could not be checked.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Its metadata file cannot be read.
    #[error(transparent)]
    Storage(#[from] storage::Error),
    /// Its metadata is none: no engine can open the table.
    #[error("{location} is no metadata of a table: {fault}")]
    Metadata {
        /// Where it is.
        location: String,
        /// What is wrong with it.
        fault: spec::Error,
    },
    /// The catalog gave no answer that can be used.
    #[error(transparent)]
    Client(#[from] client::Error),
    /// What was asked for cannot be meant.
    #[error("{0}")]
    Request(String),
}

/// What became of one target.
#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Outcome {
    /// What was named.
    pub target: String,
    /// The metadata file, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata_location: Option<String>,
    /// What became of the check.
    pub verdict: Verdict,
    /// Why there is no report, or why it is not complete.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What was found.
    #[serde(flatten)]
    pub report: Option<TableReport>,
}

impl Outcome {
    /// A target that could not be loaded. Metadata that cannot be understood is a broken table.
    pub fn not_loaded(target: &Target, error: &Error) -> Self {
        let verdict = match error {
            Error::Metadata { .. } => Verdict::Broken,
            _ => Verdict::NotChecked,
        };
        Self { target: target.to_string(), metadata_location: None, verdict, error: Some(chain(error)), report: None }
    }
}

/// Checks a table that was found.
pub async fn check(
    target: &Target,
    found: &Found,
    reader: &Mapped,
    levels: &Levels,
    scope: Scope,
    watch: Watch<'_>,
) -> Outcome {
    let cache = Cache::new(CACHE_BYTES);
    let report = at_rest::check(reader, &cache, levels, &found.metadata, scope, watch).await;
    Outcome {
        target: target.to_string(),
        metadata_location: found.metadata_location.clone(),
        verdict: report.verdict(),
        error: report.stopped.as_ref().map(|stopped: &validate::Unavailable| chain(stopped)),
        report: Some(report),
    }
}

/// An error and its causes on one line.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    text
}
