//! Where stores are, when they are not where their makers put them.

use std::collections::BTreeMap;

use super::error::Error;
use super::location::Scheme;

/// Settings of [`super::Storage`]. The default reaches Google's and Amazon's own services with the credentials that
/// the environment gives, by the usual variables and files of both.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StorageConfig {
    /// A GCS emulator, as this server reaches it: a URL, or `HOST:PORT`.
    pub gcs_endpoint: Option<String>,
    /// The same emulator as clients reach it; the default is [`StorageConfig::gcs_endpoint`].
    pub gcs_public_endpoint: Option<String>,
    /// A store that speaks S3, as this server reaches it.
    pub s3_endpoint: Option<String>,
    /// The same store as clients reach it; the default is [`StorageConfig::s3_endpoint`].
    pub s3_public_endpoint: Option<String>,
    /// The region; the default is `AWS_REGION`, then `AWS_DEFAULT_REGION`, then `us-east-1`.
    pub s3_region: Option<String>,
    /// Whether the bucket is in the path rather than in the host; the default is yes where an endpoint is set.
    pub s3_path_style: Option<bool>,
    /// Most bytes of an object that are taken into memory.
    pub max_object_bytes: u64,
}

impl Default for StorageConfig {
    fn default() -> Self {
        Self {
            gcs_endpoint: None,
            gcs_public_endpoint: None,
            s3_endpoint: None,
            s3_public_endpoint: None,
            s3_region: None,
            s3_path_style: None,
            max_object_bytes: 512 << 20,
        }
    }
}

impl StorageConfig {
    /// Fills in what follows from other settings and from the environment.
    pub(super) fn resolved(mut self) -> Result<Self, Error> {
        let endpoints = [
            &mut self.gcs_endpoint,
            &mut self.gcs_public_endpoint,
            &mut self.s3_endpoint,
            &mut self.s3_public_endpoint,
        ];
        for endpoint in endpoints {
            *endpoint = endpoint.take().map(|text| normal_endpoint(&text)).transpose()?;
        }
        self.gcs_public_endpoint = self.gcs_public_endpoint.or_else(|| self.gcs_endpoint.clone());
        self.s3_public_endpoint = self.s3_public_endpoint.or_else(|| self.s3_endpoint.clone());
        self.s3_path_style = self.s3_path_style.or(Some(self.s3_endpoint.is_some()));
        let variable = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
        self.s3_region = self.s3_region.or_else(|| variable("AWS_REGION")).or_else(|| variable("AWS_DEFAULT_REGION"));
        Ok(self)
    }

    /// What a client must be told to reach objects of this kind as this server does.
    pub(super) fn for_clients(&self, scheme: Scheme) -> BTreeMap<String, String> {
        let mut config = BTreeMap::new();
        let mut set = |key: &str, value: &str| config.insert(key.to_owned(), value.to_owned());
        match scheme {
            Scheme::File => {}
            Scheme::Gs => {
                if let Some(endpoint) = &self.gcs_public_endpoint {
                    set("gcs.service.host", endpoint);
                    set("gcs.service.path", endpoint); // iceberg-rust's word for it, up to 0.10
                    set("gcs.no-auth", "true");
                }
            }
            Scheme::S3 => {
                if let Some(endpoint) = &self.s3_public_endpoint {
                    set("s3.endpoint", endpoint);
                }
                if self.s3_path_style == Some(true) {
                    set("s3.path-style-access", "true");
                }
                if let Some(region) = &self.s3_region {
                    set("client.region", region);
                }
            }
        }
        config
    }
}

/// `HOST:PORT` is what `STORAGE_EMULATOR_HOST` holds by convention; a URL is what libraries want.
fn normal_endpoint(text: &str) -> Result<String, Error> {
    let url = if text.contains("://") { text.to_owned() } else { format!("http://{text}") };
    let is_web = url::Url::parse(&url).is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    if is_web {
        Ok(url.trim_end_matches('/').to_owned())
    } else {
        Err(Error::Invalid { location: text.to_owned(), reason: "an endpoint is an http or https URL".to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_are_told_of_an_emulator_and_of_nothing_else() {
        let config = StorageConfig { gcs_endpoint: Some("127.0.0.1:4443/".to_owned()), ..StorageConfig::default() };
        let config = config.resolved().unwrap();
        assert_eq!(config.gcs_endpoint.as_deref(), Some("http://127.0.0.1:4443"));
        let told = config.for_clients(Scheme::Gs);
        for key in ["gcs.service.host", "gcs.service.path"] {
            assert_eq!(told.get(key).map(String::as_str), Some("http://127.0.0.1:4443"), "{key}");
        }
        assert_eq!(told.get("gcs.no-auth").map(String::as_str), Some("true"));
        assert!(config.for_clients(Scheme::File).is_empty());
        assert!(StorageConfig::default().resolved().unwrap().for_clients(Scheme::Gs).is_empty());
    }

    #[test]
    fn clients_may_see_another_address_than_the_server() {
        let config = StorageConfig {
            s3_endpoint: Some("http://store:8333".to_owned()),
            s3_public_endpoint: Some("https://s3.example.com".to_owned()),
            s3_region: Some("eu-west-1".to_owned()),
            ..StorageConfig::default()
        };
        let told = config.resolved().unwrap().for_clients(Scheme::S3);
        let expected = [
            ("client.region", "eu-west-1"),
            ("s3.endpoint", "https://s3.example.com"),
            ("s3.path-style-access", "true"),
        ];
        assert_eq!(told, expected.map(|(key, value)| (key.to_owned(), value.to_owned())).into());
    }

    #[test]
    fn an_endpoint_is_a_url() {
        for text in ["ftp://x", "", "http://", "::"] {
            let config = StorageConfig { gcs_endpoint: Some(text.to_owned()), ..StorageConfig::default() };
            assert!(config.resolved().is_err(), "{text}");
        }
    }
}
