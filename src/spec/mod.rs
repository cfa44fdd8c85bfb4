//! Iceberg table and view metadata: what it is made of, and what every requirement and update does to it.
//!
//! Everything here is pure: bytes and values in, values out, no I/O, no clock. What a type does not know it keeps
//! and writes back, because a catalog must not lose what a newer engine wrote.

pub mod default_value;
pub mod error;
pub mod ident;
pub mod json;
pub mod partition;
pub mod schema;
pub mod sort;
pub mod transform;
pub mod types;
pub mod view;

pub use error::{Error, Result};
pub use ident::{Namespace, TableIdent};
pub use partition::{PartitionField, PartitionSpec, Source, UnboundPartitionSpec};
pub use schema::Schema;
pub use sort::{NullOrder, SortDirection, SortField, SortOrder};
pub use transform::Transform;
pub use types::{Field, Primitive, Type};
pub use view::{
    AppliedView, CommitViewRequest, CreateViewRequest, ViewMetadata, ViewRequirement, ViewUpdate, apply_view,
};
