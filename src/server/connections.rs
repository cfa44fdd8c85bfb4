//! Accepts connections, and serves each until one side ends it.

use super::pulse::{Pulse, Watched};
use crate::config::LimitConfig;
use axum::body::Body;
use axum::http::{Request, Response};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::{sleep, sleep_until, timeout};
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::{Service, ServiceExt};

/// How long nothing is accepted after the system had no room for one more connection.
const AFTER_FAILURE: Duration = Duration::from_millis(500);

/// How much longer than allowed a head may be that is answered with an error of ours; hyper's own has no body.
const ROOM_FOR_AN_ANSWER: usize = 128 * 1024;

/// What each connection is served by.
#[derive(Clone)]
pub(super) struct Connections<S> {
    /// Answers requests.
    pub(super) service: S,
    /// Makes HTTPS of connections.
    pub(super) tls: Option<TlsAcceptor>,
    /// How many there may be, and for how long.
    pub(super) limits: LimitConfig,
}

impl<S> Connections<S>
where
    S: Service<Request<Body>, Response = Response<Body>, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send,
{
    /// Serves until `stop` resolves, then until the requests that run are answered. Dropped before, it cuts them off.
    pub(super) async fn serve(self, listener: TcpListener, stop: impl Future<Output = ()>) {
        let (stopping, cut) = (CancellationToken::new(), CancellationToken::new());
        let _cut = cut.clone().drop_guard();
        let open = TaskTracker::new();
        tokio::select! {
            () = self.accept(&listener, &open, &stopping, &cut) => {}
            () = stop => {}
        }
        drop(listener);
        stopping.cancel();
        open.close();
        open.wait().await;
    }

    /// Accepts for ever.
    async fn accept(
        &self,
        listener: &TcpListener,
        open: &TaskTracker,
        stopping: &CancellationToken,
        cut: &CancellationToken,
    ) {
        let room = Arc::new(Semaphore::new(self.limits.max_connections));
        // Who finds no room waits in the system's queue.
        while let Ok(place) = Arc::clone(&room).acquire_owned().await {
            let stream = match listener.accept().await {
                Ok((stream, _)) => stream,
                Err(error) => {
                    if !is_the_clients(&error) {
                        tracing::error!(cause = %error, "no connection can be accepted");
                        sleep(AFTER_FAILURE).await;
                    }
                    continue;
                }
            };
            let (own, stopping, cut) = (self.clone(), stopping.clone(), cut.clone());
            open.spawn(async move {
                let _place = place;
                let gauge = metrics::gauge!("guillemot_http_connections");
                gauge.increment(1.0);
                cut.run_until_cancelled(own.connection(stream, &stopping)).await;
                gauge.decrement(1.0);
            });
        }
    }

    async fn connection(self, stream: TcpStream, stopping: &CancellationToken) {
        // Answers are written whole: there is nothing to wait for.
        let _ = stream.set_nodelay(true);
        let Some(tls) = self.tls.clone() else { return self.http(stream, stopping).await };
        let handshake = timeout(self.limits.header_timeout(), tls.accept(stream));
        match stopping.run_until_cancelled(handshake).await {
            Some(Ok(Ok(stream))) => self.http(stream, stopping).await,
            Some(Ok(Err(error))) => refuse_handshake(&error.to_string()),
            Some(Err(_)) => refuse_handshake("it took too long"),
            None => {}
        }
    }

    async fn http(self, stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static, stopping: &CancellationToken) {
        let pulse = Pulse::new(self.limits.header_timeout(), self.limits.idle_timeout());
        let io = TokioIo::new(Watched::new(stream, pulse.clone()));
        let (service, requests) = (self.service, pulse.clone());
        let answer = service_fn(move |request: Request<Incoming>| {
            let busy = requests.busy();
            let answer = service.clone().oneshot(request.map(Body::new));
            async move {
                let _busy = busy;
                answer.await
            }
        });
        let builder = builder(&self.limits);
        let mut connection = std::pin::pin!(builder.serve_connection(io, answer));
        let mut told = false;
        loop {
            tokio::select! {
                ended = connection.as_mut() => {
                    if let Err(error) = ended {
                        tracing::debug!(cause = error, "a connection broke");
                    }
                    return;
                }
                () = stopping.cancelled(), if !told => {
                    connection.as_mut().graceful_shutdown();
                    told = true;
                }
                () = sleep_until(pulse.next_look()) => {
                    if pulse.is_over() {
                        metrics::counter!("guillemot_http_connections_timed_out_total").increment(1);
                        tracing::debug!("a connection is closed on which nothing happened");
                        return;
                    }
                }
            }
        }
    }
}

/// hyper with our limits; where there is none of ours, its own hold.
fn builder(limits: &LimitConfig) -> Builder<TokioExecutor> {
    let head = (limits.max_headers_kib + limits.max_uri_kib) * 1024 + ROOM_FOR_AN_ANSWER;
    let mut builder = Builder::new(TokioExecutor::new());
    // A head must fit in the buffer. Bodies pass through it in parts.
    builder.http1().max_buf_size(head);
    builder.http2().max_header_list_size(u32::try_from(head).unwrap_or(u32::MAX));
    builder
}

fn refuse_handshake(reason: &str) {
    metrics::counter!("guillemot_tls_handshakes_failed_total").increment(1);
    tracing::debug!(reason, "a TLS handshake failed");
}

/// Whether a connection failed that its client gave up.
fn is_the_clients(error: &io::Error) -> bool {
    use io::ErrorKind as K;
    matches!(error.kind(), K::ConnectionRefused | K::ConnectionAborted | K::ConnectionReset)
}
