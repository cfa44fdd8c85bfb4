//! Settings of how much is taken on, and for how long. In the TOML file they stand in the table `[limits]`.

use super::Error;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// What can be set of limits.
#[derive(Debug, Clone, Copy, Default, clap::Args, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct LimitSettings {
    /// Requests that are worked on at once; more are answered 503 before anything is done for them [default: 512]
    #[arg(long, env = "GUILLEMOT_MAX_REQUESTS", global = true)]
    pub max_requests: Option<usize>,
    /// Of these, the ones that read many files: plans and checks of whole tables; more wait, then 503 [default: 16]
    #[arg(long, env = "GUILLEMOT_MAX_HEAVY_REQUESTS", global = true)]
    pub max_heavy_requests: Option<usize>,
    /// Connections at once; more wait to be accepted [default: 4096]
    #[arg(long, env = "GUILLEMOT_MAX_CONNECTIONS", global = true)]
    pub max_connections: Option<usize>,
    /// Headers of a request in KiB, the names and the values together; more are answered 431 [default: 64]
    #[arg(long, env = "GUILLEMOT_MAX_HEADERS_KIB", global = true)]
    pub max_headers_kib: Option<usize>,
    /// Path and query of a request in KiB; more are answered 414, and above 64 without a body [default: 16]
    #[arg(long, env = "GUILLEMOT_MAX_URI_KIB", global = true)]
    pub max_uri_kib: Option<usize>,
    /// Seconds that a request may take until it is answered [default: 300]
    #[arg(long, env = "GUILLEMOT_REQUEST_TIMEOUT_S", global = true)]
    pub request_timeout_s: Option<u64>,
    /// Seconds from the first byte of a request's headers, or of a TLS handshake, to the last [default: 15]
    #[arg(long, env = "GUILLEMOT_HEADER_TIMEOUT_S", global = true)]
    pub header_timeout_s: Option<u64>,
    /// Seconds from the headers of a request to the end of its body [default: 60]
    #[arg(long, env = "GUILLEMOT_BODY_TIMEOUT_S", global = true)]
    pub body_timeout_s: Option<u64>,
    /// Seconds that a connection is kept on which nothing moves and no request is worked on [default: 120]
    #[arg(long, env = "GUILLEMOT_IDLE_TIMEOUT_S", global = true)]
    pub idle_timeout_s: Option<u64>,
}

/// The limits in force.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "each is described at the setting of the same name")]
pub struct LimitConfig {
    pub max_requests: usize,
    pub max_heavy_requests: usize,
    pub max_connections: usize,
    pub max_headers_kib: usize,
    pub max_uri_kib: usize,
    pub request_timeout_s: u64,
    pub header_timeout_s: u64,
    pub body_timeout_s: u64,
    pub idle_timeout_s: u64,
}

impl LimitSettings {
    /// These settings, with what they leave out taken from `other`.
    pub(super) fn or(self, other: Self) -> Self {
        Self {
            max_requests: self.max_requests.or(other.max_requests),
            max_heavy_requests: self.max_heavy_requests.or(other.max_heavy_requests),
            max_connections: self.max_connections.or(other.max_connections),
            max_headers_kib: self.max_headers_kib.or(other.max_headers_kib),
            max_uri_kib: self.max_uri_kib.or(other.max_uri_kib),
            request_timeout_s: self.request_timeout_s.or(other.request_timeout_s),
            header_timeout_s: self.header_timeout_s.or(other.header_timeout_s),
            body_timeout_s: self.body_timeout_s.or(other.body_timeout_s),
            idle_timeout_s: self.idle_timeout_s.or(other.idle_timeout_s),
        }
    }

    pub(super) fn resolve(self) -> Result<LimitConfig, Error> {
        Ok(LimitConfig {
            max_requests: between("max-requests", self.max_requests.unwrap_or(512), MOST)?,
            max_heavy_requests: between("max-heavy-requests", self.max_heavy_requests.unwrap_or(16), MOST)?,
            max_connections: between("max-connections", self.max_connections.unwrap_or(4096), MOST)?,
            max_headers_kib: between("max-headers-kib", self.max_headers_kib.unwrap_or(64), 1024)?,
            max_uri_kib: between("max-uri-kib", self.max_uri_kib.unwrap_or(16), 64)?,
            request_timeout_s: seconds("request-timeout-s", self.request_timeout_s.unwrap_or(300))?,
            header_timeout_s: seconds("header-timeout-s", self.header_timeout_s.unwrap_or(15))?,
            body_timeout_s: seconds("body-timeout-s", self.body_timeout_s.unwrap_or(60))?,
            idle_timeout_s: seconds("idle-timeout-s", self.idle_timeout_s.unwrap_or(120))?,
        })
    }
}

impl LimitConfig {
    /// How long a request may take.
    pub fn request_timeout(&self) -> Duration {
        Duration::from_secs(self.request_timeout_s)
    }

    /// How long headers and handshakes may take.
    pub fn header_timeout(&self) -> Duration {
        Duration::from_secs(self.header_timeout_s)
    }

    /// How long a body may take.
    pub fn body_timeout(&self) -> Duration {
        Duration::from_secs(self.body_timeout_s)
    }

    /// How long nothing may move on a connection.
    pub fn idle_timeout(&self) -> Duration {
        Duration::from_secs(self.idle_timeout_s)
    }
}

/// More than any machine bears, and less than a semaphore does.
const MOST: usize = 1_000_000;

/// As long as anybody waits: a day.
const LONGEST_S: u64 = 86_400;

fn between(key: &'static str, value: usize, most: usize) -> Result<usize, Error> {
    if (1..=most).contains(&value) {
        return Ok(value);
    }
    let expected = match most {
        64 => "1 to 64",
        1024 => "1 to 1024",
        _ => "1 to 1000000",
    };
    Err(Error::Value { key, expected, found: value.to_string() })
}

fn seconds(key: &'static str, value: u64) -> Result<u64, Error> {
    let wrong = || Error::Value { key, expected: "1 to 86400 seconds", found: value.to_string() };
    (1..=LONGEST_S).contains(&value).then_some(value).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_of_nothing_is_refused() {
        let refused = |toml: &str| toml::from_str::<LimitSettings>(toml).unwrap().resolve().unwrap_err().to_string();
        assert_eq!(refused("max-requests = 0"), "max-requests: expected 1 to 1000000, found `0`");
        assert_eq!(refused("max-uri-kib = 65"), "max-uri-kib: expected 1 to 64, found `65`");
        assert_eq!(refused("idle-timeout-s = 0"), "idle-timeout-s: expected 1 to 86400 seconds, found `0`");
    }
}
