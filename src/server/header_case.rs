//! `ETag` in exactly these letters.
//!
//! Names of HTTP headers have no case, but Java clients up to Iceberg 1.11 look an `ETag` up letter for letter, and
//! hyper writes `etag`: they would load every table anew (`spec.md` 6.1). hyper can write names in other letters, in one
//! way only: an extension of its own that it attaches to a request when asked to preserve the case of header names, and
//! that it obeys when it finds it in a response. So it is asked once, at start, to read a request with an `ETag`, and
//! what it attached there goes with each reply that has one. On HTTP/2 names are always lower-case, and stay so.

use axum::http::{Extensions, Request, Response, header};
use http_body_util::Empty;
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use std::convert::Infallible;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::io::AsyncWriteExt;

/// What hyper attaches to a message whose header names it has read as `ETag`.
#[derive(Debug, Clone, Default)]
pub(super) struct HeaderCase(Extensions);

impl HeaderCase {
    /// Has hyper read the name once.
    pub(super) async fn learn() -> io::Result<Self> {
        let (mut client, server) = tokio::io::duplex(1024);
        client.write_all(b"GET / HTTP/1.1\r\nETag: \"\"\r\nconnection: close\r\n\r\n").await?;
        let seen = Arc::new(Mutex::new(Extensions::new()));
        let keep = Arc::clone(&seen);
        let service = service_fn(move |request: Request<Incoming>| {
            *keep.lock().unwrap_or_else(PoisonError::into_inner) = request.into_parts().0.extensions;
            async { Ok::<_, Infallible>(Response::new(Empty::<Bytes>::new())) }
        });
        let mut hyper = http1::Builder::new();
        hyper
            .preserve_header_case(true)
            .serve_connection(TokioIo::new(server), service)
            .await
            .map_err(io::Error::other)?;
        let learned = std::mem::take(&mut *seen.lock().unwrap_or_else(PoisonError::into_inner));
        Ok(Self(learned))
    }

    /// Lets a reply that has a tag say so in these letters.
    pub(super) fn apply<B>(&self, mut response: Response<B>) -> Response<B> {
        if response.headers().contains_key(header::ETAG) {
            response.extensions_mut().extend(self.0.clone());
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn hyper_attaches_something() {
        assert_eq!(HeaderCase::learn().await.unwrap().0.len(), 1);
    }
}
