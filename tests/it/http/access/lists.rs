//! Lists show what may be seen, in pages that are full.

use super::{As, furnish, make_table};
use crate::support::server::{Server, on_both_secured};
use reqwest::Method;
use serde_json::{Value, json};

on_both_secured!(
    a_table_shows_its_namespaces_by_name_only,
    pages_of_what_may_be_seen_are_full,
    warehouses_tasks_dropped_tables_and_warnings_are_those_that_may_be_seen,
    a_grant_goes_with_its_table,
    a_namespace_made_anew_has_none_of_the_old_grants,
    a_hidden_warehouse_is_as_if_it_were_not_there_whatever_is_asked,
);

async fn a_table_shows_its_namespaces_by_name_only(server: Server) {
    furnish(&server).await;
    let secret = json!({"updates": {"secret": "yes"}});
    As(&server, "root").post("/namespaces/ns/properties", secret).await.expect(200);
    server.grant_in("tom", "viewer", "ns.inner", "t").await;
    let tom = As(&server, "tom");
    assert_eq!(tom.get("/namespaces").await.expect(200), json!({"namespaces": [["ns"]]}));
    assert_eq!(tom.get("/namespaces?parent=ns").await.expect(200), json!({"namespaces": [["ns", "inner"]]}));
    assert_eq!(tom.get("/namespaces/ns").await.expect(200), json!({"namespace": ["ns"], "properties": {}}));
    assert_eq!(tom.get("/namespaces/ns/tables").await.expect(200), json!({"identifiers": []}));
    let inner = json!({"identifiers": [{"namespace": ["ns", "inner"], "name": "t"}]});
    assert_eq!(tom.get("/namespaces/ns%1Finner/tables").await.expect(200), inner);
    assert_eq!(tom.get("/namespaces/ns%1Finner/views").await.expect(200), json!({"identifiers": []}));
    tom.get("/namespaces/ns%1Finner/tables/t").await.expect(200);
    tom.get("/namespaces/ns%1Finner/tables/u").await.error(404, "NoSuchTableException");
    tom.get("/namespaces/other").await.error(404, "NoSuchNamespaceException");
    tom.get("/namespaces?parent=other").await.error(404, "NoSuchNamespaceException");
    tom.get("/namespaces/ns/tables/t").await.error(404, "NoSuchTableException");
    assert_eq!(tom.get("/config?warehouse=lake").await.expect(200)["overrides"]["prefix"], "lake");
}

async fn pages_of_what_may_be_seen_are_full(server: Server) {
    furnish(&server).await;
    for n in 0..7 {
        make_table(&server, "other", &format!("a{n}")).await;
        make_table(&server, "other", &format!("b{n}")).await;
        server.grant_in("tom", "viewer", "other", &format!("b{n}")).await;
    }
    let tom = As(&server, "tom");
    let (mut token, mut names, mut sizes) = (String::new(), Vec::new(), Vec::new());
    loop {
        let page = tom.get(&format!("/namespaces/other/tables?pageSize=3&pageToken={token}")).await.expect(200);
        let some = page["identifiers"].as_array().unwrap();
        sizes.push(some.len());
        names.extend(some.iter().map(|ident| ident["name"].as_str().unwrap().to_owned()));
        let Some(next) = page["next-page-token"].as_str() else { break };
        next.clone_into(&mut token);
    }
    assert_eq!(sizes, [3, 3, 1]);
    assert_eq!(names, ["b0", "b1", "b2", "b3", "b4", "b5", "b6"]);
}

