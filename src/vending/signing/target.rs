//! Where a request to S3 goes: which bucket, which key, which parameters.

use super::Refusal;
use percent_encoding::percent_decode_str;
use url::Url;

/// Longest URL: a key of 1024 bytes, all encoded, and an upload's id.
const MOST_BYTES: usize = 8 * 1024;

/// A URL, taken apart.
#[derive(Debug)]
pub(super) struct Target {
    /// In the form that is signed.
    pub(super) url: Url,
    /// Decoded; empty for the bucket itself.
    pub(super) key: String,
    parameters: Vec<(String, String)>,
}

impl Target {
    /// Takes apart a URL that must go to this bucket of this store.
    pub(super) fn parse(text: &str, bucket: &str, endpoint: Option<&str>) -> Result<Self, Refusal> {
        let malformed = |what: &str| Refusal::Malformed(format!("uri: {what}"));
        if text.len() > MOST_BYTES {
            return Err(malformed("it is too long"));
        }
        let url = Url::parse(text).map_err(|error| malformed(&error.to_string()))?;
        if !url.username().is_empty() || url.password().is_some() || url.fragment().is_some() {
            return Err(malformed("it has a user, a password or a fragment"));
        }
        let foreign = || Refusal::Forbidden(format!("the URL does not go to bucket {bucket} of the warehouse's store"));
        let path = path_in_bucket(&url, bucket, endpoint).ok_or_else(foreign)?;
        // Some stores read it as a space: then the key is another one.
        if path.contains('+') {
            return Err(malformed("a `+` in the path can be read in two ways; encode it"));
        }
        let key = percent_decode_str(path).decode_utf8().map_err(|_| malformed("its path is not UTF-8"))?.into_owned();
        let parameters: Vec<(String, String)> = url.query_pairs().into_owned().collect();
        let mut names: Vec<&str> = parameters.iter().map(|(name, _)| name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        if names.len() != parameters.len() {
            return Err(malformed("a parameter is there twice"));
        }
        Ok(Self { url, key, parameters })
    }

    /// The names of its parameters.
    pub(super) fn parameters(&self) -> impl Iterator<Item = &str> {
        self.parameters.iter().map(|(name, _)| name.as_str())
    }

    /// The value of a parameter.
    pub(super) fn parameter(&self, name: &str) -> Option<&str> {
        self.parameters.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// The path behind the bucket, encoded; the bucket is in the path or in the host.
fn path_in_bucket<'u>(url: &'u Url, bucket: &str, endpoint: Option<&str>) -> Option<&'u str> {
    let host = url.host_str()?;
    let (is_store, base) = match endpoint {
        Some(endpoint) => {
            let store = Url::parse(endpoint).ok()?;
            if url.scheme() != store.scheme() || url.port_or_known_default() != store.port_or_known_default() {
                return None;
            }
            let base = store.path().trim_end_matches('/').to_owned();
            let host = store.host_str()?.to_owned();
            (Box::new(move |asked: &str| asked == host) as Box<dyn Fn(&str) -> bool>, base)
        }
        None if url.scheme() == "https" && url.port().is_none() => (Box::new(is_amazon) as _, String::new()),
        None => return None,
    };
    let path = url.path().strip_prefix(&base)?.strip_prefix('/')?;
    if is_store(host) {
        let rest = path.strip_prefix(bucket)?;
        return if rest.is_empty() { Some(rest) } else { rest.strip_prefix('/') };
    }
    let behind = host.strip_prefix(&bucket.to_ascii_lowercase())?.strip_prefix('.')?;
    is_store(behind).then_some(path)
}

/// `s3.amazonaws.com`, `s3.REGION.amazonaws.com`, `s3.dualstack.REGION.amazonaws.com`, and the same in China.
fn is_amazon(host: &str) -> bool {
    let Some(name) = host.strip_suffix(".cn").unwrap_or(host).strip_suffix(".amazonaws.com") else { return false };
    let Some(region) = name.strip_prefix("s3") else { return false };
    let region = region.strip_prefix(".dualstack").unwrap_or(region);
    match region.strip_prefix('.') {
        Some(region) => {
            !region.is_empty() && region.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
        }
        None => region.is_empty(),
    }
}
