use guillemot::store::namespaces::{Properties, PropertiesUpdate, create, exists, list, load, update_properties};
use guillemot::store::{Db, Entity, Error, Page};

use super::{WAREHOUSE, create_namespace, create_table, create_view, create_warehouse, drop_namespace, drop_table};
use super::{namespace, seed};
use crate::support::{TestDb, on_both};

on_both!(
    a_namespace_keeps_its_properties,
    a_name_is_taken_once,
    a_nested_namespace_needs_its_parent,
    a_namespace_with_children_is_not_dropped,
    a_drop_that_fails_leaves_everything,
    lists_show_one_level,
    the_children_of_nothing_are_an_error,
    pages_are_stable_under_changes,
    names_sort_by_their_bytes,
    levels_with_dots_are_other_namespaces,
    warehouses_do_not_share_namespaces,
    properties_are_updated_together,
    concurrent_property_updates_all_count,
    a_name_too_long_is_refused_alike,
);

async fn names(db: &Db, parent: Option<&str>, page: &Page) -> (Vec<String>, Option<String>) {
    let listing = list(db, WAREHOUSE, parent.map(namespace).as_ref(), page).await.unwrap();
    (listing.items.iter().map(ToString::to_string).collect(), listing.next)
}

fn properties(pairs: &[(&str, &str)]) -> Properties {
    pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}

async fn a_namespace_keeps_its_properties(db: TestDb) {
    seed(&db, &[]).await;
    let given = properties(&[("owner", "größe \"quoted\" \u{0}"), ("z", ""), ("a", "1")]);
    let mut tx = db.begin().await.unwrap();
    create(&mut tx, WAREHOUSE, &namespace("ns"), &given, 7).await.unwrap();
    tx.commit().await.unwrap();
    let row = load(&db, WAREHOUSE, &namespace("ns")).await.unwrap().unwrap();
    assert_eq!((row.properties, row.created_ms, row.updated_ms), (given, 7, 7));
    assert_eq!(load(&db, WAREHOUSE, &namespace("other")).await.unwrap(), None);
    assert!(exists(&db, WAREHOUSE, &namespace("ns")).await.unwrap());
    assert!(!exists(&db, WAREHOUSE, &namespace("NS")).await.unwrap());
}

async fn a_name_is_taken_once(db: TestDb) {
    seed(&db, &["ns"]).await;
    let again = create_namespace(&db, "ns").await;
    assert!(matches!(again, Err(Error::AlreadyExists(Entity::Namespace(name))) if name == "ns"));
}

async fn a_nested_namespace_needs_its_parent(db: TestDb) {
    seed(&db, &["a"]).await;
    let orphan = create_namespace(&db, "a.b.c").await;
    assert!(matches!(orphan, Err(Error::NotFound(Entity::Namespace(name))) if name == "a.b"));
    create_namespace(&db, "a.b").await.unwrap();
    create_namespace(&db, "a.b.c").await.unwrap();
}

async fn a_namespace_with_children_is_not_dropped(db: TestDb) {
    seed(&db, &["a", "a.b", "t", "v"]).await;
    create_table(&db, "t.x").await.unwrap();
    create_view(&db, "v.x").await.unwrap();
    for name in ["a", "t", "v"] {
        let refused = drop_namespace(&db, name).await;
        assert!(matches!(refused, Err(Error::NotEmpty(Entity::Namespace(n))) if n == name));
    }
    drop_namespace(&db, "a.b").await.unwrap();
    drop_namespace(&db, "a").await.unwrap();
    drop_table(&db, "t.x").await.unwrap();
    drop_namespace(&db, "t").await.unwrap();
    assert!(matches!(drop_namespace(&db, "t").await, Err(Error::NotFound(Entity::Namespace(_)))));
}

async fn a_drop_that_fails_leaves_everything(db: TestDb) {
    seed(&db, &["a", "a.b"]).await;
    drop_namespace(&db, "a").await.unwrap_err();
    assert!(exists(&db, WAREHOUSE, &namespace("a.b")).await.unwrap());
    create_namespace(&db, "a.c").await.unwrap();
}

async fn lists_show_one_level(db: TestDb) {
    seed(&db, &["a", "a.b", "a.b.c", "a.d", "b"]).await;
    let all = Page::default();
    assert_eq!(names(&db, None, &all).await.0, ["a", "b"]);
    assert_eq!(names(&db, Some("a"), &all).await.0, ["a.b", "a.d"]);
    assert_eq!(names(&db, Some("a.b"), &all).await.0, ["a.b.c"]);
    assert!(names(&db, Some("b"), &all).await.0.is_empty());
}

