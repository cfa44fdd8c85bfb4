//! An import that is killed half-way, and done again.

use super::bad_catalogs::serve;
use super::{heir_of, import};
use crate::support::server::{Server, Setting, on_both_servers};
use axum::Router;
use axum::extract::Path;
use axum::routing::get;
use serde_json::json;
use std::collections::HashMap;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

on_both_servers!(what_was_cut_off_goes_on);

const MANY: usize = 12;
const KEPT: usize = 7;

/// A catalog of these tables that says nothing of one of them until it is `told` to.
async fn catalog(tables: HashMap<String, String>, told: Arc<AtomicBool>) -> String {
    let names: Vec<_> = tables.keys().map(|name| json!({"namespace": ["ns"], "name": name})).collect();
    let list = json!({ "identifiers": names }).to_string();
    let load = async move |Path(name): Path<String>| {
        while name == format!("t{KEPT:02}") && !told.load(Ordering::SeqCst) {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
        json!({"metadata-location": tables[&name], "metadata": {}}).to_string()
    };
    serve(
        Router::new()
            .route("/v1/config", get(|| async { "{}" }))
            .route("/v1/namespaces", get(|| async { r#"{"namespaces": [["ns"]]}"# }))
            .route("/v1/namespaces/ns", get(|| async { "{}" }))
            .route("/v1/namespaces/ns/tables", get(|| async { list }))
            .route("/v1/namespaces/ns/tables/{name}", get(load)),
    )
    .await
}

async fn what_was_cut_off_goes_on(source: Server) {
    source.namespace().await;
    let mut tables = HashMap::new();
    for number in 0..MANY {
        let name = format!("t{number:02}");
        let made = source.table(&name, 2).await;
        tables.insert(name, made["metadata-location"].as_str().unwrap().to_owned());
    }
    let told = Arc::<AtomicBool>::default();
    let uri = catalog(tables, Arc::clone(&told)).await;
    let setting = if source.app.config.gcs_endpoint.is_some() { Setting::Production } else { Setting::Local };
    let target = heir_of(&source, setting).await;
    let config = &target.app.config;
    let mut command = Command::new(env!("CARGO_BIN_EXE_guillemot"));
    command.args(["import", "catalog", "--uri", &uri, "--database-url", &config.database_url]);
    command.args(["--allow-prefix", &source.warehouse]);
    if let Some(endpoint) = &config.gcs_endpoint {
        command.args(["--gcs-endpoint", endpoint]);
    }
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    // Each line is there as soon as it is true.
    let lines = BufReader::new(child.stdout.take().unwrap()).lines().take(KEPT + 1);
    assert_eq!(lines.map(|line| line.unwrap()).filter(|line| line.starts_with("imported table")).count(), KEPT);
    child.kill().unwrap();
    child.wait().unwrap();
    let count = async || target.get("/namespaces/ns/tables").await.expect(200)["identifiers"].as_array().unwrap().len();
    assert_eq!(count().await, KEPT);

    told.store(true, Ordering::SeqCst);
    let (new, there) = (MANY - KEPT, KEPT + 1);
    let ran = import(&target, &["catalog", "--uri", &uri]);
    ran.ends(0, &format!("imported {new} tables, 0 views, 0 namespaces; {there} already there; 0 failed"));
    assert_eq!(count().await, MANY);
}
