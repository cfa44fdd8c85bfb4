//! Whether the server could serve a commit now.

use crate::app::App;
use crate::commit::Error;
use crate::store::{Page, warehouses};

/// How many warehouses are asked; one that hangs must not hide behind hundreds that do not.
const SAMPLE: u32 = 20;

/// Asks the database and the storage of each (active) warehouse.
pub async fn check_ready(app: &App) -> Result<(), Error> {
    app.db.ping().await?;
    let some = warehouses::list(&app.db, &Page { after: None, limit: Some(SAMPLE) }).await?;
    let active = some.items.into_iter().filter(|row| row.status == warehouses::Status::Active);
    futures::future::try_join_all(
        active.map(|row| async move { app.storage.check(&row.location).await.map_err(Error::from_write) }),
    )
    .await?;
    Ok(())
}
