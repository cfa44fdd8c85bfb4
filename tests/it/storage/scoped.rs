use bytes::Bytes;
use guillemot::storage::{Location, Scoped};
use guillemot::validate::{ReadBytes, ReadError};

use super::{Place, on_stores};

on_stores!(
    only_what_is_allowed_is_read,
    a_missing_object_is_the_clients_fault,
    large_objects_are_parsed_beside_requests,
);

fn scoped(place: &Place, prefixes: &[&str]) -> Scoped {
    let allowed = prefixes.iter().map(|key| Location::parse(&place.at(key)).unwrap());
    Scoped::new(place.storage.clone(), allowed.collect())
}

async fn only_what_is_allowed_is_read(place: Place) {
    for key in ["w/t/x", "w2/t/x", "other/x"] {
        place.storage.write_new(&place.at(key), Bytes::from_static(b"0123456789")).await.unwrap();
    }
    let reader = scoped(&place, &["w", "other"]);
    let inside = place.at("w/t/x");
    assert_eq!(reader.read(&inside, None).await.unwrap(), "0123456789");
    assert_eq!(reader.read(&inside, Some(2..4)).await.unwrap(), "23");
    assert_eq!(reader.size(&place.at("other/x")).await.unwrap(), 10);
    for outside in [
        place.at("w2/t/x"),
        place.at("w/../w2/t/x"),
        place.at("w/%2e%2e/w2/t/x"),
        place.at("w//t/x"),
        place.base.clone(),
        "file:///etc/passwd".to_owned(),
        "gs://other-bucket/w/t/x".to_owned(),
        "http://169.254.169.254/computeMetadata/v1/".to_owned(),
        "w/t/x".to_owned(),
        String::new(),
    ] {
        let refused = |error: ReadError| match error {
            ReadError::Outside { location, allowed } => location == outside && allowed.len() == 2,
            _ => false,
        };
        assert!(refused(reader.permit(&outside).unwrap_err()), "{outside}");
        assert!(refused(reader.size(&outside).await.unwrap_err()), "{outside}");
        assert!(refused(reader.read(&outside, Some(0..1)).await.unwrap_err()), "{outside}");
    }
    let nowhere = scoped(&place, &[]);
    assert!(matches!(nowhere.permit(&inside), Err(ReadError::Outside { .. })));
}

async fn a_missing_object_is_the_clients_fault(place: Place) {
    let reader = scoped(&place, &["w"]);
    let missing = place.at("w/none");
    assert!(matches!(reader.read(&missing, None).await, Err(ReadError::NotFound { location }) if location == missing));
    assert!(matches!(reader.size(&missing).await, Err(ReadError::NotFound { .. })));
    assert!(matches!(reader.size(&place.at("w")).await, Err(ReadError::NotFound { .. })));
}

async fn large_objects_are_parsed_beside_requests(place: Place) {
    let reader = scoped(&place, &["w"]);
    let parse = |bytes: &[u8]| (bytes.len(), std::thread::current().id());
    let here = std::thread::current().id();
    assert_eq!(reader.parse(Bytes::from_static(b"small"), parse).await, (5, here));
    let (length, there) = reader.parse(vec![0; 1 << 20].into(), parse).await;
    assert_eq!(length, 1 << 20);
    assert_ne!(there, here);
}
