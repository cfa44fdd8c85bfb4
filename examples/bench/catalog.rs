//! A catalog under load: where it is, and the requests of the workloads.

use crate::Result;
use crate::http::{Body, Connection, request};
use crate::load::Server;
use crate::process::Process;
use serde_json::{Value, json};
use std::net::ToSocketAddrs;
use url::Url;

/// A catalog that was reached and told its prefix.
pub(crate) struct Catalog<'a> {
    pub(crate) server: Server<'a>,
    /// Path up to the namespaces: `/iceberg/v1/lake`.
    base: String,
    /// The namespace of this run; nobody else has it.
    pub(crate) namespace: String,
    /// What each request shows.
    token: Option<String>,
}

impl<'a> Catalog<'a> {
    /// Asks a catalog for its prefix, and makes a namespace there.
    ///
    /// Addresses beyond this machine are refused: the numbers would be those of the network, and the load would be
    /// somebody else's trouble.
    pub(crate) fn connect(
        uri: &str,
        warehouse: Option<&str>,
        namespace: &str,
        process: Option<&'a Process>,
        token: Option<&str>,
    ) -> Result<Self> {
        let uri = Url::parse(uri)?;
        let host = uri.host_str().ok_or("the URI names no host")?;
        let port = uri.port_or_known_default().ok_or("the URI names no port")?;
        let address = (host, port).to_socket_addrs()?.find(|address| address.ip().is_loopback());
        let address = address.ok_or_else(|| format!("{host} is not this machine"))?;
        if uri.scheme() != "http" {
            return Err("only http:// is spoken".into());
        }
        let server = Server { address, process };
        let path = format!("{}/v1", uri.path().trim_end_matches('/'));
        let query: String = warehouse.map(|name| format!("?warehouse={name}")).unwrap_or_default();
        let config = ask(server, "GET", &format!("{path}/config{query}"), token, Body::None)?;
        let prefix = config.pointer("/overrides/prefix").or_else(|| config.pointer("/defaults/prefix"));
        let prefix = prefix.and_then(Value::as_str).map(|prefix| format!("/{prefix}")).unwrap_or_default();
        let token = token.map(str::to_owned);
        let catalog = Self { server, base: format!("{path}{prefix}"), namespace: namespace.to_owned(), token };
        catalog.post("/namespaces", &json!({"namespace": [catalog.namespace]}))?;
        Ok(catalog)
    }

    /// Creates a table and answers its `LoadTableResult`.
    pub(crate) fn create(&self, table: &str, columns: usize) -> Result<Value> {
        self.post(&self.tables(), &create_body(table, columns))
    }

    /// Points a name at a metadata file.
    pub(crate) fn register(&self, table: &str, metadata_location: &str) -> Result<Value> {
        let body = json!({"name": table, "metadata-location": metadata_location});
        self.post(&format!("/namespaces/{}/register", self.namespace), &body)
    }

    /// Loads a table once and answers the size of the reply, in bytes.
    pub(crate) fn size(&self, table: &str) -> Result<usize> {
        let mut connection = Connection::open(self.server.address)?;
        match connection.send(&self.load_request(table))? {
            200 => Ok(connection.body().len()),
            other => Err(format!("load answers {other}").into()),
        }
    }

    pub(crate) fn load_request(&self, table: &str) -> Vec<u8> {
        self.request("GET", &format!("{}/{table}", self.tables()), None)
    }

    pub(crate) fn create_request(&self, table: &str, columns: usize) -> Vec<u8> {
        self.request("POST", &self.tables(), Some(&create_body(table, columns)))
    }

    /// A commit that sets one property.
    pub(crate) fn property_request(&self, table: &str, value: &str) -> Vec<u8> {
        self.commit_request(table, &json!([{"action": "set-properties", "updates": {"bench": value}}]))
    }

    pub(crate) fn commit_request(&self, table: &str, updates: &Value) -> Vec<u8> {
        let body = json!({"requirements": [], "updates": updates});
        self.request("POST", &format!("{}/{table}", self.tables()), Some(&body))
    }

    fn tables(&self) -> String {
        format!("/namespaces/{}/tables", self.namespace)
    }

    /// The same catalog, as it is to whoever has this token.
    pub(crate) fn seen_by(&self, token: String) -> Self {
        let (base, namespace) = (self.base.clone(), self.namespace.clone());
        Self { server: self.server, base, namespace, token: Some(token) }
    }

    fn request(&self, method: &str, path: &str, body: Option<&Value>) -> Vec<u8> {
        let body = body.map(Value::to_string);
        let body = body.as_deref().map_or(Body::None, Body::Json);
        request(method, self.server.address, &format!("{}{path}", self.base), self.token.as_deref(), body)
    }

    fn post(&self, path: &str, body: &Value) -> Result<Value> {
        let path = format!("{}{path}", self.base);
        ask(self.server, "POST", &path, self.token.as_deref(), Body::Json(&body.to_string()))
    }
}

/// One request that must succeed, on a connection of its own.
pub(crate) fn ask(server: Server<'_>, method: &str, path: &str, token: Option<&str>, body: Body<'_>) -> Result<Value> {
    let mut connection = Connection::open(server.address)?;
    let status = connection.send(&request(method, server.address, path, token, body))?;
    if status != 200 {
        return Err(format!("{method} {path}: {status} {}", String::from_utf8_lossy(connection.body())).into());
    }
    Ok(serde_json::from_slice(connection.body())?)
}

/// A table of so many documented columns: about 100 bytes of metadata each.
fn create_body(table: &str, columns: usize) -> Value {
    let column = |id: usize| {
        json!({"id": id, "name": format!("column_{id:03}"), "required": false, "type": "string",
               "doc": "what an engine keeps here"})
    };
    let fields: Vec<Value> = (1..=columns).map(column).collect();
    json!({"name": table, "schema": {"type": "struct", "schema-id": 0, "fields": fields}})
}
