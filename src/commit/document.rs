//! What tables and views have in common, as files and as rows.

use crate::app::App;
use crate::spec::json::Object;
use crate::spec::{self, TableMetadata, ViewMetadata};
use crate::store::tables::Kind;
use std::collections::BTreeMap;
use std::fmt::Debug;

/// The metadata of a table or of a view: one document in one metadata file, and one row that points to it.
pub trait Document: Debug + Sized + Send + Sync + 'static {
    /// Which of the two it is.
    const KIND: Kind;

    /// Whether its metadata files are compressed when its properties do not say.
    const COMPRESSED: bool;

    /// Reads a metadata document.
    fn parse(document: &[u8]) -> spec::Result<Self>;

    /// Writes a metadata document.
    fn to_bytes(&self) -> Vec<u8>;

    /// Whether a stored document can be served as it is: it has the form that the specification promises to clients.
    fn is_rest_form(document: &[u8]) -> bool;

    /// `table-uuid` or `view-uuid`.
    fn uuid(&self) -> &str;

    /// `format-version`.
    fn format_version(&self) -> u8;

    /// The metadata, if it is of a table.
    fn as_table(&self) -> Option<&TableMetadata> {
        None
    }

    /// `location`, letter for letter.
    fn location(&self) -> &str;

    /// One of its properties.
    fn property(&self, key: &str) -> Option<&str>;

    /// What its clients are told besides the metadata.
    fn client_config(app: &App, location: &str) -> BTreeMap<String, String>;
}

impl Document for TableMetadata {
    const KIND: Kind = Kind::Table;
    const COMPRESSED: bool = false;

    fn parse(document: &[u8]) -> spec::Result<Self> {
        TableMetadata::parse(document)
    }

    fn to_bytes(&self) -> Vec<u8> {
        TableMetadata::to_bytes(self)
    }

    /// Java reads older forms too (`spec.md` 2.6), but serving them would leave every other client to do the same.
    fn is_rest_form(document: &[u8]) -> bool {
        const PROMISED: [&str; 9] = [
            "table-uuid",
            "schemas",
            "current-schema-id",
            "partition-specs",
            "default-spec-id",
            "last-partition-id",
            "sort-orders",
            "default-sort-order-id",
            "last-column-id",
        ];
        let Ok(object) = Object::parse_document(document) else { return false };
        let empty = object.get("current-snapshot-id").is_none_or(|id| matches!(id.get(), "null" | "-1"));
        let no_nulls = object.iter().all(|(name, value)| value.get() != "null" || name == "current-snapshot-id");
        PROMISED.iter().all(|name| object.has(name)) && (empty || object.has("refs")) && no_nulls
    }

    fn uuid(&self) -> &str {
        &self.table_uuid
    }

    fn format_version(&self) -> u8 {
        self.format_version
    }

    fn as_table(&self) -> Option<&TableMetadata> {
        Some(self)
    }

    fn location(&self) -> &str {
        &self.location
    }

    fn property(&self, key: &str) -> Option<&str> {
        self.properties.get(key).map(String::as_str)
    }

    fn client_config(app: &App, location: &str) -> BTreeMap<String, String> {
        app.storage.client_config(location)
    }
}

impl Document for ViewMetadata {
    const KIND: Kind = Kind::View;
    const COMPRESSED: bool = true;

    fn parse(document: &[u8]) -> spec::Result<Self> {
        ViewMetadata::parse(document)
    }

    fn to_bytes(&self) -> Vec<u8> {
        ViewMetadata::to_bytes(self)
    }

    /// There is one form of view metadata.
    fn is_rest_form(_: &[u8]) -> bool {
        true
    }

    fn uuid(&self) -> &str {
        &self.view_uuid
    }

    /// The only one there is.
    fn format_version(&self) -> u8 {
        1
    }

    fn location(&self) -> &str {
        &self.location
    }

    fn property(&self, key: &str) -> Option<&str> {
        self.properties.get(key).map(String::as_str)
    }

    /// A view has no files that its clients read.
    fn client_config(_: &App, _: &str) -> BTreeMap<String, String> {
        BTreeMap::new()
    }
}
