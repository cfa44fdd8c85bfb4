//! What a plan is made of.

use super::expression::Expression;
use serde::Serialize;
use utoipa::ToSchema;

/// A file to read.
#[derive(ToSchema, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(in crate::api) struct FileScanTask {
    data_file: ContentFile,
    /// Places among the `delete-files` of the same reply.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    delete_file_references: Option<Vec<u32>>,
    /// What is still to be asked of the file's rows.
    residual_filter: Expression,
}

#[derive(ToSchema, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(in crate::api) enum Content {
    Data,
    PositionDeletes,
    EqualityDeletes,
}

/// A data file, or a file of deletes.
#[derive(ToSchema, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(in crate::api) struct ContentFile {
    spec_id: i32,
    content: Content,
    file_path: String,
    /// In lower case.
    file_format: String,
    /// Its partition, in the spec's order: values in the single-value form of JSON.
    partition: Vec<serde_json::Value>,
    file_size_in_bytes: i64,
    record_count: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    column_sizes: Option<CountMap>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    value_counts: Option<CountMap>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    null_value_counts: Option<CountMap>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    nan_value_counts: Option<CountMap>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    lower_bounds: Option<ValueMap>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    upper_bounds: Option<ValueMap>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    key_metadata: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    split_offsets: Option<Vec<i64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    equality_ids: Option<Vec<i32>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    sort_order_id: Option<i32>,
    /// Of data files, from version 3 on.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    first_row_id: Option<i64>,
    /// Of deletion vectors: where in the Puffin file it begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    content_offset: Option<i64>,
    /// Of deletion vectors.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    content_size_in_bytes: Option<i64>,
    /// The one data file that deletes apply to.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    referenced_data_file: Option<String>,
}

/// Numbers by field id: the first value belongs to the first key.
#[derive(ToSchema, Serialize)]
pub(in crate::api) struct CountMap {
    keys: Vec<i32>,
    values: Vec<i64>,
}

/// Values by field id: the first value belongs to the first key. Values are hexadecimal.
#[derive(ToSchema, Serialize)]
pub(in crate::api) struct ValueMap {
    keys: Vec<i32>,
    values: Vec<String>,
}
