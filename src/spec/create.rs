//! The body of a create, and the metadata that a new table starts with (spec.md 2.5).

use indexmap::IndexMap;

use super::error::{Error, Result};
use super::json::Object;
use super::partition::{PartitionSpec, UnboundPartitionSpec};
use super::schema::Schema;
use super::sort::SortOrder;
use super::table::{DEFAULT_FORMAT_VERSION, MAX_FORMAT_VERSION, TableMetadata, strip_trailing_slash};

mod created_at;
mod properties;
#[cfg(test)]
mod tests;

/// A request for a new table.
#[derive(Debug, Clone)]
pub struct CreateTableRequest {
    /// The table's name in the namespace of the path.
    pub name: String,
    /// Where the table shall live; the server chooses if the client does not.
    pub location: Option<String>,
    /// Whether to answer with the metadata only: the table comes with the commit of a transaction (spec.md 6.3).
    pub stage_create: bool,
    /// What the client set, reserved properties included.
    pub properties: IndexMap<String, String>,
    schema: Schema,
    spec: Option<UnboundPartitionSpec>,
    order: Option<SortOrder>,
}

impl CreateTableRequest {
    /// Reads the body of a request.
    ///
    /// # Errors
    /// [`Error::Invalid`] that names the member which is missing or wrong.
    pub fn parse(body: &[u8]) -> Result<Self> {
        let mut object = Object::parse_document(body)?;
        let spec = object.optional_raw("partition-spec");
        let order = object.optional_raw("write-order");
        Ok(Self {
            name: object.required_str("name")?,
            location: object.optional_str("location")?,
            stage_create: object.optional_bool("stage-create")?.unwrap_or(false),
            properties: object.optional_string_map("properties")?.unwrap_or_default().into_iter().collect(),
            schema: Schema::parse(&object.required_raw("schema")?)?,
            spec: spec.map(|raw| UnboundPartitionSpec::parse(&raw)).transpose()?,
            order: order.map(|raw| SortOrder::parse_unbound(&raw)).transpose()?,
        })
    }

    /// The table's first metadata, in the format version that the request asks for, else the usual one.
    ///
    /// # Errors
    /// As [`CreateTableRequest::build_as`].
    pub fn build(&self, location: &str, uuid: &str, now_ms: i64) -> Result<TableMetadata> {
        let version = self.format_version()?.unwrap_or(DEFAULT_FORMAT_VERSION);
        self.build_as(version, location, uuid, now_ms)
    }

    /// The table's first metadata: schema, spec and order with ids from the start, whatever ids the client used.
    ///
    /// # Errors
    /// [`Error::Invalid`] if schema, spec, order or properties do not fit each other or the format version.
    pub fn build_as(&self, format_version: u8, location: &str, uuid: &str, now_ms: i64) -> Result<TableMetadata> {
        properties::check(&self.properties, &self.schema, format_version)?;
        let (schema, spec, order) = self.with_fresh_ids()?;
        schema.check_compatible(format_version)?;
        let metadata = TableMetadata {
            table_uuid: uuid.to_owned(),
            location: strip_trailing_slash(location).to_owned(),
            last_updated_ms: now_ms,
            last_column_id: schema.highest_field_id(),
            last_partition_id: spec.last_assigned_field_id(),
            default_sort_order_id: order.order_id,
            properties: self.stored_properties(now_ms),
            schemas: vec![schema],
            partition_specs: vec![spec],
            sort_orders: vec![order],
            ..TableMetadata::empty(format_version)
        };
        metadata.check()?;
        Ok(metadata)
    }

    /// The format version that the properties ask for (spec.md 2.5); none if they do not.
    ///
    /// # Errors
    /// [`Error::Invalid`] if there is no such version.
    pub fn format_version(&self) -> Result<Option<u8>> {
        let Some(text) = self.properties.get("format-version") else { return Ok(None) };
        let known = text.parse().ok().filter(|version| (1..=MAX_FORMAT_VERSION).contains(version));
        known.map(Some).ok_or_else(|| Error::invalid(format!("Unsupported format version: v{text}")))
    }

    /// Schema, spec and order under the ids of a new table. They are judged as the client wrote them, so that errors
    /// speak of the client's ids.
    fn with_fresh_ids(&self) -> Result<(Schema, PartitionSpec, SortOrder)> {
        self.schema.check_valid()?;
        let (schema, new_of_old) = self.schema.assign_fresh_ids();
        let spec = match &self.spec {
            Some(spec) => spec.clone().with_fresh_ids(),
            None => PartitionSpec::unpartitioned(0),
        };
        spec.check_against(&self.schema)?;
        let order = self.order.clone().unwrap_or_else(SortOrder::unsorted);
        order.check_against(&self.schema)?;
        let (spec, order) = (spec.with_sources(&new_of_old)?, order.with_sources(&new_of_old)?);
        Ok((schema.with_id(0), spec.with_id(0), order.with_id(1)))
    }

    /// The properties that the table keeps.
    fn stored_properties(&self, now_ms: i64) -> IndexMap<String, String> {
        let mut stored = properties::stored(&self.properties);
        if self.stage_create && !stored.contains_key("created-at") {
            stored.insert("created-at".to_owned(), created_at::text(now_ms));
        }
        stored
    }
}
