use guillemot::store::locations::Claim;
use guillemot::store::tables::{Kind, NewTable, Swap, create, load, swap};
use guillemot::store::{Db, Error, Result};

use super::{WAREHOUSE, change, create_as, create_namespace, create_table, drop_namespace, ident, load_table, seed};
use crate::support::{TestDb, on_both};

on_both!(
    one_of_sixteen_racers_wins,
    racers_that_retry_all_win,
    two_pools_count_every_commit,
    transactions_over_the_same_tables_do_not_wait_for_each_other,
    one_create_of_a_name_wins,
    one_claim_of_a_location_wins,
    no_table_is_left_without_its_namespace,
    a_failed_statement_forbids_the_commit,
    a_broken_pool_says_so,
);

async fn try_swap(db: &Db, name: &str, to: &str) -> Result<()> {
    let row = load(db, WAREHOUSE, &ident(name)).await?.unwrap();
    let mut tx = db.begin().await?;
    swap(&mut tx, &[Swap { row: &row, change: change(to), moved_to: None }], &[]).await?;
    tx.commit().await
}

/// Runs as many tasks at once and answers what each said.
async fn race<T: Send + 'static, F>(racers: usize, run: impl Fn(usize) -> F) -> Vec<T>
where
    F: Future<Output = T> + Send + 'static,
{
    let tasks: Vec<_> = (0..racers).map(|n| tokio::spawn(run(n))).collect();
    let mut results = Vec::new();
    for task in tasks {
        results.push(task.await.unwrap());
    }
    results
}

async fn one_of_sixteen_racers_wins(db: TestDb) {
    seed(&db, &["ns"]).await;
    let read = create_table(&db, "ns.t").await.unwrap();
    let results = race(16, |n| {
        let (db, read) = (Db::clone(&db), read.clone());
        async move {
            let mut tx = db.begin().await?;
            let to = format!("m{n}");
            swap(&mut tx, &[Swap { row: &read, change: change(&to), moved_to: None }], &[]).await?;
            tx.commit().await
        }
    })
    .await;
    assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1);
    assert!(results.iter().all(|result| matches!(result, Ok(()) | Err(Error::Conflict))), "{results:?}");
}

async fn retried(db: Db, commits: usize) {
    for n in 0..commits {
        loop {
            match try_swap(&db, "ns.t", &format!("m{n}")).await {
                Ok(()) => break,
                Err(Error::Conflict) => {}
                Err(error) => panic!("{error:?}"),
            }
        }
    }
}

async fn racers_that_retry_all_win(db: TestDb) {
    seed(&db, &["ns"]).await;
    create_table(&db, "ns.t").await.unwrap();
    race(16, |_| retried(Db::clone(&db), 5)).await;
    assert_eq!(load_table(&db, "ns.t").await.unwrap().version, 80);
}

async fn two_pools_count_every_commit(db: TestDb) {
    seed(&db, &["ns"]).await;
    create_table(&db, "ns.t").await.unwrap();
    let other = Db::connect(db.url()).await.unwrap();
    race(8, |n| retried(if n % 2 == 0 { Db::clone(&db) } else { other.clone() }, 5)).await;
    assert_eq!(load_table(&db, "ns.t").await.unwrap().version, 40);
}

async fn transactions_over_the_same_tables_do_not_wait_for_each_other(db: TestDb) {
    seed(&db, &["ns"]).await;
    let a = create_table(&db, "ns.a").await.unwrap();
    let b = create_table(&db, "ns.b").await.unwrap();
    let results = race(8, |n| {
        let (db, mut rows) = (Db::clone(&db), [a.clone(), b.clone()]);
        async move {
            if n % 2 == 0 {
                rows.reverse();
            }
            let swaps = rows.each_ref().map(|row| Swap { row, change: change("m1"), moved_to: None });
            let mut tx = db.begin().await?;
            swap(&mut tx, &swaps, &[]).await?;
            tx.commit().await
        }
    })
    .await;
    assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1, "{results:?}");
    assert!(results.iter().all(|result| matches!(result, Ok(()) | Err(Error::Conflict))), "{results:?}");
}

