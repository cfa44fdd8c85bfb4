//! Rules about partition tuples and their summaries.

use std::collections::HashSet;

use crate::manifest::{Kind, PartitionColumn};
use crate::spec::{PartitionField, Primitive, TableMetadata, Transform, Type};
use crate::validate::finding::{Finding, Findings};
use crate::validate::level::Level::{Deny, Warn};

use super::{Check, ManifestView, Reads, Rule};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "partition-tuple",
        level: Deny,
        statement: "a manifest's partition tuples have the fields of its spec, each of the type that its transform gives",
        protects: "Readers fail, or take a value for another field's.",
        source: "spec: Manifests, partition; Partition Transforms",
        reads: Reads::NewManifests,
        broken_by: "",
        check: Check::Manifest(tuple_type),
    },
    Rule {
        id: "partition-summary-count",
        level: Warn,
        statement: "the list summarises each field of the manifest's spec",
        protects: "Readers that prune by place take one field's bounds for another's.",
        source: "spec: Manifest Lists, partitions",
        reads: Reads::NewManifests,
        broken_by: "",
        check: Check::Manifest(summary_count),
    },
    Rule {
        id: "partition-summary-bounds",
        level: Warn,
        statement: "the list's partition summaries cover every live file of the manifest",
        protects: "Queries miss rows: the manifest is pruned although it has them.",
        source: "spec: Manifest Lists, field_summary",
        reads: Reads::NewManifests,
        broken_by: "",
        check: Check::Manifest(summary_bounds),
    },
];

fn tuple_type(view: &ManifestView<'_>, findings: &mut Findings) {
    let Some(spec) = view.facts.table.partition_spec(view.file.partition_spec_id) else { return };
    let columns = &view.new.manifest.partition_columns;
    let known: HashSet<i32> = spec.fields.iter().map(|field| field.field_id).collect();
    for column in columns.iter().filter(|column| !known.contains(&column.field_id)) {
        findings.add(|| {
            let expected = format!("the fields of partition spec {}", spec.spec_id);
            Finding::new(&view.file.manifest_path, expected, format!("field {}", column.field_id))
        });
    }
    for field in &spec.fields {
        match columns.iter().find(|column| column.field_id == field.field_id) {
            Some(column) => expect_kind(view, findings, field, *column),
            // Some writers leave out what is always null.
            None if field.transform == Transform::Void || view.new.manifest.entries.is_empty() => {}
            None => findings.add(|| {
                let expected = format!("partition field {} ({})", field.field_id, field.name);
                Finding::new(&view.file.manifest_path, expected, "none")
            }),
        }
    }
}

fn expect_kind(view: &ManifestView<'_>, findings: &mut Findings, field: &PartitionField, column: PartitionColumn) {
    let Some(expected) = kinds(field, view.facts.table) else { return };
    findings.expect(column.kind == Kind::Null || expected.contains(&column.kind), || {
        let expected = format!("partition field {} ({}) of kind {:?}", field.field_id, field.name, expected);
        Finding::new(&view.file.manifest_path, expected, format!("{:?}", column.kind))
    });
}

/// The kinds that values of a field may have; none if that cannot be told.
fn kinds(field: &PartitionField, table: &TableMetadata) -> Option<&'static [Kind]> {
    match field.transform {
        Transform::Bucket(_) | Transform::Year | Transform::Month | Transform::Day | Transform::Hour => {
            Some(&[Kind::Integer])
        }
        Transform::Identity | Transform::Truncate(_) => {
            let [source] = field.source.ids() else { return None };
            // A column that is gone from the current schema is in an older one.
            let schemas = table.current_schema().into_iter().chain(table.schemas.iter().rev());
            let column = schemas.into_iter().find_map(|schema| schema.find_field(*source))?;
            match &column.field_type {
                Type::Primitive(primitive) => kinds_of(primitive),
                _ => None,
            }
        }
        Transform::Void | Transform::Other(_) => None,
    }
}

fn kinds_of(primitive: &Primitive) -> Option<&'static [Kind]> {
    Some(match primitive {
        Primitive::Boolean => &[Kind::Boolean],
        Primitive::Int
        | Primitive::Long
        | Primitive::Date
        | Primitive::Time
        | Primitive::Timestamp
        | Primitive::Timestamptz
        | Primitive::TimestampNs
        | Primitive::TimestamptzNs => &[Kind::Integer],
        Primitive::Float | Primitive::Double => &[Kind::Float],
        // A fixed type without its logical type is a writer's omission, not another value.
        Primitive::Decimal { .. } => &[Kind::Decimal, Kind::Bytes],
        Primitive::String => &[Kind::Text],
        Primitive::Uuid => &[Kind::Bytes, Kind::Text],
        Primitive::Fixed(_) | Primitive::Binary => &[Kind::Bytes],
        _ => return None,
    })
}

fn summary_count(view: &ManifestView<'_>, findings: &mut Findings) {
    let Some(spec) = view.facts.table.partition_spec(view.file.partition_spec_id) else { return };
    if let Some(summaries) = &view.file.partitions {
        findings.expect(summaries.len() == spec.fields.len(), || {
            let expected = format!("{} partition summaries", spec.fields.len());
            Finding::new(&view.file.manifest_path, expected, summaries.len())
        });
    }
}

fn summary_bounds(view: &ManifestView<'_>, findings: &mut Findings) {
    let Some(spec) = view.facts.table.partition_spec(view.file.partition_spec_id) else { return };
    let Some(summaries) = view.file.partitions.as_ref().filter(|all| all.len() == spec.fields.len()) else { return };
    for entry in view.new.manifest.entries.iter().filter(|entry| entry.is_live()) {
        for (field, summary) in spec.fields.iter().zip(summaries) {
            let value = entry.data_file.partition.value(field.field_id);
            findings.expect(summary.admits(value), || {
                let expected = format!("a summary of partition field {} that covers {value}", field.name);
                let found = format!("one that does not, for {}", entry.data_file.file_path);
                Finding::new(&view.file.manifest_path, expected, found)
            });
        }
    }
}
