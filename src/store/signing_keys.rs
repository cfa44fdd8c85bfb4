//! The keys that sign this catalog's tokens, as they are stored: encrypted.

use sqlx::query;

use super::error::Result;
use super::text::{number, text};
use super::{Db, Tx};

/// A key of the catalog.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SigningKey {
    /// Names it in the tokens that it signs.
    pub id: String,
    /// Encrypted.
    pub private_key: String,
    /// When it was made, epoch milliseconds.
    pub created_ms: i64,
}

/// Adds a key.
pub async fn create(tx: &mut Tx, key: &SigningKey) -> Result<()> {
    const SQL: &str = "INSERT INTO signing_keys (id, private_key, created_ms) VALUES ($1, $2, $3)";
    tx.execute(query(SQL).bind(&key.id).bind(&key.private_key).bind(key.created_ms)).await?;
    Ok(())
}

/// Removes the keys that were made before this time.
pub async fn delete_older(tx: &mut Tx, before_ms: i64) -> Result<u64> {
    const SQL: &str = "DELETE FROM signing_keys WHERE created_ms < $1";
    Ok(tx.execute(query(SQL).bind(before_ms)).await?)
}

/// All keys, newest first. There are few: each lives for weeks.
pub async fn list(db: &Db) -> Result<Vec<SigningKey>> {
    const SQL: &str = "
        SELECT id, private_key, created_ms FROM signing_keys ORDER BY created_ms DESC, id LIMIT 100";
    let rows = db.rows(query(SQL)).await?;
    rows.iter()
        .map(|row| {
            let (id, private_key) = (text(row, "id")?, text(row, "private_key")?);
            Ok(SigningKey { id, private_key, created_ms: number(row, "created_ms")? })
        })
        .collect()
}
