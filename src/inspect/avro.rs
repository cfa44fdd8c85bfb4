//! Manifest lists and manifests.

use crate::manifest::{
    DataFile, FieldSummary, FileContent, FileKind, Limits, Manifest, ManifestContent, ManifestEntry, ManifestFile,
    ManifestList, Metadata, Status, kind_of,
};

use super::page::{Page, cut};
use super::puffin::count;

pub(super) fn describe(bytes: &[u8], page: &mut Page) {
    match kind_of(bytes) {
        Ok(FileKind::List) => match ManifestList::parse(bytes, Limits::default()) {
            Ok(list) => describe_list(&list, bytes.len(), page),
            Err(fault) => broken("Manifest list", bytes.len(), &fault.to_string(), page),
        },
        Ok(FileKind::Manifest) => match Manifest::parse(bytes, Limits::default()) {
            Ok(manifest) => describe_manifest(&manifest, bytes.len(), page),
            Err(fault) => broken("Manifest", bytes.len(), &fault.to_string(), page),
        },
        Err(fault) => broken("Avro file", bytes.len(), &fault.to_string(), page),
    }
}

fn broken(what: &str, size: usize, fault: &str, page: &mut Page) {
    page.line(0, format!("{what}, {size} bytes"));
    page.fault(fault);
}

/// The key-value pairs of a file; schemas are long, and what they say is said by the rows.
fn describe_metadata(metadata: &Metadata, page: &mut Page) {
    let shown = metadata.iter().filter(|(key, _)| !matches!(key.as_str(), "avro.schema" | "schema" | "iceberg.schema"));
    page.pairs(1, shown.map(|(key, value)| (key.as_str(), value.as_str())));
}

fn describe_list(list: &ManifestList, size: usize, page: &mut Page) {
    let all = list.manifests.len();
    page.line(0, format!("Manifest list, {size} bytes: {}", count(all, "manifest")));
    describe_metadata(&list.metadata, page);
    if !list.missing_fields.is_empty() {
        page.line(1, format!("without the fields {:?}, which format versions 2 and 3 require", list.missing_fields));
    }
    for (index, file) in list.manifests.iter().take(page.limit()).enumerate() {
        page.space();
        manifest_file(index + 1, all, file, page);
    }
    page.rest(all, "manifests");
}

fn manifest_file(number: usize, all: usize, file: &ManifestFile, page: &mut Page) {
    let content = match file.content {
        ManifestContent::Data => "data files".to_owned(),
        ManifestContent::Deletes => "delete files".to_owned(),
        ManifestContent::Other(number) => format!("content {number}"),
    };
    let encrypted = if file.encrypted { ", encrypted" } else { "" };
    page.line(0, format!("manifest {number} of {all}: {content}, {} bytes{encrypted}", file.manifest_length));
    page.line(1, cut(&file.manifest_path));
    let writer = optional(file.added_snapshot_id);
    let (sequence, least, spec) = (file.sequence_number, file.min_sequence_number, file.partition_spec_id);
    page.line(1, format!("written by snapshot {writer}, sequence number {sequence} (least {least}), spec {spec}"));
    let counts = [
        ("files", file.added_files_count, file.existing_files_count, file.deleted_files_count),
        ("rows", file.added_rows_count, file.existing_rows_count, file.deleted_rows_count),
    ];
    for (what, added, existing, deleted) in counts {
        let (added, existing, deleted) = (optional(added), optional(existing), optional(deleted));
        page.line(1, format!("{what}: {added} added, {existing} existing, {deleted} deleted"));
    }
    if let Some(id) = file.first_row_id {
        page.line(1, format!("first row id {id}"));
    }
    for (index, summary) in file.partitions.iter().flatten().take(page.limit()).enumerate() {
        page.line(1, format!("partition field {}: {}", index + 1, summary_of(summary)));
    }
}

fn summary_of(summary: &FieldSummary) -> String {
    let nulls = if summary.contains_null { "nulls" } else { "no nulls" };
    let nans = match summary.contains_nan {
        Some(true) => ", NaNs",
        Some(false) => ", no NaNs",
        None => "",
    };
    let bound = |bound: &Option<Box<[u8]>>| match bound {
        Some(bytes) => {
            let shown: Vec<String> = bytes.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
            format!("{}{}", shown.join(""), if bytes.len() > 16 { "…" } else { "" })
        }
        None => "none".to_owned(),
    };
    format!("{nulls}{nans}, bounds {} to {}", bound(&summary.lower_bound), bound(&summary.upper_bound))
}

fn describe_manifest(manifest: &Manifest, size: usize, page: &mut Page) {
    let all = manifest.entries.len();
    page.line(0, format!("Manifest, {size} bytes: {}", entries(all)));
    describe_metadata(&manifest.metadata, page);
    for (index, entry) in manifest.entries.iter().take(page.limit()).enumerate() {
        page.space();
        describe_entry(index + 1, all, entry, page);
    }
    page.rest(all, "entries");
}

fn entries(number: usize) -> String {
    if number == 1 { "1 entry".to_owned() } else { format!("{number} entries") }
}

fn describe_entry(number: usize, all: usize, entry: &ManifestEntry, page: &mut Page) {
    let status = match entry.status {
        Status::Existing => "existing".to_owned(),
        Status::Added => "added".to_owned(),
        Status::Deleted => "deleted".to_owned(),
        Status::Other(number) => format!("status {number}"),
    };
    let file = &entry.data_file;
    page.line(0, format!("entry {number} of {all}: {status}, {}", what(file)));
    page.line(1, cut(&file.file_path));
    let inherited = |number: Option<i64>| number.map_or_else(|| "inherited".to_owned(), |number| number.to_string());
    page.line(
        1,
        format!(
            "snapshot {}, sequence number {}, file sequence number {}",
            inherited(entry.snapshot_id),
            inherited(entry.sequence_number),
            inherited(entry.file_sequence_number)
        ),
    );
    page.line(1, cut(&format!("partition {}", file.partition)));
    if let Some(path) = &file.referenced_data_file {
        page.line(1, format!("deletes rows of {}", cut(path)));
    } else if let Some(path) = &file.path_in_bounds {
        page.line(1, format!("deletes rows of {} (by its bounds)", cut(path)));
    }
    if let Some(ids) = &file.equality_ids {
        page.line(1, cut(&format!("compares the fields {ids:?}")));
    }
    if let Some(id) = file.first_row_id {
        page.line(1, format!("first row id {id}"));
    }
    if let Some(id) = file.sort_order_id {
        page.line(1, format!("sort order {id}"));
    }
}

fn what(file: &DataFile) -> String {
    let (records, size) = (file.record_count, file.file_size_in_bytes);
    let encrypted = if file.encrypted { ", encrypted" } else { "" };
    if file.is_deletion_vector() {
        let (length, offset) = (optional(file.content_size_in_bytes), optional(file.content_offset));
        let place = format!("{length} bytes at byte {offset} of a file of {size}");
        return format!("a deletion vector of {records} positions, {place}{encrypted}");
    }
    let content = match file.content {
        FileContent::Data => "a data file".to_owned(),
        FileContent::PositionDeletes => "a position delete file".to_owned(),
        FileContent::EqualityDeletes => "an equality delete file".to_owned(),
        FileContent::Other(number) => format!("a file of content {number}"),
    };
    let format = format!("{:?}", file.file_format).to_lowercase();
    format!("{content} ({}), {records} records, {size} bytes{encrypted}", cut(&format))
}

fn optional(number: Option<i64>) -> String {
    number.map_or_else(|| "unknown".to_owned(), |number| number.to_string())
}
