//! Turns: work that would be in vain beside other work on the same thing waits for it on this server.

use moka::future::Cache;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Mutex, OwnedMutexGuard};
use tokio::time::timeout;

/// The right to go on; the next one's turn begins when it is dropped.
pub type Turn = OwnedMutexGuard<()>;

/// Who is working on what, by its key. Nothing depends on it: other servers know nothing of it, and a key that was
/// not used for long, or is one of too many, is forgotten. That no work is done twice is the database's part.
#[derive(Debug)]
pub struct Turns(Cache<String, Arc<Mutex<()>>>);

impl Default for Turns {
    fn default() -> Self {
        Self(Cache::builder().max_capacity(10_000).time_to_idle(Duration::from_mins(10)).build())
    }
}

impl Turns {
    /// Waits until nobody else here works under this key.
    pub async fn turn(&self, key: &str) -> Turn {
        let lock = self.0.get_with_by_ref(key, async { Arc::default() }).await;
        lock.lock_owned().await
    }

    /// Waits for the turns of all these keys, but not longer than `limit`: then it has none, and may go on all the same.
    pub async fn all(&self, mut keys: Vec<String>, limit: Duration) -> Vec<Turn> {
        // One order for all, so that two of them cannot wait for each other.
        keys.sort_unstable();
        keys.dedup();
        let wait = async {
            let mut turns = Vec::with_capacity(keys.len());
            for key in &keys {
                turns.push(self.turn(key).await);
            }
            turns
        };
        timeout(limit, wait).await.unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHORT: Duration = Duration::from_millis(20);
    const LONG: Duration = Duration::from_secs(20);

    fn keys(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[tokio::test]
    async fn a_turn_is_waited_for_but_not_for_ever() {
        let turns = Turns::default();
        let held = turns.all(keys(&["b", "a", "a"]), LONG).await;
        assert_eq!(held.len(), 2);
        assert!(turns.all(keys(&["c", "b"]), SHORT).await.is_empty());
        // Who gave up holds nothing, not even what was free.
        assert_eq!(turns.all(keys(&["c"]), SHORT).await.len(), 1);
        drop(held);
        assert_eq!(turns.all(keys(&["b", "c"]), SHORT).await.len(), 2);
    }

    #[tokio::test]
    async fn opposite_orders_do_not_wait_for_each_other() {
        let turns = Arc::new(Turns::default());
        let work = |names: [&'static str; 2]| {
            let turns = Arc::clone(&turns);
            tokio::spawn(async move {
                for _ in 0..200 {
                    let held = turns.all(keys(&names), LONG).await;
                    assert_eq!(held.len(), 2, "nobody waits that long");
                    tokio::task::yield_now().await;
                }
            })
        };
        let (one, other) = (work(["x", "y"]), work(["y", "x"]));
        one.await.unwrap();
        other.await.unwrap();
    }
}
