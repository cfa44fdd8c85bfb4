//! Work that outlives its request: queued in the transaction of the change that calls for it, done by any server.
//!
//! Who takes a task gets a lease: a token, and a time until which nobody else may take it. Everything that is written
//! about the task names the token, so a server that lost its lease cannot write over what the next one did. A server
//! that dies lets its lease run out, and the task is taken again; so whatever a task does must bear being done twice.

mod read;
mod work;

pub use read::{entries, list, load};
pub use work::{Ending, Outcome, claim, due, extend, finish, forget_finished, retry};

use sqlx::query;

use super::Tx;
use super::error::Result;

/// Where a task stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Waits until it is due.
    Queued,
    /// A server works on it, or did and died.
    Running,
    /// Finished.
    Done,
    /// Given up.
    Failed,
    /// Not needed any more.
    Cancelled,
}

impl State {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Queued, Self::Running, Self::Done, Self::Failed, Self::Cancelled];

    /// As it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Running => "running",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    /// Reads what [`State::as_str`] wrote.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == text)
    }
}

/// A task to queue.
#[derive(Debug, Clone)]
pub struct NewTask<'a> {
    /// Unique; made by [`new_id`], or a name for a task that comes again and again.
    pub id: &'a str,
    /// What kind of work it is.
    pub kind: &'a str,
    /// For people: what it is about.
    pub subject: &'a str,
    /// The warehouse it belongs to, if it belongs to one.
    pub warehouse_id: Option<&'a str>,
    /// A JSON object: what is to be done.
    pub payload: &'a str,
    /// Not before this time, epoch milliseconds.
    pub due_ms: i64,
    /// The time of the request, epoch milliseconds.
    pub now_ms: i64,
}

/// A task as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    /// See [`NewTask::id`].
    pub id: String,
    /// What kind of work it is.
    pub kind: String,
    /// For people: what it is about.
    pub subject: String,
    /// The warehouse it belongs to, if it belongs to one.
    pub warehouse_id: Option<String>,
    /// A JSON object: what is to be done.
    pub payload: String,
    /// A JSON object: how far it is.
    pub progress: String,
    /// Where it stands.
    pub state: State,
    /// When it may be taken, epoch milliseconds; none when it is finished.
    pub due_ms: Option<i64>,
    /// How often it was taken since it was queued.
    pub attempts: i64,
    /// Why the last attempt failed.
    pub error: Option<String>,
    /// When it was queued, epoch milliseconds.
    pub created_ms: i64,
    /// When anything was last written about it, epoch milliseconds.
    pub updated_ms: i64,
}

/// An entry of a task's log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// When, epoch milliseconds.
    pub at_ms: i64,
    /// What happened.
    pub message: String,
}

/// An id that sorts by age: the time, then a fresh uuid.
pub fn new_id(now_ms: i64, uuid: &str) -> String {
    format!("{now_ms:013}-{uuid}")
}

/// Queues a task. One with this id that is there already stays as it is.
pub async fn queue(tx: &mut Tx, new: &NewTask<'_>) -> Result<()> {
    const SQL: &str = "
        INSERT INTO tasks (id, kind, subject, warehouse_id, payload, progress, state, due_ms, attempts,
                           created_ms, updated_ms)
        VALUES ($1, $2, $3, $4, $5, '{}', 'queued', $6, 0, $7, $7)
        ON CONFLICT (id) DO NOTHING";
    let insert = query(SQL).bind(new.id).bind(new.kind).bind(new.subject).bind(new.warehouse_id.map(str::to_owned));
    tx.execute(insert.bind(new.payload).bind(new.due_ms).bind(new.now_ms)).await?;
    Ok(())
}

/// Takes a task back that is not needed any more, unless it is finished.
pub async fn cancel(tx: &mut Tx, id: &str, now_ms: i64) -> Result<()> {
    const SQL: &str = "
        UPDATE tasks SET state = 'cancelled', due_ms = NULL, lease = NULL, updated_ms = $2
        WHERE id = $1 AND state IN ('queued', 'running')";
    tx.execute(query(SQL).bind(id).bind(now_ms)).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_sort_by_age() {
        assert!(new_id(999, "f") < new_id(1000, "a"));
    }

    #[test]
    fn states_are_read_as_they_are_written() {
        for state in State::ALL {
            assert_eq!(State::parse(state.as_str()), Some(state));
        }
        assert_eq!(State::parse("x"), None);
    }
}
