use guillemot::store::dropped::{Terms, latest, list, put_aside, take};
use guillemot::store::locations::{self, State, overlapping};
use guillemot::store::tables::{Kind, TableRow, load_by_id, remove, restore};
use guillemot::store::{Db, Error, Page};

use super::{WAREHOUSE, create_table, create_view, drop_namespace, ident, load_table, seed};
use crate::support::{TestDb, on_both};

on_both!(
    what_is_put_aside_comes_back_as_it_was,
    its_location_stays_live,
    it_is_taken_once,
    a_name_or_namespace_may_be_gone,
    the_latest_of_a_name_is_found,
    a_warehouse_with_dropped_tables_is_not_deleted,
    a_place_is_covered_by_other_tables_only,
);

fn terms(dropped_ms: i64) -> Terms {
    Terms { purge: true, task_id: "task".to_owned(), dropped_ms, expires_ms: 99 }
}

async fn set_aside(db: &Db, name: &str, dropped_ms: i64) -> TableRow {
    let mut tx = db.begin().await.unwrap();
    let row = remove(&mut tx, WAREHOUSE, Kind::Table, &ident(name)).await.unwrap();
    put_aside(&mut tx, &row, &terms(dropped_ms)).await.unwrap();
    tx.commit().await.unwrap();
    row
}

async fn what_is_put_aside_comes_back_as_it_was(db: TestDb) {
    seed(&db, &["a", "a.b"]).await;
    let made = create_table(&db, "a.b.t").await.unwrap();
    assert_eq!(load_by_id(&db, &made.id).await.unwrap(), Some(made.clone()));
    set_aside(&db, "a.b.t", 5).await;
    assert_eq!((load_table(&db, "a.b.t").await, load_by_id(&db, &made.id).await.unwrap()), (None, None));
    let listing = list(&db, WAREHOUSE, &Page::default()).await.unwrap();
    let found = &listing.items[0];
    assert_eq!((&found.row.ident, &found.terms, listing.next), (&made.ident, &terms(5), None));
    let mut tx = db.begin().await.unwrap();
    let taken = take(&mut tx, WAREHOUSE, &made.id).await.unwrap().unwrap();
    restore(&mut tx, &taken.row, &made.ident, 7).await.unwrap();
    tx.commit().await.unwrap();
    let back = load_table(&db, "a.b.t").await.unwrap();
    assert_eq!(back, TableRow { version: made.version + 1, updated_ms: 7, ..made });
    assert_eq!(list(&db, WAREHOUSE, &Page::default()).await.unwrap().items, []);
}

async fn its_location_stays_live(db: TestDb) {
    seed(&db, &["ns"]).await;
    create_table(&db, "ns.t").await.unwrap();
    let row = set_aside(&db, "ns.t", 5).await;
    assert_eq!(overlapping(&db, "gs://main/ns.t").await.unwrap().unwrap().state, State::Live);
    let mut tx = db.begin().await.unwrap();
    take(&mut tx, WAREHOUSE, &row.id).await.unwrap().unwrap();
    locations::leave(&mut tx, &row, 9).await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!(overlapping(&db, "gs://main/ns.t").await.unwrap().unwrap().state, State::LeftBehind);
}

async fn it_is_taken_once(db: TestDb) {
    seed(&db, &["ns"]).await;
    create_table(&db, "ns.t").await.unwrap();
    let row = set_aside(&db, "ns.t", 5).await;
    let racers: Vec<_> = (0..4)
        .map(|_| {
            let (db, id) = (Db::clone(&db), row.id.clone());
            tokio::spawn(async move {
                let mut tx = db.begin().await.unwrap();
                let taken = take(&mut tx, WAREHOUSE, &id).await.unwrap();
                tx.commit().await.unwrap();
                taken
            })
        })
        .collect();
    let mut taken = Vec::new();
    for racer in racers {
        taken.extend(racer.await.unwrap());
    }
    assert_eq!(taken.len(), 1);
    let mut tx = db.begin().await.unwrap();
    assert_eq!(take(&mut tx, "another", &row.id).await.unwrap(), None);
}

