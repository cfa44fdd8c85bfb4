use guillemot::store::locations::Claim;
use guillemot::store::tables::{Change, Kind, NewTable, Swap, TableRow, create, list, rename, swap};
use guillemot::store::{Db, Entity, Error, Page, Result};

use super::{WAREHOUSE, change, create_as, create_table, create_view, create_warehouse, drop_table, ident};
use super::{load_table, namespace, seed};
use crate::support::{TestDb, on_both};

on_both!(
    a_created_table_is_loaded_as_created,
    nothing_is_found_in_nothing,
    names_are_case_sensitive,
    tables_and_views_share_their_names,
    a_table_needs_its_namespace,
    a_create_that_fails_leaves_no_location,
    lists_tell_tables_from_views,
    pages_are_stable_under_inserts,
    a_swap_moves_the_pointer,
    a_lost_swap_is_a_conflict,
    several_swaps_are_all_or_nothing,
    what_stays_as_it_is_must_be_as_it_was_read,
    creates_and_swaps_are_all_or_nothing,
    a_dropped_transaction_did_nothing,
    a_rename_keeps_the_table,
    a_rename_to_a_taken_name_says_by_what,
    a_rename_needs_source_and_destination,
    a_rename_beats_a_swap_that_read_before,
    a_drop_answers_what_was_there,
    long_texts_are_kept,
    the_longest_key_is_stored,
);

async fn swap_to(db: &Db, row: &TableRow, metadata_location: &str) -> Result<()> {
    let mut tx = db.begin().await?;
    swap(&mut tx, &[Swap { row, change: change(metadata_location), moved_to: None }], &[]).await?;
    tx.commit().await
}

async fn move_name(db: &Db, kind: Kind, from: &str, to: &str) -> Result<()> {
    let mut tx = db.begin().await?;
    rename(&mut tx, WAREHOUSE, kind, &ident(from), &ident(to), 5).await?;
    tx.commit().await
}

async fn a_created_table_is_loaded_as_created(db: TestDb) {
    seed(&db, &["ns", "ns.inner"]).await;
    for name in ["ns.t", "ns.inner.t", "ns.größe 🦆 'x' \"y\" %2F/\\"] {
        let created = create_table(&db, name).await.unwrap();
        assert_eq!((created.version, created.format_version, created.created_ms), (0, 2, 2));
        assert_eq!(created.metadata_location, "m0");
        assert_eq!(load_table(&db, name).await, Some(created));
    }
}

async fn nothing_is_found_in_nothing(db: TestDb) {
    seed(&db, &["ns"]).await;
    assert_eq!(load_table(&db, "ns.t").await, None);
    assert_eq!(load_table(&db, "none.t").await, None);
    let missing = list(&db, WAREHOUSE, &namespace("none"), Kind::Table, &Page::default()).await;
    assert!(matches!(missing, Err(Error::NotFound(Entity::Namespace(name))) if name == "none"));
    assert!(list(&db, WAREHOUSE, &namespace("ns"), Kind::Table, &Page::default()).await.unwrap().items.is_empty());
}

async fn names_are_case_sensitive(db: TestDb) {
    seed(&db, &["ns"]).await;
    create_table(&db, "ns.t").await.unwrap();
    assert_eq!(load_table(&db, "ns.T").await, None);
    create_table(&db, "ns.T").await.unwrap();
}

async fn tables_and_views_share_their_names(db: TestDb) {
    seed(&db, &["ns"]).await;
    create_table(&db, "ns.t").await.unwrap();
    create_view(&db, "ns.v").await.unwrap();
    for kind in [Kind::Table, Kind::View] {
        let over_table = create_as(&db, kind, "ns.t", "gs://main/other", Claim::Exclusive).await;
        assert!(matches!(over_table, Err(Error::AlreadyExists(Entity::Table(name))) if name == "ns.t"));
        let over_view = create_as(&db, kind, "ns.v", "gs://main/other", Claim::Exclusive).await;
        assert!(matches!(over_view, Err(Error::AlreadyExists(Entity::View(name))) if name == "ns.v"));
    }
}

