use guillemot::store::loose_files::{LooseFile, forget, give_up, name, note, postpone, release, unneeded};
use guillemot::store::{Db, Error};

use crate::support::{TestDb, on_both};

on_both!(
    a_named_file_is_loose_no_more,
    a_file_that_was_given_up_cannot_be_named,
    a_name_that_is_not_committed_was_none,
    what_is_unneeded_is_listed_until_it_is_forgotten,
    what_cannot_be_deleted_waits_behind_the_others,
);

fn file(id: &str) -> LooseFile {
    LooseFile { id: id.to_owned(), location: format!("gs://b/{id}.json"), table_id: "t".to_owned() }
}

async fn noted(db: &Db, ids: &[&str], now_ms: i64) {
    let files: Vec<LooseFile> = ids.iter().map(|id| file(id)).collect();
    let mut tx = db.begin().await.unwrap();
    note(&mut tx, &files, now_ms).await.unwrap();
    tx.commit().await.unwrap();
}

async fn named(db: &Db, id: &str) -> Result<(), Error> {
    let mut tx = db.begin().await?;
    name(&mut tx, id).await?;
    tx.commit().await
}

async fn given_up(db: &Db, before_ms: i64) -> u64 {
    let mut tx = db.begin().await.unwrap();
    let count = give_up(&mut tx, before_ms, 100).await.unwrap();
    tx.commit().await.unwrap();
    count
}

async fn listed(db: &Db, before_ms: i64) -> Vec<String> {
    unneeded(db, before_ms, 10).await.unwrap().into_iter().map(|file| file.id).collect()
}

async fn a_named_file_is_loose_no_more(db: TestDb) {
    noted(&db, &["a", "b"], 1).await;
    named(&db, "a").await.unwrap();
    assert!(matches!(named(&db, "a").await, Err(Error::Conflict)), "once");
    assert_eq!(given_up(&db, 1).await, 1);
    assert_eq!(unneeded(&db, 100, 10).await.unwrap(), [file("b")]);
}

async fn a_file_that_was_given_up_cannot_be_named(db: TestDb) {
    noted(&db, &["a"], 5).await;
    assert_eq!(given_up(&db, 4).await, 0);
    assert_eq!(given_up(&db, 5).await, 1);
    assert!(matches!(named(&db, "a").await, Err(Error::Conflict)));
    assert_eq!(listed(&db, 100).await, ["a"]);
}

async fn a_name_that_is_not_committed_was_none(db: TestDb) {
    noted(&db, &["a"], 1).await;
    let mut tx = db.begin().await.unwrap();
    name(&mut tx, "a").await.unwrap();
    tx.rollback().await.unwrap();
    assert_eq!(given_up(&db, 1).await, 1);
}

async fn what_is_unneeded_is_listed_until_it_is_forgotten(db: TestDb) {
    let mut tx = db.begin().await.unwrap();
    release(&mut tx, &[file("a"), file("b")], 5).await.unwrap();
    tx.commit().await.unwrap();
    noted(&db, &["c"], 5).await;
    assert_eq!(listed(&db, 4).await, [""; 0]);
    assert_eq!(listed(&db, 5).await, ["a", "b"]);
    let mut tx = db.begin().await.unwrap();
    forget(&mut tx, "a").await.unwrap();
    // A file that is to be written yet is not forgotten.
    forget(&mut tx, "c").await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!(listed(&db, 5).await, ["b"]);
    named(&db, "c").await.unwrap();
}

async fn what_cannot_be_deleted_waits_behind_the_others(db: TestDb) {
    let mut tx = db.begin().await.unwrap();
    release(&mut tx, &[file("a"), file("b")], 5).await.unwrap();
    postpone(&mut tx, "a", 9).await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!(
        (listed(&db, 8).await, listed(&db, 9).await),
        (vec!["b".to_owned()], vec!["b".to_owned(), "a".to_owned()])
    );
}
