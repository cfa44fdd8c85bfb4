use guillemot::store::reports::{KEPT, NewReport, Report, add, latest};
use guillemot::store::{Db, Entity, Error, Result};

use super::{create_table, drop_table, ident, seed};
use crate::support::{TestDb, on_both};

on_both!(the_latest_of_each_table_are_kept, a_report_needs_its_table_and_goes_with_it);

async fn report(db: &Db, table_id: &str, n: i64) -> Result<()> {
    let (id, text) = (format!("{table_id}-{n}"), format!("{{\"n\":{n}}}"));
    let mut tx = db.begin().await?;
    add(&mut tx, &NewReport { id: &id, table_id, report: &text, received_ms: n }, &ident("ns.t")).await?;
    tx.commit().await
}

async fn the_latest_of_each_table_are_kept(db: TestDb) {
    seed(&db, &["ns"]).await;
    let (t, u) = (create_table(&db, "ns.t").await.unwrap().id, create_table(&db, "ns.u").await.unwrap().id);
    report(&db, &u, 0).await.unwrap();
    for n in 0..KEPT + 3 {
        report(&db, &t, n).await.unwrap();
    }
    let kept = latest(&db, &t).await.unwrap();
    assert_eq!(kept.iter().map(|one| one.received_ms).collect::<Vec<_>>(), (3..KEPT + 3).rev().collect::<Vec<_>>());
    assert_eq!(latest(&db, &u).await.unwrap(), [Report { report: "{\"n\":0}".into(), received_ms: 0 }]);
}

async fn a_report_needs_its_table_and_goes_with_it(db: TestDb) {
    seed(&db, &["ns"]).await;
    let missing = report(&db, "none", 1).await;
    assert!(matches!(missing, Err(Error::NotFound(Entity::Table(name))) if name == "ns.t"));
    let table = create_table(&db, "ns.t").await.unwrap();
    report(&db, &table.id, 1).await.unwrap();
    drop_table(&db, "ns.t").await.unwrap();
    assert!(latest(&db, &table.id).await.unwrap().is_empty());
}
