//! Reading JWTs (RFC 7519): what one says of itself, whether its signature holds, and whether it is valid now.

use super::error::Error;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::errors::ErrorKind;
use jsonwebtoken::{Algorithm, DecodingKey, Validation, decode};
use serde::Deserialize;
use serde_json::{Map, Value};

/// The claims of a JWT.
pub(super) type Claims = Map<String, Value>;

/// What a token says of itself before anything is checked: enough to find the key to check it with.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Peek {
    pub(super) algorithm: String,
    pub(super) key_id: Option<String>,
    pub(super) issuer: Option<String>,
}

/// Looks at a token; `None` if it is no JWT.
pub(super) fn peek(token: &str) -> Option<Peek> {
    #[derive(Deserialize)]
    struct Header {
        alg: String,
        kid: Option<String>,
    }
    #[derive(Deserialize)]
    struct Payload {
        iss: Option<String>,
    }
    let mut parts = token.split('.');
    let (header, payload, _signature) = (parts.next()?, parts.next()?, parts.next()?);
    if parts.next().is_some() {
        return None;
    }
    let header: Header = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(header).ok()?).ok()?;
    let payload = URL_SAFE_NO_PAD.decode(payload).ok().and_then(|bytes| serde_json::from_slice::<Payload>(&bytes).ok());
    let issuer = payload.and_then(|payload| payload.iss);
    Some(Peek { algorithm: header.alg, key_id: header.kid, issuer })
}

/// Why a token is not believed.
#[derive(Debug)]
pub(super) enum Fault {
    /// Whoever made it has not shown to have the key.
    Unsigned(String),
    /// It is signed, and claims something else.
    Claim(String),
}

impl From<Fault> for Error {
    fn from(fault: Fault) -> Self {
        let (Fault::Unsigned(reason) | Fault::Claim(reason)) = fault;
        Self::Refused(reason)
    }
}

/// Checks signature, issuer and audience; when it is valid is left to [`Validity`].
pub(super) fn verify(
    token: &str,
    key: &DecodingKey,
    algorithm: Algorithm,
    issuer: &str,
    audience: &[String],
) -> Result<Claims, Fault> {
    // One algorithm, chosen by us: what the token's header says is compared with it, and never trusted.
    let mut rules = Validation::new(algorithm);
    rules.set_issuer(&[issuer]);
    rules.set_audience(audience);
    rules.set_required_spec_claims(&["exp", "iss", "aud"]);
    // The library would ask the machine's clock.
    rules.validate_exp = false;
    match decode::<Claims>(token, key, &rules) {
        Ok(token) => Ok(token.claims),
        Err(error) => Err(match error.kind() {
            ErrorKind::InvalidAudience => {
                Fault::Claim(format!("it is for another audience than {}", audience.join(", ")))
            }
            ErrorKind::InvalidIssuer => Fault::Claim(format!("it is of another issuer than {issuer}")),
            ErrorKind::MissingRequiredClaim(claim) => Fault::Claim(format!("it has no {claim}")),
            ErrorKind::InvalidClaimFormat(claim) => Fault::Claim(format!("its {claim} makes no sense")),
            ErrorKind::InvalidSignature => Fault::Unsigned("its signature is wrong".to_owned()),
            ErrorKind::InvalidAlgorithm => Fault::Unsigned(format!("it is not signed with {algorithm:?}")),
            _ => Fault::Unsigned("it is malformed".to_owned()),
        }),
    }
}

/// When a token is valid, in seconds since the epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Validity {
    pub(super) from_s: i64,
    pub(super) until_s: i64,
}

impl Validity {
    /// From `nbf`, `iat` and `exp`; `exp` must be there.
    pub(super) fn of(claims: &Claims) -> Result<Self, Error> {
        let seconds = |claim: &str| match claims.get(claim) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => {
                whole_seconds(value).map(Some).ok_or_else(|| Error::refused(format!("its {claim} makes no sense")))
            }
        };
        let until_s = seconds("exp")?.ok_or_else(|| Error::refused("it has no exp"))?;
        let from_s = seconds("nbf")?.max(seconds("iat")?).unwrap_or(0);
        Ok(Self { from_s, until_s })
    }

    /// Whether it is valid now, with clocks that may differ a little.
    pub(super) fn check(&self, now_ms: i64, skew_s: u32) -> Result<(), Error> {
        let (now, skew) = (now_ms.div_euclid(1000), i64::from(skew_s));
        if now >= self.until_s.saturating_add(skew) {
            return Err(Error::Expired);
        }
        if now < self.from_s.saturating_sub(skew) {
            let early = self.from_s.saturating_sub(now);
            return Err(Error::Refused(format!("it is not valid before {early} s from now: do the clocks agree?")));
        }
        Ok(())
    }
}

/// A number of seconds, whole or not, from a number or (as Google writes it) a text.
fn whole_seconds(value: &Value) -> Option<i64> {
    match value {
        Value::String(text) => text.parse().ok(),
        #[expect(clippy::cast_possible_truncation, reason = "`as` saturates, and both ends are far from any clock")]
        _ => value.as_i64().or_else(|| value.as_f64().filter(|s| s.is_finite()).map(|s| s as i64)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn encoded(value: &str) -> String {
        URL_SAFE_NO_PAD.encode(value)
    }

    #[test]
    fn what_is_no_jwt_is_told_apart() {
        let (header, payload) = (encoded(r#"{"alg":"ES256","kid":"k"}"#), encoded(r#"{"iss":"i"}"#));
        let seen = peek(&format!("{header}.{payload}.c2ln")).unwrap();
        assert_eq!(seen, Peek { algorithm: "ES256".into(), key_id: Some("k".into()), issuer: Some("i".into()) });
        for odd in [r#"{"iss":1}"#, "[]", "x"] {
            assert_eq!(peek(&format!("{header}.{}.", encoded(odd))).unwrap().issuer, None, "{odd}");
        }
        for other in
            ["", "a", "a.b.c", "..", &format!("{header}.{payload}"), &format!("{header}.{payload}.a.b"), "ya29.x"]
        {
            assert_eq!(peek(other), None, "{other}");
        }
    }

    #[test]
    fn times_are_held_against_the_clock_with_some_tolerance() {
        let valid = |claims: Value, now_s: i64| {
            Validity::of(claims.as_object().unwrap()).and_then(|validity| validity.check(now_s * 1000, 60))
        };
        let claims = json!({"iat": 1000, "nbf": 1000, "exp": 2000});
        for now in [940, 1000, 2000, 2059] {
            assert!(valid(claims.clone(), now).is_ok(), "{now}");
        }
        assert!(matches!(valid(claims.clone(), 939), Err(Error::Refused(_))));
        assert!(matches!(valid(claims, 2060), Err(Error::Expired)));
        assert!(valid(json!({"exp": 1999.5}), 1000).is_ok());
        for bad in [json!({}), json!({"exp": null}), json!({"exp": "soon"}), json!({"exp": 9e99, "nbf": []})] {
            assert!(matches!(valid(bad.clone(), 1000), Err(Error::Refused(_))), "{bad}");
        }
        assert!(matches!(valid(json!({"exp": i64::MIN}), 1000), Err(Error::Expired)));
    }
}