async fn a_name_or_namespace_may_be_gone(db: TestDb) {
    seed(&db, &["ns", "gone"]).await;
    create_table(&db, "gone.t").await.unwrap();
    let row = set_aside(&db, "gone.t", 5).await;
    drop_namespace(&db, "gone").await.unwrap();
    create_view(&db, "ns.v").await.unwrap();
    let try_restore = async |name: &str| {
        let mut tx = db.begin().await.unwrap();
        restore(&mut tx, &row, &ident(name), 7).await.map_err(|error| error.to_string())
    };
    assert_eq!(try_restore("gone.t").await, Err("namespace gone does not exist".to_owned()));
    assert_eq!(try_restore("ns.v").await, Err("view ns.v already exists".to_owned()));
    assert_eq!(try_restore("ns.t").await, Ok(()));
    let mut tx = db.begin().await.unwrap();
    let missing = remove(&mut tx, WAREHOUSE, Kind::Table, &ident("ns.none")).await;
    assert!(matches!(missing, Err(Error::NotFound(_))));
}

async fn the_latest_of_a_name_is_found(db: TestDb) {
    seed(&db, &["ns"]).await;
    create_table(&db, "ns.t").await.unwrap();
    let first = set_aside(&db, "ns.t", 5).await;
    let mut tx = db.begin().await.unwrap();
    restore(&mut tx, &TableRow { id: "second".to_owned(), ..first }, &ident("ns.t"), 6).await.unwrap();
    tx.commit().await.unwrap();
    set_aside(&db, "ns.t", 8).await;
    assert_eq!(latest(&db, WAREHOUSE, &ident("ns.t")).await.unwrap().as_deref(), Some("second"));
    assert_eq!(latest(&db, WAREHOUSE, &ident("ns.u")).await.unwrap(), None);
    let page = Page { after: None, limit: Some(1) };
    let listing = list(&db, WAREHOUSE, &page).await.unwrap();
    let rest = list(&db, WAREHOUSE, &Page { after: listing.next, limit: Some(1) }).await.unwrap();
    assert_eq!((listing.items.len(), rest.items.len(), rest.next), (1, 1, None));
}

async fn a_warehouse_with_dropped_tables_is_not_deleted(db: TestDb) {
    seed(&db, &["ns"]).await;
    create_table(&db, "ns.t").await.unwrap();
    set_aside(&db, "ns.t", 5).await;
    drop_namespace(&db, "ns").await.unwrap();
    let mut tx = db.begin().await.unwrap();
    let refused = guillemot::store::warehouses::delete(&mut tx, "main").await;
    assert!(matches!(refused, Err(Error::NotEmpty(_))), "{refused:?}");
}

async fn a_place_is_covered_by_other_tables_only(db: TestDb) {
    seed(&db, &["ns"]).await;
    let row = create_table(&db, "ns.t").await.unwrap();
    let covering = async |place: &str, table: &str| {
        locations::covering(&db, place, table).await.unwrap().map(|occupied| occupied.table_id)
    };
    for place in ["gs://main/ns.t", "gs://main/ns.t/data", "gs://main/ns.t/a/b/c/d/e/f/g/h/i/j/k/l/m/n/o"] {
        assert_eq!(covering(place, "another").await, Some(row.id.clone()), "{place}");
        assert_eq!(covering(place, &row.id).await, None, "{place}");
    }
    for place in ["gs://main", "gs://main/ns.t2", "gs://main/ns"] {
        assert_eq!(covering(place, "another").await, None, "{place}");
    }
    assert_eq!(locations::of_table(&db, &row.id).await.unwrap().len(), 1);
    super::drop_table(&db, "ns.t").await.unwrap();
    assert_eq!(covering("gs://main/ns.t", "another").await, None, "what was left behind covers nothing");
    assert_eq!(locations::of_table(&db, &row.id).await.unwrap().len(), 1);
}
