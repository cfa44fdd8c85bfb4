//! Puffin files: the footer, the blobs, and what is in each deletion vector.

use crate::dv::{BitmapShape, ContainerKind, DeletionVector};
use crate::puffin::{self, Blob, DELETION_VECTOR_V1, Footer, ParseError, SMALLEST_FOOTER_BYTES};
use crate::validate::{ReadBytes, ReadError};

use super::page::{Page, cut};

/// The largest blob that is opened, in bytes.
const LARGEST_BLOB: u64 = 128 << 20;

pub(super) async fn describe<R: ReadBytes>(
    reader: &R,
    location: &str,
    size: u64,
    page: &mut Page,
) -> Result<(), ReadError> {
    page.line(0, format!("Puffin file, {size} bytes"));
    let head = reader.read(location, Some(0..size.min(4))).await?;
    let head = puffin::check_head(&head);
    let footer = footer(reader, location, size).await?;
    for fault in [head.as_ref().err(), footer.as_ref().err()].into_iter().flatten() {
        page.fault(&fault.to_string());
    }
    match footer {
        Ok((footer, length)) => blobs(reader, location, size, (&footer, length), page).await,
        Err(_) => bare_vector(reader, location, size, page).await,
    }
}

/// The footer and its length in bytes.
async fn footer<R: ReadBytes>(
    reader: &R,
    location: &str,
    size: u64,
) -> Result<Result<(Footer, u64), ParseError>, ReadError> {
    let trailer = reader.read(location, Some(size.saturating_sub(SMALLEST_FOOTER_BYTES)..size)).await?;
    let length = match puffin::footer_length(&trailer, size) {
        Ok(length) => length,
        Err(fault) => return Ok(Err(fault)),
    };
    let tail = reader.read(location, Some(size.saturating_sub(length)..size)).await?;
    Ok(puffin::footer(&tail, size).map(|footer| (footer, length)))
}

async fn blobs<R: ReadBytes>(
    reader: &R,
    location: &str,
    size: u64,
    (footer, length): (&Footer, u64),
    page: &mut Page,
) -> Result<(), ReadError> {
    let start = size.saturating_sub(length);
    let all = footer.blobs.len();
    page.line(0, format!("footer of {length} bytes at byte {start}: {}", count(all, "blob")));
    page.pairs(1, footer.properties.iter().map(|(key, value)| (key.as_str(), value.as_str())));
    for (index, blob) in footer.blobs.iter().take(page.limit()).enumerate() {
        page.space();
        let place = format!("{} bytes at byte {}", blob.length, blob.offset);
        page.line(0, format!("blob {} of {all}: {}, {place}", index + 1, cut(&blob.blob_type)));
        let Blob { fields, snapshot_id, sequence_number, .. } = blob;
        let fields = cut(&format!("{fields:?}"));
        page.line(1, format!("fields {fields}, snapshot-id {snapshot_id}, sequence-number {sequence_number}"));
        if let Some(codec) = &blob.compression_codec {
            page.line(1, format!("compression-codec: {}", cut(codec)));
        }
        page.pairs(1, blob.properties.iter().map(|(key, value)| (key.as_str(), value.as_str())));
        content(reader, location, blob, start, page).await?;
    }
    page.rest(all, "blobs");
    Ok(())
}

/// Opens a blob that is a deletion vector.
async fn content<R: ReadBytes>(
    reader: &R,
    location: &str,
    blob: &Blob,
    footer_start: u64,
    page: &mut Page,
) -> Result<(), ReadError> {
    let (Ok(offset), Ok(length)) = (u64::try_from(blob.offset), u64::try_from(blob.length)) else {
        page.fault(&format!("the blob at byte {} of {} bytes is in no file", blob.offset, blob.length));
        return Ok(());
    };
    let end = offset.saturating_add(length);
    if offset < 4 || end > footer_start {
        page.fault(&format!(
            "the blob at bytes {offset}..{end} is not between byte 4 and the footer at {footer_start}"
        ));
        return Ok(());
    }
    if blob.blob_type != DELETION_VECTOR_V1 {
        return Ok(());
    }
    if blob.compression_codec.is_some() {
        page.fault(&format!("the vector at byte {offset} is compressed, and vectors are not"));
        return Ok(());
    }
    if length > LARGEST_BLOB {
        page.line(1, format!("not opened: more than {LARGEST_BLOB} bytes"));
        return Ok(());
    }
    let bytes = reader.read(location, Some(offset..end)).await?;
    match DeletionVector::parse_with_shape(&bytes) {
        Ok((vector, bitmaps)) => {
            let said = blob.properties.get("cardinality");
            if said.is_some_and(|said| said.parse() != Ok(vector.cardinality())) {
                let said = said.map(|said| cut(said)).unwrap_or_default();
                page.fault(&format!("the footer says cardinality {said}, the vector has {}", vector.cardinality()));
            }
            positions(&vector, &bitmaps, offset, page);
        }
        Err(fault) => page.fault(&fault_at(&fault, offset)),
    }
    Ok(())
}

/// A fault in a blob, with its place in the file.
fn fault_at(fault: &crate::dv::ParseError, blob: u64) -> String {
    let (code, at) = (fault.code(), blob + fault.offset);
    format!("{code} at byte {at}: expected {}, found {}", fault.expected, fault.found)
}

fn positions(vector: &DeletionVector, bitmaps: &[BitmapShape], blob: u64, page: &mut Page) {
    let first = vector.positions().next();
    let span = first.zip(vector.max_position());
    let span = span.map_or_else(String::new, |(first, last)| format!(", from {first} to {last}"));
    let positions = count(usize::try_from(vector.cardinality()).unwrap_or(usize::MAX), "position");
    page.line(1, format!("{positions}{span}, in {}", count(bitmaps.len(), "bitmap")));
    let mut left = page.limit();
    for bitmap in bitmaps {
        if left == 0 {
            break;
        }
        page.line(2, format!("bitmap with key {}: {}", bitmap.key, count(bitmap.containers.len(), "container")));
        for container in bitmap.containers.iter().take(left) {
            left -= 1;
            let kind = match container.kind {
                ContainerKind::Array => "array".to_owned(),
                ContainerKind::Bitmap => "bitmap".to_owned(),
                ContainerKind::Run(runs) => count(runs as usize, "run"),
            };
            let positions = count(container.cardinality as usize, "position");
            let at = blob + container.offset;
            page.line(3, format!("container with key {}: {kind}, {positions}, at byte {at}", container.key));
        }
    }
    let all: usize = bitmaps.iter().map(|bitmap| bitmap.containers.len()).sum();
    page.rest(all, "containers");
}

/// A file that is no Puffin file may be a vector all the same.
async fn bare_vector<R: ReadBytes>(reader: &R, location: &str, size: u64, page: &mut Page) -> Result<(), ReadError> {
    if size > LARGEST_BLOB {
        return Ok(());
    }
    let bytes = reader.read(location, Some(0..size)).await?;
    if let Ok((vector, bitmaps)) = DeletionVector::parse_with_shape(&bytes) {
        page.line(0, "the whole file is one deletion vector without the frame of a Puffin file,");
        page.line(0, "which is what DuckDB up to 1.5.3 and DuckLake write");
        positions(&vector, &bitmaps, 0, page);
    }
    Ok(())
}

/// `1 blob`, `2 blobs`.
pub(super) fn count(number: usize, what: &str) -> String {
    if number == 1 { format!("1 {what}") } else { format!("{number} {what}s") }
}
