//! Reads the Puffin files of added vectors: footer, blobs, and the vectors they replace.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use futures::FutureExt;

use crate::dv::DeletionVector;
use crate::manifest::DataFile;
use crate::puffin::{self, Footer};
use crate::validate::facts::{Decoded, Failure, Frame, LostPositions, PuffinFacts, Vector};
use crate::validate::finding::Finding;
use crate::validate::level::Level;
use crate::validate::read::{ReadBytes, ReadError, Unavailable};

use super::blobs::{LARGEST_VECTOR, PreviousBlobs, Window, blob_range, previous_blobs, slice, windows};
use super::source::{Fault, Kind, try_concurrently};
use super::{Context, Notes, measure};

/// The magic at the start of a file.
const HEAD_BYTES: u64 = 4;
/// A file up to this size is read whole.
const WHOLE_UP_TO: u64 = 256 << 10;
/// How much of the end of a larger file is read at first: footers of some 250 vectors fit.
const TAIL_BYTES: u64 = 64 << 10;
/// Files whose vectors are larger than this together are read one after another.
const LARGE_FILE: u64 = 32 << 20;

/// Fills in `puffin`, `decoded` and what is lost of previous vectors.
pub(in crate::validate) async fn gather<R: ReadBytes>(
    context: &Context<'_, R>,
    vectors: &mut [Vector],
    notes: &mut Notes,
) -> Result<(), Unavailable> {
    let mut files: HashMap<&str, Vec<usize>> = HashMap::new();
    for (place, vector) in vectors.iter().enumerate() {
        let file = &vector.entry.data_file;
        if file.encrypted {
            notes.skip("dv-*", &file.file_path, "the file is encrypted");
        } else {
            files.entry(&file.file_path).or_default().push(place);
        }
    }
    let mut small = Vec::new();
    let mut large = Vec::new();
    for (path, places) in files {
        let of_file = places.iter().filter_map(|place| vectors.get(*place).map(|vector| (*place, vector))).collect();
        let work = PuffinFile { context, path, vectors: of_file };
        let list = if work.blob_bytes() > LARGE_FILE { &mut large } else { &mut small };
        list.push(work.read().boxed());
    }
    let mut outcomes = try_concurrently(small).await?;
    for work in large {
        outcomes.push(work.await?);
    }
    // Files come in the order of a hash map; what is reported must not depend on it.
    outcomes.sort_by_key(|outcome| outcome.vectors.first().map(|(place, _)| *place));
    for outcome in outcomes {
        outcome.failures.into_iter().for_each(|failure| notes.fail(failure));
        outcome.skipped.into_iter().for_each(|(rule, object, reason)| notes.skip(rule, &object, reason));
        for (place, read) in outcome.vectors {
            let Some(vector) = vectors.get_mut(place) else { continue };
            vector.puffin.clone_from(&outcome.puffin);
            vector.decoded = read.decoded;
            for (previous, lost) in vector.previous.iter_mut().zip(read.lost) {
                previous.lost = lost;
            }
        }
    }
    Ok(())
}

/// What is read of a file besides its end.
#[derive(Debug, Clone, Copy)]
enum Part {
    /// Its first bytes.
    Head,
    /// The vector at this place of [`PuffinFile::vectors`].
    Blob(usize),
}

/// One Puffin file and the added vectors in it.
struct PuffinFile<'a, R> {
    context: &'a Context<'a, R>,
    path: &'a str,
    /// With their places in the facts.
    vectors: Vec<(usize, &'a Vector)>,
}

/// What reading one file gave.
#[derive(Default)]
struct Outcome {
    puffin: Option<Arc<PuffinFacts>>,
    vectors: Vec<(usize, VectorRead)>,
    failures: Vec<Failure>,
    skipped: Vec<(&'static str, String, String)>,
}

#[derive(Default)]
struct VectorRead {
    decoded: Option<Decoded>,
    /// For each previous delete of the vector.
    lost: Vec<Option<LostPositions>>,
}

impl<R: ReadBytes> PuffinFile<'_, R> {
    fn blob_bytes(&self) -> u64 {
        let sizes = self.vectors.iter().filter_map(|(_, vector)| blob_range(&vector.entry.data_file));
        sizes.map(|range| range.end - range.start).sum()
    }

