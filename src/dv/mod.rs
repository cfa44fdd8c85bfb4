//! Deletion vectors: the blob `deletion-vector-v1` (puffin-spec: "`deletion-vector-v1` blob type").
//!
//! ```text
//! length of magic + vector, u32 BE | D1 D3 39 64 | number of bitmaps, u64 LE
//!   | (key, u32 LE | 32-bit Roaring bitmap, portable format) per bitmap | CRC-32 of magic + vector, BE
//! ```
//!
//! Readers of deletion vectors differ in what they notice, so this one notices everything: the directory of bitmaps
//! and the headers of each bitmap are walked here (counts, order of keys, offsets, cardinalities, exact consumption),
//! and the containers are decoded by `roaring`'s checked reader. Only then is a vector accepted.

mod shape;
#[cfg(test)]
mod tests;
mod walk;

use roaring::RoaringBitmap;
use smallvec::SmallVec;

pub use shape::{BitmapShape, ContainerKind, ContainerShape};

/// The smallest vector: length, magic, a count of 0, CRC.
pub const SMALLEST_BYTES: u64 = 20;
/// The highest key (upper 32 bits of a position) that Iceberg's readers take: 2^31 - 2.
pub const HIGHEST_KEY: u32 = 0x7fff_fffe;

const MAGIC: [u8; 4] = [0xd1, 0xd3, 0x39, 0x64];
/// Length, magic and count: where the first bitmap's key stands.
const DIRECTORY_START: usize = 16;
/// A key and an empty bitmap: what the smallest entry of the directory takes.
const SMALLEST_ENTRY_BYTES: u64 = 12;

/// The positions that a deletion vector deletes.
#[derive(Debug, Clone, PartialEq)]
pub struct DeletionVector {
    /// Bitmaps that hold something, by the upper 32 bits of their positions, ascending.
    /// Nearly all vectors have one, which needs no room of its own.
    bitmaps: SmallVec<[(u32, RoaringBitmap); 1]>,
    cardinality: u64,
}

/// Why a blob is no deletion vector.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{code} at byte {offset}: expected {expected}, found {found}")]
pub struct ParseError {
    code: &'static str,
    /// Byte offset in the blob.
    pub offset: u64,
    /// What must be there.
    pub expected: String,
    /// What is there instead.
    pub found: String,
}

impl ParseError {
    #[cold]
    fn new(code: &'static str, offset: usize, expected: impl Into<String>, found: impl Into<String>) -> Self {
        Self { code, offset: offset as u64, expected: expected.into(), found: found.into() }
    }

    /// The id of the rule that the blob breaks (`dv-crc`, `bitmap-key-order`, ...).
    pub fn code(&self) -> &'static str {
        self.code
    }
}

impl DeletionVector {
    /// Reads and checks a blob. Takes memory for a small multiple of its bytes, whatever they say.
    pub fn parse(blob: &[u8]) -> Result<Self, ParseError> {
        let count = envelope(blob)?;
        let end = blob.len() - 4;
        let mut bitmaps = SmallVec::new();
        let mut cardinality = 0;
        let mut previous = None;
        let mut at = DIRECTORY_START;
        for _ in 0..count {
            let key = key(blob, end, at, previous)?;
            previous = Some(key);
            let (bitmap, next) = walk::bitmap(blob, at + 4, end)?;
            at = next;
            cardinality += bitmap.len();
            // Writers fill gaps between keys with empty bitmaps; they say nothing.
            if !bitmap.is_empty() {
                bitmaps.push((key, bitmap));
            }
        }
        if at != end {
            let expected = format!("the end of the vector after {count} bitmaps");
            return Err(ParseError::new("bitmap-trailing-bytes", at, expected, format!("{} more bytes", end - at)));
        }
        Ok(Self { bitmaps, cardinality })
    }

    /// The number of positions.
    pub fn cardinality(&self) -> u64 {
        self.cardinality
    }

    /// The highest position, none if the vector deletes nothing.
    pub fn max_position(&self) -> Option<u64> {
        let (key, bitmap) = self.bitmaps.last()?;
        Some(u64::from(*key) << 32 | u64::from(bitmap.max()?))
    }

    /// The 32-bit bitmaps that hold something, with the upper 32 bits of their positions, in ascending order.
    pub fn bitmaps(&self) -> impl Iterator<Item = (u32, &RoaringBitmap)> {
        self.bitmaps.iter().map(|(key, bitmap)| (*key, bitmap))
    }

