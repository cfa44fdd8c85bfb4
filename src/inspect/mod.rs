//! Prints the files that tables are made of, for people: Puffin files, manifests, manifest lists, metadata files.
//!
//! What a file is is told by its content. What cannot be read is said with the byte where it goes wrong. Little is
//! read of large files, and little is printed of long ones; no text of a file reaches a terminal unescaped.

mod avro;
mod metadata;
mod page;
mod puffin;

use crate::validate::{ReadBytes, ReadError};

use page::Page;
pub use page::{Inspection, printable, utc};

/// What a file may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Puffin,
    Avro,
    Metadata,
}

/// How many bytes of either end tell what a file is.
const ENDS: u64 = 64;

/// Reads a file and describes it; of long lists (blobs, containers, manifests, entries, snapshots) so many items.
///
/// # Errors
/// [`ReadError`] if it cannot be read at all. A file that can be read and not understood is described with its faults.
pub async fn inspect<R: ReadBytes>(reader: &R, location: &str, limit: usize) -> Result<Inspection, ReadError> {
    let size = reader.size(location).await?;
    let head = reader.read(location, Some(0..size.min(ENDS))).await?;
    let tail = reader.read(location, Some(size.saturating_sub(ENDS)..size)).await?;
    let mut page = Page::new(limit);
    match kind(location, &head, &tail) {
        Some(Kind::Puffin) => puffin::describe(reader, location, size, &mut page).await?,
        Some(Kind::Avro) => avro::describe(&reader.read(location, None).await?, &mut page),
        Some(Kind::Metadata) => metadata::describe(&reader.read(location, None).await?, &mut page),
        None => page.fault(&format!(
            "at byte 0: expected PFA1 (a Puffin file), Obj and 01 (an Avro file), {{ or 1f 8b (a metadata file), found {}",
            shown(&head)
        )),
    }
    Ok(page.done())
}

/// What a file is: by its content, else by its name, so that a broken file is told apart from a strange one.
fn kind(location: &str, head: &[u8], tail: &[u8]) -> Option<Kind> {
    let text = head.trim_ascii_start();
    let ends = |name: &str| location.ends_with(name);
    if head.starts_with(b"PFA1") || tail.ends_with(b"PFA1") || ends(".puffin") {
        Some(Kind::Puffin)
    } else if head.starts_with(b"Obj\x01") || ends(".avro") {
        Some(Kind::Avro)
    } else if text.starts_with(b"{") || crate::spec::file::is_compressed(head) || ends(".json") {
        Some(Kind::Metadata)
    } else {
        None
    }
}

fn shown(head: &[u8]) -> String {
    if head.is_empty() {
        return "an empty file".to_owned();
    }
    let bytes: Vec<String> = head.iter().take(4).map(|byte| format!("{byte:02x}")).collect();
    bytes.join(" ")
}

#[cfg(test)]
mod tests;
