//! Secrets at rest: sealed with a key that is not in the database.
//!
//! AES-256-GCM with a fresh random nonce each time. A sealed text is bound to its context (which row, which purpose), so
//! one that is copied into another row does not open there. It names the key that sealed it: the first key seals, all
//! open, and so keys rotate.

use aws_lc_rs::aead::{AES_256_GCM, Aad, NONCE_LEN, Nonce, RandomizedNonceKey};
use aws_lc_rs::digest::{SHA256, digest};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use std::fmt;

/// The form of a sealed text: `v1.KEY-ID.BASE64(nonce, ciphertext, tag)`.
const FORM: &str = "v1";

/// Bytes of a key.
const KEY_BYTES: usize = 32;

/// Why something cannot be sealed or opened. No text of it holds a key or a secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// No key is set.
    #[error("no key to seal secrets with: set GUILLEMOT_SECRET_KEY or --secret-key-file")]
    NoKey,
    /// A key is not 32 bytes in base64.
    #[error("secret key {number}: expected 32 bytes in base64, as `openssl rand -base64 32` prints them")]
    BadKey {
        /// Which one, from 1.
        number: usize,
    },
    /// The key that sealed this is not among those that are set.
    #[error("a secret was sealed with key {0}, which is not among the keys that are set in GUILLEMOT_SECRET_KEY")]
    UnknownKey(String),
    /// The text was changed, cut, or sealed for something else.
    #[error("a sealed secret does not open: it was changed, or belongs to something else")]
    Damaged,
}

/// Seals and opens secrets.
#[derive(Default)]
pub struct Sealer {
    keys: Vec<Key>,
}

struct Key {
    id: String,
    cipher: RandomizedNonceKey,
}

impl fmt::Debug for Sealer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ids: Vec<&str> = self.keys.iter().map(|key| key.id.as_str()).collect();
        f.debug_struct("Sealer").field("keys", &ids).finish()
    }
}

impl Sealer {
    /// Takes keys in base64, separated by commas or white space: the first one seals, all open. None at all is a sealer
    /// that refuses.
    pub fn new(keys: &str) -> Result<Self, Error> {
        let texts = keys.split([',', ' ', '\t', '\r', '\n']).filter(|text| !text.is_empty());
        let keys = texts.enumerate().map(|(at, text)| Key::parse(text).ok_or(Error::BadKey { number: at + 1 }));
        Ok(Self { keys: keys.collect::<Result<_, _>>()? })
    }

    /// Whether there is a key.
    pub fn is_ready(&self) -> bool {
        !self.keys.is_empty()
    }

    /// Seals a secret for a context, such as `warehouse-storage:ID`.
    pub fn seal(&self, context: &str, plain: &[u8]) -> Result<String, Error> {
        let key = self.keys.first().ok_or(Error::NoKey)?;
        let mut sealed = plain.to_vec();
        let nonce = key.cipher.seal_in_place_append_tag(Aad::from(context.as_bytes()), &mut sealed);
        let nonce = nonce.map_err(|_| Error::Damaged)?;
        let bytes = [nonce.as_ref().as_slice(), &sealed].concat();
        Ok(format!("{FORM}.{}.{}", key.id, URL_SAFE_NO_PAD.encode(bytes)))
    }

    /// Opens what was sealed for the same context.
    pub fn open(&self, context: &str, sealed: &str) -> Result<Vec<u8>, Error> {
        if self.keys.is_empty() {
            return Err(Error::NoKey);
        }
        let mut parts = sealed.splitn(3, '.');
        let (Some(FORM), Some(id), Some(text)) = (parts.next(), parts.next(), parts.next()) else {
            return Err(Error::Damaged);
        };
        let key = self.keys.iter().find(|key| key.id == id).ok_or_else(|| Error::UnknownKey(id.to_owned()))?;
        let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_| Error::Damaged)?;
        let (nonce, rest) = bytes.split_at_checked(NONCE_LEN).ok_or(Error::Damaged)?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).map_err(|_| Error::Damaged)?;
        let mut rest = rest.to_vec();
        let plain = key.cipher.open_in_place(nonce, Aad::from(context.as_bytes()), &mut rest);
        Ok(plain.map_err(|_| Error::Damaged)?.to_vec())
    }
}