async fn warehouses_tasks_dropped_tables_and_warnings_are_those_that_may_be_seen(server: Server) {
    furnish(&server).await;
    let root = As(&server, "root");
    let location = format!("{}/second", server.warehouse);
    let second = json!({"name": "second", "location": &location, "settings": {"soft-delete-hold-s": 1000}});
    root.manage(Method::POST, "/warehouses", Some(second)).await.expect(200);
    root.post("/second/namespaces", json!({"namespace": ["a"]})).await.expect(200);
    let table = |name: &str| json!({"name": name, "schema": crate::support::server::schema()});
    for name in ["t", "u"] {
        root.post("/second/namespaces/a/tables", table(name)).await.expect(200);
        root.delete(&format!("/second/namespaces/a/tables/{name}")).await.expect(204);
    }
    server.grant_in("ned", "editor", "ns", "").await;
    let names = |list: &Value, key: &str| -> Vec<String> {
        list[key].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap().to_owned()).collect()
    };
    let ned = As(&server, "ned");
    let seen = ned.manage(Method::GET, "/warehouses", None).await.expect(200);
    assert_eq!(names(&seen, "warehouses"), ["lake"]);
    // Of a warehouse that holds something of theirs they learn the name, and not how its store is reached.
    for hidden in ["location", "settings", "storage-secret"] {
        assert_eq!(seen["warehouses"][0].get(hidden), None);
    }
    let all = root.manage(Method::GET, "/warehouses", None).await.expect(200);
    assert_eq!(all["warehouses"][1]["location"], location.as_str());
    assert_eq!(
        names(&root.manage(Method::GET, "/warehouses", None).await.expect(200), "warehouses"),
        ["lake", "second"]
    );
    ned.manage(Method::GET, "/warehouses/second", None).await.error(404, "NoSuchWarehouseException");
    ned.manage(Method::GET, "/warehouses/second/dropped", None).await.error(404, "NoSuchWarehouseException");
    ned.manage(Method::GET, "/warehouses/second/warnings", None).await.error(404, "NoSuchWarehouseException");
    let undrop = json!({"identifier": {"namespace": ["a"], "name": "t"}});
    ned.manage(Method::POST, "/warehouses/second/undrop", Some(undrop.clone()))
        .await
        .error(404, "NoSuchWarehouseException");
    let dropped = root.manage(Method::GET, "/warehouses/second/dropped", None).await.expect(200);
    assert_eq!(dropped["tables"].as_array().unwrap().len(), 2);
    let tasks = async |who: &As<'_>| {
        let all = who.manage(Method::GET, "/tasks", None).await.expect(200);
        all["tasks"].as_array().unwrap().len()
    };
    assert_eq!((tasks(&root).await, tasks(&ned).await), (2, 0));
    // Who sees another part of the warehouse sees none of what was dropped here.
    root.post("/second/namespaces", json!({"namespace": ["b"]})).await.expect(200);
    let on = json!({"warehouse": "second", "namespace": ["b"]});
    let grant = json!({"grantee": {"user": "ned"}, "privilege": "editor", "on": on});
    root.manage(Method::POST, "/grants", Some(grant)).await.expect(200);
    let seen = ned.manage(Method::GET, "/warehouses/second/dropped", None).await.expect(200);
    assert_eq!(seen, json!({"tables": []}));
    let message = ned.manage(Method::POST, "/warehouses/second/undrop", Some(undrop)).await;
    assert_eq!(message.error(404, "NoSuchTableException"), "Table does not exist: a.t");
    let id = dropped["tables"][0]["id"].as_str().unwrap();
    let by_id = json!({"id": id, "destination": {"namespace": ["b"], "name": "mine"}});
    let message = ned.manage(Method::POST, "/warehouses/second/undrop", Some(by_id)).await;
    assert_eq!(message.error(404, "NoSuchTableException"), format!("Table does not exist: {id}"));

    // Nor does he end its time; one who sees it and may not drop it hears that.
    let end = format!("/warehouses/second/dropped/{id}");
    let message = ned.manage(Method::DELETE, &end, None).await;
    assert_eq!(message.error(404, "NoSuchTableException"), format!("Table does not exist: {id}"));
    let on = json!({"warehouse": "second"});
    let grant = json!({"grantee": {"user": "vic"}, "privilege": "viewer", "on": on});
    root.manage(Method::POST, "/grants", Some(grant)).await.expect(200);
    let vic = As(&server, "vic");
    vic.manage(Method::DELETE, &end, None).await.error(403, "ForbiddenException");
    let tasks = root.manage(Method::GET, "/tasks", None).await.expect(200);
    let task = tasks["tasks"].as_array().unwrap().iter().find(|task| task["warehouse-id"].is_string()).unwrap();
    let retry = format!("/tasks/{}/retry", task["id"].as_str().unwrap());
    vic.manage(Method::POST, &retry, None).await.error(403, "ForbiddenException");
    ned.manage(Method::POST, &retry, None).await.error(404, "NotFoundException");
    root.manage(Method::DELETE, &end, None).await.expect(204);
}

