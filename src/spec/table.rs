//! Table metadata: what a metadata file says, ready to be checked, changed and written (spec.md 2.6, 6.4).

use indexmap::IndexMap;

use super::encryption::EncryptedKey;
use super::history::{MetadataLogEntry, SnapshotLogEntry};
use super::json::Object;
use super::partition::PartitionSpec;
use super::refs::{MAIN_BRANCH, SnapshotRef};
use super::schema::Schema;
use super::snapshot::Snapshot;
use super::sort::SortOrder;
use super::statistics::{PartitionStatisticsFile, StatisticsFile};

mod check;
mod parse;
#[cfg(test)]
mod tests;
mod write;

pub(in crate::spec) use parse::strip_trailing_slash;

/// The newest format version that tables may have.
pub const MAX_FORMAT_VERSION: u8 = 3;

/// The format version of a table that does not ask for one.
pub const DEFAULT_FORMAT_VERSION: u8 = 2;

/// The first format version with row lineage: `next-row-id`, and `first-row-id` in every new snapshot.
pub const ROW_LINEAGE_VERSION: u8 = 3;

/// The metadata of one table. Members that are not known are kept at every level and written back.
#[derive(Debug, Clone)]
pub struct TableMetadata {
    /// 1, 2 or 3.
    pub format_version: u8,
    /// The table's identity; empty only where a version 1 file has none.
    pub table_uuid: String,
    /// Where the table lives, without a slash at the end.
    pub location: String,
    /// Highest sequence number ever assigned; 0 in format version 1.
    pub last_sequence_number: i64,
    /// When this metadata was made, in milliseconds since 1970.
    pub last_updated_ms: i64,
    /// Highest field id ever assigned.
    pub last_column_id: i32,
    /// All schemas that are still kept.
    pub schemas: Vec<Schema>,
    /// The schema for new data.
    pub current_schema_id: i32,
    /// All partition specs that are still kept.
    pub partition_specs: Vec<PartitionSpec>,
    /// The partition spec for new data.
    pub default_spec_id: i32,
    /// Highest partition field id ever assigned; 999 if none was.
    pub last_partition_id: i32,
    /// All sort orders.
    pub sort_orders: Vec<SortOrder>,
    /// The sort order for new data; 0 is unsorted.
    pub default_sort_order_id: i32,
    /// The table's properties.
    pub properties: IndexMap<String, String>,
    /// The snapshot that readers see; `None` for an empty table.
    pub current_snapshot_id: Option<i64>,
    /// All snapshots that are still kept.
    pub snapshots: Vec<Snapshot>,
    /// Which snapshot was current when, oldest first.
    pub snapshot_log: Vec<SnapshotLogEntry>,
    /// Earlier metadata files, oldest first.
    pub metadata_log: Vec<MetadataLogEntry>,
    /// Branches and tags by name.
    pub refs: IndexMap<String, SnapshotRef>,
    /// Statistics files.
    pub statistics: Vec<StatisticsFile>,
    /// Statistics files of partitions.
    pub partition_statistics: Vec<PartitionStatisticsFile>,
    /// Keys of table encryption.
    pub encryption_keys: Vec<EncryptedKey>,
    /// Greater than every row id ever assigned; from format version 3 on.
    pub next_row_id: Option<i64>,
    pub(super) rest: Object,
}

impl TableMetadata {
    /// Metadata with nothing in it: what a create starts from (spec.md 2.1 step 1).
    pub(super) fn empty(format_version: u8) -> Self {
        Self {
            format_version,
            table_uuid: String::new(),
            location: String::new(),
            last_sequence_number: 0,
            last_updated_ms: 0,
            last_column_id: 0,
            schemas: Vec::new(),
            current_schema_id: 0,
            partition_specs: Vec::new(),
            default_spec_id: 0,
            last_partition_id: 0,
            sort_orders: Vec::new(),
            default_sort_order_id: 0,
            properties: IndexMap::new(),
            current_snapshot_id: None,
            snapshots: Vec::new(),
            snapshot_log: Vec::new(),
            metadata_log: Vec::new(),
            refs: IndexMap::new(),
            statistics: Vec::new(),
            partition_statistics: Vec::new(),
            encryption_keys: Vec::new(),
            next_row_id: (format_version >= ROW_LINEAGE_VERSION).then_some(0),
            rest: Object::default(),
        }
    }

