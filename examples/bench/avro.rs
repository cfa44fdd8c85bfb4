//! Avro files as an engine writes them, by hand: a client must be cheap, and the library of the tests is not.

use crate::Result;
use flate2::Compression;
use flate2::write::DeflateEncoder;
use serde_json::{Value, json};
use std::io::Write;

const SYNC: &[u8; 16] = b"sixteen sync by.";

/// A field with an id; a type that ends in `?` is optional.
pub(crate) fn field(id: u32, name: &str, of: &str) -> Value {
    match of.strip_suffix('?') {
        Some(of) => json!({"name": name, "type": ["null", of], "default": null, "field-id": id}),
        None => json!({"name": name, "type": of, "field-id": id}),
    }
}

/// A file of one block, compressed as Iceberg's writers do by default, or of none.
pub(crate) fn file(schema: &Value, metadata: &[(&str, &str)], rows: &[Vec<u8>]) -> Result<Vec<u8>> {
    let schema = schema.to_string();
    let header = [("avro.schema", schema.as_str()), ("avro.codec", "deflate")];
    let mut file = b"Obj\x01".to_vec();
    long(&mut file, i64::try_from(header.len() + metadata.len())?);
    for (key, value) in header.iter().chain(metadata) {
        text(&mut file, key);
        text(&mut file, value);
    }
    long(&mut file, 0);
    file.extend_from_slice(SYNC);
    if !rows.is_empty() {
        let mut block = DeflateEncoder::new(Vec::new(), Compression::default());
        rows.iter().try_for_each(|row| block.write_all(row))?;
        let block = block.finish()?;
        long(&mut file, i64::try_from(rows.len())?);
        long(&mut file, i64::try_from(block.len())?);
        file.extend(block);
        file.extend_from_slice(SYNC);
    }
    Ok(file)
}

/// A row of values.
#[derive(Default)]
pub(crate) struct Row(pub(crate) Vec<u8>);

impl Row {
    pub(crate) fn longs(mut self, values: &[i64]) -> Self {
        for value in values {
            long(&mut self.0, *value);
        }
        self
    }

    pub(crate) fn text(mut self, value: &str) -> Self {
        text(&mut self.0, value);
        self
    }

    pub(crate) fn optional_long(mut self, value: Option<i64>) -> Self {
        long(&mut self.0, i64::from(value.is_some()));
        if let Some(value) = value {
            long(&mut self.0, value);
        }
        self
    }

    pub(crate) fn optional_text(mut self, value: Option<&str>) -> Self {
        long(&mut self.0, i64::from(value.is_some()));
        if let Some(value) = value {
            text(&mut self.0, value);
        }
        self
    }
}

fn text(out: &mut Vec<u8>, value: &str) {
    long(out, i64::try_from(value.len()).unwrap_or(i64::MAX));
    out.extend_from_slice(value.as_bytes());
}

/// Zigzag, then seven bits a byte, lowest first.
fn long(out: &mut Vec<u8>, value: i64) {
    let mut rest = ((value << 1) ^ (value >> 63)).cast_unsigned();
    while rest > 0x7f {
        out.push(u8::try_from(rest & 0x7f).unwrap_or(0) | 0x80);
        rest >>= 7;
    }
    out.push(u8::try_from(rest).unwrap_or(0));
}
