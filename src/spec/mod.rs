//! Iceberg table and view metadata: what it is made of, and what every requirement and update does to it.
//!
//! Everything here is pure: bytes and values in, values out, no I/O, no clock. What a type does not know it keeps
//! and writes back, because a catalog must not lose what a newer engine wrote.

pub mod commit_request;
pub mod create;
pub mod default_value;
pub mod encryption;
pub mod error;
pub mod file;
#[cfg(test)]
mod golden;
pub mod history;
pub mod ident;
pub mod iso;
pub mod json;
mod members;
pub mod metrics_report;
pub mod partition;
pub mod refs;
pub mod requirement;
pub mod schema;
pub mod snapshot;
pub mod sort;
pub mod statistics;
pub mod table;
#[cfg(test)]
mod testing;
pub mod transform;
pub mod types;
pub mod update;
pub mod view;

pub use commit_request::CommitTableRequest;
pub use create::CreateTableRequest;
pub use encryption::EncryptedKey;
pub use error::{Error, Result};
pub use history::{MetadataLogEntry, SnapshotLogEntry};
pub use ident::{Namespace, TableIdent};
pub use metrics_report::MetricsReport;
pub use partition::{PartitionField, PartitionSpec, Source, UnboundPartitionSpec};
pub use refs::{MAIN_BRANCH, RefKind, SnapshotRef};
pub use requirement::TableRequirement;
pub use schema::Schema;
pub use snapshot::Snapshot;
pub use sort::{NullOrder, SortDirection, SortField, SortOrder};
pub use statistics::{PartitionStatisticsFile, StatisticsFile};
pub use table::TableMetadata;
pub use transform::Transform;
pub use types::{Field, Primitive, Type};
pub use update::{AddedSnapshot, Applied, Base, TableUpdate, apply};
pub use view::{
    AppliedView, CommitViewRequest, CreateViewRequest, ViewMetadata, ViewRequirement, ViewUpdate, apply_view,
};
