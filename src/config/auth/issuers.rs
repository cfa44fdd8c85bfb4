//! Who vouches for callers besides this server. Requests go out to these addresses and no others.

use super::Secret;
use crate::config::Error;
use serde::{Deserialize, Serialize};

/// An issuer of JWTs: an `OpenID` provider, or anything that publishes its keys as a JWK set.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct IssuerSettings {
    /// What its tokens have in `iss`. Without `jwks-url`, its keys are found by discovery below this address.
    pub url: String,
    /// Where its keys are.
    #[serde(default)]
    pub jwks_url: Option<String>,
    /// Its tokens must be for one of these (`aud`).
    pub audience: Vec<String>,
    /// The algorithms that its tokens may be signed with.
    #[serde(default = "algorithms")]
    pub algorithms: Vec<String>,
    /// The claim that names the caller; dots lead into objects.
    #[serde(default = "user_claim")]
    pub user_claim: String,
    /// The claim that lists the caller's roles; dots lead into objects.
    #[serde(default = "roles_claim")]
    pub roles_claim: String,
    /// Whether its addresses may be `http://` on another machine, for private networks.
    #[serde(default)]
    pub insecure_http: bool,
}

/// A server that knows opaque tokens (RFC 7662).
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct IntrospectionSettings {
    /// Where it is asked.
    pub url: String,
    /// What the names of its callers begin with; its address where not said.
    #[serde(default)]
    pub issuer: Option<String>,
    /// What this server calls itself there.
    pub client_id: String,
    /// Its secret there.
    pub client_secret: Secret,
    /// Tokens must be for one of these, if any are given (`aud`).
    #[serde(default)]
    pub audience: Vec<String>,
    /// The member that names the caller; dots lead into objects.
    #[serde(default = "user_claim")]
    pub user_claim: String,
    /// The member that lists the caller's roles; dots lead into objects.
    #[serde(default = "roles_claim")]
    pub roles_claim: String,
    /// Whether its address may be `http://` on another machine, for private networks.
    #[serde(default)]
    pub insecure_http: bool,
}

/// Google's access tokens.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct GoogleSettings {
    /// Where a token is looked up.
    pub tokeninfo_url: String,
    /// A token must have one of these scopes.
    pub scopes: Vec<String>,
    /// A token must have been made for one of these clients, if any are given (`aud` or `azp`).
    pub audience: Vec<String>,
    /// The caller's address must end in `@` and one of these, if any are given.
    pub domains: Vec<String>,
}

impl Default for GoogleSettings {
    fn default() -> Self {
        Self {
            tokeninfo_url: "https://oauth2.googleapis.com/tokeninfo".to_owned(),
            scopes: vec!["https://www.googleapis.com/auth/cloud-platform".to_owned()],
            audience: Vec::new(),
            domains: Vec::new(),
        }
    }
}

/// Signatures by a private key. With a shared secret, whoever can check a token could make one.
const ALGORITHMS: [&str; 9] = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "EdDSA"];

fn algorithms() -> Vec<String> {
    ALGORITHMS.map(str::to_owned).to_vec()
}

fn user_claim() -> String {
    "sub".to_owned()
}

fn roles_claim() -> String {
    "roles".to_owned()
}

impl IssuerSettings {
    pub(super) fn check(&self) -> Result<(), Error> {
        check_url("auth.issuer.url", &self.url, self.insecure_http)?;
        if let Some(url) = &self.jwks_url {
            check_url("auth.issuer.jwks-url", url, self.insecure_http)?;
        }
        if self.audience.is_empty() {
            let expected = "at least one audience: else tokens for other services would be good here";
            return Err(Error::Value { key: "auth.issuer.audience", expected, found: "[]".to_owned() });
        }
        match self.algorithms.iter().find(|name| !ALGORITHMS.contains(&name.as_str())) {
            Some(found) => Err(Error::Value {
                key: "auth.issuer.algorithms",
                expected: "RS256, RS384, RS512, PS256, PS384, PS512, ES256, ES384 or EdDSA",
                found: found.clone(),
            }),
            None => Ok(()),
        }
    }
}

impl IntrospectionSettings {
    pub(super) fn check(&self) -> Result<(), Error> {
        check_url("auth.introspection.url", &self.url, self.insecure_http)
    }
}

impl GoogleSettings {
    pub(super) fn check(&self) -> Result<(), Error> {
        check_url("auth.google.tokeninfo-url", &self.tokeninfo_url, false)
    }
}

/// An address must be `https://`, or on this machine, unless said otherwise: tokens and keys travel there.
pub(super) fn check_url(key: &'static str, text: &str, insecure_http: bool) -> Result<(), Error> {
    let url = url::Url::parse(text).ok().filter(|url| url.username().is_empty() && url.password().is_none());
    let local = |url: &url::Url| match url.host() {
        Some(url::Host::Domain(name)) => name == "localhost",
        Some(url::Host::Ipv4(ip)) => ip.is_loopback(),
        Some(url::Host::Ipv6(ip)) => ip.is_loopback(),
        None => false,
    };
    match url {
        Some(url) if url.scheme() == "https" || (url.scheme() == "http" && (insecure_http || local(&url))) => Ok(()),
        _ => Err(Error::Value {
            key,
            expected: "an https:// address without a password (http:// on this machine, or with insecure-http)",
            found: text.to_owned(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_on_other_machines_are_encrypted_ones() {
        for good in ["https://idp.example/x", "http://127.0.0.1:1/x", "http://localhost", "http://[::1]:9"] {
            assert!(check_url("k", good, false).is_ok(), "{good}");
        }
        for bad in
            ["http://idp.example", "ftp://idp.example", "idp.example", "", "https://u:p@idp.example", "file:///x"]
        {
            assert!(check_url("k", bad, false).is_err(), "{bad}");
        }
        assert!(check_url("k", "http://idp:8080", true).is_ok());
    }

    #[test]
    fn an_issuer_needs_an_audience_and_signs_with_a_private_key() {
        let issuer = |toml: &str| toml::from_str::<IssuerSettings>(toml).unwrap().check();
        assert!(issuer("url = 'https://i'\naudience = ['a']").is_ok());
        assert!(issuer("url = 'https://i'\naudience = []").is_err());
        for algorithm in ["HS256", "none", "rs256"] {
            assert!(issuer(&format!("url = 'https://i'\naudience = ['a']\nalgorithms = ['{algorithm}']")).is_err());
        }
    }
}