    async fn read(self) -> Result<Outcome, Unavailable> {
        let mut outcome = Outcome {
            vectors: self.vectors.iter().map(|(place, _)| (*place, VectorRead::default())).collect(),
            ..Outcome::default()
        };
        measure::opened(Kind::Puffin);
        match self.read_parts(&mut outcome).await {
            Ok(()) => {}
            Err(fault) => outcome.failures.push(Fault::Read(fault).failure(Kind::Puffin)?),
        }
        Ok(outcome)
    }

    async fn read_parts(&self, outcome: &mut Outcome) -> Result<(), ReadError> {
        let (size, whole) = self.size_and_whole().await?;
        let frame = self.frame(size);
        let bare = matches!(frame, Frame::Bare { allowed: true });
        let footer = if bare { None } else { self.footer(size, whole.as_ref(), outcome).await? };
        outcome.puffin = Some(Arc::new(PuffinFacts { size, footer, frame }));
        let head = (size >= HEAD_BYTES && !bare).then_some((Part::Head, 0..HEAD_BYTES));
        let parts = self.blobs(size, outcome).into_iter().map(|(index, range)| (Part::Blob(index), range));
        for window in windows(head.into_iter().chain(parts).collect()) {
            self.read_window(&window, whole.as_ref(), outcome).await?;
        }
        Ok(())
    }

    /// Whether the file is a Puffin file, or one vector alone.
    fn frame(&self, size: u64) -> Frame {
        let mut places = self.vectors.iter().map(|(_, vector)| blob_range(&vector.entry.data_file));
        if size == 0 || !places.any(|place| place == Some(0..size)) {
            return Frame::Puffin;
        }
        Frame::Bare { allowed: self.context.levels.of("bare-dv-blob") != Level::Deny }
    }

    /// The object's size, and all its bytes if it is small. Where the entry says that it is, both are asked for at once.
    async fn size_and_whole(&self) -> Result<(u64, Option<Bytes>), ReadError> {
        let source = self.context.source;
        let claimed = self.vectors.iter().map(|(_, vector)| vector.entry.data_file.file_size_in_bytes).max();
        let claimed = claimed.and_then(|size| u64::try_from(size).ok()).filter(|size| (1..=WHOLE_UP_TO).contains(size));
        let Some(claimed) = claimed else {
            let size = source.reader.size(self.path).await?;
            return Ok((size, self.whole(size).await?));
        };
        let (size, bytes) = futures::join!(source.reader.size(self.path), source.read(self.path, Some(0..claimed)));
        let size = size?;
        if size != claimed {
            // The range did not fit the object; how that went says nothing.
            return Ok((size, self.whole(size).await?));
        }
        let bytes = bytes?;
        Ok((size, Some(bytes).filter(|bytes| bytes.len() as u64 == size)))
    }

    async fn whole(&self, size: u64) -> Result<Option<Bytes>, ReadError> {
        match size {
            0 => Ok(Some(Bytes::new())),
            1..=WHOLE_UP_TO => self.context.source.read(self.path, Some(0..size)).await.map(Some),
            _ => Ok(None),
        }
    }

    /// Bytes of the file, from what was read already if it is there.
    async fn bytes(&self, range: Range<u64>, whole: Option<&Bytes>) -> Result<Bytes, ReadError> {
        if let Some(bytes) = whole.and_then(|whole| slice(whole, range.clone())) {
            return Ok(bytes);
        }
        self.context.source.read(self.path, Some(range)).await
    }

    /// The footer; what is wrong with it is a failure, and the blobs are read all the same, as readers do that never
    /// look at the footer.
    async fn footer(
        &self,
        size: u64,
        whole: Option<&Bytes>,
        outcome: &mut Outcome,
    ) -> Result<Option<Footer>, ReadError> {
        let mut tail = self.bytes(size.saturating_sub(TAIL_BYTES)..size, whole).await?;
        let mut parsed = puffin::footer_length(&tail, size);
        if let Ok(length) = parsed
            && length > tail.len() as u64
        {
            tail = self.bytes(size.saturating_sub(length)..size, whole).await?;
            parsed = puffin::footer_length(&tail, size);
        }
        let footer = parsed.and_then(|_| puffin::footer(&tail, size));
        if let Err(fault) = &footer {
            self.fail(fault, outcome);
        }
        Ok(footer.ok())
    }

    fn fail(&self, fault: &puffin::ParseError, outcome: &mut Outcome) {
        let finding = Finding::new(self.path, &fault.expected, &fault.found).at(fault.offset);
        outcome.failures.push(Failure { rule: fault.code(), finding });
    }

