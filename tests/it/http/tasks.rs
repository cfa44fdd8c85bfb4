//! Background work: who does it, what it says of itself, and what becomes of it when a server stops or dies.

use crate::support::server::{Server, Setting, on_both_servers, on_both_with_still_clocks};
use guillemot::store::tasks::{self, NewTask};
use reqwest::Method;
use serde_json::{Value, json};
use std::time::Duration;

on_both_servers!(
    tasks_are_listed_in_pages,
    a_task_of_a_newer_version_is_left_alone,
    a_task_that_failed_is_tried_again_when_somebody_asks,
    files_that_left_the_log_are_deleted_though_the_first_try_failed,
    files_of_others_are_not_deleted_when_they_leave_the_log,
);

on_both_with_still_clocks!(
    a_file_that_no_pointer_names_is_swept,
    a_commit_that_was_frozen_starts_again,
    finished_tasks_are_forgotten_after_a_week,
);

async fn manage(server: &Server, path: &str) -> Value {
    server.send(Method::GET, &format!("/management/v1{path}"), None, &[]).await.expect(200)
}

async fn queue(server: &Server, kind: &str, payload: &str) -> String {
    let now_ms = server.app.clock.now_ms();
    let id = tasks::new_id(now_ms, &server.app.ids.uuid());
    let new = NewTask { id: &id, kind, subject: "ns.t", warehouse_id: None, payload, due_ms: now_ms, now_ms };
    let mut tx = server.app.db.begin().await.unwrap();
    tasks::queue(&mut tx, &new).await.unwrap();
    tx.commit().await.unwrap();
    id
}

fn set(key: &str, value: &str) -> Value {
    json!({"requirements": [], "updates": [{"action": "set-properties", "updates": {key: value}}]})
}

async fn there(server: &Server, location: &Value) -> bool {
    server.app.storage.size(location.as_str().unwrap()).await.is_ok()
}

async fn tasks_are_listed_in_pages(server: Server) {
    server.namespace().await;
    for name in ["a", "b", "c"] {
        server.table(name, 2).await;
        server.delete(&format!("/namespaces/ns/tables/{name}?purgeRequested=true")).await.expect(204);
    }
    let queued = manage(&server, "/tasks?state=queued").await["tasks"].clone();
    assert_eq!(queued.as_array().unwrap().len(), 3);
    let first = manage(&server, "/tasks?pageToken=&pageSize=2").await;
    let subjects = |page: &Value| -> Vec<Value> {
        page["tasks"].as_array().unwrap().iter().map(|task| task["subject"].clone()).collect()
    };
    assert_eq!(subjects(&first), ["ns.a", "ns.b"]);
    let second =
        manage(&server, &format!("/tasks?pageSize=2&pageToken={}", first["next-page-token"].as_str().unwrap())).await;
    assert_eq!((subjects(&second), second.get("next-page-token")), (vec![json!("ns.c")], None));
    server.work_off().await;
    let done = manage(&server, "/tasks?state=done").await["tasks"].clone();
    let kinds: Vec<&Value> = done.as_array().unwrap().iter().map(|task| &task["kind"]).collect();
    assert_eq!(kinds, ["purge-table"; 3]);
    let one = manage(&server, &format!("/tasks/{}", done[0]["id"].as_str().unwrap())).await;
    assert_eq!(one["log"][0]["message"], "deleted 1 files; kept 0 that are not the table's own");
    let wrong = server.send(Method::GET, "/management/v1/tasks?state=x", None, &[]).await;
    wrong.error(400, "BadRequestException");
    let none = server.send(Method::GET, "/management/v1/tasks/x", None, &[]).await;
    assert_eq!(none.error(404, "NotFoundException"), "Task does not exist: x");
}

async fn a_task_that_failed_is_tried_again_when_somebody_asks(server: Server) {
    let retry =
        async |id: &str| server.send(Method::POST, &format!("/management/v1/tasks/{id}/retry"), None, &[]).await;
    let (broken, later) = (queue(&server, "purge-table", "{}").await, queue(&server, "invented-later", "{}").await);
    let fresh = queue(&server, "invented-later", "{}").await;
    let message = retry(&fresh).await.error(400, "BadRequestException");
    assert_eq!(message, format!("Cannot retry task {fresh}: it did not fail, it is queued"));
    server.work_off().await;
    for id in [&broken, &later] {
        retry(id).await.expect(204);
        let task = manage(&server, &format!("/tasks/{id}")).await;
        assert_eq!((&task["state"], &task["attempts"]), (&json!("queued"), &json!(0)));
        let last = task["log"].as_array().unwrap().last().unwrap();
        assert_eq!(last["message"], "somebody asked to try again");
    }
    server.work_off().await;
    assert_eq!(manage(&server, &format!("/tasks/{broken}")).await["state"], "failed");
    assert_eq!(manage(&server, &format!("/tasks/{later}")).await["attempts"], 1);
    retry("none").await.error(404, "NotFoundException");
}

