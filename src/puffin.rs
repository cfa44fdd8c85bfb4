//! Puffin files: the footer that says which blobs a file holds (puffin-spec: "File structure", "Footer structure").
//!
//! ```text
//! "PFA1" | blobs | "PFA1" | payload (JSON) | payload size, i32 LE | flags, 4 bytes | "PFA1"
//! ```
//!
//! A file is read from its end: [`footer_length`] needs the last [`TRAILER_BYTES`] bytes and says how many more to
//! fetch, [`footer`] reads them. Nothing is allocated by what a length says before it is compared with the file's size.

use std::collections::BTreeMap;

use serde::Deserialize;

/// The magic at both ends of the file and before the footer's payload.
pub const MAGIC: &[u8; 4] = b"PFA1";
/// Payload size, flags and magic: the end of every file.
pub const TRAILER_BYTES: u64 = 12;
/// The smallest footer: magic, an empty payload, trailer.
pub const SMALLEST_FOOTER_BYTES: u64 = 4 + TRAILER_BYTES;
/// The largest payload that is read. A deletion vector takes some 250 bytes of it.
pub const LARGEST_PAYLOAD_BYTES: u64 = 16 << 20;
/// The blob type of deletion vectors.
pub const DELETION_VECTOR_V1: &str = "deletion-vector-v1";

const FLAG_COMPRESSED: u32 = 1;

/// What the footer says.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Footer {
    /// The blobs, in the footer's order.
    pub blobs: Vec<Blob>,
    /// Free key-value pairs about the file (`created-by`).
    #[serde(default)]
    pub properties: BTreeMap<String, String>,
}

/// A blob, as the footer describes it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Blob {
    /// What the bytes mean, such as [`DELETION_VECTOR_V1`].
    #[serde(rename = "type")]
    pub blob_type: String,
    /// Ids of the fields the blob was computed for.
    pub fields: Vec<i32>,
    /// The snapshot it was computed from; -1 for deletion vectors.
    pub snapshot_id: i64,
    /// Sequence number of that snapshot; -1 for deletion vectors.
    pub sequence_number: i64,
    /// Where the blob starts, in bytes from the start of the file.
    pub offset: i64,
    /// Its length in bytes.
    pub length: i64,
    /// How it is compressed; none if it is not.
    #[serde(default)]
    pub compression_codec: Option<String>,
    /// Free key-value pairs about the blob (`referenced-data-file`, `cardinality`).
    #[serde(default)]
    pub properties: BTreeMap<String, String>,
}

/// Why a file is no Puffin file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{code} at byte {offset}: expected {expected}, found {found}")]
pub struct ParseError {
    code: &'static str,
    /// Byte offset in the file.
    pub offset: u64,
    /// What must be there.
    pub expected: String,
    /// What is there instead.
    pub found: String,
}

impl ParseError {
    fn new(code: &'static str, offset: u64, expected: impl Into<String>, found: impl Into<String>) -> Self {
        Self { code, offset, expected: expected.into(), found: found.into() }
    }

    /// The id of the rule that the file breaks (`puffin-tail-magic`, ...).
    pub fn code(&self) -> &'static str {
        self.code
    }
}

/// Checks the first bytes of a file.
pub fn check_head(head: &[u8]) -> Result<(), ParseError> {
    check_magic("puffin-head-magic", 0, head.first_chunk())
}

