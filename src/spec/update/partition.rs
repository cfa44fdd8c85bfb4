//! `add-spec`, `set-default-spec`, `remove-partition-specs` (spec.md 2.3).

use super::apply::Change;
use crate::spec::error::{Error, Result};
use crate::spec::partition::{PartitionSpec, UNPARTITIONED_LAST_ID, UnboundPartitionSpec};

impl Change<'_> {
    /// Adds a spec under a number of its own, or finds the one that partitions alike.
    pub(super) fn add_spec(&mut self, spec: &UnboundPartitionSpec) -> Result<()> {
        let sent = spec.spec_id;
        let id = self.number_spec(spec)?;
        if id != sent {
            self.renumbered_specs.push(sent);
        }
        Ok(())
    }

    fn number_spec(&mut self, spec: &UnboundPartitionSpec) -> Result<i32> {
        let spec = self.bind(spec)?;
        if let Some(alike) = self.metadata.partition_specs.iter().find(|known| known.compatible_with(&spec)) {
            let id = alike.spec_id;
            self.spec_ids.reuse(id);
            return Ok(id);
        }
        if self.metadata.format_version == 1 && !spec.has_sequential_ids() {
            let fields: Vec<_> = spec.fields.iter().map(ToString::to_string).collect();
            let text = "Spec does not use sequential IDs that are required in v1";
            return Err(Error::invalid(format!("{text}: [{}]", fields.join(", "))));
        }
        let id = self.spec_ids.next("partition spec")?;
        self.metadata.last_partition_id = self.metadata.last_partition_id.max(spec.last_assigned_field_id());
        self.metadata.partition_specs.push(spec.with_id(id));
        self.changed = true;
        Ok(id)
    }

    /// The spec with ids for all its fields, checked against the current schema.
    fn bind(&self, spec: &UnboundPartitionSpec) -> Result<PartitionSpec> {
        let schema = self.metadata.current_schema();
        let schema = schema.ok_or_else(|| Error::invalid("Cannot add a partition spec before a schema is added"))?;
        let spec = match self.metadata.format_version {
            1 => spec.clone().with_ids(UNPARTITIONED_LAST_ID, &[]),
            _ => spec.clone().with_ids(self.metadata.last_partition_id, &self.metadata.partition_specs),
        };
        if let Some(field) = spec.fields.iter().find(|field| field.field_id == i32::MAX) {
            return Err(Error::invalid(format!("Invalid partition field id: {field}")));
        }
        spec.check_against(schema)?;
        Ok(spec)
    }

    pub(super) fn set_default_spec(&mut self, spec_id: i32) -> Result<()> {
        let id = self.spec_ids.resolve(spec_id, "Cannot set last added spec: no spec has been added")?;
        if id == self.metadata.default_spec_id {
            return Ok(());
        }
        if self.metadata.partition_spec(id).is_none() {
            return Err(Error::invalid(format!("Cannot set default partition spec to unknown spec: {id}")));
        }
        self.metadata.default_spec_id = id;
        self.changed = true;
        Ok(())
    }

    /// Removes specs. Numbers that no spec has are ignored.
    pub(super) fn remove_partition_specs(&mut self, ids: &[i32]) -> Result<()> {
        if ids.contains(&self.metadata.default_spec_id) {
            return Err(Error::invalid("Cannot remove the default partition spec"));
        }
        if !ids.is_empty() {
            self.metadata.partition_specs.retain(|spec| !ids.contains(&spec.spec_id));
            self.changed = true;
        }
        Ok(())
    }
}
