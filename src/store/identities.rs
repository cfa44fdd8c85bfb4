//! Built-in identities.

use sqlx::any::AnyRow;
use sqlx::{Row, query};

use super::error::{Entity, Error, Result};
use super::text::{check_name, number, text};
use super::{Db, Listing, Page, Tx};

/// A built-in identity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// What it is called; also its client id.
    pub name: String,
    /// Whether it may have tokens.
    pub status: Status,
    /// How it proves who it is.
    pub credential: Credential,
    /// Counts what makes earlier tokens void.
    pub version: i64,
    /// When it was created, epoch milliseconds.
    pub created_ms: i64,
    /// When it was last changed, epoch milliseconds.
    pub updated_ms: i64,
}

/// Whether an identity may have tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// It may.
    Active,
    /// It may not, and those that it has are void.
    Revoked,
}

impl Status {
    /// As it is stored.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Revoked => "revoked",
        }
    }
}

/// How an identity proves who it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Credential {
    /// A client secret.
    Secret {
        /// Its argon2id hash in PHC form.
        hash: String,
    },
    /// The private half of a key.
    Key(PublicKey),
}

impl Credential {
    /// What kind it is, for people.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Secret { .. } => "secret",
            Self::Key(_) => "google-key",
        }
    }

    fn columns(&self) -> (Option<String>, Option<String>, Option<String>, Option<String>) {
        match self {
            Self::Secret { hash } => (Some(hash.clone()), None, None, None),
            Self::Key(key) => (None, Some(key.id.clone()), Some(key.jwk.clone()), Some(key.token_uri.clone())),
        }
    }
}

/// The public half of an identity's key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicKey {
    /// Names it among others.
    pub id: String,
    /// The key as a JWK.
    pub jwk: String,
    /// The address that assertions signed with it are for.
    pub token_uri: String,
}

/// Adds an identity.
///
/// # Errors
/// [`Error::AlreadyExists`] if the name was ever given.
pub async fn create(tx: &mut Tx, name: &str, credential: &Credential, now_ms: i64) -> Result<()> {
    const SQL: &str = "
        INSERT INTO identities
            (name, status, secret_hash, key_id, public_key, token_uri, version, created_ms, updated_ms)
        VALUES ($1, 'active', $2, $3, $4, $5, 0, $6, $6)
        ON CONFLICT DO NOTHING";
    check_name("identity name", name)?;
    let (hash, key_id, jwk, token_uri) = credential.columns();
    let insert = query(SQL).bind(name).bind(hash).bind(key_id).bind(jwk).bind(token_uri).bind(now_ms);
    match tx.execute(insert).await? {
        0 => Err(Error::AlreadyExists(Entity::Identity(name.to_owned()))),
        _ => Ok(()),
    }
}

/// Gives an active identity another credential. Its tokens are void from then on.
///
/// # Errors
/// [`Error::NotFound`] if there is no such active identity.
pub async fn rotate(tx: &mut Tx, name: &str, credential: &Credential, now_ms: i64) -> Result<()> {
    const SQL: &str = "
        UPDATE identities
        SET secret_hash = $1, key_id = $2, public_key = $3, token_uri = $4, version = version + 1, updated_ms = $5
        WHERE name = $6 AND status = 'active'";
    let (hash, key_id, jwk, token_uri) = credential.columns();
    let update = query(SQL).bind(hash).bind(key_id).bind(jwk).bind(token_uri).bind(now_ms).bind(name);
    found(tx.execute(update).await?, name)
}

/// Takes an identity's right to tokens, for good. Those that it has are void from then on.
///
/// # Errors
/// [`Error::NotFound`] if there is no such active identity.
pub async fn revoke(tx: &mut Tx, name: &str, now_ms: i64) -> Result<()> {
    const SQL: &str = "
        UPDATE identities SET status = 'revoked', version = version + 1, updated_ms = $1
        WHERE name = $2 AND status = 'active'";
    found(tx.execute(query(SQL).bind(now_ms).bind(name)).await?, name)
}

/// The identity of this name.
pub async fn load(db: &Db, name: &str) -> Result<Option<Identity>> {
    const SQL: &str = "
        SELECT name, status, secret_hash, key_id, public_key, token_uri, version, created_ms, updated_ms
        FROM identities WHERE name = $1";
    db.optional(query(SQL).bind(name)).await?.as_ref().map(read).transpose()
}

/// A part of the list of identities, by name.
pub async fn list(db: &Db, page: &Page) -> Result<Listing<Identity>> {
    const SQL: &str = "
        SELECT name, status, secret_hash, key_id, public_key, token_uri, version, created_ms, updated_ms
        FROM identities WHERE name > $1 ORDER BY name LIMIT $2";
    let rows = db.rows(query(SQL).bind(page.after_key()).bind(page.rows())).await?;
    let identities = rows.iter().map(read).collect::<Result<Vec<_>>>()?;
    Ok(Listing::cut(identities, page, |identity| identity.name.clone()))
}

fn found(changed: u64, name: &str) -> Result<()> {
    if changed == 0 { Err(Error::NotFound(Entity::Identity(name.to_owned()))) } else { Ok(()) }
}

fn read(row: &AnyRow) -> Result<Identity> {
    let name = text(row, "name")?;
    let corrupt = |column| Error::Corrupt { table: "identities", column, row: name.clone() };
    let status = match text(row, "status")?.as_str() {
        "active" => Status::Active,
        "revoked" => Status::Revoked,
        _ => return Err(corrupt("status")),
    };
    let optional = |column| row.try_get::<Option<String>, _>(column);
    let key = (optional("key_id")?, optional("public_key")?, optional("token_uri")?);
    let credential = match (optional("secret_hash")?, key) {
        (Some(hash), (None, None, None)) => Credential::Secret { hash },
        (None, (Some(id), Some(jwk), Some(token_uri))) => Credential::Key(PublicKey { id, jwk, token_uri }),
        _ => return Err(corrupt("secret_hash")),
    };
    Ok(Identity {
        status,
        credential,
        version: number(row, "version")?,
        created_ms: number(row, "created_ms")?,
        updated_ms: number(row, "updated_ms")?,
        name,
    })
}
