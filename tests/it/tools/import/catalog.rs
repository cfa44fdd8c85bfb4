//! From a catalog that speaks REST: another Guillemot.

use super::{heir_of, import};
use crate::support::server::{Server, Setting, identities_on, on_both_servers, schema};
use reqwest::Method;
use serde_json::{Value, json};

on_both_servers!(
    namespaces_tables_and_views_are_imported_and_then_they_are_there,
    a_part_is_imported_with_what_is_above_it,
    what_is_not_in_the_warehouse_is_refused_table_by_table,
);

fn setting(server: &Server) -> Setting {
    if server.app.config.gcs_endpoint.is_some() { Setting::Production } else { Setting::Local }
}

fn uri(server: &Server) -> String {
    format!("{}/iceberg", server.base)
}

fn view(name: &str) -> Value {
    let version = json!({
        "version-id": 1, "timestamp-ms": 1_700_000_000_000_i64, "schema-id": 0, "summary": {},
        "representations": [{"type": "sql", "sql": "SELECT 1", "dialect": "spark"}], "default-namespace": ["ns"]
    });
    json!({"name": name, "schema": schema(), "view-version": version, "properties": {}})
}

/// `ns` with two tables and a view, `ns.a` with a table and properties, `ns.a.b` with nothing.
async fn fill(server: &Server) {
    server.namespace().await;
    server.table("t", 2).await;
    server.table("odd name/ü", 3).await;
    server.post("/namespaces/ns/views", view("v")).await.expect(200);
    let inner =
        json!({"namespace": ["ns", "a"], "properties": {"owner": "me", "location": format!("{}/x", server.warehouse)}});
    server.post("/namespaces", inner).await.expect(200);
    server.post("/namespaces", json!({"namespace": ["ns", "a", "b"]})).await.expect(200);
    server.post("/namespaces/ns%1Fa/tables", json!({"name": "u", "schema": schema()})).await.expect(200);
}

async fn namespaces_tables_and_views_are_imported_and_then_they_are_there(source: Server) {
    fill(&source).await;
    let target = heir_of(&source, setting(&source)).await;
    let uri = uri(&source);
    let would = import(&target, &["catalog", "--uri", &uri, "--dry-run"]);
    would.ends(0, "would import 3 tables, 1 view, 3 namespaces; 0 already there; 0 failed");
    assert_eq!(target.get("/namespaces").await.expect(200)["namespaces"], json!([]));
    let ran = import(&target, &["catalog", "--uri", &uri]);
    ran.ends(0, "imported 3 tables, 1 view, 3 namespaces; 0 already there; 0 failed");
    for path in ["/namespaces/ns/tables/t", "/namespaces/ns/tables/odd%20name%2F%C3%BC", "/namespaces/ns/views/v"] {
        assert_eq!(target.get(path).await.expect(200), source.get(path).await.expect(200), "{path}");
    }
    let properties = target.get("/namespaces/ns%1Fa").await.expect(200);
    assert_eq!(properties, source.get("/namespaces/ns%1Fa").await.expect(200));
    let again = import(&target, &["catalog", "--uri", &uri, "--catalog-warehouse", "lake"]);
    again.ends(0, "imported 0 tables, 0 views, 0 namespaces; 7 already there; 0 failed");

    // A view that went on in the source is moved on, as tables are.
    let mut version = view("v")["view-version"].clone();
    version["version-id"] = json!(2);
    version["representations"][0]["sql"] = json!("SELECT 2");
    let replace = json!({"updates": [
        {"action": "add-view-version", "view-version": version},
        {"action": "set-current-view-version", "view-version-id": -1}
    ]});
    source.post("/namespaces/ns/views/v", replace).await.expect(200);
    let behind = import(&target, &["catalog", "--uri", &uri]);
    behind.ends(1, "imported 0 tables, 0 views, 0 namespaces; 1 behind the source; 6 already there; 0 failed");
    let updated = import(&target, &["catalog", "--uri", &uri, "--update"]);
    updated.ends(0, "imported 0 tables, 0 views, 0 namespaces; 1 updated; 6 already there; 0 failed");
    let path = "/namespaces/ns/views/v";
    assert_eq!(target.get(path).await.expect(200), source.get(path).await.expect(200));
}

