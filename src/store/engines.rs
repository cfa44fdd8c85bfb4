//! Which clients were seen on a table, and when last.

use sqlx::query;

use super::text::{number, text};
use super::{Db, Result, Tx};

/// How many clients of a table are kept: those that were seen last.
pub const KEPT: i64 = 50;

/// A client that was seen on a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Engine {
    /// What it says of itself.
    pub agent: String,
    /// When it last read the table, epoch milliseconds; 0 for never.
    pub read_ms: i64,
    /// When it last changed the table, epoch milliseconds; 0 for never.
    pub wrote_ms: i64,
}

/// Notes that a client was seen, unless the table is gone. Times only go forward.
pub async fn note(tx: &mut Tx, table_id: &str, engine: &Engine) -> Result<()> {
    const NOTE: &str = "
        INSERT INTO table_engines (table_id, agent, read_ms, wrote_ms)
        SELECT id, CAST($1 AS TEXT), CAST($2 AS BIGINT), CAST($3 AS BIGINT) FROM tables WHERE id = $4
        ON CONFLICT (table_id, agent) DO UPDATE SET
            read_ms = CASE WHEN excluded.read_ms > table_engines.read_ms
                THEN excluded.read_ms ELSE table_engines.read_ms END,
            wrote_ms = CASE WHEN excluded.wrote_ms > table_engines.wrote_ms
                THEN excluded.wrote_ms ELSE table_engines.wrote_ms END";
    const FORGET: &str = "
        DELETE FROM table_engines WHERE table_id = $1 AND agent NOT IN (
            SELECT agent FROM table_engines WHERE table_id = $2
            ORDER BY CASE WHEN read_ms > wrote_ms THEN read_ms ELSE wrote_ms END DESC, agent LIMIT $3)";
    let Engine { agent, read_ms, wrote_ms } = engine;
    tx.execute(query(NOTE).bind(agent).bind(read_ms).bind(wrote_ms).bind(table_id)).await?;
    tx.execute(query(FORGET).bind(table_id).bind(table_id).bind(KEPT)).await?;
    Ok(())
}

/// The clients that were seen on a table, those that were seen last first.
pub async fn list(db: &Db, table_id: &str) -> Result<Vec<Engine>> {
    const SQL: &str = "
        SELECT agent, read_ms, wrote_ms FROM table_engines WHERE table_id = $1
        ORDER BY CASE WHEN read_ms > wrote_ms THEN read_ms ELSE wrote_ms END DESC, agent";
    let rows = db.rows(query(SQL).bind(table_id)).await?;
    let engine = |row| {
        Ok(Engine { agent: text(row, "agent")?, read_ms: number(row, "read_ms")?, wrote_ms: number(row, "wrote_ms")? })
    };
    rows.iter().map(engine).collect()
}
