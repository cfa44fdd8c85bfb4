//! What a server takes on, for how long, and what it says to the rest: over sockets that send what they like.

use crate::support::server::{Reply, Server, Setting};
use guillemot::config::Settings;
use reqwest::Method;
use serde_json::{Value, json};
use sqlx::{Connection, Executor, SqliteConnection};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};

const NAMESPACES: &str = "/iceberg/v1/namespaces";
const ASK: &str = "GET /health HTTP/1.1\r\nHost: x\r\n\r\n";
const KEY: &str = "0190a5b4-6e2f-7c11-8e3a-5d0c9b1f2a34";

async fn limited(change: impl FnOnce(&mut Settings)) -> Server {
    Server::start_with(Setting::Local, change).await
}

/// A connection to the server on which this was sent.
async fn connect(server: &Server, sent: &str) -> TcpStream {
    let mut stream = TcpStream::connect(server.base.strip_prefix("http://").unwrap()).await.unwrap();
    stream.write_all(sent.as_bytes()).await.unwrap();
    stream
}

/// A request to make a namespace whose body has not come yet, and that body.
async fn slow_request(server: &Server, name: &str) -> (TcpStream, String) {
    let body = json!({ "namespace": [name] }).to_string();
    let head = format!("POST {NAMESPACES} HTTP/1.1\r\nHost: x\r\nContent-Length: {}\r\n\r\n", body.len());
    let stream = connect(server, &head).await;
    // Until the server has it.
    sleep(Duration::from_millis(300)).await;
    (stream, body)
}

/// What comes on a connection until the server is silent for a while, and whether it has ended it.
async fn heard(stream: &mut TcpStream, patience: Duration) -> (String, bool) {
    let mut all = Vec::new();
    let mut part = [0; 4096];
    loop {
        match timeout(patience, stream.read(&mut part)).await {
            Err(_) => return (String::from_utf8(all).unwrap(), false),
            Ok(Ok(0) | Err(_)) => return (String::from_utf8(all).unwrap(), true),
            Ok(Ok(count)) => all.extend_from_slice(&part[..count]),
        }
    }
}

async fn make(server: &Server, name: &str) -> Reply {
    server.send(Method::POST, NAMESPACES, Some(json!({ "namespace": [name] })), &[("idempotency-key", KEY)]).await
}

