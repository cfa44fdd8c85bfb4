//! Requests with an `Idempotency-Key`: done once, answered the same ever after.

use crate::support::server::{Reply, Server, Setting, on_both_servers, on_both_with_still_clocks, schema};
use reqwest::Method;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io::Write;
use std::net::TcpStream;

on_both_servers!(
    every_change_is_made_once_and_answered_the_same,
    what_is_no_key_is_refused_and_nothing_is_run,
    a_key_belongs_to_one_request,
    refusals_are_kept,
    requests_at_once_change_once,
    servers_at_once_change_once,
    a_client_that_hangs_up_finds_its_answer,
    an_answer_outlives_its_metadata_file,
    a_commit_of_nothing_is_kept_too,
    without_a_key_nothing_is_asked,
);

on_both_with_still_clocks!(a_key_means_nothing_after_its_time);

/// A key that nobody had before.
fn key() -> String {
    let random = guillemot::clock::Ids::Random.uuid();
    format!("0190a5b4-6e2f-7{}", &random[15..])
}

async fn send(server: &Server, key: &str, method: Method, path: &str, body: Option<&Value>) -> Reply {
    server.send(method, &format!("/iceberg/v1{path}"), body.cloned(), &[("Idempotency-Key", key)]).await
}

/// Sends a request twice with one key, and demands the same answer; answers it.
async fn twice(server: &Server, method: Method, path: &str, body: Option<Value>) -> Reply {
    let key = key();
    let first = send(server, &key, method.clone(), path, body.as_ref()).await;
    assert!(first.status.is_success(), "{path}: {} {}", first.status, first.text);
    let second = send(server, &key, method, path, body.as_ref()).await;
    assert_eq!((first.status, &first.text), (second.status, &second.text), "{path}");
    for header in ["etag", "content-type"] {
        assert_eq!(first.headers.get(header), second.headers.get(header), "{path}: {header}");
    }
    first
}

fn set(key: &str, value: &str) -> Value {
    json!({"requirements": [], "updates": [{"action": "set-properties", "updates": {key: value}}]})
}

fn rename(from: &str, to: &str) -> Value {
    json!({"source": {"namespace": ["ns"], "name": from}, "destination": {"namespace": ["ns"], "name": to}})
}

fn view(name: &str) -> Value {
    json!({"name": name, "schema": schema(), "properties": {}, "view-version": {
        "version-id": 1, "timestamp-ms": 1_700_000_000_000_i64, "schema-id": 0, "summary": {},
        "default-namespace": ["ns"], "representations": [{"type": "sql", "sql": "SELECT 1", "dialect": "spark"}]}})
}

async fn every_change_is_made_once_and_answered_the_same(server: Server) {
    let (post, delete) = (Method::POST, Method::DELETE);
    let made = |name: &str| json!({"name": name, "schema": schema()});
    twice(&server, post.clone(), "/namespaces", Some(json!({"namespace": ["ns"]}))).await;
    let properties = json!({"updates": {"a": "1"}, "removals": ["b"]});
    twice(&server, post.clone(), "/namespaces/ns/properties", Some(properties)).await;
    twice(&server, post.clone(), "/namespaces/ns/tables", Some(made("t"))).await;
    let staged = json!({"name": "staged", "schema": schema(), "stage-create": true});
    twice(&server, post.clone(), "/namespaces/ns/tables", Some(staged)).await;
    let committed = twice(&server, post.clone(), "/namespaces/ns/tables/t", Some(set("a", "1"))).await;
    assert_eq!(committed.json()["metadata"]["metadata-log"].as_array().unwrap().len(), 1);
    let change = json!({"identifier": {"namespace": ["ns"], "name": "t"}, "requirements": [],
        "updates": set("a", "2")["updates"]});
    twice(&server, post.clone(), "/transactions/commit", Some(json!({"table-changes": [change]}))).await;
    let now = server.get("/namespaces/ns/tables/t").await.expect(200);
    assert_eq!(now["metadata"]["metadata-log"].as_array().unwrap().len(), 2);
    twice(&server, post.clone(), "/tables/rename", Some(rename("t", "u"))).await;
    twice(&server, post.clone(), "/namespaces/ns/tables/u/unregister", None).await;
    let register = json!({"name": "r", "metadata-location": now["metadata-location"]});
    twice(&server, post.clone(), "/namespaces/ns/register", Some(register)).await;
    twice(&server, delete.clone(), "/namespaces/ns/tables/r?purgeRequested=false", None).await;
    let created = twice(&server, post.clone(), "/namespaces/ns/views", Some(view("v"))).await.json();
    let replace = json!({"requirements": [], "updates": set("a", "1")["updates"]});
    twice(&server, post.clone(), "/namespaces/ns/views/v", Some(replace)).await;
    twice(&server, post.clone(), "/views/rename", Some(rename("v", "w"))).await;
    let register = json!({"name": "x", "metadata-location": created["metadata-location"]});
    twice(&server, delete.clone(), "/namespaces/ns/views/w", None).await;
    twice(&server, post.clone(), "/namespaces/ns/register-view", Some(register)).await;
    twice(&server, delete.clone(), "/namespaces/ns/views/x", None).await;
    twice(&server, delete, "/namespaces/ns", None).await;
    server.get("/namespaces/ns").await.error(404, "NoSuchNamespaceException");
}

