//! Taking tasks, keeping them, and saying how they ended.

use sqlx::query;

use super::Task;
use super::read::read;
use crate::store::error::Result;
use crate::store::text::text;
use crate::store::{Db, Tx};

/// Entries of a task's log that are kept.
const ENTRIES_KEPT: i64 = 50;

/// Ids of some tasks that may be taken now, the longest due first.
pub async fn due(db: &Db, now_ms: i64, limit: u32) -> Result<Vec<String>> {
    const SQL: &str = "SELECT id FROM tasks WHERE due_ms <= $1 ORDER BY due_ms LIMIT $2";
    let rows = db.rows(query(SQL).bind(now_ms).bind(i64::from(limit))).await?;
    rows.iter().map(|row| text(row, "id")).collect()
}

/// Takes a task: `lease` is a fresh uuid, and nobody else may take the task before `until_ms`. `None` if another
/// server was faster.
pub async fn claim(tx: &mut Tx, id: &str, lease: &str, now_ms: i64, until_ms: i64) -> Result<Option<Task>> {
    const SQL: &str = "
        UPDATE tasks SET state = 'running', lease = $2, due_ms = $4, attempts = attempts + 1, updated_ms = $3
        WHERE id = $1 AND due_ms <= $3
        RETURNING id, kind, subject, warehouse_id, payload, progress, state, due_ms, attempts, error, created_ms,
                  updated_ms";
    let claim = query(SQL).bind(id).bind(lease).bind(now_ms).bind(until_ms);
    let task = tx.optional(claim).await?.as_ref().map(read).transpose()?;
    if let Some(task) = task.as_ref().filter(|task| task.attempts > 1) {
        // An attempt that begins and says nothing more was cut off.
        write_entry(tx, id, &format!("attempt {} begins", task.attempts), now_ms).await?;
    }
    Ok(task)
}

/// Keeps a task for longer, and writes down how far it is. False if the lease is lost: the work must stop.
pub async fn extend(tx: &mut Tx, id: &str, lease: &str, progress: &str, now_ms: i64, until_ms: i64) -> Result<bool> {
    const SQL: &str = "
        UPDATE tasks SET due_ms = $5, progress = $3, updated_ms = $4
        WHERE id = $1 AND lease = $2 AND state = 'running'";
    let extend = query(SQL).bind(id).bind(lease).bind(progress).bind(now_ms).bind(until_ms);
    Ok(tx.execute(extend).await? == 1)
}

/// How an attempt at a task ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It is finished.
    Done,
    /// It went well and comes again at this time, epoch milliseconds.
    Again(i64),
    /// The server stops: the task can be taken at once, and this attempt does not count.
    Released,
    /// It failed and is tried again at this time, epoch milliseconds.
    Retry(i64, String),
    /// It failed and is not tried again.
    Failed(String),
}

/// The end of an attempt.
#[derive(Debug, Clone)]
pub struct Ending<'a> {
    /// How it ended.
    pub outcome: &'a Outcome,
    /// A JSON object: how far it came.
    pub progress: &'a str,
    /// An entry for the log, if there is something to say.
    pub message: Option<&'a str>,
    /// Now, epoch milliseconds.
    pub now_ms: i64,
}

/// Writes down how an attempt ended. False if the lease is lost: somebody else has the task, and nothing is written.
pub async fn finish(tx: &mut Tx, id: &str, lease: &str, ending: &Ending<'_>) -> Result<bool> {
    // An attempt that went well, or never was one, starts the count anew.
    const SQL: &str = "
        UPDATE tasks SET state = $3, due_ms = $4, error = $5, progress = $6, lease = NULL, updated_ms = $7,
                         attempts = attempts * $8 - $9
        WHERE id = $1 AND lease = $2 AND state = 'running'";
    let now_ms = ending.now_ms;
    let (state, due_ms, error, (times, less)) = match ending.outcome {
        Outcome::Done => ("done", None, None, (1_i64, 0_i64)),
        Outcome::Again(due_ms) => ("queued", Some(*due_ms), None, (0, 0)),
        Outcome::Released => ("queued", Some(now_ms), None, (1, 1)),
        Outcome::Retry(due_ms, error) => ("queued", Some(*due_ms), Some(error.clone()), (1, 0)),
        Outcome::Failed(error) => ("failed", None, Some(error.clone()), (1, 0)),
    };
    let update = query(SQL).bind(id).bind(lease).bind(state).bind(due_ms).bind(error).bind(ending.progress);
    let update = update.bind(now_ms);
    if tx.execute(update.bind(times).bind(less)).await? == 0 {
        return Ok(false);
    }
    if let Some(message) = ending.message {
        write_entry(tx, id, message, now_ms).await?;
    }
    Ok(true)
}

/// Has a task tried at once that was given up, or that waits for its next try after it failed. False if there is
/// nothing to try again.
pub async fn retry(tx: &mut Tx, id: &str, now_ms: i64) -> Result<bool> {
    const SQL: &str = "
        UPDATE tasks SET state = 'queued', due_ms = $2, attempts = 0, updated_ms = $2
        WHERE id = $1 AND (state = 'failed' OR state = 'queued' AND error IS NOT NULL)";
    if tx.execute(query(SQL).bind(id).bind(now_ms)).await? == 0 {
        return Ok(false);
    }
    write_entry(tx, id, "somebody asked to try again", now_ms).await?;
    Ok(true)
}

async fn write_entry(tx: &mut Tx, id: &str, message: &str, now_ms: i64) -> Result<()> {
    const ADD: &str = "
        INSERT INTO task_log (task_id, entry, at_ms, message)
        SELECT $1, COALESCE(MAX(entry), 0) + 1, $2, $3 FROM task_log WHERE task_id = $4";
    const CUT: &str = "
        DELETE FROM task_log WHERE task_id = $1 AND entry <= (SELECT MAX(entry) FROM task_log WHERE task_id = $2) - $3";
    tx.execute(query(ADD).bind(id).bind(now_ms).bind(message).bind(id)).await?;
    tx.execute(query(CUT).bind(id).bind(id).bind(ENTRIES_KEPT)).await?;
    Ok(())
}

/// Forgets some finished tasks that nothing was written about since `before_ms`, with their logs, and answers how
/// many. Zero when there are none left.
pub async fn forget_finished(tx: &mut Tx, before_ms: i64) -> Result<u64> {
    const SQL: &str = "
        DELETE FROM tasks WHERE id IN (
            SELECT id FROM tasks WHERE state IN ('done', 'failed', 'cancelled') AND updated_ms <= $1 LIMIT 1000)";
    Ok(tx.execute(query(SQL).bind(before_ms)).await?)
}
