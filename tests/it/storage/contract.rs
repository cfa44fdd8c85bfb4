use bytes::Bytes;
use guillemot::storage::{Error, Location, Storage, StorageConfig};

use super::{Kind, Place, on_stores};

on_stores!(
    what_is_written_is_read,
    an_object_is_created_once,
    writing_the_same_again_is_a_retry,
    one_of_eight_creators_wins,
    ranges_end_where_the_object_ends,
    a_missing_object_is_not_found,
    deleting_is_idempotent,
    names_are_taken_literally,
    a_place_knows_whether_it_is_empty,
    a_folder_lists_what_lies_directly_in_it,
    a_large_object_is_not_taken_into_memory,
    large_objects_pass,
    clients_are_told_where_the_store_is,
);

async fn what_is_written_is_read(place: Place) {
    let location = place.at("ns/t/metadata/00000-a.metadata.json");
    let content = Bytes::from_static(b"{\"a\":\"\xc3\xa4\"}\r\n--guillemot-upload");
    place.storage.write_new(&location, content.clone()).await.unwrap();
    assert_eq!(place.storage.read(&location).await.unwrap(), content);
    assert_eq!(place.storage.size(&location).await.unwrap(), content.len() as u64);
    assert_eq!(place.content_of("ns/t/metadata/00000-a.metadata.json").await.unwrap(), content);
    let empty = place.at("empty");
    place.storage.write_new(&empty, Bytes::new()).await.unwrap();
    assert_eq!(place.storage.read(&empty).await.unwrap(), Bytes::new());
}

async fn an_object_is_created_once(place: Place) {
    let location = place.at("a/b");
    place.storage.write_new(&location, Bytes::from_static(b"first")).await.unwrap();
    let second = place.storage.write_new(&location, Bytes::from_static(b"second")).await;
    assert!(matches!(second, Err(Error::AlreadyExists { location: l }) if l == location));
    assert_eq!(place.storage.read(&location).await.unwrap(), "first");
}

async fn writing_the_same_again_is_a_retry(place: Place) {
    let location = place.at("a/b");
    for _ in 0..2 {
        place.storage.write_new(&location, Bytes::from_static(b"same")).await.unwrap();
    }
}

async fn one_of_eight_creators_wins(place: Place) {
    let location = place.at("deep/er/and/deeper/object");
    let tasks: Vec<_> = (0..8)
        .map(|n| {
            let (storage, location) = (place.storage.clone(), location.clone());
            tokio::spawn(async move { storage.write_new(&location, Bytes::from(format!("{n}"))).await })
        })
        .collect();
    let mut won = Vec::new();
    for (n, task) in tasks.into_iter().enumerate() {
        match task.await.unwrap() {
            Ok(()) => won.push(n),
            Err(Error::AlreadyExists { .. }) => {}
            Err(error) => panic!("{error:?}"),
        }
    }
    let [winner] = won.as_slice() else { panic!("{won:?} won") };
    assert_eq!(place.storage.read(&location).await.unwrap(), winner.to_string());
}

async fn ranges_end_where_the_object_ends(place: Place) {
    let location = place.at("x");
    place.storage.write_new(&location, Bytes::from_static(b"0123456789")).await.unwrap();
    for (range, expected) in
        [(0..3, "012"), (4..5, "4"), (0..10, "0123456789"), (8..20, "89"), (10..20, ""), (99..100, ""), (5..5, "")]
    {
        assert_eq!(place.storage.read_range(&location, range.clone()).await.unwrap(), expected, "{range:?}");
    }
}

async fn a_missing_object_is_not_found(place: Place) {
    place.storage.write_new(&place.at("ns/t"), Bytes::from_static(b"x")).await.unwrap();
    // Neither a folder nor what lies below an object is an object.
    for key in ["none", "ns/none", "ns", "ns/t/below"] {
        let location = place.at(key);
        let not_found = |error: Error| matches!(error, Error::NotFound { location: l } if l == location);
        assert!(not_found(place.storage.read(&location).await.unwrap_err()), "{key}");
        assert!(not_found(place.storage.size(&location).await.unwrap_err()), "{key}");
        assert!(not_found(place.storage.read_range(&location, 0..1).await.unwrap_err()), "{key}");
    }
}

async fn deleting_is_idempotent(place: Place) {
    let (one, other) = (place.at("ns/t"), place.at("ns/t2"));
    for location in [&one, &other] {
        place.storage.write_new(location, Bytes::from_static(b"x")).await.unwrap();
    }
    for _ in 0..2 {
        place.storage.delete(&one).await.unwrap();
    }
    place.storage.delete(&place.at("no/such/folder")).await.unwrap();
    assert!(matches!(place.storage.read(&one).await, Err(Error::NotFound { .. })));
    assert_eq!(place.storage.read(&other).await.unwrap(), "x");
    place.storage.write_new(&one, Bytes::from_static(b"again")).await.unwrap();
}

