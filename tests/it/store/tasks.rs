use guillemot::store::tasks::{self, Ending, Entry, NewTask, Outcome, State, Task};
use guillemot::store::{Db, Page};

use crate::support::{TestDb, on_both};

on_both!(
    a_task_is_taken_once,
    a_task_is_taken_when_it_is_due,
    a_lease_that_ran_out_is_taken_over,
    who_lost_the_lease_writes_nothing,
    outcomes_say_when_a_task_comes_again,
    tasks_are_listed_by_age_and_state,
    a_cancelled_task_is_not_taken,
    what_failed_is_tried_again,
    the_log_is_kept_short,
    finished_tasks_are_forgotten,
    a_queued_task_needs_its_commit,
);

async fn queue(db: &Db, id: &str, due_ms: i64) {
    let mut tx = db.begin().await.unwrap();
    let new =
        NewTask { id, kind: "k", subject: "s", warehouse_id: Some("w"), payload: r#"{"a":1}"#, due_ms, now_ms: 1 };
    tasks::queue(&mut tx, &new).await.unwrap();
    tx.commit().await.unwrap();
}

async fn claim(db: &Db, id: &str, lease: &str, now_ms: i64) -> Option<Task> {
    let mut tx = db.begin().await.unwrap();
    let task = tasks::claim(&mut tx, id, lease, now_ms, now_ms + 100).await.unwrap();
    tx.commit().await.unwrap();
    task
}

async fn finish(db: &Db, id: &str, lease: &str, outcome: Outcome, message: Option<&str>) -> bool {
    let mut tx = db.begin().await.unwrap();
    let ending = Ending { outcome: &outcome, progress: r#"{"n":2}"#, message, now_ms: 50 };
    let ours = tasks::finish(&mut tx, id, lease, &ending).await.unwrap();
    tx.commit().await.unwrap();
    ours
}

async fn load(db: &Db, id: &str) -> Task {
    tasks::load(db, id).await.unwrap().unwrap()
}

async fn what_failed_is_tried_again(db: TestDb) {
    let failed = || "it failed".to_owned();
    for (id, outcome, again) in [
        ("failed", Some(Outcome::Failed(failed())), true),
        ("waits", Some(Outcome::Retry(900, failed())), true),
        ("done", Some(Outcome::Done), false),
        ("running", None, false),
    ] {
        queue(&db, id, 10).await;
        claim(&db, id, "l", 10).await.unwrap();
        if let Some(outcome) = outcome {
            assert!(finish(&db, id, "l", outcome, None).await);
        }
        let mut tx = db.begin().await.unwrap();
        assert_eq!(tasks::retry(&mut tx, id, 60).await.unwrap(), again, "{id}");
        tx.commit().await.unwrap();
        let task = load(&db, id).await;
        let expected = if again { (State::Queued, 0, Some(60)) } else { (task.state, 1, task.due_ms) };
        assert_eq!((task.state, task.attempts, task.due_ms), expected, "{id}");
        assert_eq!(tasks::entries(&db, id).await.unwrap().len(), usize::from(again), "{id}");
    }
    // One that waits for its time did not fail.
    queue(&db, "fresh", 10).await;
    let mut tx = db.begin().await.unwrap();
    assert!(!tasks::retry(&mut tx, "fresh", 60).await.unwrap());
    assert!(!tasks::retry(&mut tx, "none", 60).await.unwrap());
}

async fn a_task_is_taken_once(db: TestDb) {
    queue(&db, "a", 10).await;
    let racers: Vec<_> = (0..8)
        .map(|n| {
            let db = Db::clone(&db);
            tokio::spawn(async move { claim(&db, "a", &format!("lease {n}"), 10).await })
        })
        .collect();
    let mut taken = Vec::new();
    for racer in racers {
        taken.extend(racer.await.unwrap());
    }
    assert_eq!(taken.len(), 1);
    let task = &taken[0];
    assert_eq!((task.state, task.attempts, task.due_ms), (State::Running, 1, Some(110)));
    assert_eq!(
        (task.kind.as_str(), task.payload.as_str(), task.warehouse_id.as_deref()),
        ("k", r#"{"a":1}"#, Some("w"))
    );
}

async fn a_task_is_taken_when_it_is_due(db: TestDb) {
    queue(&db, "a", 30).await;
    queue(&db, "b", 20).await;
    assert_eq!(tasks::due(&db, 19, 10).await.unwrap(), [""; 0]);
    assert_eq!(claim(&db, "b", "l", 19).await, None);
    assert_eq!(tasks::due(&db, 30, 10).await.unwrap(), ["b", "a"]);
    assert_eq!(tasks::due(&db, 30, 1).await.unwrap(), ["b"]);
    // To queue it again changes nothing.
    queue(&db, "a", 5).await;
    assert_eq!(load(&db, "a").await.due_ms, Some(30));
}

async fn a_lease_that_ran_out_is_taken_over(db: TestDb) {
    queue(&db, "a", 10).await;
    claim(&db, "a", "first", 10).await.unwrap();
    assert_eq!(claim(&db, "a", "second", 109).await, None);
    let mut tx = db.begin().await.unwrap();
    assert!(tasks::extend(&mut tx, "a", "first", r#"{"n":1}"#, 100, 200).await.unwrap());
    tx.commit().await.unwrap();
    assert_eq!(claim(&db, "a", "second", 199).await, None);
    let task = claim(&db, "a", "second", 200).await.unwrap();
    assert_eq!((task.attempts, task.progress.as_str()), (2, r#"{"n":1}"#));
    let begun = Entry { at_ms: 200, message: "attempt 2 begins".to_owned() };
    assert_eq!(tasks::entries(&db, "a").await.unwrap(), [begun]);
}

async fn who_lost_the_lease_writes_nothing(db: TestDb) {
    queue(&db, "a", 10).await;
    claim(&db, "a", "first", 10).await.unwrap();
    claim(&db, "a", "second", 110).await.unwrap();
    let mut tx = db.begin().await.unwrap();
    assert!(!tasks::extend(&mut tx, "a", "first", "{}", 120, 999).await.unwrap());
    tx.commit().await.unwrap();
    assert!(!finish(&db, "a", "first", Outcome::Done, Some("mine")).await);
    assert_eq!(load(&db, "a").await.state, State::Running);
    assert_eq!(tasks::entries(&db, "a").await.unwrap().len(), 1, "that the second attempt begins");
    assert!(finish(&db, "a", "second", Outcome::Done, None).await);
    assert!(!finish(&db, "a", "second", Outcome::Done, None).await, "once");
}

async fn outcomes_say_when_a_task_comes_again(db: TestDb) {
    let failed = || "it broke".to_owned();
    for (id, outcome, state, due_ms, attempts, error) in [
        ("done", Outcome::Done, State::Done, None, 1, None),
        ("again", Outcome::Again(70), State::Queued, Some(70), 0, None),
        ("released", Outcome::Released, State::Queued, Some(50), 0, None),
        ("retry", Outcome::Retry(80, failed()), State::Queued, Some(80), 1, Some(failed())),
        ("failed", Outcome::Failed(failed()), State::Failed, None, 1, Some(failed())),
    ] {
        queue(&db, id, 10).await;
        claim(&db, id, "l", 10).await.unwrap();
        assert!(finish(&db, id, "l", outcome, Some("said")).await);
        let task = load(&db, id).await;
        assert_eq!((task.state, task.due_ms, task.attempts, task.error), (state, due_ms, attempts, error), "{id}");
        assert_eq!((task.progress.as_str(), task.updated_ms), (r#"{"n":2}"#, 50));
        let said = Entry { at_ms: 50, message: "said".to_owned() };
        assert_eq!(tasks::entries(&db, id).await.unwrap(), [said]);
    }
}

async fn tasks_are_listed_by_age_and_state(db: TestDb) {
    for (uuid, now_ms) in [("x", 2000), ("y", 999), ("z", 1000)] {
        queue(&db, &tasks::new_id(now_ms, uuid), 10).await;
    }
    let ids = |tasks: &[Task]| tasks.iter().map(|task| task.id[14..].to_owned()).collect::<Vec<_>>();
    let all = tasks::list(&db, None, &Page::default()).await.unwrap();
    assert_eq!(ids(&all.items), ["y", "z", "x"]);
    let first = tasks::list(&db, None, &Page { after: None, limit: Some(2) }).await.unwrap();
    assert_eq!(ids(&first.items), ["y", "z"]);
    let second = tasks::list(&db, None, &Page { after: first.next, limit: Some(2) }).await.unwrap();
    assert_eq!((ids(&second.items), second.next), (vec!["x".to_owned()], None));
    claim(&db, &tasks::new_id(1000, "z"), "l", 10).await.unwrap();
    let running = tasks::list(&db, Some(State::Running), &Page::default()).await.unwrap();
    assert_eq!(ids(&running.items), ["z"]);
    assert_eq!(tasks::load(&db, "none").await.unwrap(), None);
}

async fn a_cancelled_task_is_not_taken(db: TestDb) {
    for id in ["queued", "running", "done"] {
        queue(&db, id, 10).await;
    }
    claim(&db, "running", "l", 10).await.unwrap();
    claim(&db, "done", "l", 10).await.unwrap();
    finish(&db, "done", "l", Outcome::Done, None).await;
    let mut tx = db.begin().await.unwrap();
    for id in ["queued", "running", "done", "none"] {
        tasks::cancel(&mut tx, id, 20).await.unwrap();
    }
    tx.commit().await.unwrap();
    assert_eq!(tasks::due(&db, i64::MAX, 10).await.unwrap(), [""; 0]);
    assert!(!finish(&db, "running", "l", Outcome::Done, None).await, "its lease is lost");
    let states = [load(&db, "queued").await.state, load(&db, "running").await.state, load(&db, "done").await.state];
    assert_eq!(states, [State::Cancelled, State::Cancelled, State::Done]);
}

async fn the_log_is_kept_short(db: TestDb) {
    queue(&db, "a", 10).await;
    for n in 0..60 {
        claim(&db, "a", "l", 10).await.unwrap();
        finish(&db, "a", "l", Outcome::Again(10), Some(&n.to_string())).await;
    }
    let entries = tasks::entries(&db, "a").await.unwrap();
    assert_eq!((entries.len(), entries[0].message.as_str(), entries[49].message.as_str()), (50, "10", "59"));
}

async fn finished_tasks_are_forgotten(db: TestDb) {
    for (id, outcome) in
        [("done", Outcome::Done), ("failed", Outcome::Failed(String::new())), ("again", Outcome::Again(99))]
    {
        queue(&db, id, 10).await;
        claim(&db, id, "l", 10).await.unwrap();
        finish(&db, id, "l", outcome, Some("said")).await;
    }
    let forget = async |before_ms| {
        let mut tx = db.begin().await.unwrap();
        let forgotten = tasks::forget_finished(&mut tx, before_ms).await.unwrap();
        tx.commit().await.unwrap();
        forgotten
    };
    assert_eq!((forget(49).await, forget(50).await, forget(50).await), (0, 2, 0));
    assert_eq!(tasks::load(&db, "done").await.unwrap(), None);
    assert_eq!(tasks::entries(&db, "done").await.unwrap(), []);
    assert_eq!(load(&db, "again").await.state, State::Queued);
}

async fn a_queued_task_needs_its_commit(db: TestDb) {
    let mut tx = db.begin().await.unwrap();
    let new = NewTask { id: "a", kind: "k", subject: "", warehouse_id: None, payload: "{}", due_ms: 1, now_ms: 1 };
    tasks::queue(&mut tx, &new).await.unwrap();
    tx.rollback().await.unwrap();
    assert_eq!(tasks::load(&db, "a").await.unwrap(), None);
}
