use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use roaring::RoaringTreemap;

use super::*;
use crate::puffin;

/// Vectors of Iceberg's own tests (core/src/test/resources/org/apache/iceberg/deletes).
const EMPTY: &str = "0000000cd1d339640000000000000000bf18480c";
const FIVE: &str = "0000002ad1d33964010000000000000000000000\
    3a300000010000000000040010000000010003000500070009 00b3fb20be";
const TWO_CONTAINERS: &str = "00000030d1d33964010000000000000000000000\
    3a30000002000000000001000080010018000000 1c000000640065006300640015eb1c7c";

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> = hex.bytes().filter(u8::is_ascii_hexdigit).collect();
    digits.chunks(2).map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
}

/// A blob around `vector` (count, keys, bitmaps), with a right length and CRC.
fn blob(vector: &[u8]) -> Vec<u8> {
    let body = [&MAGIC[..], vector].concat();
    let length = u32::try_from(body.len()).unwrap().to_be_bytes();
    [&length[..], &body, &crc32fast::hash(&body).to_be_bytes()].concat()
}

/// A vector of bitmaps as a writer makes them.
fn vector(bitmaps: &[(u32, RoaringBitmap)]) -> Vec<u8> {
    let mut out = (bitmaps.len() as u64).to_le_bytes().to_vec();
    for (key, bitmap) in bitmaps {
        out.extend(key.to_le_bytes());
        bitmap.serialize_into(&mut out).unwrap();
    }
    out
}

/// Array, bitset and run containers, four of them with runs so that there is an offset header, under two keys.
fn rich() -> Vec<(u32, RoaringBitmap)> {
    let mut mixed: RoaringBitmap = [3, 5, 70].into_iter().collect();
    mixed.insert_range(65_536..66_000);
    mixed.extend((131_072..150_000).step_by(2));
    mixed.insert_range(200_000..200_100);
    mixed.optimize();
    vec![(0, mixed), (1, [7_u32].into_iter().collect())]
}

fn code(vector: &[u8]) -> &'static str {
    DeletionVector::parse(&blob(vector)).expect_err("a fault").code()
}

#[test]
fn the_vectors_of_the_spec_are_read() {
    let empty = DeletionVector::parse(&bytes(EMPTY)).unwrap();
    assert_eq!((empty.cardinality(), empty.max_position()), (0, None));
    let five = DeletionVector::parse(&bytes(FIVE)).unwrap();
    assert_eq!(five.positions().collect::<Vec<_>>(), [1, 3, 5, 7, 9]);
    let two = DeletionVector::parse(&bytes(TWO_CONTAINERS)).unwrap();
    assert_eq!(two.positions().collect::<Vec<_>>(), [100, 101, 2_147_483_747, 2_147_483_748]);
    assert_eq!((two.cardinality(), two.max_position()), (4, Some(2_147_483_748)));
}

#[test]
fn every_container_kind_and_64_bit_positions_are_read() {
    let vector = DeletionVector::parse(&blob(&vector(&rich()))).unwrap();
    assert_eq!(vector.cardinality(), 3 + 464 + 9464 + 100 + 1);
    assert_eq!(vector.max_position(), Some((1 << 32) + 7));
}

#[test]
fn empty_bitmaps_in_gaps_are_accepted() {
    let five: RoaringBitmap = [1_u32, 3].into_iter().collect();
    let gaps = vector(&[(0, five.clone()), (1, RoaringBitmap::new()), (2, five)]);
    let vector = DeletionVector::parse(&blob(&gaps)).unwrap();
    assert_eq!((vector.cardinality(), vector.bitmaps().count()), (4, 2));
}

#[test]
fn every_truncation_is_an_error() {
    for good in [bytes(EMPTY), bytes(FIVE), bytes(TWO_CONTAINERS), blob(&vector(&rich()))] {
        for length in 0..good.len() {
            assert!(DeletionVector::parse(&good[..length]).is_err(), "{length} of {} bytes", good.len());
        }
    }
}

