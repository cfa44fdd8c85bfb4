//! Opaque tokens that another server knows (RFC 7662).

use super::claims::{Mapping, is_for};
use super::error::{Cause, Error};
use super::fetch;
use super::jwt::{Claims, Validity};
use super::verdict::Verdict;
use crate::config::auth::IntrospectionSettings;
use reqwest::Client;
use serde_json::Value;
use std::sync::Arc;
use url::form_urlencoded::Serializer;

/// The server that is asked.
#[derive(Debug)]
pub(super) struct Introspection {
    settings: IntrospectionSettings,
    mapping: Mapping,
    client: Client,
}

impl Introspection {
    pub(super) fn new(settings: IntrospectionSettings, client: Client) -> Self {
        let mapping = Mapping {
            issuer: settings.issuer.clone().unwrap_or_else(|| settings.url.clone()),
            user_claim: settings.user_claim.clone(),
            roles_claim: settings.roles_claim.clone(),
        };
        Self { settings, mapping, client }
    }

    /// Whose token it is, if the server says that it is good.
    pub(super) async fn verdict(&self, token: &str, now_ms: i64, skew_s: u32) -> Result<Verdict, Error> {
        let claims =
            self.ask(token).await.map_err(|source| Error::Unavailable { who: self.settings.url.clone(), source })?;
        if claims.get("active") != Some(&Value::Bool(true)) {
            return Err(Error::refused("who gave it says that it is not active"));
        }
        if !is_for(&claims, &self.settings.audience) {
            return Err(Error::Refused(format!(
                "it is for another audience than {}",
                self.settings.audience.join(", ")
            )));
        }
        let validity = if claims.contains_key("exp") { Some(Validity::of(&claims)?) } else { None };
        if let Some(validity) = &validity {
            validity.check(now_ms, skew_s)?;
        }
        Ok(Verdict { principal: Arc::new(self.mapping.principal(&claims)?), validity, stamp: None })
    }

    async fn ask(&self, token: &str) -> Result<Claims, Cause> {
        let form = [("token", token), ("token_type_hint", "access_token")];
        let form = Serializer::new(String::new()).extend_pairs(form).finish();
        let request = self.client.post(&self.settings.url);
        let request = request.basic_auth(&self.settings.client_id, Some(self.settings.client_secret.reveal()));
        fetch::send(request.header("content-type", "application/x-www-form-urlencoded").body(form)).await?.json()
    }
}
