//! Rules about Puffin files and the vectors in them. What a parser finds out has the parser's code as its rule.

use std::collections::HashMap;

use crate::manifest::DataFile;
use crate::puffin::{Blob, DELETION_VECTOR_V1};
use crate::validate::facts::{Facts, Vector};
use crate::validate::finding::{Finding, Findings};
use crate::validate::level::Level::{self, Deny};

use super::places::is_under;
use super::{Check, Reads, Rule};

pub(super) const RULES: &[Rule] = &[
    footer("puffin-missing", "the Puffin file of a vector exists", "No engine can read the vector."),
    footer(
        "puffin-outside",
        "the Puffin file of a vector lies where the warehouse may read",
        "A client could make the server read what the client itself may not.",
    ),
    footer("puffin-too-large", "the Puffin file can be read by the server", "The server's memory."),
    Rule {
        check: Check::Vector(size),
        ..footer(
            "puffin-size",
            "the entry gives the true size of the Puffin file",
            "Readers that find the footer by the size find something else.",
        )
    },
    Rule {
        reads: Reads::NewManifests,
        check: Check::Snapshot(apart),
        ..footer(
            "puffin-entries-overlap",
            "vectors of one Puffin file do not overlap, and agree on the file's size",
            "One of the two is another file's vector.",
        )
    },
    Rule {
        level: Level::Off,
        reads: Reads::NewManifests,
        check: Check::Snapshot(under_table),
        ..footer(
            "puffin-not-under-table",
            "the Puffin file of an added vector lies under the table's location or a place that its properties name",
            "It is another table's file, which goes when that table does.",
        )
    },
    footer("puffin-too-short", "a Puffin file has room for its magic and a footer", BROKEN_FILE),
    Rule { broken_by: BARE, ..footer("puffin-head-magic", "a Puffin file starts with PFA1", BROKEN_FILE) },
    Rule { broken_by: BARE, ..footer("puffin-tail-magic", "a Puffin file ends with PFA1", BROKEN_FILE) },
    footer("puffin-footer-size", "the footer's size fits the file", BROKEN_FILE),
    footer(
        "puffin-footer-flags",
        "no reserved flag of the footer is set",
        "Readers that know the flag read otherwise.",
    ),
    footer("puffin-footer-compressed", "the footer is not compressed", "Iceberg Java cannot decompress it."),
    footer("puffin-footer-magic", "the footer starts with PFA1", BROKEN_FILE),
    footer("puffin-footer-json", "the footer is the JSON that the Puffin spec describes", BROKEN_FILE),
    Rule {
        check: Check::Vector(in_footer),
        ..footer(
            "dv-not-in-footer",
            "the footer has a deletion-vector-v1 blob at exactly the entry's offset and length",
            "Readers that go by the footer read another vector, or none.",
        )
    },
    Rule {
        check: Check::Vector(blob_data_file),
        ..footer(
            "blob-referenced-data-file",
            "the blob's referenced-data-file is the entry's",
            "Readers that go by the footer delete rows of another file.",
        )
    },
    Rule {
        check: Check::Vector(blob_cardinality),
        ..footer(
            "blob-cardinality-property",
            "the blob's cardinality is the entry's record_count",
            "Readers that go by the footer count other rows.",
        )
    },
    Rule {
        check: Check::Vector(blob_uncompressed),
        ..footer("blob-compressed", "a vector is not compressed", "Readers take the compressed bytes for the vector.")
    },
    Rule {
        broken_by: "DuckLake, which writes the snapshot's own ids",
        check: Check::Vector(blob_snapshot_id),
        ..footer("blob-snapshot-id", "a vector's snapshot-id is -1", "The spec demands it; readers ignore it.")
    },
    Rule {
        broken_by: "DuckLake, which writes the snapshot's own ids",
        check: Check::Vector(blob_sequence_number),
        ..footer("blob-sequence-number", "a vector's sequence-number is -1", "The spec demands it; readers ignore it.")
    },
    vector("dv-too-large", "a vector is not larger than what the server reads", "The server's memory."),
    vector("dv-too-short", "a vector has room for length, magic, count and checksum", BROKEN_VECTOR),
    vector("dv-length", "a vector's length is the blob's length less 8, big-endian", BROKEN_VECTOR),
    vector("dv-magic", "a vector has the magic d1 d3 39 64", BROKEN_VECTOR),
    vector("dv-crc", "a vector's checksum is the CRC-32 of magic and bitmaps, big-endian", WRONG_ROWS),
    Rule {
        check: Check::Vector(cardinality),
        ..vector("dv-cardinality", "a vector has as many positions as the entry's record_count", BROKEN_VECTOR)
    },
    vector("bitmap-count", "the number of bitmaps fits the blob", "A reader that believes it runs out of memory."),
    vector("bitmap-truncated", "a bitmap ends inside the blob", BROKEN_VECTOR),
    vector("bitmap-trailing-bytes", "nothing follows the last bitmap", "Some readers fail, others ignore it."),
    vector("bitmap-key-order", "the keys of a vector's bitmaps ascend", WRONG_ROWS),
    vector("bitmap-key-range", "a bitmap's key is at most 2^31 - 2", BROKEN_VECTOR),
    vector("bitmap-cookie", "a bitmap starts with a Roaring cookie", BROKEN_VECTOR),
    vector("bitmap-container-count", "a bitmap has at most 65536 containers", BROKEN_VECTOR),
    vector("bitmap-container-order", "the keys of a bitmap's containers ascend", WRONG_ROWS),
    vector("bitmap-offsets", "a bitmap's offset header says where its containers are", WRONG_ROWS),
    vector("bitmap-array-order", "the values of an array container ascend", WRONG_ROWS),
    vector("bitmap-bitset-cardinality", "a bitset container has as many values as it says", WRONG_ROWS),
    vector(
        "bitmap-run",
        "runs ascend, do not touch, end at 65535 or before, and add up to the container's cardinality",
        WRONG_ROWS,
    ),
    vector("bitmap-invalid", "a bitmap is valid in every other respect", WRONG_ROWS),
];

