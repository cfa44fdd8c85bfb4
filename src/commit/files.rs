//! Metadata files: their names, their bytes, and the cache of those already read.

use crate::commit::{Document, Error, Grant, StorageCredential};
use crate::spec::{TableMetadata, file};
use bytes::{BufMut, Bytes, BytesMut};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::collections::BTreeMap;
use std::io::Write;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// One metadata file of a table or view, read and parsed once. A location is written once and never changes, so
/// neither does this.
///
/// The reply of a load is put together here, around the document's own bytes: serving it again copies nothing.
#[derive(Debug)]
pub struct Stored<M = TableMetadata> {
    location: String,
    reply: Bytes,
    document: Range<usize>,
    metadata: Arc<M>,
    gzip: OnceLock<Bytes>,
    /// The reply of a table with its referenced snapshots alone.
    refs_reply: OnceLock<Bytes>,
}

impl<M: Document> Stored<M> {
    /// Keeps a document that was just written, or read and parsed, with the config its clients get.
    pub(crate) fn new(location: String, document: &[u8], metadata: M, config: &BTreeMap<String, String>) -> Self {
        let (reply, document) = load_reply(Some(&location), document, config, &[]);
        let metadata = Arc::new(metadata);
        Self { location, reply, document, metadata, gzip: OnceLock::new(), refs_reply: OnceLock::new() }
    }

    /// Parses the bytes of a metadata file, compressed or not.
    pub(crate) fn parse(location: &str, bytes: &[u8], config: &BTreeMap<String, String>) -> Result<Self, Error> {
        let wrong = |e| Error::Invalid(format!("Invalid metadata file {location}: {e}"));
        let document = file::document(bytes).map_err(wrong)?;
        let bytes = &*document;
        let metadata = M::parse(bytes).map_err(wrong)?;
        // Documents in an old form are served in the form that the specification promises to clients.
        let modern = if M::is_rest_form(bytes) { None } else { Some(metadata.to_bytes()) };
        Ok(Self::new(location.to_owned(), modern.as_deref().unwrap_or(bytes), metadata, config))
    }

    /// Where the file is.
    pub fn location(&self) -> &str {
        &self.location
    }

    /// The metadata, parsed.
    pub fn metadata(&self) -> &Arc<M> {
        &self.metadata
    }

    /// The metadata document as it is served.
    pub fn document(&self) -> Bytes {
        self.reply.slice(self.document.clone())
    }

    /// The whole `LoadTableResult`, with all snapshots, or `LoadViewResult`.
    pub fn reply(&self) -> Bytes {
        self.reply.clone()
    }

    /// [`Stored::reply`], compressed once.
    pub fn gzip_reply(&self) -> Bytes {
        self.gzip.get_or_init(|| deflate(&self.reply, Compression::fast()).into()).clone()
    }

    /// A number that grows with the memory this holds, in bytes: document, reply parts and parsed form.
    pub fn weight(&self) -> u32 {
        u32::try_from(self.reply.len().saturating_mul(3)).unwrap_or(u32::MAX)
    }
}

impl Stored {
    /// The `LoadTableResult` that leaves out snapshots which no branch or tag points to.
    pub fn refs_reply(&self, config: &BTreeMap<String, String>) -> Bytes {
        let build = || load_reply(Some(&self.location), &self.metadata.refs_only().to_bytes(), config, &[]).0;
        self.refs_reply.get_or_init(build).clone()
    }

    /// A `LoadTableResult` with what lets one client at the table's files. Nothing of it is kept.
    pub fn granted_reply(&self, grant: &Grant, refs_only: bool) -> Bytes {
        let document = if refs_only { self.metadata.refs_only().to_bytes().into() } else { self.document() };
        load_reply(Some(&self.location), &document, &grant.config, &grant.credentials).0
    }
}

