//! Settings of TLS. In the TOML file they stand in the table `[tls]`.

use super::Error;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// What can be set of TLS.
#[derive(Debug, Clone, Default, clap::Args, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TlsSettings {
    /// PEM file of the server's certificate and those that vouch for it; with it, and `--tls-key`, the server speaks
    /// HTTPS alone. In the file: `cert` in `[tls]` [default: none]
    #[arg(long = "tls-cert", env = "GUILLEMOT_TLS_CERT", global = true, value_name = "FILE")]
    pub cert: Option<PathBuf>,
    /// PEM file of the certificate's private key. In the file: `key` in `[tls]` [default: none]
    #[arg(long = "tls-key", env = "GUILLEMOT_TLS_KEY", global = true, value_name = "FILE")]
    pub key: Option<PathBuf>,
}

/// The files in force.
#[derive(Debug, Clone, Serialize)]
pub struct TlsConfig {
    /// The certificate and those that vouch for it.
    pub cert: PathBuf,
    /// The private key.
    pub key: PathBuf,
}

impl TlsSettings {
    /// These settings, with what they leave out taken from `other`.
    pub(super) fn or(self, other: Self) -> Self {
        Self { cert: self.cert.or(other.cert), key: self.key.or(other.key) }
    }

    pub(super) fn resolve(self) -> Result<Option<TlsConfig>, Error> {
        let named = |file: Option<PathBuf>| file.filter(|file| !file.as_os_str().is_empty());
        let half = |key, expected, found: PathBuf| Error::Value { key, expected, found: found.display().to_string() };
        match (named(self.cert), named(self.key)) {
            (None, None) => Ok(None),
            (Some(cert), Some(key)) => Ok(Some(TlsConfig { cert, key })),
            (Some(cert), None) => Err(half("tls-cert", "tls-key beside it", cert)),
            (None, Some(key)) => Err(half("tls-key", "tls-cert beside it", key)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_file_without_the_other_is_refused() {
        let settings = |cert: &str, key: &str| TlsSettings { cert: Some(cert.into()), key: Some(key.into()) };
        assert!(settings("", "").resolve().unwrap().is_none());
        assert!(settings("a", "b").resolve().unwrap().is_some());
        let refused = settings("a", "").resolve().unwrap_err().to_string();
        assert_eq!(refused, "tls-cert: expected tls-key beside it, found `a`");
    }
}
