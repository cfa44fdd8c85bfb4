//! The audit log on its way into the database: gathered in memory and written soon after, so that no request waits for it.
//!
//! What is gathered is bounded. What is lost, because there was too much of it or because the server died, is counted or
//! is in the log of events, which has every entry at once.

use super::App;
use crate::store::{self, audit::Entry};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How long entries are gathered before they are written.
const GATHERED_FOR: Duration = Duration::from_millis(200);

/// How many entries wait at most.
const MOST_PENDING: usize = 20_000;

/// How many entries are written in one transaction.
const MOST_TOGETHER: usize = 500;

/// How many requests of nobody known are kept of one minute. Anybody can send those, as many as they like; the log of events
/// has all of them.
const MOST_UNKNOWN: u32 = 100;

/// Entries that wait to be written.
#[derive(Debug, Default)]
pub struct AuditLog {
    pending: Mutex<Pending>,
    /// Of requests without a token, and of log-ins: neither takes the room of the other.
    unknown: [Mutex<Minute>; 2],
    /// One writes at a time: who waits for that finds written what others took.
    turn: tokio::sync::Mutex<()>,
}

#[derive(Debug, Default)]
struct Pending {
    entries: Vec<Entry>,
    /// Whether somebody is about to write them.
    writing: bool,
}

/// What was kept of a minute.
#[derive(Debug, Default)]
struct Minute {
    /// Minutes since 1970.
    at: i64,
    kept: u32,
}

impl AuditLog {
    fn pending(&self) -> MutexGuard<'_, Pending> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether there is room for one more request of nobody known in this minute.
    fn has_room_for_unknown(&self, is_login: bool, now_ms: i64) -> bool {
        let [requests, logins] = &self.unknown;
        let minute = if is_login { logins } else { requests };
        let mut minute = minute.lock().unwrap_or_else(PoisonError::into_inner);
        let at = now_ms.div_euclid(60_000);
        if minute.at != at {
            *minute = Minute { at, kept: 0 };
        }
        minute.kept = minute.kept.saturating_add(1);
        minute.kept <= MOST_UNKNOWN
    }

    /// Puts entries in, as many as there is room for; answers how many were lost.
    fn put(&self, entries: impl ExactSizeIterator<Item = Entry>) -> usize {
        let mut pending = self.pending();
        let room = MOST_PENDING.saturating_sub(pending.entries.len());
        let lost = entries.len().saturating_sub(room);
        pending.entries.extend(entries.take(room));
        lost
    }
}

impl App {
    /// Notes a request for the audit log.
    pub fn audit(&self, entry: Entry) {
        if entry.principal.is_empty() && !self.audit.has_room_for_unknown(!entry.actions.is_empty(), entry.at_ms) {
            metrics::counter!("guillemot_audit_unknown_not_kept_total").increment(1);
            return;
        }
        count_lost(self.audit.put(std::iter::once(entry)));
        if !std::mem::replace(&mut self.audit.pending().writing, true) {
            let app = self.clone();
            self.tasks.spawn(async move {
                tokio::time::sleep(GATHERED_FOR).await;
                // From now on whoever notes something has it written anew.
                app.audit.pending().writing = false;
                app.write_audit().await;
            });
        }
    }

    /// Writes what was noted until now, so that it can be read. What cannot be written waits for the next time.
    pub async fn write_audit(&self) {
        let _turn = self.audit.turn.lock().await;
        let entries = std::mem::take(&mut self.audit.pending().entries);
        let mut chunks = entries.chunks(MOST_TOGETHER);
        while let Some(some) = chunks.next() {
            if let Err(error) = self.try_write_audit(some).await {
                tracing::warn!(cause = %error, "the audit log cannot be written now");
                let unwritten: Vec<Entry> = some.iter().chain(chunks.flatten()).cloned().collect();
                count_lost(self.audit.put(unwritten.into_iter()));
                return;
            }
        }
    }

    async fn try_write_audit(&self, entries: &[Entry]) -> Result<(), store::Error> {
        let mut tx = self.db.begin().await?;
        for entry in entries {
            store::audit::add(&mut tx, entry).await?;
        }
        match tx.commit().await {
            // To write them once more could only meet their own keys.
            Err(store::Error::OutcomeUnknown(_)) => {
                count_lost(entries.len());
                Ok(())
            }
            done => done,
        }
    }
}

fn count_lost(lost: usize) {
    if lost > 0 {
        metrics::counter!("guillemot_audit_lost_total").increment(lost as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(n: usize) -> Entry {
        Entry {
            id: n.to_string(),
            at_ms: 0,
            principal: String::new(),
            operation: String::new(),
            path: String::new(),
            actions: String::new(),
            allowed: true,
            grant_id: None,
            status: 200,
            user_agent: String::new(),
            project: String::new(),
            request_id: String::new(),
        }
    }

    #[test]
    fn what_waits_is_bounded_and_what_is_lost_is_told() {
        let log = AuditLog::default();
        assert_eq!(log.put((0..MOST_PENDING - 1).map(entry)), 0);
        assert_eq!(log.put((0..3).map(entry)), 2);
        assert_eq!(log.pending().entries.len(), MOST_PENDING);
    }

    #[test]
    fn of_those_whom_nobody_knows_some_are_kept_each_minute() {
        let log = AuditLog::default();
        let kept = |now_ms| (0..300).filter(|_| log.has_room_for_unknown(false, now_ms)).count();
        assert_eq!(kept(60_000), 100);
        assert_eq!(kept(119_999), 0, "the same minute");
        assert!(log.has_room_for_unknown(true, 119_999), "a log-in");
        assert_eq!(kept(120_000), 100);
    }
}
