//! The tokens that this catalog gives to its own identities: short-lived JWTs, void as soon as their identity changes.

use super::client_secret::Checker;
use super::error::{Error, GrantError};
use super::jwt::{self, Fault, Validity};
use super::sealed::Sealer;
use super::secret::random;
use super::signing::{self, SigningKeys};
use super::verdict::{Stamp, Verdict};
use super::{Principal, google_key};
use crate::config::AuthConfig;
use crate::store::Db;
use crate::store::identities::{self, Credential, Identity, Status};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::jwk::{Jwk, JwkSet};
use jsonwebtoken::{Algorithm, DecodingKey, Header, encode};
use moka::future::Cache;
use serde_json::{Value, json};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// `iss` and `aud` of our tokens. They are checked with our own keys, which no other catalog has.
pub(super) const ISSUER: &str = "guillemot";

/// How long a server may not notice that an identity was changed by another process.
const IDENTITY_TTL: Duration = Duration::from_secs(3);

/// Longest life that an assertion may have: Google's own limit.
const ASSERTION_S: i64 = 3600;

/// Google's libraries for Java and Python write this into their assertions, whatever the key file's `token_uri` says. It
/// does no harm: the key is one that this catalog made, and no other server takes what it signs.
const GOOGLES_AUDIENCE: &str = "https://oauth2.googleapis.com/token";

/// The database and the time of a request.
#[derive(Debug, Clone, Copy)]
pub struct At<'a> {
    /// The database.
    pub db: &'a Db,
    /// Now, epoch milliseconds.
    pub now_ms: i64,
}

/// A token that was given.
pub struct Issued {
    /// The token.
    pub token: String,
    /// Seconds that it is good for.
    pub expires_in_s: u32,
    /// To whom.
    pub name: String,
}

/// A client that shows its id and secret.
#[derive(Clone, Copy)]
pub struct Client<'a> {
    /// The identity's name.
    pub id: &'a str,
    /// Its secret.
    pub secret: &'a str,
}

impl fmt::Debug for Issued {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Issued").field("name", &self.name).finish_non_exhaustive()
    }
}

impl fmt::Debug for Client<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("id", &self.id).finish_non_exhaustive()
    }
}

/// Whom an assertion claims to be of, true or not.
pub fn claimed_name(assertion: &str) -> Option<String> {
    jwt::peek(assertion)?.issuer.as_deref().and_then(google_key::name_in).map(str::to_owned)
}

/// Gives tokens to built-in identities, and knows them again.
#[derive(Debug)]
pub struct Identities {
    keys: SigningKeys,
    secrets: Checker,
    known: Cache<String, Option<Arc<Identity>>>,
    lifetime_s: u32,
    skew_s: u32,
}

impl Identities {
    pub(super) fn new(sealer: Arc<Sealer>, config: &AuthConfig) -> Self {
        Self {
            keys: SigningKeys::new(sealer, config.token_lifetime_s),
            secrets: Checker::default(),
            known: Cache::builder().max_capacity(10_000).time_to_live(IDENTITY_TTL).build(),
            lifetime_s: config.token_lifetime_s,
            skew_s: config.clock_skew_s,
        }
    }

    /// The public halves of the keys that sign tokens.
    pub async fn public_keys(&self, at: At<'_>) -> Result<JwkSet, Error> {
        self.keys.public(at.db, at.now_ms).await
    }

    /// A token for a client that knows its secret.
    pub async fn by_secret(&self, at: At<'_>, client: Client<'_>) -> Result<Issued, GrantError> {
        let identity = self.client(at, client).await?;
        Ok(self.issue(at, &identity, None).await?)
    }

    /// A fresh token for one that is still good; for any of its own, if the client also shows its secret.
    pub async fn by_exchange(
        &self,
        at: At<'_>,
        subject_token: &str,
        client: Option<Client<'_>>,
    ) -> Result<Issued, GrantError> {
        let Some(client) = client else {
            let (claims, validity, key_id) = self.read(at, subject_token).await?;
            validity.check(at.now_ms, self.skew_s)?;
            let stamp = Stamp::of(&claims)?;
            let identity = self.fresh(at, &stamp).await?;
            return Ok(self.issue(at, &identity, Some(&key_id)).await?);
        };
        let identity = self.client(at, client).await?;
        let (claims, ..) = self.read(at, subject_token).await?;
        if Stamp::of(&claims)?.name != identity.name {
            return Err(GrantError::InvalidGrant("the token is not the client's own".to_owned()));
        }
        Ok(self.issue(at, &identity, None).await?)
    }

