//! A deletion vector: as it is, and as the inside of an envelope that is right.
#![no_main]

use std::collections::BTreeMap;

use guillemot_fuzz::dv::{DeletionVector, HIGHEST_KEY};
use guillemot_fuzz::limits;
use roaring::{RoaringBitmap, RoaringTreemap};

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    limits::hold(input, 200, |blob| drop(DeletionVector::parse_with_shape(blob)));
    // A checksum stops nearly every changed byte, so the inside gets a right one.
    let inside = input.get(8..input.len().saturating_sub(4)).unwrap_or(input);
    let blob = enveloped(inside);
    let Ok(ours) = limited(&blob) else { return refused(inside) };
    let bitmaps: BTreeMap<u32, RoaringBitmap> = ours.bitmaps().map(|(key, bitmap)| (key, bitmap.clone())).collect();
    let theirs = RoaringTreemap::deserialize_from(inside).expect("roaring reads what we accept");
    let theirs: BTreeMap<_, _> = theirs.bitmaps().filter(|(_, bitmap)| !bitmap.is_empty()).collect();
    assert!(theirs.into_iter().eq(bitmaps.iter().map(|(key, bitmap)| (*key, bitmap))), "other positions");
    assert_eq!(ours.cardinality(), bitmaps.values().map(RoaringBitmap::len).sum::<u64>());
});

fn limited(blob: &[u8]) -> Result<DeletionVector, ()> {
    let mut read = Err(());
    limits::hold(blob, 200, |blob| read = DeletionVector::parse(blob).map_err(drop));
    read
}

/// What roaring reads and writes back to the same bytes is a vector, as long as its keys are.
fn refused(inside: &[u8]) {
    let Ok(theirs) = RoaringTreemap::deserialize_from(inside) else { return };
    if theirs.bitmaps().any(|(key, _)| key > HIGHEST_KEY) {
        return;
    }
    let mut written = Vec::new();
    theirs.serialize_into(&mut written).expect("memory takes all");
    assert!(written != inside, "roaring writes what we refuse");
}

fn enveloped(inside: &[u8]) -> Vec<u8> {
    let body = [&[0xd1, 0xd3, 0x39, 0x64], inside].concat();
    let length = u32::try_from(body.len()).expect("inputs are small").to_be_bytes();
    [&length[..], &body, &crc32fast::hash(&body).to_be_bytes()].concat()
}
