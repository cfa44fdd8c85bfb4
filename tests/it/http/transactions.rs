use crate::support::server::{Server, on_both_servers, schema};
use guillemot::spec::{Namespace, TableIdent};
use guillemot::store::tables::{self, Change, Swap, TableRow};
use serde_json::{Value, json};
use std::time::Duration;

on_both_servers!(
    several_tables_change_together,
    one_that_fails_leaves_every_table_alone,
    a_table_can_be_created_beside_a_change,
    what_a_transaction_demands_holds_when_it_happens,
    malformed_transactions_are_400s,
);

fn change(name: &str, requirements: &Value, updates: &Value) -> Value {
    json!({"identifier": {"namespace": ["ns"], "name": name}, "requirements": requirements, "updates": updates})
}

fn set(value: &str) -> Value {
    json!([{"action": "set-properties", "updates": {"x": value}}])
}

async fn commit(server: &Server, changes: &[Value]) -> crate::support::server::Reply {
    server.post("/transactions/commit", json!({"table-changes": changes})).await
}

async fn property(server: &Server, name: &str) -> Value {
    server.get(&format!("/namespaces/ns/tables/{name}")).await.expect(200)["metadata"]["properties"]["x"].clone()
}

async fn several_tables_change_together(server: Server) {
    server.namespace().await;
    server.table("a", 2).await;
    server.table("b", 3).await;
    let reply = commit(&server, &[change("a", &json!([]), &set("1")), change("b", &json!([]), &set("2"))]).await;
    assert_eq!((reply.status.as_u16(), reply.text.as_str()), (204, ""));
    assert_eq!((property(&server, "a").await, property(&server, "b").await), (json!("1"), json!("2")));
}

async fn one_that_fails_leaves_every_table_alone(server: Server) {
    server.namespace().await;
    server.table("a", 2).await;
    server.table("b", 2).await;
    let stale = json!([{"type": "assert-current-schema-id", "current-schema-id": 9}]);
    let good = change("a", &json!([]), &set("1"));
    let unknown = json!([{"action": "invent"}]);
    for (bad, status, kind) in [
        (change("b", &stale, &set("1")), 409, "CommitFailedException"),
        (change("b", &json!([]), &unknown), 400, "BadRequestException"),
        (change("none", &json!([]), &set("1")), 404, "NoSuchTableException"),
    ] {
        commit(&server, &[good.clone(), bad.clone()]).await.error(status, kind);
        commit(&server, &[bad, good.clone()]).await.error(status, kind);
        assert_eq!(property(&server, "a").await, Value::Null);
    }
}

async fn a_table_can_be_created_beside_a_change(server: Server) {
    server.namespace().await;
    server.table("a", 2).await;
    let body = json!({"name": "new", "schema": schema(), "stage-create": true});
    let staged = server.post("/namespaces/ns/tables", body).await.expect(200)["metadata"].clone();
    let updates = json!([
        {"action": "assign-uuid", "uuid": staged["table-uuid"]},
        {"action": "add-schema", "schema": staged["schemas"][0]},
        {"action": "set-current-schema", "schema-id": -1},
        {"action": "add-spec", "spec": staged["partition-specs"][0]},
        {"action": "set-default-spec", "spec-id": -1},
        {"action": "add-sort-order", "sort-order": staged["sort-orders"][0]},
        {"action": "set-default-sort-order", "sort-order-id": -1},
        {"action": "set-location", "location": staged["location"]},
        {"action": "set-properties", "updates": {"x": "new"}}
    ]);
    let create = change("new", &json!([{"type": "assert-create"}]), &updates);
    commit(&server, &[create.clone(), change("a", &json!([]), &set("1"))]).await.expect(204);
    assert_eq!((property(&server, "a").await, property(&server, "new").await), (json!("1"), json!("new")));
    commit(&server, &[create, change("a", &json!([]), &set("2"))]).await.error(409, "CommitFailedException");
    assert_eq!(property(&server, "a").await, json!("1"));
}

/// A transaction demands something of a table that it does not change, while that very thing changes.
async fn what_a_transaction_demands_holds_when_it_happens(server: Server) {
    server.namespace().await;
    server.table("a", 2).await;
    server.table("b", 2).await;
    let first = row(&server, "a").await;
    let field = json!({"id": 1, "name": "other", "required": false, "type": "long"});
    let updates = json!([
        {"action": "add-schema", "schema": {"type": "struct", "schema-id": 1, "fields": [field]}},
        {"action": "set-current-schema", "schema-id": 1}
    ]);
    commit(&server, &[change("a", &json!([]), &updates)]).await.expect(204);
    let second = row(&server, "a").await;
    point(&server, &second, &first.metadata_location).await.commit().await.unwrap();

    let demand = json!([{"type": "assert-current-schema-id", "current-schema-id": 0}]);
    let changes = [change("a", &demand, &json!([])), change("b", &json!([]), &set("1"))];
    commit(&server, &changes).await.expect(204);
    let changes = [change("a", &demand, &json!([])), change("b", &json!([]), &set("2"))];
    let moving = point(&server, &row(&server, "a").await, &second.metadata_location).await;
    let (reply, ()) = tokio::join!(commit(&server, &changes), async {
        // Long enough for the transaction to read what is about to change.
        tokio::time::sleep(Duration::from_millis(500)).await;
        moving.commit().await.unwrap();
    });
    let message = reply.error(409, "CommitFailedException");
    assert!(message.contains("current schema changed"), "{message}");
    assert_eq!(property(&server, "b").await, json!("1"));
}

async fn row(server: &Server, name: &str) -> TableRow {
    let ident = TableIdent::new(Namespace::new(vec!["ns".into()]).unwrap(), name).unwrap();
    let warehouse = server.app.warehouse(Some(&server.warehouse)).await.unwrap();
    tables::load(&server.app.db, &warehouse.row.id, &ident).await.unwrap().unwrap()
}

/// Moves a pointer in a transaction that is still to be committed.
async fn point(server: &Server, row: &TableRow, metadata_location: &str) -> guillemot::store::Tx {
    let change = Change {
        uuid: &row.uuid,
        format_version: row.format_version,
        location: &row.location,
        metadata_location,
        paths: &[],
        now_ms: row.updated_ms,
    };
    let mut tx = server.app.db.begin().await.unwrap();
    tables::swap(&mut tx, &[Swap { row, change, moved_to: None }], &[]).await.unwrap();
    tx
}

async fn malformed_transactions_are_400s(server: Server) {
    server.namespace().await;
    server.table("a", 2).await;
    let good = change("a", &json!([]), &set("1"));
    for body in [
        json!({}),
        json!({"table-changes": []}),
        json!({"table-changes": null}),
        json!({"table-changes": [{"requirements": [], "updates": []}]}),
        json!({"table-changes": [good, good]}),
    ] {
        server.post("/transactions/commit", body).await.error(400, "BadRequestException");
    }
    assert_eq!(property(&server, "a").await, Value::Null);
}
