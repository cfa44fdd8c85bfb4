//! Whether anything happens on a connection, seen from the bytes that pass.
//!
//! hyper has one time-out for the headers of a request, which runs while a connection is idle, too; one that is long
//! enough for the latter is too long for the former. And it has none for a client that takes no more of its answer, or
//! that does not say which HTTP it speaks.
//!
//! ```text
//! a request is worked on           -> no time-out here: requests have their own
//! headers have begun (HTTP/1)      -> the header time-out, from their first byte
//! otherwise                        -> the idle time-out, from the last byte in or out
//! ```

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Instant;

/// How an HTTP/2 connection begins. On such a one, single bytes tell nothing of the headers of a request.
const HTTP2: &[u8] = b"PRI";

/// What is known of a connection; cheap to clone.
#[derive(Clone)]
pub(super) struct Pulse(Arc<Mutex<State>>);

struct State {
    header_timeout: Duration,
    idle_timeout: Duration,
    /// Requests that are worked on.
    busy: usize,
    /// The first bytes of the connection.
    opening: Vec<u8>,
    /// When the headers that are being read began.
    head_since: Option<Instant>,
    /// When a byte last passed.
    moved: Instant,
}

/// A request is worked on as long as this lives.
pub(super) struct Busy(Pulse);

impl Pulse {
    pub(super) fn new(header_timeout: Duration, idle_timeout: Duration) -> Self {
        let (opening, moved) = (Vec::new(), Instant::now());
        Self(Arc::new(Mutex::new(State { header_timeout, idle_timeout, busy: 0, opening, head_since: None, moved })))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A request has come in whole, but for its body.
    pub(super) fn busy(&self) -> Busy {
        let mut state = self.state();
        state.busy += 1;
        state.head_since = None;
        drop(state);
        Busy(self.clone())
    }

    /// Whether it has been too long.
    pub(super) fn is_over(&self) -> bool {
        self.state().deadline().is_some_and(|deadline| deadline <= Instant::now())
    }

    /// When to look again.
    pub(super) fn next_look(&self) -> Instant {
        let state = self.state();
        // Headers may begin at any time.
        let soon = Instant::now() + state.header_timeout;
        state.deadline().map_or(soon, |deadline| deadline.min(soon))
    }

    fn read(&self, bytes: &[u8]) {
        let mut state = self.state();
        state.moved = Instant::now();
        let missing = HTTP2.len().saturating_sub(state.opening.len());
        state.opening.extend(bytes.iter().take(missing));
        if state.busy == 0 && state.head_since.is_none() {
            state.head_since = Some(state.moved);
        }
    }

    fn wrote(&self) {
        let mut state = self.state();
        state.moved = Instant::now();
        // What was read while an answer went out is not looked at before that is done.
        state.head_since = state.head_since.map(|_| state.moved);
    }
}

impl State {
    fn deadline(&self) -> Option<Instant> {
        match self.head_since {
            _ if self.busy > 0 => None,
            Some(since) if self.opening != HTTP2 => Some(since + self.header_timeout),
            _ => Some(self.moved + self.idle_timeout),
        }
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.busy = state.busy.saturating_sub(1);
        state.moved = Instant::now();
    }
}

/// A stream whose bytes keep a [`Pulse`] going.
pub(super) struct Watched<T> {
    stream: T,
    pulse: Pulse,
}

impl<T> Watched<T> {
    pub(super) fn new(stream: T, pulse: Pulse) -> Self {
        Self { stream, pulse }
    }

    fn wrote(&self, written: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        if let Poll::Ready(Ok(1..)) = written {
            self.pulse.wrote();
        }
        written
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for Watched<T> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(cx, buf);
        if let Some(bytes @ [_, ..]) = buf.filled().get(before..) {
            self.pulse.read(bytes);
        }
        read
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for Watched<T> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.wrote(written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, bytes);
        self.wrote(written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A pulse with 10 s for headers and 100 s without a byte, and whether it is over after so many seconds.
    async fn over_after(pulse: &Pulse, seconds: u64) -> bool {
        tokio::time::advance(Duration::from_secs(seconds)).await;
        pulse.is_over()
    }

    fn pulse() -> Pulse {
        Pulse::new(Duration::from_secs(10), Duration::from_secs(100))
    }

    #[tokio::test(start_paused = true)]
    async fn headers_have_less_time_than_a_connection_without_any() {
        let idle = pulse();
        assert!(!over_after(&idle, 99).await && over_after(&idle, 1).await);
        let slow = pulse();
        slow.read(b"GET");
        for _ in 0..9 {
            assert!(!over_after(&slow, 1).await);
            slow.read(b" ");
        }
        assert!(over_after(&slow, 1).await, "bytes one by one buy no time");
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_that_is_worked_on_is_waited_for() {
        let pulse = pulse();
        pulse.read(b"GET / HTTP/1.1\r\n\r\n");
        let busy = pulse.busy();
        assert!(!over_after(&pulse, 10_000).await);
        drop(busy);
        assert!(!over_after(&pulse, 99).await && over_after(&pulse, 1).await, "the client takes no answer");
    }

    #[tokio::test(start_paused = true)]
    async fn on_http2_bytes_are_no_headers() {
        let pulse = pulse();
        pulse.read(b"P");
        pulse.read(b"RI * HTTP/2.0");
        assert!(!over_after(&pulse, 99).await);
        pulse.wrote();
        assert!(!over_after(&pulse, 99).await && over_after(&pulse, 1).await);
    }
}
