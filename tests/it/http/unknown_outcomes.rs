//! The connection to the database is lost around COMMIT: what the client is told, what is true, and what is left over.

use crate::support::postgres::Database;
use crate::support::proxy::Proxy;
use crate::support::server::{Reply, Server, Setting};
use reqwest::Method;
use serde_json::{Value, json};

/// A commit sends two: one that notes its metadata file, and the swap.
const NOTE: i64 = 1;
const SWAP: i64 = 2;

const TABLE: &str = "/namespaces/ns/tables/t";

/// A server with a still clock and a table, and the way to its database.
async fn start() -> (Server, Proxy, Database) {
    let database = Database::create().await;
    let proxy = Proxy::before(database.url()).await;
    let url = proxy.url().to_owned();
    let server = Server::start_still_with(Setting::Production, |settings| settings.database_url = Some(url)).await;
    server.namespace().await;
    server.table("t", 2).await;
    (server, proxy, database)
}

fn body() -> Value {
    json!({"requirements": [], "updates": [{"action": "set-properties", "updates": {"a": "1"}}]})
}

async fn commit(server: &Server, key: Option<&str>) -> Reply {
    let headers: Vec<_> = key.map(|key| ("Idempotency-Key", key)).into_iter().collect();
    server.send(Method::POST, &format!("/iceberg/v1{TABLE}"), Some(body()), &headers).await
}

/// How often the property was set.
async fn commits(server: &Server) -> usize {
    server.get(TABLE).await.expect(200)["metadata"]["metadata-log"].as_array().unwrap().len()
}

/// The metadata files in storage.
async fn files(server: &Server) -> usize {
    let location = server.get(TABLE).await.json()["metadata"]["location"].as_str().unwrap().to_owned();
    server.objects(&format!("{location}/metadata")).await.len()
}

const KEY: &str = "0190a5b4-6e2f-7c11-8e3a-5d0c9b1f2a34";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_commit_whose_answer_is_lost_is_found_under_its_key() {
    let (server, proxy, _database) = start().await;
    proxy.cut(SWAP, true);
    let reply = commit(&server, Some(KEY)).await;
    assert_eq!(reply.expect(200)["metadata"]["properties"]["a"], "1");
    assert_eq!(commit(&server, Some(KEY)).await.text, reply.text);
    assert_eq!((commits(&server).await, files(&server).await), (1, 2));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_commit_that_did_not_arrive_is_made_when_its_key_comes_again() {
    let (server, proxy, _database) = start().await;
    proxy.cut(SWAP, false);
    commit(&server, Some(KEY)).await.error(500, "CommitStateUnknownException");
    assert_eq!(commits(&server).await, 0);
    commit(&server, Some(KEY)).await.expect(200);
    commit(&server, Some(KEY)).await.expect(200);
    assert_eq!((commits(&server).await, files(&server).await), (1, 3), "the file in doubt is still there");
    server.pass(2 * 3600);
    server.work_off().await;
    assert_eq!((commits(&server).await, files(&server).await), (1, 2), "the sweep knows what it was");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_key_the_outcome_stays_unknown_and_no_file_is_lost() {
    let (server, proxy, _database) = start().await;
    proxy.cut(SWAP, true);
    let reply = commit(&server, None).await;
    reply.error(500, "CommitStateUnknownException");
    assert_eq!(reply.headers.get("retry-after"), None);
    server.pass(2 * 3600);
    server.work_off().await;
    server.forget_files().await;
    assert_eq!((commits(&server).await, files(&server).await), (1, 2));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_lost_before_anything_happened_is_no_doubt() {
    let (server, proxy, _database) = start().await;
    for delivered in [false, true] {
        proxy.cut(NOTE, delivered);
        let reply = commit(&server, Some(KEY)).await;
        reply.error(503, "ServiceUnavailableException");
        assert!(reply.headers.contains_key("retry-after"));
        assert_eq!((commits(&server).await, files(&server).await), (0, 1));
    }
    commit(&server, Some(KEY)).await.expect(200);
    assert_eq!(commits(&server).await, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_change_is_found_under_its_key() {
    let (server, proxy, _database) = start().await;
    let cases = [
        (Method::POST, "/namespaces", Some(json!({"namespace": ["x"]})), 1, 200),
        (Method::POST, "/namespaces/x/properties", Some(json!({"updates": {"a": "b"}})), 1, 200),
        (Method::DELETE, "/namespaces/x", None, 1, 204),
        (Method::DELETE, "/namespaces/ns/tables/t?purgeRequested=true", None, 1, 204),
    ];
    for (i, (method, path, body, nth, status)) in cases.into_iter().enumerate() {
        let key = format!("0190a5b4-6e2f-7c11-8e3a-00000000000{i}");
        proxy.cut(nth, true);
        let path = format!("/iceberg/v1{path}");
        let reply = server.send(method.clone(), &path, body.clone(), &[("Idempotency-Key", &key)]).await;
        assert_eq!(reply.status.as_u16(), status, "{path}: {}", reply.text);
        let again = server.send(method, &path, body, &[("Idempotency-Key", &key)]).await;
        assert_eq!((again.status, again.text), (reply.status, reply.text));
    }
}
