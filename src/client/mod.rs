//! A client of any Iceberg REST catalog, as far as looking at what is in it needs one.
//!
//! It asks and changes nothing. What a catalog answers is bounded: in bytes, in pages, in levels, in time.

mod catalog;
mod login;
mod pages;
mod secrets;

pub use catalog::{Catalog, Connection};
pub use login::{ClientCredentials, Login};
use reqwest::redirect::Policy;
pub use secrets::Secrets;

use std::time::Duration;

/// How long a request may take, and how long it may take to connect.
const REQUEST_LIMIT: Duration = Duration::from_mins(2);
const CONNECT_LIMIT: Duration = Duration::from_secs(10);

/// How much of a catalog's words is shown, and of an address that was asked, in characters.
const MOST_SHOWN: usize = 500;
const MOST_OF_URL: usize = 2000;

/// How much of a refusal is read, in bytes.
const LARGEST_REFUSAL: usize = 1 << 20;

/// Why a catalog gave no answer that can be used.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Its address is none.
    #[error("{what}: expected {expected}")]
    Address {
        /// Which address.
        what: &'static str,
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

    /// The same, with a catalog's words made fit to be shown. An address holds some too: the prefix, and names.
    fn fit(self, secrets: &Secrets) -> Self {
        let url = |url: String| secrets.shown(&url, MOST_OF_URL);
        let words = |words: String| secrets.shown(&words, MOST_SHOWN);
        match self {
            Self::Address { .. } => self,
            Self::Unreachable { url: at, source } => Self::Unreachable { url: url(at), source },
            Self::Refused { url: at, status, message } => {
                Self::Refused { url: url(at), status, message: words(message) }
            }
            Self::Answer { url: at, reason } => Self::Answer { url: url(at), reason: words(reason) },
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

/// The body of an answer of at most so many bytes. Of a refusal the beginning is enough.
async fn body(mut response: reqwest::Response, url: &str, most: usize) -> Result<Vec<u8>, Error> {
    let is_refusal = !response.status().is_success();
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|fault| unreachable(url, fault))? {
        body.extend_from_slice(&chunk);
        if is_refusal && body.len() >= LARGEST_REFUSAL {
            break;
        }
        if body.len() > most {
            return Err(Error::Answer { url: url.to_owned(), reason: format!("more than {most} bytes") });
        }
    }
    Ok(body)
}

/// Addresses stand in errors and logs.
fn check_address(what: &'static str, uri: &str) -> Result<(), Error> {
    let plain = |url: &url::Url| url.username().is_empty() && url.password().is_none();
    let expected = match url::Url::parse(uri) {
        Ok(url) if !matches!(url.scheme(), "http" | "https") => "http:// or https://",
        Ok(url) if plain(&url) => return Ok(()),
        Ok(_) => "one without user and password: give a token or a credential",
        Err(_) => "a URL",
    };
    Err(Error::Address { what, expected })
}

fn unreachable(url: &str, fault: reqwest::Error) -> Error {
    // The URL is said already; a token is in no URL.
    Error::Unreachable { url: url.to_owned(), source: Box::new(fault.without_url()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_holds_no_password_and_no_error_shows_one() {
        let check = |uri| check_address("the address", uri);
        assert!(check("http://127.0.0.1:1/iceberg").is_ok() && check("https://h").is_ok());
        for wrong in ["http://me:hidden@h/iceberg", "ftp://h/hidden", "hidden"] {
            let error = check(wrong).unwrap_err().to_string();
            assert!(!error.contains("hidden"), "{error}");
        }
    }
}
