//! From a request's `Authorization` header to a principal.

use super::Principal;
use super::error::Error;
use super::google::Google;
use super::introspect::Introspection;
use super::issuer::Issuer;
use super::sealed::Sealer;
use super::secret::SecretKeyError;
use super::token::{self, At, Identities};
use super::verdict::Verdict;
use super::{fetch, jwt};
use crate::config::AuthConfig;
use crate::config::auth::Method;
use crate::store::{self, Db, Page, identities};
use moka::future::Cache;
use sha2::{Digest, Sha256};
use std::sync::Arc;
use std::time::Duration;

/// Longest token, in bytes. Those of large providers, full of groups, have about 8 KiB.
const MAX_TOKEN: usize = 16 * 1024;

/// How long a verdict on a token is believed. What can change faster, its expiry and its identity, is looked at each
/// time.
const BELIEVED: Duration = Duration::from_mins(1);

/// How long it is believed that an opaque token is refused.
const REFUSED: Duration = Duration::from_secs(10);

/// How many verdicts are kept.
const KEPT: u64 = 10_000;

/// The SHA-256 of a token: tokens themselves are not kept.
type Hash = [u8; 32];

/// Finds out who is calling.
#[derive(Debug)]
pub struct Auth {
    methods: Vec<Method>,
    identities: Option<Identities>,
    issuers: Vec<Issuer>,
    introspection: Option<Introspection>,
    google: Option<Google>,
    /// Why an opaque token was refused, for a moment: whoever sends one again and again shall not make this server ask
    /// others again and again.
    refused: Cache<Hash, String>,
    verdicts: Cache<Hash, Arc<Verdict>>,
    skew_s: u32,
}

