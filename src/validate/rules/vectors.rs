//! Rules about deletion vectors, as far as manifests tell.

use crate::dv::SMALLEST_BYTES;
use crate::manifest::{FileContent, FileFormat, Status};
use crate::puffin::SMALLEST_FOOTER_BYTES;
use crate::validate::facts::{DataFileFacts, DataFileState, Facts, Frame, Vector, VectorPlace};
use crate::validate::finding::{Finding, Findings};
use crate::validate::level::Level::{Deny, Warn};

use super::{Check, EntryView, Reads, Rule};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "not-puffin",
        level: Deny,
        statement: "a table of format version 3 takes new position deletes only as deletion vectors",
        protects: "Readers use the vector of a data file and ignore its position delete files: deleted rows come back.",
        source: "spec: Position Delete Files; Must use DVs for position deletes in V3",
        reads: Reads::NewManifests,
        broken_by: "ClickHouse; Iceberg Java before April 2026 when the table is upgraded meanwhile",
        check: Check::Entry(vectors_in_v3),
    },
    Rule {
        id: "dv-in-v2",
        level: Deny,
        statement: "a table of format version 2 has no deletion vectors",
        protects: "Readers of version 2 cannot read them: deleted rows come back, or scans fail.",
        source: "spec: Deletion Vectors; Must not use DVs for position deletes in V2",
        reads: Reads::NewManifests,
        broken_by: "",
        check: Check::Entry(no_vectors_before_v3),
    },
    Rule {
        id: "dv-missing-referenced-data-file",
        level: Deny,
        statement: "a deletion vector's entry names the data file that it deletes rows of",
        protects: "Some readers ignore the vector, others fail.",
        source: "spec: Data File Fields, referenced_data_file",
        reads: Reads::NewManifests,
        broken_by: "",
        check: Check::Entry(referenced_data_file),
    },
    Rule {
        id: "dv-missing-content-offset",
        level: Deny,
        statement: "a deletion vector's entry says where the vector starts in its file",
        protects: "Readers fail.",
        source: "spec: Data File Fields, content_offset",
        reads: Reads::NewManifests,
        broken_by: "",
        check: Check::Entry(content_offset),
    },
    Rule {
        id: "dv-missing-content-size",
        level: Deny,
        statement: "a deletion vector's entry says how long the vector is",
        protects: "Readers fail.",
        source: "spec: Data File Fields, content_size_in_bytes",
        reads: Reads::NewManifests,
        broken_by: "",
        check: Check::Entry(content_size),
    },
    Rule {
        id: "dv-out-of-bounds",
        level: Deny,
        statement: "a deletion vector lies between the head and the footer of its Puffin file",
        protects: "Readers read something else, or past the end.",
        source: "puffin-spec: File structure",
        reads: Reads::NewManifests,
        broken_by: "DuckDB up to 1.5.3 and DuckLake, which write the vector as the whole file",
        check: Check::Vector(inside_file),
    },
    Rule {
        id: "bare-dv-blob",
        level: Deny,
        statement: "a deletion vector's file is a Puffin file, not the vector alone",
        protects: "Readers that open the file as Puffin cannot read the table. At `warn` or `off` such a file is let in: what \
                   would be around the vector is not looked for, the vector itself is checked.",
        source: "puffin-spec: File structure",
        reads: Reads::PuffinFooter,
        broken_by: "DuckDB up to 1.5.3 and DuckLake",
        check: Check::Vector(framed),
    },
    Rule {
        id: "two-dvs",
        level: Deny,
        statement: "a data file has at most one live deletion vector",
        protects: "Iceberg Java cannot plan any scan of the table, and no tool repairs it; others apply one of the two.",
        source: "spec: Deletion Vectors",
        reads: Reads::DeleteManifests,
        broken_by: "Iceberg Java with a narrow conflict filter (issue 15966); Spark before February 2026; iceberg-go",
        check: Check::Snapshot(one_vector),
    },
    Rule {
        id: "dv-lost",
        level: Deny,
        statement: "a data file that stays keeps a deletion vector if it had one",
        protects: "Its deleted rows come back.",
        source: "spec: Deletion Vectors",
        reads: Reads::DataManifests,
        broken_by: "DuckDB 1.5.5 when several vectors share a Puffin file; tools that undelete on purpose",
        check: Check::Snapshot(vectors_stay),
    },
    Rule {
        id: "position-deletes-lost",
        level: Warn,
        statement: "a data file that stays keeps its position deletes, or gets a vector that has them",
        protects: "Its deleted rows come back.",
        source: "spec: Deletion Vectors",
        reads: Reads::DataManifests,
        broken_by: "",
        check: Check::Snapshot(position_deletes_stay),
    },
    Rule {
        id: "dv-references-unknown-data-file",
        level: Deny,
        statement: "a deletion vector's data file is, or was, part of the table",
        protects: "The rows that were to be deleted are not.",
        source: "spec: Deletion Vectors",
        reads: Reads::DataManifests,
        broken_by: "",
        check: Check::Vector(data_file_known),
    },
    Rule {
        id: "dv-dangling",
        level: Warn,
        statement: "a deletion vector's data file is live in the snapshot",
        protects: "A vector that applies to nothing is read by every scan.",
        source: "spec: Deletion Vectors",
        reads: Reads::DataManifests,
        broken_by: "Iceberg Java before July 2025; a delete that races with the removal of the file",
        check: Check::Vector(data_file_live),
    },
    Rule {
        id: "dv-partition",
        level: Deny,
        statement: "a deletion vector has the partition spec and the partition of its data file",
        protects: "Iceberg Java since August 2026 refuses to scan the table; others do not find the vector.",
        source: "spec: Scan Planning",
        reads: Reads::DataManifests,
        broken_by: "",
        check: Check::Vector(partition),
    },
    Rule {
        id: "dv-sequence-number",
        level: Deny,
        statement: "a deletion vector's data sequence number is not below its data file's",
        protects: "Iceberg Java refuses to scan the table; others do not apply the vector.",
        source: "spec: Scan Planning",
        reads: Reads::DataManifests,
        broken_by: "",
        check: Check::Vector(sequence_number),
    },
    Rule {
        id: "dv-position-out-of-range",
        level: Deny,
        statement: "a deletion vector deletes positions that its data file has",
        protects: "It is another file's vector; or a key so high that a reader that fills gaps runs out of memory.",
        source: "puffin-spec: deletion-vector-v1; positions are row positions of the data file",
        reads: Reads::Vector,
        broken_by: "",
        check: Check::Vector(positions_in_range),
    },
    Rule {
        id: "dv-empty",
        level: Warn,
        statement: "a deletion vector deletes something",
        protects: "A vector that deletes nothing is read by every scan.",
        source: "no writer makes one",
        reads: Reads::NewManifests,
        broken_by: "",
        check: Check::Vector(not_empty),
    },
    Rule {
        id: "dv-cardinality-shrinks",
        level: Warn,
        statement: "a vector that replaces another deletes at least as many rows",
        protects: "Deleted rows come back.",
        source: "spec: Deletion Vectors; a new vector merges the old",
        reads: Reads::DeleteManifests,
        broken_by: "tools that undelete on purpose",
        check: Check::Vector(not_fewer),
    },
    Rule {
        id: "dv-loses-positions",
        level: Deny,
        statement: "a vector that replaces another deletes every row that the other deleted",
        protects: "Deleted rows come back, which is what a vector made for an older state of the table does.",
        source: "spec: Deletion Vectors; a new vector merges the old",
        reads: Reads::PreviousVector,
        broken_by: "tools that undelete on purpose",
        check: Check::Vector(superset),
    },
];

