//! Tasks that come again and again: what has had its time is removed.

use super::Failure;
use super::progress::Progress;
use crate::app::App;
use crate::store::loose_files::{self, LooseFile};
use crate::store::{audit, idempotency, tables, tasks};
use crate::telemetry::chain;
use futures::StreamExt;
use std::time::Duration;

/// Removes idempotency keys that have expired.
pub(super) const KEYS: &str = "sweep-idempotency-keys";

/// Deletes metadata files that no table or view names.
pub(super) const FILES: &str = "sweep-files";

/// Forgets tasks that were finished long ago.
pub(super) const FINISHED: &str = "sweep-finished-tasks";

/// Forgets entries of the audit log that are older than the settings keep them.
pub(super) const AUDIT: &str = "sweep-audit";

/// How long a metadata file may be noted before it is certain that no pointer will come to name it. A commit takes
/// seconds; one that was frozen for longer finds its note gone and starts again.
const NOTED_FOR: Duration = Duration::from_hours(1);

/// How long the commit that has no need of a file any more has time to delete it itself.
const GRACE: Duration = Duration::from_mins(1);

/// How long finished tasks are kept for people to look at.
const FINISHED_FOR: Duration = Duration::from_hours(7 * 24);

const FILES_AT_ONCE: u32 = 100;
const DELETES_AT_ONCE: usize = 16;

pub(super) async fn keys(app: &App) -> Result<Option<String>, Failure> {
    let mut swept = 0;
    loop {
        let mut tx = app.db.begin().await?;
        let some = idempotency::sweep(&mut tx, app.clock.now_ms()).await?;
        tx.commit().await?;
        swept += some;
        if some == 0 {
            return Ok((swept > 0).then(|| format!("removed {swept} keys")));
        }
    }
}

pub(super) async fn finished(app: &App) -> Result<Option<String>, Failure> {
    let mut forgotten = 0;
    loop {
        let mut tx = app.db.begin().await?;
        let some = tasks::forget_finished(&mut tx, before(app, FINISHED_FOR)).await?;
        tx.commit().await?;
        forgotten += some;
        if some == 0 {
            return Ok((forgotten > 0).then(|| format!("forgot {forgotten} tasks")));
        }
    }
}

pub(super) async fn audit(app: &App) -> Result<Option<String>, Failure> {
    let age = Duration::from_hours(24).saturating_mul(app.config.audit_retention_days);
    let mut swept = 0;
    loop {
        let mut tx = app.db.begin().await?;
        let some = audit::sweep(&mut tx, before(app, age)).await?;
        tx.commit().await?;
        swept += some;
        if some == 0 {
            return Ok((swept > 0).then(|| format!("forgot {swept} entries")));
        }
    }
}

pub(super) async fn files(app: &App, progress: &Progress) -> Result<Option<String>, Failure> {
    let mut tx = app.db.begin().await?;
    let given_up = loose_files::give_up(&mut tx, before(app, NOTED_FOR), before(app, GRACE)).await?;
    tx.commit().await?;
    let (mut deleted, mut fault) = (0, None);
    loop {
        let some = loose_files::unneeded(&app.db, before(app, GRACE), FILES_AT_ONCE).await?;
        if some.is_empty() {
            break;
        }
        let done: Vec<_> =
            futures::stream::iter(some).map(|file| delete(app, file)).buffer_unordered(DELETES_AT_ONCE).collect().await;
        let mut tx = app.db.begin().await?;
        for (file, result) in done {
            match result {
                Ok(()) => {
                    loose_files::forget(&mut tx, &file.id).await?;
                    progress.add_deleted();
                    deleted += 1;
                }
                Err(cause) => {
                    loose_files::postpone(&mut tx, &file.id, app.clock.now_ms()).await?;
                    fault = Some(cause);
                }
            }
        }
        tx.commit().await?;
    }
    match fault {
        Some(cause) => Err(Failure::Later(cause)),
        None => Ok((deleted > 0).then(|| format!("deleted {deleted} files, {given_up} of them never named"))),
    }
}

async fn delete(app: &App, file: LooseFile) -> (LooseFile, Result<(), String>) {
    let result = try_delete(app, &file).await;
    (file, result)
}

async fn try_delete(app: &App, file: &LooseFile) -> Result<(), String> {
    let row = tables::load_by_id(&app.db, &file.table_id).await.map_err(|error| chain(&error))?;
    if row.is_some_and(|row| row.metadata_location == file.location) {
        // Cannot be. But this is the one file that must not go.
        return Err(format!("{} is a table's metadata file after all", file.location));
    }
    app.storage.delete(&file.location).await.map_err(|error| chain(&error))?;
    app.storage.delete_remains(&file.location).await.map_err(|error| chain(&error))
}

/// The time so long ago, epoch milliseconds.
fn before(app: &App, age: Duration) -> i64 {
    app.clock.now_ms().saturating_sub(i64::try_from(age.as_millis()).unwrap_or(i64::MAX))
}
