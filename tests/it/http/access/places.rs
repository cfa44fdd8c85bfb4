//! Which places of a warehouse callers may name, and what the server does there in their name.

use super::{As, furnish, make_table};
use crate::support::server::{Server, on_both_secured, schema};
use crate::support::snapshots::Appender;
use reqwest::Method;
use serde_json::{Value, json};

on_both_secured!(
    what_was_left_behind_is_for_those_who_may_write_there,
    a_part_of_the_warehouse_is_no_more_than_that,
    a_forged_log_deletes_nothing_of_others,
    forged_metadata_shows_nothing_of_others,
);

fn commit(updates: &Value) -> Value {
    json!({"requirements": [], "updates": updates})
}

async fn what_was_left_behind_is_for_those_who_may_write_there(server: Server) {
    furnish(&server).await;
    let root = As(&server, "root");
    for (user, namespace) in [("ned", "ns"), ("olga", "other"), ("both", "ns"), ("both", "other")] {
        server.grant_in(user, "editor", namespace, "").await;
    }
    let create = |place: &str| json!({"name": "again", "schema": schema(), "location": place});
    let table = root.get("/namespaces/ns/tables/t").await.expect(200);
    let place = table["metadata"]["location"].as_str().unwrap();
    let register = json!({"name": "again", "metadata-location": table["metadata-location"]});
    root.delete("/namespaces/ns/tables/t").await.expect(204);

    let olga = As(&server, "olga");
    let refusal = olga.post("/namespaces/other/tables", create(place)).await.error(403, "ForbiddenException");
    assert!(refusal.contains(place) && !refusal.contains("namespace ns"), "{refusal}");
    olga.post("/namespaces/other/register", register.clone()).await.error(403, "ForbiddenException");
    let sub = olga.post("/namespaces/other/tables", create(&format!("{place}/sub"))).await;
    sub.error(403, "ForbiddenException");
    // Those who may write there do as they like, and a table that lives on remains is like any other.
    let ned = As(&server, "ned");
    let again = ned.post("/namespaces/ns/register", register.clone()).await.expect(200);
    Appender::new("again", &again).by("ned").append(&server, 1).await;
    let path = json!([{"action": "set-properties", "updates": {"write.data.path": format!("{place}/data")}}]);
    ned.post("/namespaces/ns/tables/again", commit(&path)).await.expect(200);
    ned.delete("/namespaces/ns/tables/again").await.expect(204);
    // Whoever takes it up leaves it as their own.
    As(&server, "both").post("/namespaces/other/register", register.clone()).await.expect(200);
    As(&server, "both").delete("/namespaces/other/tables/again").await.expect(204);
    ned.post("/namespaces/ns/register", register.clone()).await.error(403, "ForbiddenException");
    olga.post("/namespaces/other/register", register.clone()).await.expect(200);
    olga.delete("/namespaces/other/tables/again").await.expect(204);
    // Whoever may write all of the warehouse may take up everything.
    server.grant_in("wanda", "editor", "", "").await;
    As(&server, "wanda").post("/namespaces/ns/register", register).await.expect(200);
}

/// What is no table's and in no namespace's folder is the warehouse's.
async fn a_part_of_the_warehouse_is_no_more_than_that(server: Server) {
    furnish(&server).await;
    server.grant_in("ned", "editor", "ns", "").await;
    let (ned, root) = (As(&server, "ned"), As(&server, "root"));
    let lake = server.warehouse.clone();
    let create = |name: &str, place: &str| json!({"name": name, "schema": schema(), "location": place});
    for place in ["loose", "other/new", "ns2/new", "n"] {
        let refused = ned.post("/namespaces/ns/tables", create("x", &format!("{lake}/{place}"))).await;
        assert!(refused.error(403, "ForbiddenException").contains("in the folder of no namespace"), "{place}");
    }
    ned.post("/namespaces/ns/tables", create("one", &format!("{lake}/ns/one"))).await.expect(200);
    ned.post("/namespaces/ns%1Finner/tables", create("two", &format!("{lake}/ns/inner/two"))).await.expect(200);
    let set =
        |key: &str, place: &str| json!([{"action": "set-properties", "updates": {key: format!("{lake}/{place}")}}]);
    let refused = ned.post("/namespaces/ns/tables/one", commit(&set("write.data.path", "loose"))).await;
    refused.error(403, "ForbiddenException");
    ned.post("/namespaces/ns/tables/one", commit(&set("write.data.path", "ns/data"))).await.expect(200);
    // A folder is given by who may write it.
    let folder = |place: &str| json!({"updates": {"location": format!("{lake}/{place}")}});
    ned.post("/namespaces/ns/properties", folder("loose")).await.error(403, "ForbiddenException");
    ned.post("/namespaces/ns/properties", folder("ns/tables")).await.expect(200);
    let body = json!({"namespace": ["ns", "new"], "properties": {"location": format!("{lake}/loose")}});
    ned.post("/namespaces", body).await.error(403, "ForbiddenException");
    root.post("/namespaces/ns/properties", folder("teams/ned")).await.expect(200);
    ned.post("/namespaces/ns/tables", create("three", &format!("{lake}/teams/ned/3"))).await.expect(200);
    ned.post("/namespaces/ns/tables", json!({"name": "four", "schema": schema()})).await.expect(200);
    // Who may write the whole warehouse is free in it.
    server.grant_in("wanda", "editor", "", "").await;
    As(&server, "wanda").post("/namespaces/ns/tables", create("five", &format!("{lake}/loose"))).await.expect(200);
}

