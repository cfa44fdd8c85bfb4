//! Asking those who vouch for callers. Requests go to addresses of the settings, and to the key sets that those name.

use super::error::{Cause, Error};
use reqwest::redirect::Policy;
use reqwest::{Client, Method, RequestBuilder, StatusCode};
use serde::de::DeserializeOwned;
use std::time::Duration;

/// How long an answer may take, from connecting to its last byte. Callers wait for it.
const LIMIT: Duration = Duration::from_secs(5);

/// Largest answer, in bytes.
const MAX_ANSWER: usize = 1024 * 1024;

/// A client that follows nobody elsewhere.
pub(super) fn client() -> Result<Client, reqwest::Error> {
    Client::builder()
        .timeout(LIMIT)
        .connect_timeout(LIMIT)
        .redirect(Policy::none())
        .user_agent(concat!("guillemot/", env!("CARGO_PKG_VERSION")))
        .build()
}

/// An answer.
pub(super) struct Answer {
    pub(super) status: StatusCode,
    body: Vec<u8>,
}

impl Answer {
    /// The body, as JSON of a known shape.
    pub(super) fn json<T: DeserializeOwned>(&self) -> Result<T, Cause> {
        if !self.status.is_success() {
            return Err(format!("it answered {}", self.status).into());
        }
        Ok(serde_json::from_slice(&self.body)?)
    }

    /// The body of an error, as JSON, if it is some.
    pub(super) fn error(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }
}

/// Gets a JSON document.
pub(super) async fn get<T: DeserializeOwned>(client: &Client, url: &str) -> Result<T, Error> {
    let document = match send(client.request(Method::GET, url)).await {
        Ok(answer) => answer.json(),
        Err(cause) => Err(cause),
    };
    document.map_err(|source| Error::Unavailable { who: url.to_owned(), source })
}

/// Sends a request, and reads the answer up to a limit.
pub(super) async fn send(request: RequestBuilder) -> Result<Answer, Cause> {
    // The address stays out of errors: it could hold what is nobody's business.
    let mut response =
        request.header("accept", "application/json").send().await.map_err(reqwest::Error::without_url)?;
    let status = response.status();
    let mut body = Vec::new();
    while let Some(part) = response.chunk().await.map_err(reqwest::Error::without_url)? {
        if body.len() + part.len() > MAX_ANSWER {
            return Err(format!("its answer is longer than {MAX_ANSWER} bytes").into());
        }
        body.extend_from_slice(&part);
    }
    Ok(Answer { status, body })
}
