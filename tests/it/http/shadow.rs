//! Rules that warn, rules that are only logged, and tables that are checked when they are registered.

use crate::support::server::{Server, Setting, on_both_servers};
use guillemot::config::{RegisterCheck, RulesMode};
use reqwest::Method;
use serde_json::{Value, json};

on_both_servers!(
    warnings_of_commits_can_be_read,
    a_warehouse_may_only_log_what_it_would_refuse,
    a_broken_table_is_registered_with_warnings_or_refused,
    warnings_are_paged,
);

async fn settle(server: &Server, settings: Value) {
    let body = json!({"settings": settings});
    server.send(Method::PATCH, "/management/v1/warehouses/lake", Some(body), &[]).await.expect(200);
}

async fn warnings(server: &Server, query: &str) -> Value {
    let path = format!("/management/v1/warehouses/lake/warnings{query}");
    server.send(Method::GET, &path, None, &[]).await.expect(200)
}

/// A commit whose manifest list is not there.
fn broken(table: &Value, id: i64) -> Value {
    let metadata = &table["metadata"];
    let location = metadata["location"].as_str().unwrap();
    let snapshot = json!({
        "snapshot-id": id, "sequence-number": id, "timestamp-ms": metadata["last-updated-ms"], "schema-id": 0,
        "first-row-id": 0, "added-rows": 0, "summary": {"operation": "append"},
        "manifest-list": format!("{location}/metadata/none-{id}.avro")
    });
    let set = json!({"action": "set-snapshot-ref", "ref-name": "main", "type": "branch", "snapshot-id": id});
    json!({"requirements": [], "updates": [{"action": "add-snapshot", "snapshot": snapshot}, set]})
}

async fn warnings_of_commits_can_be_read(server: Server) {
    server.namespace().await;
    let table = server.table("t", 3).await;
    assert_eq!(warnings(&server, "").await, json!({"warnings": []}));
    server.post("/namespaces/ns/tables/t", broken(&table, 1)).await.error(400, "BadRequestException");
    assert_eq!(warnings(&server, "").await, json!({"warnings": []}), "what is refused is no warning");
    settle(&server, json!({"rules": {"manifest-list-missing": "warn"}})).await;
    server.post("/namespaces/ns/tables/t", broken(&table, 1)).await.expect(200);
    let found = warnings(&server, "").await;
    let warning = &found["warnings"][0];
    assert_eq!(warning["table"], json!({"namespace": ["ns"], "name": "t"}));
    assert_eq!(
        (&warning["action"], &warning["rule"], &warning["would-refuse"]),
        (&json!("commit"), &json!("manifest-list-missing"), &json!(false))
    );
    assert!(warning["object"].as_str().unwrap().ends_with("/none-1.avro"), "{warning}");
    assert!(warning["message"].as_str().unwrap().contains("none-1.avro") && warning["time-ms"].as_i64() > Some(0));
}

