//! Which requests to S3 are signed for a client: those that do to the table's files what the caller may.
//!
//! What is not known to be harmless is refused: methods, query parameters and headers are those that file IO needs. The
//! signature covers method, host, path, query and every `x-amz-` header, so it is good for nothing else.

mod delete;
mod target;

use crate::auth::Access;
use crate::storage::Location;
use bytes::Bytes;
use http::{HeaderName, HeaderValue, Method, Request};
use serde::Deserialize;
use std::collections::BTreeMap;
use target::Target;

/// Why a request is not signed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// It is no request to sign.
    #[error("Invalid sign request: {0}")]
    Malformed(String),
    /// It would do what the caller may not.
    #[error("Request is not signed: {0}")]
    Forbidden(String),
}

/// `RemoteSignRequest`: a request that a client is about to send.
#[derive(Debug, Clone, Deserialize, utoipa::ToSchema)]
pub struct SignRequest {
    /// The bucket's region.
    pub region: String,
    /// The whole URL.
    pub uri: String,
    /// The HTTP method.
    pub method: String,
    /// Its headers.
    pub headers: BTreeMap<String, Vec<String>>,
    /// Its content, where that says what it does: `DeleteObjects`.
    #[serde(default)]
    pub body: Option<String>,
    /// The kind of store; S3 where not said.
    #[serde(default)]
    pub provider: Option<String>,
}

/// A request that may be signed.
#[derive(Debug)]
pub struct Signable {
    /// With the headers that are signed.
    pub request: Request<Bytes>,
    /// The SHA-256 of its content, where the client said it.
    pub hash: Option<Vec<u8>>,
    /// Whether the content is in the request, and is signed as it stands there.
    pub whole: bool,
}

/// Most headers, and most bytes of each.
const MOST_HEADERS: usize = 100;
const MOST_HEADER_BYTES: usize = 8 * 1024;

/// What a request does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Deed {
    Read,
    Write,
    /// Deletes what its content names.
    DeleteNamed,
}

/// Judges a request for a table's place. `endpoint` is the base URL of the store, as clients see it; none for Amazon's.
pub fn judge(
    request: &SignRequest,
    place: &Location,
    access: Access,
    endpoint: Option<&str>,
) -> Result<Signable, Refusal> {
    if request.provider.as_deref().is_some_and(|provider| provider != "s3") {
        return Err(Refusal::Malformed("provider: expected s3".to_owned()));
    }
    let good = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if request.region.is_empty() || request.region.len() > 40 || !request.region.chars().all(good) {
        return Err(Refusal::Malformed("region: expected letters, digits and `-`".to_owned()));
    }
    let method: Method = request.method.parse().map_err(|_| Refusal::Malformed("method: expected one".to_owned()))?;
    let target = Target::parse(&request.uri, place.bucket(), &request.region, endpoint)?;
    let deed = deed(&method, &target, place)?;
    if deed != Deed::Read && access == Access::Read {
        return Err(Refusal::Forbidden(format!("{method} changes files, and the caller may read them only")));
    }
    let body = match (deed, &request.body) {
        (Deed::DeleteNamed, Some(body)) => {
            delete::check(body, place)?;
            Bytes::from(body.clone())
        }
        (Deed::DeleteNamed, None) => {
            return Err(Refusal::Malformed("body: expected the keys that are deleted, found none".to_owned()));
        }
        _ => Bytes::new(),
    };
    let (headers, hash) = headers(&request.headers)?;
    let mut signable = Request::builder().method(method).uri(target.url.as_str());
    for (name, value) in headers {
        signable = signable.header(name, value);
    }
    let request = signable.body(body).map_err(|error| Refusal::Malformed(error.to_string()))?;
    Ok(Signable { request, hash, whole: deed == Deed::DeleteNamed })
}

/// What a request does, if it does it inside of the place.
fn deed(method: &Method, target: &Target, place: &Location) -> Result<Deed, Refusal> {
    let parameters: Vec<&str> = target.parameters().filter(|name| *name != "x-id").collect();
    let only = |known: &[&str]| parameters.iter().all(|name| known.contains(name));
    let has = |name: &str| parameters.contains(&name);
    let unknown =
        || Refusal::Forbidden(format!("{method} with the parameters {parameters:?} is none of file IO's requests"));
    if target.key.is_empty() {
        return match *method {
            Method::GET if only(LISTING) => {
                let prefix = target.parameter("prefix").unwrap_or_default();
                inside_prefix(prefix, place).then_some(Deed::Read).ok_or_else(|| {
                    Refusal::Forbidden(format!("expected a list with a prefix in {place}/, found `{prefix}`"))
                })
            }
            Method::POST if parameters == ["delete"] => Ok(Deed::DeleteNamed),
            _ => Err(unknown()),
        };
    }
    if !is_inside(&target.key, place) {
        return Err(Refusal::Forbidden(format!("{} is not in {place}/", target.key)));
    }
    match *method {
        Method::GET | Method::HEAD if only(&["versionId", "partNumber"]) => Ok(Deed::Read),
        Method::GET if has("uploadId") && only(PARTS) => Ok(Deed::Write),
        Method::PUT if parameters.is_empty() => Ok(Deed::Write),
        Method::PUT if parameters.len() == 2 && has("partNumber") && has("uploadId") => Ok(Deed::Write),
        Method::POST if parameters == ["uploads"] || parameters == ["uploadId"] => Ok(Deed::Write),
        Method::DELETE if parameters.is_empty() || parameters == ["uploadId"] => Ok(Deed::Write),
        _ => Err(unknown()),
    }
}

