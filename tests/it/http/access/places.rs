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
    what_a_table_has_besides_its_location_is_its_own,
    a_place_stays_its_tables_whatever_becomes_of_both,
    a_table_in_a_place_of_its_own_goes_on,
    a_namespace_may_be_named_as_a_table_is,
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

/// Files in places that properties name, one of them for two tables, and a table that was renamed away from its place.
async fn what_a_table_has_besides_its_location_is_its_own(server: Server) {
    furnish(&server).await;
    server.grant_in("olga", "editor", "other", "").await;
    server.grant_in("olga", "purge", "other", "").await;
    let (root, olga, lake) = (As(&server, "root"), As(&server, "olga"), server.warehouse.clone());
    let set = |key: &str, place: &str| {
        commit(&json!([{"action": "set-properties", "updates": {key: format!("{lake}/{place}")}}]))
    };
    let rename = |from: [&str; 2], to: [&str; 2]| {
        let ident = |[namespace, name]: [&str; 2]| json!({"namespace": [namespace], "name": name});
        json!({"source": ident(from), "destination": ident(to)})
    };
    // `other.t` has files in the folder of `other`, and goes to `ns`.
    root.post("/namespaces/other/tables/t", set("write.data.path", "other/apart")).await.expect(200);
    root.post("/tables/rename", rename(["other", "t"], ["ns", "away"])).await.expect(204);
    for key in ["write.data.path", "write.metadata.path"] {
        for place in ["other/apart", "other/apart/below"] {
            olga.post("/namespaces/other/tables/u", set(key, place)).await.error(403, "ForbiddenException");
        }
    }
    let body = json!({"name": "x", "schema": schema(), "location": format!("{lake}/other/apart")});
    olga.post("/namespaces/other/tables", body).await.error(403, "ForbiddenException");

    // Of two tables that share a place one goes to `other`, and is purged there.
    let mut shared = Vec::new();
    for name in ["one", "two"] {
        make_table(&server, "ns", name).await;
        let table = root.post(&format!("/namespaces/ns/tables/{name}"), set("write.data.path", "ns/shared")).await;
        let mut appender = Appender::new(name, &table.expect(200)).by("root");
        let file = format!("{lake}/ns/shared/{name}.parquet");
        appender.append_named(&server, vec![file.clone()]).await;
        shared.push(file);
    }
    root.post("/tables/rename", rename(["ns", "one"], ["other", "one"])).await.expect(204);
    // Nobody else has the place of a third.
    make_table(&server, "ns", "three").await;
    let table = root.post("/namespaces/ns/tables/three", set("write.data.path", "apart/three")).await.expect(200);
    let alone = format!("{lake}/apart/three/1.parquet");
    Appender::new("three", &table).by("root").append_named(&server, vec![alone.clone()]).await;
    root.delete("/namespaces/ns/tables/three?purgeRequested=true").await.expect(204);
    server.work_off().await;
    assert!(server.app.storage.size(&alone).await.is_err(), "{alone} is still there");
    // What stays as it is is not judged anew.
    olga.post("/namespaces/other/tables/one", set("write.metadata.path", "other/meta")).await.expect(200);
    olga.delete("/namespaces/other/tables/one?purgeRequested=true").await.expect(204);
    server.work_off().await;
    for file in &shared {
        assert!(server.app.storage.size(file).await.is_ok(), "{file} is gone");
    }

    // Metadata of `ns.two` in a folder besides, and a plan of another table that names it in an old snapshot.
    make_table(&server, "ns", "vm").await;
    let table = root.post("/namespaces/ns/tables/vm", set("write.metadata.path", "ns/mm")).await.expect(200);
    let mut elsewhere = table.clone();
    elsewhere["metadata"]["location"] = json!(format!("{lake}/ns/mm"));
    let theirs = Appender::new("vm", &elsewhere).by("root").append(&server, 1).await["metadata"].clone();
    let file = forge(&server, |metadata| {
        for member in ["snapshots", "last-sequence-number"] {
            metadata[member] = theirs[member].clone();
        }
    })
    .await;
    let register = json!({"name": "u", "metadata-location": file});
    olga.post("/namespaces/other/register", register).await.expect(200);
    let plan = json!({"snapshot-id": theirs["current-snapshot-id"]});
    let reply = olga.post("/namespaces/other/tables/u/plan", plan.clone()).await;
    assert!(!reply.status.is_success(), "{}", reply.text);
    root.post("/namespaces/other/tables/u/plan", plan).await.expect(200);
}

