//! Reading table metadata: as strict and as lenient as Java is (spec.md 2.6), except that format version 4 is refused
//! and that unknown members are kept.

use indexmap::IndexMap;

use super::{MAX_FORMAT_VERSION, ROW_LINEAGE_VERSION, TableMetadata};
use crate::spec::encryption::EncryptedKey;
use crate::spec::error::{Error, Result};
use crate::spec::history::{MetadataLogEntry, SnapshotLogEntry};
use crate::spec::json::{Object, Raw};
use crate::spec::members::{Kind, Member};
use crate::spec::partition::{PartitionSpec, UNPARTITIONED_LAST_ID, UnboundPartitionSpec};
use crate::spec::refs::{MAIN_BRANCH, SnapshotRef};
use crate::spec::schema::Schema;
use crate::spec::snapshot::Snapshot;
use crate::spec::sort::SortOrder;
use crate::spec::statistics::{PartitionStatisticsFile, StatisticsFile};

impl TableMetadata {
    /// Reads a metadata file (uncompressed). Old forms of version 1 are brought into the form of today.
    ///
    /// # Errors
    /// [`Error::Invalid`] that names what is missing or wrong: Java could not open this table either.
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        let mut file = Object::parse_document(bytes)?;
        let mut metadata = Self::empty(read_version(&mut file)?);
        metadata.read_numbers(&mut file)?;
        metadata.read_schemas(&mut file)?;
        metadata.read_specs(&mut file)?;
        metadata.read_sort_orders(&mut file)?;
        metadata.read_snapshots(&mut file)?;
        metadata.read_refs(&mut file)?;
        metadata.properties = file.present_string_map("properties")?.unwrap_or_default().into_iter().collect();
        metadata.statistics = read_each(file.present_array("statistics")?, StatisticsFile::parse)?;
        let partition_statistics = file.present_array("partition-statistics")?;
        metadata.partition_statistics = read_each(partition_statistics, PartitionStatisticsFile::parse)?;
        metadata.encryption_keys = read_each(file.present_array("encryption-keys")?, EncryptedKey::parse)?;
        metadata.rest = file;
        metadata.check()?;
        metadata.check_defaults_read()?;
        Ok(metadata)
    }

    fn read_numbers(&mut self, file: &mut Object) -> Result<()> {
        self.table_uuid = file.optional_str("table-uuid")?.unwrap_or_default();
        strip_trailing_slash(&file.required_str("location")?).clone_into(&mut self.location);
        let last_sequence_number = file.take("last-sequence-number");
        if self.format_version > 1 {
            self.last_sequence_number = member(last_sequence_number.as_ref(), "last-sequence-number")?;
        }
        self.last_updated_ms = file.required_i64("last-updated-ms")?;
        self.last_column_id = file.required_i32("last-column-id")?;
        let next_row_id = file.take("next-row-id");
        if self.format_version >= ROW_LINEAGE_VERSION {
            self.next_row_id = Some(member(next_row_id.as_ref(), "next-row-id")?);
        }
        Ok(())
    }

    /// `schemas` and `current-schema-id`, or the `schema` of old version 1 files.
    fn read_schemas(&mut self, file: &mut Object) -> Result<()> {
        let (schema, current) = (file.take("schema"), file.take("current-schema-id"));
        if let Some(schemas) = file.present_array("schemas")? {
            self.current_schema_id = member(current.as_ref(), "current-schema-id")?;
            self.schemas = read_each(Some(schemas), |raw| Schema::parse(&raw))?;
            return Ok(());
        }
        self.only_v1("schemas")?;
        let schema = schema.ok_or_else(|| Error::invalid("Cannot parse missing field: schema"))?;
        let schema = Schema::parse(&schema)?;
        self.current_schema_id = schema.schema_id;
        self.schemas = vec![schema];
        Ok(())
    }

    /// `partition-specs` and `default-spec-id`, or the `partition-spec` of old version 1 files.
    fn read_specs(&mut self, file: &mut Object) -> Result<()> {
        let (fields, default) = (file.take("partition-spec"), file.take("default-spec-id"));
        if let Some(specs) = file.present_array("partition-specs")? {
            self.default_spec_id = member(default.as_ref(), "default-spec-id")?;
            self.partition_specs = read_each(Some(specs), |raw| PartitionSpec::parse(&raw))?;
        } else {
            self.only_v1("partition-specs")?;
            let fields = fields.ok_or_else(|| Error::invalid("Cannot parse missing field: partition-spec"))?;
            self.default_spec_id = 0;
            self.partition_specs =
                vec![UnboundPartitionSpec::parse_fields(&fields)?.with_ids(UNPARTITIONED_LAST_ID, &[])];
        }
        let last_partition_id = file.optional_i32("last-partition-id")?;
        if last_partition_id.is_none() {
            self.only_v1("last-partition-id")?;
        }
        let assigned = self.partition_specs.iter().map(PartitionSpec::last_assigned_field_id).max();
        self.last_partition_id = last_partition_id.or(assigned).unwrap_or_default();
        Ok(())
    }

    fn read_sort_orders(&mut self, file: &mut Object) -> Result<()> {
        let default = file.take("default-sort-order-id");
        if let Some(orders) = file.present_array("sort-orders")? {
            self.default_sort_order_id = member(default.as_ref(), "default-sort-order-id")?;
            self.sort_orders = read_each(Some(orders), |raw| SortOrder::parse(&raw))?;
            return Ok(());
        }
        self.only_v1("sort-orders")?;
        self.default_sort_order_id = 0;
        self.sort_orders = vec![SortOrder::unsorted()];
        Ok(())
    }

    fn read_snapshots(&mut self, file: &mut Object) -> Result<()> {
        self.snapshots = read_each(file.present_array("snapshots")?, Snapshot::parse)?;
        self.snapshot_log = read_each(file.optional_array("snapshot-log")?, SnapshotLogEntry::parse)?;
        self.metadata_log = read_each(file.optional_array("metadata-log")?, MetadataLogEntry::parse)?;
        // -1 means none, and so does any other negative id that no snapshot has.
        let current = file.optional_i64("current-snapshot-id")?.filter(|&id| id != -1);
        self.current_snapshot_id = current.filter(|&id| id >= 0 || self.snapshot(id).is_some());
        Ok(())
    }

    /// `refs`; where a file has none at all, `main` is the current snapshot.
    fn read_refs(&mut self, file: &mut Object) -> Result<()> {
        if let Some(refs) = file.present_object("refs")? {
            let refs = refs.into_members().into_iter();
            let refs = refs.map(|(name, raw)| SnapshotRef::parse(&raw).map(|reference| (name, reference)));
            self.refs = refs.collect::<Result<IndexMap<_, _>>>()?;
        } else {
            let main = self.current_snapshot_id.map(|id| (MAIN_BRANCH.to_owned(), SnapshotRef::branch(id)));
            self.refs = main.into_iter().collect();
        }
        Ok(())
    }

    /// The default spec and sort order fit the current schema; all others need only have names that fit.
    fn check_defaults_read(&self) -> Result<()> {
        self.check_default_spec_and_order()?;
        let Some(schema) = self.current_schema() else { return Ok(()) };
        self.partition_specs.iter().try_for_each(|spec| spec.check_names(schema))
    }

    fn only_v1(&self, missing: &str) -> Result<()> {
        if self.format_version == 1 {
            return Ok(());
        }
        Err(Error::invalid(format!("{missing} must exist in format v{}", self.format_version)))
    }
}

fn read_version(file: &mut Object) -> Result<u8> {
    let version = file.required_i32("format-version")?;
    let known = u8::try_from(version).ok().filter(|known| (1..=MAX_FORMAT_VERSION).contains(known));
    known.ok_or_else(|| Error::invalid(format!("Unsupported format version: v{version}")))
}

/// Reads a number that was taken out before it was known whether it is needed.
fn member<T: Kind>(raw: Option<&Raw>, key: &'static str) -> Result<T> {
    Member { key, raw: raw.map(|raw| &**raw) }.required()
}

/// Reads every element of a list that may be missing.
fn read_each<T>(list: Option<Vec<Raw>>, read: impl FnMut(Raw) -> Result<T>) -> Result<Vec<T>> {
    list.unwrap_or_default().into_iter().map(read).collect()
}

/// A location without the slashes at its end; those of `scheme://` stay.
pub(in crate::spec) fn strip_trailing_slash(location: &str) -> &str {
    let mut stripped = location;
    while let Some(shorter) = stripped.strip_suffix('/').filter(|_| !stripped.ends_with("://")) {
        stripped = shorter;
    }
    stripped
}
