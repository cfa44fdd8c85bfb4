//! `guillemot import catalog`.

use super::{How, secret};
use crate::cli::AnyError;
use crate::cli::tools::header;
use crate::client::{Catalog, ClientCredentials, Connection, Login, Secrets};
use crate::import::{Importer, catalog};
use crate::spec::Namespace;
use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(in crate::cli) struct CatalogArgs {
    /// Address of the catalog, the part before `/v1`
    #[arg(long)]
    uri: String,
    /// The warehouse, as that catalog names it
    #[arg(long)]
    catalog_warehouse: Option<String>,
    /// What stands between `/v1` and `/namespaces` [default: what the catalog says]
    #[arg(long)]
    prefix: Option<String>,
    /// Import this namespace and what is in it, and no other (repeatable), levels joined by dots
    #[arg(long)]
    namespace: Vec<String>,
    #[command(flatten)]
    login: LoginArgs,
    /// A header for that catalog as NAME=VALUE (repeatable)
    #[arg(long = "header")]
    headers: Vec<String>,
    #[command(flatten)]
    pub(super) how: How,
}

/// Who asks the catalog. A secret on the command line can be read by every process of the machine.
#[derive(Debug, Args)]
struct LoginArgs {
    /// Bearer token for that catalog; better in the variable or a file
    #[arg(long, env = "GUILLEMOT_CATALOG_TOKEN", hide_env_values = true)]
    token: Option<String>,
    /// A file with the token; `-` reads standard input
    #[arg(long, value_name = "FILE", conflicts_with = "token")]
    token_file: Option<PathBuf>,
    /// ID:SECRET for a token of that catalog (client credentials of RFC 6749); better in the variable or a file
    #[arg(long, env = "GUILLEMOT_CATALOG_CREDENTIAL", hide_env_values = true, conflicts_with_all = ["token", "token_file"])]
    credential: Option<String>,
    /// A file with ID:SECRET; `-` reads standard input
    #[arg(long, value_name = "FILE", conflicts_with_all = ["token", "token_file", "credential"])]
    credential_file: Option<PathBuf>,
    /// The token endpoint [default: the catalog's own, /v1/oauth/tokens]
    #[arg(long, value_name = "URL")]
    oauth2_server_uri: Option<String>,
    /// The scope that is asked for
    #[arg(long, default_value = "catalog")]
    scope: String,
}

impl CatalogArgs {
    pub(super) async fn import(self: Box<Self>, importer: &mut Importer<'_>, secrets: Secrets) -> Result<(), AnyError> {
        let levels = |text: &String| Namespace::new(text.split('.').map(str::to_owned).collect());
        let only = self.namespace.iter().map(levels).collect::<Result<Vec<_>, _>>()?;
        let Self { uri, catalog_warehouse: warehouse, prefix, login, headers, .. } = *self;
        let connection = Connection {
            uri,
            warehouse,
            prefix,
            login: login.login()?,
            headers: headers.iter().map(|text| header(text)).collect::<Result<_, _>>()?,
            secrets,
        };
        let source = Catalog::connect(connection).await?;
        Ok(catalog::import(importer, &source, &only).await?)
    }
}

impl LoginArgs {
    fn login(self) -> Result<Login, AnyError> {
        let from = |said: Option<String>, file: Option<PathBuf>| match (said, file) {
            (Some(said), _) => Ok(Some(said)),
            (None, file) => file.as_deref().map(secret::read).transpose(),
        };
        if let Some(token) = from(self.token, self.token_file)? {
            return Ok(Login::Token(token));
        }
        let Some(credential) = from(self.credential, self.credential_file)? else { return Ok(Login::None) };
        let credentials = ClientCredentials::parse(&credential);
        Ok(Login::Credentials(ClientCredentials { server: self.oauth2_server_uri, scope: self.scope, ..credentials }))
    }
}