/// Above this, no data file has so many rows: 2^42. The bound for vectors whose data file was not found.
const MORE_THAN_ANY_FILE: u64 = 1 << 42;

fn vectors_in_v3(view: &EntryView<'_>, findings: &mut Findings) {
    let file = &view.entry.data_file;
    let added = view.entry.status == Status::Added && file.content == FileContent::PositionDeletes;
    if view.facts.format_version >= 3 && added {
        findings.expect(file.file_format == FileFormat::Puffin, || {
            view.finding("a deletion vector in a Puffin file", format!("{:?}", file.file_format).to_lowercase())
        });
    }
}

fn no_vectors_before_v3(view: &EntryView<'_>, findings: &mut Findings) {
    let vector = view.entry.is_live() && view.entry.data_file.is_deletion_vector();
    findings.expect(!(vector && view.facts.format_version < 3), || {
        view.finding("position deletes in avro, orc or parquet", "a deletion vector")
    });
}

fn is_live_vector(view: &EntryView<'_>) -> bool {
    view.entry.is_live() && view.entry.data_file.is_deletion_vector()
}

fn referenced_data_file(view: &EntryView<'_>, findings: &mut Findings) {
    let present = view.entry.data_file.referenced_data_file.is_some();
    findings.expect(!is_live_vector(view) || present, || view.finding("referenced_data_file", "null"));
}

