//! Metrics reports on tables.

use crate::app::{App, Warehouse};
use crate::commit::{Error, load_pointer};
use crate::spec::{MetricsReport, TableIdent};
use crate::store::reports::{self, NewReport};
use crate::store::tables::Kind;

/// Keeps a report on a table.
pub async fn record_report(
    app: &App,
    warehouse: &Warehouse,
    ident: &TableIdent,
    report: &MetricsReport,
) -> Result<(), Error> {
    let row = load_pointer(app, warehouse, Kind::Table, ident).await?;
    let new =
        NewReport { id: &app.ids.uuid(), table_id: &row.id, report: report.text(), received_ms: app.clock.now_ms() };
    let mut tx = app.db.begin().await?;
    reports::add(&mut tx, &new, ident).await?;
    Ok(tx.commit().await?)
}

/// The latest reports on a table, newest first, each with the time it came, in epoch milliseconds.
pub async fn latest_reports(
    app: &App,
    warehouse: &Warehouse,
    ident: &TableIdent,
) -> Result<Vec<(i64, MetricsReport)>, Error> {
    let row = load_pointer(app, warehouse, Kind::Table, ident).await?;
    let kept = reports::latest(&app.db, &row.id).await?;
    kept.into_iter().map(|kept| Ok((kept.received_ms, MetricsReport::parse(kept.report.as_bytes())?))).collect()
}