async fn a_hidden_warehouse_is_as_if_it_were_not_there_whatever_is_asked(server: Server) {
    let root = As(&server, "root");
    for name in ["off", "second"] {
        let new = json!({"name": name, "location": format!("{}/{name}", server.warehouse)});
        root.manage(Method::POST, "/warehouses", Some(new)).await.expect(200);
    }
    let off = json!({"active": false});
    root.manage(Method::PATCH, "/warehouses/off", Some(off)).await.expect(200);
    let ned = As(&server, "ned");
    let asks = [
        (Method::GET, "/WAREHOUSE/namespaces"),
        (Method::GET, "/WAREHOUSE/namespaces?parent=%00"),
        (Method::GET, "/WAREHOUSE/namespaces/%1F/tables"),
        (Method::GET, "/WAREHOUSE/namespaces/a%00/tables"),
        (Method::DELETE, "/WAREHOUSE/namespaces/a/tables/t?purgeRequested=x"),
        (Method::GET, "/config?warehouse=WAREHOUSE"),
    ];
    for (method, path) in asks {
        let ask = async |name: &str| {
            let reply = ned.send(method.clone(), &path.replace("WAREHOUSE", name), None).await;
            (reply.status, reply.text.replace(name, "WAREHOUSE"))
        };
        let none = ask("none").await;
        assert_eq!(none.0, 404, "{path}");
        for name in ["off", "second"] {
            assert_eq!(ask(name).await, none, "{name} {path}");
        }
    }
}

async fn a_grant_goes_with_its_table(server: Server) {
    furnish(&server).await;
    server.grant_in("tom", "viewer", "ns", "t").await;
    let (tom, root) = (As(&server, "tom"), As(&server, "root"));
    tom.get("/namespaces/ns/tables/t").await.expect(200);
    let rename = |from: [&str; 2], to: [&str; 2]| {
        let ident = |name: [&str; 2]| json!({"namespace": [name[0]], "name": name[1]});
        json!({"source": ident(from), "destination": ident(to)})
    };
    root.post("/tables/rename", rename(["ns", "t"], ["other", "moved"])).await.expect(204);
    // Somebody else's table gets the name: the one who could read the first cannot read the second.
    root.post("/tables/rename", rename(["ns", "u"], ["ns", "t"])).await.expect(204);
    tom.get("/namespaces/ns/tables/t").await.error(404, "NoSuchTableException");
    tom.get("/namespaces/other/tables/moved").await.expect(200);
    // With the table its grants end.
    root.delete("/namespaces/other/tables/moved").await.expect(204);
    make_table(&server, "other", "moved").await;
    tom.get("/lake/namespaces/other/tables/moved").await.error(404, "NoSuchWarehouseException");
    assert_eq!(tom.manage(Method::GET, "/grants", None).await.expect(200), json!({"grants": []}));
}

async fn a_namespace_made_anew_has_none_of_the_old_grants(server: Server) {
    let root = As(&server, "root");
    root.post("/namespaces", json!({"namespace": ["ns"]})).await.expect(200);
    server.grant_in("tom", "admin", "ns", "").await;
    As(&server, "tom").get("/namespaces/ns").await.expect(200);
    root.delete("/namespaces/ns").await.expect(204);
    root.post("/namespaces", json!({"namespace": ["ns"]})).await.expect(200);
    As(&server, "tom").get("/lake/namespaces/ns").await.error(404, "NoSuchWarehouseException");
}