async fn a_task_of_a_newer_version_is_left_alone(server: Server) {
    let id = queue(&server, "invented-later", "{}").await;
    let broken = queue(&server, "purge-table", "{}").await;
    server.work_off().await;
    let task = manage(&server, &format!("/tasks/{id}")).await;
    assert_eq!((&task["state"], &task["attempts"]), (&json!("queued"), &json!(1)));
    assert!(task["error"].as_str().unwrap().contains("does not know"), "{task}");
    let task = manage(&server, &format!("/tasks/{broken}")).await;
    assert_eq!(task["state"], "failed");
}

/// A table whose metadata log holds one file, so that each commit drops one.
async fn short_log(server: &Server) -> Value {
    server.namespace().await;
    let made = server.table("t", 2).await;
    let keep = json!({"requirements": [], "updates": [{"action": "set-properties", "updates": {
        "write.metadata.delete-after-commit.enabled": "true", "write.metadata.previous-versions-max": "1"}}]});
    server.post("/namespaces/ns/tables/t", keep).await.expect(200);
    made
}

async fn files_that_left_the_log_are_deleted_though_the_first_try_failed(server: Server) {
    let made = short_log(&server).await;
    // A server that dies right after the swap leaves this behind.
    let second = server.get("/namespaces/ns/tables/t").await.expect(200);
    server.post("/namespaces/ns/tables/t", set("a", "1")).await.expect(200);
    assert!(!there(&server, &made["metadata-location"]).await);
    let row = guillemot::store::loose_files::LooseFile {
        id: "left".to_owned(),
        location: second["metadata-location"].as_str().unwrap().to_owned(),
        table_id: "t".to_owned(),
    };
    let mut tx = server.app.db.begin().await.unwrap();
    guillemot::store::loose_files::release(&mut tx, &[row], 1).await.unwrap();
    tx.commit().await.unwrap();
    assert!(there(&server, &second["metadata-location"]).await);
    server.work_off().await;
    assert!(!there(&server, &second["metadata-location"]).await);
}

async fn files_of_others_are_not_deleted_when_they_leave_the_log(server: Server) {
    let made = short_log(&server).await;
    // A metadata file that somebody made up names what is not the table's.
    let precious = format!("{}/precious.json", server.warehouse);
    server.app.storage.write_new(&precious, "{}".into()).await.unwrap();
    let mut forged = made["metadata"].clone();
    forged["location"] = json!(format!("{}/forged", server.warehouse));
    forged["metadata-log"] = json!([{"timestamp-ms": 1, "metadata-file": precious}]);
    forged["properties"] = json!({
        "write.metadata.delete-after-commit.enabled": "true", "write.metadata.previous-versions-max": "1"});
    let file = format!("{}/forged/metadata/00001-x.metadata.json", server.warehouse);
    server.app.storage.write_new(&file, forged.to_string().into()).await.unwrap();
    server.post("/namespaces/ns/register", json!({"name": "forged", "metadata-location": file})).await.expect(200);
    for value in ["1", "2"] {
        server.post("/namespaces/ns/tables/forged", set("a", value)).await.expect(200);
    }
    server.work_off().await;
    assert!(there(&server, &json!(precious)).await);
    assert!(!there(&server, &json!(file)).await, "its own file goes");
}

/// A metadata file that a server wrote before it died.
async fn orphan(server: &Server) -> (String, String) {
    let made = server.get("/namespaces/ns/tables/t").await.expect(200);
    let location = format!("{}/metadata/00001-orphan.metadata.json", made["metadata"]["location"].as_str().unwrap());
    let id = server.app.ids.uuid();
    let file = guillemot::store::loose_files::LooseFile {
        id: id.clone(),
        location: location.clone(),
        table_id: "t".to_owned(),
    };
    let mut tx = server.app.db.begin().await.unwrap();
    guillemot::store::loose_files::note(&mut tx, &[file], server.app.clock.now_ms()).await.unwrap();
    tx.commit().await.unwrap();
    server.app.storage.write_new(&location, "{}".into()).await.unwrap();
    (id, location)
}

