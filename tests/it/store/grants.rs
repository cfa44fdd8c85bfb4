use guillemot::store::grants::{Grantee, NewGrant, On, create, delete, forget_table, list, load, of_grantee, version};
use guillemot::store::tables::{self, Kind, load_with_grants};
use guillemot::store::{Entity, Error, Page, Result};

use super::{WAREHOUSE, create_table, drop_namespace, drop_table, ident, namespace, seed};
use crate::support::{TestDb, on_both};

on_both!(
    a_grant_is_made_once_and_taken_back,
    the_version_goes_up_with_every_change,
    grants_follow_their_table_and_end_with_it,
    grants_of_a_dropped_namespace_or_warehouse_are_gone,
    what_a_grant_is_on_must_be_there,
    grants_are_listed_by_the_page,
);

fn ann() -> Grantee {
    Grantee::User("ann".to_owned())
}

async fn make(db: &TestDb, id: &str, grantee: &Grantee, privilege: &str, on: &On) -> Result<bool> {
    let mut tx = db.begin().await?;
    let new = NewGrant { id, grantee, privilege, ref_name: "", on, created_by: "root", now_ms: 7 };
    let made = create(&mut tx, &new).await?;
    tx.commit().await?;
    Ok(made)
}

fn on_namespace(name: &str) -> On {
    On::Namespace(WAREHOUSE.to_owned(), namespace(name))
}

fn on_table(id: &str) -> On {
    On::Table(WAREHOUSE.to_owned(), id.to_owned())
}

async fn a_grant_is_made_once_and_taken_back(db: TestDb) {
    seed(&db, &["a"]).await;
    for (n, on) in [On::Server, On::Warehouse(WAREHOUSE.into()), on_namespace("a")].iter().enumerate() {
        assert!(make(&db, &format!("g{n}"), &ann(), "viewer", on).await.unwrap());
        assert!(!make(&db, &format!("again{n}"), &ann(), "viewer", on).await.unwrap());
        assert!(make(&db, &format!("e{n}"), &ann(), "editor", on).await.unwrap());
        let row = load(&db, &format!("g{n}")).await.unwrap().unwrap();
        assert_eq!((&row.on, &row.grantee, row.privilege.as_str(), row.created_ms), (on, &ann(), "viewer", 7));
        assert_eq!(row.warehouse.as_deref(), (n > 0).then_some("main"));
    }
    assert_eq!(of_grantee(&db, &ann()).await.unwrap().len(), 6);
    assert_eq!(of_grantee(&db, &Grantee::Role("ann".into())).await.unwrap(), []);
    let mut tx = db.begin().await.unwrap();
    delete(&mut tx, "g1").await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!(load(&db, "g1").await.unwrap(), None);
    let mut tx = db.begin().await.unwrap();
    let missing = delete(&mut tx, "g1").await;
    assert!(matches!(missing, Err(Error::NotFound(Entity::Grant(id))) if id == "g1"));
}

async fn the_version_goes_up_with_every_change(db: TestDb) {
    seed(&db, &["a", "b"]).await;
    let row = create_table(&db, "a.t").await.unwrap();
    let mut last = version(&db).await.unwrap();
    let mut went_up = async || {
        let now = version(&db).await.unwrap();
        assert_eq!(load_with_grants(&db, WAREHOUSE, &ident("a.other")).await.unwrap().map(|found| found.1), None);
        std::mem::replace(&mut last, now) < now
    };
    let rename = async |from: &str, to: &str| {
        let mut tx = db.begin().await.unwrap();
        tables::rename(&mut tx, WAREHOUSE, Kind::Table, &ident(from), &ident(to), 3).await.unwrap();
        tx.commit().await.unwrap();
    };
    rename("a.t", "b.t").await;
    assert!(!went_up().await, "nobody has a grant on the table");
    make(&db, "g", &ann(), "viewer", &on_table(&row.id)).await.unwrap();
    assert!(went_up().await);
    rename("b.t", "a.t").await;
    assert!(went_up().await);
    let (found, version) = load_with_grants(&db, WAREHOUSE, &ident("a.t")).await.unwrap().unwrap();
    assert_eq!((found.id.as_str(), version), (row.id.as_str(), guillemot::store::grants::version(&db).await.unwrap()));
    drop_table(&db, "a.t").await.unwrap();
    assert!(went_up().await);
    make(&db, "h", &ann(), "viewer", &on_namespace("b")).await.unwrap();
    assert!(went_up().await);
    drop_namespace(&db, "b").await.unwrap();
    assert!(went_up().await);
    drop_namespace(&db, "a").await.unwrap();
    assert!(!went_up().await, "nobody has a grant on the namespace");
}

