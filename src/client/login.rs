//! How a client says who it is: a token that it was given, or one that it gets for an id and a secret (RFC 6749, 4.4).

use std::fmt;

use serde::Deserialize;

use super::{Error, body, check_address, http, unreachable};

/// Largest answer of a token endpoint, in bytes.
const LARGEST_ANSWER: usize = 1 << 20;

/// Who a client is.
#[derive(Clone, Default)]
pub enum Login {
    /// Nobody in particular.
    #[default]
    None,
    /// Whoever this bearer token was given to.
    Token(String),
    /// Whoever has this id and secret.
    Credentials(ClientCredentials),
}

/// An id and a secret, and where they are good for a token.
#[derive(Clone)]
pub struct ClientCredentials {
    /// The id; Iceberg's clients know credentials without one.
    pub id: Option<String>,
    /// The secret.
    pub secret: String,
    /// The token endpoint; the catalog's own `/v1/oauth/tokens` where not said.
    pub server: Option<String>,
    /// The scope that is asked for.
    pub scope: String,
}

impl ClientCredentials {
    /// Reads `ID:SECRET`, or a secret alone, as Iceberg's clients write it.
    pub fn parse(text: &str) -> Self {
        let (id, secret) = match text.split_once(':') {
            Some((id, secret)) => (Some(id.to_owned()), secret),
            None => (None, text),
        };
        Self { id, secret: secret.to_owned(), server: None, scope: "catalog".to_owned() }
    }
}

// Nothing that is secret is shown.
impl fmt::Debug for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "None",
            Self::Token(_) => "Token(..)",
            Self::Credentials(_) => "Credentials(..)",
        })
    }
}

impl fmt::Debug for ClientCredentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientCredentials").field("id", &self.id).field("server", &self.server).finish_non_exhaustive()
    }
}

#[derive(Deserialize)]
struct Given {
    access_token: String,
}

#[derive(Deserialize)]
struct Denied {
    error: String,
    error_description: Option<String>,
}

/// Gets a token. `default_server` is the catalog's own token endpoint.
pub(super) async fn token(credentials: &ClientCredentials, default_server: &str) -> Result<String, Error> {
    let url = credentials.server.as_deref().unwrap_or(default_server);
    check_address("the address of the token endpoint", url)?;
    let client = http(url)?;
    let mut form = vec![("grant_type", "client_credentials")];
    form.extend(credentials.id.as_deref().map(|id| ("client_id", id)));
    form.extend([("client_secret", credentials.secret.as_str()), ("scope", credentials.scope.as_str())]);
    let response = client.post(url).form(&form).send().await.map_err(|fault| unreachable(url, fault))?;
    let status = response.status();
    let body = body(response, url, LARGEST_ANSWER).await?;
    if !status.is_success() {
        let message = match serde_json::from_slice::<Denied>(&body) {
            Ok(Denied { error, error_description: Some(more) }) => format!("{error}: {more}"),
            Ok(Denied { error, .. }) => error,
            Err(_) => String::from_utf8_lossy(&body).into_owned(),
        };
        return Err(Error::Refused { url: url.to_owned(), status: status.as_u16(), message });
    }
    // The answer is a secret: what is wrong with it is said without a word of it.
    let given: Result<Given, _> = serde_json::from_slice(&body);
    given.map(|given| given.access_token).map_err(|_| Error::Answer {
        url: url.to_owned(),
        reason: "expected a JSON object with access_token (RFC 6749, 5.1)".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_written_as_other_clients_write_them_and_never_shown() {
        let both = ClientCredentials::parse("me:pass:word");
        assert_eq!((both.id.as_deref(), both.secret.as_str()), (Some("me"), "pass:word"));
        let alone = ClientCredentials::parse("pass");
        assert_eq!((alone.id.as_deref(), alone.secret.as_str()), (None, "pass"));
        let shown = format!("{both:?} {:?} {:?}", Login::Token("hidden".to_owned()), Login::Credentials(both.clone()));
        assert!(!shown.contains("pass") && !shown.contains("hidden"), "{shown}");
    }
}
