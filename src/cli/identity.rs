//! `guillemot identity`: the server's own identities, managed in the database.

use super::{AnyError, print};
use crate::auth::identity::{self, NewCredential, Wanted};
use crate::auth::{discard_keys, write_private};
use crate::clock::Clock;
use crate::config::Config;
use crate::server;
use crate::store::{Page, identities};
use clap::{Args, Subcommand};
use std::path::PathBuf;

/// What can be done with identities.
#[derive(Debug, Subcommand)]
pub(super) enum IdentityCommand {
    /// Add an identity, and print its client id and secret: once, they are not kept
    Create(CredentialArgs),
    /// Print all identities: name, status, kind of credential
    List,
    /// Give an identity another secret or key; the old one, and all its tokens, are void
    Rotate(CredentialArgs),
    /// Take an identity's right to tokens for good; those that it has are void. Its name is not given again
    Revoke {
        /// Its name
        name: String,
    },
    /// Throw away the keys that sign tokens: every token of every identity is void within two minutes
    DiscardKeys,
}

#[derive(Debug, Args)]
pub(super) struct CredentialArgs {
    /// Its name: letters, digits, `-`, `_` and `.`
    name: String,
    /// Write a key file in the shape of Google's service accounts, instead of printing a secret
    #[arg(long, value_name = "FILE")]
    google_key: Option<PathBuf>,
    /// The token endpoint in that file [default: that of --public-url, else of --listen]
    #[arg(long, requires = "google_key", value_name = "URL")]
    token_uri: Option<String>,
}

/// Runs a command on identities.
pub(super) async fn run(config: &Config, command: IdentityCommand) -> Result<(), AnyError> {
    let (db, clock) = (server::open_database(config).await?, Clock::System);
    match command {
        IdentityCommand::Create(args) => {
            let token_uri = args.token_uri(config);
            let made = identity::create(&db, &clock, &args.name, args.wanted(&token_uri)).await?;
            args.hand_over(&made)?;
        }
        IdentityCommand::Rotate(args) => {
            let token_uri = args.token_uri(config);
            let made = identity::rotate(&db, &clock, &args.name, args.wanted(&token_uri)).await?;
            args.hand_over(&made)?;
        }
        IdentityCommand::List => {
            for row in identities::list(&db, &Page::default()).await?.items {
                print(&format!("{}\t{}\t{}\n", row.name, row.status.as_str(), row.credential.kind()))?;
            }
        }
        IdentityCommand::Revoke { name } => {
            identity::revoke(&db, &clock, &name).await?;
            print(&format!("{name} is revoked\n"))?;
        }
        IdentityCommand::DiscardKeys => {
            discard_keys(&db).await?;
            print("the signing keys are gone; the next token is signed with a new one\n")?;
        }
    }
    db.close().await;
    Ok(())
}

impl CredentialArgs {
    fn token_uri(&self, config: &Config) -> String {
        let base = config.auth.public_url.clone().unwrap_or_else(|| format!("{}://{}", config.scheme(), config.listen));
        self.token_uri.clone().unwrap_or_else(|| format!("{base}/iceberg/v1/oauth/tokens"))
    }

    fn wanted<'a>(&self, token_uri: &'a str) -> Wanted<'a> {
        if self.google_key.is_some() { Wanted::GoogleKey { token_uri } } else { Wanted::Secret }
    }

    /// The one time that a credential is seen.
    fn hand_over(&self, made: &NewCredential) -> Result<(), AnyError> {
        let name = &self.name;
        let Some(file) = &self.google_key else {
            let secret = made.reveal();
            return print(&format!(
                "client id      {name}\n\
                 client secret  {secret}\n\
                 credential     {name}:{secret}\n\
                 \n\
                 It is not shown again. Servers that were started before the first identity ask for no tokens until\n\
                 they are started anew.\n"
            ));
        };
        let failed =
            |e| format!("{} cannot be written ({e}): {name} has no key; `identity rotate` makes one", file.display());
        write_private(file, made.reveal().as_bytes()).map_err(failed)?;
        print(&format!("the key of {name} is in {}\n", file.display()))
    }
}
