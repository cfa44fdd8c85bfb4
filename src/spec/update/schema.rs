//! `add-schema`, `set-current-schema`, `remove-schemas` (spec.md 2.3).

use super::apply::Change;
use crate::spec::error::{Error, Result};
use crate::spec::schema::Schema;

impl Change<'_> {
    /// Adds a schema under a number of its own, or finds the equal one that is there.
    pub(super) fn add_schema(&mut self, schema: &Schema) -> Result<()> {
        schema.check_valid()?;
        schema.check_compatible(self.metadata.format_version)?;
        self.sent_schema_ids.insert(schema.schema_id);
        let highest = schema.highest_field_id();
        if highest > self.metadata.last_column_id {
            self.metadata.last_column_id = highest;
            self.changed = true;
        }
        if let Some(equal) = self.metadata.schemas.iter().find(|known| known.same_as(schema)) {
            self.schema_ids.reuse(equal.schema_id);
            return Ok(());
        }
        let id = self.schema_ids.next("schema")?;
        self.metadata.schemas.push(schema.clone().with_id(id));
        self.changed = true;
        Ok(())
    }

    pub(super) fn set_current_schema(&mut self, schema_id: i32) -> Result<()> {
        let none = "Cannot set last added schema: no schema has been added";
        let id = self.schema_ids.resolve(schema_id, none)?;
        if id == self.metadata.current_schema_id {
            return Ok(());
        }
        let unknown = || Error::invalid(format!("Cannot set current schema to unknown schema: {id}"));
        let schema = self.metadata.schema(id).ok_or_else(unknown)?;
        // Java binds all specs to the new schema, which demands of their names that they fit.
        self.metadata.partition_specs.iter().try_for_each(|spec| spec.check_names(schema))?;
        self.metadata.current_schema_id = id;
        self.changed = true;
        Ok(())
    }

    /// Removes schemas. Numbers that no schema has are ignored.
    pub(super) fn remove_schemas(&mut self, ids: &[i32]) -> Result<()> {
        if ids.contains(&self.metadata.current_schema_id) {
            return Err(Error::invalid("Cannot remove the current schema"));
        }
        if !ids.is_empty() {
            self.metadata.schemas.retain(|schema| !ids.contains(&schema.schema_id));
            self.changed = true;
        }
        Ok(())
    }
}
