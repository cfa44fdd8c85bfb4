//! What a client is told when a commit breaks rules: in which order, how much of it, and where else it is said.

use crate::support::server::{Reply, Server, on_both_servers};
use crate::support::snapshots::{Appender, LIST, container, list_row};
use reqwest::Method;
use serde_json::{Value, json};

on_both_servers!(
    requirements_come_before_stale_state_and_that_before_content,
    a_spec_that_is_gone_is_a_conflict,
    a_refusal_lists_every_broken_rule,
    refusals_warnings_and_what_is_not_checked_are_counted,
    a_schema_that_old_data_does_not_fit_is_refused,
    a_key_that_is_removed_while_it_is_needed_is_warned_of,
    each_table_of_a_transaction_is_judged,
);

const TABLE: &str = "/namespaces/ns/tables/t";

/// A commit of a snapshot to `main`, after these updates. The location of its manifest list is the table's.
fn add(table: &Value, snapshot: &Value, before: Vec<Value>) -> Value {
    let metadata = &table["metadata"];
    let mut of = json!({
        "snapshot-id": 5, "sequence-number": 1, "timestamp-ms": metadata["last-updated-ms"], "schema-id": 0,
        "first-row-id": 0, "added-rows": 0, "summary": {"operation": "append"},
        "manifest-list": format!("{}/metadata/l.avro", metadata["location"].as_str().unwrap())
    });
    for (key, value) in snapshot.as_object().unwrap() {
        of[key] = value.clone();
    }
    let mut updates = before;
    updates.push(json!({"action": "set-snapshot-ref", "ref-name": "main", "type": "branch",
        "snapshot-id": of["snapshot-id"]}));
    updates.insert(updates.len() - 1, json!({"action": "add-snapshot", "snapshot": of}));
    json!({"requirements": [], "updates": updates})
}

/// Writes a manifest list of manifests that are not there, each of one row and with this partition spec.
async fn write_list(server: &Server, table: &Value, spec_id: i64, manifests: usize) {
    let location = table["metadata"]["location"].as_str().unwrap();
    let row = |n: usize| list_row(&format!("{location}/metadata/none-{n}.avro"), 10, spec_id, 1, 5, 1);
    let rows: Vec<Vec<u8>> = (0..manifests).map(row).collect();
    let list = format!("{location}/metadata/l.avro");
    server.app.storage.write_new(&list, container(LIST, &[], &rows).into()).await.unwrap();
}

fn rules(reply: &Reply) -> Vec<String> {
    let violations = reply.json()["error"]["violations"].as_array().cloned().unwrap_or_default();
    let mut rules: Vec<String> = violations.iter().map(|v| v["rule"].as_str().unwrap().to_owned()).collect();
    rules.sort();
    rules.dedup();
    rules
}

async fn requirements_come_before_stale_state_and_that_before_content(server: Server) {
    server.namespace().await;
    let table = server.table("t", 3).await;
    // Wrong in every way: a requirement, a parent that is gone, a manifest list that is not there.
    let mut all = add(&table, &json!({"parent-snapshot-id": 77}), Vec::new());
    all["requirements"] = json!([{"type": "assert-ref-snapshot-id", "ref": "main", "snapshot-id": 7}]);
    let message = server.post(TABLE, all.clone()).await.error(409, "CommitFailedException");
    assert!(message.starts_with("Requirement failed"), "{message}");
    all["requirements"] = json!([]);
    let message = server.post(TABLE, all).await.error(409, "CommitFailedException");
    assert!(message.contains("Cannot find parent snapshot 77"), "{message}");
    let reply = server.post(TABLE, add(&table, &json!({}), Vec::new())).await;
    reply.error(400, "BadRequestException");
    assert_eq!(rules(&reply), ["manifest-list-missing"]);
}

async fn a_spec_that_is_gone_is_a_conflict(server: Server) {
    server.namespace().await;
    let table = server.table("t", 2).await;
    let spec = |id: i64, name: &str, source: i64| {
        let field = json!({"name": name, "transform": "identity", "source-id": source});
        json!({"action": "add-spec", "spec": {"spec-id": id, "fields": [field]}})
    };
    let ids: Vec<i64> = table["metadata"]["schemas"][0]["fields"]
        .as_array()
        .unwrap()
        .iter()
        .map(|field| field["id"].as_i64().unwrap())
        .collect();
    let change = json!({"requirements": [], "updates": [
        spec(1, "id", ids[0]), spec(2, "data", ids[1]), {"action": "remove-partition-specs", "spec-ids": [1]}]});
    server.post(TABLE, change).await.expect(200);
    write_list(&server, &table, 1, 1).await;
    let reply = server.post(TABLE, add(&table, &json!({}), Vec::new())).await;
    let message = reply.error(409, "CommitFailedException");
    assert!(message.starts_with("Validation failed, please retry: "), "{message}");
    assert!(rules(&reply).contains(&"partition-spec-removed".to_owned()), "{message}");
}

