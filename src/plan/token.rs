//! Plan ids and plan tasks: texts that carry all that is needed to answer them, so that any replica can.

use std::io::{Read, Write};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;

use super::request::PlanRequest;
use super::scan::Range;
use crate::spec::json::{Object, ObjectWriter, push_array};

/// The most bytes that a token may unpack to: more than any filter that is taken.
const MOST_BYTES: u64 = 64 << 20;

/// The longest plan id. It becomes part of a path, and proxies limit those.
const LONGEST_ID: usize = 4_000;

/// A scan of one table, whole (a plan id) or in part (a plan task).
#[derive(Debug)]
pub(super) struct Token {
    pub(super) table_uuid: String,
    pub(super) request: PlanRequest,
    /// The manifests of a plan task.
    pub(super) range: Option<Range>,
}

impl Token {
    /// The token as text of letters, digits, `-` and `_`.
    pub(super) fn encode(&self) -> String {
        let mut json = String::new();
        let mut object = ObjectWriter::new(&mut json);
        object.str("table", &self.table_uuid);
        object.with("request", |out| self.request.push_json(out));
        if let Some(range) = &self.range {
            let numbers = [range.manifest, range.entry, range.end];
            object.with("range", |out| push_array(out, numbers, |out, number| out.push_str(&number.to_string())));
        }
        object.finish();
        let mut packed =
            DeflateEncoder::new(crc32fast::hash(json.as_bytes()).to_le_bytes().to_vec(), Compression::best());
        // Writing to memory does not fail.
        let _ = packed.write_all(json.as_bytes());
        URL_SAFE_NO_PAD.encode(packed.finish().unwrap_or_default())
    }

    /// The token as a plan id. One that is too long for a path becomes a text that nothing can be read from: such a
    /// plan is answered once, and cannot be fetched again.
    pub(super) fn encode_id(&self) -> String {
        let whole = self.encode();
        if whole.len() <= LONGEST_ID {
            return whole;
        }
        format!("unfetchable-{:08x}", crc32fast::hash(whole.as_bytes()))
    }

    /// Reads a token. None if it is none of this server's.
    pub(super) fn decode(text: &str) -> Option<Self> {
        let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
        let (sum, packed) = bytes.split_first_chunk::<4>()?;
        let mut json = String::new();
        DeflateDecoder::new(packed).take(MOST_BYTES).read_to_string(&mut json).ok()?;
        if crc32fast::hash(json.as_bytes()) != u32::from_le_bytes(*sum) {
            return None;
        }
        let mut object = Object::parse_document(json.as_bytes()).ok()?;
        Some(Self {
            table_uuid: object.required_str("table").ok()?,
            request: PlanRequest::read(object.required_object("request").ok()?).ok()?,
            range: match object.optional_i64s("range").ok()?.as_deref() {
                None => None,
                Some([manifest, entry, end]) => Some(Range {
                    manifest: usize::try_from(*manifest).ok()?,
                    entry: usize::try_from(*entry).ok()?,
                    end: usize::try_from(*end).ok()?,
                }),
                Some(_) => return None,
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(request: &str) -> Token {
        let range = Some(Range { manifest: 3, entry: 17, end: 200 });
        Token { table_uuid: "a-b".to_owned(), request: PlanRequest::parse(request.as_bytes()).unwrap(), range }
    }

    #[test]
    fn a_token_carries_its_scan() {
        let text = token(r#"{"snapshot-id":5,"filter":{"type":"is-null","term":"ä"}}"#).encode();
        assert!(text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_'));
        let read = Token::decode(&text).unwrap();
        assert_eq!((read.table_uuid.as_str(), read.request.snapshot_id), ("a-b", Some(5)));
        assert_eq!(read.request.filter.unwrap().get(), r#"{"type":"is-null","term":"ä"}"#);
        assert_eq!(read.range.map(|range| (range.manifest, range.entry, range.end)), Some((3, 17, 200)));
    }

    #[test]
    fn what_is_no_token_is_none() {
        let text = token("{}").encode();
        for at in 0..text.len() {
            let mut changed = text.clone().into_bytes();
            changed[at] = if changed[at] == b'A' { b'B' } else { b'A' };
            assert!(Token::decode(std::str::from_utf8(&changed).unwrap()).is_none(), "{at}");
            assert!(Token::decode(&text[..at]).is_none());
        }
        assert!(Token::decode("").is_none() && Token::decode("unfetchable-00000000").is_none());
    }

    #[test]
    fn a_long_plan_id_is_short_and_unreadable() {
        let values: Vec<String> = (0..20_000_u32).map(|n| n.wrapping_mul(2_654_435_761).to_string()).collect();
        let request = format!(r#"{{"filter":{{"type":"in","term":"a","values":[{}]}}}}"#, values.join(","));
        let id = token(&request).encode_id();
        assert!(id.len() < LONGEST_ID && Token::decode(&id).is_none());
    }
}