/// The operations that say they take the header are those that the case above sends.
#[test]
fn every_operation_that_takes_a_key_is_tested() {
    let document: Value = serde_json::from_str(&guillemot::api::openapi_json()).unwrap();
    let mut operations = BTreeSet::new();
    for item in
        document["paths"].as_object().unwrap().values().flat_map(|methods| methods.as_object().unwrap().values())
    {
        let parameters = item["parameters"].as_array().cloned().unwrap_or_default();
        if parameters.iter().any(|parameter| parameter["name"] == "Idempotency-Key") {
            operations.insert(item["operationId"].as_str().unwrap().to_owned());
        }
    }
    let sent = [
        "commitTransaction",
        "createNamespace",
        "createTable",
        "createView",
        "dropNamespace",
        "dropTable",
        "dropView",
        "registerTable",
        "registerView",
        "renameTable",
        "renameView",
        "replaceView",
        "unregisterTable",
        "updateProperties",
        "updateTable",
    ];
    assert_eq!(operations, sent.map(str::to_owned).into());
}

async fn what_is_no_key_is_refused_and_nothing_is_run(server: Server) {
    server.namespace().await;
    let body = json!({"name": "t", "schema": schema()});
    for bad in ["", "x", &"0".repeat(36), &"z".repeat(5000), "9f2c4d1e-8a4b-4c3d-9e2f-1a2b3c4d5e6f"] {
        let reply = send(&server, bad, Method::POST, "/namespaces/ns/tables", Some(&body)).await;
        let message = reply.error(400, "BadRequestException");
        assert!(message.contains("Idempotency-Key"), "{message}");
    }
    server.get("/namespaces/ns/tables/t").await.error(404, "NoSuchTableException");
}

async fn a_key_belongs_to_one_request(server: Server) {
    server.namespace().await;
    let (creating, dropping) = (key(), key());
    let body = json!({"name": "t", "schema": schema()});
    let made = send(&server, &creating, Method::POST, "/namespaces/ns/tables", Some(&body)).await.expect(200);
    let others = [
        (Method::POST, "/namespaces/ns/tables", Some(json!({"name": "u", "schema": schema()}))),
        (Method::POST, "/namespaces/ns/tables/t", Some(set("a", "1"))),
        (Method::DELETE, "/namespaces/ns/tables/t", None),
        (Method::DELETE, "/namespaces/ns", None),
        (Method::POST, "/tables/rename", Some(rename("t", "u"))),
    ];
    for (method, path, body) in others {
        send(&server, &creating, method, path, body.as_ref()).await.error(400, "BadRequestException");
    }
    server.table("gone", 2).await;
    send(&server, &dropping, Method::DELETE, "/namespaces/ns/tables/gone", None).await.expect(204);
    let purging = "/namespaces/ns/tables/gone?purgeRequested=true";
    send(&server, &dropping, Method::DELETE, purging, None).await.error(400, "BadRequestException");
    assert_eq!(server.get("/namespaces/ns/tables/t").await.expect(200), made);
    assert_eq!(send(&server, &creating, Method::POST, "/namespaces/ns/tables", Some(&body)).await.expect(200), made);
    assert_eq!(server.get("/namespaces/ns/tables").await.expect(200)["identifiers"].as_array().unwrap().len(), 1);
}

