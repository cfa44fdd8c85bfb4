//! What is refused before anything is done for it: too much at once, too long a head, what takes too long.
//!
//! ```text
//! URI or headers too long       -> 414, 431
//! no room for one more request  -> 503 with Retry-After; no body is kept, nobody is asked who is calling
//! body takes too long           -> 408 (where it is read, in `extract`)
//! answer takes too long         -> 503 with Retry-After if nothing had begun to change, else 500 "state unknown"
//! ```
//! A change that has begun is never cut off: it goes on in a task of its own (`App::finish`), and only the waiting for it
//! ends. Health, readiness and metrics are always answered: whoever looks after a server must see that it is full.

use super::error::Error;
use crate::app::{App, HeavyTurn};
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use std::time::Duration;
use tower_http::timeout::DeadlineBody;

/// Paths that are answered whatever else goes on.
const ALWAYS: [&str; 3] = ["/health", "/ready", "/metrics"];

/// The one route on which much can be sent by somebody who is not known.
const TOKENS: &str = "/iceberg/v1/oauth/tokens";

/// How long a form with a few fields may take.
const FORM_TIMEOUT: Duration = Duration::from_secs(10);

/// Longest request id of a client's that is taken over, in bytes.
const MAX_REQUEST_ID: usize = 128;

/// Mark of a reply to a request that nothing was done for: not much of its body is waited for, either.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shed;

/// Drops a request id that is no short, plain word: it goes into every line of the log, and back to the client.
pub(super) fn bound_request_id(mut request: Request) -> Request {
    let id = HeaderName::from_static("x-request-id");
    let plain = |b: &u8| b.is_ascii_alphanumeric() || b"-_.:/+=".contains(b);
    let good = |value: &[u8]| (1..=MAX_REQUEST_ID).contains(&value.len()) && value.iter().all(plain);
    let mut given = request.headers().get_all(&id).iter();
    if let (Some(first), second) = (given.next(), given.next())
        && !(second.is_none() && good(first.as_bytes()))
    {
        request.headers_mut().remove(&id);
    }
    request
}

/// Stands around everything: refuses a head that is too long, and lets a body take so long and no longer.
pub(super) async fn bound(State(app): State<App>, request: Request, next: Next) -> Response {
    let limits = &app.config.limits;
    if request.uri().path_and_query().map_or(0, |uri| uri.as_str().len()) > limits.max_uri_kib * 1024 {
        return Error::UriTooLong { limit_kib: limits.max_uri_kib }.into_response();
    }
    if size(request.headers()) > limits.max_headers_kib * 1024 {
        return Error::HeadersTooLarge { limit_kib: limits.max_headers_kib }.into_response();
    }
    let for_body = match request.uri().path() {
        TOKENS => limits.body_timeout().min(FORM_TIMEOUT),
        _ => limits.body_timeout(),
    };
    next.run(request.map(|body| Body::new(DeadlineBody::new(for_body, body)))).await
}

fn size(headers: &HeaderMap) -> usize {
    headers.iter().map(|(name, value)| name.as_str().len() + value.len()).sum()
}

/// Stands in front of every route: works on as many requests at once as there is room for, each for so long.
pub(super) async fn admit(State(app): State<App>, request: Request, next: Next) -> Response {
    if ALWAYS.contains(&request.uri().path()) {
        return next.run(request).await;
    }
    let Some(slot) = app.limits.slot(request.uri().path() == TOKENS) else {
        metrics::counter!("guillemot_http_requests_shed_total", "limit" => "requests").increment(1);
        let mut response = Error::Full { of: "requests" }.into_response();
        response.extensions_mut().insert(Shed);
        return response;
    };
    let answered = slot.hold(app.config.limits.request_timeout(), next.run(request)).await;
    answered.unwrap_or_else(|| {
        metrics::counter!("guillemot_http_requests_timed_out_total").increment(1);
        let seconds = app.config.limits.request_timeout_s;
        let error = if slot.has_begun() { Error::NotYetDone { seconds } } else { Error::TookTooLong { seconds } };
        error.into_response()
    })
}

/// Lets so many requests at once read many files, as long as they hold their turns; the others wait a little.
pub(super) async fn heavy_turn(app: &App) -> Result<HeavyTurn, Error> {
    app.limits.heavy_turn().await.ok_or_else(|| {
        metrics::counter!("guillemot_http_requests_shed_total", "limit" => "heavy").increment(1);
        Error::Full { of: "plans and checks of whole tables" }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_short_plain_request_id_is_taken_over() {
        let kept = |ids: &[&[u8]]| {
            let mut request = Request::new(Body::empty());
            for id in ids {
                request.headers_mut().append("x-request-id", axum::http::HeaderValue::from_bytes(id).unwrap());
            }
            bound_request_id(request).headers().contains_key("x-request-id")
        };
        assert!(kept(&[b"0190a5b4-6e2f:7c11/a_B.c+d="]) && kept(&[&[b'x'; 128]]));
        for bad in [&b""[..], &[b'x'; 129], b"a b", b"a\"b", b"a\tb", b"\xc3\xa9", b"a;b", b"<a>"] {
            assert!(!kept(&[bad]), "{bad:?}");
        }
        assert!(!kept(&[b"a", b"b"]));
    }
}