    /// The vectors whose bytes are inside the file.
    fn blobs(&self, size: u64, outcome: &mut Outcome) -> Vec<(usize, Range<u64>)> {
        let mut blobs = Vec::new();
        for (index, (_, vector)) in self.vectors.iter().enumerate() {
            let Some(range) = blob_range(&vector.entry.data_file).filter(|range| range.end <= size) else { continue };
            if range.end - range.start > LARGEST_VECTOR {
                let (expected, found) = (format!("at most {LARGEST_VECTOR} bytes"), range.end - range.start);
                let finding = Finding::new(self.path, expected, found).at(range.start);
                outcome.failures.push(Failure { rule: "dv-too-large", finding });
            } else {
                blobs.push((index, range));
            }
        }
        blobs
    }

    /// Reads a window, checks the file's head if it is in there, decodes the vectors and compares them with those they
    /// replace.
    async fn read_window(
        &self,
        window: &Window<Part>,
        whole: Option<&Bytes>,
        outcome: &mut Outcome,
    ) -> Result<(), ReadError> {
        let (bytes, previous) = futures::join!(self.bytes(window.range.clone(), whole), self.previous(window));
        let (bytes, previous) = (bytes?, previous?);
        for (part, range) in &window.blobs {
            let start = window.range.start;
            let bytes = slice(&bytes, range.start - start..range.end - start).unwrap_or_default();
            match part {
                Part::Head => {
                    if let Err(fault) = puffin::check_head(&bytes) {
                        self.fail(&fault, outcome);
                    }
                }
                Part::Blob(index) => self.decode(*index, &bytes, range.start, &previous, outcome),
            }
        }
        Ok(())
    }

    fn decode(&self, index: usize, blob: &[u8], start: u64, previous: &PreviousBlobs<'_>, outcome: &mut Outcome) {
        let Some((_, vector)) = self.vectors.get(index) else { return };
        match DeletionVector::parse(blob) {
            Ok(decoded) => {
                let lost = lost(vector, &decoded, previous, outcome);
                if let Some((_, read)) = outcome.vectors.get_mut(index) {
                    let (cardinality, max_position) = (decoded.cardinality(), decoded.max_position());
                    *read = VectorRead { decoded: Some(Decoded { cardinality, max_position }), lost };
                }
            }
            Err(fault) => {
                let finding = Finding::new(self.path, &fault.expected, &fault.found).at(start + fault.offset);
                outcome.failures.push(Failure { rule: fault.code(), finding });
            }
        }
    }

    /// The vectors that those of a window replace, if a rule asks for them.
    async fn previous(&self, window: &Window<Part>) -> Result<PreviousBlobs<'_>, ReadError> {
        if !self.context.levels.any(&["dv-loses-positions"]) {
            return Ok(PreviousBlobs::new());
        }
        let vectors = window.blobs.iter().filter_map(|(part, _)| match part {
            Part::Head => None,
            Part::Blob(index) => self.vectors.get(*index),
        });
        let files = vectors.flat_map(|(_, vector)| vector.previous.iter().map(|previous| &previous.file));
        let files: Vec<&DataFile> = files.filter(|file| file.is_deletion_vector()).collect();
        previous_blobs(self.context.source, files).await
    }
}

/// What a new vector lacks of each vector that it replaces; none where that is not known.
fn lost(
    vector: &Vector,
    decoded: &DeletionVector,
    previous: &PreviousBlobs<'_>,
    outcome: &mut Outcome,
) -> Vec<Option<LostPositions>> {
    let compare = |file: &DataFile| -> Option<Result<LostPositions, String>> {
        let blob = previous.get(&(&*file.file_path, file.content_offset))?;
        let old = blob
            .as_ref()
            .map_err(Clone::clone)
            .and_then(|blob| DeletionVector::parse(blob).map_err(|fault| format!("the previous vector: {fault}")));
        Some(
            old.map(|old| LostPositions { count: decoded.missing_from(&old), first: decoded.first_missing_from(&old) }),
        )
    };
    let mut all = Vec::with_capacity(vector.previous.len());
    for file in vector.previous.iter().map(|previous| &previous.file) {
        all.push(match compare(file) {
            Some(Ok(lost)) => Some(lost),
            Some(Err(reason)) => {
                outcome.skipped.push(("dv-loses-positions", file.file_path.to_string(), reason));
                None
            }
            None if !file.is_deletion_vector() => {
                let reason = "position delete files are not opened: only their counts are compared";
                outcome.skipped.push(("dv-loses-positions", file.file_path.to_string(), reason.to_owned()));
                None
            }
            None => None,
        });
    }
    all
}