async fn a_table_needs_its_namespace(db: TestDb) {
    seed(&db, &["ns"]).await;
    create_warehouse(&db, "other", "other", "gs://other").await.unwrap();
    let refused = create_table(&db, "none.t").await;
    assert!(matches!(refused, Err(Error::NotFound(Entity::Namespace(name))) if name == "none"));
    let mut tx = db.begin().await.unwrap();
    let new = NewTable {
        id: "x",
        warehouse_id: "other",
        ident: &ident("ns.t"),
        kind: Kind::Table,
        location_key: "gs://other/t",
        claim: Claim::Exclusive,
        change: change("m"),
    };
    assert!(matches!(create(&mut tx, &new).await, Err(Error::NotFound(Entity::Namespace(_)))));
}

async fn a_create_that_fails_leaves_no_location(db: TestDb) {
    seed(&db, &["ns"]).await;
    create_table(&db, "ns.t").await.unwrap();
    create_as(&db, Kind::Table, "ns.t", "gs://main/fresh", Claim::Exclusive).await.unwrap_err();
    create_as(&db, Kind::Table, "ns.u", "gs://main/fresh", Claim::Exclusive).await.unwrap();
}

async fn lists_tell_tables_from_views(db: TestDb) {
    seed(&db, &["ns", "ns.inner", "nt"]).await;
    for name in ["ns.b", "ns.a", "ns.inner.x", "nt.y"] {
        create_table(&db, name).await.unwrap();
    }
    create_view(&db, "ns.c").await.unwrap();
    let names = async |kind| list(&db, WAREHOUSE, &namespace("ns"), kind, &Page::default()).await.unwrap().items;
    assert_eq!(names(Kind::Table).await, ["a", "b"]);
    assert_eq!(names(Kind::View).await, ["c"]);
}

async fn pages_are_stable_under_inserts(db: TestDb) {
    seed(&db, &["ns"]).await;
    for name in ["b", "d", "f"] {
        create_table(&db, &format!("ns.{name}")).await.unwrap();
    }
    let page = async |after, limit| {
        let page = Page { after, limit: Some(limit) };
        list(&db, WAREHOUSE, &namespace("ns"), Kind::Table, &page).await.unwrap()
    };
    let first = page(None, 2).await;
    assert_eq!(first.items, ["b", "d"]);
    create_table(&db, "ns.a").await.unwrap();
    create_table(&db, "ns.e").await.unwrap();
    drop_table(&db, "ns.d").await.unwrap();
    let second = page(first.next, 2).await;
    assert_eq!((second.items, second.next), (vec!["e".to_owned(), "f".to_owned()], None));
}

async fn a_swap_moves_the_pointer(db: TestDb) {
    seed(&db, &["ns"]).await;
    let read = create_table(&db, "ns.t").await.unwrap();
    let next = Change {
        uuid: "u2",
        format_version: 3,
        location: "gs://main/x",
        metadata_location: "m1",
        paths: &[],
        now_ms: 50,
    };
    let mut tx = db.begin().await.unwrap();
    swap(&mut tx, &[Swap { row: &read, change: next, moved_to: None }], &[]).await.unwrap();
    tx.commit().await.unwrap();
    let now = load_table(&db, "ns.t").await.unwrap();
    assert_eq!((now.metadata_location.as_str(), now.version, now.format_version), ("m1", 1, 3));
    assert_eq!((now.uuid.as_str(), now.location.as_str()), ("u2", "gs://main/x"));
    assert_eq!((now.created_ms, now.updated_ms, now.id), (2, 50, read.id));
}

async fn a_lost_swap_is_a_conflict(db: TestDb) {
    seed(&db, &["ns"]).await;
    let read = create_table(&db, "ns.t").await.unwrap();
    swap_to(&db, &read, "m1").await.unwrap();
    assert!(matches!(swap_to(&db, &read, "m1-too").await, Err(Error::Conflict)));
    drop_table(&db, "ns.t").await.unwrap();
    assert!(matches!(swap_to(&db, &read, "m2").await, Err(Error::Conflict)));
    // A new table of that name is another row.
    let mut tx = db.begin().await.unwrap();
    let new = NewTable {
        id: "another",
        warehouse_id: WAREHOUSE,
        ident: &ident("ns.t"),
        kind: Kind::Table,
        location_key: "gs://main/another",
        claim: Claim::Exclusive,
        change: change("m0"),
    };
    create(&mut tx, &new).await.unwrap();
    tx.commit().await.unwrap();
    assert!(matches!(swap_to(&db, &read, "m3").await, Err(Error::Conflict)));
}

