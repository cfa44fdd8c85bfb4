//! Making a client for each bucket, once, with the secret of the place if it has one.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use object_store::aws::{AmazonS3Builder, AwsCredentialProvider};
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::local::LocalFileSystem;
use object_store::{BackoffConfig, ClientOptions, ObjectStore, RetryConfig};

use super::config::StorageConfig;
use super::error::Error;
use super::gcs_emulator::EmulatorConnector;
use super::location::{Location, Scheme};
use super::secret::StorageSecret;

/// Most clients that are kept. A server has a handful of buckets; a client's request must not grow this for ever.
const MAX_STORES: usize = 256;

/// One try of one request, body included.
const REQUEST_LIMIT: Duration = Duration::from_mins(1);
const CONNECT_LIMIT: Duration = Duration::from_secs(5);

/// After this time from its first try a request is not tried again.
const RETRY_LIMIT: Duration = Duration::from_secs(20);

/// The client of one bucket, and for S3 what it signs with.
#[derive(Debug, Clone)]
struct Store {
    objects: Arc<dyn ObjectStore>,
    s3_credentials: Option<AwsCredentialProvider>,
}

/// Kind, bucket, and the place whose secret is used there, if any.
type Key = (Scheme, String, Option<Location>);

/// The clients that were made so far, and the secrets of places that have one.
#[derive(Debug, Default)]
pub(super) struct Stores(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    made: HashMap<Key, Store>,
    secrets: HashMap<Location, Arc<StorageSecret>>,
}

impl Stores {
    /// The client for this location's bucket.
    pub(super) fn store(&self, config: &StorageConfig, location: &Location) -> Result<Arc<dyn ObjectStore>, Error> {
        Ok(self.find(config, location)?.objects)
    }

    /// What signs requests to this location's bucket, which is in S3.
    pub(super) fn s3_credentials(
        &self,
        config: &StorageConfig,
        location: &Location,
    ) -> Result<AwsCredentialProvider, Error> {
        let credentials = self.find(config, location)?.s3_credentials;
        credentials.ok_or_else(|| Error::unavailable(&location.to_string(), "it is not in S3"))
    }

    /// Uses a secret, or none, for what lies in a place.
    pub(super) fn use_secret(&self, place: &Location, secret: Option<Arc<StorageSecret>>) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.secrets.get(place) == secret.as_ref() {
            return;
        }
        known.made.retain(|(_, _, of), _| of.as_ref() != Some(place));
        match secret {
            Some(secret) => known.secrets.insert(place.clone(), secret),
            None => known.secrets.remove(place),
        };
    }

    fn find(&self, config: &StorageConfig, location: &Location) -> Result<Store, Error> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // The innermost place decides, when places lie in each other.
        let holding = known.secrets.iter().filter(|(place, _)| location.is_under(place));
        let holder = holding.max_by_key(|(place, _)| place.key().len());
        let (place, secret) = holder.map(|(place, secret)| (place.clone(), Arc::clone(secret))).unzip();
        let key = (location.scheme(), location.bucket().to_owned(), place);
        if let Some(store) = known.made.get(&key) {
            return Ok(store.clone());
        }
        let store =
            open(config, location, secret.as_deref()).map_err(|e| Error::unavailable(&location.to_string(), e))?;
        if known.made.len() >= MAX_STORES {
            known.made.clear();
        }
        known.made.insert(key, store.clone());
        Ok(store)
    }
}

fn open(config: &StorageConfig, location: &Location, secret: Option<&StorageSecret>) -> object_store::Result<Store> {
    let plain = |objects| Store { objects, s3_credentials: None };
    Ok(match location.scheme() {
        // An acknowledged commit must find its metadata file after a power failure.
        Scheme::File => plain(Arc::new(LocalFileSystem::new().with_fsync(true))),
        Scheme::Gs => plain(Arc::new(gcs(config, location.bucket(), secret).build()?)),
        Scheme::S3 => {
            let store = s3(config, location.bucket(), secret).build()?;
            let s3_credentials = Some(Arc::clone(store.credentials()));
            Store { objects: Arc::new(store), s3_credentials }
        }
    })
}

fn gcs(config: &StorageConfig, bucket: &str, secret: Option<&StorageSecret>) -> GoogleCloudStorageBuilder {
    let builder = match &config.gcs_endpoint {
        // A bearer token keeps the client from asking for real credentials; the emulator looks at none.
        Some(endpoint) => GoogleCloudStorageBuilder::new()
            .with_base_url(endpoint)
            .with_bearer_token("emulator")
            .with_http_connector(EmulatorConnector::default())
            .with_client_options(client_options().with_allow_http(true)),
        None => match secret {
            Some(StorageSecret::GcsServiceAccount { key }) => GoogleCloudStorageBuilder::new()
                .with_service_account_key(serde_json::Value::Object(key.clone()).to_string()),
            _ => GoogleCloudStorageBuilder::from_env(),
        }
        .with_client_options(client_options()),
    };
    builder.with_bucket_name(bucket).with_retry(retries())
}

fn s3(config: &StorageConfig, bucket: &str, secret: Option<&StorageSecret>) -> AmazonS3Builder {
    let builder = match secret {
        Some(StorageSecret::S3AccessKey { access_key_id, secret_access_key }) => {
            AmazonS3Builder::new().with_access_key_id(access_key_id).with_secret_access_key(secret_access_key)
        }
        _ => AmazonS3Builder::from_env(),
    };
    let mut builder = builder
        .with_client_options(client_options())
        .with_bucket_name(bucket)
        .with_virtual_hosted_style_request(config.s3_path_style != Some(true))
        .with_retry(retries());
    if let Some(region) = &config.s3_region {
        builder = builder.with_region(region);
    }
    if let Some(endpoint) = &config.s3_endpoint {
        builder = builder.with_endpoint(endpoint).with_allow_http(endpoint.starts_with("http://"));
    }
    builder
}

fn client_options() -> ClientOptions {
    ClientOptions::new().with_connect_timeout(CONNECT_LIMIT).with_timeout(REQUEST_LIMIT)
}

fn retries() -> RetryConfig {
    RetryConfig {
        backoff: BackoffConfig {
            init_backoff: Duration::from_millis(100),
            max_backoff: Duration::from_secs(4),
            base: 2.,
        },
        max_retries: 5,
        retry_timeout: RETRY_LIMIT,
    }
}
