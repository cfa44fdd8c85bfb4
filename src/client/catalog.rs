//! What a catalog can be asked.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use super::login::token;
use super::pages::Pages;
use super::{Error, Login, Secrets, body, check_address, http, unreachable};
use crate::spec::{Namespace, TableIdent};

/// Largest answer that is read, in bytes.
const LARGEST_ANSWER: usize = 512 << 20;

/// How many names a page of a list is asked to have.
const PAGE_SIZE: usize = 1000;

/// How long is waited before a catalog that is busy is asked once more, and then once more.
const AGAIN_AFTER: [Duration; 2] = [Duration::from_millis(300), Duration::from_secs(2)];

/// What stays as it is in a path segment.
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Where a catalog is, and how to speak to it.
#[derive(Debug, Clone, Default)]
pub struct Connection {
    /// The part of its address before `/v1`.
    pub uri: String,
    /// The warehouse, as the catalog names it.
    pub warehouse: Option<String>,
    /// What stands between `/v1` and `/namespaces`, where that is not to be what the catalog says.
    pub prefix: Option<String>,
    /// Who is asking.
    pub login: Login,
    /// Further headers; their values may be secrets.
    pub headers: Vec<(String, String)>,
    /// What of this, and of what comes of it, is not shown in errors.
    pub secrets: Secrets,
}

/// A catalog that answered its config call.
#[derive(Debug)]
pub struct Catalog {
    client: reqwest::Client,
    connection: Connection,
    /// The bearer token in use.
    token: Mutex<Option<Secret>>,
    /// `/v1`, and the prefix if there is one.
    base: String,
    /// The namespace separator, encoded.
    separator: String,
    /// The endpoints that the catalog says it has.
    endpoints: Vec<String>,
}

/// A token, which is not shown.
#[derive(Clone)]
struct Secret(String);

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret(..)")
    }
}

#[derive(Deserialize, Default)]
struct Config {
    #[serde(default)]
    defaults: BTreeMap<String, String>,
    #[serde(default)]
    overrides: BTreeMap<String, String>,
    #[serde(default)]
    endpoints: Vec<String>,
}

