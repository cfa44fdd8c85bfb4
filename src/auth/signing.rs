//! The keys that sign this catalog's tokens: shared by all servers of a database, encrypted there, and renewed.

use super::error::Error;
use super::sealed::Sealer;
use crate::store::{Db, signing_keys};
use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair};
use jsonwebtoken::jwk::{Jwk, JwkSet, PublicKeyUse, ThumbprintHash};
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey};
use std::fmt;
use std::sync::Arc;
use tokio::sync::Mutex;

/// How the keys sign.
pub(super) const ALGORITHM: Algorithm = Algorithm::ES256;

/// How long a key signs.
const SIGNS_MS: i64 = 30 * 24 * 3600 * 1000;

/// How long a key is kept after that, beyond the life of the last token that it signed.
const KEPT_MS: i64 = 3600 * 1000;

/// How long what is known of the keys is believed.
const BELIEVED_MS: i64 = 30_000;

/// How often the database is asked for keys that tokens name and nobody knows.
const ASKED_EVERY_MS: i64 = 1000;

/// The keys as this server knows them.
pub(super) struct SigningKeys {
    sealer: Arc<Sealer>,
    token_lifetime_ms: i64,
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    /// Newest first.
    keys: Vec<Arc<Key>>,
    read_ms: Option<i64>,
}

/// One key.
pub(super) struct Key {
    pub(super) id: String,
    created_ms: i64,
    pub(super) private: EncodingKey,
    pub(super) public: DecodingKey,
    jwk: Jwk,
}

impl fmt::Debug for SigningKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SigningKeys(***)")
    }
}

impl SigningKeys {
    pub(super) fn new(sealer: Arc<Sealer>, token_lifetime_s: u32) -> Self {
        Self { sealer, token_lifetime_ms: i64::from(token_lifetime_s) * 1000, known: Mutex::default() }
    }

    /// The key to sign with now. It is made if there is none, or the newest has signed long enough. None where the key
    /// `beside` it is gone: whoever takes all keys away must not find a new token that was given for an old one.
    pub(super) async fn newest(&self, db: &Db, now_ms: i64, beside: Option<&str>) -> Result<Option<Arc<Key>>, Error> {
        let mut known = self.known.lock().await;
        self.refresh(&mut known, db, now_ms, BELIEVED_MS).await?;
        if beside.is_some_and(|id| !known.keys.iter().any(|key| key.id == id)) {
            return Ok(None);
        }
        if let Some(key) = known.keys.first().filter(|key| now_ms < key.created_ms.saturating_add(SIGNS_MS)) {
            return Ok(Some(Arc::clone(key)));
        }
        let key = Arc::new(self.make(db, now_ms).await?);
        known.keys.insert(0, Arc::clone(&key));
        Ok(Some(key))
    }

    /// The key of this name, if a server of this database has it.
    pub(super) async fn find(&self, db: &Db, id: &str, now_ms: i64) -> Result<Option<Arc<Key>>, Error> {
        let mut known = self.known.lock().await;
        self.refresh(&mut known, db, now_ms, BELIEVED_MS).await?;
        if !known.keys.iter().any(|key| key.id == id) {
            // Another server may just have made it.
            self.refresh(&mut known, db, now_ms, ASKED_EVERY_MS).await?;
        }
        Ok(known.keys.iter().find(|key| key.id == id).map(Arc::clone))
    }

    /// The public halves, for others who want to check our tokens.
    pub(super) async fn public(&self, db: &Db, now_ms: i64) -> Result<JwkSet, Error> {
        let mut known = self.known.lock().await;
        self.refresh(&mut known, db, now_ms, BELIEVED_MS).await?;
        Ok(JwkSet { keys: known.keys.iter().map(|key| key.jwk.clone()).collect() })
    }

    async fn refresh(&self, known: &mut Known, db: &Db, now_ms: i64, believed_ms: i64) -> Result<(), Error> {
        if known.read_ms.is_some_and(|read| (read..read.saturating_add(believed_ms)).contains(&now_ms)) {
            return Ok(());
        }
        let rows = signing_keys::list(db).await?;
        known.keys = rows.iter().filter_map(|row| self.open(row)).map(Arc::new).collect();
        known.read_ms = Some(now_ms);
        Ok(())
    }

    /// A key that does not open was made under another secret key. Nothing is signed with it, and nothing that it
    /// signed is believed: whoever can write into the database must not be able to make tokens.
    fn open(&self, row: &signing_keys::SigningKey) -> Option<Key> {
        let pkcs8 = self.sealer.open(&context(&row.id), &row.private_key).ok();
        let key = pkcs8.and_then(|pkcs8| Key::new(&pkcs8, row.created_ms).ok());
        if key.is_none() {
            tracing::warn!(key = row.id, "a signing key cannot be decrypted: was it made under another secret-key?");
        }
        key.filter(|key| key.id == row.id)
    }

    async fn make(&self, db: &Db, now_ms: i64) -> Result<Key, Error> {
        let pair = EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING);
        let pair = pair.map_err(|_| Error::Keys("no key could be generated"))?;
        let pkcs8 = pair.to_pkcs8v1().map_err(|_| Error::Keys("no key could be written"))?;
        let key = Key::new(pkcs8.as_ref(), now_ms)?;
        let sealed = self
            .sealer
            .seal(&context(&key.id), pkcs8.as_ref())
            .map_err(|_| Error::Keys("no key could be encrypted"))?;
        let mut tx = db.begin().await?;
        let row = signing_keys::SigningKey { id: key.id.clone(), private_key: sealed, created_ms: now_ms };
        signing_keys::create(&mut tx, &row).await?;
        signing_keys::delete_older(&mut tx, now_ms - SIGNS_MS - self.token_lifetime_ms - KEPT_MS).await?;
        tx.commit().await?;
        tracing::info!(key = key.id, "a new key signs tokens");
        Ok(key)
    }
}

/// What a key is sealed for.
fn context(id: &str) -> String {
    format!("signing-key:{id}")
}

impl Key {
    fn new(pkcs8: &[u8], created_ms: i64) -> Result<Self, Error> {
        let unusable = |_| Error::Keys("a key is no P-256 key");
        let private = EncodingKey::from_ec_der(pkcs8);
        let mut jwk = Jwk::from_encoding_key(&private, ALGORITHM).map_err(unusable)?;
        let id = jwk.thumbprint(ThumbprintHash::SHA256).map_err(unusable)?;
        jwk.common.key_id = Some(id.clone());
        jwk.common.public_key_use = Some(PublicKeyUse::Signature);
        let public = DecodingKey::from_jwk(&jwk).map_err(unusable)?;
        Ok(Self { id, created_ms, private, public, jwk })
    }
}

/// Takes all keys away: every token that this catalog gave is void within a minute, on every server.
pub async fn discard_keys(db: &Db) -> Result<(), Error> {
    let mut tx = db.begin().await?;
    signing_keys::delete_older(&mut tx, i64::MAX).await?;
    Ok(tx.commit().await?)
}
