//! The audit log: who did what, and what was refused.

use sqlx::Row;
use sqlx::query;

use super::error::{Error, Result};
use super::text::{Listing, Page, number, text};
use super::{Db, Tx};

/// How many entries [`sweep`] removes at a time.
const SWEPT_AT_ONCE: i64 = 1000;

/// One request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Sorts by time.
    pub id: String,
    /// When, epoch milliseconds.
    pub at_ms: i64,
    /// The name of the principal; empty where nobody said who they are.
    pub principal: String,
    /// Method and route.
    pub operation: String,
    /// The path as the client wrote it.
    pub path: String,
    /// The actions that the request came down to, each with its object.
    pub actions: String,
    /// Whether it was allowed.
    pub allowed: bool,
    /// The grant that allowed the last of the actions.
    pub grant_id: Option<String>,
    /// The status of the reply.
    pub status: u16,
    /// What the client says of itself.
    pub user_agent: String,
    /// What the client calls its project; it allows nothing.
    pub project: String,
    /// The request's id.
    pub request_id: String,
}

/// Adds an entry.
pub async fn add(tx: &mut Tx, entry: &Entry) -> Result<()> {
    const SQL: &str = "
        INSERT INTO audit (id, at_ms, principal, operation, path, actions, decision, grant_id, status, user_agent,
                           project, request_id)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)";
    let decision = if entry.allowed { "allowed" } else { "denied" };
    let insert = query(SQL).bind(&entry.id).bind(entry.at_ms).bind(&entry.principal).bind(&entry.operation);
    let insert = insert.bind(&entry.path).bind(&entry.actions).bind(decision).bind(entry.grant_id.clone());
    let insert = insert.bind(i64::from(entry.status)).bind(&entry.user_agent).bind(&entry.project);
    tx.execute(insert.bind(&entry.request_id)).await?;
    Ok(())
}

/// Which entries to list.
#[derive(Debug, Clone, Copy, Default)]
pub struct Filter<'a> {
    /// Those of one caller; the empty name is that of nobody known.
    pub principal: Option<&'a str>,
    /// Those of this time or later, epoch milliseconds.
    pub since_ms: i64,
}

/// A part of the log, the newest entries first. [`Page::after`] is an id.
pub async fn list(db: &Db, filter: Filter<'_>, page: &Page) -> Result<Listing<Entry>> {
    const SQL: &str = "
        SELECT id, at_ms, principal, operation, path, actions, decision, grant_id, status, user_agent, project,
               request_id
        FROM audit WHERE ($1 = '' OR id < $2) AND ($3 = 0 OR principal = $4) AND at_ms >= $5
        ORDER BY id DESC LIMIT $6";
    let after = page.after_key();
    let one = i64::from(filter.principal.is_some());
    let listed = query(SQL).bind(after).bind(after).bind(one).bind(filter.principal.unwrap_or_default());
    let rows = db.rows(listed.bind(filter.since_ms).bind(page.rows())).await?;
    let entries = rows.iter().map(|row| {
        let id = text(row, "id")?;
        let allowed = match text(row, "decision")?.as_str() {
            "allowed" => true,
            "denied" => false,
            _ => return Err(Error::Corrupt { table: "audit", column: "decision", row: id }),
        };
        let corrupt = |_| Error::Corrupt { table: "audit", column: "status", row: id.clone() };
        Ok(Entry {
            at_ms: number(row, "at_ms")?,
            principal: text(row, "principal")?,
            operation: text(row, "operation")?,
            path: text(row, "path")?,
            actions: text(row, "actions")?,
            allowed,
            grant_id: row.try_get("grant_id")?,
            status: u16::try_from(number(row, "status")?).map_err(corrupt)?,
            user_agent: text(row, "user_agent")?,
            project: text(row, "project")?,
            request_id: text(row, "request_id")?,
            id,
        })
    });
    Ok(Listing::cut(entries.collect::<Result<_>>()?, page, |entry| entry.id.clone()))
}

/// Removes some of the entries that are older than this time, and answers how many.
pub async fn sweep(tx: &mut Tx, before_ms: i64) -> Result<u64> {
    const SQL: &str = "
        DELETE FROM audit WHERE id IN (SELECT id FROM audit WHERE at_ms < $1 ORDER BY at_ms LIMIT $2)";
    Ok(tx.execute(query(SQL).bind(before_ms).bind(SWEPT_AT_ONCE)).await?)
}
