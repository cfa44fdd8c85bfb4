//! Keeping what expires until half of its life is over; who asks meanwhile waits for the one who gets it.

use moka::future::Cache;
use std::fmt;
use std::future::Future;
use std::hash::Hash;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Mutex;

/// What nobody asked for in this time is forgotten.
const IDLE: Duration = Duration::from_hours(1);

/// Values that expire, by key. Nothing prints what is in it.
pub(super) struct Cached<K, V>(Cache<K, Place<V>>);

/// Where a value is kept; locked by the one who gets it.
type Place<V> = Arc<Mutex<Option<Kept<V>>>>;

struct Kept<V> {
    value: Arc<V>,
    /// Half-way between when it was got and when it ends, epoch milliseconds.
    good_until_ms: i64,
}

impl<K, V> fmt::Debug for Cached<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cached").finish_non_exhaustive()
    }
}

impl<K, V> Cached<K, V>
where
    K: Hash + Eq + Send + Sync + 'static,
    V: Send + Sync + 'static,
{
    /// Keeps so many at most.
    pub(super) fn new(entries: u64) -> Self {
        Self(Cache::builder().max_capacity(entries).time_to_idle(IDLE).build())
    }

    /// What is kept, or else what `get` gets, with the time of its end. One at a time gets for a key; failures are not
    /// kept.
    pub(super) async fn get<E>(
        &self,
        key: K,
        now: impl Fn() -> i64,
        get: impl Future<Output = Result<(V, i64), E>>,
    ) -> Result<Arc<V>, E> {
        let place = self.0.get_with(key, async { Place::default() }).await;
        let mut kept = place.lock().await;
        if let Some(kept) = kept.as_ref().filter(|kept| now() < kept.good_until_ms) {
            return Ok(Arc::clone(&kept.value));
        }
        let began_ms = now();
        let (value, expires_ms) = get.await?;
        let value = Arc::new(value);
        let half = expires_ms.saturating_sub(began_ms) / 2;
        *kept = Some(Kept { value: Arc::clone(&value), good_until_ms: began_ms.saturating_add(half) });
        Ok(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering::SeqCst};

    #[tokio::test]
    async fn a_value_is_kept_for_half_of_its_life() {
        let cached = Cached::<_, i64>::new(10);
        let now = AtomicI64::new(1_000);
        let get = async || {
            let clock = || now.load(SeqCst);
            *cached.get("k", clock, async { Ok::<_, ()>((clock(), clock() + 100)) }).await.unwrap()
        };
        assert_eq!(get().await, 1_000);
        now.store(1_049, SeqCst);
        assert_eq!(get().await, 1_000);
        now.store(1_050, SeqCst);
        assert_eq!(get().await, 1_050);
    }

    #[tokio::test]
    async fn many_who_ask_at_once_ask_once() {
        let cached = Cached::<_, ()>::new(10);
        let asked = AtomicUsize::new(0);
        let get = || {
            cached.get("k", || 0, async {
                asked.fetch_add(1, SeqCst);
                tokio::time::sleep(Duration::from_millis(20)).await;
                Ok::<_, ()>(((), 1_000))
            })
        };
        futures::future::join_all((0..50).map(|_| get())).await;
        assert_eq!(asked.load(SeqCst), 1);
    }

    #[tokio::test]
    async fn a_failure_is_not_kept() {
        let cached = Cached::<_, u8>::new(10);
        assert_eq!(cached.get("k", || 0, async { Err("no") }).await, Err("no"));
        assert_eq!(cached.get("k", || 0, async { Ok::<_, &str>((7, 10)) }).await.as_deref(), Ok(&7));
    }
}
