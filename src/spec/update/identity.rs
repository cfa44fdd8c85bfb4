//! `assign-uuid`, `set-location` (spec.md 2.3).

use super::apply::Change;
use crate::spec::error::{Error, Result};
use crate::spec::table::strip_trailing_slash;

impl Change<'_> {
    /// Gives the table its uuid. A table that has one keeps it, since clients take another one for another table.
    pub(super) fn assign_uuid(&mut self, uuid: &str) -> Result<()> {
        if uuid.is_empty() {
            return Err(Error::invalid("Cannot set uuid to an empty string"));
        }
        let old = &self.metadata.table_uuid;
        if uuid.eq_ignore_ascii_case(old) {
            return Ok(());
        }
        if self.base.is_some() && !old.is_empty() {
            return Err(Error::invalid(format!("Cannot reassign uuid: {old} to {uuid}")));
        }
        uuid.clone_into(&mut self.metadata.table_uuid);
        self.changed = true;
        Ok(())
    }

    /// Moves the table. Whether the place is allowed is for the caller to say.
    pub(super) fn set_location(&mut self, location: &str) -> Result<()> {
        if location == self.metadata.location {
            return Ok(());
        }
        let stripped = strip_trailing_slash(location);
        if stripped.is_empty() {
            return Err(Error::invalid(format!("Invalid table location: {location:?}")));
        }
        stripped.clone_into(&mut self.metadata.location);
        self.changed = true;
        Ok(())
    }
}
