//! Failures that only one kind of store has.

use std::error::Error as _;

use bytes::Bytes;
use guillemot::storage::{Error, Storage, StorageConfig};

use super::Place;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_store_that_is_not_there_is_unavailable_within_the_limit() {
    // A port that was free a moment ago: nothing answers.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let gcs_endpoint = Some(format!("127.0.0.1:{port}"));
    let storage = Storage::new(StorageConfig { gcs_endpoint, ..StorageConfig::default() }).unwrap();
    let started = std::time::Instant::now();
    let (read, write, check) = tokio::join!(
        storage.read("gs://bucket/x"),
        storage.write_new("gs://bucket/x", Bytes::new()),
        storage.check("gs://bucket"),
    );
    for error in [read.map(|_| ()), write, check].map(Result::unwrap_err) {
        assert!(matches!(error, Error::Unavailable { .. }), "{error:?}");
        assert!(error.source().is_some());
        assert!(error.to_string().starts_with("gs://bucket"), "{error}");
    }
    assert!(started.elapsed().as_secs() < 30);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bucket_that_is_not_there_is_not_found() {
    let place = Place::gcs().await;
    let missing = |result: Result<(), Error>| matches!(result, Err(Error::NotFound { .. }));
    assert!(missing(place.storage.read("gs://no-such-bucket/x").await.map(|_| ())));
    assert!(missing(place.storage.write_new("gs://no-such-bucket/x", Bytes::from_static(b"x")).await));
    assert!(place.storage.check("gs://no-such-bucket").await.is_err());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_no_location_is_invalid() {
    let storage = Storage::new(StorageConfig::default()).unwrap();
    for location in ["http://x/y", "gs://bucket", "file:///", "file:///a/../b", "x", "gs://b/%2e%2e/x"] {
        assert!(matches!(storage.read(location).await, Err(Error::Invalid { location: l, .. }) if l == location));
    }
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_in_the_place_of_a_folder_cannot_be_written_below() {
    let place = Place::file();
    place.storage.write_new(&place.at("ns"), Bytes::from_static(b"x")).await.unwrap();
    let below = place.storage.write_new(&place.at("ns/t"), Bytes::from_static(b"x")).await;
    assert!(below.is_err());
    assert_eq!(place.storage.read(&place.at("ns")).await.unwrap(), "x");
}
