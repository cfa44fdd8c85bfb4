//! One attempt at a task: the lease is renewed while the work goes on, and how it ended is written down.

use super::progress::Progress;
use super::{Failure, expire, purge, recurs, sweep};
use crate::app::App;
use crate::commit::{EXPIRE_TABLE, PURGE_TABLE};
use crate::store;
use crate::store::tasks::{self, Outcome, Task};
use crate::telemetry::chain;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// After so many attempts a task is given up: two days, most of them an hour apart.
const MAX_ATTEMPTS: i64 = 50;

/// Pause after the first failure; doubled after each further one.
const FIRST_PAUSE: Duration = Duration::from_secs(5);
const LONGEST_PAUSE: Duration = Duration::from_hours(1);

/// A task that this server has the lease of.
#[derive(Debug)]
pub(super) struct Attempt {
    app: App,
    task: Task,
    lease: String,
    progress: Progress,
}

/// Takes a task, if nobody else did.
pub(super) async fn claim(app: &App, id: &str) -> Result<Option<Attempt>, store::Error> {
    let (now_ms, lease) = (app.clock.now_ms(), app.ids.uuid());
    let mut tx = app.db.begin().await?;
    let Some(task) = tasks::claim(&mut tx, id, &lease, now_ms, lease_end(app, now_ms)).await? else {
        return Ok(None);
    };
    tx.commit().await?;
    let progress = Progress::from_json(&task.progress);
    Ok(Some(Attempt { app: app.clone(), task, lease, progress }))
}

fn lease_end(app: &App, now_ms: i64) -> i64 {
    now_ms.saturating_add(ms(Duration::from_secs(app.config.task_lease_s)))
}

fn ms(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

impl Attempt {
    /// Works on the task until it is finished, the lease is lost, or the server stops.
    pub(super) async fn run(self, stop: CancellationToken) {
        let ended = tokio::select! {
            ended = self.work() => Some(ended),
            () = self.keep_lease() => None,
            () = stop.cancelled() => return self.write_down(&Outcome::Released, None).await,
        };
        let Some(ended) = ended else {
            tracing::warn!(task.id = self.task.id, task.kind = self.task.kind, "lost a task to another server");
            return;
        };
        let (outcome, message) = self.judge(ended);
        let label = match &outcome {
            Outcome::Done | Outcome::Again(_) | Outcome::Released => "done",
            Outcome::Retry(..) => "retry",
            Outcome::Failed(_) => "failed",
        };
        metrics::counter!("guillemot_tasks_total", "kind" => self.task.kind.clone(), "outcome" => label).increment(1);
        self.write_down(&outcome, message.as_deref()).await;
    }

    /// Answers what is to be said about it, if anything is.
    async fn work(&self) -> Result<Option<String>, Failure> {
        let Self { app, task, progress, .. } = self;
        if task.attempts > MAX_ATTEMPTS && recurs(&task.kind).is_none() {
            return Err(Failure::Never("every server that worked on it died".to_owned()));
        }
        match task.kind.as_str() {
            PURGE_TABLE => purge::purge(app, task, progress).await.map(Some),
            EXPIRE_TABLE => expire::expire(app, task).await.map(Some),
            sweep::KEYS => sweep::keys(app).await,
            sweep::FILES => sweep::files(app, progress).await,
            sweep::FINISHED => sweep::finished(app).await,
            sweep::AUDIT => sweep::audit(app).await,
            // A newer version may have queued it, and will do it.
            other => Err(Failure::Later(format!("this version does not know tasks of the kind {other}"))),
        }
    }

    /// Renews the lease, until it is lost.
    async fn keep_lease(&self) {
        let pause = Duration::from_secs(self.app.config.task_lease_s) / 3;
        loop {
            tokio::time::sleep(pause).await;
            match self.renew().await {
                Ok(true) => {}
                Ok(false) => return,
                // Whoever takes the task over does what is done once more. That is slow, but right.
                Err(error) => tracing::warn!(cause = chain(&error), "cannot renew the lease of a task"),
            }
        }
    }

    async fn renew(&self) -> Result<bool, store::Error> {
        let now_ms = self.app.clock.now_ms();
        let mut tx = self.app.db.begin().await?;
        let progress = self.progress.to_json();
        let until_ms = lease_end(&self.app, now_ms);
        let ours = tasks::extend(&mut tx, &self.task.id, &self.lease, &progress, now_ms, until_ms).await?;
        tx.commit().await?;
        Ok(ours)
    }

    /// What becomes of the task, and the entry in its log.
    fn judge(&self, ended: Result<Option<String>, Failure>) -> (Outcome, Option<String>) {
        let now_ms = self.app.clock.now_ms();
        let recurs = recurs(&self.task.kind);
        let Err(failure) = ended else {
            let next = recurs.map(|pause| Outcome::Again(now_ms.saturating_add(ms(pause))));
            return (next.unwrap_or(Outcome::Done), ended.unwrap_or_default());
        };
        let text = failure.to_string();
        tracing::warn!(task.id = self.task.id, task.kind = self.task.kind, cause = text, "a task failed");
        let given_up = matches!(failure, Failure::Never(_)) || self.task.attempts >= MAX_ATTEMPTS;
        let outcome = if given_up && recurs.is_none() {
            Outcome::Failed(text.clone())
        } else {
            Outcome::Retry(now_ms.saturating_add(ms(pause(self.task.attempts))), text.clone())
        };
        (outcome, Some(format!("attempt {}: {text}", self.task.attempts)))
    }

    async fn write_down(&self, outcome: &Outcome, message: Option<&str>) {
        if let Err(error) = self.try_write_down(outcome, message).await {
            // The lease runs out, and the task is taken again.
            tracing::warn!(task.id = self.task.id, cause = chain(&error), "cannot write down how a task ended");
        }
    }

    async fn try_write_down(&self, outcome: &Outcome, message: Option<&str>) -> Result<(), store::Error> {
        let (id, progress, now_ms) = (&self.task.id, self.progress.to_json(), self.app.clock.now_ms());
        let mut tx = self.app.db.begin().await?;
        let ending = tasks::Ending { outcome, progress: &progress, message, now_ms };
        if tasks::finish(&mut tx, id, &self.lease, &ending).await? {
            tx.commit().await?;
        }
        Ok(())
    }
}

/// How long to wait after so many attempts.
fn pause(attempts: i64) -> Duration {
    let doublings = u32::try_from(attempts.saturating_sub(1)).unwrap_or(u32::MAX).min(20);
    FIRST_PAUSE.saturating_mul(1 << doublings).min(LONGEST_PAUSE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_up_to_an_hour() {
        let seconds: Vec<u64> = [1, 2, 3, 9, 10, 11, 50, i64::MAX].map(|n| pause(n).as_secs()).to_vec();
        assert_eq!(seconds, [5, 10, 20, 1280, 2560, 3600, 3600, 3600]);
    }
}
