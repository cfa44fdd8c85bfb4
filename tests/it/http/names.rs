//! Names that are taken in any case, on a server that is set to do so.

use crate::support::server::{Reply, Server, Setting, TEST_USER, schema};
use guillemot::config::Settings;
use guillemot::server;
use reqwest::Method;
use serde_json::{Value, json};

fn any_case(settings: &mut Settings) {
    settings.names_in_any_case = Some(true);
}

fn table(name: &str) -> Value {
    json!({"name": name, "schema": schema()})
}

fn view(name: &str) -> Value {
    json!({"name": name, "schema": schema(), "properties": {}, "view-version": {
        "version-id": 1, "timestamp-ms": 1, "schema-id": 0, "summary": {}, "default-namespace": ["Sales"],
        "representations": [{"type": "sql", "sql": "select 1", "dialect": "spark"}]
    }})
}

fn ident(namespace: &str, name: &str) -> Value {
    json!({"namespace": [namespace], "name": name})
}

/// `Sales` with a table `Orders` and a view `Recent`, made with capitals.
async fn shop(settings: impl FnOnce(&mut Settings)) -> Server {
    let server = Server::start_with(Setting::Local, |all| {
        any_case(all);
        settings(all);
    })
    .await;
    let made = server.post("/namespaces", json!({"namespace": ["Sales"]})).await.expect(200);
    assert_eq!(made["namespace"], json!(["sales"]), "the answer says how it is kept");
    server.post("/namespaces/SALES/tables", table("Orders")).await.expect(200);
    server.post("/namespaces/sales/views", view("Recent")).await.expect(200);
    server
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_name_is_the_same_in_any_case_on_every_route() {
    let server = shop(|_| ()).await;
    let document: Value = serde_json::from_str(&guillemot::api::openapi_json()).unwrap();
    let named = |path: &str, [namespace, table, view]: [&str; 3]| {
        let path = path.replace("{prefix}", "lake").replace("{warehouse}", "lake");
        path.replace("{namespace}", namespace).replace("{table}", table).replace("{view}", view)
    };
    let mut compared = 0;
    for (path, methods) in document["paths"].as_object().unwrap() {
        if !path.contains("{namespace}") {
            continue;
        }
        // What changes something is tried below.
        for method in ["get", "head"].into_iter().filter(|method| methods.get(method).is_some()) {
            let method: Method = method.to_uppercase().parse().unwrap();
            let lower = server.send(method.clone(), &named(path, ["sales", "orders", "recent"]), None, &[]).await;
            let upper = server.send(method.clone(), &named(path, ["SALES", "ORDERS", "RECENT"]), None, &[]).await;
            assert_eq!((lower.status, &lower.text), (upper.status, &upper.text), "{method} {path}");
            compared += 1;
        }
    }
    assert!(compared > 10, "{compared}");
    let list = |reply: Reply, of: &str| reply.expect(200)[of].clone();
    assert_eq!(list(server.get("/namespaces").await, "namespaces"), json!([["sales"]]));
    assert_eq!(list(server.get("/namespaces/Sales/tables").await, "identifiers"), json!([ident("sales", "orders")]));
    assert_eq!(list(server.get("/namespaces/Sales/views").await, "identifiers"), json!([ident("sales", "recent")]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_name_in_another_case_is_taken() {
    let server = shop(|_| ()).await;
    server.post("/namespaces", json!({"namespace": ["SALES"]})).await.error(409, "AlreadyExistsException");
    server.post("/namespaces/sales/tables", table("ORDERS")).await.error(409, "AlreadyExistsException");
    server.post("/namespaces/sales/tables", table("RECENT")).await.error(409, "AlreadyExistsException");
    server.post("/namespaces/sales/views", view("ORDERS")).await.error(409, "AlreadyExistsException");
    server.post("/namespaces", json!({"namespace": ["Sales", "EU"]})).await.expect(200);
    let children = server.get("/namespaces?parent=SALES").await.expect(200);
    assert_eq!(children["namespaces"], json!([["sales", "eu"]]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bodies_name_things_in_any_case() {
    let server = shop(|_| ()).await;
    let change = json!([{"action": "set-properties", "updates": {"k": "v"}}]);
    let commit = json!({"identifier": ident("Sales", "Orders"), "requirements": [], "updates": change});
    server.post("/namespaces/sales/tables/ORDERS", commit.clone()).await.expect(200);
    server.post("/transactions/commit", json!({"table-changes": [commit.clone()]})).await.expect(204);
    let twice = json!({"table-changes": [commit, {"identifier": ident("SALES", "ORDERS"), "requirements": [], "updates": change}]});
    server.post("/transactions/commit", twice).await.error(400, "BadRequestException");
    let rename = json!({"source": ident("SALES", "ORDERS"), "destination": ident("sales", "Bills")});
    server.post("/tables/rename", rename).await.expect(204);
    let rename = json!({"source": ident("Sales", "Recent"), "destination": ident("SALES", "Latest")});
    server.post("/views/rename", rename).await.expect(204);
    let loaded = server.get("/namespaces/sales/tables/bills").await.expect(200);
    server.delete("/namespaces/SALES/tables/BILLS").await.expect(204);
    let register = json!({"name": "BILLS", "metadata-location": loaded["metadata-location"]});
    server.post("/namespaces/Sales/register", register).await.expect(200);
    server.head("/namespaces/sales/tables/bills").await.expect(204);
    let replace = json!({"identifier": ident("SALES", "LATEST"), "updates": [
        {"action": "set-properties", "updates": {"k": "v"}}
    ]});
    server.post("/namespaces/sales/views/Latest", replace).await.expect(200);
    server.delete("/namespaces/sales/views/LATEST").await.expect(204);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dropped_table_comes_back_by_its_name_in_any_case() {
    let server = shop(|_| ()).await;
    let settings = json!({"settings": {"soft-delete-hold-s": 3600}});
    server.send(Method::PATCH, "/management/v1/warehouses/lake", Some(settings), &[]).await.expect(200);
    server.delete("/namespaces/sales/tables/orders").await.expect(204);
    let body = json!({"identifier": ident("SALES", "ORDERS"), "destination": ident("Sales", "Again")});
    let back = server.send(Method::POST, "/management/v1/warehouses/lake/undrop", Some(body), &[]).await.expect(200);
    assert_eq!(back["identifier"], ident("sales", "again"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_grant_holds_for_its_object_in_any_case() {
    let server = Server::start_secured_with(Setting::Local, any_case).await;
    let root = [(TEST_USER, "root")];
    let send = |method: Method, path: &'static str, body: Option<Value>, who: &'static str| {
        let server = &server;
        async move { server.send(method, path, body, &[(TEST_USER, who)]).await }
    };
    server.send(Method::POST, "/iceberg/v1/namespaces", Some(json!({"namespace": ["Sales"]})), &root).await.expect(200);
    for name in ["Orders", "Bills"] {
        send(Method::POST, "/iceberg/v1/namespaces/Sales/tables", Some(table(name)), "root").await.expect(200);
    }
    let grant = json!({"grantee": {"user": "ann"}, "privilege": "viewer",
                       "on": {"warehouse": "lake", "namespace": ["SALES"], "table": "ORDERS"}});
    let made = send(Method::POST, "/management/v1/grants", Some(grant), "root").await.expect(200);
    assert_eq!(made["on"], json!({"warehouse": "lake", "namespace": ["sales"], "table": "orders"}));
    send(Method::GET, "/iceberg/v1/namespaces/sALES/tables/oRDERS", None, "ann").await.expect(200);
    send(Method::GET, "/iceberg/v1/namespaces/SALES/tables/BILLS", None, "ann")
        .await
        .error(404, "NoSuchTableException");
    let drop = send(Method::DELETE, "/iceberg/v1/namespaces/SALES/tables/ORDERS", None, "ann").await;
    drop.error(403, "ForbiddenException");
    let check = "/management/v1/check?user=ann&action=read&warehouse=lake&namespace=Sales&table=ORDERS";
    assert_eq!(send(Method::GET, check, None, "root").await.expect(200)["allowed"], true);
    // Neither a register nor a rename gets around it by capitals.
    let register = json!({"name": "ORDERS", "metadata-location": "file:///x.metadata.json", "overwrite": true});
    let reply = send(Method::POST, "/iceberg/v1/namespaces/SALES/register", Some(register), "ann").await;
    reply.error(403, "ForbiddenException");
    let rename = json!({"source": ident("SALES", "ORDERS"), "destination": ident("sales", "x")});
    send(Method::POST, "/iceberg/v1/tables/rename", Some(rename), "ann").await.error(403, "ForbiddenException");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_the_option_case_tells_names_apart() {
    let server = Server::start(Setting::Local).await;
    server.namespace().await;
    server.table("t", 2).await;
    server.table("T", 2).await;
    server.get("/namespaces/NS/tables/t").await.error(404, "NoSuchTableException");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_catalog_with_capitals_is_not_served_in_any_case() {
    let server = Server::start(Setting::Local).await;
    server.namespace().await;
    server.table("Orders", 2).await;
    let mut config = server.app.config.clone();
    config.names_in_any_case = true;
    let error = server::build(config.clone()).await.unwrap_err().to_string();
    assert!(error.contains("table ns.Orders has capitals in its name"), "{error}");
    let rename = json!({"source": ident("ns", "Orders"), "destination": ident("ns", "orders")});
    server.post("/tables/rename", rename).await.expect(204);
    server.post("/namespaces", json!({"namespace": ["A"]})).await.expect(200);
    let error = server::build(config.clone()).await.unwrap_err().to_string();
    assert!(error.contains("namespace A has capitals in its name"), "{error}");
    server.delete("/namespaces/A").await.expect(204);
    server::build(config).await.unwrap();
}