async fn the_children_of_nothing_are_an_error(db: TestDb) {
    seed(&db, &[]).await;
    let missing = list(&db, WAREHOUSE, Some(&namespace("x.y")), &Page::default()).await;
    assert!(matches!(missing, Err(Error::NotFound(Entity::Namespace(name))) if name == "x.y"));
    assert!(names(&db, None, &Page::default()).await.0.is_empty());
}

async fn pages_are_stable_under_changes(db: TestDb) {
    seed(&db, &["b", "d", "f", "h"]).await;
    let (first, next) = names(&db, None, &Page { after: None, limit: Some(2) }).await;
    assert_eq!(first, ["b", "d"]);
    // Before the cursor: not seen. After it: seen. The row of the cursor itself may go.
    for name in ["a", "e"] {
        create_namespace(&db, name).await.unwrap();
    }
    drop_namespace(&db, "d").await.unwrap();
    let (second, next) = names(&db, None, &Page { after: next, limit: Some(2) }).await;
    assert_eq!(second, ["e", "f"]);
    let (third, next) = names(&db, None, &Page { after: next, limit: Some(2) }).await;
    assert_eq!((third, next), (vec!["h".to_owned()], None));
}

async fn names_sort_by_their_bytes(db: TestDb) {
    seed(&db, &["ä", "Z", "a", "_", "a b", "a-b", "aB", "1"]).await;
    let mut expected = vec!["ä", "Z", "a", "_", "a b", "a-b", "aB", "1"];
    expected.sort_unstable();
    assert_eq!(names(&db, None, &Page::default()).await.0, expected);
}

async fn levels_with_dots_are_other_namespaces(db: TestDb) {
    seed(&db, &["a", "a.b"]).await;
    let dotted = guillemot::spec::Namespace::new(vec!["a.b".to_owned()]).unwrap();
    assert!(!exists(&db, WAREHOUSE, &dotted).await.unwrap());
}

async fn warehouses_do_not_share_namespaces(db: TestDb) {
    seed(&db, &["ns"]).await;
    create_warehouse(&db, "other", "other", "gs://other").await.unwrap();
    assert!(!exists(&db, "other", &namespace("ns")).await.unwrap());
    assert!(list(&db, "other", None, &Page::default()).await.unwrap().items.is_empty());
}

async fn properties_are_updated_together(db: TestDb) {
    seed(&db, &[]).await;
    let mut tx = db.begin().await.unwrap();
    create(&mut tx, WAREHOUSE, &namespace("ns"), &properties(&[("a", "1"), ("b", "2")]), 1).await.unwrap();
    tx.commit().await.unwrap();
    let removals = ["a".to_owned(), "x".to_owned()];
    let updates = properties(&[("b", "3"), ("c", "4")]);
    let update = PropertiesUpdate { removals: &removals, updates: &updates, now_ms: 8 };
    let mut tx = db.begin().await.unwrap();
    let done = update_properties(&mut tx, WAREHOUSE, &namespace("ns"), &update).await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!(
        (done.updated, done.removed, done.missing),
        (vec!["b".to_owned(), "c".to_owned()], vec!["a".to_owned()], vec!["x".to_owned()])
    );
    let row = load(&db, WAREHOUSE, &namespace("ns")).await.unwrap().unwrap();
    assert_eq!((row.properties, row.created_ms, row.updated_ms), (updates.clone(), 1, 8));
    let mut tx = db.begin().await.unwrap();
    let missing = update_properties(&mut tx, WAREHOUSE, &namespace("none"), &update).await;
    assert!(matches!(missing, Err(Error::NotFound(Entity::Namespace(_)))));
}

async fn concurrent_property_updates_all_count(db: TestDb) {
    seed(&db, &["ns"]).await;
    let tasks = (0..16).map(|n| {
        let db = Db::clone(&db);
        tokio::spawn(async move {
            let updates = properties(&[(&format!("key{n}"), "x")]);
            let mut tx = db.begin().await.unwrap();
            let update = PropertiesUpdate { removals: &[], updates: &updates, now_ms: 2 };
            update_properties(&mut tx, WAREHOUSE, &namespace("ns"), &update).await.unwrap();
            tx.commit().await.unwrap();
        })
    });
    for task in tasks.collect::<Vec<_>>() {
        task.await.unwrap();
    }
    assert_eq!(load(&db, WAREHOUSE, &namespace("ns")).await.unwrap().unwrap().properties.len(), 16);
}

async fn a_name_too_long_is_refused_alike(db: TestDb) {
    seed(&db, &[]).await;
    create_namespace(&db, &"n".repeat(1024)).await.unwrap();
    let refused = create_namespace(&db, &"n".repeat(1025)).await;
    assert!(matches!(refused, Err(Error::Unstorable { what: "namespace", .. })));
}
