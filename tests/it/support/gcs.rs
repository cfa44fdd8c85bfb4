//! A bucket a test, on the emulator that `TEST_GCS_URL` names.

use std::sync::atomic::{AtomicU32, Ordering};

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

static NEXT: AtomicU32 = AtomicU32::new(0);

/// A bucket of one test's own. It goes away with the emulator, which keeps everything in memory.
pub(crate) struct Bucket {
    server: String,
    name: String,
}

impl Bucket {
    pub(crate) async fn create() -> Self {
        let server = super::setting("TEST_GCS_URL");
        let started = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap().as_millis();
        let name = format!("test-{started}-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let bucket = serde_json::json!({ "name": name });
        let url = format!("{server}/storage/v1/b?project=test");
        reqwest::Client::new().post(url).json(&bucket).send().await.unwrap().error_for_status().unwrap();
        Self { server, name }
    }

    /// Where the emulator is.
    pub(crate) fn server(&self) -> &str {
        &self.server
    }

    /// `gs://` and the bucket's name.
    pub(crate) fn uri(&self) -> String {
        format!("gs://{}", self.name)
    }

    /// What another client finds under this key, by the JSON API that engines use.
    pub(crate) async fn content_of(&self, key: &str) -> Option<Vec<u8>> {
        let key = utf8_percent_encode(key, NON_ALPHANUMERIC);
        let url = format!("{}/storage/v1/b/{}/o/{key}?alt=media", self.server, self.name);
        let reply = reqwest::get(url).await.unwrap();
        match reply.status().as_u16() {
            404 => None,
            _ => Some(reply.error_for_status().unwrap().bytes().await.unwrap().to_vec()),
        }
    }
}

/// The locations of a bucket's objects whose keys begin with a prefix, as another client sees them.
pub(crate) async fn list(bucket: &str, prefix: &str) -> Vec<String> {
    let server = super::setting("TEST_GCS_URL");
    let prefix = utf8_percent_encode(prefix, NON_ALPHANUMERIC);
    let url = format!("{server}/storage/v1/b/{bucket}/o?prefix={prefix}");
    let text = reqwest::get(url).await.unwrap().error_for_status().unwrap().text().await.unwrap();
    let listing: serde_json::Value = serde_json::from_str(&text).unwrap();
    let items = listing["items"].as_array().cloned().unwrap_or_default();
    items.iter().map(|item| format!("gs://{bucket}/{}", item["name"].as_str().unwrap())).collect()
}