async fn a_refusal_lists_every_broken_rule(server: Server) {
    server.namespace().await;
    let table = server.table("t", 2).await;
    write_list(&server, &table, 9, 30).await;
    let reply = server.post(TABLE, add(&table, &json!({}), Vec::new())).await;
    let message = reply.error(400, "BadRequestException");
    assert_eq!(rules(&reply), ["manifest-missing", "unknown-partition-spec"]);
    for rule in rules(&reply) {
        assert!(message.contains(&format!("breaks rule {rule}: ")), "{message}");
    }
    // 30 manifests break two rules each; five of each are shown.
    assert!(message.ends_with(" And 50 more."), "{message}");
    let violations = reply.json()["error"]["violations"].as_array().unwrap().clone();
    assert_eq!(violations.len(), 10);
    for violation in &violations {
        for key in ["rule", "object", "expected", "found", "message"] {
            assert!(violation[key].as_str().is_some_and(|text| !text.is_empty()), "{key}: {violation}");
        }
        assert!(message.contains(violation["message"].as_str().unwrap()));
    }
}

async fn refusals_warnings_and_what_is_not_checked_are_counted(server: Server) {
    server.namespace().await;
    let table = server.table("t", 3).await;
    server.post(TABLE, add(&table, &json!({}), Vec::new())).await.error(400, "BadRequestException");
    let key = json!({"key-id": "k", "encrypted-key-metadata": "c29tZQ=="});
    let key = json!({"action": "add-encryption-key", "encryption-key": key});
    // Nobody here can read an encrypted list.
    server.post(TABLE, add(&table, &json!({"key-id": "k"}), vec![key])).await.expect(200);
    let remove = json!({"requirements": [], "updates": [{"action": "remove-encryption-key", "key-id": "k"}]});
    server.post(TABLE, remove).await.expect(200);
    let metrics = server.send(Method::GET, "/metrics", None, &[]).await.text;
    for counted in [
        "guillemot_rule_refusals_total{rule=\"manifest-list-missing\"}",
        "guillemot_rule_not_checked_total{rule=\"manifest-*\"}",
        "guillemot_rule_warnings_total{rule=\"removed-key-in-use\"}",
    ] {
        assert!(metrics.contains(counted), "{counted} in {metrics}");
    }
}

async fn warnings(server: &Server) -> Vec<(String, bool)> {
    let found = server.send(Method::GET, "/management/v1/warehouses/lake/warnings", None, &[]).await.expect(200);
    let found = found["warnings"].as_array().unwrap().clone();
    let of = |w: &Value| (w["rule"].as_str().unwrap().to_owned(), w["would-refuse"].as_bool().unwrap());
    found.iter().map(of).collect()
}

async fn a_schema_that_old_data_does_not_fit_is_refused(server: Server) {
    server.namespace().await;
    let table = server.table("t", 2).await;
    Appender::new("t", &table).append(&server, 1).await;
    let mut schema = table["metadata"]["schemas"][0].clone();
    schema["fields"][0]["type"] = json!("string");
    let change = json!({"requirements": [], "updates": [
        {"action": "add-schema", "schema": schema}, {"action": "set-current-schema", "schema-id": -1}]});
    let reply = server.post(TABLE, change.clone()).await;
    let message = reply.error(400, "BadRequestException");
    assert_eq!(rules(&reply), ["field-type-changed"], "{message}");
    assert!(message.contains("Expected type long, or one that it can be promoted to, found string"), "{message}");
    let body = json!({"settings": {"rules-mode": "log-only"}});
    server.send(Method::PATCH, "/management/v1/warehouses/lake", Some(body), &[]).await.expect(200);
    server.post(TABLE, change).await.expect(200);
    assert_eq!(warnings(&server).await, [("field-type-changed".to_owned(), true)]);
}

async fn a_key_that_is_removed_while_it_is_needed_is_warned_of(server: Server) {
    server.namespace().await;
    let table = server.table("t", 3).await;
    let key = |id: &str, by: &str| {
        let key = json!({"key-id": id, "encrypted-key-metadata": "c29tZQ==", "encrypted-by-id": by,
            "properties": {"a": "b"}});
        json!({"action": "add-encryption-key", "encryption-key": key})
    };
    let with_keys = vec![key("list", "root"), key("root", "kms")];
    let done = server.post(TABLE, add(&table, &json!({"key-id": "list"}), with_keys)).await.expect(200);
    let keys = done["metadata"]["encryption-keys"].clone();
    assert_eq!((&keys[0]["key-id"], &keys[1]["properties"]["a"]), (&json!("list"), &json!("b")), "carried");
    let unknown = add(&table, &json!({"key-id": "none", "snapshot-id": 6, "sequence-number": 2}), Vec::new());
    server.post(TABLE, unknown).await.error(400, "BadRequestException");
    let remove = json!({"requirements": [], "updates": [{"action": "remove-encryption-key", "key-id": "root"}]});
    server.post(TABLE, remove).await.expect(200);
    assert_eq!(warnings(&server).await, [("removed-key-in-use".to_owned(), false)]);
}

async fn each_table_of_a_transaction_is_judged(server: Server) {
    server.namespace().await;
    let (good, broken) = (server.table("good", 2).await, server.table("broken", 2).await);
    write_list(&server, &good, 0, 0).await;
    // Both snapshots have the number 5; only one of them has a manifest list.
    let change = |name: &str, table: &Value| {
        let mut change = add(table, &json!({}), Vec::new());
        change["identifier"] = json!({"namespace": ["ns"], "name": name});
        change
    };
    let both = json!({"table-changes": [change("good", &good), change("broken", &broken)]});
    let reply = server.post("/transactions/commit", both).await;
    reply.error(400, "BadRequestException");
    assert_eq!(rules(&reply), ["manifest-list-missing"]);
    let alone = json!({"table-changes": [change("good", &good)]});
    server.post("/transactions/commit", alone).await.expect(204);
}
