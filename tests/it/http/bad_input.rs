//! Requests that are well-formed and cannot be meant: each is refused, and nothing changes.

use crate::support::server::{Server, on_both_servers, schema};
use reqwest::Method;
use serde_json::{Value, json};

on_both_servers!(
    a_transaction_that_names_a_table_twice_is_refused,
    a_view_without_representations_is_refused,
    a_view_over_a_tables_name_is_refused,
    a_page_token_from_elsewhere_is_refused,
    an_unknown_value_of_a_parameter_is_refused,
);

fn view(name: &str, representations: &Value) -> Value {
    let version = json!({"version-id": 1, "timestamp-ms": 1, "schema-id": 0, "summary": {},
        "default-namespace": ["ns"], "representations": representations});
    json!({"name": name, "schema": schema(), "view-version": version, "properties": {}})
}

async fn names(server: &Server, of: &str) -> Vec<String> {
    let list = server.get(&format!("/namespaces/ns/{of}")).await.expect(200);
    let names = list["identifiers"].as_array().unwrap().iter();
    names.map(|ident| ident["name"].as_str().unwrap().to_owned()).collect()
}

async fn a_transaction_that_names_a_table_twice_is_refused(server: Server) {
    server.namespace().await;
    let (a, b) = (server.table("a", 2).await, server.table("b", 3).await);
    let change = |name: &str, value: &str| {
        json!({"identifier": {"namespace": ["ns"], "name": name}, "requirements": [],
            "updates": [{"action": "set-properties", "updates": {"x": value}}]})
    };
    let changes = json!({"table-changes": [change("a", "1"), change("b", "2"), change("a", "3")]});
    let message = server.post("/transactions/commit", changes).await.error(400, "BadRequestException");
    assert!(message.contains("ns.a"), "{message}");
    assert_eq!(server.get("/namespaces/ns/tables/a").await.expect(200), a);
    assert_eq!(server.get("/namespaces/ns/tables/b").await.expect(200), b);
}

async fn a_view_without_representations_is_refused(server: Server) {
    server.namespace().await;
    let message = server.post("/namespaces/ns/views", view("v", &json!([]))).await.error(400, "BadRequestException");
    assert_eq!(message, "Cannot create view without specifying a query");
    assert_eq!(names(&server, "views").await, [""; 0]);

    let sql = json!([{"type": "sql", "sql": "select 1", "dialect": "spark"}]);
    let made = server.post("/namespaces/ns/views", view("v", &sql)).await.expect(200);
    let without = view("v", &json!([]))["view-version"].clone();
    let replace = json!({"updates": [{"action": "add-view-version", "view-version": without},
        {"action": "set-current-view-version", "view-version-id": -1}]});
    server.post("/namespaces/ns/views/v", replace).await.error(400, "BadRequestException");
    assert_eq!(server.get("/namespaces/ns/views/v").await.expect(200), made);
}

async fn a_view_over_a_tables_name_is_refused(server: Server) {
    server.namespace().await;
    let table = server.table("t", 2).await;
    let sql = json!([{"type": "sql", "sql": "select 1", "dialect": "spark"}]);
    let message = server.post("/namespaces/ns/views", view("t", &sql)).await.error(409, "AlreadyExistsException");
    assert_eq!(message, "Table with same name already exists: ns.t");
    assert_eq!(names(&server, "views").await, [""; 0]);
    assert_eq!(server.get("/namespaces/ns/tables/t").await.expect(200), table);
}

async fn a_page_token_from_elsewhere_is_refused(server: Server) {
    server.namespace().await;
    server.post("/namespaces", json!({"namespace": ["other"]})).await.expect(200);
    for name in ["a", "b", "c"] {
        server.table(name, 2).await;
    }
    let page = server.get("/namespaces/ns/tables?pageToken=&pageSize=2").await.expect(200);
    let token = page["next-page-token"].as_str().unwrap();
    let foreign = [token, "garbage!!", "bnM", "null"];
    for list in ["/namespaces", "/namespaces/other/tables", "/namespaces/ns/views", "/namespaces?parent=ns"] {
        for token in foreign {
            let and = if list.contains('?') { '&' } else { '?' };
            let reply = server.get(&format!("{list}{and}pageToken={token}&pageSize=2")).await;
            reply.error(400, "BadRequestException");
        }
    }
    for list in ["tasks", "warehouses", "warehouses/lake/dropped", "warehouses/lake/warnings"] {
        let path = format!("/management/v1/{list}?pageToken={token}");
        server.send(Method::GET, &path, None, &[]).await.error(400, "BadRequestException");
    }
    let rest = server.get(&format!("/namespaces/ns/tables?pageToken={token}")).await.expect(200);
    assert_eq!(rest["identifiers"][0]["name"], "c");
}

async fn an_unknown_value_of_a_parameter_is_refused(server: Server) {
    server.namespace().await;
    let table = server.table("t", 2).await;
    for (method, path) in [
        (Method::GET, "namespaces/ns/tables/t?snapshots=some"),
        (Method::GET, "namespaces?pageToken=&pageSize=0"),
        (Method::GET, "namespaces?pageToken=&pageSize=many"),
        (Method::GET, "namespaces/ns/tables?pageSize=-1"),
        (Method::DELETE, "namespaces/ns/tables/t?purgeRequested=maybe"),
    ] {
        server.send(method, &format!("/iceberg/v1/{path}"), None, &[]).await.error(400, "BadRequestException");
    }
    let file = json!({"name": "u", "metadata-location": table["metadata-location"]});
    server.post("/namespaces/ns/register?check=perhaps", file).await.error(400, "BadRequestException");
    assert_eq!(names(&server, "tables").await, ["t"]);
    assert_eq!(server.get("/namespaces/ns/tables/t").await.expect(200), table);
}
