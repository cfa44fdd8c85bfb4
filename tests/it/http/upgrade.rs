//! Whether a table is ready for a newer format version.

use crate::support::server::{Reply, Server, on_both_servers};
use reqwest::Method;
use serde_json::{Value, json};

on_both_servers!(
    a_table_that_nobody_uses_is_ready,
    engines_that_were_seen_count,
    the_policy_of_the_warehouse_counts,
    there_are_only_so_many_versions,
);

async fn ask(server: &Server, table: &str, query: &str) -> Reply {
    let path = format!("/management/v1/warehouses/lake/namespaces/ns/tables/{table}/upgrade-check{query}");
    server.send(Method::GET, &path, None, &[]).await
}

async fn a_table_that_nobody_uses_is_ready(server: Server) {
    server.namespace().await;
    server.table("t", 2).await;
    let found = ask(&server, "t", "").await.expect(200);
    assert_eq!((&found["verdict"], &found["format-version"], &found["to"]), (&json!("ready"), &json!(2), &json!(3)));
    assert_eq!((&found["engines"], &found["counts"]), (&json!([]), &Value::Null));
    server.table("one", 1).await;
    assert_eq!(ask(&server, "one", "?to=2").await.expect(200)["verdict"], "ready");
    ask(&server, "none", "").await.error(404, "NoSuchTableException");
}

async fn engines_that_were_seen_count(server: Server) {
    server.namespace().await;
    server.table("t", 2).await;
    let spark = [
        ("x-client-version", "Apache Iceberg 1.10.2 (commit 57396d6)"),
        ("user-agent", "Apache-HttpClient/5.5 (Java/17.0.15)"),
    ];
    let path = "/iceberg/v1/namespaces/ns/tables/t";
    server.send(Method::GET, path, None, &spark).await.expect(200);
    let found = ask(&server, "t", "?to=3").await.expect(200);
    assert_eq!(found["verdict"], "ready", "{found}");
    let engine = &found["engines"][0];
    assert_eq!(engine["agent"], "Apache Iceberg 1.10.2 (commit 57396d6), Apache-HttpClient/5.5 (Java/17.0.15)");
    assert_eq!(
        (&engine["name"], &engine["version"], &engine["reads"], &engine["writes"]),
        (&json!("Apache Iceberg (Java)"), &json!("1.10.2"), &json!("yes"), &json!("yes"))
    );
    assert!(engine["last-read-ms"].as_i64() > Some(0));
    assert_eq!(engine["last-wrote-ms"], 0);

    let set = json!({"requirements": [], "updates": [{"action": "set-properties", "updates": {"a": "1"}}]});
    server.send(Method::POST, path, Some(set), &[("user-agent", "PyIceberg/0.12.0")]).await.expect(200);
    let found = ask(&server, "t", "?to=3").await.expect(200);
    assert_eq!(found["verdict"], "not-ready");
    let hindrance = found["hindrances"][0].as_str().unwrap();
    assert!(hindrance.starts_with("PyIceberg 0.12.0 writes to the table and cannot write"), "{hindrance}");
    assert_eq!(found["engines"].as_array().unwrap().len(), 2);
    // They go with the table.
    server.delete("/namespaces/ns/tables/t").await.expect(204);
    server.table("t", 2).await;
    assert_eq!(ask(&server, "t", "").await.expect(200)["engines"], json!([]));
}

async fn the_policy_of_the_warehouse_counts(server: Server) {
    server.namespace().await;
    server.table("t", 2).await;
    let body = json!({"settings": {"allowed-format-versions": [1, 2]}});
    server.send(Method::PATCH, "/management/v1/warehouses/lake", Some(body), &[]).await.expect(200);
    let found = ask(&server, "t", "").await.expect(200);
    assert_eq!(found["verdict"], "not-ready");
    assert!(found["hindrances"][0].as_str().unwrap().contains("allowed-format-versions"), "{found}");
}

async fn there_are_only_so_many_versions(server: Server) {
    server.namespace().await;
    server.table("t", 3).await;
    for wrong in ["?to=1", "?to=4", "?to=x"] {
        ask(&server, "t", wrong).await.error(400, "BadRequestException");
    }
    let found = ask(&server, "t", "?to=3").await.expect(200);
    assert_eq!(found["remarks"][0], "the table has format version 3 already");
}
