//! The end of a table's time aside: it cannot be brought back any more, and its files go if that was asked for.

use super::Failure;
use crate::app::App;
use crate::commit::{ExpireOrder, queue_purge};
use crate::store::tasks::Task;
use crate::store::{dropped, grants, locations};

pub(super) async fn expire(app: &App, task: &Task) -> Result<String, Failure> {
    let order: ExpireOrder = serde_json::from_str(&task.payload)
        .map_err(|error| Failure::Never(format!("the order is not understood: {error}")))?;
    let mut tx = app.db.begin().await?;
    let Some(expired) = dropped::take(&mut tx, &order.warehouse_id, &order.table_id).await? else {
        return Ok("the table is not among the dropped ones any more".to_owned());
    };
    locations::leave(&mut tx, &expired.row, app.clock.now_ms()).await?;
    grants::forget_table(&mut tx, &expired.row.id).await?;
    if expired.terms.purge {
        queue_purge(app, &mut tx, &expired.row, order.allowed).await?;
    }
    tx.commit().await?;
    app.work.notify_one();
    Ok(if expired.terms.purge { "its files are to be deleted" } else { "its files stay" }.to_owned())
}