async fn names_are_taken_literally(place: Place) {
    for key in ["a%20b/c%2Fd", "a b/c", "%252E%252E/x", "ä/🦆", "a+b", "x=1/y&z", "q?u", "h#a", "100%", "%zz", "~'()*!"]
    {
        let location = place.at(key);
        let content = Bytes::from(key.to_owned());
        place.storage.write_new(&location, content.clone()).await.unwrap();
        assert_eq!(place.storage.read(&location).await.unwrap(), content, "{key}");
        assert_eq!(place.content_of(key).await.as_deref(), Some(key.as_bytes()), "{key}");
    }
}

async fn a_place_knows_whether_it_is_empty(place: Place) {
    assert!(!place.storage.list_any(&place.base).await.unwrap());
    assert!(!place.storage.list_any(&place.at("ns/t")).await.unwrap());
    place.storage.check(&place.base).await.unwrap();
    place.storage.write_new(&place.at("ns/t2/data/x%20y"), Bytes::from_static(b"x")).await.unwrap();
    assert!(!place.storage.list_any(&place.at("ns/t")).await.unwrap());
    for key in ["ns/t2", "ns/t2/", "ns", "ns/t2/data"] {
        assert!(place.storage.list_any(&place.at(key)).await.unwrap(), "{key}");
    }
    assert!(place.storage.list_any(&place.base).await.unwrap());
}

async fn a_folder_lists_what_lies_directly_in_it(place: Place) {
    let list = async |at: String| {
        let folder = place.storage.list_folder(&Location::parse(&at).unwrap()).await.unwrap();
        let names = |places: Vec<Location>| {
            let mut names: Vec<String> = places.iter().map(|place| place.name().to_owned()).collect();
            names.sort();
            names
        };
        (names(folder.folders), names(folder.objects))
    };
    assert_eq!(list(place.base.clone()).await, (Vec::new(), Vec::new()));
    for key in ["ns/t/metadata/v1.metadata.json", "ns/t/x", "ns/a b%20c/x", "ns/\u{fc}/y/z", "ns/file", "ns2/x"] {
        place.storage.write_new(&place.at(key), Bytes::from_static(b"x")).await.unwrap();
    }
    let texts = |texts: &[&str]| texts.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(list(place.base.clone()).await, (texts(&["ns", "ns2"]), Vec::new()));
    assert_eq!(list(place.at("ns")).await, (texts(&["a b%20c", "t", "\u{fc}"]), texts(&["file"])));
    assert_eq!(list(place.at("ns/t")).await, (texts(&["metadata"]), texts(&["x"])));
    assert_eq!(list(place.at("none")).await, (Vec::new(), Vec::new()));
    // What is listed can be read as it is listed.
    let inside = place.storage.list_folder(&Location::parse(&place.at("ns/a b%20c")).unwrap()).await.unwrap();
    assert_eq!(place.storage.read(&inside.objects[0].to_string()).await.unwrap(), "x");
}

async fn a_large_object_is_not_taken_into_memory(place: Place) {
    let config = match &place.kind {
        Kind::Folder(_) => StorageConfig::default(),
        Kind::Bucket(bucket) => {
            StorageConfig { gcs_endpoint: Some(bucket.server().to_owned()), ..StorageConfig::default() }
        }
    };
    let small = Storage::new(StorageConfig { max_object_bytes: 4, ..config }).unwrap();
    let location = place.at("x");
    place.storage.write_new(&location, Bytes::from_static(b"12345")).await.unwrap();
    assert!(matches!(small.read(&location).await, Err(Error::TooLarge { size: 5, limit: 4, .. })));
    assert!(matches!(small.read_range(&location, 0..5).await, Err(Error::TooLarge { .. })));
    assert_eq!(small.read_range(&location, 1..5).await.unwrap(), "2345");
    assert_eq!(small.size(&location).await.unwrap(), 5);
}

async fn large_objects_pass(place: Place) {
    let location = place.at("large");
    let content: Bytes = (0..5_000_000_u32).flat_map(u32::to_le_bytes).collect::<Vec<_>>().into();
    place.storage.write_new(&location, content.clone()).await.unwrap();
    assert!(place.storage.read(&location).await.unwrap() == content);
}

async fn clients_are_told_where_the_store_is(place: Place) {
    let told = place.storage.client_config(&place.at("ns/t"));
    match &place.kind {
        Kind::Folder(_) => assert!(told.is_empty()),
        Kind::Bucket(bucket) => {
            assert_eq!(told.get("gcs.service.host").map(String::as_str), Some(bucket.server()));
            assert_eq!(told.get("gcs.service.path").map(String::as_str), Some(bucket.server()));
            assert_eq!(told.get("gcs.no-auth").map(String::as_str), Some("true"));
        }
    }
}
