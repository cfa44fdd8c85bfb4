//! Work that is done after its request was answered: by any server, and by another one if that server dies.
//!
//! Requests queue tasks in the transaction of their change ([`crate::store::tasks`]). Each server looks for tasks that
//! are due, takes a lease on some, and renews it while it works. Whatever a task does can be done twice: a server that
//! takes one over starts it from the beginning, and finds done what is done.

mod attempt;
mod expire;
mod progress;
mod purge;
mod sweep;

use crate::app::App;
use crate::store;
use crate::store::tasks::{self, NewTask};
use crate::telemetry::chain;
use attempt::{Attempt, claim};
use std::time::Duration;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// Tasks that one server works on at a time.
const AT_ONCE: usize = 4;

/// Tasks that come again and again, and how long after they went well.
const RECURRING: [(&str, Duration); 4] = [
    (sweep::KEYS, Duration::from_mins(1)),
    (sweep::FILES, Duration::from_mins(5)),
    (sweep::FINISHED, Duration::from_hours(1)),
    (sweep::AUDIT, Duration::from_hours(1)),
];

/// Why a task is not finished.
#[derive(Debug, thiserror::Error)]
enum Failure {
    /// It may go better later.
    #[error("{0}")]
    Later(String),
    /// It will never go better.
    #[error("{0}")]
    Never(String),
}

impl From<store::Error> for Failure {
    fn from(error: store::Error) -> Self {
        Self::Later(chain(&error))
    }
}

/// Looks for work, and does it, until `stop` is called; then gives back what is unfinished. Ends at once if the
/// settings leave the work to other servers.
pub async fn run(app: App, stop: CancellationToken) {
    let Some(pause) = Some(app.config.task_interval_s).filter(|s| *s > 0).map(Duration::from_secs) else { return };
    let mut running = JoinSet::new();
    let mut planted = false;
    while !stop.is_cancelled() {
        if let Err(error) = look(&app, &mut running, &mut planted, &stop).await {
            tracing::warn!(cause = chain(&error), "cannot look for background work");
        }
        tokio::select! {
            () = stop.cancelled() => {}
            () = app.work.notified() => {}
            () = tokio::time::sleep(pause) => {}
            // A place is free.
            Some(_) = running.join_next() => {}
        }
    }
    while running.join_next().await.is_some() {}
}

/// Takes as many tasks as there are free places.
async fn look(
    app: &App,
    running: &mut JoinSet<()>,
    planted: &mut bool,
    stop: &CancellationToken,
) -> Result<(), store::Error> {
    if !*planted {
        plant(app).await?;
        *planted = true;
    }
    while running.try_join_next().is_some() {}
    let free = AT_ONCE.saturating_sub(running.len());
    if free == 0 {
        return Ok(());
    }
    app.use_secrets().await?;
    for id in tasks::due(&app.db, app.clock.now_ms(), u32::try_from(free).unwrap_or(1)).await? {
        if let Some(attempt) = claim(app, &id).await? {
            running.spawn(attempt.run(stop.clone()));
        }
    }
    Ok(())
}

/// Does everything that is due now, one task after the other, and answers how many there were.
pub async fn work_off(app: &App) -> Result<usize, store::Error> {
    plant(app).await?;
    app.use_secrets().await?;
    let mut done = 0;
    while let Some(attempt) = next(app).await? {
        attempt.run(CancellationToken::new()).await;
        done += 1;
    }
    Ok(done)
}

async fn next(app: &App) -> Result<Option<Attempt>, store::Error> {
    for id in tasks::due(&app.db, app.clock.now_ms(), 10).await? {
        if let Some(attempt) = claim(app, &id).await? {
            return Ok(Some(attempt));
        }
    }
    Ok(None)
}

/// Makes sure that the recurring tasks are there; the kind is the id.
async fn plant(app: &App) -> Result<(), store::Error> {
    let now_ms = app.clock.now_ms();
    let mut tx = app.db.begin().await?;
    for (kind, _) in RECURRING {
        let new = NewTask { id: kind, kind, subject: "", warehouse_id: None, payload: "{}", due_ms: now_ms, now_ms };
        tasks::queue(&mut tx, &new).await?;
    }
    tx.commit().await
}

/// How long after it went well a task comes again; `None` for one that does not.
fn recurs(kind: &str) -> Option<Duration> {
    RECURRING.iter().find(|(known, _)| *known == kind).map(|(_, pause)| *pause)
}