const LISTING: &[&str] = &[
    "list-type",
    "prefix",
    "delimiter",
    "continuation-token",
    "start-after",
    "marker",
    "max-keys",
    "encoding-type",
    "fetch-owner",
];
const PARTS: &[&str] = &["uploadId", "max-parts", "part-number-marker", "encoding-type"];

/// Whether a key names an object in the place.
fn is_inside(key: &str, place: &Location) -> bool {
    let location = Location::parse(&format!("s3://{}/{key}", place.bucket()));
    location.is_ok_and(|location| location.is_under(place) && location != *place)
}

/// Whether every key with this prefix lies in the place.
fn inside_prefix(prefix: &str, place: &Location) -> bool {
    prefix.strip_prefix(place.key()).is_some_and(|rest| rest.starts_with('/')) && !prefix.contains("//")
}

/// The headers that are signed, and the content's hash if one is said. What is not signed may be sent all the same;
/// S3 minds `x-amz-` headers only, and demands that they are signed.
#[expect(clippy::type_complexity, reason = "two answers of one walk")]
fn headers(
    given: &BTreeMap<String, Vec<String>>,
) -> Result<(Vec<(HeaderName, HeaderValue)>, Option<Vec<u8>>), Refusal> {
    if given.len() > MOST_HEADERS {
        return Err(Refusal::Malformed(format!("headers: expected {MOST_HEADERS} at most, found {}", given.len())));
    }
    let mut signed = Vec::new();
    let mut hash = None;
    for (name, values) in given {
        let name = name.to_ascii_lowercase();
        let value = values.join(",");
        match name.as_str() {
            "x-amz-content-sha256" => hash = content_hash(&value)?,
            // Given anew.
            "x-amz-date" | "x-amz-security-token" => {}
            known if known == "content-md5" || is_harmless(known) => signed.push(header(&name, &value)?),
            other if other.starts_with("x-amz-") => {
                return Err(Refusal::Forbidden(format!("the header {other} is none of file IO's")));
            }
            _ => {}
        }
    }
    Ok((signed, hash))
}

/// Whether this `x-amz-` header only says how the object itself is kept or checked.
fn is_harmless(name: &str) -> bool {
    const NAMES: [&str; 6] = [
        "x-amz-storage-class",
        "x-amz-expected-bucket-owner",
        "x-amz-request-payer",
        "x-amz-sdk-checksum-algorithm",
        "x-amz-user-agent",
        "x-amz-tagging",
    ];
    const FAMILIES: [&str; 3] = ["x-amz-checksum-", "x-amz-meta-", "x-amz-server-side-encryption"];
    NAMES.contains(&name) || FAMILIES.iter().any(|family| name.starts_with(family))
}

fn header(name: &str, value: &str) -> Result<(HeaderName, HeaderValue), Refusal> {
    let wrong = || Refusal::Malformed(format!("headers: `{}` is none", name.escape_default()));
    if value.len() > MOST_HEADER_BYTES || !value.is_ascii() {
        return Err(wrong());
    }
    let name = HeaderName::try_from(name).map_err(|_| wrong())?;
    Ok((name, HeaderValue::try_from(value).map_err(|_| wrong())?))
}

/// What `x-amz-content-sha256` says: a hash, or that the content is not signed.
fn content_hash(value: &str) -> Result<Option<Vec<u8>>, Refusal> {
    if value == "UNSIGNED-PAYLOAD" {
        return Ok(None);
    }
    let digits: Vec<u8> = value.chars().filter_map(|c| c.to_digit(16)).filter_map(|d| u8::try_from(d).ok()).collect();
    if value.len() != 64 || digits.len() != 64 {
        let reason =
            "x-amz-content-sha256: expected a hash or UNSIGNED-PAYLOAD; content in signed chunks is not signed";
        return Err(Refusal::Malformed(reason.to_owned()));
    }
    Ok(Some(digits.chunks_exact(2).map(|pair| pair.iter().fold(0, |byte, digit| byte << 4 | digit)).collect()))
}

#[cfg(test)]
mod tests;
