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
        Self(Arc::new(Mutex::new(State::new(header_timeout, idle_timeout, Instant::now()))))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A request has come in whole, but for its body.
    pub(super) fn busy(&self) -> Busy {
        self.state().begin();
        Busy(self.clone())
    }

    /// Whether it has been too long.
    pub(super) fn is_over(&self) -> bool {
        self.state().is_over(Instant::now())
    }

    /// When to look again.
    pub(super) fn next_look(&self) -> Instant {
        let state = self.state();
        // Headers may begin at any time.
        let soon = Instant::now() + state.header_timeout;
        state.deadline().map_or(soon, |deadline| deadline.min(soon))
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.state().end(Instant::now());
    }
}

impl State {
    fn new(header_timeout: Duration, idle_timeout: Duration, now: Instant) -> Self {
        Self { header_timeout, idle_timeout, busy: 0, opening: Vec::new(), head_since: None, moved: now }
    }

    fn begin(&mut self) {
        self.busy += 1;
        self.head_since = None;
    }

    fn end(&mut self, now: Instant) {
        self.busy = self.busy.saturating_sub(1);
        self.moved = now;
    }

    fn read(&mut self, bytes: &[u8], now: Instant) {
        self.moved = now;
        let missing = HTTP2.len().saturating_sub(self.opening.len());
        self.opening.extend(bytes.iter().take(missing));
        if self.busy == 0 {
            self.head_since.get_or_insert(now);
        }
    }

    fn wrote(&mut self, now: Instant) {
        self.moved = now;
        // What was read while an answer went out is not looked at before that is done.
        self.head_since = self.head_since.map(|_| now);
    }

    fn deadline(&self) -> Option<Instant> {
        match self.head_since {
            _ if self.busy > 0 => None,
            Some(since) if self.opening != HTTP2 => Some(since + self.header_timeout),
            _ => Some(self.moved + self.idle_timeout),
        }
    }

    fn is_over(&self, now: Instant) -> bool {
        self.deadline().is_some_and(|deadline| deadline <= now)
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
            self.pulse.state().wrote(Instant::now());
        }
        written
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for Watched<T> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(cx, buf);
        if let Some(bytes @ [_, ..]) = buf.filled().get(before..) {
            self.pulse.state().read(bytes, Instant::now());
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

    /// 10 s for headers and 100 s without a byte, and a clock.
    fn begun() -> (State, impl Fn(u64) -> Instant) {
        let start = Instant::now();
        let state = State::new(Duration::from_secs(10), Duration::from_secs(100), start);
        (state, move |seconds| start + Duration::from_secs(seconds))
    }

    #[test]
    fn headers_have_less_time_than_a_connection_without_any() {
        let (idle, at) = begun();
        assert!(!idle.is_over(at(99)) && idle.is_over(at(100)));
        let (mut slow, at) = begun();
        for second in 50..60 {
            slow.read(b"G", at(second));
            assert!(!slow.is_over(at(second)));
        }
        assert!(slow.is_over(at(60)), "bytes one by one buy no time");
    }

    #[test]
    fn a_request_that_is_worked_on_is_waited_for() {
        let (mut state, at) = begun();
        state.read(b"GET / HTTP/1.1\r\n\r\n", at(0));
        state.begin();
        assert!(!state.is_over(at(10_000)));
        state.end(at(10_000));
        assert!(!state.is_over(at(10_099)) && state.is_over(at(10_100)), "the client takes no answer");
        state.wrote(at(10_050));
        assert!(!state.is_over(at(10_149)), "it takes some of it");
    }

    #[test]
    fn what_is_read_while_an_answer_goes_out_may_wait() {
        let (mut state, at) = begun();
        state.read(b"GET", at(0));
        state.wrote(at(9));
        assert!(!state.is_over(at(18)) && state.is_over(at(19)));
    }

    #[test]
    fn on_http2_bytes_are_no_headers() {
        let (mut state, at) = begun();
        state.read(b"P", at(0));
        state.read(b"RI * HTTP/2.0", at(1));
        assert!(!state.is_over(at(100)) && state.is_over(at(101)));
    }
}
