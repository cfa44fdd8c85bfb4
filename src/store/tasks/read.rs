//! Looking at tasks.

use sqlx::Row;
use sqlx::any::AnyRow;
use sqlx::query;

use super::{Entry, State, Task};
use crate::store::Db;
use crate::store::error::{Error, Result};
use crate::store::text::{Listing, Page, number, text};

/// A part of the list of all tasks, or of those in one state; the oldest first. [`Page::after`] is an id.
pub async fn list(db: &Db, state: Option<State>, page: &Page) -> Result<Listing<Task>> {
    const ALL: &str = "
        SELECT id, kind, subject, warehouse_id, payload, progress, state, due_ms, attempts, error, created_ms,
               updated_ms
        FROM tasks WHERE id > $1 ORDER BY id LIMIT $2";
    const ONE_STATE: &str = "
        SELECT id, kind, subject, warehouse_id, payload, progress, state, due_ms, attempts, error, created_ms,
               updated_ms
        FROM tasks WHERE id > $1 AND state = $3 ORDER BY id LIMIT $2";
    let sql = if state.is_some() { ONE_STATE } else { ALL };
    let statement = query(sql).bind(page.after_key()).bind(page.rows());
    let statement = match state {
        Some(state) => statement.bind(state.as_str()),
        None => statement,
    };
    let tasks = db.rows(statement).await?.iter().map(read).collect::<Result<Vec<_>>>()?;
    Ok(Listing::cut(tasks, page, |task| task.id.clone()))
}

/// One task.
pub async fn load(db: &Db, id: &str) -> Result<Option<Task>> {
    const SQL: &str = "
        SELECT id, kind, subject, warehouse_id, payload, progress, state, due_ms, attempts, error, created_ms,
               updated_ms
        FROM tasks WHERE id = $1";
    db.optional(query(SQL).bind(id)).await?.as_ref().map(read).transpose()
}

/// The log of a task, the oldest entry first.
pub async fn entries(db: &Db, id: &str) -> Result<Vec<Entry>> {
    const SQL: &str = "SELECT at_ms, message FROM task_log WHERE task_id = $1 ORDER BY entry";
    let rows = db.rows(query(SQL).bind(id)).await?;
    rows.iter().map(|row| Ok(Entry { at_ms: number(row, "at_ms")?, message: text(row, "message")? })).collect()
}

pub(super) fn read(row: &AnyRow) -> Result<Task> {
    let id = text(row, "id")?;
    let Some(state) = State::parse(&text(row, "state")?) else {
        return Err(Error::Corrupt { table: "tasks", column: "state", row: id });
    };
    Ok(Task {
        id,
        kind: text(row, "kind")?,
        subject: text(row, "subject")?,
        warehouse_id: row.try_get("warehouse_id")?,
        payload: text(row, "payload")?,
        progress: text(row, "progress")?,
        state,
        due_ms: row.try_get("due_ms")?,
        attempts: number(row, "attempts")?,
        error: row.try_get("error")?,
        created_ms: number(row, "created_ms")?,
        updated_ms: number(row, "updated_ms")?,
    })
}