async fn a_file_that_no_pointer_names_is_swept(server: Server) {
    server.namespace().await;
    server.table("t", 2).await;
    let (_, location) = orphan(&server).await;
    let made = server.post("/namespaces/ns/tables/t", set("a", "1")).await.expect(200);
    server.pass(59 * 60);
    server.work_off().await;
    assert!(there(&server, &json!(location)).await, "a commit may still be under way");
    server.pass(10 * 60);
    server.work_off().await;
    assert!(!there(&server, &json!(location)).await);
    server.forget_files().await;
    assert_eq!(server.get("/namespaces/ns/tables/t").await.expect(200), made);
    let sweep = manage(&server, "/tasks/sweep-files").await;
    assert_eq!(sweep["log"][0]["message"], "deleted 1 files, 1 of them never named");
}

async fn a_commit_that_was_frozen_starts_again(server: Server) {
    server.namespace().await;
    server.table("t", 2).await;
    let (id, _) = orphan(&server).await;
    server.pass(2 * 3600);
    server.work_off().await;
    let mut tx = server.app.db.begin().await.unwrap();
    let late = guillemot::store::loose_files::name(&mut tx, &id).await;
    assert!(matches!(late, Err(guillemot::store::Error::Conflict)), "{late:?}");
}

async fn finished_tasks_are_forgotten_after_a_week(server: Server) {
    server.namespace().await;
    server.table("t", 2).await;
    server.delete("/namespaces/ns/tables/t?purgeRequested=true").await.expect(204);
    server.work_off().await;
    server.pass(6 * 24 * 3600);
    server.work_off().await;
    assert_eq!(manage(&server, "/tasks?state=done").await["tasks"].as_array().unwrap().len(), 1);
    server.pass(2 * 24 * 3600);
    server.work_off().await;
    assert_eq!(manage(&server, "/tasks?state=done").await["tasks"], json!([]));
}

async fn until<T>(what: &str, check: impl AsyncFn() -> Option<T>) -> T {
    for _ in 0..600 {
        if let Some(found) = check().await {
            return found;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("it did not come to pass that {what}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_does_what_is_queued_without_being_asked() {
    for setting in [Setting::Local, Setting::Production] {
        let server = Server::start_with(setting, |settings| settings.task_interval_s = Some(3600)).await;
        server.namespace().await;
        let made = server.table("t", 2).await;
        server.delete("/namespaces/ns/tables/t?purgeRequested=true").await.expect(204);
        // The next look is an hour away: what is queued here rings.
        until("the file is gone", async || (!there(&server, &made["metadata-location"]).await).then_some(())).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn storage_that_fails_is_tried_again_later() {
    let server = Server::start_still(Setting::Local).await;
    server.namespace().await;
    let made = server.table("t", 2).await;
    server.forget_files().await;
    // A link to itself cannot be read.
    let file = made["metadata-location"].as_str().unwrap().trim_start_matches("file://").to_owned();
    std::fs::rename(&file, format!("{file}.aside")).unwrap();
    std::os::unix::fs::symlink(&file, &file).unwrap();
    server.delete("/namespaces/ns/tables/t?purgeRequested=true").await.expect(204);
    server.work_off().await;
    let id = manage(&server, "/tasks").await["tasks"][0]["id"].as_str().unwrap().to_owned();
    let task = manage(&server, &format!("/tasks/{id}")).await;
    assert_eq!((&task["state"], &task["attempts"]), (&json!("queued"), &json!(1)), "{task}");
    assert_eq!(task["due-ms"].as_i64().unwrap(), server.app.clock.now_ms() + 5000);
    assert!(task["log"][0]["message"].as_str().unwrap().starts_with("attempt 1: "), "{task}");
    std::fs::remove_file(&file).unwrap();
    std::fs::rename(format!("{file}.aside"), &file).unwrap();
    server.work_off().await;
    assert_eq!(manage(&server, &format!("/tasks/{id}")).await["state"], "queued", "not before its time");
    server.pass(6);
    server.work_off().await;
    let task = manage(&server, &format!("/tasks/{id}")).await;
    assert_eq!((&task["state"], &task["error"]), (&json!("done"), &Value::Null), "{task}");
    assert!(!there(&server, &made["metadata-location"]).await);
}
