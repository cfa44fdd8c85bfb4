//! Metadata files of tables and views.

use serde::de::IgnoredAny;

use crate::spec::json::Object;
use crate::spec::view::Representation;
use crate::spec::{Schema, Snapshot, TableMetadata, ViewMetadata, file};

use super::page::{Page, cut, utc};
use super::puffin::count;

pub(super) fn describe(bytes: &[u8], page: &mut Page) {
    let compressed = if file::is_compressed(bytes) { ", gzip" } else { "" };
    page.line(0, format!("Metadata file, {} bytes{compressed}", bytes.len()));
    let document = match file::document(bytes) {
        Ok(document) => document,
        Err(fault) => return page.fault(&fault.to_string()),
    };
    if let Err(fault) = serde_json::from_slice::<IgnoredAny>(&document) {
        return page.fault(&format!("at byte {} of the JSON text: {fault}", offset(&document, &fault)));
    }
    if Object::parse_document(&document).is_ok_and(|object| object.has("view-uuid")) {
        match ViewMetadata::parse(&document) {
            Ok(view) => describe_view(&view, page),
            Err(fault) => page.fault(&fault.to_string()),
        }
    } else {
        match TableMetadata::parse(&document) {
            Ok(table) => describe_table(&table, page),
            Err(fault) => page.fault(&fault.to_string()),
        }
    }
}

/// Where a fault in JSON text is, in bytes.
fn offset(document: &[u8], fault: &serde_json::Error) -> usize {
    let lines = document.split_inclusive(|byte| *byte == b'\n').take(fault.line().saturating_sub(1));
    lines.map(<[u8]>::len).sum::<usize>() + fault.column().saturating_sub(1)
}

fn describe_table(table: &TableMetadata, page: &mut Page) {
    page.line(0, format!("table {}, format version {}", table.table_uuid, table.format_version));
    page.line(1, cut(&table.location));
    let next = table.next_row_id.map_or_else(String::new, |id| format!(", next row id {id}"));
    let (updated, sequence) = (utc(table.last_updated_ms), table.last_sequence_number);
    page.line(1, format!("last updated {updated}, last sequence number {sequence}{next}"));
    let properties = table.properties.iter().take(page.limit());
    page.pairs(1, properties.map(|(key, value)| (key.as_str(), value.as_str())));
    for schema in &table.schemas {
        describe_schema(schema, schema.schema_id == table.current_schema_id, page);
    }
    for spec in &table.partition_specs {
        let fields: Vec<String> = spec.fields.iter().map(ToString::to_string).collect();
        let current = if spec.spec_id == table.default_spec_id { " (current)" } else { "" };
        page.line(0, cut(&format!("partition spec {}{current}: {}", spec.spec_id, listed(&fields, "unpartitioned"))));
    }
    for order in &table.sort_orders {
        let fields: Vec<String> = order.fields.iter().map(ToString::to_string).collect();
        let current = if order.order_id == table.default_sort_order_id { " (current)" } else { "" };
        page.line(0, cut(&format!("sort order {}{current}: {}", order.order_id, listed(&fields, "unsorted"))));
    }
    describe_snapshots(table, page);
    for (name, reference) in table.refs.iter().take(page.limit()) {
        page.line(0, format!("{} {}: snapshot {}", reference.kind.as_str(), cut(name), reference.snapshot_id));
    }
    page.rest(table.refs.len(), "refs");
    let kept = [
        (table.metadata_log.len(), "earlier metadata file"),
        (table.statistics.len(), "statistics file"),
        (table.partition_statistics.len(), "partition statistics file"),
        (table.encryption_keys.len(), "encryption key"),
    ];
    for (number, what) in kept.into_iter().filter(|(number, _)| *number > 0) {
        page.line(0, count(number, what));
    }
}

fn listed(items: &[String], none: &str) -> String {
    if items.is_empty() { none.to_owned() } else { items.join(", ") }
}

fn describe_schema(schema: &Schema, current: bool, page: &mut Page) {
    let current = if current { " (current)" } else { "" };
    let fields = count(schema.fields.len(), "column");
    page.line(0, format!("schema {}{current}: {fields}", schema.schema_id));
    for field in schema.fields.iter().take(page.limit()) {
        page.line(1, cut(&field.to_string()));
    }
    page.rest(schema.fields.len(), "columns");
}

fn describe_snapshots(table: &TableMetadata, page: &mut Page) {
    let all = table.snapshots.len();
    page.line(0, count(all, "snapshot"));
    // The newest are the last.
    for snapshot in table.snapshots.iter().rev().take(page.limit()) {
        let current = if table.current_snapshot_id == Some(snapshot.snapshot_id) { " (current)" } else { "" };
        describe_snapshot(snapshot, current, page);
    }
    page.rest(all, "snapshots");
}

fn describe_snapshot(snapshot: &Snapshot, current: &str, page: &mut Page) {
    let operation = snapshot.operation.as_deref().map_or_else(|| "no operation".to_owned(), cut);
    let (id, sequence, at) = (snapshot.snapshot_id, snapshot.sequence_number, utc(snapshot.timestamp_ms));
    page.line(1, format!("snapshot {id}{current}: {operation}, sequence number {sequence}, {at}"));
    let parent = snapshot.parent_snapshot_id.map_or_else(|| "no parent".to_owned(), |id| format!("parent {id}"));
    let rows = snapshot.first_row_id.zip(snapshot.added_rows);
    let rows = rows.map_or_else(String::new, |(first, rows)| format!(", {rows} row ids from {first}"));
    page.line(2, format!("{parent}{rows}"));
    let list = snapshot.manifest_list.as_deref().map(cut);
    page.line(2, list.unwrap_or_else(|| "no manifest list: it names its manifests itself".to_owned()));
}

fn describe_view(view: &ViewMetadata, page: &mut Page) {
    page.line(0, format!("view {}, format version {}", view.view_uuid, view.format_version));
    page.line(1, cut(&view.location));
    let properties = view.properties.iter().take(page.limit());
    page.pairs(1, properties.map(|(key, value)| (key.as_str(), value.as_str())));
    let current = view.current_version().map(|version| version.schema_id);
    for schema in &view.schemas {
        describe_schema(schema, current == Some(schema.schema_id), page);
    }
    page.line(0, count(view.versions.len(), "version"));
    for version in view.versions.iter().rev().take(page.limit()) {
        let current = if version.version_id == view.current_version_id { " (current)" } else { "" };
        page.line(1, format!("version {}{current}: {}", version.version_id, utc(version.timestamp_ms)));
        for representation in &version.representations {
            page.line(2, representation_of(representation));
        }
    }
    page.rest(view.versions.len(), "versions");
}

fn representation_of(representation: &Representation) -> String {
    match representation {
        Representation::Sql { sql, dialect, .. } => format!("{}: {}", cut(dialect), cut(sql)),
        Representation::Other { kind, .. } => format!("of the unknown kind {}", cut(kind)),
    }
}