/// A table of `ns` that was dropped, with a snapshot: what it was loaded as, and its files.
async fn gone(server: &Server) -> (Value, Vec<String>) {
    let mut appender = Appender::new("gone", &make_table(server, "ns", "gone").await).by("root");
    let loaded = appender.append(server, 1).await;
    As(server, "root").delete("/namespaces/ns/tables/gone").await.expect(204);
    let mut files = appender.files;
    files.push(loaded["metadata-location"].as_str().unwrap().to_owned());
    (loaded, files)
}

/// Writes metadata into the place that `other.u` had, which the editor of `other` dropped.
async fn forge(server: &Server, change: impl FnOnce(&mut Value)) -> String {
    let mine = As(server, "olga").get("/namespaces/other/tables/u").await.expect(200);
    As(server, "olga").delete("/namespaces/other/tables/u").await.expect(204);
    let mut metadata = mine["metadata"].clone();
    change(&mut metadata);
    let file = format!("{}/metadata/forged.metadata.json", mine["metadata"]["location"].as_str().unwrap());
    server.app.storage.write_new(&file, metadata.to_string().into()).await.unwrap();
    file
}

async fn a_forged_log_deletes_nothing_of_others(server: Server) {
    furnish(&server).await;
    server.grant_in("olga", "editor", "other", "").await;
    server.grant_in("olga", "purge", "other", "").await;
    let (_, files) = gone(&server).await;
    let olga = As(&server, "olga");
    let lake = server.warehouse.clone();
    let file = forge(&server, |metadata| {
        let logged = |file: &String| json!({"metadata-file": file, "timestamp-ms": metadata["last-updated-ms"]});
        metadata["metadata-log"] = files.iter().map(logged).collect();
        metadata["properties"] = json!({
            "write.metadata.delete-after-commit.enabled": "true", "write.metadata.previous-versions-max": "1",
            "write.evil.path": lake, "write.foo.path": format!("{lake}/ns"),
        });
    })
    .await;
    let register = json!({"name": "u", "metadata-location": file});
    olga.post("/namespaces/other/register", register).await.expect(200);
    let set = |key: &str, value: &str| commit(&json!([{"action": "set-properties", "updates": {key: value}}]));
    olga.post("/namespaces/other/tables/u", set("a", "1")).await.expect(200);
    // What is not checked when it is set counts for nothing, and what is checked is refused.
    for path in ["write.data.path", "write.metadata.path", "write.object-storage.path", "write.folder-storage.path"] {
        olga.post("/namespaces/other/tables/u", set(path, &lake)).await.error(403, "ForbiddenException");
    }
    olga.delete("/namespaces/other/tables/u?purgeRequested=true").await.expect(204);
    server.work_off().await;
    for file in &files {
        assert!(server.app.storage.size(file).await.is_ok(), "{file} is gone");
    }
}

async fn forged_metadata_shows_nothing_of_others(server: Server) {
    furnish(&server).await;
    server.grant_in("olga", "editor", "other", "").await;
    let (loaded, _) = gone(&server).await;
    let theirs = &loaded["metadata"];
    let file = forge(&server, |metadata| {
        for member in ["snapshots", "refs", "current-snapshot-id", "last-sequence-number", "snapshot-log"] {
            metadata[member] = theirs[member].clone();
        }
    })
    .await;
    let register = json!({"name": "u", "metadata-location": file});
    // However strict the check is.
    for check in ["off", "warn", "deny"] {
        let settings = json!({"settings": {"register-check": check, "rules-mode": "log-only"}});
        As(&server, "root").manage(Method::PATCH, "/warehouses/lake", Some(settings)).await.expect(200);
        let reply = As(&server, "olga").post("/namespaces/other/register", register.clone()).await;
        let message = reply.error(400, "BadRequestException");
        assert!(message.contains("a place that is this table's own"), "{check}: {message}");
    }
    // Whoever may do everything may do that too, and those who read the table then do not see what they may not.
    As(&server, "root").post("/namespaces/other/register", register).await.expect(200);
    let plan = |user: &'static str| {
        let server = &server;
        async move { As(server, user).post("/namespaces/other/tables/u/plan", json!({})).await }
    };
    assert!(!plan("olga").await.status.is_success());
    plan("root").await.expect(200);
    server.grant_in("olga", "viewer", "ns", "").await;
    plan("olga").await.expect(200);
}