    /// All positions, ascending.
    pub fn positions(&self) -> impl Iterator<Item = u64> {
        self.bitmaps().flat_map(|(key, bitmap)| bitmap.iter().map(move |low| u64::from(key) << 32 | u64::from(low)))
    }

    /// How many positions of `other` this vector lacks.
    pub fn missing_from(&self, other: &Self) -> u64 {
        self.lost(other).map(|(_, theirs, ours)| ours.map_or(theirs.len(), |ours| theirs.difference_len(ours))).sum()
    }

    /// The lowest position of `other` that this vector lacks.
    pub fn first_missing_from(&self, other: &Self) -> Option<u64> {
        self.lost(other).find_map(|(key, theirs, ours)| {
            let low = match ours {
                Some(ours) => (theirs - ours).min(),
                None => theirs.min(),
            };
            low.map(|low| u64::from(key) << 32 | u64::from(low))
        })
    }

    /// Whether every position of `other` is one of this vector's.
    pub fn contains_all(&self, other: &Self) -> bool {
        self.missing_from(other) == 0
    }

    /// Each bitmap of `other` with ours of the same key.
    fn lost<'a>(
        &'a self,
        other: &'a Self,
    ) -> impl Iterator<Item = (u32, &'a RoaringBitmap, Option<&'a RoaringBitmap>)> {
        other.bitmaps().map(|(key, theirs)| {
            let found = self.bitmaps.binary_search_by_key(&key, |(key, _)| *key).ok();
            (key, theirs, found.and_then(|at| self.bitmaps.get(at)).map(|(_, ours)| ours))
        })
    }
}

/// Checks length, magic and CRC, in this order; answers the number of bitmaps, which the bytes can hold.
fn envelope(blob: &[u8]) -> Result<u64, ParseError> {
    let (Some((length, body)), true) = (blob.split_first_chunk::<4>(), blob.len() as u64 >= SMALLEST_BYTES) else {
        let expected = format!("a blob of at least {SMALLEST_BYTES} bytes");
        return Err(ParseError::new("dv-too-short", 0, expected, format!("{} bytes", blob.len())));
    };
    let declared = u64::from(u32::from_be_bytes(*length));
    let actual = blob.len() as u64 - 8;
    if declared != actual {
        let expected = format!("length {actual} (the blob's {} bytes less 8), big-endian", blob.len());
        return Err(ParseError::new("dv-length", 0, expected, declared.to_string()));
    }
    let (Some((vector, crc)), Some(magic)) = (body.split_last_chunk::<4>(), body.first_chunk::<4>()) else {
        return Err(ParseError::new("dv-too-short", 0, "magic and CRC", "less"));
    };
    if *magic != MAGIC {
        let [a, b, c, d] = *magic;
        return Err(ParseError::new("dv-magic", 4, "d1 d3 39 64", format!("{a:02x} {b:02x} {c:02x} {d:02x}")));
    }
    let (actual, stored) = (crc32fast::hash(vector), u32::from_be_bytes(*crc));
    if actual != stored {
        let expected = format!("CRC-32 {actual:08x} of bytes 4..{}, big-endian", blob.len() - 4);
        return Err(ParseError::new("dv-crc", blob.len() - 4, expected, format!("{stored:08x}")));
    }
    let count = vector.get(4..).and_then(|rest| rest.first_chunk()).map_or(0, |count| u64::from_le_bytes(*count));
    let most = (blob.len() - 4 - DIRECTORY_START) as u64 / SMALLEST_ENTRY_BYTES;
    if count > most {
        let expected = format!("at most {most} bitmaps in a blob of {} bytes", blob.len());
        return Err(ParseError::new("bitmap-count", 8, expected, count.to_string()));
    }
    Ok(count)
}

/// The key at `at`: ascending, and within what readers take.
fn key(blob: &[u8], end: usize, at: usize, previous: Option<u32>) -> Result<u32, ParseError> {
    let key = walk::u32_at(blob, at, end, "a bitmap's key")?;
    if let Some(previous) = previous
        && key <= previous
    {
        return Err(ParseError::new("bitmap-key-order", at, format!("a key above {previous}"), key.to_string()));
    }
    if key > HIGHEST_KEY {
        return Err(ParseError::new(
            "bitmap-key-range",
            at,
            format!("a key of at most {HIGHEST_KEY}"),
            key.to_string(),
        ));
    }
    Ok(key)
}
