//! Rules about what a manifest says of columns. Off unless they are wanted: without them it is not kept in memory.

use crate::manifest::{Bounds, Details, Status};
use crate::spec::{Primitive, Type};
use crate::validate::finding::Findings;
use crate::validate::level::Level::Off;

use super::{Check, EntryView, Reads, Rule};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "split-offsets",
        level: Off,
        statement: "the split_offsets of a file ascend and lie in the file",
        protects: "Readers split the file at the wrong places, or ignore the offsets.",
        source: "spec: Data File Fields, split_offsets",
        reads: Reads::NewManifests,
        broken_by: "",
        check: Check::Entry(split_offsets),
    },
    Rule {
        id: "column-bounds",
        level: Off,
        statement: "lower and upper bounds have the length that a value of their column's type has",
        protects: "Readers fail, or skip files that have the rows.",
        source: "spec: Data File Fields, lower_bounds; Binary single-value serialization",
        reads: Reads::NewManifests,
        broken_by: "",
        check: Check::Entry(column_bounds),
    },
];

fn details<'a>(view: &'a EntryView<'_>) -> Option<&'a Details> {
    view.entry.data_file.details.as_deref().filter(|_| view.entry.status == Status::Added)
}

fn split_offsets(view: &EntryView<'_>, findings: &mut Findings) {
    let Some(offsets) = details(view).and_then(|details| details.split_offsets.as_deref()) else { return };
    let size = view.entry.data_file.file_size_in_bytes;
    let ascends = offsets.iter().zip(offsets.iter().skip(1)).all(|(one, next)| one < next);
    let inside = offsets.iter().all(|offset| (0..size.max(1)).contains(offset));
    findings.expect(ascends && inside, || {
        let shown: Vec<String> = offsets.iter().take(5).map(i64::to_string).collect();
        view.finding(format!("ascending split_offsets below {size}"), shown.join(", "))
    });
}

fn column_bounds(view: &EntryView<'_>, findings: &mut Findings) {
    let Some(details) = details(view) else { return };
    for bounds in [&details.lower_bounds, &details.upper_bounds].into_iter().flatten() {
        fitting(view, bounds, findings);
    }
}

fn fitting(view: &EntryView<'_>, bounds: &Bounds, findings: &mut Findings) {
    let schema = view.facts.table.current_schema();
    for (id, bound) in bounds.iter() {
        // Columns that are gone, and metadata columns, are nobody's concern.
        let Some(field) = schema.and_then(|schema| schema.find_field(id)) else { continue };
        let Type::Primitive(primitive) = &field.field_type else { continue };
        findings.expect(fits(primitive, bound.len()), || {
            view.finding(format!("a bound of type {primitive} for {}", field.name), format!("{} bytes", bound.len()))
        });
    }
}

/// Whether a value of the type, or of one that it was promoted from, may have so many bytes.
fn fits(primitive: &Primitive, bytes: usize) -> bool {
    match primitive {
        Primitive::Boolean => bytes == 1,
        Primitive::Int | Primitive::Float | Primitive::Date => bytes == 4,
        Primitive::Long | Primitive::Double | Primitive::Timestamp | Primitive::TimestampNs => bytes == 8 || bytes == 4,
        Primitive::Time | Primitive::Timestamptz | Primitive::TimestamptzNs => bytes == 8,
        Primitive::Decimal { .. } => (1..=16).contains(&bytes),
        Primitive::Uuid => bytes == 16,
        // Long values are cut.
        Primitive::Fixed(length) => bytes <= *length as usize,
        Primitive::Geometry { .. } | Primitive::Geography { .. } => matches!(bytes, 16 | 24 | 32),
        Primitive::String | Primitive::Binary => true,
        Primitive::Unknown => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_has_the_length_of_its_type() {
        let of = |name: &str| Primitive::parse(name).unwrap().unwrap();
        for (name, good, bad) in [
            ("boolean", 1, 0),
            ("int", 4, 8),
            ("long", 4, 5),
            ("double", 8, 16),
            ("timestamp_ns", 8, 12),
            ("timestamptz", 8, 4),
            ("decimal(38,0)", 16, 17),
            ("uuid", 16, 36),
            ("fixed[3]", 2, 4),
            ("geometry", 24, 8),
        ] {
            assert!(fits(&of(name), good) && !fits(&of(name), bad), "{name}");
        }
        assert!(fits(&of("string"), 0) && !fits(&of("unknown"), 4));
    }
}