#[test]
fn every_flipped_bit_is_an_error() {
    for good in [bytes(EMPTY), bytes(FIVE), bytes(TWO_CONTAINERS), blob(&vector(&rich()))] {
        for at in 0..good.len() {
            let mut broken = good.clone();
            broken[at] ^= 1 << (at % 8);
            assert!(DeletionVector::parse(&broken).is_err(), "byte {at}");
        }
    }
}

#[test]
fn a_truncated_vector_with_a_right_envelope_is_an_error() {
    for good in [bytes(FIVE), bytes(TWO_CONTAINERS), blob(&vector(&rich()))] {
        let inner = &good[8..good.len() - 4];
        for length in 8..inner.len() {
            assert!(DeletionVector::parse(&blob(&inner[..length])).is_err(), "{length} of {}", inner.len());
        }
    }
}

/// A changed byte behind a right CRC may still be a vector (another position), but what was a header is noticed:
/// the vector that is read prints back to the same bytes.
#[test]
fn what_is_accepted_behind_a_right_crc_is_what_the_bytes_say() {
    let good = vector(&rich());
    // Most of it is the content of a bitset, where one place is like another.
    let edges = (0..300).chain(good.len() - 150..good.len());
    for at in edges.chain((300..good.len() - 150).step_by(97)) {
        for bit in 0..8 {
            let mut changed = good.clone();
            changed[at] ^= 1 << bit;
            let padding_of_run_flags = at == 16 && bit >= 4;
            if padding_of_run_flags {
                continue; // means nothing to any reader
            }
            if let Ok(read) = DeletionVector::parse(&blob(&changed)) {
                let bitmaps: Vec<_> = read.bitmaps().map(|(key, bitmap)| (key, bitmap.clone())).collect();
                assert!(vector(&bitmaps) == changed, "bit {bit} of byte {at}");
            }
        }
    }
}

#[test]
fn envelope_faults_have_their_names() {
    let good = bytes(FIVE);
    let broken = |at: usize, with: &[u8]| {
        let mut broken = good.clone();
        broken[at..at + with.len()].copy_from_slice(with);
        DeletionVector::parse(&broken).unwrap_err().code()
    };
    assert_eq!(DeletionVector::parse(&good[..19]).unwrap_err().code(), "dv-too-short");
    assert_eq!(broken(0, &[0x2a, 0, 0, 0]), "dv-length");
    assert_eq!(broken(0, &[0, 0, 0, 0x2b]), "dv-length");
    assert_eq!(broken(4, &[0xd2]), "dv-magic");
    assert_eq!(broken(46, &[0xbe, 0x20, 0xfb, 0xb3]), "dv-crc");
    assert_eq!(broken(40, &[8]), "dv-crc");
}

#[test]
fn directory_faults_have_their_names() {
    let one: RoaringBitmap = [1_u32].into_iter().collect();
    let inner = |bitmaps: &[(u32, RoaringBitmap)]| vector(bitmaps);
    let counted = |count: u64| {
        let mut vector = inner(&[(0, [1_u32, 3, 5, 7, 9].into_iter().collect())]);
        vector[..8].copy_from_slice(&count.to_le_bytes());
        vector
    };
    assert_eq!(code(&counted(0)), "bitmap-trailing-bytes");
    assert_eq!(code(&counted(2)), "bitmap-truncated");
    assert_eq!(code(&counted((1 << 31) - 1)), "bitmap-count");
    assert_eq!(code(&counted(u64::MAX)), "bitmap-count");
    assert_eq!(code(&inner(&[(1, one.clone()), (0, one.clone())])), "bitmap-key-order");
    assert_eq!(code(&inner(&[(0, one.clone()), (0, one.clone())])), "bitmap-key-order");
    assert_eq!(code(&inner(&[(HIGHEST_KEY + 1, one.clone())])), "bitmap-key-range");
    assert_eq!(code(&inner(&[(u32::MAX, one.clone())])), "bitmap-key-range");
    assert!(DeletionVector::parse(&blob(&inner(&[(HIGHEST_KEY, one.clone())]))).is_ok());
    let mut more = inner(&[(0, one.clone())]);
    more.extend([0; 3]);
    assert_eq!(code(&more), "bitmap-trailing-bytes");
}

