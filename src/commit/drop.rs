//! Dropping a table or view: its row goes, and its files where that is asked for.

use crate::app::{App, Warehouse};
use crate::commit::once::nothing;
use crate::commit::{Error, Once};
use crate::spec::TableIdent;
use crate::store::dropped::{self, Terms};
use crate::store::tables::{self, Kind, TableRow};
use crate::store::tasks::{self, NewTask};
use crate::store::{self, Tx};
use serde::{Deserialize, Serialize};

/// The kind of task that deletes the files of a table.
pub const PURGE_TABLE: &str = "purge-table";

/// The kind of task that ends the time of a table that is kept aside.
pub const EXPIRE_TABLE: &str = "expire-dropped-table";

/// What [`PURGE_TABLE`] is told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct PurgeOrder {
    /// The table's [`TableRow::id`].
    pub table_id: String,
    /// The metadata file that it had last.
    pub metadata_location: String,
    /// Places outside of which nothing is deleted: those of the warehouse, when the table was dropped.
    pub allowed: Vec<String>,
}

/// What [`EXPIRE_TABLE`] is told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct ExpireOrder {
    /// The table's [`TableRow::id`].
    pub table_id: String,
    /// Its warehouse.
    pub warehouse_id: String,
    /// See [`PurgeOrder::allowed`].
    pub allowed: Vec<String>,
}

/// Removes a table or view from the catalog. Needs no metadata file, so a broken one can be dropped.
///
/// With `purge`, the files of a table are deleted afterwards, by a task that is queued with the drop. Where the
/// warehouse keeps dropped tables for a while, the table is kept aside first, and its files until then.
pub async fn drop(
    app: &App,
    warehouse: &Warehouse,
    kind: Kind,
    ident: &TableIdent,
    purge: bool,
    once: &Once,
) -> Result<(), Error> {
    // A view has no files but its metadata, and nothing to bring back that its text would not.
    let hold_s = warehouse.settings.soft_delete_hold_s.filter(|hold_s| *hold_s > 0 && kind == Kind::Table);
    let mut tx = app.db.begin().await?;
    if let Some(hold_s) = hold_s {
        keep_aside(app, warehouse, &mut tx, ident, purge, hold_s).await?;
    } else {
        let row = tables::drop(&mut tx, &warehouse.row.id, kind, ident, app.clock.now_ms()).await?;
        if purge && kind == Kind::Table {
            queue_purge(app, &mut tx, &row, allowed(warehouse)).await?;
        }
    }
    once.keep(app, &mut tx, nothing).await?;
    tx.commit().await?;
    app.work.notify_one();
    Ok(())
}

async fn keep_aside(
    app: &App,
    warehouse: &Warehouse,
    tx: &mut Tx,
    ident: &TableIdent,
    purge: bool,
    hold_s: u64,
) -> Result<(), Error> {
    let now_ms = app.clock.now_ms();
    let row = tables::remove(tx, &warehouse.row.id, Kind::Table, ident).await?;
    let expires_ms = now_ms.saturating_add(i64::try_from(hold_s).unwrap_or(i64::MAX).saturating_mul(1000));
    let task_id = tasks::new_id(now_ms, &app.ids.uuid());
    let terms = Terms { purge, task_id, dropped_ms: now_ms, expires_ms };
    dropped::put_aside(tx, &row, &terms).await?;
    let order =
        ExpireOrder { table_id: row.id.clone(), warehouse_id: warehouse.row.id.clone(), allowed: allowed(warehouse) };
    let new = NewTask {
        id: &terms.task_id,
        kind: EXPIRE_TABLE,
        subject: &row.ident.to_string(),
        warehouse_id: Some(&row.warehouse_id),
        payload: &json(&order),
        due_ms: expires_ms,
        now_ms,
    };
    Ok(tasks::queue(tx, &new).await?)
}

/// Queues the purge of a table that is just dropped.
pub async fn queue_purge(app: &App, tx: &mut Tx, row: &TableRow, allowed: Vec<String>) -> Result<(), store::Error> {
    let now_ms = app.clock.now_ms();
    let order = PurgeOrder { table_id: row.id.clone(), metadata_location: row.metadata_location.clone(), allowed };
    let new = NewTask {
        id: &tasks::new_id(now_ms, &app.ids.uuid()),
        kind: PURGE_TABLE,
        subject: &row.ident.to_string(),
        warehouse_id: Some(&row.warehouse_id),
        payload: &json(&order),
        due_ms: now_ms,
        now_ms,
    };
    tasks::queue(tx, &new).await
}

pub(super) fn allowed(warehouse: &Warehouse) -> Vec<String> {
    warehouse.allowed.iter().map(ToString::to_string).collect()
}

/// Texts and lists of texts always have a JSON form.
fn json<T: Serialize>(value: &T) -> String {
    serde_json::to_string(value).unwrap_or_default()
}
