use guillemot::store::Page;
use guillemot::store::warnings::{KEPT, Warning, add, forget_oldest, list};

use super::{WAREHOUSE, ident, seed};
use crate::support::{TestDb, on_both};

on_both!(the_latest_warnings_are_kept_and_listed_newest_first);

fn warning(n: i64) -> Warning {
    Warning {
        id: format!("{n:015}-x"),
        warehouse_id: WAREHOUSE.to_owned(),
        table: ident("a.b.t"),
        action: "commit".to_owned(),
        rule: "dv-dangling".to_owned(),
        would_refuse: n % 2 == 0,
        object: "gs://main/m.avro".to_owned(),
        message: "it dangles".to_owned(),
        created_ms: n,
    }
}

async fn the_latest_warnings_are_kept_and_listed_newest_first(db: TestDb) {
    seed(&db, &[]).await;
    let mut tx = db.begin().await.unwrap();
    for n in 0..KEPT + 3 {
        add(&mut tx, &warning(n)).await.unwrap();
    }
    forget_oldest(&mut tx, WAREHOUSE).await.unwrap();
    tx.commit().await.unwrap();
    let all = list(&db, WAREHOUSE, &Page::default()).await.unwrap();
    assert_eq!((all.items.len(), all.next), (usize::try_from(KEPT).unwrap(), None));
    assert_eq!((&all.items[0], all.items.last().unwrap()), (&warning(KEPT + 2), &warning(3)));
    let first = list(&db, WAREHOUSE, &Page { after: None, limit: Some(2) }).await.unwrap();
    let second = list(&db, WAREHOUSE, &Page { after: first.next, limit: Some(1) }).await.unwrap();
    assert_eq!(second.items, [warning(KEPT)]);
    assert_eq!(list(&db, "another", &Page::default()).await.unwrap().items, []);
    let mut tx = db.begin().await.unwrap();
    guillemot::store::warehouses::delete(&mut tx, "main").await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!(list(&db, WAREHOUSE, &Page::default()).await.unwrap().items, [], "they go with their warehouse");
}
