//! Bytes on the socket, where a client library would hide them.

use crate::support::server::{Server, Setting, schema};
use serde_json::json;
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

#[tokio::test]
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
