//! Credentials for one table's files: short-lived, for its place alone, and no more than the caller may.
//!
//! `boundary` and `policy` say what they are good for, `gcs` and `sts` get them, [`signing`] judges requests
//! that a client wants signed instead. What was got is kept until half of its life is over; so whoever gets it has the
//! other half at least, and a service that is asked by many is asked once.

mod boundary;
mod cached;
mod delegation;
mod gcs;
mod google;
mod policy;
pub mod signing;
mod sts;

pub use delegation::{Delegation, HEADER, Mode};

use crate::auth::Access;
use crate::storage::{Location, Scheme, Source, Storage, StorageSecret};
use cached::Cached;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// How long one question to a service may take.
const ASK_LIMIT: Duration = Duration::from_secs(10);

/// Why there are no credentials. No text of it holds one.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The service that gives them does not answer, or answers that it cannot now.
    #[error("no credentials for {place}: {service} is not reachable")]
    Unavailable {
        /// What they were for.
        place: String,
        /// Who was asked.
        service: &'static str,
        /// What happened.
        source: Source,
    },
    /// The service says no: the warehouse, or what this server is itself, is not set up for it.
    #[error("no credentials for {place}: {service} refuses: {reason}")]
    Refused {
        /// What they were for.
        place: String,
        /// Who was asked.
        service: &'static str,
        /// The code it gave.
        reason: String,
    },
    /// The place's name does not fit into what the service takes.
    #[error("no credentials for {place}: its {what} is longer than the {limit} bytes that are taken")]
    TooLong {
        /// The place.
        place: String,
        /// What is made of it.
        what: &'static str,
        /// Most bytes.
        limit: usize,
    },
    /// There is nothing to make them of.
    #[error("no credentials for {place}: {reason}")]
    NotSetUp {
        /// The place.
        place: String,
        /// What is missing.
        reason: String,
    },
}

/// Where the services are that give credentials.
#[derive(Debug, Clone)]
pub struct Services {
    /// Google's security token service.
    pub google_sts_url: String,
    /// Where Google gives tokens to service accounts.
    pub google_token_url: String,
    /// Amazon's security token service, or that of a store that speaks S3; the region's own where not said.
    pub s3_sts_endpoint: Option<String>,
}

/// How a warehouse's temporary S3 keys are made.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Role {
    /// The role that is taken on; stores other than Amazon's may do without.
    pub arn: Option<String>,
    /// What the role's owner asks of whoever takes it on.
    pub external_id: Option<String>,
    /// The KMS key that the bucket's objects are encrypted with.
    pub kms_key: Option<String>,
}

/// A table's place, and what the warehouse around it says.
#[derive(Debug, Clone)]
pub struct Order {
    /// The warehouse's id and version: when it changes, what was got before no longer counts.
    pub warehouse: (String, i64),
    /// The table's location.
    pub place: Location,
    /// How far its holder may go.
    pub access: Access,
    /// The warehouse's secret, if it has one.
    pub secret: Option<Arc<StorageSecret>>,
    /// For S3.
    pub role: Role,
    /// How long it is to live, in seconds.
    pub lifetime_s: u32,
}

/// What is got.
#[derive(Clone, PartialEq, Eq)]
pub struct Vended {
    /// What it is good for: the place, and a slash.
    pub prefix: String,
    /// The keys that clients' file IO reads.
    pub config: BTreeMap<String, String>,
    /// When it ends, epoch milliseconds.
    pub expires_ms: i64,
}

impl fmt::Debug for Vended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let expires_ms = self.expires_ms;
        f.debug_struct("Vended").field("prefix", &self.prefix).field("expires_ms", &expires_ms).finish_non_exhaustive()
    }
}

type Key = (String, i64, Location, Access);

/// Gets credentials, and keeps them.
#[derive(Debug)]
pub struct Vending {
    services: Services,
    client: reqwest::Client,
    vended: Cached<Key, Vended>,
    /// What Google's downscoped tokens are made of.
    bases: Cached<(String, i64), google::Base>,
}

impl Vending {
    /// Asks these services.
    pub fn new(services: Services) -> Result<Self, reqwest::Error> {
        let client = reqwest::Client::builder()
            .timeout(ASK_LIMIT)
            .connect_timeout(ASK_LIMIT / 2)
            .redirect(reqwest::redirect::Policy::none());
        Ok(Self { services, client: client.build()?, vended: Cached::new(10_000), bases: Cached::new(1_000) })
    }