async fn several_swaps_are_all_or_nothing(db: TestDb) {
    seed(&db, &["ns"]).await;
    let a = create_table(&db, "ns.a").await.unwrap();
    let b = create_table(&db, "ns.b").await.unwrap();
    let both = async |location: &str| {
        let mut tx = db.begin().await?;
        let swaps = [&b, &a].map(|row| Swap { row, change: change(location), moved_to: None });
        swap(&mut tx, &swaps, &[]).await?;
        tx.commit().await
    };
    both("m1").await.unwrap();
    assert_eq!(load_table(&db, "ns.a").await.unwrap().metadata_location, "m1");
    let a1 = load_table(&db, "ns.a").await.unwrap();
    // `a` alone moves on; then the pair as read at first loses, wherever the stale one stands.
    swap_to(&db, &a1, "m2").await.unwrap();
    assert!(matches!(both("m3").await, Err(Error::Conflict)));
    assert_eq!(load_table(&db, "ns.a").await.unwrap().metadata_location, "m2");
    assert_eq!(load_table(&db, "ns.b").await.unwrap().metadata_location, "m1");
}

async fn what_stays_as_it_is_must_be_as_it_was_read(db: TestDb) {
    seed(&db, &["ns"]).await;
    create_table(&db, "ns.a").await.unwrap();
    create_table(&db, "ns.b").await.unwrap();
    let move_beside = async |moved: &TableRow, same: &TableRow| {
        let mut tx = db.begin().await?;
        swap(&mut tx, &[Swap { row: moved, change: change("m1"), moved_to: None }], &[same]).await?;
        tx.commit().await
    };
    for (moved, same) in [("ns.a", "ns.b"), ("ns.b", "ns.a")] {
        let (before, read) = (load_table(&db, moved).await.unwrap(), load_table(&db, same).await.unwrap());
        move_beside(&before, &read).await.unwrap();
        assert_eq!(load_table(&db, same).await.as_ref(), Some(&read), "nothing of it changed");
        swap_to(&db, &read, "m2").await.unwrap();
        let after = load_table(&db, moved).await.unwrap();
        assert!(matches!(move_beside(&after, &read).await, Err(Error::Conflict)));
        assert_eq!(load_table(&db, moved).await, Some(after));
    }
}

async fn creates_and_swaps_are_all_or_nothing(db: TestDb) {
    seed(&db, &["ns"]).await;
    let old = create_table(&db, "ns.old").await.unwrap();
    let together = async |id: &str, name: &str| {
        let mut tx = db.begin().await?;
        let new = NewTable {
            id,
            warehouse_id: WAREHOUSE,
            ident: &ident(name),
            kind: Kind::Table,
            location_key: "gs://main/new",
            claim: Claim::Exclusive,
            change: change("m0"),
        };
        swap(&mut tx, &[Swap { row: &old, change: change("m1"), moved_to: None }], &[]).await?;
        create(&mut tx, &new).await?;
        tx.commit().await
    };
    assert!(matches!(together("n1", "ns.old").await, Err(Error::AlreadyExists(Entity::Table(_)))));
    assert_eq!(load_table(&db, "ns.old").await.unwrap().metadata_location, "m0");
    together("n1", "ns.new").await.unwrap();
    assert_eq!(load_table(&db, "ns.old").await.unwrap().metadata_location, "m1");
    assert!(matches!(together("n2", "ns.newer").await, Err(Error::Conflict)));
    assert_eq!(load_table(&db, "ns.newer").await, None);
}

async fn a_dropped_transaction_did_nothing(db: TestDb) {
    seed(&db, &["ns"]).await;
    let read = create_table(&db, "ns.t").await.unwrap();
    let mut tx = db.begin().await.unwrap();
    swap(&mut tx, &[Swap { row: &read, change: change("m1"), moved_to: None }], &[]).await.unwrap();
    // Nobody sees it before the commit.
    assert_eq!(load_table(&db, "ns.t").await.unwrap().metadata_location, "m0");
    drop(tx);
    assert_eq!(load_table(&db, "ns.t").await.unwrap().metadata_location, "m0");
    swap_to(&db, &read, "m1").await.unwrap();
}

