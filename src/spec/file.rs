//! Metadata files as they are stored: JSON text, compressed or not.

use std::borrow::Cow;
use std::io::Read;

use flate2::read::GzDecoder;

use super::error::{Error, Result};

/// Largest metadata document that is read, in bytes, after decompression.
const MAX_DOCUMENT: u64 = 512 * 1024 * 1024;

/// The document in a metadata file.
///
/// # Errors
/// [`Error::Invalid`] if the file is compressed and broken, or larger than 512 MiB once it is decompressed.
pub fn document(file: &[u8]) -> Result<Cow<'_, [u8]>> {
    if !is_compressed(file) {
        return Ok(Cow::Borrowed(file));
    }
    let mut document = Vec::new();
    match GzDecoder::new(file).take(MAX_DOCUMENT + 1).read_to_end(&mut document) {
        Ok(_) if document.len() as u64 <= MAX_DOCUMENT => Ok(Cow::Owned(document)),
        Ok(_) => Err(Error::invalid(format!("larger than {MAX_DOCUMENT} bytes"))),
        Err(fault) => Err(Error::invalid(format!("broken gzip: {fault}"))),
    }
}

/// Whether a file begins as gzip files do.
pub fn is_compressed(file: &[u8]) -> bool {
    file.starts_with(&[0x1f, 0x8b])
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    #[test]
    fn a_torn_or_false_gzip_file_is_an_error() {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(b"{}").unwrap();
        let whole = encoder.finish().unwrap();
        assert_eq!(&*document(&whole).unwrap(), b"{}");
        assert_eq!(&*document(b"{ }").unwrap(), b"{ }");
        assert!(document(&whole[..whole.len() - 5]).is_err());
        assert!(document(b"\x1f\x8bbad").is_err());
    }
}
