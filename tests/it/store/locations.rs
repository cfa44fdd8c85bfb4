use guillemot::store::locations::{
    Claim, State, forget_left_behind, forget_table, held, overlapping, overlapping_live,
};
use guillemot::store::tables::{Change, Kind, Swap, rename, swap};
use guillemot::store::{Db, Error, Result};

use std::collections::BTreeSet;

use super::{WAREHOUSE, create_as, create_table, drop_table, ident, load_table, seed};
use crate::support::{TestDb, on_both};

on_both!(
    overlap_is_by_whole_segments,
    a_deep_location_meets_a_shallow_one,
    an_exclusive_location_is_given_out_once,
    a_requested_location_overlaps_no_live_one,
    of_two_that_race_for_places_that_overlap_one_loses,
    a_dropped_table_leaves_its_location_behind,
    a_renamed_table_keeps_its_location,
    a_moved_table_has_both_locations,
    live_is_reported_before_left_behind,
    what_is_forgotten_is_free,
    what_was_held_is_told_by_its_namespace,
    a_neighbour_is_another_table_around_or_inside,
);

async fn state_of(db: &Db, location: &str) -> Option<(String, State)> {
    overlapping(db, location).await.unwrap().map(|found| (found.location, found.state))
}

async fn at(db: &Db, name: &str, location: &str) {
    create_as(db, Kind::Table, name, location, Claim::Exclusive).await.unwrap();
}

async fn overlap_is_by_whole_segments(db: TestDb) {
    seed(&db, &["ns"]).await;
    at(&db, "ns.t", "gs://b/a/t").await;
    for overlaps in ["gs://b/a/t", "gs://b/a/t/x", "gs://b/a/t/x/y", "gs://b/a", "gs://b"] {
        assert_eq!(state_of(&db, overlaps).await, Some(("gs://b/a/t".to_owned(), State::Live)), "{overlaps}");
    }
    for apart in ["gs://b/a/t2", "gs://b/a/t-", "gs://b/a/t0", "gs://b/a/T", "gs://b/a/s", "gs://bb", "s3://b/a/t"] {
        assert_eq!(state_of(&db, apart).await, None, "{apart}");
    }
}

async fn a_neighbour_is_another_table_around_or_inside(db: TestDb) {
    seed(&db, &["ns"]).await;
    at(&db, "ns.t", "gs://b/a/t").await;
    let own = load_table(&db, "ns.t").await.unwrap().id;
    let found =
        async |place: &str, id: &str| overlapping_live(&db, place, id).await.unwrap().map(|other| other.location);
    for overlaps in ["gs://b/a/t", "gs://b/a/t/x", "gs://b/a", "gs://b"] {
        assert_eq!(found(overlaps, "another").await.as_deref(), Some("gs://b/a/t"), "{overlaps}");
        assert_eq!(found(overlaps, &own).await, None, "{overlaps}");
    }
    for apart in ["gs://b/a/t2", "gs://b/a/t0", "s3://b/a/t"] {
        assert_eq!(found(apart, "another").await, None, "{apart}");
    }
    drop_table(&db, "ns.t").await.unwrap();
    assert_eq!(found("gs://b/a/t", "another").await, None, "what was left behind is nobody's");
}

async fn a_deep_location_meets_a_shallow_one(db: TestDb) {
    seed(&db, &["ns"]).await;
    at(&db, "ns.t", "gs://b/a").await;
    let deep = format!("gs://b/a/{}", vec!["x"; 100].join("/"));
    assert!(state_of(&db, &deep).await.is_some());
    let refused = create_as(&db, Kind::Table, "ns.u", &deep, Claim::Exclusive).await;
    assert!(matches!(refused, Err(Error::LocationTaken { taken, .. }) if taken == "gs://b/a"));
}

async fn an_exclusive_location_is_given_out_once(db: TestDb) {
    seed(&db, &["ns"]).await;
    at(&db, "ns.t", "gs://b/a/t").await;
    for wanted in ["gs://b/a/t", "gs://b/a", "gs://b/a/t/x"] {
        let refused = create_as(&db, Kind::Table, "ns.u", wanted, Claim::Exclusive).await;
        assert!(matches!(refused, Err(Error::LocationTaken { taken, .. }) if taken == "gs://b/a/t"));
    }
    assert_eq!(load_table(&db, "ns.u").await, None);
    at(&db, "ns.u", "gs://b/a/t2").await;
}

