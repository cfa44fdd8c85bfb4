use std::fs;
use std::ops::Range;
use std::path::Path;

use bytes::Bytes;
use futures::executor::block_on;

use super::*;

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/fixtures");

/// One object.
struct One(Vec<u8>);

impl ReadBytes for One {
    fn permit(&self, _: &str) -> Result<(), ReadError> {
        Ok(())
    }

    async fn size(&self, _: &str) -> Result<u64, ReadError> {
        Ok(self.0.len() as u64)
    }

    async fn read(&self, _: &str, range: Option<Range<u64>>) -> Result<Bytes, ReadError> {
        let range = range.unwrap_or(0..self.0.len() as u64);
        let (start, end) = (usize::try_from(range.start).unwrap(), usize::try_from(range.end).unwrap());
        Ok(Bytes::copy_from_slice(&self.0[start.min(self.0.len())..end.min(self.0.len())]))
    }
}

fn look_at(bytes: Vec<u8>, name: &str) -> Inspection {
    block_on(inspect(&One(bytes), name, 100)).unwrap()
}

fn file(table: &str, part: &str, end: &str) -> Vec<u8> {
    let folder = Path::new(FIXTURES).join(table).join(part);
    let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    fs::read(paths.iter().rfind(|path| path.to_str().unwrap().ends_with(end)).unwrap()).unwrap()
}

#[test]
fn a_puffin_file_is_opened_down_to_its_containers() {
    let page = look_at(file("seed_v3", "data", ".puffin"), "x");
    assert_eq!(page.faults, [""; 0]);
    insta::assert_snapshot!(page.text, @r"
    Puffin file, 453 bytes
    footer of 405 bytes at byte 48: 1 blob
      created-by: Apache Iceberg 1.10.2 (commit 57396d628cb9f92e121f9c2919398475393f0a3a)

    blob 1 of 1: deletion-vector-v1, 44 bytes at byte 4
      fields [2147483645], snapshot-id -1, sequence-number -1
      cardinality: 2
      referenced-data-file: gs://warehouse/my_namespace/mytable_v3/data/00000-4-7a8931fa-7d51-49df-8a7e-fce4acfa0b22-0-00001.parquet
      2 positions, from 0 to 4999, in 1 bitmap
        bitmap with key 0: 1 container
          container with key 0: array, 2 positions, at byte 40
    ");
}

#[test]
fn containers_of_every_kind_are_told_apart() {
    let text = look_at(file("t09_big", "data", ".puffin"), "x").text;
    for kind in [": array,", ": bitmap,", " runs,"] {
        assert!(text.contains(kind), "{kind}: {text}");
    }
}

#[test]
fn a_bare_vector_is_recognised() {
    let page = look_at(file("duckdb153_bad", "data", ".puffin"), "x.puffin");
    assert!(page.faults[0].starts_with("puffin-head-magic at byte 0: "), "{:?}", page.faults);
    assert!(page.text.contains("the whole file is one deletion vector"), "{}", page.text);
}

#[test]
fn lists_and_manifests_are_told_apart_by_their_columns() {
    let list = look_at(file("seed_v3", "metadata", "50197cfa-bc6d-4eae-bee8-f61e3174e20a.avro"), "x");
    assert_eq!((list.faults.len(), list.text.starts_with("Manifest list, ")), (0, true), "{}", list.text);
    assert!(list.text.contains("files: 1 added, 0 existing, 0 deleted") && list.text.contains("first row id 0"));
    let manifest = look_at(file("seed_v3", "metadata", "bf27c892-717b-4c1f-b6b6-43cfa627a20d-m0.avro"), "x");
    assert_eq!((manifest.faults.len(), manifest.text.starts_with("Manifest, ")), (0, true), "{}", manifest.text);
    let vector = "added, a deletion vector of 1 positions, 42 bytes at byte 4 of a file of 451";
    assert!(manifest.text.contains(vector), "{}", manifest.text);
}

#[test]
fn file_scoped_position_deletes_of_version_2_are_known_by_their_bounds() {
    let folder = Path::new(FIXTURES).join("t03_upgraded_file/metadata");
    let pages = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let manifests = pages.filter(|path| path.extension().is_some_and(|extension| extension == "avro"));
    let texts: Vec<String> = manifests.map(|path| look_at(fs::read(path).unwrap(), "x").text).collect();
    assert!(texts.iter().any(|text| text.contains("(by its bounds)")), "{texts:#?}");
}

#[test]
fn metadata_is_summed_up() {
    let page = look_at(file("t07_evolve", "metadata", ".metadata.json"), "x");
    assert_eq!(page.faults, [""; 0]);
    for part in ["format version 3", "(current)", "partition spec ", "branch main: snapshot ", "next row id"] {
        assert!(page.text.contains(part), "{part}: {}", page.text);
    }
}

#[test]
fn a_broken_file_is_told_with_its_byte() {
    let puffin = file("seed_v3", "data", ".puffin");
    let mut flipped = puffin.clone();
    flipped[42] ^= 1;
    let cases = [
        (puffin[..400].to_vec(), "x.puffin", "puffin-tail-magic at byte 396: "),
        (flipped, "x", "dv-crc at byte 44: "),
        (Vec::new(), "x", "at byte 0: expected PFA1"),
        (b"hello".to_vec(), "x", "found 68 65 6c 6c"),
        (b"{\"format-version\": 3,\n \"a\" 7}".to_vec(), "x", "at byte 27 of the JSON text"),
        (b"{\"format-version\": 3}".to_vec(), "x", "location"),
        (b"Obj\x01\x02".to_vec(), "x", "at byte 5: "),
        (b"\x1f\x8bxx".to_vec(), "x", "broken gzip"),
    ];
    for (bytes, name, expected) in cases {
        let page = look_at(bytes, name);
        assert!(page.faults[0].contains(expected), "{expected}: {:?}", page.faults);
    }
}

#[test]
fn no_truncation_of_any_kind_of_file_is_a_panic() {
    for (part, end) in [("data", ".puffin"), ("metadata", "-m0.avro"), ("metadata", ".metadata.json")] {
        let whole = file("seed_v3", part, end);
        for length in (0..whole.len()).step_by(7) {
            assert!(!look_at(whole[..length].to_vec(), &format!("x{end}")).faults.is_empty(), "{end} {length}");
        }
    }
}

#[test]
fn long_lists_are_cut() {
    let puffin = file("t02_partitioned", "data", ".puffin");
    let page = block_on(inspect(&One(puffin), "x", 2)).unwrap();
    assert!(page.text.contains("and ") && page.text.contains("more blobs (--limit "), "{}", page.text);
}
