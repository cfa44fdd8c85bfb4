//! The compression codecs of Avro blocks, each bounded by how much it may produce.

use std::io::Read;

/// Codec of a file's blocks (`avro.codec`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Codec {
    Null,
    Deflate,
    Zstandard,
    Snappy,
}

impl Codec {
    pub(super) fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "null" => Self::Null,
            "deflate" => Self::Deflate,
            "zstandard" => Self::Zstandard,
            "snappy" => Self::Snappy,
            _ => return None,
        })
    }

    /// Puts the content of `block` into `out` (which is cleared first), at most `limit` bytes of it.
    pub(super) fn decompress(self, block: &[u8], limit: usize, out: &mut Vec<u8>) -> Result<(), String> {
        out.clear();
        match self {
            Self::Null if block.len() > limit => Err(over(limit)),
            Self::Null => {
                out.extend_from_slice(block);
                Ok(())
            }
            Self::Deflate => {
                // What follows the compressed data is not looked at: Python's writers leave three bytes of a checksum.
                read_bounded(&mut flate2::bufread::DeflateDecoder::new(block), limit, out)
            }
            Self::Zstandard => {
                let mut source = zstd::stream::read::Decoder::with_buffer(block).map_err(|fault| fault.to_string())?;
                source.window_log_max(27).map_err(|fault| fault.to_string())?;
                read_bounded(&mut source, limit, out)?;
                trailing(source.finish())
            }
            Self::Snappy => snappy(block, limit, out),
        }
    }
}

fn read_bounded(source: &mut impl Read, limit: usize, out: &mut Vec<u8>) -> Result<(), String> {
    let most = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
    source.take(most).read_to_end(out).map_err(|fault| fault.to_string())?;
    if out.len() > limit { Err(over(limit)) } else { Ok(()) }
}

fn trailing(rest: &[u8]) -> Result<(), String> {
    if rest.is_empty() { Ok(()) } else { Err(format!("{} bytes after the compressed data", rest.len())) }
}

/// Raw snappy followed by the CRC-32 of the decompressed bytes, big-endian.
fn snappy(block: &[u8], limit: usize, out: &mut Vec<u8>) -> Result<(), String> {
    let (data, crc) = block.split_last_chunk::<4>().ok_or("a snappy block without a checksum")?;
    let length = snap::raw::decompress_len(data).map_err(|fault| fault.to_string())?;
    if length > limit {
        return Err(over(limit));
    }
    // Snappy copies at most 64 bytes for each 3-byte tag, so an honest length is at most some 22 times the input.
    if length / 32 > data.len() {
        return Err(format!("snappy data of {} bytes that claims to hold {length}", data.len()));
    }
    out.resize(length, 0);
    let written = snap::raw::Decoder::new().decompress(data, out).map_err(|fault| fault.to_string())?;
    out.truncate(written);
    let actual = crc32fast::hash(out);
    let stored = u32::from_be_bytes(*crc);
    if actual == stored { Ok(()) } else { Err(format!("snappy checksum {stored:08x} over data of {actual:08x}")) }
}

fn over(limit: usize) -> String {
    format!("more than {limit} bytes of decompressed data")
}
