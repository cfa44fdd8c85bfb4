//! How much is worked on at once.
//!
//! A request holds a [`Slot`] from before it is looked at until it is answered; a change that it has begun holds it until
//! the change is made or refused, even when the client that asked has gone.

use crate::config::LimitConfig;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

/// Beside so many requests of known callers one may ask for a token.
const OPEN_PART: usize = 8;

/// How long a request waits for its turn to read many files.
const PATIENCE: Duration = Duration::from_secs(5);

tokio::task_local! {
    /// The slot of the request that this task works on.
    static SLOT: Arc<Slot>;
}

/// What there is room for.
#[derive(Debug)]
pub struct Limits {
    requests: Arc<Semaphore>,
    /// Of those who have not said who they are yet: they must not take the room of all others.
    open: Arc<Semaphore>,
    heavy: Arc<Semaphore>,
}

/// Room for one request.
#[derive(Debug)]
pub struct Slot {
    _permit: OwnedSemaphorePermit,
    begun: AtomicBool,
}

/// Room for one request that reads many files.
#[derive(Debug)]
pub struct HeavyTurn {
    _permit: OwnedSemaphorePermit,
}

impl Limits {
    /// Room for as much as the settings say.
    pub fn new(config: &LimitConfig) -> Self {
        let of = |count| Arc::new(Semaphore::new(count));
        let open = of(config.max_requests.div_ceil(OPEN_PART));
        Self { requests: of(config.max_requests), open, heavy: of(config.max_heavy_requests) }
    }

    /// Room for a request, if there is some; for one that `is_open`, a part that the others do not need.
    pub fn slot(&self, is_open: bool) -> Option<Arc<Slot>> {
        let room = if is_open { &self.open } else { &self.requests };
        let permit = Arc::clone(room).try_acquire_owned().ok()?;
        metrics::gauge!("guillemot_http_requests_in_flight").increment(1.0);
        Some(Arc::new(Slot { _permit: permit, begun: AtomicBool::new(false) }))
    }

    /// Room for a request that reads many files; waits a little for it.
    pub async fn heavy_turn(&self) -> Option<HeavyTurn> {
        let permit = timeout(PATIENCE, Arc::clone(&self.heavy).acquire_owned()).await.ok()?.ok()?;
        Some(HeavyTurn { _permit: permit })
    }
}

/// What comes of this work, if it takes no longer than so.
pub async fn within<T>(limit: Duration, work: impl Future<Output = T>) -> Option<T> {
    timeout(limit, work).await.ok()
}

impl Slot {
    /// Whether the request has begun to change something.
    pub fn has_begun(&self) -> bool {
        self.begun.load(Ordering::SeqCst)
    }

    /// Does a request's work in its slot, for so long at most.
    pub async fn hold<T>(self: &Arc<Self>, limit: Duration, work: impl Future<Output = T>) -> Option<T> {
        within(limit, SLOT.scope(Arc::clone(self), work)).await
    }

    /// The slot of the request that the caller works on, which begins to change something.
    pub(super) fn begin() -> Option<Arc<Self>> {
        let slot = SLOT.try_with(Arc::clone).ok()?;
        slot.begun.store(true, Ordering::SeqCst);
        Some(slot)
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        metrics::gauge!("guillemot_http_requests_in_flight").decrement(1.0);
    }
}