async fn grants_follow_their_table_and_end_with_it(db: TestDb) {
    seed(&db, &["a", "b"]).await;
    let row = create_table(&db, "a.t").await.unwrap();
    make(&db, "g", &ann(), "viewer", &on_table(&row.id)).await.unwrap();
    let name = async || load(&db, "g").await.unwrap().map(|row| row.table.map(|table| table.ident.to_string()));
    assert_eq!(name().await, Some(Some("a.t".into())));
    let mut tx = db.begin().await.unwrap();
    tables::rename(&mut tx, WAREHOUSE, Kind::Table, &ident("a.t"), &ident("b.u"), 3).await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!(name().await, Some(Some("b.u".into())));
    // Kept aside, it has no name; back again, it has.
    let before = version(&db).await.unwrap();
    let mut tx = db.begin().await.unwrap();
    let gone = tables::remove(&mut tx, WAREHOUSE, Kind::Table, &ident("b.u")).await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!(name().await, Some(None));
    let aside = version(&db).await.unwrap();
    assert!(aside > before);
    let mut tx = db.begin().await.unwrap();
    tables::restore(&mut tx, &gone, &ident("a.back"), 4).await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!(name().await, Some(Some("a.back".into())));
    assert!(version(&db).await.unwrap() > aside);
    let mut tx = db.begin().await.unwrap();
    forget_table(&mut tx, &row.id).await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!(name().await, None);
}

async fn grants_of_a_dropped_namespace_or_warehouse_are_gone(db: TestDb) {
    seed(&db, &["a"]).await;
    make(&db, "w", &ann(), "viewer", &On::Warehouse(WAREHOUSE.into())).await.unwrap();
    make(&db, "n", &ann(), "viewer", &on_namespace("a")).await.unwrap();
    make(&db, "s", &ann(), "viewer", &On::Server).await.unwrap();
    drop_namespace(&db, "a").await.unwrap();
    let ids = async || {
        let all = list(&db, &Page::default()).await.unwrap();
        all.items.into_iter().map(|row| row.id).collect::<Vec<_>>()
    };
    assert_eq!(ids().await, ["s", "w"]);
    let mut tx = db.begin().await.unwrap();
    guillemot::store::warehouses::delete(&mut tx, "main").await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!(ids().await, ["s"]);
}

async fn what_a_grant_is_on_must_be_there(db: TestDb) {
    seed(&db, &[]).await;
    let gone = make(&db, "g", &ann(), "viewer", &on_namespace("a")).await;
    assert!(matches!(gone, Err(Error::NotFound(Entity::Namespace(name))) if name == "a"));
    let gone = make(&db, "g", &ann(), "viewer", &On::Warehouse("none".into())).await;
    assert!(matches!(gone, Err(Error::NotFound(Entity::Warehouse(_)))));
    let gone = make(&db, "g", &ann(), "viewer", &on_table("none")).await;
    assert!(matches!(gone, Err(Error::NotFound(Entity::Table(_)))));
    let nameless = make(&db, "g", &Grantee::User(String::new()), "viewer", &On::Server).await;
    assert!(matches!(nameless, Err(Error::Unstorable { what: "grantee", .. })));
}

async fn grants_are_listed_by_the_page(db: TestDb) {
    seed(&db, &[]).await;
    for n in 0..5 {
        make(&db, &format!("g{n}"), &Grantee::Role(format!("r{n}")), "admin", &On::Server).await.unwrap();
    }
    let first = list(&db, &Page { after: None, limit: Some(3) }).await.unwrap();
    let second = list(&db, &Page { after: first.next.clone(), limit: Some(3) }).await.unwrap();
    assert_eq!((first.items.len(), second.items.len(), second.next), (3, 2, None));
    assert_eq!(second.items[0].id, "g3");
}
