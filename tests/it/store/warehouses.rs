use guillemot::store::warehouses::{
    Status, WarehouseChange, delete, list, load, load_by_location, update, with_secrets,
};
use guillemot::store::{Entity, Error, Page};

use super::{create_namespace, create_warehouse, drop_namespace, seed};
use crate::support::{TestDb, on_both};

on_both!(
    a_warehouse_is_found_by_name_and_by_location,
    a_name_and_a_location_belong_to_one_warehouse,
    warehouses_are_listed_by_name,
    an_update_needs_the_version_that_was_read,
    a_warehouse_with_a_namespace_is_not_deleted,
);

async fn a_warehouse_is_found_by_name_and_by_location(db: TestDb) {
    let created = create_warehouse(&db, "w1", "sales", "gs://bucket/sales").await.unwrap();
    assert_eq!(created.status, Status::Active);
    assert_eq!(load(&db, "sales").await.unwrap().as_ref(), Some(&created));
    assert_eq!(load_by_location(&db, "gs://bucket/sales").await.unwrap(), Some(created));
    assert_eq!(load(&db, "Sales").await.unwrap(), None);
    assert_eq!(load_by_location(&db, "gs://bucket").await.unwrap(), None);
}

async fn a_name_and_a_location_belong_to_one_warehouse(db: TestDb) {
    create_warehouse(&db, "w1", "a", "gs://a").await.unwrap();
    let by_name = create_warehouse(&db, "w2", "a", "gs://other").await.unwrap_err();
    assert!(matches!(by_name, Error::AlreadyExists(Entity::Warehouse(name)) if name == "a"));
    let by_location = create_warehouse(&db, "w2", "b", "gs://a").await.unwrap_err();
    assert!(matches!(by_location, Error::AlreadyExists(Entity::Warehouse(name)) if name == "gs://a"));
    assert_eq!(load(&db, "b").await.unwrap(), None);
}

async fn warehouses_are_listed_by_name(db: TestDb) {
    for name in ["b", "a", "C"] {
        create_warehouse(&db, name, name, &format!("gs://{name}")).await.unwrap();
    }
    let all = list(&db, &Page::default()).await.unwrap();
    assert_eq!(all.items.iter().map(|w| w.name.as_str()).collect::<Vec<_>>(), ["C", "a", "b"]);
    assert_eq!(all.next, None);
    let first = list(&db, &Page { after: None, limit: Some(2) }).await.unwrap();
    assert_eq!(first.next.as_deref(), Some("a"));
    let rest = list(&db, &Page { after: first.next, limit: Some(2) }).await.unwrap();
    assert_eq!(rest.items.len(), 1);
}

async fn an_update_needs_the_version_that_was_read(db: TestDb) {
    let read = create_warehouse(&db, "w1", "a", "gs://a").await.unwrap();
    let change = WarehouseChange {
        properties: r#"{"rules":{}}"#,
        status: Status::Inactive,
        storage_secret: Some("v1.k.x"),
        now_ms: 5,
    };
    let mut tx = db.begin().await.unwrap();
    let updated = update(&mut tx, &read, &change).await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!((updated.version, updated.updated_ms, updated.created_ms), (1, 5, 1));
    assert_eq!(load(&db, "a").await.unwrap(), Some(updated.clone()));
    create_warehouse(&db, "w2", "b", "gs://b").await.unwrap();
    assert_eq!(with_secrets(&db).await.unwrap(), [updated], "the other one has none");
    let mut tx = db.begin().await.unwrap();
    assert!(matches!(update(&mut tx, &read, &change).await, Err(Error::Conflict)));
}

async fn a_warehouse_with_a_namespace_is_not_deleted(db: TestDb) {
    seed(&db, &["ns"]).await;
    let remove = async |name: &str| {
        let mut tx = db.begin().await?;
        delete(&mut tx, name).await?;
        tx.commit().await
    };
    assert!(matches!(remove("main").await, Err(Error::NotEmpty(Entity::Warehouse(name))) if name == "main"));
    drop_namespace(&db, "ns").await.unwrap();
    remove("main").await.unwrap();
    assert!(matches!(remove("main").await, Err(Error::NotFound(Entity::Warehouse(_)))));
    let late = create_namespace(&db, "ns").await;
    assert!(matches!(late, Err(Error::NotFound(Entity::Warehouse(_)))));
}
