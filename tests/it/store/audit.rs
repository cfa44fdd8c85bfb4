use guillemot::store::Page;
use guillemot::store::audit::{Entry, add, list, sweep};

use crate::support::{TestDb, on_both};

on_both!(entries_are_listed_newest_first_and_swept_by_age);

fn entry(n: i64) -> Entry {
    Entry {
        id: format!("{n:015}-x"),
        at_ms: n,
        principal: "ann".to_owned(),
        operation: "POST /x/{y}".to_owned(),
        path: "/x/1".to_owned(),
        actions: "write on table a.t".to_owned(),
        allowed: n % 2 == 0,
        grant_id: (n % 2 == 0).then(|| "g".to_owned()),
        status: 200,
        user_agent: "curl".to_owned(),
        project: "p".to_owned(),
        request_id: "r".to_owned(),
    }
}

async fn entries_are_listed_newest_first_and_swept_by_age(db: TestDb) {
    let mut tx = db.begin().await.unwrap();
    for n in 0..5 {
        add(&mut tx, &entry(n)).await.unwrap();
    }
    tx.commit().await.unwrap();
    let first = list(&db, &Page { after: None, limit: Some(3) }).await.unwrap();
    assert_eq!(first.items, [entry(4), entry(3), entry(2)]);
    let second = list(&db, &Page { after: first.next, limit: Some(3) }).await.unwrap();
    assert_eq!((second.items, second.next), (vec![entry(1), entry(0)], None));
    let mut tx = db.begin().await.unwrap();
    assert_eq!(sweep(&mut tx, 3).await.unwrap(), 3);
    assert_eq!(sweep(&mut tx, 3).await.unwrap(), 0);
    tx.commit().await.unwrap();
    assert_eq!(list(&db, &Page::default()).await.unwrap().items, [entry(4), entry(3)]);
}
