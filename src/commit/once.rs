//! Doing what a request with an `Idempotency-Key` asks for once, and answering it the same ever after (`spec.md` 1.2).

use crate::app::App;
use crate::auth::{Action, Caller, Object};
use crate::commit::{Document, Error, Stored, stored};
use crate::store::idempotency::{self, Answer, Key, Reply};
use crate::store::tables::{self, Kind, TableRow};
use crate::store::{self, Tx};
use std::sync::Arc;

/// The idempotency key of a request, if it has one.
///
/// A use-case hands the answer over in the transaction that makes the change; so the two are there together or not at
/// all, whatever happens to the connection, the server or the client.
#[derive(Debug, Clone, Default)]
pub struct Once(Option<Arc<Key>>);

impl Once {
    /// For a request with this key.
    pub fn under(key: Key) -> Self {
        Self(Some(Arc::new(key)))
    }

    /// Keeps the answer in the transaction of the change that it tells of. Without a key nothing happens.
    ///
    /// # Errors
    /// [`store::Error::AlreadyAnswered`] if another request with this key was faster: nothing must be changed.
    pub async fn keep(&self, app: &App, tx: &mut Tx, answer: impl FnOnce() -> Answer) -> Result<(), store::Error> {
        let Some(key) = &self.0 else { return Ok(()) };
        let now_ms = app.clock.now_ms();
        let expires_ms = now_ms.saturating_add(app.config.idempotency_key_lifetime.as_ms());
        idempotency::keep(tx, key, &answer(), now_ms, expires_ms).await
    }

    /// Keeps the answer to a request that changes nothing in the database.
    pub async fn keep_alone(&self, app: &App, answer: impl FnOnce() -> Answer) -> Result<(), store::Error> {
        if self.0.is_none() {
            return Ok(());
        }
        let mut tx = app.db.begin().await?;
        self.keep(app, &mut tx, answer).await?;
        tx.commit().await
    }
}

/// The answer `204`.
pub fn nothing() -> Answer {
    Answer { status: 204, reply: Reply::Empty }
}

/// The answer `200` with a JSON document.
pub fn document(json: String) -> Answer {
    Answer { status: 200, reply: Reply::Body(json) }
}

/// The answer `200` with a table or view as it is in this metadata file.
pub(super) fn metadata(kind: Kind, table_id: &str, location: &str) -> Answer {
    let reply = Reply::Metadata { kind, table_id: table_id.to_owned(), location: location.to_owned() };
    Answer { status: 200, reply }
}

/// The metadata that a request was answered with; what the table has now where that file is gone, if the caller may still
/// read it: a right may have been taken away since.
pub async fn answered<M: Document>(
    app: &App,
    caller: &Caller,
    table_id: &str,
    location: &str,
) -> Result<Arc<Stored<M>>, Error> {
    let gone = match stored(app, location).await {
        Err(Error::NoSuchFile(gone)) => gone,
        found => return found,
    };
    let row = tables::load_by_id(&app.db, table_id).await?;
    let reads = |row: &TableRow| caller.may(&Action::Read, &Object::Table(row.warehouse_id.clone(), row.ident.clone()));
    match row.filter(reads) {
        Some(row) => stored(app, &row.metadata_location).await,
        None => Err(Error::NoSuchFile(gone)),
    }
}