async fn a_requested_location_overlaps_no_live_one(db: TestDb) {
    seed(&db, &["ns"]).await;
    at(&db, "ns.t", "gs://b/a/t").await;
    at(&db, "ns.s", "gs://b/a/s").await;
    for wanted in ["gs://b/a/t", "gs://b/a", "gs://b/a/t/x", "gs://b"] {
        let refused = create_as(&db, Kind::Table, "ns.u", wanted, Claim::Requested).await;
        assert!(matches!(refused, Err(Error::LocationTaken { .. })), "{wanted}");
        assert!(overlapping_live(&db, wanted, "id-of-ns.u").await.unwrap().is_some());
    }
    assert_eq!(overlapping_live(&db, "gs://b/a/t/x", "id-of-ns.t").await.unwrap(), None);
    let refused = try_move(&db, "ns.t", "gs://b/a").await;
    assert!(matches!(refused, Err(Error::LocationTaken { taken, .. }) if taken == "gs://b/a/s"));
    // Into itself and out of itself it may move, and what was left behind may be taken up again.
    move_table(&db, "ns.t", "gs://b/a/t/x").await;
    move_table(&db, "ns.t", "gs://b/a/t").await;
    drop_table(&db, "ns.t").await.unwrap();
    create_as(&db, Kind::Table, "ns.u", "gs://b/a/t", Claim::Requested).await.unwrap();
    assert_eq!(state_of(&db, "gs://b/a/t").await, Some(("gs://b/a/t".to_owned(), State::Live)));
}

async fn of_two_that_race_for_places_that_overlap_one_loses(db: TestDb) {
    seed(&db, &["ns"]).await;
    for round in 0..10 {
        let places = ["a", "a/b", "a/b/c", "a/b/c/d"].map(|place| format!("gs://b/{round}/{place}"));
        let racers = places.iter().enumerate().map(|(n, place)| {
            let claim = if n % 2 == 0 { Claim::Exclusive } else { Claim::Requested };
            let (db, name) = (&db, format!("ns.r{round}x{n}"));
            async move { create_as(db, Kind::Table, &name, place, claim).await }
        });
        let done = futures::future::join_all(racers).await;
        assert_eq!(done.iter().filter(|made| made.is_ok()).count(), 1, "{done:?}");
        assert!(done.iter().all(|made| matches!(made, Ok(_) | Err(Error::LocationTaken { .. }))), "{done:?}");
    }
}

async fn a_dropped_table_leaves_its_location_behind(db: TestDb) {
    seed(&db, &["ns"]).await;
    create_table(&db, "ns.t").await.unwrap();
    let dropped = drop_table(&db, "ns.t").await.unwrap();
    let found = overlapping(&db, "gs://main/ns.t").await.unwrap().unwrap();
    assert_eq!((found.state, found.table_id, found.warehouse_id.as_str()), (State::LeftBehind, dropped.id, WAREHOUSE));
    let refused = create_as(&db, Kind::Table, "ns.u", "gs://main/ns.t", Claim::Exclusive).await;
    assert!(matches!(refused, Err(Error::LocationTaken { .. })));
}

async fn a_renamed_table_keeps_its_location(db: TestDb) {
    seed(&db, &["ns"]).await;
    create_table(&db, "ns.t").await.unwrap();
    let mut tx = db.begin().await.unwrap();
    rename(&mut tx, WAREHOUSE, Kind::Table, &ident("ns.t"), &ident("ns.u"), 3).await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!(state_of(&db, "gs://main/ns.t").await.unwrap().1, State::Live);
}

async fn try_move(db: &Db, name: &str, location: &str) -> Result<()> {
    let row = load_table(db, name).await.unwrap();
    let change = Change { uuid: "u", format_version: 2, location, metadata_location: "m", paths: &[], now_ms: 4 };
    let mut tx = db.begin().await?;
    swap(&mut tx, &[Swap { row: &row, change, moved_to: Some(location) }], &[]).await?;
    tx.commit().await
}

async fn move_table(db: &Db, name: &str, location: &str) {
    try_move(db, name, location).await.unwrap();
}

