//! Issuers of JWTs: their keys, found by discovery, cached, and read again when they change.

use super::claims::Mapping;
use super::error::Error;
use super::fetch;
use super::jwt::{self, Peek, Validity};
use super::verdict::Verdict;
use crate::config::auth::IssuerSettings;
use jsonwebtoken::jwk::{AlgorithmParameters, EllipticCurve, Jwk, PublicKeyUse};
use jsonwebtoken::{Algorithm, DecodingKey};
use reqwest::Client;
use serde::Deserialize;
use serde_json::Value;
use std::sync::Arc;
use tokio::sync::{Mutex, RwLock};
use url::Url;

/// How long an issuer's keys are believed. A key that it withdraws is good here for so long.
const BELIEVED_MS: i64 = 10 * 60 * 1000;

/// How often an issuer is asked at most: by tokens of keys that nobody knows, or while it does not answer.
const ASKED_EVERY_MS: i64 = 5000;

/// Most keys of an issuer that are kept.
const MAX_KEYS: usize = 100;

/// An issuer that the settings name.
#[derive(Debug)]
pub(super) struct Issuer {
    settings: IssuerSettings,
    algorithms: Vec<Algorithm>,
    mapping: Mapping,
    client: Client,
    keys: RwLock<Keys>,
    /// Held by the one that asks the issuer.
    asking: Mutex<()>,
}

#[derive(Debug, Default, Clone)]
struct Keys {
    known: Vec<Arc<Key>>,
    /// When they were last read, epoch milliseconds.
    read_ms: Option<i64>,
    /// When the issuer was last asked, whatever came of it.
    asked_ms: Option<i64>,
}

#[derive(Debug)]
struct Key {
    id: Option<String>,
    /// What the issuer says that it signs with; `None` where it does not say.
    algorithm: Option<Algorithm>,
    family: Family,
    public: DecodingKey,
}

/// What a key's own shape lets it sign with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Family {
    Rsa,
    P256,
    P384,
    Ed25519,
}

impl Family {
    fn of(algorithm: Algorithm) -> Option<Self> {
        use Algorithm as A;
        match algorithm {
            A::RS256 | A::RS384 | A::RS512 | A::PS256 | A::PS384 | A::PS512 => Some(Self::Rsa),
            A::ES256 => Some(Self::P256),
            A::ES384 => Some(Self::P384),
            A::EdDSA => Some(Self::Ed25519),
            // Shared secrets, and whatever comes to be known later.
            _ => None,
        }
    }
}

impl Issuer {
    pub(super) fn new(settings: IssuerSettings, client: Client) -> Self {
        let algorithms = settings.algorithms.iter().filter_map(|name| name.parse().ok()).collect();
        let mapping = Mapping {
            issuer: settings.url.clone(),
            user_claim: settings.user_claim.clone(),
            roles_claim: settings.roles_claim.clone(),
        };
        Self { settings, algorithms, mapping, client, keys: RwLock::default(), asking: Mutex::default() }
    }

    /// What its tokens have in `iss`.
    pub(super) fn url(&self) -> &str {
        &self.settings.url
    }

    /// Whose token it is, if this issuer signed it and it is good.
    pub(super) async fn verdict(&self, token: &str, peek: &Peek, now_ms: i64, skew_s: u32) -> Result<Verdict, Error> {
        let algorithm = peek.algorithm.parse().ok().filter(|algorithm| self.algorithms.contains(algorithm));
        let algorithm = algorithm.ok_or_else(|| {
            let expected = self.settings.algorithms.join(", ");
            Error::Refused(format!("it is not signed with {expected}"))
        })?;
        let unknown = || Error::refused("its issuer has no such key");
        let check =
            |key: Arc<Key>| jwt::verify(token, &key.public, algorithm, &self.settings.url, &self.settings.audience);
        let key = self.key(peek.key_id.as_deref(), algorithm, now_ms).await?;
        let claims = match check(key.ok_or_else(unknown)?) {
            // Its name would have told whether the key is a new one.
            Err(_) if peek.key_id.is_none() && self.doubt(now_ms).await => {
                check(self.key(None, algorithm, now_ms).await?.ok_or_else(unknown)?)?
            }
            checked => checked?,
        };
        let validity = Validity::of(&claims)?;
        validity.check(now_ms, skew_s)?;
        let principal = Arc::new(self.mapping.principal(&claims)?);
        Ok(Verdict { principal, validity: Some(validity), stamp: None })
    }

