//! How a vector is laid out, for people who look into a file.

use super::{DIRECTORY_START, DeletionVector, ParseError, envelope, key, walk};

/// One 32-bit bitmap of a vector.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BitmapShape {
    /// The upper 32 bits of its positions.
    pub key: u32,
    /// Its containers, in ascending order of their keys.
    pub containers: Vec<ContainerShape>,
}

/// One container of a bitmap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContainerShape {
    /// Bits 16 to 31 of its positions.
    pub key: u32,
    /// How it is stored.
    pub kind: ContainerKind,
    /// How many positions it has.
    pub cardinality: u32,
    /// Where it starts, in bytes from the start of the blob.
    pub offset: u64,
}

/// How a container stores its positions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ContainerKind {
    /// As a list.
    Array,
    /// As 65,536 bits.
    Bitmap,
    /// As so many runs.
    Run(u32),
}

impl DeletionVector {
    /// Reads and checks a blob as [`DeletionVector::parse`] does, and answers how it is laid out besides.
    pub fn parse_with_shape(blob: &[u8]) -> Result<(Self, Vec<BitmapShape>), ParseError> {
        let vector = Self::parse(blob)?;
        let end = blob.len().saturating_sub(4);
        let mut at = DIRECTORY_START;
        let mut previous = None;
        let mut bitmaps = Vec::new();
        for _ in 0..envelope(blob)? {
            let key = key(blob, end, at, previous)?;
            previous = Some(key);
            let (containers, next) = walk::containers(blob, at + 4, end)?;
            at = next;
            bitmaps.push(BitmapShape { key, containers });
        }
        Ok((vector, bitmaps))
    }
}
