//! Files and tasks as JSON (`spec.md` 1.3).

use std::collections::HashSet;

use super::deletes::{DELETE_FILE_PATH, Delete};
use super::files::Task;
use super::partitions::Spec;
use super::value::{push_hex, push_json};
use crate::manifest::{Bounds, Counts, DataFile, Details, FileContent, FileFormat};
use crate::spec::json::{ObjectWriter, push_array};

/// Appends a file scan task. `places` are the places of its deletes among the delete files of the reply.
pub(super) fn push_task(out: &mut String, task: &Task, spec: &Spec<'_>, stats: &HashSet<i32>, places: &[usize]) {
    let mut object = ObjectWriter::new(out);
    object.with("data-file", |out| {
        push_file(out, &task.entry.data_file, spec, task.first_row_id, |id| stats.contains(&id));
    });
    if !places.is_empty() {
        object.array("delete-file-references", places, |out, place| out.push_str(&place.to_string()));
    }
    object.with("residual-filter", |out| out.push_str(task.residual.as_json()));
    object.finish();
}

/// Appends a delete file, with the statistics by which readers tell what it applies to.
pub(super) fn push_delete(out: &mut String, delete: &Delete, spec: &Spec<'_>) {
    let file = delete.file();
    let ids = file.equality_ids.as_deref().unwrap_or_default();
    push_file(out, file, spec, None, |id| id == DELETE_FILE_PATH || ids.contains(&id));
}

fn push_file(
    out: &mut String,
    file: &DataFile,
    spec: &Spec<'_>,
    first_row_id: Option<i64>,
    has_stats: impl Fn(i32) -> bool,
) {
    let mut object = ObjectWriter::new(out);
    object.int("spec-id", spec.spec.spec_id);
    object.str("content", content(file.content));
    object.str("file-path", &file.file_path);
    object.str("file-format", &format(&file.file_format));
    object.array("partition", spec.spec.fields.iter().zip(&spec.types), |out, (field, of)| {
        push_json(out, of.as_ref(), file.partition.value(field.field_id));
    });
    object.int("file-size-in-bytes", file.file_size_in_bytes);
    object.int("record-count", file.record_count);
    if let Some(details) = &file.details {
        push_details(&mut object, details, &has_stats);
    }
    if let Some(ids) = &file.equality_ids {
        object.array("equality-ids", ids, |out, id| out.push_str(&id.to_string()));
    }
    for (key, value) in [
        ("sort-order-id", file.sort_order_id.map(i64::from)),
        ("first-row-id", first_row_id),
        ("content-offset", file.content_offset),
        ("content-size-in-bytes", file.content_size_in_bytes),
    ] {
        if let Some(value) = value {
            object.int(key, value);
        }
    }
    if let Some(path) = &file.referenced_data_file {
        object.str("referenced-data-file", path);
    }
    object.finish();
}

fn push_details(object: &mut ObjectWriter<'_>, details: &Details, has_stats: &impl Fn(i32) -> bool) {
    for (key, counts) in [
        ("column-sizes", &details.column_sizes),
        ("value-counts", &details.value_counts),
        ("null-value-counts", &details.null_value_counts),
        ("nan-value-counts", &details.nan_value_counts),
    ] {
        let pairs = counts.iter().flat_map(Counts::iter).filter(|(id, _)| has_stats(*id)).collect();
        push_map(object, key, pairs, |out, value: i64| out.push_str(&value.to_string()));
    }
    for (key, bounds) in [("lower-bounds", &details.lower_bounds), ("upper-bounds", &details.upper_bounds)] {
        let pairs = bounds.iter().flat_map(Bounds::iter).filter(|(id, _)| has_stats(*id)).collect();
        push_map(object, key, pairs, push_hex);
    }
    if let Some(key_metadata) = &details.key_metadata {
        object.with("key-metadata", |out| push_hex(out, key_metadata));
    }
    if let Some(offsets) = &details.split_offsets {
        object.array("split-offsets", offsets, |out, offset| out.push_str(&offset.to_string()));
    }
}

/// Writes a map by field id, unless nothing is left of it.
fn push_map<T>(object: &mut ObjectWriter<'_>, key: &str, pairs: Vec<(i32, T)>, value: impl Fn(&mut String, T)) {
    if pairs.is_empty() {
        return;
    }
    object.with(key, |out| {
        out.push_str("{\"keys\":");
        push_array(out, &pairs, |out, (id, _)| out.push_str(&id.to_string()));
        out.push_str(",\"values\":");
        push_array(out, pairs, |out, (_, of)| value(out, of));
        out.push('}');
    });
}

fn content(content: FileContent) -> &'static str {
    match content {
        FileContent::PositionDeletes => "position-deletes",
        FileContent::EqualityDeletes => "equality-deletes",
        FileContent::Data | FileContent::Other(_) => "data",
    }
}

fn format(format: &FileFormat) -> String {
    match format {
        FileFormat::Avro => "avro".to_owned(),
        FileFormat::Orc => "orc".to_owned(),
        FileFormat::Parquet => "parquet".to_owned(),
        FileFormat::Puffin => "puffin".to_owned(),
        FileFormat::Other(name) => name.to_ascii_lowercase(),
    }
}
