use crate::support::fixture::install;
use crate::support::server::{Server, Setting, on_both_servers};
use serde_json::{Value, json};
use std::collections::BTreeMap;

on_both_servers!(
    a_plan_names_files_and_their_deletes,
    a_filter_leaves_out_files_and_what_it_answers,
    a_plan_is_found_by_its_id_until_its_snapshot_is_gone,
    wrong_requests_are_400s_that_say_where,
    what_is_not_there_is_a_404,
    an_empty_table_has_an_empty_plan,
);

const PLAN: &str = "/namespaces/ns/tables/t02_partitioned/plan";

async fn plan(server: &Server, request: Value) -> Value {
    server.post(PLAN, request).await.expect(200)
}

/// Each data file of a reply with its deletes: path, offset and length.
fn tasks(reply: &Value) -> BTreeMap<String, Vec<String>> {
    let deletes = &reply["delete-files"];
    let of = |task: &Value| {
        let places = task["delete-file-references"].as_array().into_iter().flatten();
        let shown = |delete: &Value| {
            assert_eq!(delete["referenced-data-file"], task["data-file"]["file-path"]);
            format!("{} {} {}", delete["file-path"], delete["content-offset"], delete["content-size-in-bytes"])
        };
        places.map(|place| shown(&deletes[usize::try_from(place.as_u64().unwrap()).unwrap()])).collect()
    };
    let tasks = reply["file-scan-tasks"].as_array().unwrap().iter();
    tasks.map(|task| (task["data-file"]["file-path"].as_str().unwrap().to_owned(), of(task))).collect()
}

async fn a_plan_names_files_and_their_deletes(server: Server) {
    server.namespace().await;
    install(&server, "t02_partitioned").await;
    let reply = plan(&server, json!({})).await;
    assert_eq!(reply["status"], "completed");
    let found = tasks(&reply);
    assert_eq!(found.len(), 8);
    assert!(found.values().all(|deletes| deletes.len() == 1), "{found:?}");
    let file = &reply["file-scan-tasks"][0]["data-file"];
    assert_eq!((&file["content"], &file["file-format"]), (&json!("data"), &json!("parquet")));
    let partition = file["partition"].as_array().unwrap();
    assert!(partition[0].is_i64() && partition[1].as_str().unwrap().starts_with("20"), "{partition:?}");
    assert_eq!(reply["file-scan-tasks"][0]["residual-filter"], json!(true));
    let delete = &reply["delete-files"][0];
    assert_eq!((&delete["content"], &delete["file-format"]), (&json!("position-deletes"), &json!("puffin")));
    let bytes = json!({"snapshot-id": null, "select": ["id"], "case-sensitive": false});
    assert_eq!(tasks(&plan(&server, bytes).await), found);
}

async fn a_filter_leaves_out_files_and_what_it_answers(server: Server) {
    server.namespace().await;
    install(&server, "t02_partitioned").await;
    let all = tasks(&plan(&server, json!({})).await);
    let eq = json!({"type": "eq", "term": "id", "value": 7});
    let reply = plan(&server, json!({"filter": eq})).await;
    let some = tasks(&reply);
    assert!(!some.is_empty() && some.len() < all.len());
    assert!(some.iter().all(|(file, deletes)| all.get(file) == Some(deletes)));
    assert_eq!(reply["delete-files"].as_array().unwrap().len(), some.len(), "no delete that applies to none");
    assert_eq!(reply["file-scan-tasks"][0]["residual-filter"], eq);
    let none = plan(&server, json!({"filter": {"type": "lt", "term": "id", "value": -5}})).await;
    assert_eq!((&none["file-scan-tasks"], none.get("delete-files")), (&json!([]), None));
    let reference = json!({"type": "reference", "name": "id"});
    let newer = json!({"filter": {"type": "eq", "left": reference, "right": {"type": "literal", "value": 7}}});
    assert_eq!(tasks(&plan(&server, newer).await), some);
}

async fn a_plan_is_found_by_its_id_until_its_snapshot_is_gone(server: Server) {
    server.namespace().await;
    let loaded = install(&server, "t02_partitioned").await;
    let first = plan(&server, json!({"stats-fields": ["id"]})).await;
    let id = first["plan-id"].as_str().unwrap().to_owned();
    assert_eq!(server.get(&format!("{PLAN}/{id}")).await.expect(200), first);
    server.delete(&format!("{PLAN}/{id}")).await.expect(204);
    install(&server, "t02b_manyfiles").await;
    let elsewhere = format!("/namespaces/ns/tables/t02b_manyfiles/plan/{id}");
    server.get(&elsewhere).await.error(404, "NoSuchPlanIdException");
    server.delete(&format!("{PLAN}/none")).await.error(404, "NoSuchPlanIdException");

    let history = loaded["metadata"]["snapshots"].as_array().unwrap();
    let old = history[0]["snapshot-id"].as_i64().unwrap();
    let of_old = plan(&server, json!({"snapshot-id": old})).await;
    let id = of_old["plan-id"].as_str().unwrap();
    let expire = json!({"requirements": [], "updates": [{"action": "remove-snapshots", "snapshot-ids": [old]}]});
    server.post("/namespaces/ns/tables/t02_partitioned", expire).await.expect(200);
    server.get(&format!("{PLAN}/{id}")).await.error(404, "NoSuchPlanIdException");
}

