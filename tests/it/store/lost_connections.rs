//! What is known, and what is not, when PostgreSQL ends a connection.

use std::time::Duration;

use guillemot::store::tables::{Swap, swap};
use guillemot::store::{Db, Error};
use sqlx::postgres::PgConnection;
use sqlx::{AssertSqlSafe, Connection, Executor};

use super::{change, create_table, load_table, seed};
use crate::support::TestDb;

/// Ends the other connections to this database that `which` selects.
async fn terminate(db: &TestDb, which: &str) {
    let mut admin = PgConnection::connect(db.url()).await.unwrap();
    let sql = format!(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE datname = current_database() AND pid <> pg_backend_pid() AND {which}"
    );
    let ended = admin.execute(AssertSqlSafe(sql)).await.unwrap().rows_affected();
    assert!(ended > 0, "nothing was {which}");
    admin.close().await.unwrap();
    tokio::time::sleep(Duration::from_millis(100)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_lost_at_commit_leaves_the_outcome_open() {
    let db = TestDb::postgres().await;
    seed(&db, &["ns"]).await;
    let row = create_table(&db, "ns.t").await.unwrap();
    let mut tx = db.begin().await.unwrap();
    swap(&mut tx, &[Swap { row: &row, change: change("m1"), moved_to: None }], &[]).await.unwrap();
    terminate(&db, "state = 'idle in transaction'").await;
    let outcome = tx.commit().await;
    assert!(matches!(outcome, Err(Error::OutcomeUnknown(_))), "{outcome:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_lost_before_commit_did_nothing() {
    let db = TestDb::postgres().await;
    seed(&db, &["ns"]).await;
    let row = create_table(&db, "ns.t").await.unwrap();
    let mut tx = db.begin().await.unwrap();
    swap(&mut tx, &[Swap { row: &row, change: change("m1"), moved_to: None }], &[]).await.unwrap();
    terminate(&db, "state = 'idle in transaction'").await;
    let lost = swap(&mut tx, &[Swap { row: &row, change: change("m1"), moved_to: None }], &[]).await;
    assert!(matches!(lost, Err(Error::Sql(_))), "{lost:?}");
    assert!(matches!(tx.commit().await, Err(Error::Sql(_))));
    let row = load_table(&db, "ns.t").await.unwrap();
    assert_eq!((row.metadata_location.as_str(), row.version), ("m0", 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pool_whose_connections_died_at_rest_serves_on() {
    let db = TestDb::postgres().await;
    seed(&db, &["ns"]).await;
    let second = Db::clone(&db);
    let (a, b) = tokio::join!(db.ping(), second.ping());
    a.and(b).unwrap();
    terminate(&db, "state = 'idle'").await;
    tokio::time::sleep(Duration::from_millis(1100)).await;
    db.ping().await.unwrap();
    create_table(&db, "ns.t").await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lock_held_too_long_is_busy_not_unknown() {
    let db = TestDb::postgres().await;
    seed(&db, &["ns"]).await;
    let row = create_table(&db, "ns.t").await.unwrap();
    let mut first = db.begin().await.unwrap();
    swap(&mut first, &[Swap { row: &row, change: change("m1"), moved_to: None }], &[]).await.unwrap();
    let mut second = db.begin().await.unwrap();
    let waited = swap(&mut second, &[Swap { row: &row, change: change("m2"), moved_to: None }], &[]).await;
    assert!(matches!(waited, Err(Error::Busy(_))), "{waited:?}");
    first.commit().await.unwrap();
}
