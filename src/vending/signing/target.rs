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
    /// Takes apart a URL that must go to this bucket of this store; at Amazon, in this region.
    pub(super) fn parse(text: &str, bucket: &str, region: &str, endpoint: Option<&str>) -> Result<Self, Refusal> {
        let malformed = |what: &str| Refusal::Malformed(format!("uri: {what}"));
        if text.len() > MOST_BYTES {
            return Err(malformed("it is too long"));
        }
        let url = Url::parse(text).map_err(|error| malformed(&error.to_string()))?;
        if !url.username().is_empty() || url.password().is_some() || url.fragment().is_some() {
            return Err(malformed("it has a user, a password or a fragment"));
        }
        let foreign = || Refusal::Forbidden(format!("the URL does not go to bucket {bucket} of the warehouse's store"));
        let path = path_in_bucket(&url, bucket, region, endpoint).ok_or_else(foreign)?;
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
fn path_in_bucket<'u>(url: &'u Url, bucket: &str, region: &str, endpoint: Option<&str>) -> Option<&'u str> {
    let host = url.host_str()?;
    let (stores, base) = match endpoint {
        Some(endpoint) => {
            let store = Url::parse(endpoint).ok()?;
            if url.scheme() != store.scheme() || url.port_or_known_default() != store.port_or_known_default() {
                return None;
            }
            (vec![store.host_str()?.to_owned()], store.path().trim_end_matches('/').to_owned())
        }
        None if url.scheme() == "https" && url.port().is_none() => (amazon(region), String::new()),
        None => return None,
    };
    let is_store = |asked: &str| stores.iter().any(|store| store == asked);
    let path = url.path().strip_prefix(&base)?.strip_prefix('/')?;
    if is_store(host) {
        let rest = path.strip_prefix(bucket)?;
        return if rest.is_empty() { Some(rest) } else { rest.strip_prefix('/') };
    }
    let behind = host.strip_prefix(&bucket.to_ascii_lowercase())?.strip_prefix('.')?;
    is_store(behind).then_some(path)
}

/// The hosts of Amazon's S3 in a region. No other label is taken for a region: under Amazon's domain there are services
/// of all kinds, and the signature names this region.
fn amazon(region: &str) -> Vec<String> {
    let domain = if region.starts_with("cn-") { "amazonaws.com.cn" } else { "amazonaws.com" };
    let mut hosts = vec![format!("s3.{region}.{domain}"), format!("s3.dualstack.{region}.{domain}")];
    if domain == "amazonaws.com" {
        hosts.push("s3.amazonaws.com".to_owned());
    }
    hosts
}