const BROKEN_FILE: &str = "Readers that open the footer fail; others read on.";
const BROKEN_VECTOR: &str = "Some engines fail to read the table, others apply the vector or a part of it.";
const WRONG_ROWS: &str = "Engines delete different rows, silently.";
const BARE: &str = "DuckDB up to 1.5.3 and DuckLake, which write the vector as the whole file";

const fn footer(id: &'static str, statement: &'static str, protects: &'static str) -> Rule {
    Rule {
        id,
        level: Level::Deny,
        statement,
        protects,
        source: "puffin-spec: File structure; spec: Deletion Vectors",
        reads: Reads::PuffinFooter,
        broken_by: "",
        check: Check::Reading,
    }
}

const fn vector(id: &'static str, statement: &'static str, protects: &'static str) -> Rule {
    Rule {
        id,
        level: Deny,
        statement,
        protects,
        source: "puffin-spec: deletion-vector-v1; Roaring format specification",
        reads: Reads::Vector,
        broken_by: "",
        check: Check::Reading,
    }
}

fn size(vector: &Vector, findings: &mut Findings) {
    let Some(puffin) = &vector.puffin else { return };
    let declared = vector.entry.data_file.file_size_in_bytes;
    findings.expect(u64::try_from(declared) == Ok(puffin.size), || {
        let expected = format!("file_size_in_bytes {}, the object's size", puffin.size);
        Finding::new(&vector.entry.data_file.file_path, expected, declared)
    });
}

fn under_table(facts: &Facts<'_>, findings: &mut Findings) {
    let named = |key: &&str| facts.table.properties.get(*key).map(String::as_str);
    let keys = ["write.data.path", "write.object-storage.path", "write.folder-storage.path"];
    let mut roots: Vec<&str> = keys.iter().filter_map(named).collect();
    roots.push(&facts.table.location);
    for vector in &facts.vectors {
        let path = &vector.entry.data_file.file_path;
        findings.expect(roots.iter().any(|root| is_under(path, root)), || {
            Finding::new(path, format!("a place under {}", facts.table.location), "another")
        });
    }
}