/// One bitmap under key 0, written by hand.
fn bitmap_code(parts: &[&[u16]]) -> &'static str {
    let words = parts.concat();
    let mut vector = 1_u64.to_le_bytes().to_vec();
    vector.extend([0; 4]);
    vector.extend(words.iter().flat_map(|word| word.to_le_bytes()));
    code(&vector)
}

const ARRAYS: [u16; 2] = [12_346, 0];

#[test]
fn container_faults_have_their_names() {
    assert_eq!(bitmap_code(&[&[12_345, 0, 0, 0]]), "bitmap-cookie");
    assert_eq!(bitmap_code(&[&ARRAYS, &[1, 1]]), "bitmap-container-count");
    let two = [2, 0, /* key, card - 1 */ 1, 0, 0, 0, /* offsets */ 24, 0, 26, 0, /* values */ 5, 5];
    assert_eq!(bitmap_code(&[&ARRAYS, &two]), "bitmap-container-order");
    assert_eq!(bitmap_code(&[&ARRAYS, &[1, 0, 0, 0, 17, 0, 5]]), "bitmap-offsets");
    assert_eq!(bitmap_code(&[&ARRAYS, &[1, 0, 0, 1, 16, 0, 5, 5]]), "bitmap-array-order");
    assert_eq!(bitmap_code(&[&ARRAYS, &[1, 0, 0, 1, 16, 0, 5, 4]]), "bitmap-array-order");
    assert_eq!(bitmap_code(&[&ARRAYS, &[1, 0, 0, 2, 16, 0, 5, 6]]), "bitmap-truncated");
    assert_eq!(bitmap_code(&[&ARRAYS, &[1, 0, 0, 4096, 16, 0], &[0; 4096]]), "bitmap-bitset-cardinality");
}

#[test]
fn run_faults_have_their_names() {
    // cookie with runs, one container; the flag byte is followed by one padding byte, so words do not fit: by bytes.
    let runs = |cardinality: u16, pairs: &[(u16, u16)], count: u16| {
        let mut vector = 1_u64.to_le_bytes().to_vec();
        vector.extend([0; 4]);
        vector.extend(12_347_u32.to_le_bytes());
        vector.push(1);
        for word in [0, cardinality.wrapping_sub(1), count] {
            vector.extend(word.to_le_bytes());
        }
        for (start, more) in pairs {
            vector.extend(start.to_le_bytes());
            vector.extend(more.to_le_bytes());
        }
        vector
    };
    assert!(DeletionVector::parse(&blob(&runs(6, &[(1, 2), (10, 2)], 2))).is_ok());
    assert!(DeletionVector::parse(&blob(&runs(0, &[(0, 65_535)], 1))).is_ok());
    assert_eq!(code(&runs(1, &[], 0)), "bitmap-run");
    assert_eq!(code(&runs(6, &[(10, 2), (1, 2)], 2)), "bitmap-run");
    assert_eq!(code(&runs(6, &[(1, 2), (3, 2)], 2)), "bitmap-run");
    assert_eq!(code(&runs(6, &[(1, 2), (4, 2)], 2)), "bitmap-run");
    assert_eq!(code(&runs(1001, &[(65_000, 1000)], 1)), "bitmap-run");
    assert_eq!(code(&runs(5, &[(1, 2), (10, 2)], 2)), "bitmap-run");
    assert_eq!(code(&runs(6, &[(1, 2)], 65_535)), "bitmap-truncated");
}