    /// Credentials for a place. `now` tells the time, in epoch milliseconds.
    pub async fn vend(
        &self,
        storage: &Storage,
        order: &Order,
        now: impl Fn() -> i64 + Send + Sync,
    ) -> Result<Arc<Vended>, Error> {
        let key = (order.warehouse.0.clone(), order.warehouse.1, order.place.clone(), order.access);
        let get = async {
            let vended = match order.place.scheme() {
                Scheme::Gs => {
                    let base = google::base(self, order, &now);
                    let base = self.bases.get(order.warehouse.clone(), &now, base).await?;
                    gcs::downscoped(self, order, &base, now()).await?
                }
                Scheme::S3 => sts::keys(self, storage, order, now()).await?,
                Scheme::File => {
                    let reason = "files on the server's own disk have none".to_owned();
                    return Err(not_set_up(order, reason));
                }
            };
            let expires_ms = vended.expires_ms;
            Ok((vended, expires_ms))
        };
        self.vended.get(key, &now, get).await
    }
}

fn not_set_up(order: &Order, reason: String) -> Error {
    Error::NotSetUp { place: order.place.to_string(), reason }
}

/// Sends a question to a service, and takes the answer's text if it is a good one.
async fn ask(order: &Order, service: &'static str, request: reqwest::RequestBuilder) -> Result<String, Error> {
    let place = order.place.to_string();
    // An error of the client names the URL; what is secret is never in one, but nobody needs it either.
    let failed = |error: reqwest::Error| Error::Unavailable {
        place: place.clone(),
        service,
        source: error.without_url().into(),
    };
    let mut answer = request.send().await.map_err(failed)?;
    let status = answer.status();
    let mut body = Vec::new();
    while let Some(chunk) = answer.chunk().await.map_err(failed)? {
        if body.len() + chunk.len() > MOST_ANSWER_BYTES {
            return Err(unreadable(order, service));
        }
        body.extend_from_slice(&chunk);
    }
    let body = String::from_utf8(body).map_err(|_| unreadable(order, service))?;
    if status.is_success() {
        return Ok(body);
    }
    if status.is_server_error() || status == reqwest::StatusCode::TOO_MANY_REQUESTS {
        return Err(Error::Unavailable { place, service, source: format!("it answers {status}").into() });
    }
    let reason = match code(&body) {
        Some(code) => format!("{status}, {code}"),
        None => status.to_string(),
    };
    Err(Error::Refused { place, service, reason })
}

/// Far more than any answer has.
const MOST_ANSWER_BYTES: usize = 256 * 1024;

fn unreadable(order: &Order, service: &'static str) -> Error {
    let source = "it answers something that is not understood".into();
    Error::Unavailable { place: order.place.to_string(), service, source }
}

/// The code of an error, from OAuth's JSON or Amazon's XML: a word, and nothing that could be a secret.
fn code(body: &str) -> Option<String> {
    let word = |text: &str| {
        let good = text.len() <= 64 && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '.');
        (good && !text.is_empty()).then(|| text.to_owned())
    };
    if let Ok(json) = serde_json::from_str::<serde_json::Value>(body) {
        return json.get("error")?.as_str().and_then(word);
    }
    word(body.split_once("<Code>")?.1.split_once("</Code>")?.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusals_code_is_a_word() {
        assert_eq!(
            code(r#"{"error": "invalid_grant", "error_description": "hunter2"}"#).as_deref(),
            Some("invalid_grant")
        );
        assert_eq!(code("<E><Error><Code>AccessDenied</Code></Error></E>").as_deref(), Some("AccessDenied"));
        assert_eq!(code(r#"{"error": "the token hunter2 is wrong"}"#), None);
        assert_eq!(code("<Code>a b</Code>"), None);
        assert_eq!(code("no"), None);
    }

    #[test]
    fn credentials_are_not_shown() {
        let config = BTreeMap::from([("gcs.oauth2.token".to_owned(), "hunter2".to_owned())]);
        let shown = format!("{:?}", Vended { prefix: "gs://b/t/".to_owned(), config, expires_ms: 1 });
        assert!(shown.contains("gs://b/t/") && !shown.contains("hunter2"), "{shown}");
    }
}
