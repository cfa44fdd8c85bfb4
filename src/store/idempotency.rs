//! What requests with an `Idempotency-Key` were answered (`spec.md` 1.2).
//!
//! An answer is kept in the transaction of the change that it tells of, under a unique key. So two requests with one
//! key cannot both change something, on whatever servers they run: the second one's transaction fails.

use sqlx::any::AnyRow;
use sqlx::query;

use super::error::{Error, Result};
use super::tables::Kind;
use super::text::{number, text};
use super::{Db, Tx};

/// Most rows that one [`sweep`] removes, so that it holds no locks for long.
const SWEPT_AT_ONCE: i64 = 1000;

/// An idempotency key and the request that it belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    /// A `UUIDv7` in lower case.
    pub id: String,
    /// A hash of everything that makes the request what it is.
    pub request: String,
}

/// What a request was answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// The rest.
    pub reply: Reply,
}

/// The body of an answer, or what it is made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// No body.
    Empty,
    /// A JSON document.
    Body(String),
    /// A table or view as it was then.
    Metadata {
        /// Table or view.
        kind: Kind,
        /// Its [`super::tables::TableRow::id`].
        table_id: String,
        /// Its metadata file.
        location: String,
    },
}

/// What is known of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Known {
    /// The same request was answered so.
    Answered(Answer),
    /// The key belongs to another request.
    OtherRequest,
}

/// What is known of a key now; `None` for one that is new, or has expired.
pub async fn find(db: &Db, key: &Key, now_ms: i64) -> Result<Option<Known>> {
    const SQL: &str = "
        SELECT request, status, reply, body, table_id, metadata_location FROM idempotency_keys
        WHERE id = $1 AND expires_ms > $2";
    let Some(row) = db.optional(query(SQL).bind(&key.id).bind(now_ms)).await? else { return Ok(None) };
    if text(&row, "request")? != key.request {
        return Ok(Some(Known::OtherRequest));
    }
    Ok(Some(Known::Answered(read(&row, key)?)))
}

/// Keeps an answer until `expires_ms`, in the transaction of the change that it tells of.
///
/// # Errors
/// [`Error::AlreadyAnswered`] if a request with this key was answered before: the transaction must be dropped.
pub async fn keep(tx: &mut Tx, key: &Key, answer: &Answer, now_ms: i64, expires_ms: i64) -> Result<()> {
    // A key that has expired but is not swept yet is as good as new.
    const SQL: &str = "
        INSERT INTO idempotency_keys (id, request, status, reply, body, table_id, metadata_location, expires_ms)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
        ON CONFLICT (id) DO UPDATE SET
            request = excluded.request, status = excluded.status, reply = excluded.reply, body = excluded.body,
            table_id = excluded.table_id, metadata_location = excluded.metadata_location,
            expires_ms = excluded.expires_ms
        WHERE idempotency_keys.expires_ms <= $9";
    let (reply, body, table_id, location) = match &answer.reply {
        Reply::Empty => ("empty", None, None, None),
        Reply::Body(body) => ("body", Some(body), None, None),
        Reply::Metadata { kind, table_id, location } => (kind.as_str(), None, Some(table_id), Some(location)),
    };
    let insert = query(SQL).bind(&key.id).bind(&key.request).bind(i64::from(answer.status)).bind(reply);
    let insert =
        insert.bind(body.cloned()).bind(table_id.cloned()).bind(location.cloned()).bind(expires_ms).bind(now_ms);
    match tx.execute(insert).await? {
        0 => Err(Error::AlreadyAnswered),
        _ => Ok(()),
    }
}

/// Removes some keys that have expired, and answers how many. Zero when there are none left.
pub async fn sweep(tx: &mut Tx, now_ms: i64) -> Result<u64> {
    const SQL: &str = "
        DELETE FROM idempotency_keys WHERE id IN (
            SELECT id FROM idempotency_keys WHERE expires_ms <= $1 ORDER BY expires_ms LIMIT $2)";
    Ok(tx.execute(query(SQL).bind(now_ms).bind(SWEPT_AT_ONCE)).await?)
}

fn read(row: &AnyRow, key: &Key) -> Result<Answer> {
    let corrupt = |column| Error::Corrupt { table: "idempotency_keys", column, row: key.id.clone() };
    let status = u16::try_from(number(row, "status")?).map_err(|_| corrupt("status"))?;
    let reply = match text(row, "reply")?.as_str() {
        "empty" => Reply::Empty,
        "body" => Reply::Body(text(row, "body")?),
        kind => Reply::Metadata {
            kind: Kind::parse(kind).ok_or_else(|| corrupt("reply"))?,
            table_id: text(row, "table_id")?,
            location: text(row, "metadata_location")?,
        },
    };
    Ok(Answer { status, reply })
}
