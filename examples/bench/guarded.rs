//! A Guillemot that asks who is calling, and a caller who may read one namespace and nothing else.

use crate::Result;
use crate::catalog::{Catalog, ask};
use crate::http::Body;
use crate::load::Server;
use crate::process::{Process, own_command};
use serde_json::Value;
use std::path::Path;

/// Warehouse and namespace.
const NAME: &str = "guarded";

/// A running server with authentication and grants.
pub(crate) struct Guarded {
    pub(crate) process: Process,
    database: String,
    admin: String,
}

impl Guarded {
    /// Starts it on an SQLite file of its own; its first identity may do everything.
    pub(crate) fn start(folder: &Path) -> Result<Self> {
        let database = format!("sqlite://{}", folder.join("guarded.db").display());
        let secret = identity(&database, "admin")?;
        command(&database, &["grant", "admin", "--user", "identity:admin"])?;
        let warehouse = format!("{NAME}=file://{}", folder.join(NAME).display());
        let flags = ["--listen", "127.0.0.1:0", "--database-url", &database, "--warehouse", &warehouse];
        let process = Process::start(&[&["guillemot"], &flags[..], &["--log", "error"]].concat(), "/health")?;
        let admin = token(&process, "admin", &secret)?;
        Ok(Self { process, database, admin })
    }

    /// The catalog as the caller sees it who may only read, with a table of so many columns.
    pub(crate) fn as_viewer(&self, table: &str, columns: usize) -> Result<Catalog<'_>> {
        let uri = format!("http://{}/iceberg", self.process.address);
        let admin = Catalog::connect(&uri, Some(NAME), NAME, Some(&self.process), Some(&self.admin))?;
        admin.create(table, columns)?;
        let secret = identity(&self.database, "viewer")?;
        let where_to = ["--in-warehouse", NAME, "--namespace", NAME];
        command(&self.database, &[&["grant", "viewer", "--user", "identity:viewer"], &where_to[..]].concat())?;
        Ok(admin.seen_by(token(&self.process, "viewer", &secret)?))
    }
}

/// Makes an identity and answers its secret.
fn identity(database: &str, name: &str) -> Result<String> {
    let said = command(database, &["identity", "create", name])?;
    let secret = said.lines().find_map(|line| line.strip_prefix("client secret"));
    Ok(secret.ok_or("no secret was printed")?.trim().to_owned())
}

/// Runs a command of Guillemot's and answers what it prints.
fn command(database: &str, arguments: &[&str]) -> Result<String> {
    let output = own_command()?.args(["guillemot", "--database-url", database]).args(arguments).output()?;
    if !output.status.success() {
        return Err(format!("{}: {}", arguments.join(" "), String::from_utf8_lossy(&output.stderr)).into());
    }
    Ok(String::from_utf8(output.stdout)?)
}

fn token(process: &Process, name: &str, secret: &str) -> Result<String> {
    let server = Server { address: process.address, process: None };
    let form = format!("grant_type=client_credentials&client_id={name}&client_secret={secret}");
    let answer = ask(server, "POST", "/iceberg/v1/oauth/tokens", None, Body::Form(&form))?;
    Ok(answer.get("access_token").and_then(Value::as_str).ok_or("no token was given")?.to_owned())
}
