//! A client of any Iceberg REST catalog, as far as looking at what is in it needs one.
//!
//! It asks and changes nothing. What a catalog answers is bounded: in bytes, in pages, in levels, in time.

mod catalog;
mod login;
mod pages;

pub use catalog::{Catalog, Connection};
pub use login::{ClientCredentials, Login};
use reqwest::redirect::Policy;

use std::time::Duration;

/// How long a request may take, and how long it may take to connect.
const REQUEST_LIMIT: Duration = Duration::from_mins(2);
const CONNECT_LIMIT: Duration = Duration::from_secs(10);

/// How much of an answer that is no Iceberg error is shown, in characters.
const MOST_SHOWN: usize = 500;

/// Why a catalog gave no answer that can be used.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Its address is none.
    #[error("the catalog's address: expected {expected}")]
    Address {
        /// What it should be. The address is not quoted: it may hold a password.
        expected: &'static str,
    },
    /// It did not answer.
    #[error("{url} cannot be reached")]
    Unreachable {
        /// What was asked for.
        url: String,
        /// What happened.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// It said no.
    #[error("{url} answers {status}: {message}")]
    Refused {
        /// What was asked for.
        url: String,
        /// The HTTP status.
        status: u16,
        /// The catalog's words.
        message: String,
    },
    /// It answered what is no answer.
    #[error("{url} answers what is not in the REST specification: {reason}")]
    Answer {
        /// What was asked for.
        url: String,
        /// What is wrong.
        reason: String,
    },
}

impl Error {
    /// The HTTP status of a refusal.
    pub fn status(&self) -> Option<u16> {
        match self {
            Self::Refused { status, .. } => Some(*status),
            Self::Address { .. } | Self::Unreachable { .. } | Self::Answer { .. } => None,
        }
    }
}

/// A client of HTTP, with this project's name and limits.
/// A client that follows no redirect: what is sent to a catalog is sent on to nobody.
fn http(url: &str) -> Result<reqwest::Client, Error> {
    let client = reqwest::Client::builder()
        .user_agent(concat!("guillemot/", env!("CARGO_PKG_VERSION")))
        .timeout(REQUEST_LIMIT)
        .connect_timeout(CONNECT_LIMIT)
        .redirect(Policy::none());
    client.build().map_err(|fault| unreachable(url, fault))
}

/// The beginning of an answer, for people.
fn beginning(body: &[u8]) -> String {
    String::from_utf8_lossy(body).chars().take(MOST_SHOWN).collect()
}

fn unreachable(url: &str, fault: reqwest::Error) -> Error {
    // The URL is said already; a token is in no URL.
    Error::Unreachable { url: url.to_owned(), source: Box::new(fault.without_url()) }
}
