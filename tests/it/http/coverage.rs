//! What `/v1/config` advertises is what is served, and nothing else.

use crate::support::server::{Server, Setting};
use serde_json::Value;
use std::collections::BTreeSet;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn advertised_and_served_are_the_same() {
    let server = Server::start(Setting::Local).await;
    let config = server.get("/config").await.expect(200);
    let advertised: BTreeSet<String> =
        config["endpoints"].as_array().unwrap().iter().map(|e| e.as_str().unwrap().to_owned()).collect();
    let mut in_document = documented(&serde_json::from_str(&guillemot::api::openapi_json()).unwrap());
    // Answers 501 and says why: a client that knows no better calls it unasked.
    assert!(in_document.remove("POST /v1/oauth/tokens"));
    // Advertised in warehouses that sign.
    assert!(in_document.remove("POST /v1/{prefix}/namespaces/{namespace}/tables/{table}/sign"));
    assert_eq!(advertised, in_document);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_advertised_endpoint_answers_as_the_catalog() {
    let server = Server::start(Setting::Local).await;
    let config = server.get("/config").await.expect(200);
    for endpoint in config["endpoints"].as_array().unwrap() {
        let (method, path) = endpoint.as_str().unwrap().split_once(' ').unwrap();
        let path = path
            .replace("{prefix}", "lake")
            .replace("{namespace}", "none")
            .replace("{table}", "none")
            .replace("{view}", "none")
            .replace("{function}", "none")
            .replace("{plan-id}", "none");
        let method: reqwest::Method = method.parse().unwrap();
        let reply = server.send(method.clone(), &format!("/iceberg{path}"), None, &[]).await;
        assert!(!reply.text.contains("no route for"), "{endpoint}: {}", reply.text);
        let status = reply.status.as_u16();
        assert!(status != 405 && status < 500, "{endpoint}: {} {}", reply.status, reply.text);
    }
}

/// The catalog's operations in our OpenAPI document, written as in `/v1/config`.
fn documented(openapi: &Value) -> BTreeSet<String> {
    let mut operations = BTreeSet::new();
    for (path, methods) in openapi["paths"].as_object().unwrap() {
        let Some(path) = path.strip_prefix("/iceberg") else { continue };
        for method in methods.as_object().unwrap().keys() {
            operations.insert(format!("{} {path}", method.to_uppercase()));
        }
    }
    operations
}
