//! Opening the database: pools, settings of each connection, migrations.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::str::FromStr;
use std::sync::{Arc, Once};
use std::time::Duration;

use sqlx::any::{AnyConnectOptions, AnyPoolOptions, AnyRow};
use sqlx::migrate::Migrator;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode};
use sqlx::{AnyConnection, AnyPool, ConnectOptions, Connection, Executor};
use tokio::sync::Mutex;

use super::error::{Error, Result, is_no_text};
use super::tx::{Query, Tx, within};

static MIGRATIONS: Migrator = sqlx::migrate!();

/// The one statement that only PostgreSQL runs before the migrations; the file says why.
const KEY_TEXT: &str = include_str!("../../migrations/postgres/key_text.sql");

/// How long a request waits for a connection, or a writer for its turn.
const ACQUIRE_LIMIT: Duration = Duration::from_secs(5);

/// How long a second server waits for the first one's migrations on SQLite.
const MIGRATION_LIMIT: Duration = Duration::from_mins(2);

/// A pooled connection that rested longer than this is tried before it is used: the server may have restarted.
/// A connection in constant use is not, which saves a round trip a query.
const TRUSTED_REST: Duration = Duration::from_secs(1);

/// `synchronous = FULL` syncs the write-ahead log before COMMIT returns, so that an acknowledged commit survives a
/// power failure; with NORMAL it would not.
const SQLITE_SETTINGS: &str = "
    PRAGMA synchronous = FULL;
    PRAGMA foreign_keys = ON;
    PRAGMA busy_timeout = 5000";

/// Bounds for what can hang on the server's side. A lock is waited for as long as on SQLite.
const POSTGRES_SETTINGS: &str = "
    SET lock_timeout = '5s';
    SET statement_timeout = '25s';
    SET idle_in_transaction_session_timeout = '60s'";

/// Which database is behind the common SQL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Sqlite,
    Postgres,
}

/// The database: a pool of connections. A clone is another handle on the same pool.
#[derive(Debug, Clone)]
pub struct Db {
    pool: AnyPool,
    kind: Kind,
    /// Where the SQLite file is. PostgreSQL's URL may hold a password, and is not kept.
    file: String,
    /// SQLite has one writer at a time. Waiting here is fair and wakes at once; its own busy handler polls, and is
    /// left to arbitrate between processes.
    writer: Option<Arc<Mutex<()>>>,
}

impl Db {
    /// Opens `sqlite://PATH` (the file is created if it is missing) or `postgres://…`, with at most 16 connections.
    /// Does not migrate.
    ///
    /// # Errors
    /// [`Error::Setup`] if the URL is of another kind, or the database cannot be reached.
    pub async fn connect(url: &str) -> Result<Self> {
        Self::connect_with(url, 16).await
    }

    /// As [`Db::connect`], with a limit on the pool's connections.
    pub async fn connect_with(url: &str, max_connections: u32) -> Result<Self> {
        install_drivers();
        let (kind, url) = prepare(url).await.map_err(Error::Setup)?;
        let options = AnyConnectOptions::from_str(&url).map_err(Error::Setup)?;
        // A pool reports an unreachable server as a timeout; one connection tells what is wrong.
        let probe = within(AnyConnection::connect_with(&options)).await.map_err(Error::Setup)?;
        within(probe.close()).await.map_err(Error::Setup)?;
        let pool = pool(kind, max_connections).connect_lazy_with(options);
        let writer = (kind == Kind::Sqlite).then(Arc::default);
        let file = if kind == Kind::Sqlite { url } else { String::new() };
        Ok(Self { pool, kind, file, writer })
    }

    /// Brings the schema up to date. Two servers may do so at the same time; see `migrations/README.md`.
    ///
    /// # Errors
    /// [`Error::Setup`] if a migration fails, or an applied one is unknown or was changed.
    pub async fn migrate(&self) -> Result<()> {
        let run = match self.kind {
            Kind::Sqlite => migrate_sqlite(&self.file).await,
            Kind::Postgres => migrate_postgres(&self.pool).await,
        };
        run.map_err(Error::Setup)
    }

    /// Answers when the database does: for `/ready`.
    pub async fn ping(&self) -> Result<()> {
        self.optional(sqlx::query("SELECT 1")).await?;
        Ok(())
    }

    /// Closes every connection, once those in use are given back.
    pub async fn close(&self) {
        self.pool.close().await;
    }

