//! Manifests and manifest lists, written by `apache-avro`.

use std::fmt::Write;

use apache_avro::types::Value;
use apache_avro::{Schema, Writer};

use super::writer::{Entry, Listed, Snapshot};

/// `"name":"type"` with a field id; optional types end in `?`.
fn fields(columns: &[(i32, &str, &str)]) -> String {
    let mut out = String::new();
    for (index, (id, name, of)) in columns.iter().enumerate() {
        let comma = if index == 0 { "" } else { "," };
        let of = match of.strip_suffix('?') {
            Some(of) => format!("[\"null\",{of}]"),
            None => (*of).to_owned(),
        };
        write!(out, r#"{comma}{{"name":"{name}","type":{of},"field-id":{id}}}"#).unwrap();
    }
    out
}

fn record(name: &str, columns: &[(i32, &str, &str)]) -> String {
    format!(r#"{{"type":"record","name":"{name}","fields":[{}]}}"#, fields(columns))
}

fn written(schema: &str, metadata: &[(&str, String)], rows: Vec<Value>) -> Vec<u8> {
    let schema = Schema::parse_str(schema).unwrap();
    let mut writer = Writer::new(&schema, Vec::new()).unwrap();
    for (key, value) in metadata {
        writer.add_user_metadata((*key).to_owned(), value).unwrap();
    }
    for row in rows {
        writer.append_value(row).unwrap();
    }
    writer.into_inner().unwrap()
}

pub(super) fn manifest(listed: &Listed, partitioned: bool, format_version: u8) -> Vec<u8> {
    let partition = record("r102", if partitioned { &[(1000, "p", "\"int\"?")] } else { &[] });
    let data_file = record(
        "r2",
        &[
            (134, "content", "\"int\""),
            (100, "file_path", "\"string\""),
            (101, "file_format", "\"string\""),
            (102, "partition", &partition),
            (103, "record_count", "\"long\""),
            (104, "file_size_in_bytes", "\"long\""),
            (131, "key_metadata", "\"bytes\"?"),
            (142, "first_row_id", "\"long\"?"),
            (143, "referenced_data_file", "\"string\"?"),
            (144, "content_offset", "\"long\"?"),
            (145, "content_size_in_bytes", "\"long\"?"),
        ],
    );
    let schema = record(
        "manifest_entry",
        &[
            (0, "status", "\"int\""),
            (1, "snapshot_id", "\"long\"?"),
            (3, "sequence_number", "\"long\"?"),
            (4, "file_sequence_number", "\"long\"?"),
            (2, "data_file", &data_file),
        ],
    );
    let row = |entry: &Entry| {
        let partition = if partitioned { vec![("p".to_owned(), entry.partition.into())] } else { Vec::new() };
        let data_file = Value::Record(vec![
            ("content".into(), entry.content.into()),
            ("file_path".into(), entry.path.as_str().into()),
            ("file_format".into(), entry.format.into()),
            ("partition".into(), Value::Record(partition)),
            ("record_count".into(), entry.records.into()),
            ("file_size_in_bytes".into(), entry.size.into()),
            ("key_metadata".into(), optional_bytes(entry.key_metadata.as_ref())),
            ("first_row_id".into(), entry.first_row_id.into()),
            ("referenced_data_file".into(), entry.referenced.as_deref().into()),
            ("content_offset".into(), entry.offset.into()),
            ("content_size_in_bytes".into(), entry.length.into()),
        ]);
        Value::Record(vec![
            ("status".into(), entry.status.into()),
            ("snapshot_id".into(), entry.snapshot_id.into()),
            ("sequence_number".into(), entry.sequence_number.into()),
            ("file_sequence_number".into(), entry.sequence_number.into()),
            ("data_file".into(), data_file),
        ])
    };
    let spec =
        if partitioned { r#"[{"name":"p","transform":"identity","source-id":2,"field-id":1000}]"# } else { "[]" };
    let metadata = [
        ("partition-spec-id", listed.spec_id.to_string()),
        ("partition-spec", spec.to_owned()),
        ("format-version", format_version.to_string()),
        ("content", if listed.content == 0 { "data" } else { "deletes" }.to_owned()),
    ];
    written(&schema, &metadata, listed.entries.iter().map(row).collect())
}

fn optional_bytes(bytes: Option<&Vec<u8>>) -> Value {
    match bytes {
        Some(bytes) => Value::Union(1, Box::new(Value::Bytes(bytes.clone()))),
        None => Value::Union(0, Box::new(Value::Null)),
    }
}

/// A manifest list. Partition summaries are those of the one partition field.
pub(super) fn list(snapshot: &Snapshot, format_version: u8) -> Vec<u8> {
    let summary = record(
        "r508",
        &[
            (509, "contains_null", "\"boolean\""),
            (518, "contains_nan", "\"boolean\"?"),
            (510, "lower_bound", "\"bytes\"?"),
            (511, "upper_bound", "\"bytes\"?"),
        ],
    );
    let summaries = format!(r#"{{"type":"array","items":{summary},"element-id":508}}?"#);
    let schema = record(
        "manifest_file",
        &[
            (500, "manifest_path", "\"string\""),
            (501, "manifest_length", "\"long\""),
            (502, "partition_spec_id", "\"int\""),
            (517, "content", "\"int\""),
            (515, "sequence_number", "\"long\""),
            (516, "min_sequence_number", "\"long\""),
            (503, "added_snapshot_id", "\"long\""),
            (504, "added_files_count", "\"int\""),
            (505, "existing_files_count", "\"int\""),
            (506, "deleted_files_count", "\"int\""),
            (512, "added_rows_count", "\"long\""),
            (513, "existing_rows_count", "\"long\""),
            (514, "deleted_rows_count", "\"long\""),
            (507, "partitions", &summaries),
            (519, "key_metadata", "\"bytes\"?"),
            (520, "first_row_id", "\"long\"?"),
        ],
    );
    let row = |listed: &Listed| {
        Value::Record(vec![
            ("manifest_path".into(), listed.path.as_str().into()),
            ("manifest_length".into(), listed.length.into()),
            ("partition_spec_id".into(), listed.spec_id.into()),
            ("content".into(), listed.content.into()),
            ("sequence_number".into(), listed.sequence_number.into()),
            ("min_sequence_number".into(), 0_i64.into()),
            ("added_snapshot_id".into(), listed.snapshot_id.into()),
            ("added_files_count".into(), listed.files(1).into()),
            ("existing_files_count".into(), listed.files(0).into()),
            ("deleted_files_count".into(), listed.files(2).into()),
            ("added_rows_count".into(), listed.rows(1).into()),
            ("existing_rows_count".into(), listed.rows(0).into()),
            ("deleted_rows_count".into(), listed.rows(2).into()),
            ("partitions".into(), summary_of(&listed.entries)),
            ("key_metadata".into(), optional_bytes(listed.key_metadata.as_ref())),
            ("first_row_id".into(), listed.first_row_id.into()),
        ])
    };
    let metadata = [("snapshot-id", snapshot.id.to_string()), ("format-version", format_version.to_string())];
    written(&schema, &metadata, snapshot.manifests.iter().map(row).collect())
}

fn summary_of(entries: &[Entry]) -> Value {
    let values = || entries.iter().filter_map(|entry| entry.partition);
    let (Some(least), Some(most)) = (values().min(), values().max()) else {
        return Value::Union(0, Box::new(Value::Null));
    };
    let bound = |value: i32| Value::Union(1, Box::new(Value::Bytes(value.to_le_bytes().to_vec())));
    let summary = Value::Record(vec![
        ("contains_null".into(), entries.iter().any(|entry| entry.partition.is_none()).into()),
        ("contains_nan".into(), Some(false).into()),
        ("lower_bound".into(), bound(least)),
        ("upper_bound".into(), bound(most)),
    ]);
    Value::Union(1, Box::new(Value::Array(vec![summary])))
}