/// Tables that were in `other`, have files there, and are in `ns` now.
async fn a_place_stays_its_tables_whatever_becomes_of_both(server: Server) {
    furnish(&server).await;
    server.grant_in("olga", "editor", "other", "").await;
    server.grant_in("ned", "editor", "ns", "").await;
    let (root, olga, lake) = (As(&server, "root"), As(&server, "olga"), server.warehouse.clone());
    let set = |key: &str, place: &str| {
        commit(&json!([{"action": "set-properties", "updates": {key: format!("{lake}/{place}")}}]))
    };
    let go = |to: &str| commit(&json!([{"action": "set-location", "location": format!("{lake}/{to}")}]));
    let create =
        |name: &str, place: &str| json!({"name": name, "schema": schema(), "location": format!("{lake}/{place}")});
    let away = async |name: &str| {
        let ident = |namespace: &str| json!({"namespace": [namespace], "name": name});
        let rename = json!({"source": ident("other"), "destination": ident("ns")});
        root.post("/tables/rename", rename).await.expect(204);
    };
    for name in ["meta", "former", "moved"] {
        make_table(&server, "other", name).await;
    }
    // A place that has the name of a table to be, and one that is where the table lived.
    let table = root.post("/namespaces/other/tables/meta", set("write.metadata.path", "other/mm")).await.expect(200);
    root.post("/namespaces/other/tables/former", go("other/former2")).await.expect(200);
    root.post("/namespaces/other/tables/former", set("write.data.path", "other/former")).await.expect(200);
    root.post("/namespaces/other/tables/moved", go("other/moved2")).await.expect(200);
    for name in ["meta", "former", "moved"] {
        away(name).await;
    }
    let made = olga.post("/namespaces/other/tables", json!({"name": "mm", "schema": schema()})).await.expect(200);
    let location = made["metadata"]["location"].as_str().unwrap();
    assert!(location.starts_with(&format!("{lake}/other/mm-")), "{location}");
    for place in ["other/mm", "other/former", "other/moved"] {
        olga.post("/namespaces/other/tables", create("x", place)).await.error(403, "ForbiddenException");
    }
    // Who takes a large folder takes nothing of it from others, and neither reads it nor keeps them out.
    olga.post("/namespaces/other/tables/u", set("write.data.path", "other")).await.expect(200);
    let mut elsewhere = table.clone();
    elsewhere["metadata"]["location"] = json!(format!("{lake}/other/mm"));
    let mut appender = Appender::of("ns", "meta", &elsewhere).by("ned");
    appender.append(&server, 1).await;
    As(&server, "ned").post("/namespaces/ns/tables/meta/plan", json!({})).await.expect(200);
    let theirs = format!("{lake}/other/mm/metadata/1000-m0.avro");
    let mine = olga.get("/namespaces/other/tables/u").await.expect(200);
    let reply = Appender::of("other", "u", &mine).by("olga").try_lend(&server, &theirs).await;
    reply.error(400, "BadRequestException");

    // A table that goes to live where it had files is a table that lives there.
    make_table(&server, "ns", "home").await;
    root.post("/namespaces/ns/tables/home", set("write.data.path", "ns/new")).await.expect(200);
    let table = root.post("/namespaces/ns/tables/home", go("ns/new")).await.expect(200);
    let twin = json!({"name": "twin", "metadata-location": table["metadata-location"]});
    root.post("/namespaces/ns/register", twin).await.error(400, "BadRequestException");
    root.post("/namespaces/ns/tables", create("twin", "ns/new")).await.error(400, "BadRequestException");
}

