use guillemot::store::Page;
use guillemot::store::audit::{Entry, Filter, add, list, sweep};

use crate::support::{TestDb, on_both};

on_both!(entries_are_listed_newest_first_and_swept_by_age, entries_are_found_by_caller_and_time);

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
    let first = list(&db, Filter::default(), &Page { after: None, limit: Some(3) }).await.unwrap();
    assert_eq!(first.items, [entry(4), entry(3), entry(2)]);
    let second = list(&db, Filter::default(), &Page { after: first.next, limit: Some(3) }).await.unwrap();
    assert_eq!((second.items, second.next), (vec![entry(1), entry(0)], None));
    let mut tx = db.begin().await.unwrap();
    assert_eq!(sweep(&mut tx, 3).await.unwrap(), 3);
    assert_eq!(sweep(&mut tx, 3).await.unwrap(), 0);
    tx.commit().await.unwrap();
    assert_eq!(list(&db, Filter::default(), &Page::default()).await.unwrap().items, [entry(4), entry(3)]);
}

async fn entries_are_found_by_caller_and_time(db: TestDb) {
    let of = |n: i64, principal: &str| Entry { principal: principal.to_owned(), ..entry(n) };
    let all = [of(0, "ann"), of(1, ""), of(2, "bob"), of(3, "ann")];
    let mut tx = db.begin().await.unwrap();
    for entry in &all {
        add(&mut tx, entry).await.unwrap();
    }
    tx.commit().await.unwrap();
    let found = async |principal, since_ms, limit| {
        let listed = list(&db, Filter { principal, since_ms }, &Page { after: None, limit }).await.unwrap();
        (listed.items.iter().map(|entry| entry.at_ms).collect::<Vec<_>>(), listed.next.is_some())
    };
    assert_eq!(found(Some("ann"), 0, None).await, (vec![3, 0], false));
    assert_eq!(found(Some("ann"), 1, None).await, (vec![3], false));
    assert_eq!(found(Some(""), 0, None).await, (vec![1], false));
    assert_eq!(found(Some("ann"), 0, Some(1)).await, (vec![3], true));
    assert_eq!(found(Some("an"), 0, None).await, (vec![], false));
    assert_eq!(found(None, 2, None).await, (vec![3, 2], false));
}
