//! Avro object container files: header, blocks, sync marks.

use super::codec::Codec;
use super::cursor::{Cursor, Fault};
use super::schema::Type;
use super::{Limits, Metadata, ParseError};

const MAGIC: &[u8; 4] = b"Obj\x01";
const SYNC_BYTES: usize = 16;
/// However small a file is, it may hold this many rows.
const ROWS_OF_ANY_FILE: usize = 4000;
/// The most bytes that a byte of a file may become: what deflate reaches. Zstandard could make 32,000 of one, but no
/// writer's rows, each with a path of its own, come near either.
const MOST_EXPANSION: usize = 1032;
/// The most times that reading one file may look at a field: a second or so.
const MOST_FIELD_VISITS: usize = 200_000_000;

/// An opened file: what its header says, and where its blocks begin.
#[derive(Debug)]
pub(super) struct Container<'a> {
    pub(super) metadata: Metadata,
    pub(super) schema: Type,
    /// Where the text of the schema stands in the file, for messages about it.
    pub(super) header_offset: usize,
    codec: Codec,
    sync: &'a [u8],
    bytes: &'a [u8],
    blocks_start: usize,
}

impl<'a> Container<'a> {
    /// Reads the header.
    pub(super) fn open(bytes: &'a [u8]) -> Result<Self, ParseError> {
        let mut cursor = Cursor::new(bytes);
        let magic = cursor.take(MAGIC.len()).map_err(|fault| at(&cursor, fault))?;
        if magic != MAGIC {
            return Err(ParseError::new(0, "an Avro file (4f 62 6a 01)", hex(magic)));
        }
        let metadata = header(&mut cursor).map_err(|fault| at(&cursor, fault))?;
        let sync = cursor.take(SYNC_BYTES).map_err(|fault| at(&cursor, fault))?;
        let named = metadata.get("avro.codec").map_or("null", String::as_str);
        let codec = Codec::parse(named)
            .ok_or_else(|| ParseError::new(4, "an Avro codec (null, deflate, zstandard, snappy)", named))?;
        let text = metadata.get("avro.schema").ok_or_else(|| ParseError::new(4, "an Avro schema", "none"))?;
        let schema = Type::parse(text).map_err(|found| ParseError::new(4, "an Avro schema", found))?;
        Ok(Self { metadata, schema, header_offset: MAGIC.len(), codec, sync, bytes, blocks_start: cursor.position() })
    }

    /// Calls `row` for each record of each block; it must read the record to its end.
    pub(super) fn rows(
        &self,
        limits: Limits,
        mut row: impl FnMut(&mut Cursor<'_>) -> Result<(), Fault>,
    ) -> Result<(), ParseError> {
        let mut file = Cursor::new(self.bytes.get(self.blocks_start..).unwrap_or_default());
        let mut content = Vec::new();
        let most_rows = self.most_rows(limits);
        let mut rows_left = most_rows;
        let mut bytes_left = limits.decompressed_bytes.min(MOST_EXPANSION.saturating_mul(self.bytes.len()));
        while file.remaining() > 0 {
            let start = self.blocks_start + file.position();
            let (count, block) = self.block(&mut file)?;
            self.codec
                .decompress(block, bytes_left, &mut content)
                .map_err(|found| ParseError::new(start, format!("a {:?} block", self.codec).to_lowercase(), found))?;
            bytes_left -= content.len();
            let count = usize::try_from(count).ok().filter(|count| *count <= content.len());
            let Some(count) = count else {
                return Err(ParseError::new(start, "a row count that fits the block", "more rows than bytes"));
            };
            let Some(left) = rows_left.checked_sub(count) else {
                return Err(ParseError::new(start, format!("at most {most_rows} rows"), "more"));
            };
            rows_left = left;
            read_rows(&content, count, &mut row)
                .map_err(|fault| ParseError::new(start, fault.expected, fault.found))?;
        }
        Ok(())
    }

    /// The most rows this file may hold. A row becomes some hundred bytes in memory; one for each byte of the file is
    /// more than any writer reaches, and keeps a bomb of ten kilobytes from becoming gigabytes. Fields of type null
    /// take time but no bytes, so a schema full of them may have fewer rows.
    fn most_rows(&self, limits: Limits) -> usize {
        limits.rows.min(self.bytes.len().max(ROWS_OF_ANY_FILE)).min(MOST_FIELD_VISITS / self.schema.types())
    }

    fn block(&self, file: &mut Cursor<'a>) -> Result<(i64, &'a [u8]), ParseError> {
        let start = self.blocks_start + file.position();
        let wrong = |fault: Fault| ParseError::new(start, fault.expected, fault.found);
        let count = file.long().map_err(wrong)?;
        let block = file.bytes().map_err(wrong)?;
        let sync_at = self.blocks_start + file.position();
        let sync = file.take(SYNC_BYTES).map_err(|fault| ParseError::new(sync_at, fault.expected, fault.found))?;
        if sync != self.sync {
            return Err(ParseError::new(sync_at, format!("the sync mark {}", hex(self.sync)), hex(sync)));
        }
        Ok((count, block))
    }
}

fn read_rows(
    content: &[u8],
    count: usize,
    row: &mut impl FnMut(&mut Cursor<'_>) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let mut cursor = Cursor::new(content);
    for index in 0..count {
        row(&mut cursor).map_err(|fault| {
            let place = format!("in row {index} of the block, byte {} of its content", cursor.position());
            Fault { expected: fault.expected, found: format!("{} ({place})", fault.found) }
        })?;
    }
    match cursor.remaining() {
        0 => Ok(()),
        more => Err(Fault::new(format!("{count} rows to fill the block"), format!("{more} bytes after them"))),
    }
}

fn header(cursor: &mut Cursor<'_>) -> Result<Metadata, Fault> {
    let mut metadata = Metadata::new();
    loop {
        let count = cursor.long()?;
        if count == 0 {
            return Ok(metadata);
        }
        if count < 0 {
            cursor.long()?; // the size of the pairs in bytes
        }
        for _ in 0..count.unsigned_abs() {
            let key = String::from_utf8_lossy(cursor.bytes()?).into_owned();
            let value = String::from_utf8_lossy(cursor.bytes()?).into_owned();
            metadata.insert(key, value);
        }
    }
}

fn at(cursor: &Cursor<'_>, fault: Fault) -> ParseError {
    ParseError::new(cursor.position(), fault.expected, fault.found)
}

/// At most 16 bytes as hex.
pub(super) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    let mut text = String::with_capacity(2 * SYNC_BYTES);
    for byte in bytes.iter().take(SYNC_BYTES) {
        // Writing into a String cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}
