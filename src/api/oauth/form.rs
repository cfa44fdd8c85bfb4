//! What a client sends to the token endpoint: a form, and perhaps a Basic header.

use super::error::Refusal;
use crate::api::error::Error;
use crate::api::extract::read_body;
use axum::body::Body;
use axum::http::{HeaderMap, header};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// Largest form that is looked at, in bytes: two tokens of the largest kind.
const MAX_FORM: usize = 64 * 1024;

/// How much of a larger one is read, so that the client hears why it is refused.
const MAX_READ: usize = 2 * 1024 * 1024;

/// The fields of a form. Each may stand in it once (RFC 6749, 3.2). Not to be printed: secrets are among them.
pub(super) struct Form(Vec<(String, String)>);

impl Form {
    pub(super) async fn read(headers: &HeaderMap, body: Body) -> Result<Self, Refusal> {
        let malformed = |what: &str| Refusal::Malformed(what.to_owned());
        let body = read_body(body, MAX_READ).await.map_err(|error| match error {
            Error::BodyTooSlow => Refusal::TooSlow,
            _ => malformed("the body cannot be read, or is too large"),
        })?;
        let kind = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let kind = kind.split(';').next().unwrap_or_default().trim();
        if !kind.eq_ignore_ascii_case("application/x-www-form-urlencoded") {
            return Err(malformed("Content-Type: expected application/x-www-form-urlencoded"));
        }
        Self::parse(&body.0)
    }

    fn parse(bytes: &[u8]) -> Result<Self, Refusal> {
        let malformed = |what: String| Refusal::Malformed(what);
        if bytes.len() > MAX_FORM {
            return Err(malformed(format!("the form is longer than {MAX_FORM} bytes")));
        }
        let mut fields: Vec<(String, String)> = Vec::new();
        for (name, value) in url::form_urlencoded::parse(bytes).into_owned() {
            if fields.iter().any(|(known, _)| *known == name) {
                let name: String = name.chars().take(100).collect();
                return Err(malformed(format!("{name} is given twice")));
            }
            fields.push((name, value));
        }
        // A field without a value is as good as absent (RFC 6749, 3.2).
        fields.retain(|(_, value)| !value.is_empty());
        Ok(Self(fields))
    }

    pub(super) fn find(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    pub(super) fn required(&self, name: &str) -> Result<&str, Refusal> {
        self.find(name).ok_or_else(|| Refusal::Malformed(format!("{name} is missing")))
    }
}

/// A client's id and secret in an `Authorization` header.
pub(super) struct Basic {
    pub(super) id: String,
    pub(super) secret: String,
}

impl Basic {
    /// A header of another scheme is none of ours: Java sends the token that it refreshes as `Bearer`.
    pub(super) fn read(headers: &HeaderMap) -> Result<Option<Self>, Refusal> {
        let malformed = || Refusal::Malformed("Authorization: expected `Basic` and base64 of ID:SECRET".to_owned());
        let Some(value) = headers.get(header::AUTHORIZATION) else { return Ok(None) };
        let value = value.to_str().map_err(|_| malformed())?;
        let (scheme, rest) = value.split_once(' ').unwrap_or((value, ""));
        if !scheme.eq_ignore_ascii_case("Basic") {
            return Ok(None);
        }
        let text = STANDARD.decode(rest.trim()).ok().and_then(|bytes| String::from_utf8(bytes).ok());
        let text = text.ok_or_else(malformed)?;
        let (id, secret) = text.split_once(':').ok_or_else(malformed)?;
        Ok(Some(Self { id: id.to_owned(), secret: secret.to_owned() }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_holds_each_field_once() {
        let form = Form::parse(b"grant_type=x&scope=&client_id=a%20b").unwrap();
        assert_eq!(
            (form.find("grant_type"), form.find("scope"), form.find("client_id")),
            (Some("x"), None, Some("a b"))
        );
        assert!(form.required("client_secret").is_err());
        assert!(Form::parse(b"a=1&a=1").is_err() && Form::parse(b"a=&a=1").is_err());
        assert!(Form::parse(&vec![b'x'; MAX_FORM + 1]).is_err());
        assert!(Form::parse(b"\xff\x00%zz&&=&").is_ok_and(|form| form.required("grant_type").is_err()));
    }

    #[test]
    fn basic_is_id_and_secret() {
        let read = |value: &str| {
            let value = axum::http::HeaderValue::from_bytes(value.as_bytes()).unwrap();
            Basic::read(&HeaderMap::from_iter([(header::AUTHORIZATION, value)]))
        };
        let basic = read(&format!("basic {}", STANDARD.encode("id:a:b"))).unwrap().unwrap();
        assert_eq!((basic.id.as_str(), basic.secret.as_str()), ("id", "a:b"));
        assert!(read("Bearer x").unwrap().is_none());
        for bad in ["Basic", "Basic !", &format!("Basic {}", STANDARD.encode("none")), "Basic /w==", "Basic ä"] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }
}
