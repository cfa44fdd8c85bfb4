//! Every error is Iceberg's JSON, whatever went wrong.

use crate::support::server::{Server, Setting, on_both_servers, schema};
use reqwest::Method;
use serde_json::json;
use std::fs;
use std::path::Path;

on_both_servers!(nothing_is_served_there, malformed_bodies_are_400s, names_that_are_none_are_400s);

async fn nothing_is_served_there(server: Server) {
    let reply = server.get("/lake/no/such/route").await;
    assert_eq!(reply.error(404, "NotFoundException"), "no route for GET /iceberg/v1/lake/no/such/route");
    server.send(Method::GET, "/nothing", None, &[]).await.error(404, "NotFoundException");
    server.send(Method::PUT, "/iceberg/v1/namespaces", None, &[]).await.error(405, "MethodNotAllowedException");
}

async fn malformed_bodies_are_400s(server: Server) {
    server.namespace().await;
    server.table("t", 2).await;
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let paths = [
        "/namespaces",
        "/namespaces/ns/tables",
        "/namespaces/ns/tables/t",
        "/namespaces/ns/register",
        "/namespaces/ns/properties",
        "/tables/rename",
        "/transactions/commit",
    ];
    let bodies = ["", "{", "[]", "null", "1", "\"x\"", r#"{"namespace": null}"#, r#"{"name": 7}"#, "\u{feff}{}", &deep];
    for path in paths {
        for body in bodies {
            let reply = server.send_raw(Method::POST, &format!("/iceberg/v1{path}"), body.as_bytes().to_vec()).await;
            // As in Java, a change that names none of its parts is a change of nothing.
            let of_nothing = body.starts_with('{') && (path.ends_with("properties") || path.ends_with("/t"));
            if !(of_nothing && reply.status.as_u16() == 200) {
                reply.error(400, "BadRequestException");
            }
        }
    }
    let no_utf8 = b"{\"namespace\":[\"\xff\"]}".to_vec();
    server.send_raw(Method::POST, "/iceberg/v1/namespaces", no_utf8).await.error(400, "BadRequestException");
}

async fn names_that_are_none_are_400s(server: Server) {
    for namespace in [json!([]), json!([""]), json!(["a\u{0}"]), json!(["a\u{1f}b"]), json!("a"), json!([1])] {
        server.post("/namespaces", json!({"namespace": namespace})).await.error(400, "BadRequestException");
    }
    // Asked for, they are absent: Flink asks so, and a 400 would end its query.
    server.get("/namespaces/a%1F/tables").await.error(404, "NoSuchNamespaceException");
    server.get("/namespaces/%FF").await.error(400, "BadRequestException");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_body_over_the_limit_is_a_413() {
    let server = Server::start_with(Setting::Local, |settings| settings.max_body_mib = Some(1)).await;
    let big = json!({"namespace": ["x"], "properties": {"p": "x".repeat(2 * 1024 * 1024)}});
    let message = server.post("/namespaces", big).await.error(413, "BadRequestException");
    assert_eq!(message, "request body is larger than 1048576 bytes");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_default_limit_is_far_over_axums() {
    let server = Server::start(Setting::Local).await;
    let big = json!({"namespace": ["x"], "properties": {"p": "x".repeat(8 * 1024 * 1024)}});
    server.post("/namespaces", big).await.expect(200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_create_without_its_store_is_to_be_sent_again() {
    let server = Server::start(Setting::Local).await;
    server.namespace().await;
    server.table("t", 2).await;
    // What a dropped table left behind has the server look for its files.
    server.delete("/namespaces/ns/tables/t").await.expect(204);
    let folder = Path::new(server.warehouse.trim_start_matches("file://"));
    let away = folder.with_extension("away");
    fs::rename(folder, &away).unwrap();
    fs::write(folder, "a file where the warehouse was").unwrap();
    let body = json!({"name": "t", "schema": schema()});
    for name in ["t", "new"] {
        let body = json!({"name": name, "schema": schema()});
        let reply = server.post("/namespaces/ns/tables", body).await;
        reply.error(503, "ServiceUnavailableException");
        assert_eq!(reply.headers["retry-after"], "1");
    }
    fs::remove_file(folder).unwrap();
    fs::rename(&away, folder).unwrap();
    server.post("/namespaces/ns/tables", body).await.expect(200);
}