async fn a_warehouse_may_only_log_what_it_would_refuse(server: Server) {
    server.namespace().await;
    let table = server.table("t", 3).await;
    settle(&server, json!({"rules-mode": "log-only"})).await;
    let done = server.post("/namespaces/ns/tables/t", broken(&table, 1)).await.expect(200);
    assert_eq!(done["metadata"]["current-snapshot-id"], 1);
    let found = warnings(&server, "").await;
    assert_eq!(found["warnings"][0]["rule"], "manifest-list-missing");
    assert_eq!(found["warnings"][0]["would-refuse"], true);
    // What is wrong in the request itself is refused as ever.
    let stale = json!({"requirements": [{"type": "assert-ref-snapshot-id", "ref": "main", "snapshot-id": 7}],
        "updates": []});
    server.post("/namespaces/ns/tables/t", stale).await.error(409, "CommitFailedException");
    settle(&server, json!({"rules-mode": "enforce"})).await;
    let reply = server.post("/namespaces/ns/tables/t", broken(&table, 2)).await;
    assert_eq!(reply.expect(400)["error"]["violations"][0]["rule"], "manifest-list-missing");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_may_only_log_what_it_would_refuse() {
    let server = Server::start_with(Setting::Local, |settings| settings.rules_mode = Some(RulesMode::LogOnly)).await;
    server.namespace().await;
    let table = server.table("t", 3).await;
    server.post("/namespaces/ns/tables/t", broken(&table, 1)).await.expect(200);
    // A warehouse may be stricter.
    settle(&server, json!({"rules-mode": "enforce"})).await;
    server.post("/namespaces/ns/tables/t", broken(&table, 2)).await.error(400, "BadRequestException");
}

async fn a_broken_table_is_registered_with_warnings_or_refused(server: Server) {
    server.namespace().await;
    let table = server.table("t", 3).await;
    settle(&server, json!({"rules-mode": "log-only"})).await;
    let done = server.post("/namespaces/ns/tables/t", broken(&table, 1)).await.expect(200);
    server.delete("/namespaces/ns/tables/t").await.expect(204);
    settle(&server, json!({})).await;
    let register = json!({"name": "t", "metadata-location": done["metadata-location"]});
    let reply = server.post("/namespaces/ns/register?check=deny", register.clone()).await;
    assert_eq!(reply.expect(400)["error"]["violations"][0]["rule"], "manifest-list-missing");
    server.get("/namespaces/ns/tables/t").await.error(404, "NoSuchTableException");
    server.post("/namespaces/ns/register?check=much", register.clone()).await.error(400, "BadRequestException");

    server.post("/namespaces/ns/register", register.clone()).await.expect(200);
    let found = warnings(&server, "").await;
    assert_eq!(found["warnings"][0]["action"], "register");
    assert_eq!(found["warnings"][0]["would-refuse"], true);
    server.delete("/namespaces/ns/tables/t").await.expect(204);

    // A request cannot be laxer than the warehouse.
    settle(&server, json!({"register-check": "deny"})).await;
    server.post("/namespaces/ns/register?check=off", register.clone()).await.error(400, "BadRequestException");
    settle(&server, json!({"register-check": "off"})).await;
    server.post("/namespaces/ns/register", register).await.expect(200);
    assert_eq!(warnings(&server, "").await["warnings"].as_array().unwrap().len(), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_check_that_takes_too_long_refuses_only_where_it_must() {
    let server = Server::start_with(Setting::Local, |settings| {
        settings.register_check_s = Some(0);
        settings.rules_mode = Some(RulesMode::LogOnly);
    })
    .await;
    server.namespace().await;
    let table = server.table("t", 3).await;
    let done = server.post("/namespaces/ns/tables/t", broken(&table, 1)).await.expect(200);
    server.delete("/namespaces/ns/tables/t").await.expect(204);
    settle(&server, json!({"rules-mode": "enforce"})).await;
    let register = json!({"name": "t", "metadata-location": done["metadata-location"]});
    let reply = server.post("/namespaces/ns/register?check=deny", register.clone()).await;
    let message = reply.error(400, "BadRequestException");
    assert!(message.contains("register-check is deny") && message.contains("more than 0 seconds"), "{message}");
    server.post("/namespaces/ns/register", register).await.expect(200);
}

async fn warnings_are_paged(server: Server) {
    server.namespace().await;
    let table = server.table("t", 3).await;
    settle(&server, json!({"rules": {"manifest-list-missing": "warn"}})).await;
    for id in 1..=3 {
        server.post("/namespaces/ns/tables/t", broken(&table, id)).await.expect(200);
        warnings(&server, "").await;
    }
    let first = warnings(&server, "?pageToken=&pageSize=2").await;
    let names = |page: &Value| -> Vec<String> {
        let objects = page["warnings"].as_array().unwrap().iter().map(|w| w["object"].as_str().unwrap().to_owned());
        objects.map(|object| object.rsplit('/').next().unwrap().to_owned()).collect()
    };
    let all = names(&warnings(&server, "").await);
    assert!(all.contains(&"none-3.avro".to_owned()), "{all:?}");
    let token = first["next-page-token"].as_str().unwrap();
    let rest = warnings(&server, &format!("?pageToken={token}&pageSize=1000")).await;
    assert_eq!([names(&first), names(&rest)].concat(), all);
    let none = server.send(Method::GET, "/management/v1/warehouses/none/warnings", None, &[]).await;
    none.error(404, "NoSuchWarehouseException");
}

#[test]
fn checks_are_ordered_from_lax_to_strict() {
    assert!(RegisterCheck::Off < RegisterCheck::Warn && RegisterCheck::Warn < RegisterCheck::Deny);
}