/// The length in bytes of the whole footer, both magics included. `tail` is the end of a file of `file_size` bytes,
/// at least its last [`TRAILER_BYTES`].
pub fn footer_length(tail: &[u8], file_size: u64) -> Result<u64, ParseError> {
    let least = 4 + SMALLEST_FOOTER_BYTES;
    let (Some(trailer), true) = (tail.last_chunk::<12>(), file_size >= least) else {
        let expected = format!("a file of at least {least} bytes");
        return Err(ParseError::new("puffin-too-short", 0, expected, format!("{file_size} bytes")));
    };
    let [s0, s1, s2, s3, f0, f1, f2, f3, magic @ ..] = *trailer;
    check_magic("puffin-tail-magic", file_size - 4, Some(&magic))?;
    check_flags(u32::from_le_bytes([f0, f1, f2, f3]), file_size - 8)?;
    let size = i32::from_le_bytes([s0, s1, s2, s3]);
    let room = (file_size - least).min(LARGEST_PAYLOAD_BYTES);
    match u64::try_from(size) {
        Ok(size) if size <= room => Ok(SMALLEST_FOOTER_BYTES + size),
        _ => {
            let expected = format!("a payload size between 0 and {room}");
            Err(ParseError::new("puffin-footer-size", file_size - TRAILER_BYTES, expected, size.to_string()))
        }
    }
}

/// Reads the footer from `tail`, the end of a file of `file_size` bytes, which holds it all ([`footer_length`]).
pub fn footer(tail: &[u8], file_size: u64) -> Result<Footer, ParseError> {
    let length = footer_length(tail, file_size)?;
    let start = file_size - length;
    let footer = usize::try_from(length).ok().and_then(|length| tail.len().checked_sub(length));
    let footer = footer.and_then(|skip| tail.get(skip..)).ok_or_else(|| {
        ParseError::new("puffin-footer-size", start, format!("{length} bytes of footer"), format!("{}", tail.len()))
    })?;
    check_magic("puffin-footer-magic", start, footer.first_chunk())?;
    let payload = footer.get(MAGIC.len()..footer.len().saturating_sub(12)).unwrap_or_default();
    payload_json(payload, start + MAGIC.len() as u64)
}

fn payload_json(payload: &[u8], start: u64) -> Result<Footer, ParseError> {
    let expected = "the footer's JSON as the Puffin spec has it";
    let text = std::str::from_utf8(payload).map_err(|fault| {
        let offset = start + fault.valid_up_to() as u64;
        ParseError::new("puffin-footer-json", offset, "UTF-8 text", fault.to_string())
    })?;
    if !text.trim_start().starts_with('{') {
        return Err(ParseError::new("puffin-footer-json", start, expected, "no JSON object"));
    }
    serde_json::from_str(text).map_err(|fault| {
        let line_start = text.split_inclusive('\n').take(fault.line().saturating_sub(1)).map(str::len).sum::<usize>();
        let offset = start + (line_start + fault.column().saturating_sub(1)) as u64;
        ParseError::new("puffin-footer-json", offset, expected, fault.to_string())
    })
}

fn check_flags(flags: u32, offset: u64) -> Result<(), ParseError> {
    if flags & !FLAG_COMPRESSED != 0 {
        return Err(ParseError::new("puffin-footer-flags", offset, "reserved flags of 0", format!("{flags:#010x}")));
    }
    if flags & FLAG_COMPRESSED != 0 {
        let expected = "an uncompressed footer (readers of Iceberg Java cannot decompress one)";
        return Err(ParseError::new("puffin-footer-compressed", offset, expected, "the flag for LZ4"));
    }
    Ok(())
}