    /// A token for a statement that is signed with the key of a key file (RFC 7523).
    pub async fn by_assertion(&self, at: At<'_>, assertion: &str) -> Result<Issued, GrantError> {
        let refused = |reason: &str| GrantError::InvalidGrant(format!("the assertion is not accepted: {reason}"));
        let peek = jwt::peek(assertion).ok_or_else(|| refused("it is no JWT"))?;
        let name = peek.issuer.as_deref().and_then(google_key::name_in);
        let name = name.ok_or_else(|| refused("its iss is no client_email of this catalog"))?;
        let unknown = || refused("no key of this identity has signed it");
        let identity = identities::load(at.db, name).await?.filter(|identity| identity.status == Status::Active);
        let identity = identity.ok_or_else(unknown)?;
        let Credential::Key(key) = &identity.credential else { return Err(unknown()) };
        if peek.key_id.is_some_and(|id| id != key.id) {
            return Err(unknown());
        }
        let public = serde_json::from_str::<Jwk>(&key.jwk).ok().and_then(|jwk| DecodingKey::from_jwk(&jwk).ok());
        let public = public.ok_or(GrantError::Failed(Error::Keys("a public key in the database is none")))?;
        let email = google_key::email_of(name);
        let audience = [key.token_uri.clone(), GOOGLES_AUDIENCE.to_owned()];
        // Whether there is such an identity is nobody's business who has not its key.
        let claims =
            jwt::verify(assertion, &public, Algorithm::RS256, &email, &audience).map_err(|fault| match fault {
                Fault::Unsigned(_) => unknown(),
                claim @ Fault::Claim(_) => Error::from(claim).into(),
            })?;
        // Who speaks for somebody else, as Google's accounts may in a domain, does so nowhere here.
        if claims.get("sub").is_some_and(|sub| sub.as_str() != Some(email.as_str())) {
            return Err(refused("its sub is another than its iss"));
        }
        let validity = Validity::of(&claims)?;
        validity.check(at.now_ms, self.skew_s)?;
        if validity.until_s > at.now_ms / 1000 + ASSERTION_S + i64::from(self.skew_s) {
            return Err(refused("it is valid for longer than an hour"));
        }
        Ok(self.issue(at, &identity, None).await?)
    }

    /// Whose token it is, if it is one of ours and good.
    pub(super) async fn verdict(&self, at: At<'_>, token: &str) -> Result<Verdict, Error> {
        let (claims, validity, _) = self.read(at, token).await?;
        validity.check(at.now_ms, self.skew_s)?;
        let stamp = Stamp::of(&claims)?;
        self.check(at, &stamp).await?;
        let principal = Principal { name: format!("identity:{}", stamp.name), roles: Vec::new(), unrestricted: false };
        Ok(Verdict { principal: Arc::new(principal), validity: Some(validity), stamp: Some(stamp) })
    }

    /// Whether the identity is what it was when the token was given, as far as this server knows.
    pub(super) async fn check(&self, at: At<'_>, stamp: &Stamp) -> Result<(), Error> {
        match self.known(at, &stamp.name).await? {
            Some(identity) if stamp.is_of(&identity) => Ok(()),
            _ => Err(revoked()),
        }
    }

    async fn known(&self, at: At<'_>, name: &str) -> Result<Option<Arc<Identity>>, Error> {
        if let Some(known) = self.known.get(name).await {
            return Ok(known);
        }
        let row = identities::load(at.db, name).await?.map(Arc::new);
        self.known.insert(name.to_owned(), row.clone()).await;
        Ok(row)
    }

    /// The identity as it is now, if it is what it was when the token was given.
    async fn fresh(&self, at: At<'_>, stamp: &Stamp) -> Result<Identity, Error> {
        let identity = identities::load(at.db, &stamp.name).await?;
        identity.filter(|identity| stamp.is_of(identity)).ok_or_else(revoked)
    }

    async fn client(&self, at: At<'_>, client: Client<'_>) -> Result<Identity, GrantError> {
        let identity = identities::load(at.db, client.id).await?.filter(|identity| identity.status == Status::Active);
        let hash = match identity.as_ref().map(|identity| &identity.credential) {
            Some(Credential::Secret { hash }) => Some(hash.as_str()),
            Some(Credential::Key(_)) | None => None,
        };
        let right = self.secrets.is(client.secret, hash).await.map_err(|_| GrantError::Busy)?;
        let identity = identity.filter(|_| right);
        identity.ok_or(GrantError::InvalidClient("client id and secret are not those of an active identity"))
    }

    /// What one of our tokens claims, and the key that has signed it.
    async fn read(&self, at: At<'_>, token: &str) -> Result<(jwt::Claims, Validity, String), Error> {
        let peek = jwt::peek(token).ok_or_else(|| Error::refused("it is no JWT"))?;
        if peek.issuer.as_deref() != Some(ISSUER) {
            return Err(Error::refused("it is not one of this catalog's"));
        }
        let id = peek.key_id.ok_or_else(|| Error::refused("it names no key"))?;
        let key = self.keys.find(at.db, &id, at.now_ms).await?;
        let key = key.ok_or_else(|| Error::refused("this catalog has no key of that name"))?;
        let claims = jwt::verify(token, &key.public, signing::ALGORITHM, ISSUER, &[ISSUER.to_owned()])?;
        let validity = Validity::of(&claims)?;
        Ok((claims, validity, id))
    }

    /// A token for an identity; where it is for another token, that one's key must still be there.
    async fn issue(&self, at: At<'_>, identity: &Identity, for_one_of: Option<&str>) -> Result<Issued, Error> {
        let key = self.keys.newest(at.db, at.now_ms, for_one_of).await?;
        let key = key.ok_or_else(|| Error::refused("this catalog has no key of that name"))?;
        let mut header = Header::new(signing::ALGORITHM);
        header.typ = Some("at+jwt".to_owned());
        header.kid = Some(key.id.clone());
        let now_s = at.now_ms.div_euclid(1000);
        let id = random::<16>().ok_or(Error::Keys("no random bytes"))?;
        let claims: Value = json!({
            "iss": ISSUER,
            "aud": ISSUER,
            "sub": identity.name,
            "ver": identity.version,
            "iat": now_s,
            "exp": now_s + i64::from(self.lifetime_s),
            "jti": URL_SAFE_NO_PAD.encode(id),
        });
        let token = encode(&header, &claims, &key.private).map_err(|_| Error::Keys("no token could be signed"))?;
        Ok(Issued { token, expires_in_s: self.lifetime_s, name: identity.name.clone() })
    }
}

fn revoked() -> Error {
    Error::refused("its identity was revoked, or has another credential now")
}