/// Who may write a table goes on with the places that it has.
async fn a_table_in_a_place_of_its_own_goes_on(server: Server) {
    furnish(&server).await;
    let (root, lake) = (As(&server, "root"), server.warehouse.clone());
    let set = |key: &str, place: &str| {
        commit(&json!([{"action": "set-properties", "updates": {key: format!("{lake}/{place}")}}]))
    };
    let path = "/namespaces/ns/tables/t";
    root.post(path, set("write.metadata.path", "meta/t")).await.expect(200);
    root.post(path, set("write.data.path", "data/t")).await.expect(200);
    server.grant_in("ned", "editor", "ns", "").await;
    server.grant_in("tess", "editor", "ns", "t").await;
    server.grant_in("vic", "viewer", "ns", "t").await;
    let (ned, tess) = (As(&server, "ned"), As(&server, "tess"));
    // One path is changed, the other stays where an admin put it; and it may be taken away.
    ned.post(path, set("write.data.path", "ns/data")).await.expect(200);
    tess.post(path, set("write.data.path", "ns/data/below")).await.expect(200);
    tess.post(path, set("write.data.path", "elsewhere")).await.error(403, "ForbiddenException");
    let table = root.get(path).await.expect(200);
    let mut elsewhere = table.clone();
    elsewhere["metadata"]["location"] = json!(format!("{lake}/meta/t"));
    let loaded = Appender::new("t", &elsewhere).by("tess").append(&server, 1).await;
    let statistics = json!([{"action": "set-statistics", "snapshot-id": 1000, "statistics": {
        "snapshot-id": 1000, "statistics-path": format!("{lake}/meta/t/s.puffin"), "file-size-in-bytes": 1,
        "file-footer-size-in-bytes": 1, "blob-metadata": []}}]);
    tess.post(path, commit(&statistics)).await.expect(200);
    let remove = json!([{"action": "remove-properties", "removals": ["write.data.path", "write.metadata.path"]}]);
    tess.post(path, commit(&remove)).await.expect(200);
    // To and fro, with files that stay where they were; and registered anew it is still read by who may read it.
    let home = loaded["metadata"]["location"].clone();
    let go = |to: &Value| commit(&json!([{"action": "set-location", "location": to}]));
    tess.post(path, go(&json!(format!("{}/within", home.as_str().unwrap())))).await.expect(200);
    tess.post(path, go(&home)).await.expect(200);
    tess.post(path, go(&json!(format!("{lake}/ns/t2")))).await.error(403, "ForbiddenException");
    ned.post(path, go(&json!(format!("{lake}/ns/t2")))).await.expect(200);
    ned.post(path, go(&home)).await.expect(200);
    let moved = ned.post(path, go(&json!(format!("{lake}/ns/t2")))).await.expect(200);
    ned.delete(path).await.expect(204);
    let register = json!({"name": "t", "metadata-location": moved["metadata-location"]});
    root.post("/namespaces/ns/register", register).await.expect(200);
    server.grant_in("vic", "viewer", "ns", "t").await;
    As(&server, "vic").post(&format!("{path}/plan"), json!({})).await.expect(200);
}

async fn a_namespace_may_be_named_as_a_table_is(server: Server) {
    furnish(&server).await;
    let root = As(&server, "root");
    make_table(&server, "ns", "inner").await;
    root.post("/namespaces", json!({"namespace": ["ns", "new"]})).await.expect(200);
    make_table(&server, "ns", "new").await;
    server.grant_in("nell", "editor", "ns.new", "").await;
    let body = |name: &str| json!({"name": name, "schema": schema()});
    As(&server, "nell").post("/namespaces/ns%1Fnew/tables", body("one")).await.expect(200);
    root.delete("/namespaces/ns/tables/new").await.expect(204);
    As(&server, "nell").post("/namespaces/ns%1Fnew/tables", body("two")).await.expect(200);
    // A folder in which all tables have files is still the folder; one that a table had for itself is not.
    let lake = &server.warehouse;
    let data = json!([{"action": "set-properties", "updates": {"write.data.path": format!("{lake}/other")}}]);
    root.post("/namespaces/other/tables/t", commit(&data)).await.expect(200);
    let made = root.post("/namespaces/other/tables", body("usual")).await.expect(200);
    assert_eq!(made["metadata"]["location"], format!("{lake}/other/usual"));
    root.post("/namespaces", json!({"namespace": ["mono"]})).await.expect(200);
    let whole = json!({"name": "all", "schema": schema(), "location": format!("{lake}/mono")});
    root.post("/namespaces/mono/tables", whole).await.expect(200);
    let down = json!([{"action": "set-location", "location": format!("{lake}/mono/all")}]);
    root.post("/namespaces/mono/tables/all", commit(&down)).await.expect(200);
    root.post("/namespaces/mono/tables", body("next")).await.expect(200);
}
