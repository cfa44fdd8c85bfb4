//! Metadata files that no table or view names: not yet, or not any more.
//!
//! A metadata file is noted here before it is written; the transaction that makes a pointer name it takes the note
//! back. So a note that is still there after a while tells of a file that nothing needs, whatever happened to the
//! server in between. `docs/adr/0006-noted-files.md` says why it is done so.

use sqlx::query;

use super::error::{Error, Result};
use super::text::text;
use super::{Db, Tx};

/// A metadata file that no pointer names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LooseFile {
    /// A fresh uuid.
    pub id: String,
    /// Where the file is, or will be.
    pub location: String,
    /// [`super::tables::TableRow::id`] of the table or view that it belongs to.
    pub table_id: String,
}

/// Notes files that are about to be written.
pub async fn note(tx: &mut Tx, files: &[LooseFile], now_ms: i64) -> Result<()> {
    add(tx, files, "noted", now_ms).await
}

/// Takes the note of a file back, in the transaction that makes a pointer name it.
///
/// # Errors
/// [`Error::Conflict`] if the file was given up meanwhile: it may be deleted at any moment.
pub async fn name(tx: &mut Tx, id: &str) -> Result<()> {
    const SQL: &str = "DELETE FROM loose_files WHERE id = $1 AND state = 'noted'";
    match tx.execute(query(SQL).bind(id)).await? {
        0 => Err(Error::Conflict),
        _ => Ok(()),
    }
}

/// Remembers that files are to be deleted, in the transaction after which nothing needs them.
pub async fn release(tx: &mut Tx, files: &[LooseFile], now_ms: i64) -> Result<()> {
    add(tx, files, "unneeded", now_ms).await
}

/// Gives up files that were noted before `before_ms` and that no pointer came to name. None can come to name them
/// from now on.
pub async fn give_up(tx: &mut Tx, before_ms: i64, now_ms: i64) -> Result<u64> {
    const SQL: &str = "
        UPDATE loose_files SET state = 'unneeded', since_ms = $2 WHERE state = 'noted' AND since_ms <= $1";
    Ok(tx.execute(query(SQL).bind(before_ms).bind(now_ms)).await?)
}

/// Some of the files that are to be deleted since `before_ms` or longer, the oldest first.
pub async fn unneeded(db: &Db, before_ms: i64, limit: u32) -> Result<Vec<LooseFile>> {
    const SQL: &str = "
        SELECT id, location, table_id FROM loose_files
        WHERE state = 'unneeded' AND since_ms <= $1 ORDER BY since_ms LIMIT $2";
    let rows = db.rows(query(SQL).bind(before_ms).bind(i64::from(limit))).await?;
    let read = |row| {
        Ok(LooseFile { id: text(row, "id")?, location: text(row, "location")?, table_id: text(row, "table_id")? })
    };
    rows.iter().map(read).collect()
}

/// Forgets a file that is deleted.
pub async fn forget(tx: &mut Tx, id: &str) -> Result<()> {
    const SQL: &str = "DELETE FROM loose_files WHERE id = $1 AND state = 'unneeded'";
    tx.execute(query(SQL).bind(id)).await?;
    Ok(())
}

/// Puts a file that cannot be deleted now behind the others.
pub async fn postpone(tx: &mut Tx, id: &str, now_ms: i64) -> Result<()> {
    const SQL: &str = "UPDATE loose_files SET since_ms = $2 WHERE id = $1 AND state = 'unneeded'";
    tx.execute(query(SQL).bind(id).bind(now_ms)).await?;
    Ok(())
}

async fn add(tx: &mut Tx, files: &[LooseFile], state: &'static str, now_ms: i64) -> Result<()> {
    const SQL: &str = "
        INSERT INTO loose_files (id, location, table_id, state, since_ms) VALUES ($1, $2, $3, $4, $5)";
    for file in files {
        let insert = query(SQL).bind(&file.id).bind(&file.location).bind(&file.table_id).bind(state);
        tx.execute(insert.bind(now_ms)).await?;
    }
    Ok(())
}
