//! What a namespace's properties may say.

use crate::app::{App, Warehouse};
use crate::auth::Caller;
use crate::commit::Error;
use crate::commit::places::{Places, check_inside};
use crate::spec::Namespace;
use std::collections::BTreeMap;

/// Checks the properties of a namespace: its `location`, the folder of its tables, lies where the warehouse allows, and is
/// nobody else's.
pub async fn check_namespace_properties(
    app: &App,
    warehouse: &Warehouse,
    caller: &Caller,
    namespace: &Namespace,
    properties: &BTreeMap<String, String>,
) -> Result<(), Error> {
    let Some(location) = properties.get("location") else { return Ok(()) };
    let place = check_inside(warehouse, "namespace location", location)?;
    if caller.principal.unrestricted {
        // The folder of its tables may be around them.
        return Ok(());
    }
    Places { app, warehouse, caller, namespace, row: None }.check("namespace location", &place, false).await
}
