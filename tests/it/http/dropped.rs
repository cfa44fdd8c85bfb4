//! Warehouses that keep dropped tables for a while.

use crate::support::server::{Reply, Server, on_both_with_still_clocks, schema};
use crate::support::snapshots::Appender;
use reqwest::Method;
use serde_json::{Value, json};

on_both_with_still_clocks!(
    a_dropped_table_comes_back,
    a_dropped_table_goes_when_its_time_is_over,
    a_purge_waits_until_the_time_is_over,
    the_name_is_free_and_the_place_is_not,
    a_warehouse_that_is_switched_off_still_shows_them,
    the_last_one_of_a_name_comes_back_first,
    a_table_comes_back_under_another_name,
    the_time_of_a_dropped_table_can_be_ended,
    malformed_undrops_are_400s,
    a_warehouse_with_dropped_tables_is_not_empty,
    without_the_setting_a_drop_is_a_drop,
);

const HOUR: i64 = 3600;

async fn manage(server: &Server, method: Method, path: &str, body: Option<Value>) -> Reply {
    server.send(method, &format!("/management/v1/warehouses/lake{path}"), body, &[]).await
}

/// Tables that are dropped are kept for an hour.
async fn keep_for_an_hour(server: &Server) {
    let settings = json!({"settings": {"soft-delete-hold-s": HOUR}});
    manage(server, Method::PATCH, "", Some(settings)).await.expect(200);
    server.namespace().await;
}

async fn dropped(server: &Server) -> Vec<Value> {
    manage(server, Method::GET, "/dropped", None).await.expect(200)["tables"].as_array().unwrap().clone()
}

async fn undrop(server: &Server, body: Value) -> Reply {
    manage(server, Method::POST, "/undrop", Some(body)).await
}

fn named(name: &str) -> Value {
    json!({"identifier": {"namespace": ["ns"], "name": name}})
}

async fn drop_table(server: &Server, name: &str) {
    server.delete(&format!("/namespaces/ns/tables/{name}")).await.expect(204);
}

async fn tasks(server: &Server, state: &str) -> Vec<Value> {
    let path = format!("/management/v1/tasks?state={state}");
    let list = server.send(Method::GET, &path, None, &[]).await.expect(200)["tasks"].clone();
    list.as_array().unwrap().iter().filter(|task| task["subject"] != "").cloned().collect()
}

async fn a_dropped_table_comes_back(server: Server) {
    keep_for_an_hour(&server).await;
    let made = server.table("t", 2).await;
    drop_table(&server, "t").await;
    server.get("/namespaces/ns/tables/t").await.error(404, "NoSuchTableException");
    assert_eq!(server.get("/namespaces/ns/tables").await.expect(200)["identifiers"], json!([]));
    let kept = dropped(&server).await;
    assert_eq!(kept[0]["identifier"], json!({"namespace": ["ns"], "name": "t"}));
    assert_eq!(kept[0]["table-uuid"], made["metadata"]["table-uuid"]);
    assert_eq!(
        (&kept[0]["metadata-location"], &kept[0]["purge-requested"]),
        (&made["metadata-location"], &json!(false))
    );
    let held = kept[0]["expires-ms"].as_i64().unwrap() - kept[0]["dropped-ms"].as_i64().unwrap();
    assert_eq!(held, HOUR * 1000);

    let back = undrop(&server, named("t")).await.expect(200);
    assert_eq!(back["metadata-location"], made["metadata-location"]);
    assert_eq!(server.get("/namespaces/ns/tables/t").await.expect(200), made);
    assert_eq!(dropped(&server).await, [Value::Null; 0]);
    let set = json!({"requirements": [], "updates": [{"action": "set-properties", "updates": {"a": "b"}}]});
    server.post("/namespaces/ns/tables/t", set).await.expect(200);
    undrop(&server, named("t")).await.error(404, "NoSuchTableException");
    assert_eq!(tasks(&server, "cancelled").await.len(), 1);
    server.pass(2 * HOUR);
    server.work_off().await;
    assert_eq!(server.head("/namespaces/ns/tables/t").await.status.as_u16(), 204);
}

