//! A client of any Iceberg REST catalog, as far as loading a table needs one.

use std::collections::BTreeMap;
use std::time::Duration;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{Error, Found};
use crate::spec::{TableIdent, TableMetadata};

/// How long a request may take, and how long it may take to connect.
const REQUEST_LIMIT: Duration = Duration::from_mins(2);
const CONNECT_LIMIT: Duration = Duration::from_secs(10);
/// Largest answer that is read, in bytes.
const LARGEST_ANSWER: usize = 512 << 20;
/// How much of an answer that is no Iceberg error is shown.
const MOST_SHOWN: usize = 500;

/// What stays as it is in a path segment.
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Where a catalog is, and how to speak to it.
#[derive(Debug, Clone, Default)]
pub struct Connection {
    /// The part of its address before `/v1`.
    pub uri: String,
    /// The warehouse, as the catalog names it.
    pub warehouse: Option<String>,
    /// A bearer token.
    pub token: Option<String>,
    /// Further headers.
    pub headers: Vec<(String, String)>,
}

/// A catalog that answered its config call.
#[derive(Debug)]
pub struct Catalog {
    client: reqwest::Client,
    connection: Connection,
    /// `/v1`, and the prefix if there is one.
    base: String,
    /// The namespace separator, encoded.
    separator: String,
}

#[derive(Deserialize, Default)]
struct Config {
    #[serde(default)]
    defaults: BTreeMap<String, String>,
    #[serde(default)]
    overrides: BTreeMap<String, String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct LoadTableResult<'a> {
    metadata_location: Option<String>,
    #[serde(borrow)]
    metadata: &'a RawValue,
}

#[derive(Deserialize)]
struct ErrorResponse {
    error: ErrorModel,
}

#[derive(Deserialize)]
struct ErrorModel {
    message: String,
}

impl Catalog {
    /// Asks a catalog for its configuration.
    pub async fn connect(connection: Connection) -> Result<Self, Error> {
        let agent = concat!("guillemot/", env!("CARGO_PKG_VERSION"));
        let client = reqwest::Client::builder()
            .user_agent(agent)
            .timeout(REQUEST_LIMIT)
            .connect_timeout(CONNECT_LIMIT)
            .build()
            .map_err(|fault| unreachable(&connection.uri, fault))?;
        let mut catalog = Self { client, connection, base: "/v1".to_owned(), separator: "%1F".to_owned() };
        let warehouse = catalog.connection.warehouse.as_deref();
        let query = warehouse.map_or_else(String::new, |name| format!("?warehouse={}", encode(name)));
        let (url, body) = catalog.call(&format!("/v1/config{query}")).await?;
        let mut config: Config =
            serde_json::from_slice(&body).map_err(|fault| Error::Answer { url, reason: fault.to_string() })?;
        let mut setting = |key: &str| config.overrides.remove(key).or_else(|| config.defaults.remove(key));
        if let Some(prefix) = setting("prefix").filter(|prefix| !prefix.is_empty()) {
            catalog.base = format!("/v1/{prefix}");
        }
        if let Some(separator) = setting("namespace-separator") {
            catalog.separator = encode(&percent_decode_str(&separator).decode_utf8_lossy());
        }
        Ok(catalog)
    }

    /// Loads a table.
    pub async fn load(&self, ident: &TableIdent) -> Result<Found, Error> {
        let levels: Vec<String> = ident.namespace.levels().iter().map(|level| encode(level)).collect();
        let namespace = levels.join(&self.separator);
        let path = format!("{}/namespaces/{namespace}/tables/{}?snapshots=all", self.base, encode(&ident.name));
        let (url, body) = self.call(&path).await?;
        let answer: LoadTableResult<'_> = serde_json::from_slice(&body)
            .map_err(|fault| Error::Answer { url: url.clone(), reason: fault.to_string() })?;
        let metadata = TableMetadata::parse(answer.metadata.get().as_bytes());
        let location = answer.metadata_location;
        let metadata = metadata
            .map_err(|fault| Error::Metadata { location: location.clone().unwrap_or_else(|| url.clone()), fault })?;
        Ok(Found { metadata_location: location, metadata })
    }

    /// A GET under the catalog's address; the whole URL and the body of a 200.
    async fn call(&self, path: &str) -> Result<(String, Vec<u8>), Error> {
        let url = format!("{}{path}", self.connection.uri.trim_end_matches('/'));
        let mut request = self.client.get(&url);
        if let Some(token) = &self.connection.token {
            request = request.bearer_auth(token);
        }
        for (name, value) in &self.connection.headers {
            request = request.header(name, value);
        }
        let mut response = request.send().await.map_err(|fault| unreachable(&url, fault))?;
        let status = response.status();
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|fault| unreachable(&url, fault))? {
            if body.len() + chunk.len() > LARGEST_ANSWER {
                return Err(Error::Answer { url, reason: format!("more than {LARGEST_ANSWER} bytes") });
            }
            body.extend_from_slice(&chunk);
        }
        if status.is_success() {
            return Ok((url, body));
        }
        let message = match serde_json::from_slice::<ErrorResponse>(&body) {
            Ok(answer) => answer.error.message,
            Err(_) => String::from_utf8_lossy(&body).chars().take(MOST_SHOWN).collect(),
        };
        Err(Error::Refused { url, status: status.as_u16(), message })
    }
}

fn encode(text: &str) -> String {
    utf8_percent_encode(text, SEGMENT).to_string()
}

fn unreachable(url: &str, fault: reqwest::Error) -> Error {
    // The URL is said already; a token is in no URL.
    Error::Unreachable { url: url.to_owned(), source: Box::new(fault.without_url()) }
}
