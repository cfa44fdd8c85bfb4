//! `upgrade-format-version` (spec.md 2.3, 3.9): upwards only, and nothing else changes.

use super::apply::Change;
use crate::spec::error::{Error, Result};
use crate::spec::table::{MAX_FORMAT_VERSION, ROW_LINEAGE_VERSION};

impl Change<'_> {
    pub(super) fn upgrade_format_version(&mut self, to: i32) -> Result<()> {
        let from = self.metadata.format_version;
        if to > i32::from(MAX_FORMAT_VERSION) {
            let text = "Cannot upgrade table to unsupported format version";
            return Err(Error::invalid(format!("{text}: v{to} (supported: v{MAX_FORMAT_VERSION})")));
        }
        let downgrade = || Error::invalid(format!("Cannot downgrade v{from} table to v{to}"));
        let to = u8::try_from(to).ok().filter(|&to| to >= from).ok_or_else(downgrade)?;
        if to == from {
            return Ok(());
        }
        self.metadata.format_version = to;
        if to >= ROW_LINEAGE_VERSION && self.metadata.next_row_id.is_none() {
            self.metadata.next_row_id = Some(0);
        }
        self.changed = true;
        Ok(())
    }
}