fn content_offset(view: &EntryView<'_>, findings: &mut Findings) {
    let present = view.entry.data_file.content_offset.is_some();
    findings.expect(!is_live_vector(view) || present, || view.finding("content_offset", "null"));
}

fn content_size(view: &EntryView<'_>, findings: &mut Findings) {
    let present = view.entry.data_file.content_size_in_bytes.is_some();
    findings.expect(!is_live_vector(view) || present, || view.finding("content_size_in_bytes", "null"));
}

fn frame(vector: &Vector) -> Frame {
    vector.puffin.as_ref().map_or(Frame::Puffin, |puffin| puffin.frame)
}

fn framed(vector: &Vector, findings: &mut Findings) {
    findings.expect(frame(vector) == Frame::Puffin, || {
        Finding::new(&vector.entry.data_file.file_path, "a Puffin file", "a file that is the vector alone").at(0)
    });
}

fn inside_file(vector: &Vector, findings: &mut Findings) {
    let file = &vector.entry.data_file;
    if frame(vector) == (Frame::Bare { allowed: true }) {
        return;
    }
    let (Some(offset), Some(size)) = (file.content_offset, file.content_size_in_bytes) else { return };
    let actual = vector.puffin.as_ref().and_then(|puffin| i64::try_from(puffin.size).ok());
    let file_size = actual.unwrap_or(file.file_size_in_bytes).min(file.file_size_in_bytes);
    let least = i64::try_from(SMALLEST_BYTES).unwrap_or(i64::MAX);
    let footer = i64::try_from(SMALLEST_FOOTER_BYTES).unwrap_or(i64::MAX);
    let ends = offset.checked_add(size).is_some_and(|end| end <= file_size.saturating_sub(footer));
    findings.expect(offset >= 4 && size >= 0 && ends, || {
        let most = file_size.saturating_sub(footer);
        let expected = format!("{least} bytes or more between byte 4 and byte {most}");
        let found = format!("{size} bytes at {offset} (manifest {})", vector.manifest);
        Finding::new(&file.file_path, expected, found)
    });
}

fn one_vector(facts: &Facts<'_>, findings: &mut Findings) {
    for pair in &facts.duplicate_vectors {
        findings.add(|| {
            let shown = |place: &VectorPlace| format!("{} at {}", place.file_path, place.content_offset.unwrap_or(-1));
            let expected = format!("one live vector for {}", pair.data_file);
            let found = format!("multiple DVs: {} and {}", shown(&pair.added), shown(&pair.other));
            Finding::new(&pair.manifest, expected, found)
        });
    }
}

fn vectors_stay(facts: &Facts<'_>, findings: &mut Findings) {
    lost(facts, true, findings);
}

fn position_deletes_stay(facts: &Facts<'_>, findings: &mut Findings) {
    lost(facts, false, findings);
}

