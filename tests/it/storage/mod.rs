//! The contract of `guillemot::storage`: every case runs on the local file system and on the GCS emulator.

mod contract;
mod errors;
mod file_names;
mod scoped;

use guillemot::storage::{Storage, StorageConfig};
use tempfile::TempDir;

use crate::support::gcs::Bucket;

/// A storage, and an empty place in it.
struct Place {
    storage: Storage,
    base: String,
    kind: Kind,
}

/// What is behind it.
enum Kind {
    Folder(TempDir),
    Bucket(Bucket),
}

impl Place {
    fn file() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let base = format!("file://{}", folder.path().display());
        Self { storage: Storage::new(StorageConfig::default()).unwrap(), base, kind: Kind::Folder(folder) }
    }

    async fn gcs() -> Self {
        let bucket = Bucket::create().await;
        let config = StorageConfig { gcs_endpoint: Some(bucket.server().to_owned()), ..StorageConfig::default() };
        Self { storage: Storage::new(config).unwrap(), base: bucket.uri(), kind: Kind::Bucket(bucket) }
    }

    /// The location of this key.
    fn at(&self, key: &str) -> String {
        format!("{}/{key}", self.base)
    }

    /// What others find under this key, taken literally.
    async fn content_of(&self, key: &str) -> Option<Vec<u8>> {
        match &self.kind {
            Kind::Folder(folder) => std::fs::read(folder.path().join(key)).ok(),
            Kind::Bucket(bucket) => bucket.content_of(key).await,
        }
    }
}

/// Runs each case, an `async fn(Place)`, on every kind of store.
macro_rules! on_stores {
    ($($case:ident),+ $(,)?) => {
        mod file {
            $(#[tokio::test]
            async fn $case() {
                super::$case(super::super::Place::file()).await;
            })+
        }
        mod gcs {
            $(#[tokio::test]
            async fn $case() {
                super::$case(super::super::Place::gcs().await).await;
            })+
        }
    };
}
use on_stores;