/// Why authentication cannot be set up.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// There is no key to keep signing keys under.
    #[error(transparent)]
    SecretKey(#[from] SecretKeyError),
    /// There is no TLS to ask others with.
    #[error("no HTTP client could be made")]
    Client(#[source] reqwest::Error),
    /// The database does not say whether there are identities.
    #[error(transparent)]
    Store(#[from] store::Error),
}

impl Auth {
    /// Sets up what the settings say. Where they say nothing, the first identity turns authentication on.
    pub async fn start(config: &AuthConfig, sealer: Arc<Sealer>, db: &Db) -> Result<Self, SetupError> {
        let methods = if config.methods.is_empty() { vec![unsaid(db).await?] } else { config.methods.clone() };
        let identities = match methods.contains(&Method::Identities) {
            true if !sealer.is_ready() => return Err(SecretKeyError::Missing.into()),
            true => Some(Identities::new(sealer, config)),
            false => None,
        };
        let client = fetch::client().map_err(SetupError::Client)?;
        let on = |method: Method| methods.contains(&method);
        let issuers = config.issuers.iter().filter(|_| on(Method::Issuers));
        let introspection = config.introspection.as_ref().filter(|_| on(Method::Introspection));
        Ok(Self {
            identities,
            issuers: issuers.map(|issuer| Issuer::new(issuer.clone(), client.clone())).collect(),
            introspection: introspection.map(|server| Introspection::new(server.clone(), client.clone())),
            google: on(Method::Google).then(|| Google::new(config.google.clone(), client.clone())),
            methods,
            refused: Cache::builder().max_capacity(KEPT).time_to_live(REFUSED).build(),
            verdicts: Cache::builder().max_capacity(KEPT).time_to_live(BELIEVED).build(),
            skew_s: config.clock_skew_s,
        })
    }

    /// Whether nobody has to say who they are.
    pub fn is_open(&self) -> bool {
        self.methods.contains(&Method::None)
    }

    /// What is on.
    pub fn methods(&self) -> &[Method] {
        &self.methods
    }

    /// The built-in identities, if they are on.
    pub fn identities(&self) -> Option<&Identities> {
        self.identities.as_ref()
    }

    /// Who is calling.
    ///
    /// # Errors
    /// [`Error::NoToken`], [`Error::Refused`] and [`Error::Expired`] for a caller that is not let in; the others if
    /// that cannot be known now.
    pub async fn principal(&self, at: At<'_>, authorization: Option<&str>) -> Result<Arc<Principal>, Error> {
        if self.is_open() {
            return Ok(Arc::new(Principal::anonymous()));
        }
        let token = bearer(authorization.ok_or(Error::NoToken)?)?;
        let hash: Hash = Sha256::digest(token).into();
        if let Some(verdict) = self.verdicts.get(&hash).await {
            self.still_holds(at, &verdict).await?;
            return Ok(Arc::clone(&verdict.principal));
        }
        if let Some(reason) = self.refused.get(&hash).await {
            return Err(Error::Refused(reason));
        }
        let verdict = self.judge(at, token, &hash).await?;
        let principal = Arc::clone(&verdict.principal);
        self.verdicts.insert(hash, Arc::new(verdict)).await;
        Ok(principal)
    }

    async fn judge(&self, at: At<'_>, token: &str, hash: &Hash) -> Result<Verdict, Error> {
        let jwt = jwt::peek(token);
        let issuer = jwt.as_ref().and_then(|jwt| jwt.issuer.as_deref());
        if let Some(identities) = self.identities.as_ref().filter(|_| issuer == Some(token::ISSUER)) {
            return identities.verdict(at, token).await;
        }
        if let Some(jwt) = &jwt
            && let Some(issuer) = self.issuers.iter().find(|known| issuer == Some(known.url()))
        {
            return issuer.verdict(token, jwt, at.now_ms, self.skew_s).await;
        }
        let unknown = match (&jwt, issuer) {
            (None, _) => "it is no JWT",
            (Some(_), None) => "it is a JWT that names no issuer",
            (Some(_), Some(_)) => "this server does not know its issuer",
        };
        let verdict = self.look_up(at, token, jwt.is_some()).await;
        if let Some(Err(Error::Refused(reason))) = &verdict {
            self.refused.insert(*hash, reason.clone()).await;
        }
        verdict.unwrap_or_else(|| Err(Error::refused(unknown)))
    }

    /// Asks those who know tokens that say nothing of themselves. `None` if there is nobody to ask.
    async fn look_up(&self, at: At<'_>, token: &str, is_jwt: bool) -> Option<Result<Verdict, Error>> {
        let mut verdict = None;
        if let Some(server) = &self.introspection {
            verdict = Some(server.verdict(token, at.now_ms, self.skew_s).await);
        }
        // Google's access tokens are no JWTs.
        if let Some(google) = self.google.as_ref().filter(|_| !is_jwt && !matches!(verdict, Some(Ok(_)))) {
            let second = google.verdict(token, at.now_ms, self.skew_s).await;
            // One who cannot be asked might have known it.
            if second.is_ok() || !matches!(verdict, Some(Err(Error::Unavailable { .. }))) {
                verdict = Some(second);
            }
        }
        verdict
    }

    async fn still_holds(&self, at: At<'_>, verdict: &Verdict) -> Result<(), Error> {
        if let Some(validity) = &verdict.validity {
            validity.check(at.now_ms, self.skew_s)?;
        }
        match (&verdict.stamp, &self.identities) {
            (Some(stamp), Some(identities)) => identities.check(at, stamp).await,
            _ => Ok(()),
        }
    }
}

async fn unsaid(db: &Db) -> Result<Method, store::Error> {
    let one = identities::list(db, &Page { after: None, limit: Some(1) }).await?;
    Ok(if one.items.is_empty() { Method::None } else { Method::Identities })
}

/// The token of an `Authorization` header.
fn bearer(authorization: &str) -> Result<&str, Error> {
    let (scheme, token) = authorization.trim().split_once(' ').unwrap_or((authorization, ""));
    let token = token.trim();
    if !scheme.eq_ignore_ascii_case("Bearer") || token.is_empty() {
        return Err(Error::refused("expected `Bearer TOKEN` in Authorization"));
    }
    if token.len() > MAX_TOKEN {
        return Err(Error::Refused(format!("it is longer than {MAX_TOKEN} bytes")));
    }
    Ok(token)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bearer_token_is_found_in_its_header() {
        for good in ["Bearer abc", "bearer abc", "BEARER   abc "] {
            assert_eq!(bearer(good).unwrap(), "abc", "{good}");
        }
        for bad in
            ["", "Bearer", "Bearer ", "abc", "Basic abc", "Bearerabc", &format!("Bearer {}", "x".repeat(MAX_TOKEN + 1))]
        {
            assert!(bearer(bad).is_err());
        }
    }
}
