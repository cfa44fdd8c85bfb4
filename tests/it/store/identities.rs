use guillemot::store::identities::{Credential, PublicKey, Status, create, list, load, revoke, rotate};
use guillemot::store::signing_keys::{self, SigningKey};
use guillemot::store::{Db, Entity, Error, Page};

use crate::support::{TestDb, on_both};

on_both!(
    an_identity_is_kept_with_its_credential,
    a_name_is_given_once,
    each_change_counts_the_version_up,
    what_is_revoked_stays_revoked,
    identities_are_listed_by_name,
    signing_keys_are_listed_newest_first_and_die_of_age,
);

fn secret(hash: &str) -> Credential {
    Credential::Secret { hash: hash.to_owned() }
}

fn key(id: &str) -> Credential {
    Credential::Key(PublicKey { id: id.to_owned(), jwk: "{}".to_owned(), token_uri: "http://lake".to_owned() })
}

async fn add(db: &Db, name: &str, credential: &Credential) -> Result<(), Error> {
    let mut tx = db.begin().await?;
    create(&mut tx, name, credential, 7).await?;
    tx.commit().await
}

async fn an_identity_is_kept_with_its_credential(db: TestDb) {
    for (name, credential) in [("a", secret("$argon2id$")), ("b", key("k"))] {
        add(&db, name, &credential).await.unwrap();
        let found = load(&db, name).await.unwrap().unwrap();
        assert_eq!((found.status, found.version, found.created_ms, found.updated_ms), (Status::Active, 0, 7, 7));
        assert_eq!(found.credential, credential);
    }
    assert_eq!(load(&db, "A").await.unwrap(), None);
}

async fn a_name_is_given_once(db: TestDb) {
    add(&db, "a", &secret("1")).await.unwrap();
    let mut tx = db.begin().await.unwrap();
    revoke(&mut tx, "a", 8).await.unwrap();
    tx.commit().await.unwrap();
    let again = add(&db, "a", &secret("2")).await.unwrap_err();
    assert!(matches!(again, Error::AlreadyExists(Entity::Identity(name)) if name == "a"));
    for name in ["", &"x".repeat(1025)] {
        assert!(matches!(add(&db, name, &secret("1")).await, Err(Error::Unstorable { .. })));
    }
}

async fn each_change_counts_the_version_up(db: TestDb) {
    add(&db, "a", &secret("1")).await.unwrap();
    for (version, credential) in [(1, secret("2")), (2, key("k")), (3, secret("3"))] {
        let mut tx = db.begin().await.unwrap();
        rotate(&mut tx, "a", &credential, 10 + version).await.unwrap();
        tx.commit().await.unwrap();
        let found = load(&db, "a").await.unwrap().unwrap();
        assert_eq!((found.version, found.updated_ms, found.credential), (version, 10 + version, credential));
    }
}

async fn what_is_revoked_stays_revoked(db: TestDb) {
    add(&db, "a", &secret("1")).await.unwrap();
    let mut tx = db.begin().await.unwrap();
    revoke(&mut tx, "a", 8).await.unwrap();
    tx.commit().await.unwrap();
    let found = load(&db, "a").await.unwrap().unwrap();
    assert_eq!((found.status, found.version), (Status::Revoked, 1));
    for name in ["a", "nobody"] {
        let mut tx = db.begin().await.unwrap();
        let refused = revoke(&mut tx, name, 9).await;
        assert!(matches!(refused, Err(Error::NotFound(Entity::Identity(_)))), "{refused:?}");
        let refused = rotate(&mut tx, name, &secret("2"), 9).await;
        assert!(matches!(refused, Err(Error::NotFound(Entity::Identity(_)))), "{refused:?}");
    }
}

async fn identities_are_listed_by_name(db: TestDb) {
    for name in ["b", "a", "C"] {
        add(&db, name, &secret("1")).await.unwrap();
    }
    let names = async |page: Page| {
        let listing = list(&db, &page).await.unwrap();
        (listing.items.into_iter().map(|identity| identity.name).collect::<Vec<_>>(), listing.next)
    };
    assert_eq!(names(Page::default()).await, (vec!["C".into(), "a".into(), "b".into()], None));
    let first = Page { after: None, limit: Some(2) };
    assert_eq!(names(first).await, (vec!["C".into(), "a".into()], Some("a".into())));
}

async fn signing_keys_are_listed_newest_first_and_die_of_age(db: TestDb) {
    for (id, created_ms) in [("a", 10), ("c", 30), ("b", 20)] {
        let mut tx = db.begin().await.unwrap();
        let key = SigningKey { id: id.to_owned(), private_key: format!("sealed {id}"), created_ms };
        signing_keys::create(&mut tx, &key).await.unwrap();
        tx.commit().await.unwrap();
    }
    let ids =
        async || -> Vec<String> { signing_keys::list(&db).await.unwrap().into_iter().map(|key| key.id).collect() };
    assert_eq!(ids().await, ["c", "b", "a"]);
    let mut tx = db.begin().await.unwrap();
    assert_eq!(signing_keys::delete_older(&mut tx, 20).await.unwrap(), 1);
    tx.commit().await.unwrap();
    assert_eq!(ids().await, ["c", "b"]);
}
