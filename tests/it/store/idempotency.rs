use guillemot::store::idempotency::{Answer, Key, Known, Reply, find, keep, sweep};
use guillemot::store::tables::Kind;
use guillemot::store::{Db, Error, Result};

use super::{create_namespace, namespace, seed};
use crate::support::{TestDb, on_both};

on_both!(
    an_answer_is_kept_as_it_was,
    an_answer_and_its_change_are_one,
    a_key_is_used_once,
    of_racing_transactions_one_wins,
    a_key_that_expired_is_as_good_as_new,
    what_expired_is_swept,
);

fn key(id: &str) -> Key {
    Key { id: id.to_owned(), request: format!("request {id}") }
}

fn answer(status: u16, reply: Reply) -> Answer {
    Answer { status, reply }
}

async fn store(db: &Db, key: &Key, answer: &Answer, now_ms: i64, expires_ms: i64) -> Result<()> {
    let mut tx = db.begin().await?;
    keep(&mut tx, key, answer, now_ms, expires_ms).await?;
    tx.commit().await
}

async fn known(db: &Db, id: &str, now_ms: i64) -> Option<Answer> {
    match find(db, &key(id), now_ms).await.unwrap() {
        Some(Known::Answered(answer)) => Some(answer),
        Some(Known::OtherRequest) => panic!("{id} belongs to another request"),
        None => None,
    }
}

async fn an_answer_is_kept_as_it_was(db: TestDb) {
    let metadata = |kind| Reply::Metadata { kind, table_id: "t".to_owned(), location: "gs://b/m.json".to_owned() };
    let answers = [
        answer(204, Reply::Empty),
        answer(409, Reply::Body(r#"{"error": "ä"}"#.to_owned())),
        answer(200, metadata(Kind::Table)),
        answer(200, metadata(Kind::View)),
    ];
    for (i, answer) in answers.into_iter().enumerate() {
        let id = i.to_string();
        assert_eq!(known(&db, &id, 1).await, None);
        store(&db, &key(&id), &answer, 1, 10).await.unwrap();
        assert_eq!(known(&db, &id, 1).await, Some(answer));
    }
    let other = Key { id: "0".to_owned(), request: "another".to_owned() };
    assert_eq!(find(&db, &other, 1).await.unwrap(), Some(Known::OtherRequest));
}

async fn an_answer_and_its_change_are_one(db: TestDb) {
    seed(&db, &[]).await;
    let mut tx = db.begin().await.unwrap();
    keep(&mut tx, &key("a"), &answer(200, Reply::Empty), 1, 10).await.unwrap();
    tx.rollback().await.unwrap();
    assert_eq!(known(&db, "a", 1).await, None);
}

async fn a_key_is_used_once(db: TestDb) {
    seed(&db, &[]).await;
    store(&db, &key("a"), &answer(204, Reply::Empty), 1, 10).await.unwrap();
    let mut tx = db.begin().await.unwrap();
    let name = namespace("ns");
    guillemot::store::namespaces::create(&mut tx, super::WAREHOUSE, &name, &guillemot::store::namespaces::Properties::new(), 1).await.unwrap();
    let again = keep(&mut tx, &key("a"), &answer(200, Reply::Empty), 2, 20).await;
    assert!(matches!(again, Err(Error::AlreadyAnswered)), "{again:?}");
    drop(tx);
    create_namespace(&db, "ns").await.unwrap();
    assert_eq!(known(&db, "a", 1).await, Some(answer(204, Reply::Empty)));
}

async fn of_racing_transactions_one_wins(db: TestDb) {
    let racers: Vec<_> = (0..8)
        .map(|n| {
            let db = Db::clone(&db);
            tokio::spawn(async move { store(&db, &key("a"), &answer(200 + n, Reply::Empty), 1, 10).await.map(|()| n) })
        })
        .collect();
    let mut winners = Vec::new();
    for racer in racers {
        match racer.await.unwrap() {
            Ok(n) => winners.push(n),
            Err(error) => assert!(matches!(error, Error::AlreadyAnswered), "{error:?}"),
        }
    }
    assert_eq!(winners.len(), 1);
    assert_eq!(known(&db, "a", 1).await.unwrap().status, 200 + winners[0]);
}

async fn a_key_that_expired_is_as_good_as_new(db: TestDb) {
    store(&db, &key("a"), &answer(204, Reply::Empty), 1, 10).await.unwrap();
    assert_eq!(known(&db, "a", 9).await, Some(answer(204, Reply::Empty)));
    assert_eq!(known(&db, "a", 10).await, None);
    store(&db, &key("a"), &answer(200, Reply::Body("{}".to_owned())), 10, 20).await.unwrap();
    assert_eq!(known(&db, "a", 10).await, Some(answer(200, Reply::Body("{}".to_owned()))));
}

async fn what_expired_is_swept(db: TestDb) {
    for (id, expires_ms) in [("a", 10), ("b", 20), ("c", 30)] {
        store(&db, &key(id), &answer(204, Reply::Empty), 1, expires_ms).await.unwrap();
    }
    let mut tx = db.begin().await.unwrap();
    assert_eq!(sweep(&mut tx, 20).await.unwrap(), 2);
    assert_eq!(sweep(&mut tx, 20).await.unwrap(), 0);
    tx.commit().await.unwrap();
    assert_eq!((known(&db, "b", 1).await, known(&db, "c", 1).await.is_some()), (None, true));
}
