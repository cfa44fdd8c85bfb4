//! Commits that race: what was acknowledged is there once, and nothing else is.

use crate::support::server::{Reply, Server, on_both_servers};
use serde_json::{Value, json};
use std::sync::Arc;

on_both_servers!(racing_commits_are_all_there, commits_that_meet_take_turns, racing_creates_have_one_winner);

async fn racing_commits_are_all_there(server: Server) {
    const WRITERS: usize = 8;
    const COMMITS: usize = 5;
    server.namespace().await;
    server.table("t", 2).await;
    let server = Arc::new(server);
    let writers: Vec<_> =
        (0..WRITERS).map(|writer| tokio::spawn(write(Arc::clone(&server), writer, COMMITS))).collect();
    for writer in writers {
        writer.await.unwrap();
    }
    let metadata = server.get("/namespaces/ns/tables/t").await.expect(200)["metadata"].clone();
    for key in (0..WRITERS).flat_map(|writer| (0..COMMITS).map(move |i| format!("{writer}-{i}"))) {
        assert_eq!(metadata["properties"][&key], "done", "{key} was acknowledged");
    }
    assert_eq!(metadata["metadata-log"].as_array().unwrap().len(), WRITERS * COMMITS);
}

/// Sets one property a commit; a conflict is tried again.
async fn write(server: Arc<Server>, writer: usize, commits: usize) {
    for i in 0..commits {
        let key = format!("{writer}-{i}");
        loop {
            let update = json!({"action": "set-properties", "updates": {key.clone(): "done"}});
            let reply = server.post("/namespaces/ns/tables/t", json!({"requirements": [], "updates": [update]})).await;
            match reply.status.as_u16() {
                200 => break,
                409 => {}
                other => panic!("{other}: {}", reply.text),
            }
        }
    }
}

/// Alone on its database a server has no commit lose to another one: each finds the state that it swaps.
async fn commits_that_meet_take_turns(server: Server) {
    server.namespace().await;
    server.table("t", 2).await;
    server.table("u", 2).await;
    let update = |i: usize| json!([{"action": "set-properties", "updates": {format!("p{i}"): "done"}}]);
    let one = |i: usize| server.post("/namespaces/ns/tables/t", json!({"requirements": [], "updates": update(i)}));
    let both = |i: usize| {
        let names = if i.is_multiple_of(2) { ["t", "u"] } else { ["u", "t"] };
        let changes = names.map(
            |name| json!({"identifier": {"namespace": ["ns"], "name": name}, "requirements": [], "updates": update(i)}),
        );
        server.post("/transactions/commit", json!({"table-changes": changes}))
    };
    let (ones, boths) =
        tokio::join!(futures::future::join_all((0..6).map(one)), futures::future::join_all((6..12).map(both)));
    assert!(ones.iter().all(|reply| reply.status.as_u16() == 200), "{ones:?}");
    assert!(boths.iter().all(|reply| reply.status.as_u16() == 204), "{boths:?}");
    let log = server.get("/namespaces/ns/tables/t").await.expect(200)["metadata"]["metadata-log"].clone();
    assert_eq!(log.as_array().unwrap().len(), 12);
}

async fn racing_creates_have_one_winner(server: Server) {
    server.namespace().await;
    let schema = crate::support::server::schema();
    let create = |i: usize| {
        server
            .post("/namespaces/ns/tables", json!({"name": "t", "schema": schema, "properties": {"who": i.to_string()}}))
    };
    let replies = futures::future::join_all((0..8).map(create)).await;
    let won: Vec<Value> = replies.iter().filter(|reply| reply.status.as_u16() == 200).map(Reply::json).collect();
    assert_eq!(won.len(), 1);
    assert!(replies.iter().all(|reply| matches!(reply.status.as_u16(), 200 | 409)));
    assert_eq!(server.get("/namespaces/ns/tables/t").await.expect(200), won[0]);
}
