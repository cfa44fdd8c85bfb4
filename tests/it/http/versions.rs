//! Which format versions a warehouse lets its tables have.

use crate::support::server::{Server, on_both_servers, schema};
use reqwest::Method;
use serde_json::{Value, json};

on_both_servers!(
    without_a_policy_nothing_changes,
    a_new_table_has_the_default_version,
    versions_outside_the_policy_are_refused_by_name,
    a_policy_that_contradicts_itself_is_refused,
);

async fn settle(server: &Server, settings: Value) {
    let body = json!({"settings": settings});
    server.send(Method::PATCH, "/management/v1/warehouses/lake", Some(body), &[]).await.expect(200);
}

async fn without_a_policy_nothing_changes(server: Server) {
    server.namespace().await;
    let plain = server.post("/namespaces/ns/tables", json!({"name": "t", "schema": schema()})).await.expect(200);
    assert_eq!(plain["metadata"]["format-version"], 2);
    for version in 1..=3 {
        server.table(&format!("t{version}"), version).await;
    }
}

fn upgrade(version: u8) -> Value {
    json!({"requirements": [], "updates": [{"action": "upgrade-format-version", "format-version": version}]})
}

async fn a_new_table_has_the_default_version(server: Server) {
    server.namespace().await;
    settle(&server, json!({"default-format-version": 3})).await;
    for stage in [false, true] {
        let body = json!({"name": "t", "schema": schema(), "stage-create": stage});
        if stage {
            server.delete("/namespaces/ns/tables/t").await.expect(204);
        }
        let made = server.post("/namespaces/ns/tables", body).await.expect(200);
        assert_eq!(made["metadata"]["format-version"], 3);
    }
    // Who asks for another version that is allowed gets it.
    assert_eq!(server.table("two", 2).await["metadata"]["format-version"], 2);
    // A commit that creates a table and leaves the version to the catalog.
    let updates = json!([
        {"action": "add-schema", "schema": schema()}, {"action": "set-current-schema", "schema-id": -1},
        {"action": "add-spec", "spec": {"spec-id": 0, "fields": []}}, {"action": "set-default-spec", "spec-id": -1},
        {"action": "add-sort-order", "sort-order": {"order-id": 0, "fields": []}},
        {"action": "set-default-sort-order", "sort-order-id": -1}
    ]);
    let commit = json!({"requirements": [{"type": "assert-create"}], "updates": updates});
    let made = server.post("/namespaces/ns/tables/by-commit", commit).await.expect(200);
    assert_eq!(made["metadata"]["format-version"], 3);
}

async fn versions_outside_the_policy_are_refused_by_name(server: Server) {
    server.namespace().await;
    let two = server.table("two", 2).await;
    let one = server.table("one", 1).await;
    settle(&server, json!({"allowed-format-versions": [2]})).await;
    let text = |version: u8| {
        format!("Format version {version} is not allowed in warehouse lake: its allowed-format-versions are 2")
    };
    for stage in [false, true] {
        let body =
            json!({"name": "t", "schema": schema(), "stage-create": stage, "properties": {"format-version": "3"}});
        let message = server.post("/namespaces/ns/tables", body).await.error(400, "BadRequestException");
        assert_eq!(message, text(3));
    }
    let message = server.post("/namespaces/ns/tables/two", upgrade(3)).await.error(400, "BadRequestException");
    assert_eq!(message, text(3));
    let change = json!({"identifier": {"namespace": ["ns"], "name": "two"}, "requirements": [],
        "updates": upgrade(3)["updates"]});
    let body = json!({"table-changes": [change]});
    assert_eq!(server.post("/transactions/commit", body).await.error(400, "BadRequestException"), text(3));
    assert_eq!(server.get("/namespaces/ns/tables/two").await.expect(200), two);

    // What was there before can be read and upgraded, not written to.
    assert_eq!(server.get("/namespaces/ns/tables/one").await.expect(200), one);
    let set = json!({"requirements": [], "updates": [{"action": "set-properties", "updates": {"a": "1"}}]});
    let message = server.post("/namespaces/ns/tables/one", set.clone()).await.error(400, "BadRequestException");
    assert_eq!(message, text(1));
    server.delete("/namespaces/ns/tables/one").await.expect(204);
    let register = json!({"name": "one", "metadata-location": one["metadata-location"]});
    let message = server.post("/namespaces/ns/register", register.clone()).await.error(400, "BadRequestException");
    assert_eq!(message, text(1));
    settle(&server, json!({"allowed-format-versions": [1, 2]})).await;
    server.post("/namespaces/ns/register", register).await.expect(200);
    server.post("/namespaces/ns/tables/one", upgrade(2)).await.expect(200);
    server.post("/namespaces/ns/tables/one", set).await.expect(200);
}

async fn a_policy_that_contradicts_itself_is_refused(server: Server) {
    for settings in [
        json!({"default-format-version": 2, "allowed-format-versions": [3]}),
        json!({"allowed-format-versions": []}),
        json!({"allowed-format-versions": [4]}),
        json!({"default-format-version": 0}),
    ] {
        let body = json!({"settings": settings});
        let reply = server.send(Method::PATCH, "/management/v1/warehouses/lake", Some(body), &[]).await;
        let message = reply.error(400, "BadRequestException");
        assert!(message.contains("-format-version"), "{message}");
    }
}
