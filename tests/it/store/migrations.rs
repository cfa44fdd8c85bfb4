use guillemot::store::{Db, Error};

use super::seed;
use crate::support::postgres::Database;
use crate::support::{TestDb, on_both};

on_both!(a_second_migration_finds_nothing_to_do, what_was_written_is_there_after_reopening);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_password_is_not_printed() {
    let database = Database::create().await;
    let mut url = url::Url::parse(database.url()).unwrap();
    url.set_password(Some("hidden-word")).unwrap();
    let db = Db::connect(url.as_str()).await.unwrap();
    assert!(!format!("{db:?}").contains("hidden-word"));
    let wrong = Db::connect("postgres://u:hidden-word@127.0.0.1:1/x").await.unwrap_err();
    assert!(!format!("{wrong:?}").contains("hidden-word"));
}

async fn a_second_migration_finds_nothing_to_do(db: TestDb) {
    seed(&db, &["ns"]).await;
    db.migrate().await.unwrap();
    Db::connect(db.url()).await.unwrap().migrate().await.unwrap();
}

async fn what_was_written_is_there_after_reopening(db: TestDb) {
    seed(&db, &["ns"]).await;
    db.close().await;
    let again = Db::connect(db.url()).await.unwrap();
    assert!(guillemot::store::warehouses::load(&again, "main").await.unwrap().is_some());
}

/// Servers that start together, each with a pool of its own.
async fn start_together(url: &str) {
    let servers: Vec<_> = (0..6)
        .map(|_| {
            let url = url.to_owned();
            tokio::spawn(async move {
                let db = Db::connect(&url).await?;
                db.migrate().await?;
                db.ping().await
            })
        })
        .collect();
    for server in servers {
        server.await.unwrap().unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn servers_that_start_together_migrate_once_on_sqlite() {
    let folder = tempfile::tempdir().unwrap();
    for n in 0..5 {
        start_together(&format!("sqlite://{}/a b%20{n}.db", folder.path().display())).await;
        assert!(folder.path().join(format!("a b {n}.db")).exists());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn servers_that_start_together_migrate_once_on_postgres() {
    for _ in 0..3 {
        let database = Database::create().await;
        start_together(database.url()).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_cannot_be_opened_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let urls = [
        format!("sqlite://{}/no/such/folder.db", folder.path().display()),
        "sqlite::memory:".to_owned(),
        "mysql://localhost/x".to_owned(),
        "postgres://127.0.0.1:1/x".to_owned(),
    ];
    for url in urls {
        let error = Db::connect(&url).await.unwrap_err();
        assert!(matches!(error, Error::Setup(_)), "{url}: {error:?}");
        assert_eq!(error.to_string(), "the database cannot be prepared");
    }
}
