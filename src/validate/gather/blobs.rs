//! Reading many blobs with few requests.

use std::collections::HashMap;
use std::ops::Range;

use bytes::Bytes;
use futures::FutureExt;

use crate::manifest::DataFile;
use crate::validate::read::{ReadBytes, ReadError};

use super::measure;
use super::source::{Kind, Source, concurrently};

/// Blobs this near to each other are read together.
const LARGEST_GAP: u64 = 64 << 10;
/// How much is read together at most, unless one blob is larger.
const LARGEST_READ: u64 = 8 << 20;
/// The largest vector that is read: a bitmap of a thousand million rows.
pub(super) const LARGEST_VECTOR: u64 = 128 << 20;

/// Where an entry says that its vector is.
pub(super) fn blob_range(file: &DataFile) -> Option<Range<u64>> {
    let start = u64::try_from(file.content_offset?).ok()?;
    let length = u64::try_from(file.content_size_in_bytes?).ok()?;
    Some(start..start.checked_add(length)?)
}

/// A part of what was read; none if it is not all there.
pub(super) fn slice(bytes: &Bytes, range: Range<u64>) -> Option<Bytes> {
    let range = usize::try_from(range.start).ok()?..usize::try_from(range.end).ok()?;
    (range.start <= range.end && range.end <= bytes.len()).then(|| bytes.slice(range))
}

/// Blobs that are read together, and the range that holds them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Window<T> {
    pub(super) range: Range<u64>,
    pub(super) blobs: Vec<(T, Range<u64>)>,
}

/// Groups blobs of one file that are read together.
pub(super) fn windows<T>(mut blobs: Vec<(T, Range<u64>)>) -> Vec<Window<T>> {
    blobs.sort_by_key(|(_, range)| (range.start, range.end));
    let mut windows: Vec<Window<T>> = Vec::new();
    for (what, range) in blobs {
        let last = windows.last_mut().filter(|window| {
            let together = range.end.max(window.range.end) - window.range.start;
            range.start <= window.range.end.saturating_add(LARGEST_GAP) && together <= LARGEST_READ
        });
        if let Some(window) = last {
            window.range.end = window.range.end.max(range.end);
            window.blobs.push((what, range));
        } else {
            windows.push(Window { range: range.clone(), blobs: vec![(what, range)] });
        }
    }
    windows
}

/// Vectors that the table had, by file and offset, or why one cannot be read: that is not this commit's fault.
pub(super) type PreviousBlobs<'a> = HashMap<(&'a str, Option<i64>), Result<Bytes, String>>;

/// Reads vectors that the table had.
pub(super) async fn previous_blobs<'a, R: ReadBytes>(
    source: &Source<'_, R>,
    files: Vec<&'a DataFile>,
) -> Result<PreviousBlobs<'a>, ReadError> {
    let mut blobs: PreviousBlobs<'_> = HashMap::new();
    let mut by_path: HashMap<&str, Vec<(&DataFile, Range<u64>)>> = HashMap::new();
    for file in files {
        let range = blob_range(file).filter(|range| range.end - range.start <= LARGEST_VECTOR);
        let reason = match range {
            _ if file.encrypted => "the previous vector is encrypted",
            Some(range) => {
                by_path.entry(&file.file_path).or_default().push((file, range));
                continue;
            }
            None => "the previous vector has no place that can be read",
        };
        blobs.insert((&file.file_path, file.content_offset), Err(reason.to_owned()));
    }
    let mut reads = Vec::new();
    for (path, blobs) in by_path {
        measure::opened(Kind::Puffin);
        for window in windows(blobs) {
            reads.push(async move { (source.read(path, Some(window.range.clone())).await, window) }.boxed());
        }
    }
    for (read, window) in concurrently(reads).await {
        let read = match read {
            Err(fault @ ReadError::Unavailable { .. }) => return Err(fault),
            read => read,
        };
        let reason = read.as_ref().err().map(|fault| format!("the previous vector: {fault}"));
        for (file, range) in window.blobs {
            let within = range.start - window.range.start..range.end - window.range.start;
            let blob = match (&read, &reason) {
                (Ok(bytes), _) => slice(bytes, within).ok_or_else(|| "the previous vector is cut short".to_owned()),
                (Err(_), reason) => Err(reason.clone().unwrap_or_default()),
            };
            blobs.insert((&file.file_path, file.content_offset), blob);
        }
    }
    Ok(blobs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_blobs_are_read_together_and_far_or_many_ones_are_not() {
        let far = 10 << 20;
        let blobs = vec![("c", far..far + 10), ("a", 4..50), ("b", 60_000..60_050)];
        let found: Vec<_> = windows(blobs).into_iter().map(|window| (window.range, window.blobs.len())).collect();
        assert_eq!(found, [(4..60_050, 2), (far..far + 10, 1)]);
        let large = (0..4).map(|n| ((), n * (3 << 20)..(n + 1) * (3 << 20))).collect();
        assert_eq!(windows(large).len(), 2);
    }

    #[test]
    fn overlapping_blobs_are_in_one_window() {
        let found = windows(vec![((), 4..100), ((), 4..20), ((), 10..30)]);
        assert_eq!((found.len(), found[0].range.clone()), (1, 4..100));
    }
}
