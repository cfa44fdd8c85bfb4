use guillemot::store::engines::{Engine, KEPT, list, note};

use super::{create_table, drop_table, seed};
use crate::support::{TestDb, on_both};

on_both!(clients_are_kept_with_their_last_times, a_table_has_not_too_many_clients);

async fn see(db: &TestDb, table: &str, agent: &str, read_ms: i64, wrote_ms: i64) {
    let mut tx = db.begin().await.unwrap();
    note(&mut tx, table, &Engine { agent: agent.to_owned(), read_ms, wrote_ms }).await.unwrap();
    tx.commit().await.unwrap();
}

async fn clients_are_kept_with_their_last_times(db: TestDb) {
    seed(&db, &["ns"]).await;
    let table = create_table(&db, "ns.t").await.unwrap();
    see(&db, &table.id, "spark", 5, 0).await;
    see(&db, &table.id, "duckdb", 7, 0).await;
    see(&db, &table.id, "spark", 0, 9).await;
    see(&db, &table.id, "spark", 3, 8).await;
    let spark = Engine { agent: "spark".to_owned(), read_ms: 5, wrote_ms: 9 };
    let duckdb = Engine { agent: "duckdb".to_owned(), read_ms: 7, wrote_ms: 0 };
    assert_eq!(list(&db, &table.id).await.unwrap(), [spark, duckdb]);
    see(&db, "no such table", "spark", 1, 1).await;
    assert_eq!(list(&db, "no such table").await.unwrap(), []);
    drop_table(&db, "ns.t").await.unwrap();
    assert_eq!(list(&db, &table.id).await.unwrap(), []);
}

async fn a_table_has_not_too_many_clients(db: TestDb) {
    seed(&db, &["ns"]).await;
    let table = create_table(&db, "ns.t").await.unwrap();
    for n in 0..KEPT + 5 {
        see(&db, &table.id, &format!("agent {n}"), n + 1, 0).await;
    }
    let kept = list(&db, &table.id).await.unwrap();
    assert_eq!(kept.len(), usize::try_from(KEPT).unwrap());
    assert_eq!((kept[0].agent.as_str(), kept.last().unwrap().read_ms), (&*format!("agent {}", KEPT + 4), 6));
}
