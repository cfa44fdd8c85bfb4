//! Asks storage for the objects of added files: whether they are there, and how large they are.

use futures::FutureExt;

use crate::manifest::Status;
use crate::validate::facts::{Facts, FileObject, ObjectState};
use crate::validate::read::{ReadBytes, ReadError, Unavailable};

use super::source::try_concurrently;
use super::{Context, Notes};

/// Rules that look at the objects of files.
const RULES: &[&str] = &["data-file-missing", "data-file-size", "data-file-outside"];

/// Of how many files of one snapshot storage is asked. Of more, a sample spread over all of them is.
const MOST_ASKED: usize = 100;

/// The objects of data files and delete files that the snapshot adds; deletion vectors are read anyway.
pub(super) async fn gather<R: ReadBytes>(
    context: &Context<'_, R>,
    facts: &Facts<'_>,
    notes: &mut Notes,
) -> Result<Vec<FileObject>, Unavailable> {
    if !context.levels.any(RULES) {
        return Ok(Vec::new());
    }
    let mut added = Vec::new();
    for new in &facts.manifests {
        let Some(file) = facts.row(new) else { continue };
        let entries = new.manifest.entries.iter().filter(|entry| entry.status == Status::Added);
        let files = entries.map(|entry| &entry.data_file).filter(|file| !file.is_deletion_vector());
        added.extend(files.map(|data_file| (&file.manifest_path, data_file)));
    }
    let step = added.len().div_ceil(MOST_ASKED).max(1);
    if step > 1 {
        let reason = format!("storage was asked for every {step}th of {} files (cost)", added.len());
        notes.skip("data-file-*", facts.list_location, reason);
    }
    let reader = context.source.reader;
    let asked = added.iter().step_by(step).map(|(manifest, file)| {
        async move {
            let found = match reader.size(&file.file_path).await {
                Ok(size) | Err(ReadError::TooLarge { size, .. }) => ObjectState::Size(size),
                Err(ReadError::NotFound { .. }) => ObjectState::Missing,
                Err(ReadError::Outside { .. }) => ObjectState::Outside,
                Err(ReadError::Unavailable { location, source }) => return Err(Unavailable { location, source }),
            };
            let (manifest, path) = ((*manifest).clone(), file.file_path.clone());
            Ok(FileObject { manifest, path, declared: file.file_size_in_bytes, found })
        }
        .boxed()
    });
    try_concurrently(asked.collect()).await
}
