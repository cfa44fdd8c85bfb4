//! Google's access tokens: opaque to everybody else, and looked up at Google.

use super::Principal;
use super::claims::is_for;
use super::error::Error;
use super::fetch;
use super::jwt::{Claims, Validity};
use super::verdict::Verdict;
use crate::config::auth::GoogleSettings;
use reqwest::{Client, StatusCode};
use serde_json::Value;
use std::sync::Arc;
use url::form_urlencoded::Serializer;

/// Longest address that a caller can have.
const MAX_EMAIL: usize = 320;

/// Google, or what the settings put in its place.
#[derive(Debug)]
pub(super) struct Google {
    settings: GoogleSettings,
    client: Client,
}

impl Google {
    pub(super) fn new(settings: GoogleSettings, client: Client) -> Self {
        Self { settings, client }
    }

    /// Whose token it is, if Google vouches for it.
    pub(super) async fn verdict(&self, token: &str, now_ms: i64, skew_s: u32) -> Result<Verdict, Error> {
        let claims = self.ask(token).await?;
        let validity = Validity::of(&claims)?;
        validity.check(now_ms, skew_s)?;
        self.check_purpose(&claims)?;
        let name = format!("google:{}", self.email(&claims)?);
        let principal = Principal { name, roles: Vec::new(), unrestricted: false };
        Ok(Verdict { principal: Arc::new(principal), validity: Some(validity), stamp: None })
    }

    /// A token that somebody gave to any web site must not open the catalog: it has to be one for Google's cloud, or for
    /// clients that the settings name.
    fn check_purpose(&self, claims: &Claims) -> Result<(), Error> {
        let scopes = claims.get("scope").and_then(Value::as_str).unwrap_or_default();
        if !scopes.split(' ').any(|scope| self.settings.scopes.iter().any(|known| known == scope)) {
            return Err(Error::Refused(format!("it has none of the scopes {}", self.settings.scopes.join(", "))));
        }
        let authorized = claims.get("azp").and_then(Value::as_str);
        let known = authorized.is_some_and(|client| self.settings.audience.iter().any(|known| known == client));
        if !known && !is_for(claims, &self.settings.audience) {
            return Err(Error::refused("it was made for another client than the settings name"));
        }
        Ok(())
    }

    fn email(&self, claims: &Claims) -> Result<String, Error> {
        let email = claims.get("email").and_then(Value::as_str).unwrap_or_default();
        let verified = matches!(claims.get("email_verified"), Some(Value::Bool(true)))
            || claims.get("email_verified").and_then(Value::as_str) == Some("true");
        if !email.contains('@') || email.len() > MAX_EMAIL || email.contains(|c: char| c.is_control() || c == ' ') {
            return Err(Error::refused("it names no e-mail address: ask for the scope userinfo.email as well"));
        }
        if !verified {
            return Err(Error::refused("its e-mail address is not verified"));
        }
        let email = email.to_ascii_lowercase();
        let domain = email.rsplit('@').next().unwrap_or_default();
        let domains = &self.settings.domains;
        if !domains.is_empty() && !domains.iter().any(|known| known.eq_ignore_ascii_case(domain)) {
            return Err(Error::refused("its e-mail address is in none of the domains of the settings"));
        }
        Ok(email)
    }

    async fn ask(&self, token: &str) -> Result<Claims, Error> {
        let unavailable = |source| Error::Unavailable { who: self.settings.tokeninfo_url.clone(), source };
        // In the body and not in the address, where logs on the way would keep it.
        let form = Serializer::new(String::new()).append_pair("access_token", token).finish();
        let request = self.client.post(&self.settings.tokeninfo_url);
        let request = request.header("content-type", "application/x-www-form-urlencoded").body(form);
        let answer = fetch::send(request).await.map_err(unavailable)?;
        let said = answer.error();
        let refused = said.get("error").and_then(Value::as_str);
        if answer.status == StatusCode::BAD_REQUEST && refused.is_some_and(|error| error.starts_with("invalid")) {
            return Err(Error::refused("Google does not know it"));
        }
        answer.json().map_err(unavailable)
    }
}
