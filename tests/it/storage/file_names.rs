//! The parts of a location that become a file's name.

use bytes::Bytes;
use guillemot::storage::Location;

use super::Place;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_spelling_of_a_local_uri_is_one_file() {
    let place = Place::file();
    let path = place.base.strip_prefix("file://").unwrap().to_owned();
    place.storage.write_new(&format!("file:{path}/x"), Bytes::from_static(b"x")).await.unwrap();
    for spelling in [format!("file://{path}/x"), format!("file://localhost{path}/x"), format!("{path}/x")] {
        assert_eq!(place.storage.read(&spelling).await.unwrap(), "x", "{spelling}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn any_name_makes_a_file_below_its_folder() {
    let place = Place::file();
    let base = Location::parse(&place.base).unwrap();
    for name in ["t", "..", ".", "a/../../b", "a b", "größe", "%2F", "con", "x#1", "-rf"] {
        let location = base.child(name).unwrap().child("metadata").unwrap().child("m.json").unwrap();
        assert!(location.is_under(&base));
        place.storage.write_new(&location.to_string(), Bytes::from_static(b"x")).await.unwrap();
        let key = location.to_string().strip_prefix(&format!("{}/", place.base)).unwrap().to_owned();
        assert_eq!(place.content_of(&key).await.as_deref(), Some(&b"x"[..]), "{name}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_cut_off_write_left_is_deleted_and_nothing_else() {
    let place = Place::file();
    let folder = place.base.strip_prefix("file://").unwrap().to_owned();
    for name in ["m.json#1", "m.json#2", "m.json#4", "m.json#1x", "n.json#1", "m.json"] {
        std::fs::write(format!("{folder}/{name}"), "x").unwrap();
    }
    place.storage.delete_remains(&place.at("m.json")).await.unwrap();
    let mut left: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["m.json", "m.json#1x", "m.json#4", "n.json#1"]);
    place.storage.delete_remains(&place.at("none.json")).await.unwrap();
    Place::gcs().await.storage.delete_remains("gs://none/m.json").await.unwrap();
}
