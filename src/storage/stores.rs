//! Making a client for each bucket, once.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use object_store::aws::AmazonS3Builder;
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::local::LocalFileSystem;
use object_store::{BackoffConfig, ClientOptions, ObjectStore, RetryConfig};

use super::config::StorageConfig;
use super::error::Error;
use super::gcs_emulator::EmulatorConnector;
use super::location::{Location, Scheme};

/// Most clients that are kept. A server has a handful of buckets; a client's request must not grow this for ever.
const MAX_STORES: usize = 256;

/// One try of one request, body included.
const REQUEST_LIMIT: Duration = Duration::from_mins(1);
const CONNECT_LIMIT: Duration = Duration::from_secs(5);

/// After this time from its first try a request is not tried again.
const RETRY_LIMIT: Duration = Duration::from_secs(20);

type Store = Arc<dyn ObjectStore>;

/// The clients that were made so far, by kind and bucket.
#[derive(Debug, Default)]
pub(super) struct Stores {
    made: Mutex<HashMap<(Scheme, String), Store>>,
}

impl Stores {
    /// The client for this location's bucket.
    pub(super) fn store(&self, config: &StorageConfig, location: &Location) -> Result<Store, Error> {
        let key = (location.scheme(), location.bucket().to_owned());
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(store) = made.get(&key) {
            return Ok(Arc::clone(store));
        }
        let store = open(config, location).map_err(|error| Error::unavailable(&location.to_string(), error))?;
        if made.len() >= MAX_STORES {
            made.clear();
        }
        made.insert(key, Arc::clone(&store));
        Ok(store)
    }
}

fn open(config: &StorageConfig, location: &Location) -> object_store::Result<Store> {
    Ok(match location.scheme() {
        // An acknowledged commit must find its metadata file after a power failure.
        Scheme::File => Arc::new(LocalFileSystem::new().with_fsync(true)),
        Scheme::Gs => Arc::new(gcs(config, location.bucket()).build()?),
        Scheme::S3 => Arc::new(s3(config, location.bucket()).build()?),
    })
}

fn gcs(config: &StorageConfig, bucket: &str) -> GoogleCloudStorageBuilder {
    let builder = match &config.gcs_endpoint {
        // A bearer token keeps the client from asking for real credentials; the emulator looks at none.
        Some(endpoint) => GoogleCloudStorageBuilder::new()
            .with_base_url(endpoint)
            .with_bearer_token("emulator")
            .with_http_connector(EmulatorConnector::default())
            .with_client_options(client_options().with_allow_http(true)),
        None => GoogleCloudStorageBuilder::from_env().with_client_options(client_options()),
    };
    builder.with_bucket_name(bucket).with_retry(retries())
}

fn s3(config: &StorageConfig, bucket: &str) -> AmazonS3Builder {
    let mut builder = AmazonS3Builder::from_env()
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
