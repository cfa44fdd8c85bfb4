//! Time and ids, handed in so that tests can fix them.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::UNIX_EPOCH;
use uuid::Uuid;

/// Where the time comes from.
#[derive(Debug, Default)]
pub enum Clock {
    /// The machine's clock.
    #[default]
    System,
    /// A clock that stands still until [`Clock::set`] moves it: epoch milliseconds.
    Fixed(AtomicI64),
}

impl Clock {
    /// Now, in milliseconds since the epoch (Iceberg's own unit).
    pub fn now_ms(&self) -> i64 {
        match self {
            Self::System => system_ms(),
            Self::Fixed(at) => at.load(Ordering::Relaxed),
        }
    }

    /// Moves a fixed clock; the system's clock stays as it is.
    pub fn set(&self, ms: i64) {
        if let Self::Fixed(at) = self {
            at.store(ms, Ordering::Relaxed);
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "this is the one place that reads the machine's clock")]
fn system_ms() -> i64 {
    let since = std::time::SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// Where new ids come from.
#[derive(Debug, Default)]
pub enum Ids {
    /// Random version 4 UUIDs.
    #[default]
    Random,
    /// Counted ids, the same in every run of a test.
    Counted(AtomicU64),
}

impl Ids {
    /// A new UUID in its 36-character text form.
    pub fn uuid(&self) -> String {
        match self {
            Self::Random => random_uuid(),
            Self::Counted(next) => Uuid::from_u128(u128::from(next.fetch_add(1, Ordering::Relaxed))).to_string(),
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "this is the one place that makes random ids")]
fn random_uuid() -> String {
    Uuid::new_v4().to_string()
}