async fn a_part_is_imported_with_what_is_above_it(source: Server) {
    fill(&source).await;
    let target = heir_of(&source, setting(&source)).await;
    let ran = import(&target, &["catalog", "--uri", &uri(&source), "--namespace", "ns.a"]);
    ran.ends(0, "imported 1 table, 0 views, 3 namespaces; 0 already there; 0 failed");
    assert_eq!(target.get("/namespaces/ns/tables").await.expect(200)["identifiers"], json!([]));
    let none = import(&target, &["catalog", "--uri", &uri(&source), "--namespace", "none"]);
    none.ends(1, "imported 0 tables, 0 views, 0 namespaces; 0 already there; 1 failed");
    assert!(none.line("failed namespace none: ").contains("404"), "{}", none.out);
}

async fn what_is_not_in_the_warehouse_is_refused_table_by_table(source: Server) {
    fill(&source).await;
    let target = Server::start(setting(&source)).await;
    let ran = import(&target, &["catalog", "--uri", &uri(&source)]);
    ran.ends(1, "imported 0 tables, 0 views, 3 namespaces; 0 already there; 4 failed");
    assert!(ran.line("failed table ns.t: ").contains("is outside of warehouse lake"), "{}", ran.out);
    assert!(ran.line("note namespace ns.a: ").contains("its property location is not taken over"), "{}", ran.out);
    assert_eq!(target.get("/namespaces/ns%1Fa").await.expect(200)["properties"], json!({"owner": "me"}));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_catalog_that_asks_who_is_calling_is_told() {
    let source = Server::start_with(Setting::Local, identities_on).await;
    let secret = source.identity("mover").await;
    source.grant("identity:mover", "admin", &guillemot::store::grants::On::Server).await;
    let token = source.token("mover", &secret).await;
    let bearer = format!("Bearer {token}");
    let headers = [("authorization", bearer.as_str())];
    let make = async |path: &str, body: Value| source.send(Method::POST, path, Some(body), &headers).await.expect(200);
    make("/iceberg/v1/namespaces", json!({"namespace": ["ns"]})).await;
    make("/iceberg/v1/namespaces/ns/tables", json!({"name": "t", "schema": schema()})).await;
    let target = heir_of(&source, Setting::Local).await;
    let uri = uri(&source);

    let nobody = import(&target, &["catalog", "--uri", &uri]);
    assert_eq!(nobody.code, 1);
    assert!(nobody.out.contains("answers 401"), "{}{}", nobody.out, nobody.err);
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let wrong = import(&target, &["catalog", "--uri", &uri, "--credential-file", &file("wrong", "mover:wrong-word")]);
    assert!(wrong.code == 1 && !wrong.out.contains("wrong-word"), "{}{}", wrong.out, wrong.err);
    assert!(wrong.out.contains("/v1/oauth/tokens answers 401: invalid_client"), "{}", wrong.out);

    let credential = file("credential", &format!("mover:{secret}\n"));
    let ran = import(&target, &["catalog", "--uri", &uri, "--credential-file", &credential]);
    ran.ends(0, "imported 1 table, 0 views, 1 namespace; 0 already there; 0 failed");
    let again = import(&target, &["catalog", "--uri", &uri, "--token-file", &file("token", &token)]);
    again.ends(0, "imported 0 tables, 0 views, 0 namespaces; 2 already there; 0 failed");
    let server = format!("{uri}/v1/oauth/tokens");
    let said = ["catalog", "--uri", &uri, "--credential-file", &credential, "--oauth2-server-uri", &server];
    assert_eq!(import(&target, &said).code, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn names_are_folded_where_the_server_takes_them_in_any_case() {
    let source = Server::start(Setting::Local).await;
    source.post("/namespaces", json!({"namespace": ["Sales"]})).await.expect(200);
    for name in ["Orders", "ORDERS"] {
        source.post("/namespaces/Sales/tables", json!({"name": name, "schema": schema()})).await.expect(200);
    }
    let target = Server::start_with(Setting::Local, |settings| {
        settings.allow_prefix = vec![source.warehouse.clone()];
        settings.names_in_any_case = Some(true);
    })
    .await;
    let ran = import(&target, &["catalog", "--uri", &uri(&source), "--names-in-any-case"]);
    ran.ends(1, "imported 1 table, 0 views, 1 namespace; 1 in conflict; 0 already there; 0 failed");
    ran.line("conflict table sales.orders: expected uuid");
    target.get("/namespaces/sales/tables/orders").await.expect(200);
}