#[test]
fn faults_say_where_they_are() {
    let one: RoaringBitmap = [1_u32].into_iter().collect();
    let fault = DeletionVector::parse(&blob(&vector(&[(1, one.clone()), (0, one)]))).unwrap_err();
    assert_eq!(fault.to_string(), "bitmap-key-order at byte 38: expected a key above 1, found 0");
}

fn high(position: u64) -> u32 {
    u32::try_from(position >> 32).unwrap()
}

fn low(position: u64) -> u32 {
    u32::try_from(position & 0xffff_ffff).unwrap()
}

#[test]
fn a_superset_misses_nothing() {
    let of = |positions: &[u64]| {
        let mut by_key = std::collections::BTreeMap::<u32, RoaringBitmap>::new();
        for position in positions {
            by_key.entry(high(*position)).or_default().insert(low(*position));
        }
        DeletionVector::parse(&blob(&vector(&by_key.into_iter().collect::<Vec<_>>()))).unwrap()
    };
    let old = of(&[3, 900_000, (1 << 32) + 5]);
    assert!(of(&[3, 4, 900_000, (1 << 32) + 5]).contains_all(&old));
    let new = of(&[3, 4, (1 << 33) + 5]);
    assert_eq!((new.missing_from(&old), new.first_missing_from(&old)), (2, Some(900_000)));
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic(vector in proptest::collection::vec(any::<u8>(), 0..400)) {
        let _ = DeletionVector::parse(&vector);
        let _ = DeletionVector::parse(&blob(&vector));
    }

    #[test]
    fn no_bytes_after_a_cookie_make_it_panic(runs in any::<bool>(), tail in proptest::collection::vec(0_u8..6, 0..300)) {
        let mut vector = vec![1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, if runs { 0x3b } else { 0x3a }, 0x30];
        vector.extend(tail);
        let _ = DeletionVector::parse(&blob(&vector));
    }

    #[test]
    fn what_roaring_writes_is_read_back(values in proptest::collection::btree_set(any::<u32>(), 0..2000)) {
        let mut bitmap: RoaringBitmap = values.iter().copied().collect();
        bitmap.optimize();
        let read = DeletionVector::parse(&blob(&vector(&[(3, bitmap)]))).unwrap();
        prop_assert!(read.positions().map(low).eq(values));
    }
}

/// Whether `roaring` takes the inside of an envelope for the same positions as we do: what we read it reads alike, and
/// what it reads and writes back to the very same bytes we read too, unless a key is higher than readers take.
fn agrees_with_roaring(inside: &[u8]) -> Result<(), String> {
    let theirs = RoaringTreemap::deserialize_from(inside);
    match (DeletionVector::parse(&blob(inside)), theirs) {
        (Ok(_), Err(fault)) => Err(format!("we read what roaring does not: {fault}")),
        (Ok(ours), Ok(theirs)) => {
            let theirs: BTreeMap<_, _> = theirs.bitmaps().filter(|(_, bitmap)| !bitmap.is_empty()).collect();
            if ours.bitmaps().eq(theirs) { Ok(()) } else { Err("other positions".to_owned()) }
        }
        (Err(fault), Ok(theirs)) => {
            let mut written = Vec::new();
            theirs.serialize_into(&mut written).unwrap();
            let unlike = written != inside || theirs.bitmaps().any(|(key, _)| key > HIGHEST_KEY);
            if unlike { Ok(()) } else { Err(format!("roaring writes what we do not read: {fault}")) }
        }
        (Err(_), Err(_)) => Ok(()),
    }
}