async fn refusals_are_kept(server: Server) {
    let (missing, taken, wrong) = (key(), key(), key());
    let body = json!({"name": "t", "schema": schema()});
    let tables = "/namespaces/ns/tables";
    let refused = send(&server, &missing, Method::POST, tables, Some(&body)).await;
    refused.error(404, "NoSuchNamespaceException");
    server.namespace().await;
    server.table("t", 2).await;
    // It would succeed now. But it was answered.
    assert_eq!(send(&server, &missing, Method::POST, tables, Some(&body)).await.text, refused.text);
    let conflict = send(&server, &taken, Method::POST, tables, Some(&body)).await;
    conflict.error(409, "AlreadyExistsException");
    let bad = json!({"requirements": [], "updates": [{"action": "invent"}]});
    let invalid = send(&server, &wrong, Method::POST, "/namespaces/ns/tables/t", Some(&bad)).await;
    invalid.error(400, "BadRequestException");
    server.delete("/namespaces/ns/tables/t").await.expect(204);
    let again = send(&server, &taken, Method::POST, tables, Some(&body)).await;
    assert_eq!((again.status.as_u16(), &again.text), (409, &conflict.text));
    let again = send(&server, &wrong, Method::POST, "/namespaces/ns/tables/t", Some(&bad)).await;
    assert_eq!((again.status.as_u16(), &again.text), (400, &invalid.text));
    // A new key is a new try.
    send(&server, &key(), Method::POST, tables, Some(&body)).await.expect(200);
}

async fn requests_at_once_change_once(server: Server) {
    server.namespace().await;
    server.table("t", 2).await;
    let key = key();
    let body = set("a", "1");
    let all = (0..8).map(|_| send(&server, &key, Method::POST, "/namespaces/ns/tables/t", Some(&body)));
    let replies = futures::future::join_all(all).await;
    for reply in &replies {
        assert_eq!((reply.status.as_u16(), &reply.text), (200, &replies[0].text));
    }
    let metadata = server.get("/namespaces/ns/tables/t").await.expect(200);
    assert_eq!(metadata["metadata"]["metadata-log"].as_array().unwrap().len(), 1);
}

async fn servers_at_once_change_once(server: Server) {
    server.namespace().await;
    server.table("t", 2).await;
    let other = server.beside().await;
    let servers = [server, other];
    for round in 0..5 {
        let (commit_key, create_key, body) = (key(), key(), set("round", &round.to_string()));
        let create = json!({"name": format!("t{round}"), "schema": schema()});
        let commits =
            (0..4).map(|i| send(&servers[i % 2], &commit_key, Method::POST, "/namespaces/ns/tables/t", Some(&body)));
        let creates =
            (0..4).map(|i| send(&servers[i % 2], &create_key, Method::POST, "/namespaces/ns/tables", Some(&create)));
        let (commits, creates) =
            futures::future::join(futures::future::join_all(commits), futures::future::join_all(creates)).await;
        for replies in [commits, creates] {
            for reply in &replies {
                assert_eq!((reply.status.as_u16(), &reply.text), (200, &replies[0].text));
            }
        }
        let metadata = servers[0].get("/namespaces/ns/tables/t").await.expect(200);
        assert_eq!(metadata["metadata"]["metadata-log"].as_array().unwrap().len(), round + 1);
    }
}

async fn a_client_that_hangs_up_finds_its_answer(server: Server) {
    server.namespace().await;
    server.table("t", 2).await;
    for round in 0..5 {
        let (key, body) = (key(), set("round", &round.to_string()).to_string());
        let request = format!(
            "POST /iceberg/v1/namespaces/ns/tables/t HTTP/1.1\r\nHost: x\r\nIdempotency-Key: {key}\r\n\
             Content-Length: {}\r\n\r\n{body}",
            body.len()
        );
        let mut socket = TcpStream::connect(server.base.trim_start_matches("http://")).unwrap();
        socket.write_all(request.as_bytes()).unwrap();
        drop(socket);
        let body = set("round", &round.to_string());
        let reply = send(&server, &key, Method::POST, "/namespaces/ns/tables/t", Some(&body)).await.expect(200);
        assert_eq!(reply["metadata"]["properties"]["round"], round.to_string());
        let metadata = server.get("/namespaces/ns/tables/t").await.expect(200);
        assert_eq!(metadata["metadata"]["metadata-log"].as_array().unwrap().len(), round + 1);
    }
}

