//! Settings of authentication. In the TOML file they stand in the table `[auth]`.

mod issuers;

pub use issuers::{GoogleSettings, IntrospectionSettings, IssuerSettings};

use super::Error;
use serde::{Deserialize, Serialize, Serializer};
use std::convert::Infallible;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// One way to find out who is calling. Several may be on; they are tried in the order of this list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// Nobody has to say who they are, and everything is allowed.
    None,
    /// Tokens that this server gave to its own identities.
    Identities,
    /// JWTs of the issuers that `[[auth.issuer]]` names.
    Issuers,
    /// Opaque tokens that the server of `[auth.introspection]` knows (RFC 7662).
    Introspection,
    /// Google's access tokens.
    Google,
}

/// What can be set of authentication.
#[derive(Debug, Clone, Default, clap::Args, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct AuthSettings {
    /// Who is let in, several at once; in the file: `methods` [default: what the file configures; `identities` once
    /// there is one; else `none`, on loopback only]
    #[arg(long = "auth", env = "GUILLEMOT_AUTH", value_delimiter = ',', global = true, value_name = "METHOD")]
    pub methods: Vec<Method>,
    /// Serve without authentication on an address that others may reach [default: false]
    #[arg(long, env = "GUILLEMOT_INSECURE_NO_AUTH", num_args = 0..=1, default_missing_value = "true", global = true)]
    pub insecure_no_auth: Option<bool>,
    /// Show `/metrics` without a token [default: false]
    #[arg(long, env = "GUILLEMOT_OPEN_METRICS", num_args = 0..=1, default_missing_value = "true", global = true)]
    pub open_metrics: Option<bool>,
    /// Base URL of the server as clients see it [default: the listen address]
    #[arg(long, env = "GUILLEMOT_PUBLIC_URL", global = true)]
    pub public_url: Option<String>,
    /// 32 bytes in base64 under which secrets in the database are encrypted; the same on every server of a database.
    /// Several, with commas between them: the first encrypts, all decrypt
    #[arg(long, env = "GUILLEMOT_SECRET_KEY", global = true, hide_env_values = true)]
    pub secret_key: Option<Secret>,
    /// A file that holds them [default: beside an `SQLite` file, made if absent; none with `PostgreSQL`]
    #[arg(long, env = "GUILLEMOT_SECRET_KEY_FILE", global = true)]
    pub secret_key_file: Option<PathBuf>,
    /// Seconds that a token of this server is good for [default: 3600]
    #[arg(long, env = "GUILLEMOT_TOKEN_LIFETIME_S", global = true)]
    pub token_lifetime_s: Option<u32>,
    /// Seconds that the clocks of issuers and servers may differ [default: 60]
    #[arg(long, env = "GUILLEMOT_CLOCK_SKEW_S", global = true)]
    pub clock_skew_s: Option<u32>,
    /// Issuers of JWTs.
    #[arg(skip)]
    #[serde(rename = "issuer")]
    pub issuers: Vec<IssuerSettings>,
    /// A server that knows opaque tokens.
    #[arg(skip)]
    pub introspection: Option<IntrospectionSettings>,
    /// Google's tokens.
    #[arg(skip)]
    pub google: Option<GoogleSettings>,
}

/// The settings of authentication in force.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "each is described at the setting of the same name")]
pub struct AuthConfig {
    /// Empty: `identities` if there is one, else `none`.
    pub methods: Vec<Method>,
    pub insecure_no_auth: bool,
    pub open_metrics: bool,
    pub public_url: Option<String>,
    pub secret_key: Option<Secret>,
    pub secret_key_file: Option<PathBuf>,
    pub token_lifetime_s: u32,
    pub clock_skew_s: u32,
    #[serde(rename = "issuer")]
    pub issuers: Vec<IssuerSettings>,
    pub introspection: Option<IntrospectionSettings>,
    pub google: GoogleSettings,
}

/// A text that is never shown.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct Secret(String);

impl Secret {
    /// The text itself.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl FromStr for Secret {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(Self(text.to_owned()))
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

impl Serialize for Secret {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str("***")
    }
}