fn lost(facts: &Facts<'_>, vectors: bool, findings: &mut Findings) {
    for lost in facts.lost_deletes.iter().filter(|lost| lost.file.is_deletion_vector() == vectors) {
        findings.add(|| {
            let expected = format!("a live vector for {}, which stays in the table", lost.data_file);
            let found = format!("none; {} with {} rows is gone", lost.file.file_path, lost.file.record_count);
            Finding::new(facts.list_location, expected, found)
        });
    }
}

/// A finding about a vector: its manifest is the object, its file and data file are named.
fn finding(vector: &Vector, expected: impl std::fmt::Display, found: impl std::fmt::Display) -> Finding {
    let file = &vector.entry.data_file;
    let place = format!("{found} in {} for {}", file.file_path, vector.referenced());
    Finding::new(&vector.manifest, expected, place)
}

fn data_file_known(vector: &Vector, findings: &mut Findings) {
    findings.expect(vector.data_file != DataFileState::Unknown, || {
        finding(vector, "a data file of the table or of its history", "one that no manifest has")
    });
}

fn data_file_live(vector: &Vector, findings: &mut Findings) {
    if let DataFileState::Removed { by } = &vector.data_file {
        findings.add(|| finding(vector, "a live data file", format!("one that {by} removed")));
    }
}

fn live(vector: &Vector) -> Option<&DataFileFacts> {
    match &vector.data_file {
        DataFileState::Live(data_file) => Some(data_file),
        _ => None,
    }
}

fn partition(vector: &Vector, findings: &mut Findings) {
    let Some(data_file) = live(vector) else { return };
    findings.expect(vector.spec_id == data_file.spec_id, || {
        finding(vector, format!("partition spec {}", data_file.spec_id), vector.spec_id)
    });
    let own = &vector.entry.data_file.partition;
    if vector.spec_id == data_file.spec_id {
        findings
            .expect(*own == data_file.partition, || finding(vector, format!("partition {}", data_file.partition), own));
    }
}

fn sequence_number(vector: &Vector, findings: &mut Findings) {
    let Some(data_file) = live(vector) else { return };
    findings.expect(vector.sequence_number >= data_file.sequence_number, || {
        let expected = format!("a data sequence number of {} or above", data_file.sequence_number);
        finding(vector, expected, vector.sequence_number)
    });
}

fn positions_in_range(vector: &Vector, findings: &mut Findings) {
    let rows = match live(vector) {
        Some(data_file) => u64::try_from(data_file.record_count).unwrap_or(0),
        None => MORE_THAN_ANY_FILE,
    };
    let count = u64::try_from(vector.entry.data_file.record_count).unwrap_or(0);
    findings.expect(count <= rows, || {
        finding(vector, format!("at most {rows} positions, the data file's rows"), format!("record_count {count}"))
    });
    if let Some(highest) = vector.decoded.and_then(|decoded| decoded.max_position) {
        findings.expect(highest < rows, || {
            finding(vector, format!("positions below {rows}, the data file's rows"), highest)
        });
    }
}

fn not_empty(vector: &Vector, findings: &mut Findings) {
    let count = vector.entry.data_file.record_count;
    findings.expect(count != 0, || finding(vector, "a record_count above 0", count));
}

fn not_fewer(vector: &Vector, findings: &mut Findings) {
    let count = vector.entry.data_file.record_count;
    let most = vector.previous.iter().map(|previous| previous.file.record_count).max().unwrap_or(0);
    findings.expect(count >= most, || finding(vector, format!("a record_count of {most} or above, as it was"), count));
}

fn superset(vector: &Vector, findings: &mut Findings) {
    for previous in &vector.previous {
        let Some(lost) = previous.lost.filter(|lost| lost.count > 0) else { continue };
        findings.add(|| {
            let first = lost.first.unwrap_or_default();
            let expected = format!("all {} positions of {}", previous.file.record_count, previous.file.file_path);
            let found = format!("{} previously deleted positions dropped, {first} the first", lost.count);
            finding(vector, expected, found)
        });
    }
}