/// `LoadTableResult` or `LoadViewResult` as JSON, and where in it the document stands.
pub(crate) fn load_reply(
    location: Option<&str>,
    document: &[u8],
    config: &BTreeMap<String, String>,
    credentials: &[StorageCredential],
) -> (Bytes, Range<usize>) {
    let mut reply = BytesMut::with_capacity(document.len() + 512);
    reply.put_u8(b'{');
    if let Some(location) = location {
        reply.put_slice(b"\"metadata-location\":");
        reply.put_slice(&json(location));
        reply.put_u8(b',');
    }
    reply.put_slice(b"\"metadata\":");
    let start = reply.len();
    reply.put_slice(document);
    let end = reply.len();
    if !config.is_empty() {
        reply.put_slice(b",\"config\":");
        reply.put_slice(&json(config));
    }
    if !credentials.is_empty() {
        reply.put_slice(b",\"storage-credentials\":");
        reply.put_slice(&json(credentials));
    }
    reply.put_u8(b'}');
    (reply.freeze(), start..end)
}

/// Texts and maps of texts always have a JSON form.
fn json<T: serde::Serialize + ?Sized>(value: &T) -> Vec<u8> {
    serde_json::to_vec(value).unwrap_or_default()
}

fn deflate(bytes: &[u8], level: Compression) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::with_capacity(bytes.len() / 4), level);
    // Writing to memory does not fail.
    let _ = encoder.write_all(bytes);
    encoder.finish().unwrap_or_default()
}

/// A metadata file that is about to be written.
#[derive(Debug)]
pub(crate) struct NewFile {
    pub location: String,
    pub bytes: Bytes,
}

/// Names the next metadata file of a table or view and gives it its bytes (2.5, "Metadata file name"; 2.7).
///
/// `previous` is the metadata file that this one follows; `None` for a new table or view.
pub(crate) fn next_file<M: Document>(
    metadata: &M,
    document: Vec<u8>,
    previous: Option<&str>,
    uuid: &str,
) -> Result<NewFile, Error> {
    let version = previous.map_or(0, |p| file_version(p).map_or(0, |v| v.saturating_add(1)));
    let folder = match metadata.property("write.metadata.path") {
        Some(path) => path.trim_end_matches('/').to_owned(),
        None => format!("{}/metadata", metadata.location().trim_end_matches('/')),
    };
    let (suffix, bytes) = if is_compressed(metadata)? {
        ("gz.metadata.json", deflate(&document, Compression::default()))
    } else {
        ("metadata.json", document)
    };
    Ok(NewFile { location: format!("{folder}/{version:05}-{uuid}.{suffix}"), bytes: bytes.into() })
}

/// Whether a metadata file is to be compressed.
fn is_compressed<M: Document>(metadata: &M) -> Result<bool, Error> {
    let codec = metadata.property("write.metadata.compression-codec").map(str::to_ascii_lowercase);
    match codec.as_deref() {
        None => Ok(M::COMPRESSED),
        Some("none" | "") => Ok(false),
        Some("gzip") => Ok(true),
        Some(other) => Err(Error::Invalid(format!(
            "Invalid write.metadata.compression-codec: expected none or gzip, found {other}"
        ))),
    }
}

/// The number at the start of a metadata file's name.
fn file_version(location: &str) -> Option<u32> {
    let name = location.rsplit('/').next()?;
    name.split_once('-')?.0.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_from_names() {
        assert_eq!(file_version("gs://b/t/metadata/00012-aa.metadata.json"), Some(12));
        assert_eq!(file_version("gs://b/t/metadata/v3.metadata.json"), None);
    }

    #[test]
    fn a_reply_holds_the_document_as_it_is() {
        let config = BTreeMap::from([("k".to_owned(), "v".to_owned())]);
        let (reply, range) = load_reply(Some("file:///t/\"x"), b"{ \"a\" : 1 }", &config, &[]);
        let text = String::from_utf8(reply.to_vec()).unwrap();
        assert_eq!(text, r#"{"metadata-location":"file:///t/\"x","metadata":{ "a" : 1 },"config":{"k":"v"}}"#);
        assert_eq!(&text[range], "{ \"a\" : 1 }");
    }
}
