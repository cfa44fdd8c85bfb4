//! Bytes on the socket, where a client library would hide them.

use crate::support::server::{Server, Setting, schema};
use serde_json::json;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Sends requests on one connection, all at once, and answers what comes back until the server closes it.
async fn exchange(server: &Server, requests: &str) -> String {
    let mut stream = TcpStream::connect(server.base.trim_start_matches("http://")).await.unwrap();
    stream.write_all(requests.as_bytes()).await.unwrap();
    let mut replies = Vec::new();
    stream.read_to_end(&mut replies).await.unwrap();
    String::from_utf8(replies).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn java_finds_the_tag_of_a_table_and_no_other_header_changes() {
    let server = Server::start(Setting::Local).await;
    server.namespace().await;
    // A body may hold anything, the header's own name too.
    let trap = "HTTP/1.1 200 OK\r\netag: \"body\"\r\n\r\n";
    let body = json!({"name": "t", "schema": schema(), "properties": {"trap": trap, "x": "\r\netag: "}});
    let made = server.post("/namespaces/ns/tables", body).await.text;
    let get = "GET /iceberg/v1/namespaces/ns/tables/t HTTP/1.1\r\nhost: x\r\n";
    let replies = exchange(&server, &format!("{get}\r\n{get}connection: close\r\n\r\n")).await;
    let heads: Vec<&str> = replies.split("HTTP/1.1 200 OK\r\ncontent-type: ").skip(1).collect();
    assert_eq!(heads.len(), 2, "{replies}");
    for reply in heads {
        let (head, body) = reply.split_once("\r\n\r\n").unwrap();
        assert!(head.contains("\r\nETag: \"") && head.contains("\r\ncontent-length: "), "{head}");
        assert_eq!(head.to_ascii_lowercase().matches("etag").count(), 1, "{head}");
        assert_eq!(body, made);
    }
    let tag = replies.split("\r\nETag: ").nth(1).unwrap().split("\r\n").next().unwrap();
    let same = exchange(&server, &format!("{get}If-None-Match: {tag}\r\nconnection: close\r\n\r\n")).await;
    assert!(same.starts_with("HTTP/1.1 304 ") && same.contains(&format!("\r\nETag: {tag}\r\n")), "{same}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_refused_request_leaves_its_connection_to_the_next_one() {
    let server = Server::start(Setting::Local).await;
    let address = server.base.trim_start_matches("http://");
    for (path, status) in [
        ("POST /iceberg/v1/namespaces/%FF/tables", "400 Bad Request"),
        ("POST /iceberg/v1/nowhere/namespaces", "404 Not Found"),
        ("GET /iceberg/v1/namespaces/none", "404 Not Found"),
        ("DELETE /iceberg/v1/namespaces/none", "404 Not Found"),
        ("POST /nothing", "404 Not Found"),
        ("PUT /iceberg/v1/namespaces", "405 Method Not Allowed"),
    ] {
        let mut stream = TcpStream::connect(address).await.unwrap();
        let body = vec![b' '; 1024 * 1024];
        let head = format!("{path} HTTP/1.1\r\nhost: x\r\ncontent-length: {}\r\n\r\n", body.len());
        stream.write_all(head.as_bytes()).await.unwrap();
        // The answer could be given by now, before the body comes.
        tokio::time::sleep(Duration::from_millis(100)).await;
        stream.write_all(&body).await.unwrap();
        stream.write_all(b"GET /health HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").await.unwrap();
        let mut replies = String::new();
        stream.read_to_string(&mut replies).await.unwrap();
        assert!(replies.starts_with(&format!("HTTP/1.1 {status}\r\n")), "{path}: {replies}");
        assert!(replies.ends_with("\r\n\r\nalive\n"), "{path}: {replies}");
    }
}
