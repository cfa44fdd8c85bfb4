//! Counts what validation reads, and what it need not read, for `/metrics`.

use super::source::Kind;

/// A file is opened.
pub(super) fn opened(kind: Kind) {
    let kind = match kind {
        Kind::List => "manifest-list",
        Kind::Manifest => "manifest",
        Kind::Puffin => "puffin",
    };
    metrics::counter!("guillemot_validation_files_read_total", "kind" => kind).increment(1);
}

/// So many bytes came from storage.
pub(super) fn read(bytes: usize) {
    metrics::counter!("guillemot_validation_read_bytes_total").increment(bytes as u64);
}

/// The cache of manifests was asked for a file that the table already has.
pub(super) fn asked_cache(found: bool) {
    if found {
        metrics::counter!("guillemot_validation_cache_hits_total").increment(1);
    } else {
        metrics::counter!("guillemot_validation_cache_misses_total").increment(1);
    }
}
