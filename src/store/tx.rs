//! A transaction that writes.

use std::future::Future;
use std::io;
use std::time::Duration;

use sqlx::any::{AnyArguments, AnyRow};
use sqlx::{Acquire, Any};
use tokio::sync::OwnedMutexGuard;

use super::error::{Error, Result};

/// A statement with its arguments.
pub(super) type Query<'q> = sqlx::query::Query<'q, Any, AnyArguments>;

/// How long one statement may take before its connection is given up.
pub(super) const STATEMENT_LIMIT: Duration = Duration::from_secs(30);

/// A write transaction. Several changes in one of them happen all or not at all; dropped without
/// [`Tx::commit`], none of them happened.
///
/// - The first statement writes: SQLite does not turn a read lock into a write lock under contention.
/// - No network call, no storage call and no second [`Tx`] while one is open: on SQLite the second would wait for
///   the first.
/// - After a statement failed the transaction can only be dropped; [`Tx::commit`] refuses. (PostgreSQL would answer
///   COMMIT with a silent rollback.)
#[derive(Debug)]
pub struct Tx {
    inner: sqlx::Transaction<'static, Any>,
    failed: bool,
    // Declared after `inner`: the rollback of a drop is queued before the next writer is let in.
    _turn: Option<OwnedMutexGuard<()>>,
}

impl Tx {
    pub(super) fn new(inner: sqlx::Transaction<'static, Any>, turn: Option<OwnedMutexGuard<()>>) -> Self {
        Self { inner, failed: false, _turn: turn }
    }

    /// Makes the changes visible and durable.
    ///
    /// # Errors
    /// [`Error::OutcomeUnknown`] if the connection was lost, or the database failed, around COMMIT.
    /// [`Error::Conflict`] or [`Error::Busy`] if it was surely rolled back.
    pub async fn commit(self) -> Result<()> {
        if self.failed {
            return Err(Error::Sql(sqlx::Error::Protocol("commit after a failed statement".into())));
        }
        within(self.inner.commit()).await.map_err(Error::from_commit)
    }

    /// Takes the changes back. Dropping the transaction does the same, a little later.
    pub async fn rollback(self) -> Result<()> {
        Ok(within(self.inner.rollback()).await?)
    }

    /// Runs a statement and answers how many rows it changed.
    pub(super) async fn execute(&mut self, query: Query<'_>) -> sqlx::Result<u64> {
        let result = within(query.execute(&mut *self.inner)).await;
        self.note(result).map(|done| done.rows_affected())
    }

    /// Runs a statement that yields at most one row.
    pub(super) async fn optional(&mut self, query: Query<'_>) -> sqlx::Result<Option<AnyRow>> {
        // All rows are taken: a statement that writes and returns must run to its end.
        self.rows(query).await.map(|rows| rows.into_iter().next())
    }

    /// Runs a statement that yields rows.
    pub(super) async fn rows(&mut self, query: Query<'_>) -> sqlx::Result<Vec<AnyRow>> {
        let result = within(query.fetch_all(&mut *self.inner)).await;
        self.note(result)
    }

    /// Runs a statement whose failure leaves the transaction usable (by a savepoint).
    pub(super) async fn attempt(&mut self, query: Query<'_>) -> sqlx::Result<u64> {
        let result = within(async {
            let mut savepoint = self.inner.begin().await?;
            match query.execute(&mut *savepoint).await {
                Ok(done) => savepoint.commit().await.map(|()| Ok(done.rows_affected())),
                Err(error) => savepoint.rollback().await.map(|()| Err(error)),
            }
        })
        .await;
        self.note(result).flatten()
    }

    fn note<T>(&mut self, result: sqlx::Result<T>) -> sqlx::Result<T> {
        self.failed |= result.is_err();
        result
    }
}

/// Bounds a call to the database: a peer that went silent must not hold a request for ever.
pub(super) async fn within<T>(call: impl Future<Output = sqlx::Result<T>>) -> sqlx::Result<T> {
    match tokio::time::timeout(STATEMENT_LIMIT, call).await {
        Ok(result) => result,
        Err(_) => Err(sqlx::Error::Io(io::Error::new(io::ErrorKind::TimedOut, "no answer from the database"))),
    }
}
