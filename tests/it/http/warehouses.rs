use crate::support::server::{Server, on_both_servers};
use reqwest::Method;
use serde_json::{Value, json};

on_both_servers!(the_life_of_a_warehouse, a_warehouse_has_rules_of_its_own, bad_warehouses_are_refused);

async fn manage(server: &Server, method: Method, path: &str, body: Option<Value>) -> crate::support::server::Reply {
    server.send(method, &format!("/management/v1/warehouses{path}"), body, &[]).await
}

async fn the_life_of_a_warehouse(server: Server) {
    let location = format!("{}-second", server.warehouse);
    let body = json!({"name": "projects/p/second", "location": location});
    let made = manage(&server, Method::POST, "", Some(body.clone())).await.expect(200);
    assert_eq!((&made["location"], &made["active"]), (&json!(location), &json!(true)));
    manage(&server, Method::POST, "", Some(body)).await.error(409, "AlreadyExistsException");
    let one = "/projects%2Fp%2Fsecond";
    assert_eq!(manage(&server, Method::GET, one, None).await.expect(200), made);
    let list = manage(&server, Method::GET, "", None).await.expect(200);
    assert_eq!(list["warehouses"].as_array().unwrap().len(), 2);

    // With two warehouses and none named `default`, requests must say which they mean.
    server.get("/config").await.error(400, "BadRequestException");
    let config = server.get("/config?warehouse=projects%2Fp%2Fsecond").await.expect(200);
    assert_eq!(config["overrides"]["prefix"], "projects/p/second");
    server.post("/projects/p/second/namespaces", json!({"namespace": ["ns"]})).await.expect(200);
    assert_eq!(server.get("/lake/namespaces").await.expect(200)["namespaces"], json!([]));

    let off = json!({"active": false});
    assert_eq!(manage(&server, Method::PATCH, one, Some(off)).await.expect(200)["active"], false);
    server.get("/projects/p/second/namespaces").await.error(404, "NoSuchWarehouseException");
    manage(&server, Method::PATCH, one, Some(json!({"active": true}))).await.expect(200);
    manage(&server, Method::DELETE, one, None).await.error(409, "NotEmptyException");
    server.delete("/projects/p/second/namespaces/ns").await.expect(204);
    manage(&server, Method::DELETE, one, None).await.expect(204);
    manage(&server, Method::GET, one, None).await.error(404, "NoSuchWarehouseException");
    manage(&server, Method::DELETE, one, None).await.error(404, "NoSuchWarehouseException");
}

async fn a_warehouse_has_rules_of_its_own(server: Server) {
    let settings = json!({"settings": {"rules": {"manifest-list-missing": "off"}}});
    manage(&server, Method::PATCH, "/lake", Some(settings)).await.expect(200);
    let unknown = json!({"settings": {"rules": {"invented": "off"}}});
    let message = manage(&server, Method::PATCH, "/lake", Some(unknown)).await.error(400, "BadRequestException");
    assert!(message.contains("invented"), "{message}");
    let kept = manage(&server, Method::GET, "/lake", None).await.expect(200);
    assert_eq!(kept["settings"]["rules"], json!({"manifest-list-missing": "off"}));
}

async fn bad_warehouses_are_refused(server: Server) {
    for (name, location) in [("views", "gs://b"), ("a b", "gs://b"), ("", "gs://b"), ("good", "ftp://b"), ("good", "")]
    {
        let body = json!({"name": name, "location": location});
        manage(&server, Method::POST, "", Some(body)).await.error(400, "BadRequestException");
    }
}
