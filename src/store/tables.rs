//! Tables and views: one name, one row, and in it the pointer to the metadata file that is current.
//!
//! The swap of that pointer is the commit. It names the version of the row that was read; whoever comes second finds
//! no such row and gets [`super::Error::Conflict`].

mod read;
mod write;

pub use read::{list, load, load_by_id, load_with_grants};
pub use write::{Change, NewTable, Swap, create, drop, remove, rename, restore, swap};

use super::error::Entity;
use crate::spec::TableIdent;

/// Whether a row is a table or a view. They share one identifier space.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// An Iceberg table.
    Table,
    /// An Iceberg view.
    View,
}

impl Kind {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Table => "table",
            Self::View => "view",
        }
    }

    pub(super) fn parse(text: &str) -> Option<Self> {
        match text {
            "table" => Some(Self::Table),
            "view" => Some(Self::View),
            _ => None,
        }
    }

    /// The entity of this kind and name.
    pub fn entity(self, ident: &TableIdent) -> Entity {
        match self {
            Self::Table => Entity::Table(ident.to_string()),
            Self::View => Entity::View(ident.to_string()),
        }
    }
}

/// A table or view as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableRow {
    /// A uuid of ours that never changes: neither by rename nor by a register that replaces the metadata.
    pub id: String,
    /// The warehouse it belongs to.
    pub warehouse_id: String,
    /// Table or view.
    pub kind: Kind,
    /// Its name.
    pub ident: TableIdent,
    /// `table-uuid` or `view-uuid` of the metadata.
    pub uuid: String,
    /// `format-version` of the metadata.
    pub format_version: u8,
    /// `location` of the metadata, letter for letter.
    pub location: String,
    /// The metadata file that is current.
    pub metadata_location: String,
    /// 0 when created; one more with every change of the row.
    pub version: i64,
    /// When it was created, epoch milliseconds.
    pub created_ms: i64,
    /// When it was last changed, epoch milliseconds.
    pub updated_ms: i64,
}