async fn a_rename_keeps_the_table(db: TestDb) {
    seed(&db, &["a", "b"]).await;
    let read = create_table(&db, "a.t").await.unwrap();
    move_name(&db, Kind::Table, "a.t", "b.u").await.unwrap();
    assert_eq!(load_table(&db, "a.t").await, None);
    let renamed = load_table(&db, "b.u").await.unwrap();
    assert_eq!((renamed.id, renamed.metadata_location, renamed.version), (read.id, read.metadata_location, 1));
    create_as(&db, Kind::Table, "a.t", "gs://main/a.t-2", Claim::Exclusive).await.unwrap_err();
}

async fn a_rename_to_a_taken_name_says_by_what(db: TestDb) {
    seed(&db, &["ns"]).await;
    create_table(&db, "ns.t").await.unwrap();
    create_table(&db, "ns.u").await.unwrap();
    create_view(&db, "ns.v").await.unwrap();
    let to_table = move_name(&db, Kind::Table, "ns.t", "ns.u").await;
    assert!(matches!(to_table, Err(Error::AlreadyExists(Entity::Table(name))) if name == "ns.u"));
    let to_view = move_name(&db, Kind::Table, "ns.t", "ns.v").await;
    assert!(matches!(to_view, Err(Error::AlreadyExists(Entity::View(name))) if name == "ns.v"));
    let view_to_table = move_name(&db, Kind::View, "ns.v", "ns.t").await;
    assert!(matches!(view_to_table, Err(Error::AlreadyExists(Entity::Table(_)))));
    assert!(load_table(&db, "ns.t").await.is_some());
}

async fn a_rename_needs_source_and_destination(db: TestDb) {
    seed(&db, &["ns"]).await;
    create_table(&db, "ns.t").await.unwrap();
    let no_source = move_name(&db, Kind::Table, "ns.none", "ns.u").await;
    assert!(matches!(no_source, Err(Error::NotFound(Entity::Table(name))) if name == "ns.none"));
    let other_kind = move_name(&db, Kind::View, "ns.t", "ns.u").await;
    assert!(matches!(other_kind, Err(Error::NotFound(Entity::View(name))) if name == "ns.t"));
    let no_namespace = move_name(&db, Kind::Table, "ns.t", "none.t").await;
    assert!(matches!(no_namespace, Err(Error::NotFound(Entity::Namespace(name))) if name == "none"));
}

async fn a_rename_beats_a_swap_that_read_before(db: TestDb) {
    seed(&db, &["ns"]).await;
    let read = create_table(&db, "ns.t").await.unwrap();
    move_name(&db, Kind::Table, "ns.t", "ns.u").await.unwrap();
    assert!(matches!(swap_to(&db, &read, "m1").await, Err(Error::Conflict)));
}

async fn a_drop_answers_what_was_there(db: TestDb) {
    seed(&db, &["ns"]).await;
    let created = create_table(&db, "ns.t").await.unwrap();
    assert_eq!(drop_table(&db, "ns.t").await.unwrap(), created);
    assert!(matches!(drop_table(&db, "ns.t").await, Err(Error::NotFound(Entity::Table(name))) if name == "ns.t"));
    create_view(&db, "ns.v").await.unwrap();
    assert!(matches!(drop_table(&db, "ns.v").await, Err(Error::NotFound(Entity::Table(_)))));
}

async fn long_texts_are_kept(db: TestDb) {
    seed(&db, &["ns"]).await;
    let read = create_table(&db, "ns.t").await.unwrap();
    let long = format!("gs://main/{}", "x".repeat(100_000));
    swap_to(&db, &read, &long).await.unwrap();
    assert_eq!(load_table(&db, "ns.t").await.unwrap().metadata_location, long);
}

async fn the_longest_key_is_stored(db: TestDb) {
    // Bytes that do not compress, or PostgreSQL's limit would not be met.
    let mut state = 1_u32;
    let mut noise = |length: usize| -> String {
        let mut letter = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            char::from(b'a' + u8::try_from(state >> 24).unwrap() % 26)
        };
        (0..length).map(|_| letter()).collect()
    };
    let (levels, name, location) = (noise(1024), noise(1024), noise(2000));
    seed(&db, &[&levels]).await;
    let name = format!("{levels}.{name}");
    create_as(&db, Kind::Table, &name, &format!("gs://main/{location}"), Claim::Exclusive).await.unwrap();
    assert!(load_table(&db, &name).await.is_some());
    let refused = create_as(&db, Kind::Table, &format!("{name}x"), "gs://main/y", Claim::Exclusive).await;
    assert!(matches!(refused, Err(Error::Unstorable { what: "table name", .. })));
}
