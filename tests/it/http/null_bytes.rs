//! Texts with the null byte, which PostgreSQL takes for no text at all: nothing has such a name, and nothing gets one.

use crate::support::server::{Server, on_both_servers, on_both_with_identities, schema};
use reqwest::Method;
use serde_json::{Value, json};

on_both_servers!(on_every_route_it_is_the_clients_fault, nothing_has_such_a_name);
on_both_with_identities!(no_identity_has_such_a_name);

/// Every route with the byte in each name of its path, in its query and in its body.
async fn on_every_route_it_is_the_clients_fault(server: Server) {
    server.namespace().await;
    server.table("t", 2).await;
    let document: Value = serde_json::from_str(&guillemot::api::openapi_json()).unwrap();
    let ident = json!({"namespace": ["ns"], "name": "a\0b"});
    let body = json!({
        "name": "a\0b", "namespace": ["a\0b"], "schema": schema(), "metadata-location": "file:///a\0b",
        "location": "file:///a\0b", "source": ident, "destination": ident, "identifier": ident, "id": null,
        "properties": {"a\0b": "a\0b"}, "updates": [{"action": "set-properties", "updates": {"a\0b": "a\0b"}}],
        "requirements": [], "table-changes": [{"identifier": ident, "requirements": [], "updates": []}],
        "grantee": {"user": "a\0b"}, "privilege": "viewer", "on": {"warehouse": "a\0b"}, "plan-task": "a\0b",
        "report-type": "scan-report", "table-name": "a\0b", "removals": ["a\0b"], "uri": "file:///a\0b",
    });
    let query =
        "warehouse=a%00b&parent=a%00b&user=a%00b&role=a%00b&action=read&namespace=a%00b&table=a%00b&state=a%00b";
    let mut asked = 0;
    for (path, methods) in document["paths"].as_object().unwrap() {
        for method in methods.as_object().unwrap().keys() {
            for path in [everywhere(path), at_the_end(path)] {
                for query in ["", query] {
                    let method: Method = method.to_uppercase().parse().unwrap();
                    let body = [Method::POST, Method::PATCH].contains(&method).then(|| body.clone());
                    let reply = server.send(method.clone(), &format!("{path}?{query}"), body, &[]).await;
                    let status = reply.status.as_u16();
                    assert!(status < 500 || status == 501, "{method} {path}?{query}: {status} {}", reply.text);
                    asked += 1;
                }
            }
        }
    }
    assert!(asked > 150, "{asked}");
    server.get("/namespaces/ns/tables/t").await.expect(200);
}

fn everywhere(path: &str) -> String {
    let segments = path.split('/').map(|segment| if segment.starts_with('{') { "a%00b" } else { segment });
    segments.collect::<Vec<_>>().join("/")
}

/// The last name alone; those before it are there.
fn at_the_end(path: &str) -> String {
    let known = path.replace("{prefix}", "lake").replace("{namespace}", "ns").replace("{warehouse}", "lake");
    match known.rfind('{') {
        Some(_) => everywhere(&known),
        None => everywhere(&path.replace("{prefix}", "lake")),
    }
}

async fn nothing_has_such_a_name(server: Server) {
    server.get("/config?warehouse=a%00b").await.error(404, "NoSuchWarehouseException");
    server.get("/a%00b/namespaces").await.error(404, "NoSuchWarehouseException");
    for path in ["/warehouses/a%00b", "/tasks/a%00b"] {
        let path = format!("/management/v1{path}");
        server.send(Method::GET, &path, None, &[]).await.expect(404);
    }
    server.send(Method::DELETE, "/management/v1/grants/a%00b", None, &[]).await.expect(404);
    let dropped = "/management/v1/warehouses/lake/dropped/a%00b";
    server.send(Method::DELETE, dropped, None, &[]).await.expect(404);
}

async fn no_identity_has_such_a_name(server: Server) {
    let form = [("grant_type", "client_credentials"), ("client_id", "a\0b"), ("client_secret", "a\0b")];
    assert_eq!(server.ask_for_token(&form, &[]).await.expect(401)["error"], "invalid_client");
}
