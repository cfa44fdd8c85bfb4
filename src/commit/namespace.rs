//! What a namespace's properties may say.

use crate::app::Warehouse;
use crate::commit::Error;
use crate::commit::location::check_inside;
use std::collections::BTreeMap;

/// Checks the properties of a namespace: its `location`, the base of its tables, lies where the warehouse allows.
pub fn check_namespace_properties(warehouse: &Warehouse, properties: &BTreeMap<String, String>) -> Result<(), Error> {
    if let Some(location) = properties.get("location") {
        check_inside(warehouse, "namespace location", location)?;
    }
    Ok(())
}