async fn the_time_of_a_dropped_table_can_be_ended(server: Server) {
    keep_for_an_hour(&server).await;
    for (name, query, files) in [("kept", "", true), ("purged", "?purgeRequested=true", false)] {
        let made = server.table(name, 2).await;
        drop_table(&server, name).await;
        let id = dropped(&server).await[0]["id"].as_str().unwrap().to_owned();
        manage(&server, Method::DELETE, &format!("/dropped/{id}{query}"), None).await.expect(204);
        assert_eq!(dropped(&server).await, [Value::Null; 0]);
        undrop(&server, named(name)).await.error(404, "NoSuchTableException");
        server.work_off().await;
        let left = server.app.storage.size(made["metadata-location"].as_str().unwrap()).await.is_ok();
        assert_eq!(left, files, "{name}");
        let again = manage(&server, Method::DELETE, &format!("/dropped/{id}"), None).await;
        again.error(404, "NoSuchTableException");
    }
    assert_eq!(tasks(&server, "cancelled").await.len(), 2);
    manage(&server, Method::DELETE, "/dropped/x?purgeRequested=maybe", None).await.error(400, "BadRequestException");
}

async fn a_dropped_table_goes_when_its_time_is_over(server: Server) {
    keep_for_an_hour(&server).await;
    let made = server.table("t", 2).await;
    drop_table(&server, "t").await;
    server.pass(HOUR - 1);
    server.work_off().await;
    assert_eq!(dropped(&server).await.len(), 1);
    server.pass(2);
    server.work_off().await;
    assert_eq!(dropped(&server).await, [Value::Null; 0]);
    undrop(&server, named("t")).await.error(404, "NoSuchTableException");
    // It was dropped without purge.
    server.app.storage.read(made["metadata-location"].as_str().unwrap()).await.unwrap();
}

async fn a_purge_waits_until_the_time_is_over(server: Server) {
    keep_for_an_hour(&server).await;
    let mut table = Appender::new("t", &server.table("t", 2).await);
    let last = table.append(&server, 2).await;
    server.delete("/namespaces/ns/tables/t?purgeRequested=true").await.expect(204);
    server.work_off().await;
    assert_eq!(dropped(&server).await[0]["purge-requested"], true);
    for file in &table.files {
        server.app.storage.size(file).await.unwrap();
    }
    server.pass(HOUR + 1);
    server.work_off().await;
    table.files.push(last["metadata-location"].as_str().unwrap().to_owned());
    for file in &table.files {
        assert!(server.app.storage.size(file).await.is_err(), "{file}");
    }
    let done: Vec<Value> = tasks(&server, "done").await.iter().map(|task| task["kind"].clone()).collect();
    assert_eq!(done, ["expire-dropped-table", "purge-table"]);
}

async fn the_name_is_free_and_the_place_is_not(server: Server) {
    keep_for_an_hour(&server).await;
    let first = server.table("t", 2).await;
    drop_table(&server, "t").await;
    let second = server.table("t", 2).await;
    assert_ne!(first["metadata"]["location"], second["metadata"]["location"]);
    let taken = undrop(&server, named("t")).await.error(409, "AlreadyExistsException");
    assert_eq!(taken, "Table already exists: ns.t");
    assert_eq!(dropped(&server).await.len(), 1, "a refused undrop changes nothing");
    // A purge of the second one must not touch the first one's files, which can still come back.
    server.delete("/namespaces/ns/tables/t?purgeRequested=true").await.expect(204);
    let first_id =
        &dropped(&server).await.into_iter().find(|t| t["table-uuid"] == first["metadata"]["table-uuid"]).unwrap()["id"];
    let back = undrop(&server, json!({"id": first_id})).await.expect(200);
    assert_eq!(back["metadata-location"], first["metadata-location"]);
    server.pass(HOUR + 1);
    server.work_off().await;
    server.forget_files().await;
    assert_eq!(server.get("/namespaces/ns/tables/t").await.expect(200), first);
}