    /// The key that a token names. A token that names none is checked with the only key that fits.
    async fn key(&self, id: Option<&str>, algorithm: Algorithm, now_ms: i64) -> Result<Option<Arc<Key>>, Error> {
        let found = self.keys.read().await.find(id, algorithm, now_ms);
        let (_turn, stale) = match found {
            Found::Fresh(key) => return Ok(Some(key)),
            // Nobody waits for an issuer whose key is known.
            Found::Stale(key) => match self.asking.try_lock() {
                Ok(turn) => (turn, Some(key)),
                Err(_) => return Ok(Some(key)),
            },
            Found::Nothing => (self.asking.lock().await, None),
        };
        let keys = self.keys.read().await.clone();
        if let Found::Fresh(key) = keys.find(id, algorithm, now_ms) {
            return Ok(Some(key));
        }
        if since(keys.asked_ms, now_ms) < ASKED_EVERY_MS {
            if stale.is_none() && keys.read_ms.is_none() {
                return Err(self.silent("it did not answer a moment ago".into()));
            }
            return Ok(stale);
        }
        self.keys.write().await.asked_ms = Some(now_ms);
        match (self.read().await, stale) {
            (Ok(known), _) => {
                let keys = Keys { known, read_ms: Some(now_ms), asked_ms: Some(now_ms) };
                let found = keys.find(id, algorithm, now_ms);
                *self.keys.write().await = keys;
                Ok(found.key())
            }
            // An issuer that is away for a while does not lock out those whom it vouched for.
            (Err(Error::Unavailable { who, source }), Some(key)) => {
                tracing::warn!(who, cause = %source, "an issuer's keys cannot be read again");
                Ok(Some(key))
            }
            (Err(error), _) => Err(error),
        }
    }

    /// Believes its keys no longer, unless the issuer was asked a moment ago.
    async fn doubt(&self, now_ms: i64) -> bool {
        let mut keys = self.keys.write().await;
        let old = since(keys.asked_ms, now_ms) >= ASKED_EVERY_MS;
        if old {
            keys.read_ms = None;
        }
        old
    }

    async fn read(&self) -> Result<Vec<Arc<Key>>, Error> {
        #[derive(Deserialize)]
        struct KeySet {
            keys: Vec<Value>,
        }
        let url = match &self.settings.jwks_url {
            Some(url) => url.clone(),
            None => self.discover().await?,
        };
        let set: KeySet = fetch::get(&self.client, &url).await?;
        // One key that is not understood does not hide the others.
        Ok(set.keys.into_iter().filter_map(Key::parse).take(MAX_KEYS).map(Arc::new).collect())
    }

    /// Where its keys are (`OpenID Connect Discovery`, 4).
    async fn discover(&self) -> Result<String, Error> {
        #[derive(Deserialize)]
        struct Discovered {
            issuer: String,
            jwks_uri: String,
        }
        let issuer = self.url();
        let url = format!("{}/.well-known/openid-configuration", issuer.trim_end_matches('/'));
        let found: Discovered = fetch::get(&self.client, &url).await?;
        if found.issuer != issuer {
            return Err(self.silent(format!("its document is that of {}", found.issuer).into()));
        }
        let is_encrypted = |url: &str| Url::parse(url).is_ok_and(|url| url.scheme() == "https");
        if is_encrypted(issuer) && !is_encrypted(&found.jwks_uri) {
            return Err(self.silent("its jwks_uri is no https address".into()));
        }
        Ok(found.jwks_uri)
    }

    fn silent(&self, source: super::error::Cause) -> Error {
        Error::Unavailable { who: self.settings.url.clone(), source }
    }
}

/// What is known of a key.
enum Found {
    Fresh(Arc<Key>),
    /// It was read long ago.
    Stale(Arc<Key>),
    Nothing,
}

impl Found {
    fn key(self) -> Option<Arc<Key>> {
        match self {
            Self::Fresh(key) | Self::Stale(key) => Some(key),
            Self::Nothing => None,
        }
    }
}

impl Keys {
    fn find(&self, id: Option<&str>, algorithm: Algorithm, now_ms: i64) -> Found {
        let mut fitting = self.known.iter().filter(|key| key.fits(algorithm));
        let found = match id {
            Some(id) => fitting.find(|key| key.id.as_deref() == Some(id)),
            None => fitting.next().filter(|_| fitting.next().is_none()),
        };
        match found.map(Arc::clone) {
            Some(key) if since(self.read_ms, now_ms) < BELIEVED_MS => Found::Fresh(key),
            Some(key) => Found::Stale(key),
            None => Found::Nothing,
        }
    }
}

fn since(then_ms: Option<i64>, now_ms: i64) -> i64 {
    // A clock that was set back must not make anything fresh for ever.
    then_ms.map_or(i64::MAX, |then| now_ms.saturating_sub(then).saturating_abs())
}

impl Key {
    /// A public key that signs; `None` for what is not, or is not understood.
    fn parse(value: Value) -> Option<Self> {
        let jwk: Jwk = serde_json::from_value(value).ok()?;
        if !matches!(jwk.common.public_key_use, None | Some(PublicKeyUse::Signature)) {
            return None;
        }
        let family = match &jwk.algorithm {
            AlgorithmParameters::RSA(_) => Family::Rsa,
            AlgorithmParameters::EllipticCurve(key) if key.curve == EllipticCurve::P256 => Family::P256,
            AlgorithmParameters::EllipticCurve(key) if key.curve == EllipticCurve::P384 => Family::P384,
            AlgorithmParameters::OctetKeyPair(key) if key.curve == EllipticCurve::Ed25519 => Family::Ed25519,
            // A shared secret in a public document is none.
            _ => return None,
        };
        let algorithm = jwk.common.key_algorithm.map(Algorithm::try_from).transpose().ok()?;
        let public = DecodingKey::from_jwk(&jwk).ok()?;
        Some(Self { id: jwk.common.key_id, algorithm, family, public })
    }

    fn fits(&self, algorithm: Algorithm) -> bool {
        Family::of(algorithm) == Some(self.family) && self.algorithm.is_none_or(|only| only == algorithm)
    }
}