async fn a_moved_table_has_both_locations(db: TestDb) {
    seed(&db, &["ns"]).await;
    at(&db, "ns.t", "gs://b/one").await;
    move_table(&db, "ns.t", "gs://b/two").await;
    assert_eq!(state_of(&db, "gs://b/one").await.unwrap().1, State::LeftBehind);
    assert_eq!(state_of(&db, "gs://b/two").await.unwrap().1, State::Live);
    move_table(&db, "ns.t", "gs://b/one").await;
    assert_eq!(state_of(&db, "gs://b/one").await.unwrap().1, State::Live);
    assert_eq!(state_of(&db, "gs://b/two").await.unwrap().1, State::LeftBehind);
    assert_eq!(load_table(&db, "ns.t").await.unwrap().location, "gs://b/one");
}

async fn live_is_reported_before_left_behind(db: TestDb) {
    seed(&db, &["ns"]).await;
    at(&db, "ns.t", "gs://b/t/deep/er").await;
    drop_table(&db, "ns.t").await.unwrap();
    create_as(&db, Kind::Table, "ns.z", "gs://b", Claim::Requested).await.unwrap();
    assert_eq!(state_of(&db, "gs://b/t").await, Some(("gs://b".to_owned(), State::Live)));
}

async fn what_is_forgotten_is_free(db: TestDb) {
    seed(&db, &["ns"]).await;
    at(&db, "ns.t", "gs://b/t").await;
    at(&db, "ns.u", "gs://b/u").await;
    let dropped = drop_table(&db, "ns.t").await.unwrap();
    let mut tx = db.begin().await.unwrap();
    forget_table(&mut tx, &dropped.id).await.unwrap();
    // A live location is not forgotten.
    forget_left_behind(&mut tx, "gs://b/u").await.unwrap();
    forget_table(&mut tx, "id-of-ns.u").await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!(state_of(&db, "gs://b/t").await, None);
    assert_eq!(state_of(&db, "gs://b/u").await.unwrap().1, State::Live);
    at(&db, "ns.t", "gs://b/t").await;
    drop_table(&db, "ns.t").await.unwrap();
    let mut tx = db.begin().await.unwrap();
    forget_left_behind(&mut tx, "gs://b/t").await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!(state_of(&db, "gs://b/t").await, None);
}

async fn what_was_held_is_told_by_its_namespace(db: TestDb) {
    seed(&db, &["a", "b", "b.c"]).await;
    for (name, location) in [("a.t", "gs://b/w/one"), ("a.u", "gs://b/w/two"), ("b.c.t", "gs://b/w/three/x")] {
        at(&db, name, location).await;
    }
    let left = async |location: &str, around: bool, but: &str| {
        let found = held(&db, location, around, but).await.unwrap().into_iter();
        found.map(|left| format!("{} {}", left.location, left.namespace.unwrap())).collect::<BTreeSet<_>>()
    };
    let none = BTreeSet::new;
    let some = |texts: &[&str]| texts.iter().map(ToString::to_string).collect::<BTreeSet<_>>();
    assert_eq!(left("gs://b/w", true, "").await, none(), "all are live");
    for name in ["a.t", "a.u", "b.c.t"] {
        drop_table(&db, name).await.unwrap();
    }
    let all = some(&["gs://b/w/one a", "gs://b/w/two a", "gs://b/w/three/x b.c"]);
    assert_eq!(left("gs://b/w", true, "").await, all);
    assert_eq!(left("gs://b/w", false, "").await, none(), "below, not above");
    assert_eq!(left("gs://b/w/one", false, "").await, some(&["gs://b/w/one a"]));
    assert_eq!(left("gs://b/w/one/data", false, "").await, some(&["gs://b/w/one a"]));
    assert_eq!(left("gs://b/w/one2", true, "").await, none());
    assert_eq!(left("gs://b/w/one", true, "id-of-a.t").await, none(), "its own");
    // Who takes it up has it from then on, with what lies in it, and leaves it as their own.
    at_requested(&db, "b.t", "gs://b/w/one").await;
    at_requested(&db, "b.u", "gs://b/w/three").await;
    assert_eq!(left("gs://b/w", true, "").await, some(&["gs://b/w/two a"]));
    drop_table(&db, "b.t").await.unwrap();
    assert_eq!(left("gs://b/w/one", true, "").await, some(&["gs://b/w/one b"]));
}

async fn at_requested(db: &Db, name: &str, location: &str) {
    create_as(db, Kind::Table, name, location, Claim::Requested).await.unwrap();
}
