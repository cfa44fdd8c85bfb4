//! Planning a scan: the table's metadata, then whatever planning reads of its manifests.

use crate::app::{App, Reach, Warehouse};
use crate::auth::{Action, Caller};
use crate::commit::places::Places;
use crate::commit::{Error, load};
use crate::plan::{self, Limits, PlanRequest, Scan};
use crate::spec::{TableIdent, TableMetadata};

/// Which scan is planned.
#[derive(Debug)]
pub enum PlanOf<'a> {
    /// The one that a client describes.
    Request(PlanRequest),
    /// The one that a plan id stands for.
    Id(&'a str),
    /// The part of one that a plan task stands for.
    Task(&'a str),
}

/// Plans a scan of a table, all at once: the reply is the plan, as JSON.
pub async fn plan_scan(
    app: &App,
    warehouse: &Warehouse,
    caller: &Caller,
    ident: &TableIdent,
    of: PlanOf<'_>,
) -> Result<String, Error> {
    let (row, stored) = load::<TableMetadata>(app, warehouse, ident).await?;
    let is_task = matches!(of, PlanOf::Task(_));
    let scan = resolve(stored.metadata(), of)?;
    let limits = Limits { tasks: app.config.plan_task_files };
    let places = Places { app, warehouse, caller, namespace: &ident.namespace, row: Some(&row) };
    let reader = Reach { action: Action::Read, ..places.reach(Vec::new()) }.scoped(warehouse);
    let planned = plan::plan(&reader, &app.plans, &scan, limits).await?;
    Ok(if is_task { planned.tasks_json() } else { planned.completed_json() })
}

/// Ends a plan. There is nothing to end, since nothing is kept of a plan: this tells whether there is such a plan.
pub async fn cancel_plan(app: &App, warehouse: &Warehouse, ident: &TableIdent, id: &str) -> Result<(), Error> {
    let (_, stored) = load::<TableMetadata>(app, warehouse, ident).await?;
    resolve(stored.metadata(), PlanOf::Id(id)).map(drop)
}

fn resolve<'t>(table: &'t TableMetadata, of: PlanOf<'_>) -> Result<Scan<'t>, Error> {
    Ok(match of {
        PlanOf::Request(request) => Scan::new(table, request)?,
        PlanOf::Id(id) => Scan::of_plan_id(table, id)?,
        PlanOf::Task(task) => Scan::of_plan_task(table, task)?,
    })
}
