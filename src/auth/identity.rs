//! Managing built-in identities.

use super::error::Error;
use super::{client_secret, google_key};
use crate::clock::Clock;
use crate::store::identities::{self, Credential};
use crate::store::{self, Db};

/// Longest name of an identity.
const MAX_NAME: usize = 64;

/// What an identity proves itself with: made once, and never shown again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted<'a> {
    /// A client secret.
    Secret,
    /// A service account's key file, for a server whose token endpoint is at this address.
    GoogleKey {
        /// Where the key's owner asks for tokens.
        token_uri: &'a str,
    },
}

/// Why an identity cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum IdentityError {
    /// The name cannot be one.
    #[error("identity name `{0}`: expected 1 to 64 letters, digits, `-`, `_` and `.`")]
    Name(String),
    /// There is no such active identity, or the name was given before.
    #[error("{0}")]
    Store(#[from] store::Error),
    /// No key or secret could be made.
    #[error("{0}")]
    Keys(#[from] Error),
}

/// A new credential, as its owner keeps it: a client secret, or the content of a key file.
pub struct NewCredential(String);

impl NewCredential {
    /// The secret itself.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for NewCredential {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("NewCredential(***)")
    }
}

/// Adds an identity.
pub async fn create(db: &Db, clock: &Clock, name: &str, wanted: Wanted<'_>) -> Result<NewCredential, IdentityError> {
    check_name(name)?;
    let (credential, shown) = make(name, wanted)?;
    let mut tx = db.begin().await?;
    identities::create(&mut tx, name, &credential, clock.now_ms()).await?;
    tx.commit().await?;
    Ok(shown)
}

/// Gives an identity another credential; the old one, and the tokens that it has, are void.
pub async fn rotate(db: &Db, clock: &Clock, name: &str, wanted: Wanted<'_>) -> Result<NewCredential, IdentityError> {
    let (credential, shown) = make(name, wanted)?;
    let mut tx = db.begin().await?;
    identities::rotate(&mut tx, name, &credential, clock.now_ms()).await?;
    tx.commit().await?;
    Ok(shown)
}

/// Takes an identity's right to tokens, for good. The tokens that it has are void.
pub async fn revoke(db: &Db, clock: &Clock, name: &str) -> Result<(), IdentityError> {
    let mut tx = db.begin().await?;
    identities::revoke(&mut tx, name, clock.now_ms()).await?;
    Ok(tx.commit().await?)
}

fn make(name: &str, wanted: Wanted<'_>) -> Result<(Credential, NewCredential), Error> {
    match wanted {
        Wanted::Secret => {
            let made = client_secret::make().ok_or(Error::Keys("no secret could be made"))?;
            let (secret, hash) = made;
            Ok((Credential::Secret { hash }, NewCredential(secret)))
        }
        Wanted::GoogleKey { token_uri } => {
            let (key, file) = google_key::make(name, token_uri)?;
            Ok((Credential::Key(key), NewCredential(file)))
        }
    }
}

/// A name is a client id and stands in `id:secret`, in an e-mail address and in grants.
fn check_name(name: &str) -> Result<(), IdentityError> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if name.is_empty() || name.len() > MAX_NAME || !name.chars().all(plain) {
        return Err(IdentityError::Name(name.to_owned()));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stand_in_credentials_and_addresses() {
        for good in ["etl", "a.b-c_D9", &"x".repeat(MAX_NAME)] {
            assert!(check_name(good).is_ok(), "{good}");
        }
        for bad in ["", "a:b", "a@b", "a b", "ä", "a/b", "a\nb", &"x".repeat(MAX_NAME + 1)] {
            assert!(check_name(bad).is_err(), "{bad}");
        }
    }
}
