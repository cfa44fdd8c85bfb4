//! From a catalog that has no end of namespaces.

use super::bad_catalogs::serve;
use super::import;
use crate::support::server::{Server, Setting};
use axum::Router;
use axum::extract::Query;
use axum::routing::get;
use serde_json::json;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A catalog in which every namespace holds `many` more.
async fn tree(many: usize, asked: Arc<AtomicUsize>) -> String {
    let namespaces = async move |Query(query): Query<HashMap<String, String>>| {
        asked.fetch_add(1, Ordering::SeqCst);
        let parent = query.get("parent").map_or_else(Vec::new, |parent| parent.split('\u{1f}').collect());
        let names = (0..many).map(|number| {
            let mut levels: Vec<String> = parent.iter().map(ToString::to_string).collect();
            levels.push(format!("n{number}"));
            levels
        });
        json!({ "namespaces": names.collect::<Vec<_>>() }).to_string()
    };
    let endpoints = r#"{"endpoints": ["GET /v1/{prefix}/namespaces"]}"#;
    serve(
        Router::new()
            .route("/v1/config", get(move || async move { endpoints }))
            .route("/v1/namespaces", get(namespaces))
            .route("/v1/namespaces/{namespace}", get(|| async { r#"{"properties": {}}"# }))
            .route("/v1/namespaces/{namespace}/tables", get(|| async { r#"{"identifiers": []}"# })),
    )
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn namespaces_without_end_are_left() {
    let target = Server::start(Setting::Local).await;
    let asked = Arc::<AtomicUsize>::default();
    let wide = tree(5000, Arc::clone(&asked)).await;
    let ran = import(&target, &["catalog", "--uri", &wide]);
    assert_eq!(ran.code, 1);
    let line = ran.line("failed import: ");
    assert!(line.contains("expected at most 100000 namespaces, found more"), "{line}");
    assert!(asked.load(Ordering::SeqCst) < 30, "{asked:?}");

    let deep = tree(1, Arc::default()).await;
    let ran = import(&target, &["catalog", "--uri", &deep]);
    ran.ends(1, "imported 0 tables, 0 views, 44 namespaces; 20 already there; 1 failed");
    assert!(ran.line("failed namespace n0.").contains("more than 64 levels"), "{}", ran.out);
}