    /// Starts a transaction that writes.
    ///
    /// # Errors
    /// [`Error::Busy`] if neither a connection nor, on SQLite, the writer's turn was had within 5 seconds.
    pub async fn begin(&self) -> Result<Tx> {
        let Some(writer) = &self.writer else {
            return Ok(Tx::new(within(self.pool.begin()).await?, None));
        };
        let turn = tokio::time::timeout(ACQUIRE_LIMIT, Arc::clone(writer).lock_owned()).await;
        let turn = turn.map_err(|_| Error::Busy(sqlx::Error::PoolTimedOut))?;
        // IMMEDIATE takes the write lock now, so no later statement can fail for want of it.
        Ok(Tx::new(within(self.pool.begin_with("BEGIN IMMEDIATE")).await?, Some(turn)))
    }

    /// Runs a query outside of any transaction that yields at most one row.
    pub(super) async fn optional(&self, query: Query<'_>) -> Result<Option<AnyRow>> {
        found(within(query.fetch_optional(&self.pool)).await)
    }

    /// Runs a query outside of any transaction that yields rows.
    pub(super) async fn rows(&self, query: Query<'_>) -> Result<Vec<AnyRow>> {
        found(within(query.fetch_all(&self.pool)).await)
    }
}

/// What a query found. PostgreSQL has no text with a null byte, so that nothing has such a name; SQLite says the same.
fn found<T: Default>(result: sqlx::Result<T>) -> Result<T> {
    match result {
        Err(error) if is_no_text(&error) => Ok(T::default()),
        result => Ok(result?),
    }
}

/// Makes both databases known to sqlx, once.
pub(super) fn install_drivers() {
    static DRIVERS: Once = Once::new();
    DRIVERS.call_once(sqlx::any::install_default_drivers);
}

/// Settles which database it is and, for SQLite, creates the file in WAL mode. The answer's URL is absolute in what
/// it asks for: sqlx reads everything from it.
async fn prepare(url: &str) -> sqlx::Result<(Kind, String)> {
    if url.starts_with("postgres://") || url.starts_with("postgresql://") {
        return Ok((Kind::Postgres, url.to_owned()));
    }
    if !url.starts_with("sqlite:") {
        return Err(configuration("the database URL starts with neither sqlite: nor postgres:"));
    }
    if url.contains(":memory:") || url.contains("mode=memory") {
        return Err(configuration("an in-memory SQLite database cannot be shared by the connections of a pool"));
    }
    let options = SqliteConnectOptions::from_str(url)?.create_if_missing(true).journal_mode(SqliteJournalMode::Wal);
    create_file(&options).await?;
    Ok((Kind::Sqlite, options.to_url_lossy().into()))
}

/// The journal mode stays with the file. Changing it takes a lock that SQLite does not wait for, so when several
/// servers meet at a new file the later ones try again.
async fn create_file(options: &SqliteConnectOptions) -> sqlx::Result<()> {
    let mut tries = 0;
    loop {
        let result = match options.connect().await {
            Ok(connection) => connection.close().await,
            Err(error) => Err(error),
        };
        let busy = result.as_ref().is_err_and(|e| e.as_database_error().is_some());
        if !busy || tries == 20 {
            return result;
        }
        tries += 1;
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

fn pool(kind: Kind, max_connections: u32) -> AnyPoolOptions {
    let settings = match kind {
        Kind::Sqlite => SQLITE_SETTINGS,
        Kind::Postgres => POSTGRES_SETTINGS,
    };
    AnyPoolOptions::new()
        .max_connections(max_connections)
        .acquire_timeout(ACQUIRE_LIMIT)
        .test_before_acquire(false)
        .after_connect(move |connection, _| Box::pin(async move { connection.execute(settings).await.map(|_| ()) }))
        .before_acquire(|connection, meta| -> Pin<Box<dyn Future<Output = sqlx::Result<bool>> + Send + '_>> {
            let rested = meta.idle_for > TRUSTED_REST;
            Box::pin(async move { Ok(!rested || connection.ping().await.is_ok()) })
        })
}

async fn migrate_postgres(pool: &AnyPool) -> sqlx::Result<()> {
    let mut connection = pool.acquire().await?;
    // A migration may take longer than a request may.
    connection.execute("SET statement_timeout = 0; SET lock_timeout = 0").await?;
    connection.execute(KEY_TEXT).await?;
    MIGRATIONS.run_direct(None, &mut *connection, false).await?;
    // The connection's settings are not those of the pool any more.
    connection.close().await
}

async fn migrate_sqlite(url: &str) -> sqlx::Result<()> {
    let options = SqliteConnectOptions::from_str(url)?.busy_timeout(MIGRATION_LIMIT);
    let mut connection = options.connect().await?;
    let mut tx = connection.begin_with("BEGIN IMMEDIATE").await?;
    MIGRATIONS.run_direct(None, &mut *tx, false).await?;
    tx.commit().await?;
    connection.close().await
}

pub(super) fn configuration(reason: &str) -> sqlx::Error {
    sqlx::Error::Configuration(io::Error::new(io::ErrorKind::InvalidInput, reason.to_owned()).into())
}