/// A table as a catalog answers it.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct LoadedTable {
    /// Its metadata file, if it has one.
    pub metadata_location: Option<String>,
    /// Its metadata.
    pub metadata: Box<RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Pointer {
    metadata_location: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct NamespacesPage {
    namespaces: Vec<Vec<String>>,
    next_page_token: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct NamesPage {
    identifiers: Vec<Name>,
    next_page_token: Option<String>,
}

#[derive(Deserialize)]
struct Name {
    name: String,
}

#[derive(Deserialize)]
struct Properties {
    #[serde(default)]
    properties: Option<BTreeMap<String, String>>,
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
    /// Asks a catalog for its configuration, after a token if it is to be had for credentials.
    pub async fn connect(connection: Connection) -> Result<Self, Error> {
        check_address("the catalog's address", &connection.uri)?;
        connection.headers.iter().for_each(|(name, value)| connection.secrets.add_header(name, value));
        let client = http(&connection.uri)?;
        let given = match &connection.login {
            Login::None => None,
            Login::Token(token) => {
                connection.secrets.add(token);
                Some(Secret(token.clone()))
            }
            Login::Credentials(credentials) => {
                connection.secrets.add(&credentials.secret);
                None
            }
        };
        let mut catalog = Self {
            client,
            connection,
            token: Mutex::new(given),
            base: "/v1".to_owned(),
            separator: "%1F".to_owned(),
            endpoints: Vec::new(),
        };
        catalog.log_in().await?;
        let warehouse = catalog.connection.warehouse.as_deref();
        let query = warehouse.map_or_else(String::new, |name| format!("?warehouse={}", encode(name)));
        let mut config: Config = catalog.get(&format!("/v1/config{query}")).await?;
        let mut setting = |key: &str| config.overrides.remove(key).or_else(|| config.defaults.remove(key));
        let prefix = setting("prefix");
        if let Some(prefix) = catalog.connection.prefix.clone().or(prefix).filter(|prefix| !prefix.is_empty()) {
            catalog.base = format!("/v1/{prefix}");
        }
        if let Some(separator) = setting("namespace-separator") {
            catalog.separator = encode(&percent_decode_str(&separator).decode_utf8_lossy());
        }
        catalog.endpoints = config.endpoints;
        Ok(catalog)
    }

    /// Whether the catalog has views: yes, no, or it does not say.
    pub fn has_views(&self) -> Option<bool> {
        let views = |endpoint: &String| endpoint.ends_with("/namespaces/{namespace}/views");
        (!self.endpoints.is_empty()).then(|| self.endpoints.iter().any(views))
    }

    /// The names of the namespaces directly under `parent`, or at the top. What is under something else is left out:
    /// there are catalogs that answer the same whatever parent is named.
    pub async fn namespaces(&self, parent: Option<&Namespace>) -> Result<Vec<Vec<String>>, Error> {
        let under = parent.map_or_else(String::new, |parent| format!("&parent={}", self.path_of(parent)));
        let above = parent.map_or(&[][..], Namespace::levels);
        let mut names = self
            .list(&format!("/namespaces?pageSize={PAGE_SIZE}{under}"), |page: NamespacesPage| {
                (page.namespaces, page.next_page_token)
            })
            .await?;
        names.retain(|levels| levels.len() == above.len() + 1 && levels.starts_with(above));
        Ok(names)
    }

    /// The properties of a namespace.
    pub async fn properties(&self, namespace: &Namespace) -> Result<BTreeMap<String, String>, Error> {
        let answer: Properties = self.get(&format!("{}/namespaces/{}", self.base, self.path_of(namespace))).await?;
        Ok(answer.properties.unwrap_or_default())
    }

    /// The names of a namespace's tables.
    pub async fn tables(&self, namespace: &Namespace) -> Result<Vec<String>, Error> {
        self.names(namespace, "tables").await
    }

    /// The names of a namespace's views.
    pub async fn views(&self, namespace: &Namespace) -> Result<Vec<String>, Error> {
        self.names(namespace, "views").await
    }

    async fn names(&self, namespace: &Namespace, kind: &str) -> Result<Vec<String>, Error> {
        let path = format!("/namespaces/{}/{kind}?pageSize={PAGE_SIZE}", self.path_of(namespace));
        self.list(&path, |page: NamesPage| {
            (page.identifiers.into_iter().map(|identifier| identifier.name).collect(), page.next_page_token)
        })
        .await
    }

    /// All pages of a list. Whoever does not know page tokens answers everything at once.
    async fn list<P: DeserializeOwned, T: Ord>(
        &self,
        path: &str,
        read: impl Fn(P) -> (Vec<T>, Option<String>),
    ) -> Result<Vec<T>, Error> {
        let mut pages = Pages::new();
        let mut token = String::new();
        loop {
            let path = format!("{}{path}&pageToken={}", self.base, encode(&token));
            let (page, next) = read(self.get(&path).await?);
            match pages.take(page, next) {
                Ok(Some(next)) => token = next,
                Ok(None) => return Ok(pages.finish()),
                Err(reason) => return Err(self.wrong(self.url(&path), reason)),
            }
        }
    }

    /// Loads a table with all its snapshots.
    pub async fn table(&self, ident: &TableIdent) -> Result<LoadedTable, Error> {
        self.get(&format!("{}?snapshots=all", self.path_in(ident, "tables"))).await
    }

    /// The metadata file of a table.
    pub async fn table_pointer(&self, ident: &TableIdent) -> Result<String, Error> {
        self.pointer(&format!("{}?snapshots=refs", self.path_in(ident, "tables"))).await
    }

    /// The metadata file of a view.
    pub async fn view_pointer(&self, ident: &TableIdent) -> Result<String, Error> {
        self.pointer(&self.path_in(ident, "views")).await
    }

    async fn pointer(&self, path: &str) -> Result<String, Error> {
        let answer: Pointer = self.get(path).await?;
        let expected = || self.wrong(self.url(path), "expected metadata-location, found none".to_owned());
        answer.metadata_location.ok_or_else(expected)
    }

    fn path_in(&self, ident: &TableIdent, kind: &str) -> String {
        format!("{}/namespaces/{}/{kind}/{}", self.base, self.path_of(&ident.namespace), encode(&ident.name))
    }

    fn path_of(&self, namespace: &Namespace) -> String {
        namespace.levels().iter().map(|level| encode(level)).collect::<Vec<_>>().join(&self.separator)
    }

    /// The document under a path.
    async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, Error> {
        let url = self.url(path);
        let body = self.call(&url).await.map_err(|error| error.fit(&self.connection.secrets))?;
        serde_json::from_slice(&body).map_err(|fault| {
            let shown =
                if body.trim_ascii_start().starts_with(b"<") { "a page of HTML or XML" } else { "no such JSON" };
            self.wrong(url, format!("{shown}: {fault}"))
        })
    }

    /// The body of a 200. A catalog that is busy is asked again, and a token that ran out is replaced once.
    async fn call(&self, url: &str) -> Result<Vec<u8>, Error> {
        let mut waits = AGAIN_AFTER.iter();
        let mut fresh = false;
        loop {
            let error = match self.call_once(url).await {
                Ok(body) => return Ok(body),
                Err(error) => error,
            };
            match error.status() {
                Some(401) if !fresh && matches!(self.connection.login, Login::Credentials(_)) => {
                    fresh = true;
                    self.log_in().await?;
                }
                Some(429 | 502 | 503 | 504) => match waits.next() {
                    Some(wait) => tokio::time::sleep(*wait).await,
                    None => return Err(error),
                },
                _ => return Err(error),
            }
        }
    }

    async fn call_once(&self, url: &str) -> Result<Vec<u8>, Error> {
        let mut request = self.client.get(url);
        let token = self.token.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(Secret(token)) = token {
            request = request.bearer_auth(token);
        }
        for (name, value) in &self.connection.headers {
            request = request.header(name, value);
        }
        let response = request.send().await.map_err(|fault| unreachable(url, fault))?;
        let status = response.status();
        let body = body(response, url, LARGEST_ANSWER).await?;
        if status.is_success() {
            return Ok(body);
        }
        let message = match serde_json::from_slice::<ErrorResponse>(&body) {
            Ok(answer) => answer.error.message,
            Err(_) => String::from_utf8_lossy(&body).into_owned(),
        };
        Err(Error::Refused { url: url.to_owned(), status: status.as_u16(), message })
    }

    /// Gets a token, if that is how the catalog is to be spoken to.
    async fn log_in(&self) -> Result<(), Error> {
        if let Login::Credentials(credentials) = &self.connection.login {
            let secrets = &self.connection.secrets;
            let got = token(credentials, &self.url("/v1/oauth/tokens")).await.map_err(|error| error.fit(secrets))?;
            secrets.add(&got);
            *self.token.lock().unwrap_or_else(PoisonError::into_inner) = Some(Secret(got));
        }
        Ok(())
    }

    /// An error of an answer that is none.
    fn wrong(&self, url: String, reason: String) -> Error {
        Error::Answer { url, reason }.fit(&self.connection.secrets)
    }

    /// A path under the catalog's address.
    fn url(&self, path: &str) -> String {
        format!("{}{path}", self.connection.uri.trim_end_matches('/'))
    }
}

pub(super) fn encode(text: &str) -> String {
    utf8_percent_encode(text, SEGMENT).to_string()
}
