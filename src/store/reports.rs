//! Metrics reports of engines: the latest of each table.

use sqlx::query;

use super::error::{Entity, Error, Result, on_foreign_key};
use super::text::{number, text};
use super::{Db, Tx};
use crate::spec::TableIdent;

/// How many reports of a table are kept.
pub const KEPT: i64 = 100;

/// A report to keep.
#[derive(Debug, Clone, Copy)]
pub struct NewReport<'a> {
    /// A fresh uuid.
    pub id: &'a str,
    /// [`super::tables::TableRow::id`] of the table it is on.
    pub table_id: &'a str,
    /// A JSON object as the engine sent it.
    pub report: &'a str,
    /// When it came, epoch milliseconds.
    pub received_ms: i64,
}

/// A report that was kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// A JSON object as the engine sent it.
    pub report: String,
    /// When it came, epoch milliseconds.
    pub received_ms: i64,
}

/// Keeps a report, and forgets the oldest of its table beyond [`KEPT`]. `table` is its name, for the error.
///
/// # Errors
/// [`Error::NotFound`] if the table was dropped in between.
pub async fn add(tx: &mut Tx, new: &NewReport<'_>, table: &TableIdent) -> Result<()> {
    const ADD: &str = "
        INSERT INTO metrics_reports (id, table_id, report, received_ms) VALUES ($1, $2, $3, $4)";
    const FORGET: &str = "
        DELETE FROM metrics_reports WHERE table_id = $1 AND id NOT IN (
            SELECT id FROM metrics_reports WHERE table_id = $2 ORDER BY received_ms DESC, id DESC LIMIT $3)";
    let missing = Error::NotFound(Entity::Table(table.to_string()));
    let insert = query(ADD).bind(new.id).bind(new.table_id).bind(new.report).bind(new.received_ms);
    tx.execute(insert).await.map_err(|error| on_foreign_key(error, missing))?;
    tx.execute(query(FORGET).bind(new.table_id).bind(new.table_id).bind(KEPT)).await?;
    Ok(())
}

/// The reports of a table that are kept, newest first.
pub async fn latest(db: &Db, table_id: &str) -> Result<Vec<Report>> {
    const SQL: &str = "
        SELECT report, received_ms FROM metrics_reports WHERE table_id = $1
        ORDER BY received_ms DESC, id DESC LIMIT $2";
    let rows = db.rows(query(SQL).bind(table_id).bind(KEPT)).await?;
    rows.iter()
        .map(|row| Ok(Report { report: text(row, "report")?, received_ms: number(row, "received_ms")? }))
        .collect()
}