    /// The schema for new data. Metadata that was parsed or built always has it.
    pub fn current_schema(&self) -> Option<&Schema> {
        self.schema(self.current_schema_id)
    }

    /// A schema by its id.
    pub fn schema(&self, schema_id: i32) -> Option<&Schema> {
        self.schemas.iter().find(|schema| schema.schema_id == schema_id)
    }

    /// The partition spec for new data. Metadata that was built always has it; a file may name one that is missing.
    pub fn default_spec(&self) -> Option<&PartitionSpec> {
        self.partition_spec(self.default_spec_id)
    }

    /// A partition spec by its id.
    pub fn partition_spec(&self, spec_id: i32) -> Option<&PartitionSpec> {
        self.partition_specs.iter().find(|spec| spec.spec_id == spec_id)
    }

    /// A sort order by its id.
    pub fn sort_order(&self, order_id: i32) -> Option<&SortOrder> {
        self.sort_orders.iter().find(|order| order.order_id == order_id)
    }

    /// A snapshot by its id. Looks at every snapshot.
    pub fn snapshot(&self, snapshot_id: i64) -> Option<&Snapshot> {
        self.snapshots.iter().find(|snapshot| snapshot.snapshot_id == snapshot_id)
    }

    /// The snapshot that a branch or tag points to.
    pub fn snapshot_by_ref(&self, name: &str) -> Option<&Snapshot> {
        self.refs.get(name).and_then(|reference| self.snapshot(reference.snapshot_id))
    }

    /// The snapshot that readers see.
    pub fn current_snapshot(&self) -> Option<&Snapshot> {
        self.current_snapshot_id.and_then(|id| self.snapshot(id))
    }

    /// The table as `snapshots=refs` shows it: without snapshots that no branch or tag points to (spec.md 6.4).
    pub fn refs_only(&self) -> Self {
        let shown = |snapshot: &Snapshot| {
            let id = snapshot.snapshot_id;
            self.current_snapshot_id == Some(id) || self.refs.values().any(|reference| reference.snapshot_id == id)
        };
        let snapshots = self.snapshots.iter().filter(|snapshot| shown(snapshot)).cloned().collect();
        Self { snapshots, ..self.without_snapshots() }
    }

    /// Everything but the snapshots, which are most of the text.
    fn without_snapshots(&self) -> Self {
        Self {
            table_uuid: self.table_uuid.clone(),
            location: self.location.clone(),
            schemas: self.schemas.clone(),
            partition_specs: self.partition_specs.clone(),
            sort_orders: self.sort_orders.clone(),
            properties: self.properties.clone(),
            snapshots: Vec::new(),
            snapshot_log: self.snapshot_log.clone(),
            metadata_log: self.metadata_log.clone(),
            refs: self.refs.clone(),
            statistics: self.statistics.clone(),
            partition_statistics: self.partition_statistics.clone(),
            encryption_keys: self.encryption_keys.clone(),
            rest: self.rest.clone(),
            ..*self
        }
    }

    /// Raises `next-row-id` where a manifest list assigned ids beyond what its snapshot said (spec.md 3.5). It never
    /// falls, and tables without row lineage have none.
    pub fn raise_next_row_id(&mut self, at_least: i64) {
        if let Some(next) = &mut self.next_row_id {
            *next = at_least.max(*next);
        }
    }

    /// Whether the metadata agrees with itself about the current snapshot.
    fn main(&self) -> Option<&SnapshotRef> {
        self.refs.get(MAIN_BRANCH)
    }
}

/// Two are equal if they are written as the same text.
impl PartialEq for TableMetadata {
    fn eq(&self, other: &Self) -> bool {
        self.to_bytes() == other.to_bytes()
    }
}
