use crate::support::server::{Server, on_both_servers};
use serde_json::{Value, json};

on_both_servers!(the_life_of_a_namespace, nested_namespaces, lists_come_in_pages, a_location_outside_is_refused);

async fn the_life_of_a_namespace(server: Server) {
    let made = server.post("/namespaces", json!({"namespace": ["ns"], "properties": {"a": "1"}})).await.expect(200);
    assert_eq!(made, json!({"namespace": ["ns"], "properties": {"a": "1"}}));
    let again = server.post("/namespaces", json!({"namespace": ["ns"]})).await;
    assert_eq!(again.error(409, "AlreadyExistsException"), "Namespace already exists: ns");
    assert_eq!(server.head("/namespaces/ns").await.status.as_u16(), 204);
    let change = json!({"removals": ["a", "none"], "updates": {"b": "2"}});
    let changed = server.post("/namespaces/ns/properties", change).await.expect(200);
    assert_eq!(changed, json!({"updated": ["b"], "removed": ["a"], "missing": ["none"]}));
    let both = json!({"removals": ["b"], "updates": {"b": "3"}});
    server.post("/namespaces/ns/properties", both).await.error(422, "UnprocessableEntityException");
    assert_eq!(server.get("/namespaces/ns").await.expect(200)["properties"], json!({"b": "2"}));
    server.table("t", 2).await;
    let full = server.delete("/namespaces/ns").await.error(409, "NamespaceNotEmptyException");
    assert!(full.contains("is not empty"), "{full}");
    server.delete("/namespaces/ns/tables/t").await.expect(204);
    server.delete("/namespaces/ns").await.expect(204);
    let gone = server.get("/namespaces/ns").await.error(404, "NoSuchNamespaceException");
    assert_eq!(gone, "Namespace does not exist: ns");
    assert_eq!(server.head("/namespaces/ns").await.status.as_u16(), 404);
}

async fn nested_namespaces(server: Server) {
    server.post("/namespaces", json!({"namespace": ["a", "b"]})).await.error(404, "NoSuchNamespaceException");
    server.post("/namespaces", json!({"namespace": ["a"]})).await.expect(200);
    server.post("/namespaces", json!({"namespace": ["a", "b"]})).await.expect(200);
    assert_eq!(server.get("/namespaces").await.expect(200)["namespaces"], json!([["a"]]));
    assert_eq!(server.get("/namespaces?parent=").await.expect(200)["namespaces"], json!([["a"]]));
    assert_eq!(server.get("/namespaces?parent=a").await.expect(200)["namespaces"], json!([["a", "b"]]));
    assert_eq!(server.get("/namespaces/a%1Fb").await.expect(200)["namespace"], json!(["a", "b"]));
    server.get("/namespaces?parent=none").await.error(404, "NoSuchNamespaceException");
    server.delete("/namespaces/a").await.error(409, "NamespaceNotEmptyException");
}

async fn lists_come_in_pages(server: Server) {
    for i in 0..7 {
        server.post("/namespaces", json!({"namespace": [format!("n{i}")]})).await.expect(200);
    }
    let all = server.get("/namespaces").await.expect(200);
    assert_eq!((all["namespaces"].as_array().unwrap().len(), &all["next-page-token"]), (7, &Value::Null));
    let (mut seen, mut token) = (Vec::new(), String::new());
    loop {
        let page = server.get(&format!("/namespaces?pageToken={token}&pageSize=3")).await.expect(200);
        let names = page["namespaces"].as_array().unwrap().clone();
        assert!(names.len() <= 3);
        seen.extend(names);
        match page["next-page-token"].as_str() {
            Some(next) => next.clone_into(&mut token),
            None => break,
        }
    }
    assert_eq!(Value::from(seen), all["namespaces"]);
}

async fn a_location_outside_is_refused(server: Server) {
    let body = json!({"namespace": ["ns"], "properties": {"location": "gs://another-bucket/x"}});
    let message = server.post("/namespaces", body).await.error(400, "BadRequestException");
    assert!(message.contains("gs://another-bucket/x") && message.contains(&server.warehouse), "{message}");
    let inside = format!("{}/elsewhere", server.warehouse);
    let body = json!({"namespace": ["ns"], "properties": {"location": inside}});
    server.post("/namespaces", body).await.expect(200);
    let table = server.table("t", 2).await;
    assert_eq!(table["metadata"]["location"], format!("{inside}/t"));
}
