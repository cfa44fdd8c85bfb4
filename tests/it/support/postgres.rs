//! A PostgreSQL database a test, on the server that `TEST_POSTGRES_URL` names.

use std::sync::atomic::{AtomicU32, Ordering};

use sqlx::postgres::PgConnection;
use sqlx::{AssertSqlSafe, Connection, Executor};
use url::Url;

static NEXT: AtomicU32 = AtomicU32::new(0);

/// A database that is dropped with this value.
pub(crate) struct Database {
    server: String,
    name: String,
    url: String,
}

impl Database {
    /// Creates an empty database with a name of its own.
    pub(crate) async fn create() -> Self {
        let server = super::setting("TEST_POSTGRES_URL");
        let name = format!("guillemot_test_{}_{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        run(&server, format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)")).await.unwrap();
        // A language's order is what a production database is likely to have. A server built without ICU has only C.
        let by_language = "TEMPLATE template0 ENCODING 'UTF8' LOCALE_PROVIDER icu ICU_LOCALE 'en-US'";
        if run(&server, format!("CREATE DATABASE {name} {by_language}")).await.is_err() {
            run(&server, format!("CREATE DATABASE {name}")).await.unwrap();
        }
        let mut url = Url::parse(&server).unwrap();
        url.set_path(&name);
        // The server asks for none. It is a secret all the same: see `leaks`.
        url.set_password(Some("the-password-of-tests")).unwrap();
        Self { server, name, url: url.into() }
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        let (server, name) = (self.server.clone(), self.name.clone());
        // The test's own runtime is busy with this very drop.
        let dropping = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(run(&server, format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)"))).unwrap();
        });
        // A failure to clean up is no failure of the test.
        drop(dropping.join());
    }
}

async fn run(server: &str, sql: String) -> sqlx::Result<()> {
    let mut connection = PgConnection::connect(server).await?;
    connection.execute(AssertSqlSafe(sql)).await?;
    connection.close().await
}
