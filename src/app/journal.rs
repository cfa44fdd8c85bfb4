//! What is worth remembering and must cost no request anything: which clients were seen on a table, and what
//! validation warned of. It is noted in memory and written soon after, many notes in one transaction.
//!
//! Notes are bounded, and lost if the server dies within the moment or the database says no: nothing depends on them.

use super::App;
use crate::store::engines::{self, Engine};
use crate::store::warnings::{self, Warning};
use moka::sync::Cache;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How long notes are gathered before they are written.
const GATHERED_FOR: Duration = Duration::from_millis(200);

/// How many notes wait at most; what is more is not remembered.
const MOST_PENDING: usize = 10_000;

/// How many notes are written in one transaction.
const MOST_TOGETHER: usize = 200;

/// How often a client on a table is written.
const WRITTEN_EVERY: Duration = Duration::from_hours(1);

/// How many tables' clients are kept in mind.
const MOST_TABLES: u64 = 20_000;

/// How many clients of one table are written within [`WRITTEN_EVERY`].
const MOST_AGENTS: usize = 50;

/// How a client used a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Use {
    /// It loaded it.
    Read,
    /// It committed to it.
    Write,
}

/// What a client says of itself: `Apache Iceberg 1.10.2 (commit …), Apache-HttpClient/5.5 (Java/17)`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Agent(Option<Arc<str>>);

impl Agent {
    /// Longest text that is kept, in bytes.
    const MAX_BYTES: usize = 200;

    /// Makes one of what the client says; nothing that is not ASCII text is kept.
    pub fn new(said: &str) -> Self {
        let text: String = said.chars().filter(|c| matches!(c, ' '..='~')).take(Self::MAX_BYTES).collect();
        let text = text.trim();
        Self((!text.is_empty()).then(|| text.into()))
    }
}

/// Clients of a table that were noted within the hour.
type Noted = Arc<Mutex<HashSet<(Arc<str>, Use)>>>;

/// Notes that wait to be written.
#[derive(Debug)]
pub struct Journal {
    noted: Cache<String, Noted>,
    pending: Mutex<Pending>,
}

#[derive(Debug, Default)]
struct Pending {
    engines: HashMap<(String, Arc<str>), Engine>,
    warnings: Vec<Warning>,
    /// Whether somebody is about to write them.
    writing: bool,
}

impl Default for Journal {
    fn default() -> Self {
        let noted = Cache::builder().max_capacity(MOST_TABLES).time_to_live(WRITTEN_EVERY).build();
        Self { noted, pending: Mutex::default() }
    }
}

impl Journal {
    /// Whether this is the first time within the hour that the client used the table so.
    fn is_news(&self, table_id: &str, agent: &Arc<str>, how: Use) -> bool {
        let noted = match self.noted.get(table_id) {
            Some(noted) => noted,
            None => self.noted.get_with(table_id.to_owned(), Noted::default),
        };
        let mut noted = noted.lock().unwrap_or_else(PoisonError::into_inner);
        let this = (Arc::clone(agent), how);
        !noted.contains(&this) && noted.len() < 2 * MOST_AGENTS && noted.insert(this)
    }

    fn pending(&self) -> MutexGuard<'_, Pending> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self) -> (Vec<(String, Engine)>, Vec<Warning>) {
        let mut pending = self.pending();
        let warnings = pending.warnings.drain(..).collect();
        (pending.engines.drain().map(|((table_id, _), engine)| (table_id, engine)).collect(), warnings)
    }
}

impl App {
    /// Notes that a client was seen on a table.
    pub fn note_engine(&self, table_id: &str, agent: &Agent, how: Use) {
        let Some(agent) = &agent.0 else { return };
        if !self.journal.is_news(table_id, agent, how) {
            return;
        }
        let now = self.clock.now_ms();
        let mut pending = self.journal.pending();
        if pending.engines.len() < MOST_PENDING {
            let new = || Engine { agent: agent.to_string(), read_ms: 0, wrote_ms: 0 };
            let engine = pending.engines.entry((table_id.to_owned(), Arc::clone(agent))).or_insert_with(new);
            match how {
                Use::Read => engine.read_ms = now,
                Use::Write => engine.wrote_ms = now,
            }
        }
        self.write_soon(&mut pending);
    }

    /// Notes what validation warned of.
    pub fn note_warnings(&self, new: Vec<Warning>) {
        if new.is_empty() {
            return;
        }
        let mut pending = self.journal.pending();
        let room = MOST_PENDING.saturating_sub(pending.warnings.len());
        pending.warnings.extend(new.into_iter().take(room));
        self.write_soon(&mut pending);
    }

    fn write_soon(&self, pending: &mut Pending) {
        if !std::mem::replace(&mut pending.writing, true) {
            let app = self.clone();
            self.tasks.spawn(async move {
                tokio::time::sleep(GATHERED_FOR).await;
                // From now on whoever notes something has it written anew.
                app.journal.pending().writing = false;
                app.write_journal().await;
            });
        }
    }

    /// Writes what was noted until now, so that it can be read.
    pub async fn write_journal(&self) {
        let (engines, warnings) = self.journal.take();
        for some in engines.chunks(MOST_TOGETHER) {
            lose_quietly(self.write_engines(some).await);
        }
        for some in warnings.chunks(MOST_TOGETHER) {
            lose_quietly(self.write_warnings(some).await);
        }
    }

    async fn write_engines(&self, engines: &[(String, Engine)]) -> Result<(), crate::store::Error> {
        let mut tx = self.db.begin().await?;
        for (table_id, engine) in engines {
            engines::note(&mut tx, table_id, engine).await?;
        }
        tx.commit().await
    }

    async fn write_warnings(&self, new: &[Warning]) -> Result<(), crate::store::Error> {
        let mut tx = self.db.begin().await?;
        for warning in new {
            warnings::add(&mut tx, warning).await?;
        }
        let warehouses: BTreeSet<&str> = new.iter().map(|warning| warning.warehouse_id.as_str()).collect();
        for warehouse in warehouses {
            warnings::forget_oldest(&mut tx, warehouse).await?;
        }
        tx.commit().await
    }
}

/// A table or warehouse that was dropped meanwhile takes its notes with it; a database that is busy has better to do.
fn lose_quietly(written: Result<(), crate::store::Error>) {
    if let Err(error) = written {
        metrics::counter!("guillemot_journal_lost_total").increment(1);
        tracing::warn!(cause = %error, "notes on clients and warnings are lost");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_is_news_once_an_hour_and_a_table_has_not_too_many() {
        let journal = Journal::default();
        let agent: Arc<str> = "spark".into();
        assert!(journal.is_news("t", &agent, Use::Read));
        assert!(!journal.is_news("t", &agent, Use::Read));
        assert!(journal.is_news("t", &agent, Use::Write) && journal.is_news("u", &agent, Use::Read));
        let news = (0..1000).filter(|n| journal.is_news("t", &format!("a{n}").into(), Use::Read)).count();
        assert_eq!(news, 2 * MOST_AGENTS - 2);
    }

    #[test]
    fn what_clients_say_is_cut_to_plain_text() {
        assert_eq!(Agent::new("  duckdb/v1.5.5\n\u{1b}[2J "), Agent(Some("duckdb/v1.5.5[2J".into())));
        assert_eq!(Agent::new("\u{e4}\n"), Agent(None));
        assert_eq!(Agent::new(&"x".repeat(1000)).0.map(|text| text.len()), Some(200));
    }
}