fn apart(facts: &Facts<'_>, findings: &mut Findings) {
    let mut by_file: HashMap<&str, Vec<&DataFile>> = HashMap::new();
    for vector in &facts.vectors {
        by_file.entry(&vector.entry.data_file.file_path).or_default().push(&vector.entry.data_file);
    }
    let mut paths: Vec<&str> = by_file.keys().copied().collect();
    paths.sort_unstable();
    for path in paths {
        let Some(files) = by_file.get_mut(path) else { continue };
        files.sort_by_key(|file| file.content_offset);
        for (first, second) in files.iter().zip(files.iter().skip(1)) {
            let sizes = (first.file_size_in_bytes, second.file_size_in_bytes);
            findings.expect(sizes.0 == sizes.1, || {
                Finding::new(path, format!("file_size_in_bytes {} in all entries", sizes.0), sizes.1)
            });
            let end = first.content_offset.zip(first.content_size_in_bytes).map(|(at, size)| at.saturating_add(size));
            if let (Some(end), Some(start)) = (end, second.content_offset) {
                findings.expect(start >= end, || {
                    Finding::new(path, format!("the next vector at byte {end} or later"), start)
                });
            }
        }
    }
}

/// The footer's blob at exactly the place that the entry says.
fn blob(vector: &Vector) -> Option<&Blob> {
    let file = &vector.entry.data_file;
    let place = (file.content_offset?, file.content_size_in_bytes?);
    let blobs = &vector.puffin.as_ref()?.footer.as_ref()?.blobs;
    let mut at_place = blobs.iter().filter(|blob| (blob.offset, blob.length) == place);
    at_place.find(|blob| blob.blob_type == DELETION_VECTOR_V1)
}

fn finding(vector: &Vector, expected: impl std::fmt::Display, found: impl std::fmt::Display) -> Finding {
    let finding = Finding::new(&vector.entry.data_file.file_path, expected, found);
    match vector.entry.data_file.content_offset.map(u64::try_from) {
        Some(Ok(offset)) => finding.at(offset),
        _ => finding,
    }
}

fn in_footer(vector: &Vector, findings: &mut Findings) {
    let file = &vector.entry.data_file;
    let (Some(offset), Some(size)) = (file.content_offset, file.content_size_in_bytes) else { return };
    let Some(footer) = vector.puffin.as_ref().and_then(|puffin| puffin.footer.as_ref()) else { return };
    findings.expect(blob(vector).is_some(), || {
        let shown = |blob: &Blob| format!("{} of {} bytes at {}", blob.blob_type, blob.length, blob.offset);
        let first: Vec<String> = footer.blobs.iter().take(5).map(shown).collect();
        let found = if first.is_empty() { "no blobs".to_owned() } else { first.join(", ") };
        finding(vector, format!("{DELETION_VECTOR_V1} of {size} bytes at {offset}"), found)
    });
}

fn blob_data_file(vector: &Vector, findings: &mut Findings) {
    let Some(blob) = blob(vector) else { return };
    let found = blob.properties.get("referenced-data-file").map(String::as_str);
    findings.expect(found == vector.entry.data_file.referenced_data_file.as_deref(), || {
        let expected = format!("referenced-data-file {}", vector.referenced());
        finding(vector, expected, found.unwrap_or("none"))
    });
}

fn blob_cardinality(vector: &Vector, findings: &mut Findings) {
    let Some(blob) = blob(vector) else { return };
    let found = blob.properties.get("cardinality");
    let count = vector.entry.data_file.record_count;
    findings.expect(found.is_some_and(|found| found.parse() == Ok(count)), || {
        let expected = format!("cardinality {count}, the entry's record_count");
        finding(vector, expected, found.map_or("none", String::as_str))
    });
}

fn blob_uncompressed(vector: &Vector, findings: &mut Findings) {
    if let Some(codec) = blob(vector).and_then(|blob| blob.compression_codec.as_deref()) {
        findings.add(|| finding(vector, "no compression-codec", codec));
    }
}

fn blob_snapshot_id(vector: &Vector, findings: &mut Findings) {
    let Some(blob) = blob(vector) else { return };
    findings.expect(blob.snapshot_id == -1, || finding(vector, "snapshot-id -1", blob.snapshot_id));
}

fn blob_sequence_number(vector: &Vector, findings: &mut Findings) {
    let Some(blob) = blob(vector) else { return };
    findings.expect(blob.sequence_number == -1, || finding(vector, "sequence-number -1", blob.sequence_number));
}

fn cardinality(vector: &Vector, findings: &mut Findings) {
    let Some(decoded) = vector.decoded else { return };
    let count = vector.entry.data_file.record_count;
    findings.expect(u64::try_from(count) == Ok(decoded.cardinality), || {
        finding(vector, format!("{count} positions, the entry's record_count"), decoded.cardinality)
    });
}
