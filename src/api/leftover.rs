//! Reads to its end what was left unread of a request, so that its connection can be used again.
//!
//! A handler may answer before it reads the body: the path is none, the table is missing, the route takes no body. HTTP
//! then closes the connection, and a client that is still sending sees it break instead of the answer.

use super::limits::Shed;
use crate::app::{App, within};
use axum::body::{Body, BodyDataStream, Bytes, HttpBody};
use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::Next;
use axum::response::Response;
use futures::StreamExt;
use futures::stream::{self, Stream};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How long, and how much, is read of a body whose request was turned away because the server is full.
const SHORTLY: Duration = Duration::from_secs(1);
const A_LITTLE: usize = 1024 * 1024;

/// Stands around everything that answers.
pub(super) async fn drain(State(app): State<App>, request: Request, next: Next) -> Response {
    // Who asks first whether to send has sent nothing yet, and is told by the answer not to.
    if request.body().is_end_stream() || request.headers().contains_key(header::EXPECT) {
        return next.run(request).await;
    }
    let (parts, body) = request.into_parts();
    let body = Arc::new(Mutex::new(body.into_data_stream()));
    let response = next.run(Request::from_parts(parts, Body::from_stream(rest(Arc::clone(&body))))).await;
    // What is too large is not read to its end: it may have none. Nor is what takes too long.
    if response.extensions().get::<Shed>().is_some() {
        // A commit's body is mostly here already. Nobody learns more by waiting longer, and the server has much to do.
        let _ = within(SHORTLY, discard(rest(body), A_LITTLE)).await;
    } else if ![StatusCode::PAYLOAD_TOO_LARGE, StatusCode::REQUEST_TIMEOUT].contains(&response.status()) {
        discard(rest(body), app.config.max_body_bytes).await;
    }
    response
}

/// What is still to come of a body that a handler and [`drain`] share.
fn rest(body: Arc<Mutex<BodyDataStream>>) -> impl Stream<Item = Result<Bytes, axum::Error>> + Unpin + Send {
    stream::poll_fn(move |context| body.lock().unwrap_or_else(PoisonError::into_inner).poll_next_unpin(context))
}

/// Throws away at most so many bytes.
async fn discard(mut body: impl Stream<Item = Result<Bytes, axum::Error>> + Unpin, limit: usize) {
    let mut left = limit;
    while let Some(Ok(bytes)) = body.next().await {
        match left.checked_sub(bytes.len()) {
            Some(rest) => left = rest,
            None => break,
        }
    }
}
