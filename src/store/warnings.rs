//! What validation warned of: the latest of each warehouse.

use sqlx::query;

use super::namespaces::{from_key, key};
use super::text::{Listing, Page, number, text};
use super::{Db, Result, Tx};
use crate::spec::TableIdent;

/// How many warnings of a warehouse are kept.
pub const KEPT: i64 = 1000;

/// A warning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// Sorts by time.
    pub id: String,
    /// The warehouse.
    pub warehouse_id: String,
    /// The table's name then.
    pub table: TableIdent,
    /// What was done: `commit` or `register`.
    pub action: String,
    /// The rule that is broken.
    pub rule: String,
    /// Whether the rule refuses where rules are not only logged.
    pub would_refuse: bool,
    /// The file that breaks it.
    pub object: String,
    /// All of it in sentences.
    pub message: String,
    /// When it was found, epoch milliseconds.
    pub created_ms: i64,
}

/// Keeps a warning.
pub async fn add(tx: &mut Tx, new: &Warning) -> Result<()> {
    const SQL: &str = "
        INSERT INTO warnings
            (id, warehouse_id, namespace, name, action, rule, would_refuse, object, message, created_ms)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)";
    let statement = query(SQL).bind(&new.id).bind(&new.warehouse_id).bind(key(&new.table.namespace));
    let statement = statement.bind(&new.table.name).bind(&new.action).bind(&new.rule).bind(i64::from(new.would_refuse));
    tx.execute(statement.bind(&new.object).bind(&new.message).bind(new.created_ms)).await?;
    Ok(())
}

/// Forgets the oldest warnings of a warehouse beyond [`KEPT`].
pub async fn forget_oldest(tx: &mut Tx, warehouse_id: &str) -> Result<()> {
    const SQL: &str = "
        DELETE FROM warnings WHERE warehouse_id = $1 AND id <= (
            SELECT id FROM warnings WHERE warehouse_id = $2 ORDER BY id DESC LIMIT 1 OFFSET $3)";
    tx.execute(query(SQL).bind(warehouse_id).bind(warehouse_id).bind(KEPT)).await?;
    Ok(())
}

/// A part of the list of a warehouse's warnings, the newest first. [`Page::after`] is an id.
pub async fn list(db: &Db, warehouse_id: &str, page: &Page) -> Result<Listing<Warning>> {
    const SQL: &str = "
        SELECT id, namespace, name, action, rule, would_refuse, object, message, created_ms
        FROM warnings WHERE warehouse_id = $1 AND ($2 = '' OR id < $3) ORDER BY id DESC LIMIT $4";
    let after = page.after_key();
    let rows = db.rows(query(SQL).bind(warehouse_id).bind(after).bind(after).bind(page.rows())).await?;
    let warnings = rows.iter().map(|row| {
        Ok(Warning {
            id: text(row, "id")?,
            warehouse_id: warehouse_id.to_owned(),
            table: TableIdent { namespace: from_key(&text(row, "namespace")?)?, name: text(row, "name")? },
            action: text(row, "action")?,
            rule: text(row, "rule")?,
            would_refuse: number(row, "would_refuse")? != 0,
            object: text(row, "object")?,
            message: text(row, "message")?,
            created_ms: number(row, "created_ms")?,
        })
    });
    Ok(Listing::cut(warnings.collect::<Result<_>>()?, page, |warning| warning.id.clone()))
}
