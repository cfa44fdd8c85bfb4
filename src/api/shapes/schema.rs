//! Schemas, partition specs and sort orders.

use serde::Serialize;
use utoipa::ToSchema;

/// The fields of a table or view.
#[derive(ToSchema, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(in crate::api) struct Schema {
    r#type: StructTag,
    fields: Vec<StructField>,
    schema_id: Option<i32>,
    identifier_field_ids: Option<Vec<i32>>,
}

#[derive(ToSchema, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(in crate::api) enum StructTag {
    Struct,
}

/// A column, or a field of a struct.
#[derive(ToSchema, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(in crate::api) struct StructField {
    id: i32,
    name: String,
    required: bool,
    r#type: Type,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    doc: Option<String>,
    /// What readers see in rows that were written before the column was there.
    #[serde(skip_serializing_if = "Option::is_none")]
    initial_default: Option<serde_json::Value>,
    /// What writers write where they are given nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    write_default: Option<serde_json::Value>,
}

/// A type.
#[derive(ToSchema, Serialize)]
#[serde(untagged)]
pub(in crate::api) enum Type {
    Plain(PlainType),
    Struct(StructType),
    List(ListType),
    Map(MapType),
}

/// A type without parts, such as `long`, `decimal(9,2)`, `fixed[16]`, `variant` or `geometry(OGC:CRS84)`.
#[derive(ToSchema, Serialize)]
#[schema(
    value_type = String,
    pattern = r"^(boolean|int|long|float|double|date|time|timestamp|timestamptz|timestamp_ns|timestamptz_ns|string|uuid|binary|unknown|variant|decimal\([0-9]{1,2}, ?[0-9]{1,2}\)|fixed\[[0-9]{1,4}\]|geometry(\([^()]+\))?|geography(\([^()]+\))?)$"
)]
pub(in crate::api) struct PlainType(String);

/// A struct.
#[derive(ToSchema, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(in crate::api) struct StructType {
    r#type: StructTag,
    #[schema(no_recursion)]
    fields: Vec<StructField>,
}

#[derive(ToSchema, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(in crate::api) enum ListTag {
    List,
}

/// A list.
#[derive(ToSchema, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(in crate::api) struct ListType {
    r#type: ListTag,
    element_id: i32,
    #[schema(no_recursion)]
    element: Box<Type>,
    element_required: bool,
}

#[derive(ToSchema, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(in crate::api) enum MapTag {
    Map,
}

/// A map.
#[derive(ToSchema, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(in crate::api) struct MapType {
    r#type: MapTag,
    key_id: i32,
    #[schema(no_recursion)]
    key: Box<Type>,
    value_id: i32,
    #[schema(no_recursion)]
    value: Box<Type>,
    value_required: bool,
}

/// How a table is divided into partitions.
#[derive(ToSchema, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(in crate::api) struct PartitionSpec {
    spec_id: Option<i32>,
    fields: Vec<PartitionField>,
}

/// A partition field.
#[derive(ToSchema, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(in crate::api) struct PartitionField {
    /// Given by the server if it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    field_id: Option<i32>,
    source_id: i32,
    name: String,
    transform: Transform,
}

/// `identity`, `year`, `month`, `day`, `hour`, `void`, `bucket[16]`, `truncate[10]`; of tables with newer writers also
/// others, which are kept.
#[derive(ToSchema, Serialize)]
#[schema(value_type = String, examples("identity", "bucket[16]", "truncate[10]", "day"))]
pub(in crate::api) struct Transform(String);

/// How files are sorted.
#[derive(ToSchema, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(in crate::api) struct SortOrder {
    order_id: i32,
    fields: Vec<SortField>,
}

/// A field of a sort order.
#[derive(ToSchema, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(in crate::api) struct SortField {
    source_id: i32,
    transform: Transform,
    direction: SortDirection,
    null_order: NullOrder,
}

#[derive(ToSchema, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(in crate::api) enum SortDirection {
    Asc,
    Desc,
}

#[derive(ToSchema, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(in crate::api) enum NullOrder {
    NullsFirst,
    NullsLast,
}
