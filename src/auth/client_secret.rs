//! Client secrets: random, shown once, and kept as argon2id hashes.

use super::secret::random;
use argon2::{Argon2, PasswordHasher, PasswordVerifier};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::sync::Semaphore;

/// Marks our secrets, so that scanners of source code can find one that was left there.
const PREFIX: &str = "gms_";

/// Longest text that is hashed; ours are shorter.
const MAX_BYTES: usize = 256;

/// How many are hashed at once: each takes a thread, 19 MiB and some 20 ms.
const AT_ONCE: usize = 2;

/// How long a client waits for its turn.
const PATIENCE: Duration = Duration::from_secs(5);

/// Checks secrets, a few at a time.
#[derive(Debug)]
pub(super) struct Checker(Arc<Semaphore>);

/// Why a secret was not looked at.
#[derive(Debug)]
pub(super) struct TooMany;

impl Default for Checker {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(AT_ONCE)))
    }
}

impl Checker {
    /// Whether the secret is the hashed one. Without a hash it is not, and it takes as long to say so: the time tells
    /// nobody which names exist.
    pub(super) async fn is(&self, secret: &str, hash: Option<&str>) -> Result<bool, TooMany> {
        if secret.len() > MAX_BYTES {
            return Ok(false);
        }
        let turn = tokio::time::timeout(PATIENCE, Arc::clone(&self.0).acquire_owned()).await;
        let turn = turn.map_err(|_| TooMany)?.map_err(|_| TooMany)?;
        let (secret, hash) = (secret.to_owned(), hash.map(str::to_owned));
        let checked = tokio::task::spawn_blocking(move || {
            // Held until the work is done, even when the client that asked is gone.
            let _turn = turn;
            let known = hash.is_some();
            let hash = hash.or_else(|| nobodys_hash().map(str::to_owned)).unwrap_or_default();
            Argon2::default().verify_password(secret.as_bytes(), hash.as_str()).is_ok() && known
        });
        checked.await.map_err(|_| TooMany)
    }
}

/// A new secret and its hash.
pub(super) fn make() -> Option<(String, String)> {
    let secret = format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(random::<32>()?));
    let hash = hash(&secret)?;
    Some((secret, hash))
}

fn hash(secret: &str) -> Option<String> {
    // argon2id with the crate's own cost, which is OWASP's: 19 MiB, two passes.
    let hash = Argon2::default().hash_password_with_salt(secret.as_bytes(), &random::<16>()?).ok()?;
    Some(hash.to_string())
}

fn nobodys_hash() -> Option<&'static str> {
    static HASH: OnceLock<Option<String>> = OnceLock::new();
    HASH.get_or_init(|| make().map(|(_, hash)| hash)).as_deref()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_secret_is_known_by_its_hash_alone() {
        let (secret, hash) = make().unwrap();
        assert!(hash.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{hash}");
        let checker = Checker::default();
        assert!(checker.is(&secret, Some(&hash)).await.unwrap());
        for wrong in ["", "x", &secret[1..], &"x".repeat(10_000)] {
            assert!(!checker.is(wrong, Some(&hash)).await.unwrap());
        }
        assert!(!checker.is(&secret, None).await.unwrap());
        assert!(!checker.is(&secret, Some("no hash")).await.unwrap());
    }
}