async fn one_create_of_a_name_wins(db: TestDb) {
    seed(&db, &["ns"]).await;
    let results = race(8, |n| {
        let db = Db::clone(&db);
        async move {
            let mut tx = db.begin().await?;
            let new = NewTable {
                id: &format!("id{n}"),
                warehouse_id: WAREHOUSE,
                ident: &ident("ns.t"),
                kind: if n % 2 == 0 { Kind::Table } else { Kind::View },
                location_key: &format!("gs://main/{n}"),
                claim: Claim::Exclusive,
                change: change("m0"),
            };
            let row = create(&mut tx, &new).await?;
            tx.commit().await.map(|()| row)
        }
    })
    .await;
    let there = load_table(&db, "ns.t").await.unwrap();
    let (won, lost): (Vec<_>, Vec<_>) = results.into_iter().partition(Result::is_ok);
    assert_eq!(won.into_iter().map(Result::unwrap).collect::<Vec<_>>(), std::slice::from_ref(&there));
    for error in lost {
        assert!(matches!(error, Err(Error::AlreadyExists(entity)) if entity == there.kind.entity(&there.ident)));
    }
}

async fn one_claim_of_a_location_wins(db: TestDb) {
    seed(&db, &["ns"]).await;
    let results =
        race(8, |n| {
            let db = Db::clone(&db);
            async move {
                create_as(&db, Kind::Table, &format!("ns.t{n}"), "gs://main/same", Claim::Exclusive).await.map(|_| ())
            }
        })
        .await;
    assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1, "{results:?}");
    for result in results {
        assert!(matches!(result, Ok(()) | Err(Error::LocationTaken { .. })), "{result:?}");
    }
}

async fn no_table_is_left_without_its_namespace(db: TestDb) {
    seed(&db, &[]).await;
    for round in 0..10 {
        let name = format!("ns{round}");
        create_namespace(&db, &name).await.unwrap();
        let (creating, dropping, table) = (Db::clone(&db), Db::clone(&db), format!("{name}.t"));
        let created = tokio::spawn(async move { create_table(&creating, &table).await });
        let dropped = tokio::spawn({
            let name = name.clone();
            async move { drop_namespace(&dropping, &name).await }
        });
        match (created.await.unwrap(), dropped.await.unwrap()) {
            (Ok(_), Err(Error::NotEmpty(_))) | (Err(Error::NotFound(_)), Ok(())) => {}
            other => panic!("{other:?}"),
        }
    }
}

async fn a_failed_statement_forbids_the_commit(db: TestDb) {
    seed(&db, &["ns"]).await;
    create_table(&db, "ns.t").await.unwrap();
    let mut tx = db.begin().await.unwrap();
    let row = load_table(&db, "ns.t").await.unwrap();
    swap(&mut tx, &[Swap { row: &row, change: change("m1"), moved_to: None }], &[]).await.unwrap();
    let orphan = NewTable {
        id: "x",
        warehouse_id: WAREHOUSE,
        ident: &ident("none.t"),
        kind: Kind::Table,
        location_key: "gs://main/x",
        claim: Claim::Exclusive,
        change: change("m0"),
    };
    assert!(matches!(create(&mut tx, &orphan).await, Err(Error::NotFound(_))));
    assert!(matches!(tx.commit().await, Err(Error::Sql(_))));
    assert_eq!(load_table(&db, "ns.t").await.unwrap().metadata_location, "m0");
}

async fn a_broken_pool_says_so(db: TestDb) {
    db.ping().await.unwrap();
    db.close().await;
    assert!(matches!(db.ping().await, Err(Error::Sql(_))));
    assert!(matches!(db.begin().await, Err(Error::Sql(_))));
}
