//! What tests stand on: databases and buckets of their own.

pub(crate) mod fixture;
pub(crate) mod gcs;
pub(crate) mod google;
pub(crate) mod idp;
pub(crate) mod leaks;
pub(crate) mod postgres;
pub(crate) mod proxy;
pub(crate) mod s3;
pub(crate) mod server;
pub(crate) mod snapshots;

use std::ops::Deref;

use guillemot::store::Db;
use tempfile::TempDir;

use postgres::Database;

/// The value of a variable that `make test` sets.
pub(crate) fn setting(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| panic!("{name} is not set: run `make test`, which starts what tests need"))
}

/// Runs each case, an `async fn(TestDb)`, on SQLite and on PostgreSQL.
macro_rules! on_both {
    ($($case:ident),+ $(,)?) => {
        mod sqlite {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $case() {
                super::$case($crate::support::TestDb::sqlite().await).await;
            })+
        }
        mod postgres {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $case() {
                super::$case($crate::support::TestDb::postgres().await).await;
            })+
        }
    };
}
pub(crate) use on_both;

/// An empty, migrated database of one test's own.
pub(crate) struct TestDb {
    db: Db,
    url: String,
    _place: Place,
}

/// What goes away with the test.
enum Place {
    Folder(#[expect(dead_code, reason = "its drop removes the folder")] TempDir),
    Server(#[expect(dead_code, reason = "its drop removes the database")] Database),
}

impl TestDb {
    pub(crate) async fn sqlite() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("sqlite://{}", folder.path().join("test.db").display());
        Self::migrated(url, Place::Folder(folder)).await
    }

    pub(crate) async fn postgres() -> Self {
        let database = Database::create().await;
        Self::migrated(database.url().to_owned(), Place::Server(database)).await
    }

    async fn migrated(url: String, place: Place) -> Self {
        let db = Db::connect(&url).await.unwrap();
        db.migrate().await.unwrap();
        Self { db, url, _place: place }
    }

    /// Where the database is, for a second pool on it.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }
}

impl Deref for TestDb {
    type Target = Db;

    fn deref(&self) -> &Db {
        &self.db
    }
}