async fn wrong_requests_are_400s_that_say_where(server: Server) {
    server.namespace().await;
    install(&server, "t02_partitioned").await;
    for (request, says) in [
        (json!({"filter": null}), "filter: expected an expression, found null"),
        (json!({"filter": {"type": "nearly", "term": "id"}}), "filter.type: unknown expression type `nearly`"),
        (
            json!({"filter": {"type": "and", "left": true, "right": {"type": "eq", "term": "none", "value": 1}}}),
            "filter.right: Cannot find field `none` in the schema",
        ),
        (
            json!({"filter": {"type": "eq", "term": "id", "value": "x"}}),
            "filter: Invalid value for conversion to type long: \"x\"",
        ),
        (json!({"snapshot-id": 1}), "Cannot find snapshot with ID 1"),
        (
            json!({"snapshot-id": 1, "start-snapshot-id": 1, "end-snapshot-id": 2}),
            "Invalid scan: cannot provide both snapshot-id and start-snapshot-id/end-snapshot-id",
        ),
    ] {
        assert_eq!(server.post(PLAN, request).await.error(400, "BadRequestException"), says);
    }
    server.send_raw(reqwest::Method::POST, &format!("/iceberg/v1{PLAN}"), b"{".to_vec()).await.expect(400);
}

async fn what_is_not_there_is_a_404(server: Server) {
    server.namespace().await;
    for path in ["/namespaces/ns/tables/none/plan", "/namespaces/none/tables/t/plan"] {
        server.post(path, json!({})).await.error(404, "NoSuchTableException");
        server.get(&format!("{path}/x")).await.error(404, "NoSuchTableException");
    }
    let loaded = install(&server, "t02b_manyfiles").await;
    let tasks = "/namespaces/ns/tables/t02b_manyfiles/tasks";
    server.post(tasks, json!({"plan-task": "x"})).await.error(404, "NoSuchPlanTaskException");
    server.post(tasks, json!({"plan-task": 5})).await.error(400, "BadRequestException");
    server.post(tasks, json!({})).await.error(400, "BadRequestException");
    let current = &loaded["metadata"]["current-snapshot-id"];
    let snapshots = loaded["metadata"]["snapshots"].as_array().unwrap();
    let list = &snapshots.iter().find(|snapshot| snapshot["snapshot-id"] == *current).unwrap()["manifest-list"];
    server.app.storage.delete(list.as_str().unwrap()).await.unwrap();
    let gone = server.post("/namespaces/ns/tables/t02b_manyfiles/plan", json!({})).await;
    assert_eq!(gone.error(404, "NotFoundException"), format!("{} does not exist", list.as_str().unwrap()));
}

async fn an_empty_table_has_an_empty_plan(server: Server) {
    server.namespace().await;
    server.table("t", 3).await;
    let path = "/namespaces/ns/tables/t/plan";
    let reply = server.post(path, json!({"filter": {"type": "eq", "term": "id", "value": 7}})).await.expect(200);
    assert_eq!(reply["file-scan-tasks"], json!([]));
    assert_eq!(server.get(&format!("{path}/{}", reply["plan-id"].as_str().unwrap())).await.expect(200), reply);
}

/// One file a reply: any other server answers the tasks that one names.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_large_plan_is_split_into_tasks() {
    let server = Server::start_with(Setting::Local, |settings| settings.plan_task_files = Some(1)).await;
    server.namespace().await;
    install(&server, "t02_partitioned").await;
    let mut replies = vec![plan(&server, json!({})).await];
    let mut found = BTreeMap::new();
    let mut fetched = 0;
    while let Some(reply) = replies.pop() {
        assert!(reply["file-scan-tasks"].as_array().unwrap().len() <= 1);
        for (file, deletes) in tasks(&reply) {
            assert_eq!(found.insert(file, deletes), None);
        }
        for token in reply["plan-tasks"].as_array().into_iter().flatten() {
            let request = json!({"plan-task": token});
            let path = "/namespaces/ns/tables/t02_partitioned/tasks";
            replies.push(server.post(path, request.clone()).await.expect(200));
            assert_eq!(server.post(path, request).await.expect(200), replies[replies.len() - 1]);
            fetched += 1;
        }
    }
    assert!(fetched >= 7, "{fetched}");
    assert_eq!(found.len(), 8);
    assert!(found.values().all(|deletes| deletes.len() == 1));
}

/// Manifests in places that the warehouse may not read are not read.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_table_elsewhere_is_not_planned() {
    let other = Server::start(Setting::Local).await;
    other.namespace().await;
    let loaded = install(&other, "t02b_manyfiles").await;
    let server = Server::start(Setting::Local).await;
    server.namespace().await;
    let made = server.table("t", 3).await;
    // What a client could have done: a metadata file of its own making, with lists of other warehouses.
    let metadata = loaded["metadata"].to_string();
    let home = made["metadata"]["location"].as_str().unwrap();
    let metadata = metadata.replace(
        &format!("\"location\":\"{}\"", loaded["metadata"]["location"].as_str().unwrap()),
        &format!("\"location\":\"{home}\""),
    );
    let place = format!("{home}/metadata/00009-x.metadata.json");
    server.app.storage.write_new(&place, metadata.into_bytes().into()).await.unwrap();
    let body = json!({"name": "t", "metadata-location": place, "overwrite": true});
    server.post("/namespaces/ns/register", body).await.expect(200);
    let message = server.post("/namespaces/ns/tables/t/plan", json!({})).await.error(400, "BadRequestException");
    assert!(message.contains("is outside the allowed locations"), "{message}");
}
