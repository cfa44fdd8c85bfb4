//! Trying a task again that was given up.

use crate::app::App;
use crate::commit::Error;
use crate::store::{self, Entity, tasks};

/// Has a task that failed tried again at once.
///
/// # Errors
/// [`store::Error::NotFound`] if there is no such task; [`Error::Invalid`] if it did not fail.
pub async fn retry_task(app: &App, id: &str) -> Result<(), Error> {
    let mut tx = app.db.begin().await?;
    if tasks::retry(&mut tx, id, app.clock.now_ms()).await? {
        tx.commit().await?;
        app.work.notify_one();
        return Ok(());
    }
    drop(tx);
    let task = tasks::load(&app.db, id).await?.ok_or_else(|| store::Error::NotFound(Entity::Task(id.to_owned())))?;
    Err(Error::Invalid(format!("Cannot retry task {id}: it did not fail, it is {}", task.state.as_str())))
}