async fn an_answer_outlives_its_metadata_file(server: Server) {
    server.namespace().await;
    let (key, body) = (key(), json!({"name": "t", "schema": schema()}));
    let made = send(&server, &key, Method::POST, "/namespaces/ns/tables", Some(&body)).await.expect(200);
    server.post("/tables/rename", rename("t", "u")).await.expect(204);
    let newer = server.post("/namespaces/ns/tables/u", set("a", "1")).await.expect(200);
    assert_eq!(send(&server, &key, Method::POST, "/namespaces/ns/tables", Some(&body)).await.expect(200), made);
    server.app.storage.delete(made["metadata-location"].as_str().unwrap()).await.unwrap();
    server.forget_files().await;
    let again = send(&server, &key, Method::POST, "/namespaces/ns/tables", Some(&body)).await.expect(200);
    assert_eq!(again, newer, "the table as it is now");
}

async fn a_commit_of_nothing_is_kept_too(server: Server) {
    server.namespace().await;
    let made = server.table("t", 2).await;
    let (key, body) = (key(), json!({"requirements": [], "updates": []}));
    let path = "/namespaces/ns/tables/t";
    let same = send(&server, &key, Method::POST, path, Some(&body)).await.expect(200);
    assert_eq!(same["metadata-location"], made["metadata-location"]);
    server.post(path, set("a", "1")).await.expect(200);
    assert_eq!(send(&server, &key, Method::POST, path, Some(&body)).await.expect(200), same);
}

async fn without_a_key_nothing_is_asked(server: Server) {
    forbid_keys(&server.app.config.database_url).await;
    server.namespace().await;
    server.table("t", 2).await;
    server.post("/namespaces/ns/tables/t", set("a", "1")).await.expect(200);
    server
        .post("/namespaces/ns/tables/t", json!({"updates": [{"action": "x"}]}))
        .await
        .error(400, "BadRequestException");
    server.delete("/namespaces/ns/tables/t").await.expect(204);
    let body = json!({"namespace": ["x"]});
    send(&server, &key(), Method::POST, "/namespaces", Some(&body)).await.error(503, "ServiceUnavailableException");
}

/// Takes the table of keys away: whoever asks it fails.
async fn forbid_keys(database_url: &str) {
    use sqlx::{ConnectOptions, Executor};
    sqlx::any::install_default_drivers();
    let options: sqlx::any::AnyConnectOptions = database_url.parse().unwrap();
    options.connect().await.unwrap().execute("DROP TABLE idempotency_keys").await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_may_go_better_later_is_not_kept() {
    let server = Server::start(Setting::Local).await;
    server.namespace().await;
    let (key, body) = (key(), json!({"name": "t", "schema": schema()}));
    // A file where the namespace's folder is due: storage fails.
    let place = server.warehouse.trim_start_matches("file://").to_owned();
    std::fs::create_dir_all(&place).unwrap();
    std::fs::write(format!("{place}/ns"), "x").unwrap();
    let path = "/namespaces/ns/tables";
    send(&server, &key, Method::POST, path, Some(&body)).await.error(503, "ServiceUnavailableException");
    std::fs::remove_file(format!("{place}/ns")).unwrap();
    send(&server, &key, Method::POST, path, Some(&body)).await.expect(200);
}

async fn a_key_means_nothing_after_its_time(server: Server) {
    let config = server.get("/config").await.expect(200);
    assert_eq!(config["idempotency-key-lifetime"], "PT30M");
    let (key, body) = (key(), json!({"namespace": ["ns"]}));
    send(&server, &key, Method::POST, "/namespaces", Some(&body)).await.expect(200);
    server.pass(29 * 60);
    send(&server, &key, Method::POST, "/namespaces", Some(&body)).await.expect(200);
    server.pass(2 * 60);
    // Not swept yet, and still as good as new.
    send(&server, &key, Method::POST, "/namespaces", Some(&body)).await.error(409, "AlreadyExistsException");
    server.pass(31 * 60);
    server.work_off().await;
    server.delete("/namespaces/ns").await.expect(204);
    send(&server, &key, Method::POST, "/namespaces", Some(&json!({"namespace": ["other"]}))).await.expect(200);
}
