//! From catalogs that answer what they should not.

use super::import;
use crate::support::idp::Idp;
use crate::support::server::{Server, Setting};
use axum::Router;
use axum::extract::{Path, Query};
use axum::http::StatusCode;
use axum::routing::get;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A catalog that knows its config and its namespaces `good` and `bad`.
async fn catalog() -> Idp {
    let source = Idp::start().await;
    source.answer("/v1/config", 200, &json!({"defaults": {}, "overrides": {"prefix": "p"}}));
    source.answer("/v1/p/namespaces", 200, &json!({"namespaces": [["bad"], ["good"]]}));
    for name in ["bad", "good"] {
        source.answer(&format!("/v1/p/namespaces/{name}"), 200, &json!({"namespace": [name], "properties": null}));
        source.answer(&format!("/v1/p/namespaces/{name}/tables"), 200, &json!({"identifiers": []}));
    }
    source
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_fails_is_told_and_stops_nothing_else() {
    let target = Server::start(Setting::Local).await;
    let source = catalog().await;
    let run = || import(&target, &["catalog", "--uri", &source.url]);
    run().ends(0, "imported 0 tables, 0 views, 2 namespaces; 0 already there; 0 failed");

    let names = ["none", "page", "error", "nowhere", "odd", ""].map(|name| json!({"namespace": ["bad"], "name": name}));
    source.answer("/v1/p/namespaces/bad/tables", 200, &json!({ "identifiers": names }));
    source.answer_text("/v1/p/namespaces/bad/tables/page", 200, "<html>Log in</html>".to_owned());
    let error = json!({"error": {"message": "out of order", "type": "ServerError", "code": 500}});
    source.answer("/v1/p/namespaces/bad/tables/error", 500, &error);
    let metadata = json!({"format-version": 2});
    source.answer("/v1/p/namespaces/bad/tables/nowhere", 200, &json!({ "metadata": metadata }));
    let odd = json!({"metadata-location": "hdfs://x/v1.metadata.json", "metadata": metadata});
    source.answer("/v1/p/namespaces/bad/tables/odd", 200, &odd);
    let ran = run();
    ran.ends(1, "imported 0 tables, 0 views, 0 namespaces; 2 already there; 6 failed");
    for (name, text) in [
        ("none", "/v1/p/namespaces/bad/tables/none?snapshots=refs answers 404: nothing here"),
        ("page", "a page of HTML or XML"),
        ("error", "answers 500: out of order"),
        ("nowhere", "expected metadata-location, found none"),
        ("odd", "hdfs://x/v1.metadata.json is not a valid location"),
    ] {
        let line = ran.line(&format!("failed table bad.{name}: "));
        assert!(line.contains(text), "{line}");
    }
    ran.line("failed table bad.: ");
    ran.line("present namespace good");

    source.answer("/v1/p/namespaces/bad/tables", 403, &json!("no"));
    let denied = run();
    denied.ends(1, "imported 0 tables, 0 views, 0 namespaces; 2 already there; 1 failed");
    denied.line("failed tables of bad: ");
    source.answer("/v1/p/namespaces/bad", 500, &json!("no"));
    let broken = run();
    broken.ends(1, "imported 0 tables, 0 views, 0 namespaces; 1 already there; 1 failed");
    assert!(broken.line("failed namespace bad: ").ends_with("nothing in it is imported"), "{}", broken.out);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_catalog_that_is_none_is_told_from_one_that_says_no() {
    let target = Server::start(Setting::Local).await;
    let source = Idp::start().await;
    let nothing = "imported 0 tables, 0 views, 0 namespaces; 0 already there; 1 failed";
    for (status, body, expected) in [
        (200, "<html>", "a page of HTML or XML"),
        (200, "3", "what is not in the REST specification"),
        (401, "who?", "/v1/config answers 401: who?"),
        (404, "\u{1b}[2J", "/v1/config answers 404: \\u{1b}[2J"),
        (500, "", "/v1/config answers 500"),
    ] {
        source.answer_text("/v1/config", status, body.to_owned());
        let ran = import(&target, &["catalog", "--uri", &source.url]);
        ran.ends(1, nothing);
        assert!(ran.line("failed import: ").contains(expected), "{}", ran.out);
    }
    let away = source.stop().await;
    let ran = import(&target, &["catalog", "--uri", &format!("http://{away}")]);
    ran.ends(1, nothing);
    assert!(ran.line("failed import: ").contains("cannot be reached"), "{}", ran.out);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_catalog_is_sent_is_sent_on_to_nobody() {
    let target = Server::start(Setting::Local).await;
    let other = Idp::start().await;
    let place = format!("{}/v1/config", other.url);
    let elsewhere = get(move || async move { axum::response::Redirect::temporary(&place) });
    let source = serve(Router::new().route("/v1/config", elsewhere)).await;
    let ran = import(&target, &["catalog", "--uri", &source, "--header", "x-api-key=for-the-source-alone"]);
    ran.ends(1, "imported 0 tables, 0 views, 0 namespaces; 0 already there; 1 failed");
    assert!(ran.line("failed import: ").contains("/v1/config answers 307"), "{}", ran.out);
    assert!(other.asked("/v1/config").is_empty());
}

/// Serves a router on a free port; its address.
pub(super) async fn serve(router: Router) -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    address
}

static PAGES: AtomicUsize = AtomicUsize::new(0);

/// Namespaces `n0` to `n9`, two a page; tables without end; and the same namespaces under every parent.
async fn namespaces(Query(query): Query<HashMap<String, String>>) -> String {
    let at: usize = query.get("pageToken").filter(|token| !token.is_empty()).map_or(0, |token| token.parse().unwrap());
    let next = (at < 4).then(|| (at + 1).to_string());
    let names = [[format!("n{}", 2 * at)], [format!("n{}", 2 * at + 1)]];
    json!({ "namespaces": names, "next-page-token": next }).to_string()
}

async fn tables(Path(namespace): Path<String>) -> Result<String, StatusCode> {
    if namespace != "n3" {
        return Ok(json!({"identifiers": [], "next-page-token": null}).to_string());
    }
    let page = PAGES.fetch_add(1, Ordering::SeqCst);
    Ok(json!({"identifiers": [], "next-page-token": format!("page-{page}")}).to_string())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pages_are_followed_and_lists_without_end_are_left() {
    let target = Server::start(Setting::Local).await;
    let answer = |value: Value| move || async move { value.to_string() };
    let address = serve(
        Router::new()
            .route("/v1/config", get(answer(json!({"defaults": {}, "overrides": {}}))))
            .route("/v1/namespaces", get(namespaces))
            .route("/v1/namespaces/{namespace}", get(answer(json!({"properties": {}}))))
            .route("/v1/namespaces/{namespace}/tables", get(tables)),
    )
    .await;
    let ran = import(&target, &["catalog", "--uri", &address]);
    ran.ends(1, "imported 0 tables, 0 views, 10 namespaces; 0 already there; 1 failed");
    assert!(ran.line("failed tables of n3: ").contains("a list that does not end"), "{}", ran.out);
    assert!(PAGES.load(Ordering::SeqCst) < 100);
}