proptest! {
    #[test]
    fn roaring_agrees_on_what_is_valid(
        values in proptest::collection::btree_set(0_u32..400_000, 0..600),
        range in proptest::option::of((0_u32..200_000, 1_u32..70_000)),
        keys in proptest::collection::vec(any::<u32>().prop_map(|key| key & 0x8000_0003), 1..3),
        runs in any::<bool>(),
        changes in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>()), 0..4),
    ) {
        let mut bitmap: RoaringBitmap = values.into_iter().collect();
        if let Some((first, length)) = range {
            bitmap.insert_range(first..first + length);
        }
        if runs {
            bitmap.optimize();
        }
        let bitmaps: Vec<_> = keys.into_iter().map(|key| (key, bitmap.clone())).collect();
        let mut inside = vector(&bitmaps);
        // Where all but the first few hundred bytes are alike, changes go to those.
        for (place, with) in changes {
            let at = place.index(inside.len().min(300));
            inside[at] ^= with;
        }
        prop_assert_eq!(agrees_with_roaring(&inside), Ok(()));
    }
}

/// The Puffin files of the fixture tables, which are good, and small enough to be broken at every byte.
fn puffin_files() -> Vec<PathBuf> {
    fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let good = !path.ends_with("corrupt") && !path.ends_with("duckdb153_bad");
            if path.is_dir() && good {
                collect(&path, files);
            } else if path.extension().is_some_and(|extension| extension == "puffin")
                && path.metadata().unwrap().len() < 1500
            {
                files.push(path);
            }
        }
    }
    let mut files = Vec::new();
    collect(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/fixtures")), &mut files);
    files
}

/// Reads a Puffin file as a commit's validation does: head, footer, each vector.
fn read_all(file: &[u8]) -> Result<usize, String> {
    puffin::check_head(file).map_err(|fault| fault.to_string())?;
    let footer = puffin::footer(file, file.len() as u64).map_err(|fault| fault.to_string())?;
    for at in &footer.blobs {
        let range = usize::try_from(at.offset).unwrap()..usize::try_from(at.offset + at.length).unwrap();
        let bytes = file.get(range).ok_or("a blob outside of the file")?;
        DeletionVector::parse(bytes).map_err(|fault| fault.to_string())?;
    }
    Ok(footer.blobs.len())
}

#[test]
fn real_puffin_files_are_read_and_no_cut_or_changed_byte_passes() {
    let files = puffin_files();
    assert!(files.len() > 10, "{}", files.len());
    for path in files {
        let good = fs::read(&path).unwrap();
        assert!(read_all(&good).unwrap() > 0, "{path:?}");
        for length in 0..good.len() {
            assert!(read_all(&good[..length]).is_err(), "{path:?}: {length} bytes");
        }
        let footer = puffin::footer_length(&good, good.len() as u64).unwrap();
        let json = good.len() - usize::try_from(footer).unwrap() + 4..good.len() - 12;
        for at in (0..good.len()).filter(|at| !json.contains(at)) {
            let mut changed = good.clone();
            changed[at] ^= 1 << (at % 8);
            assert!(read_all(&changed).is_err(), "{path:?}: byte {at}");
        }
    }
}

#[test]
fn the_shape_of_a_vector_is_told() {
    let (vector, bitmaps) = DeletionVector::parse_with_shape(&blob(&vector(&rich()))).unwrap();
    assert_eq!(bitmaps.iter().map(|bitmap| bitmap.key).collect::<Vec<_>>(), [0, 1]);
    let kinds: Vec<_> = bitmaps[0].containers.iter().map(|container| container.kind).collect();
    let expected = [ContainerKind::Array, ContainerKind::Run(1), ContainerKind::Bitmap, ContainerKind::Run(1)];
    assert_eq!(kinds, expected);
    let all = bitmaps.iter().flat_map(|bitmap| &bitmap.containers);
    assert_eq!(all.map(|container| u64::from(container.cardinality)).sum::<u64>(), vector.cardinality());
    assert!(DeletionVector::parse_with_shape(&bytes(EMPTY)).unwrap().1.is_empty());
    assert_eq!(DeletionVector::parse_with_shape(b"").unwrap_err().code(), "dv-too-short");
}