fn check_magic(code: &'static str, offset: u64, found: Option<&[u8; 4]>) -> Result<(), ParseError> {
    match found {
        Some(magic) if magic == MAGIC => Ok(()),
        Some([a, b, c, d]) => {
            let found = format!("{a:02x} {b:02x} {c:02x} {d:02x}");
            Err(ParseError::new(code, offset, "PFA1 (50 46 41 31)", found))
        }
        None => Err(ParseError::new(code, offset, "PFA1 (50 46 41 31)", "the end of the file")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const JSON: &str = r#"{"blobs":[{"type":"deletion-vector-v1","fields":[2147483645],"snapshot-id":-1,"sequence-number":-1,"offset":4,"length":50,"properties":{"referenced-data-file":"gs://b/t/data/f1.parquet","cardinality":"5"}}],"properties":{"created-by":"test"}}"#;

    fn file_with(payload: &str) -> Vec<u8> {
        let mut file = b"PFA1".to_vec();
        file.extend([0; 50]);
        file.extend(MAGIC);
        file.extend(payload.as_bytes());
        file.extend(i32::try_from(payload.len()).unwrap().to_le_bytes());
        file.extend([0; 4]);
        file.extend(MAGIC);
        file
    }

    fn parse(file: &[u8]) -> Result<Footer, ParseError> {
        check_head(file)?;
        footer(file, file.len() as u64)
    }

    #[test]
    fn a_footer_is_read_from_the_whole_file_or_from_its_end() {
        let file = file_with(JSON);
        let whole = parse(&file).unwrap();
        assert_eq!(whole.blobs[0].properties["cardinality"], "5");
        assert_eq!((whole.blobs[0].offset, whole.blobs[0].length), (4, 50));
        let length = usize::try_from(footer_length(&file[file.len() - 12..], file.len() as u64).unwrap()).unwrap();
        assert_eq!(footer(&file[file.len() - length..], file.len() as u64).unwrap(), whole);
    }

    #[test]
    fn the_empty_file_of_the_iceberg_tests_has_no_blobs() {
        let mut file = b"PFA1PFA1{\"blobs\":[]}".to_vec();
        file.extend([0x0c, 0, 0, 0, 0, 0, 0, 0]);
        file.extend(MAGIC);
        assert_eq!(file.len(), 32);
        assert_eq!(parse(&file).unwrap(), Footer { blobs: vec![], properties: BTreeMap::new() });
    }

    #[test]
    fn every_truncation_is_an_error() {
        let file = file_with(JSON);
        for length in 0..file.len() {
            assert!(parse(&file[..length]).is_err(), "{length} bytes");
        }
    }

    #[test]
    fn every_changed_byte_outside_blobs_and_text_is_an_error() {
        let file = file_with(JSON);
        let payload = 58..58 + JSON.len();
        for at in (0..4).chain(54..file.len()).filter(|at| !payload.contains(at)) {
            for bit in 0..8 {
                let mut broken = file.clone();
                broken[at] ^= 1 << bit;
                assert!(parse(&broken).is_err(), "bit {bit} of byte {at}");
            }
        }
        for at in payload {
            let mut broken = file.clone();
            broken[at] ^= 0x80; // no longer UTF-8
            assert_eq!(parse(&broken).unwrap_err().code(), "puffin-footer-json");
        }
    }

    #[test]
    fn sizes_are_compared_with_the_file_before_anything_is_read() {
        let right = i32::try_from(JSON.len()).unwrap();
        // The file has 54 bytes before the footer's magic: a payload larger by 51 would start before byte 8.
        for size in [i32::MIN, -1, right + 51, 1 << 20, i32::MAX] {
            let mut file = file_with(JSON);
            let at = file.len() - 12;
            file[at..at + 4].copy_from_slice(&size.to_le_bytes());
            assert_eq!(parse(&file).unwrap_err().code(), "puffin-footer-size", "{size}");
        }
    }

    #[test]
    fn json_that_is_not_a_footer_is_refused_where_it_goes_wrong() {
        let deep = "[".repeat(200_000);
        let deep_inside = format!("{{\"blobs\":{deep}");
        for payload in ["", "null", "[]", "{}", "{\"blobs\":[{}]}", "{\"blobs\":[]} x", &deep, &deep_inside] {
            let fault = parse(&file_with(payload)).unwrap_err();
            assert_eq!(fault.code(), "puffin-footer-json", "{payload:.20}");
        }
        let fault = parse(&file_with("{\"blobs\":\n 7}")).unwrap_err();
        assert_eq!(fault.offset, 58 + 11);
    }

    #[test]
    fn flags_other_than_none_are_refused_by_name() {
        for (flags, code) in
            [(1_u32, "puffin-footer-compressed"), (2, "puffin-footer-flags"), (1 << 31, "puffin-footer-flags")]
        {
            let mut file = file_with(JSON);
            let at = file.len() - 8;
            file[at..at + 4].copy_from_slice(&flags.to_le_bytes());
            assert_eq!(parse(&file).unwrap_err().code(), code);
        }
    }
}