async fn names(server: &Server) -> Value {
    server.get("/namespaces").await.expect(200)["namespaces"].clone()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_there_is_no_room_for_is_turned_away_before_anything_is_done() {
    let server = limited(|settings| settings.limits.max_requests = Some(1)).await;
    let (mut first, body) = slow_request(&server, "slow").await;
    for _ in 0..3 {
        let refused = make(&server, "a").await;
        assert_eq!(refused.headers["retry-after"], "1");
        assert!(refused.headers.contains_key("x-request-id"));
        let said = refused.error(503, "ServiceUnavailableException");
        assert!(said.contains("nothing was done"), "{said}");
    }
    server.get("/namespaces").await.error(503, "ServiceUnavailableException");
    server.send(Method::GET, "/nowhere", None, &[]).await.error(503, "ServiceUnavailableException");
    for path in ["/health", "/ready"] {
        server.send(Method::GET, path, None, &[]).await;
    }
    let metrics = server.send(Method::GET, "/metrics", None, &[]).await;
    assert_eq!(metrics.status.as_u16(), 200);
    assert!(metrics.text.contains("guillemot_http_requests_shed_total{limit=\"requests\"}"), "{}", metrics.text);
    assert!(metrics.text.contains("guillemot_http_requests_in_flight"), "{}", metrics.text);

    first.write_all(body.as_bytes()).await.unwrap();
    let (answer, _) = heard(&mut first, Duration::from_millis(500)).await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert_eq!(names(&server).await, json!([["slow"]]), "what was turned away did nothing");
    // Under the same key: that it was turned away was not kept.
    make(&server, "a").await.expect(200);
    assert_eq!(names(&server).await, json!([["a"], ["slow"]]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_is_turned_away_need_not_send_a_body_first() {
    let server = limited(|settings| settings.limits.max_requests = Some(1)).await;
    let (_first, _) = slow_request(&server, "slow").await;
    let began = Instant::now();
    let head = format!("POST {NAMESPACES} HTTP/1.1\r\nHost: x\r\nContent-Length: 50000000\r\n\r\n{{");
    let mut second = connect(&server, &head).await;
    let (answer, ended) = heard(&mut second, Duration::from_secs(5)).await;
    assert!(answer.starts_with("HTTP/1.1 503") && answer.contains("retry-after: 1"), "{answer}");
    assert!(ended && began.elapsed() < Duration::from_secs(4), "{:?}", began.elapsed());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_body_that_does_not_come_gives_its_room_back() {
    let server = limited(|settings| {
        settings.limits.max_requests = Some(1);
        settings.limits.body_timeout_s = Some(1);
    })
    .await;
    let (mut slow, body) = slow_request(&server, "slow").await;
    slow.write_all(&body.as_bytes()[..5]).await.unwrap();
    let (answer, ended) = heard(&mut slow, Duration::from_secs(4)).await;
    assert!(answer.starts_with("HTTP/1.1 408") && answer.contains("RequestTimeoutException"), "{answer}");
    assert!(ended, "the rest of the body is no request");
    assert_eq!(names(&server).await, json!([]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_is_not_known_cannot_take_up_room_with_a_body() {
    let server = Server::start_secured_with(Setting::Local, |settings| {
        settings.limits.max_requests = Some(1);
        settings.limits.body_timeout_s = Some(3);
    })
    .await;
    let (mut slow, _) = slow_request(&server, "slow").await;
    let known = [(crate::support::server::TEST_USER, "root")];
    server.send(Method::GET, NAMESPACES, None, &known).await.expect(200);
    let (answer, _) = heard(&mut slow, Duration::from_secs(5)).await;
    assert!(answer.starts_with("HTTP/1.1 401"), "{answer}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_asks_for_a_token_cannot_take_up_the_room_of_others() {
    let server = Server::start_secured_with(Setting::Local, |settings| settings.limits.max_requests = Some(8)).await;
    let head = "POST /iceberg/v1/oauth/tokens HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n";
    let mut slow = Vec::new();
    for _ in 0..20 {
        slow.push(connect(&server, head).await);
    }
    sleep(Duration::from_millis(300)).await;
    let known = [(crate::support::server::TEST_USER, "root")];
    server.send(Method::GET, NAMESPACES, None, &known).await.expect(200);
    server.ask_for_token(&[("grant_type", "client_credentials")], &[]).await.error(503, "ServiceUnavailableException");
    let (answer, _) = heard(&mut slow[0], Duration::from_secs(12)).await;
    assert!(answer.starts_with("HTTP/1.1 408") && answer.contains("invalid_request"), "{answer}");
    server.ask_for_token(&[("grant_type", "client_credentials")], &[]).await.expect(401);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn headers_that_trickle_and_connections_that_idle_are_closed() {
    let server = limited(|settings| {
        settings.limits.header_timeout_s = Some(1);
        settings.limits.idle_timeout_s = Some(3);
    })
    .await;
    let mut trickle = connect(&server, "GET /health HTTP/1.1\r\nX: ").await;
    let (mut silent, mut preface) = (connect(&server, "").await, connect(&server, "PRI * HT").await);
    let mut kept = connect(&server, ASK).await;
    let began = Instant::now();
    while trickle.write_all(b"x").await.is_ok() && began.elapsed() < Duration::from_secs(6) {
        sleep(Duration::from_millis(100)).await;
    }
    let took = began.elapsed();
    assert!(took > Duration::from_millis(800) && took < Duration::from_secs(4), "{took:?}");
    // Between two requests a client may take longer than over one.
    kept.write_all(ASK.as_bytes()).await.unwrap();
    let (answers, ended) = heard(&mut kept, Duration::from_secs(6)).await;
    assert_eq!((answers.matches("200 OK").count(), ended), (2, true), "{answers}");
    for stream in [&mut silent, &mut preface] {
        assert_eq!(heard(stream, Duration::from_secs(6)).await, (String::new(), true));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn more_connections_than_there_may_be_wait_for_their_turn() {
    let server = limited(|settings| settings.limits.max_connections = Some(2)).await;
    let (first, second) = (connect(&server, "").await, connect(&server, "").await);
    sleep(Duration::from_millis(200)).await;
    let mut third = connect(&server, "GET /health HTTP/1.1\r\nHost: x\r\n\r\n").await;
    assert_eq!(heard(&mut third, Duration::from_millis(500)).await, (String::new(), false));
    drop(first);
    let (answer, _) = heard(&mut third, Duration::from_secs(2)).await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    drop((second, third));
    sleep(Duration::from_millis(200)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_head_that_is_too_long_is_told_so() {
    let server = limited(|_| ()).await;
    let long = "x".repeat(16 * 1024 + 1);
    server.get(&format!("/{long}")).await.error(414, "BadRequestException");
    server.get(&format!("/namespaces?pageToken={long}")).await.error(414, "BadRequestException");
    let large = "y".repeat(40_000);
    let headers = [("x-a", large.as_str()), ("x-b", large.as_str())];
    server.send(Method::GET, "/health", None, &headers[..1]).await;
    let refused = server.send(Method::GET, NAMESPACES, None, &headers).await;
    assert!(refused.error(431, "BadRequestException").contains("64 KiB"));
    // Much more than that is not even read.
    let mut stream = connect(&server, &format!("GET /{} HTTP/1.1\r\nHost: x\r\n\r\n", "x".repeat(65_536))).await;
    assert!(heard(&mut stream, Duration::from_secs(2)).await.0.starts_with("HTTP/1.1 414"));
    let many = "x: y\r\n".repeat(200);
    let mut stream = connect(&server, &format!("GET /health HTTP/1.1\r\nHost: x\r\n{many}\r\n")).await;
    assert!(heard(&mut stream, Duration::from_secs(2)).await.0.starts_with("HTTP/1.1 431"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_change_that_takes_too_long_is_not_cut_off_but_not_waited_for() {
    let server = limited(|settings| {
        settings.limits.max_requests = Some(1);
        settings.limits.request_timeout_s = Some(1);
    })
    .await;
    // Nobody else can write now.
    let mut writer = SqliteConnection::connect(&server.app.config.database_url).await.unwrap();
    writer.execute("BEGIN IMMEDIATE").await.unwrap();
    let answer = server.send(Method::POST, NAMESPACES, Some(json!({"namespace": ["late"]})), &[]).await;
    answer.error(500, "CommitStateUnknownException");
    assert!(!answer.headers.contains_key("retry-after"), "it must not be sent again");
    // It is still at work, and takes up room.
    server.get("/namespaces").await.error(503, "ServiceUnavailableException");
    writer.execute("ROLLBACK").await.unwrap();
    sleep(Duration::from_secs(1)).await;
    assert_eq!(names(&server).await, json!([["late"]]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn plans_wait_for_their_turn_and_not_for_ever() {
    let server = limited(|settings| settings.limits.max_heavy_requests = Some(1)).await;
    server.namespace().await;
    server.table("t", 2).await;
    let turn = server.app.limits.heavy_turn().await.unwrap();
    let plan = server.post("/namespaces/ns/tables/t/plan", json!({}));
    let others = async {
        sleep(Duration::from_millis(300)).await;
        server.get("/namespaces/ns/tables/t").await.expect(200);
    };
    let (plan, ()) = tokio::join!(plan, others);
    assert_eq!(plan.headers["retry-after"], "1");
    plan.error(503, "ServiceUnavailableException");
    drop(turn);
    server.post("/namespaces/ns/tables/t/plan", json!({})).await.expect(200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_question_that_takes_too_long_may_be_asked_again() {
    let server = limited(|settings| {
        settings.limits.max_heavy_requests = Some(1);
        settings.limits.request_timeout_s = Some(1);
    })
    .await;
    server.namespace().await;
    server.table("t", 2).await;
    let _turn = server.app.limits.heavy_turn().await.unwrap();
    let plan = server.post("/namespaces/ns/tables/t/plan", json!({})).await;
    assert_eq!(plan.headers["retry-after"], "1");
    assert!(plan.error(503, "ServiceUnavailableException").contains("within 1 seconds"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_id_that_is_no_short_word_is_replaced() {
    let server = limited(|_| ()).await;
    let long = "x".repeat(129);
    for (given, kept) in [("id-7", true), (long.as_str(), false), ("a b", false), ("a\"},{\"level\":\"x", false)] {
        let reply = server.send(Method::GET, NAMESPACES, None, &[("x-request-id", given)]).await;
        let id = reply.headers["x-request-id"].to_str().unwrap();
        assert_eq!(id == given, kept, "{id}");
        assert!(id.len() <= 128);
    }
}