async fn a_warehouse_that_is_switched_off_still_shows_them(server: Server) {
    keep_for_an_hour(&server).await;
    for name in ["a", "b", "c"] {
        server.table(name, 2).await;
        drop_table(&server, name).await;
    }
    manage(&server, Method::PATCH, "", Some(json!({"active": false}))).await.expect(200);
    let first = manage(&server, Method::GET, "/dropped?pageSize=2", None).await.expect(200);
    let token = first["next-page-token"].as_str().unwrap();
    let second =
        manage(&server, Method::GET, &format!("/dropped?pageSize=2&pageToken={token}"), None).await.expect(200);
    let count = |page: &Value| page["tables"].as_array().unwrap().len();
    assert_eq!((count(&first), count(&second), second.get("next-page-token")), (2, 1, None));
    undrop(&server, named("b")).await.expect(200);
}

async fn the_last_one_of_a_name_comes_back_first(server: Server) {
    keep_for_an_hour(&server).await;
    server.table("t", 2).await;
    drop_table(&server, "t").await;
    server.pass(1);
    let second = server.table("t", 2).await;
    drop_table(&server, "t").await;
    undrop(&server, named("t")).await.expect(200);
    assert_eq!(server.get("/namespaces/ns/tables/t").await.expect(200), second);
}

async fn a_table_comes_back_under_another_name(server: Server) {
    keep_for_an_hour(&server).await;
    let made = server.table("t", 2).await;
    drop_table(&server, "t").await;
    server.delete("/namespaces/ns").await.expect(204);
    undrop(&server, named("t")).await.error(404, "NoSuchNamespaceException");
    server.post("/namespaces", json!({"namespace": ["other"]})).await.expect(200);
    let body = json!({
        "identifier": {"namespace": ["ns"], "name": "t"}, "destination": {"namespace": ["other"], "name": "u"}
    });
    let back = undrop(&server, body).await.expect(200);
    assert_eq!(back["identifier"], json!({"namespace": ["other"], "name": "u"}));
    assert_eq!(server.get("/namespaces/other/tables/u").await.expect(200), made);
}

async fn malformed_undrops_are_400s(server: Server) {
    keep_for_an_hour(&server).await;
    for body in [
        json!({}),
        json!({"id": "x", "identifier": {"namespace": ["ns"], "name": "t"}}),
        json!({"id": 1}),
        json!({"unknown": 1}),
        json!({"identifier": {"namespace": [], "name": "t"}}),
    ] {
        undrop(&server, body).await.error(400, "BadRequestException");
    }
    undrop(&server, json!({"id": "none"})).await.error(404, "NoSuchTableException");
    let elsewhere = server.send(Method::GET, "/management/v1/warehouses/none/dropped", None, &[]).await;
    elsewhere.error(404, "NoSuchWarehouseException");
}

async fn a_warehouse_with_dropped_tables_is_not_empty(server: Server) {
    keep_for_an_hour(&server).await;
    server.table("t", 2).await;
    drop_table(&server, "t").await;
    server.delete("/namespaces/ns").await.expect(204);
    manage(&server, Method::DELETE, "", None).await.error(409, "NotEmptyException");
    server.pass(HOUR + 1);
    server.work_off().await;
    manage(&server, Method::DELETE, "", None).await.expect(204);
}

async fn without_the_setting_a_drop_is_a_drop(server: Server) {
    server.namespace().await;
    server.post("/namespaces/ns/tables", json!({"name": "t", "schema": schema()})).await.expect(200);
    drop_table(&server, "t").await;
    assert_eq!(dropped(&server).await, [Value::Null; 0]);
    undrop(&server, named("t")).await.error(404, "NoSuchTableException");
}