impl Key {
    fn parse(text: &str) -> Option<Self> {
        let bytes = STANDARD.decode(text).or_else(|_| STANDARD_NO_PAD.decode(text));
        let bytes = bytes.or_else(|_| URL_SAFE_NO_PAD.decode(text.trim_end_matches('='))).ok()?;
        if bytes.len() != KEY_BYTES {
            return None;
        }
        // Enough of the key's hash to tell keys apart, and nothing to find it by.
        let hash = digest(&SHA256, &[b"guillemot key id:".as_slice(), &bytes].concat());
        let id = URL_SAFE_NO_PAD.encode(hash.as_ref().first_chunk::<6>()?);
        Some(Self { id, cipher: RandomizedNonceKey::new(&AES_256_GCM, &bytes).ok()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
    const NEW: &str = "__79_Pv6-fj39vX08_Lx8O_u7ezr6uno5-bl5OPi4eA=";

    fn sealer(keys: &str) -> Sealer {
        Sealer::new(keys).unwrap()
    }

    #[test]
    fn what_is_sealed_opens_in_its_context_alone() {
        let ours = sealer(OLD);
        let sealed = ours.seal("warehouse-storage:1", b"hunter2").unwrap();
        assert!(sealed.starts_with("v1.") && !sealed.contains("hunter2"));
        assert_eq!(ours.open("warehouse-storage:1", &sealed).unwrap(), b"hunter2");
        assert_eq!(ours.open("warehouse-storage:2", &sealed), Err(Error::Damaged));
        assert_ne!(sealed, ours.seal("warehouse-storage:1", b"hunter2").unwrap(), "a nonce is used once");
    }

    #[test]
    fn what_was_changed_does_not_open() {
        let ours = sealer(OLD);
        let sealed = ours.seal("c", b"hunter2").unwrap();
        for at in 0..sealed.len() {
            let mut bytes = sealed.clone().into_bytes();
            bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
            let changed = String::from_utf8(bytes).unwrap();
            assert!(ours.open("c", &changed).is_err(), "{changed}");
            assert!(ours.open("c", &sealed[..at]).is_err());
        }
    }

    #[test]
    fn keys_rotate() {
        let sealed = sealer(OLD).seal("c", b"hunter2").unwrap();
        let rotated = sealer(&format!("{NEW},{OLD}"));
        assert_eq!(rotated.open("c", &sealed).unwrap(), b"hunter2");
        let again = rotated.seal("c", b"hunter2").unwrap();
        assert_eq!(sealer(NEW).open("c", &again).unwrap(), b"hunter2");
        let refusal = sealer(NEW).open("c", &sealed).unwrap_err().to_string();
        assert!(refusal.contains("GUILLEMOT_SECRET_KEY"), "{refusal}");
    }

    #[test]
    fn without_a_key_nothing_is_sealed() {
        for none in ["", " \n", ","] {
            assert!(!sealer(none).is_ready());
            assert_eq!(sealer(none).seal("c", b"x"), Err(Error::NoKey));
            assert_eq!(sealer(none).open("c", "v1.x.y"), Err(Error::NoKey));
        }
        assert!(Error::NoKey.to_string().contains("GUILLEMOT_SECRET_KEY"));
    }

    #[test]
    fn a_key_has_32_bytes_and_is_never_shown() {
        for bad in ["hunter2", "AAECAwQFBgcICQoLDA0ODw==", &format!("{OLD} x")] {
            let error = Sealer::new(bad).unwrap_err();
            assert!(matches!(error, Error::BadKey { .. }) && !error.to_string().contains(bad));
        }
        assert!(!format!("{:?}", sealer(OLD)).contains(&OLD[..8]));
    }
}