impl AuthSettings {
    /// These settings, with what they leave out taken from `other`.
    pub(super) fn or(self, other: Self) -> Self {
        Self {
            methods: if self.methods.is_empty() { other.methods } else { self.methods },
            insecure_no_auth: self.insecure_no_auth.or(other.insecure_no_auth),
            open_metrics: self.open_metrics.or(other.open_metrics),
            public_url: self.public_url.or(other.public_url),
            secret_key: self.secret_key.or(other.secret_key),
            secret_key_file: self.secret_key_file.or(other.secret_key_file),
            token_lifetime_s: self.token_lifetime_s.or(other.token_lifetime_s),
            clock_skew_s: self.clock_skew_s.or(other.clock_skew_s),
            issuers: if self.issuers.is_empty() { other.issuers } else { self.issuers },
            introspection: self.introspection.or(other.introspection),
            google: self.google.or(other.google),
        }
    }

    pub(super) fn resolve(self) -> Result<AuthConfig, Error> {
        let methods = self.methods()?;
        for issuer in &self.issuers {
            issuer.check()?;
        }
        if let Some(introspection) = &self.introspection {
            introspection.check()?;
        }
        let google = self.google.unwrap_or_default();
        google.check()?;
        if let Some(url) = &self.public_url {
            issuers::check_url("public-url", url, true)?;
        }
        Ok(AuthConfig {
            methods,
            insecure_no_auth: self.insecure_no_auth.unwrap_or(false),
            open_metrics: self.open_metrics.unwrap_or(false),
            public_url: self.public_url.map(|url| url.trim_end_matches('/').to_owned()),
            secret_key: self.secret_key.filter(|key| !key.reveal().is_empty()),
            secret_key_file: self.secret_key_file.filter(|file| !file.as_os_str().is_empty()),
            token_lifetime_s: self.token_lifetime_s.unwrap_or(3600).max(1),
            clock_skew_s: self.clock_skew_s.unwrap_or(60),
            issuers: self.issuers,
            introspection: self.introspection,
            google,
        })
    }

    /// What is on, in the order in which it is tried.
    fn methods(&self) -> Result<Vec<Method>, Error> {
        let wrong = |expected, found: String| Error::Value { key: "auth", expected, found };
        let mut methods = self.methods.clone();
        methods.sort_unstable();
        methods.dedup();
        if methods.contains(&Method::None) && methods.len() > 1 {
            return Err(wrong("none alone: it lets everybody in", format!("{methods:?}")));
        }
        if methods.contains(&Method::Issuers) && self.issuers.is_empty() {
            return Err(wrong("an [[auth.issuer]] in the settings file", "issuers without one".to_owned()));
        }
        if methods.contains(&Method::Introspection) && self.introspection.is_none() {
            return Err(wrong("[auth.introspection] in the settings file", "introspection without it".to_owned()));
        }
        if methods.is_empty() {
            methods.extend((!self.issuers.is_empty()).then_some(Method::Issuers));
            methods.extend(self.introspection.is_some().then_some(Method::Introspection));
            methods.extend(self.google.is_some().then_some(Method::Google));
            if !methods.is_empty() {
                methods.insert(0, Method::Identities);
            }
        }
        Ok(methods)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(toml: &str) -> AuthSettings {
        toml::from_str(toml).unwrap()
    }

    const ISSUER: &str = "[[issuer]]\nurl = 'https://idp.example'\naudience = ['lake']\n";

    #[test]
    fn what_is_configured_is_on_and_so_are_identities() {
        assert_eq!(settings("").resolve().unwrap().methods, []);
        assert_eq!(settings(ISSUER).resolve().unwrap().methods, [Method::Identities, Method::Issuers]);
        let chosen = settings(&format!("methods = ['issuers']\n{ISSUER}"));
        assert_eq!(chosen.resolve().unwrap().methods, [Method::Issuers]);
    }

    #[test]
    fn none_stands_alone_and_the_others_need_their_settings() {
        for bad in ["methods = ['none', 'identities']", "methods = ['issuers']", "methods = ['introspection']"] {
            assert!(settings(bad).resolve().is_err(), "{bad}");
        }
    }

    #[test]
    fn secrets_are_not_shown() {
        let config = settings(
            "secret-key = 'hush1'\n[introspection]\nurl = 'https://idp.example/i'\nclient-id = 'me'\nclient-secret = 'hush2'",
        )
        .resolve()
        .unwrap();
        let shown = format!("{config:?} {}", toml::to_string(&config).unwrap());
        assert!(!shown.contains("hush") && shown.contains("***"), "{shown}");
    }
}
