//! One 32-bit Roaring bitmap in the portable format, walked header by header before it is decoded.
//!
//! `roaring`'s checked reader verifies what is inside the containers (order of arrays, population of bitsets, order
//! of runs), which would cost as much once more here, but reads the offset header and the declared cardinality of run containers without looking at them, and
//! its errors have no place. So the headers are checked here, which also finds the bitmap's exact end, and a
//! container that `roaring` refuses is looked for by [`locate`].

use roaring::RoaringBitmap;

use super::{ContainerKind, ContainerShape, ParseError};

const COOKIE_NO_RUNS: u32 = 12_346;
const COOKIE_RUNS: u32 = 12_347;
/// With runs, fewer containers than this have no offset header.
const OFFSETS_FROM: usize = 4;
const MOST_CONTAINERS: u32 = 1 << 16;
/// Up to this cardinality a container is an array, above it a bitset.
const MOST_ARRAY_VALUES: u32 = 4096;
const BITSET_BYTES: usize = 8192;

/// Reads the bitmap that starts at `start` and must end at or before `end`; answers it and where it ends.
pub(super) fn bitmap(blob: &[u8], start: usize, end: usize) -> Result<(RoaringBitmap, usize), ParseError> {
    let headers = Headers::read(blob, start, end)?;
    let mut at = headers.containers_start;
    let mut last_key = None;
    for index in 0..headers.containers {
        let container = headers.container(index, end)?;
        if let Some(last) = last_key.replace(container.key)
            && container.key <= last
        {
            let (expected, found) = (format!("a container key above {last}"), container.key.to_string());
            return Err(ParseError::new("bitmap-container-order", container.described_at, expected, found));
        }
        headers.check_offset(index, at, end)?;
        at = container.end(blob, at, end)?;
    }
    let bytes = blob.get(start..at).unwrap_or_default();
    match RoaringBitmap::deserialize_from(bytes) {
        Ok(bitmap) => Ok((bitmap, at)),
        Err(fault) => Err(locate(&headers, end, &fault.to_string())),
    }
}

/// The containers of a bitmap that [`bitmap`] accepts, and where it ends.
pub(super) fn containers(blob: &[u8], start: usize, end: usize) -> Result<(Vec<ContainerShape>, usize), ParseError> {
    let headers = Headers::read(blob, start, end)?;
    let mut at = headers.containers_start;
    let mut shapes = Vec::with_capacity(headers.containers);
    for index in 0..headers.containers {
        let container = headers.container(index, end)?;
        let kind = if container.runs {
            ContainerKind::Run(u16_at(blob, at, end, "a run count")?.into())
        } else if container.cardinality <= MOST_ARRAY_VALUES {
            ContainerKind::Array
        } else {
            ContainerKind::Bitmap
        };
        let Container { key, cardinality, .. } = container;
        shapes.push(ContainerShape { key, kind, cardinality, offset: at as u64 });
        at = container.end(blob, at, end)?;
    }
    Ok((shapes, at))
}

/// Where the parts of a bitmap's header are.
struct Headers<'a> {
    blob: &'a [u8],
    /// Where the bitmap starts; its offset header counts from here.
    start: usize,
    containers: usize,
    run_flags: Option<usize>,
    descriptions: usize,
    offsets: Option<usize>,
    containers_start: usize,
}

impl<'a> Headers<'a> {
    fn read(blob: &'a [u8], start: usize, end: usize) -> Result<Self, ParseError> {
        let cookie = u32_at(blob, start, end, "a Roaring cookie")?;
        let (containers, run_flags, after) = if cookie == COOKIE_NO_RUNS {
            let count = u32_at(blob, start + 4, end, "a container count")?;
            if count > MOST_CONTAINERS {
                let expected = format!("at most {MOST_CONTAINERS} containers");
                return Err(ParseError::new("bitmap-container-count", start + 4, expected, count.to_string()));
            }
            (count as usize, None, start + 8)
        } else if cookie & 0xffff == COOKIE_RUNS {
            let count = (cookie >> 16) as usize + 1;
            (count, Some(start + 4), start + 4 + count.div_ceil(8))
        } else {
            let expected = "the cookie 12346, or 12347 in its low 16 bits";
            return Err(ParseError::new("bitmap-cookie", start, expected, cookie.to_string()));
        };
        let has_offsets = run_flags.is_none() || containers >= OFFSETS_FROM;
        let offsets = has_offsets.then_some(after + 4 * containers);
        let containers_start = after + if has_offsets { 8 * containers } else { 4 * containers };
        check_room(containers_start, end, start, "the header of the bitmap")?;
        Ok(Self { blob, start, containers, run_flags, descriptions: after, offsets, containers_start })
    }

    /// The description of a container.
    fn container(&self, index: usize, end: usize) -> Result<Container, ParseError> {
        let described_at = self.descriptions + 4 * index;
        let description = u32_at(self.blob, described_at, end, "a container's description")?;
        let runs = self.run_flags.and_then(|flags| self.blob.get(flags + index / 8));
        let runs = runs.is_some_and(|flags| flags & (1 << (index % 8)) != 0);
        Ok(Container { described_at, key: description & 0xffff, cardinality: (description >> 16) + 1, runs })
    }

    /// The offset header says where the container starts.
    fn check_offset(&self, index: usize, container: usize, end: usize) -> Result<(), ParseError> {
        let Some(offsets) = self.offsets else { return Ok(()) };
        let at = offsets + 4 * index;
        let declared = u32_at(self.blob, at, end, "a container's offset")? as usize;
        let actual = container - self.start;
        if declared == actual {
            return Ok(());
        }
        Err(ParseError::new("bitmap-offsets", at, format!("container offset {actual}"), declared.to_string()))
    }
}

struct Container {
    described_at: usize,
    key: u32,
    cardinality: u32,
    runs: bool,
}

impl Container {
    /// Where the container that starts at `at` ends. The runs of a run container are checked on the way.
    fn end(&self, blob: &[u8], at: usize, end: usize) -> Result<usize, ParseError> {
        if self.runs {
            return self.run_end(blob, at, end);
        }
        let (bytes, what) = match self.cardinality {
            ..=MOST_ARRAY_VALUES => (2 * self.cardinality as usize, "an array container"),
            _ => (BITSET_BYTES, "a bitset container"),
        };
        check_room(at + bytes, end, at, what)?;
        Ok(at + bytes)
    }

    /// Where a run container ends, if its runs have as many values as its description says. Their order is `roaring`'s
    /// to check; where it finds a fault, [`check_runs`] says which.
    fn run_end(&self, blob: &[u8], at: usize, end: usize) -> Result<usize, ParseError> {
        let runs = u16_at(blob, at, end, "a run count")?;
        if runs == 0 {
            return Err(ParseError::new("bitmap-run", at, "at least one run", "none"));
        }
        let after = at + 2 + 4 * usize::from(runs);
        check_room(after, end, at, "a run container")?;
        let pairs = blob.get(at + 2..after).unwrap_or_default().as_chunks::<4>().0;
        // A pair is a start and a length less 1: taken as one number, the length is its upper half.
        let lengths: u32 = pairs.iter().map(|pair| u32::from_le_bytes(*pair) >> 16).sum();
        let sum = lengths + u32::from(runs);
        if sum != self.cardinality {
            check_runs(pairs, at)?;
            let expected = format!("{} values, as the container's description says", self.cardinality);
            return Err(ParseError::new("bitmap-run", at, expected, format!("runs of {sum}")));
        }
        Ok(after)
    }
}

/// Runs ascend, do not touch each other, and end with the container.
fn check_runs(pairs: &[[u8; 4]], at: usize) -> Result<(), ParseError> {
    let mut next_start = 0_u32;
    for (index, [s0, s1, l0, l1]) in pairs.iter().enumerate() {
        let (first, more) = (u32::from(u16::from_le_bytes([*s0, *s1])), u32::from(u16::from_le_bytes([*l0, *l1])));
        let last = first + more;
        if (index > 0 && first < next_start) || last > 0xffff {
            let expected = format!("a run that starts at {next_start} or later and ends at 65535 or before");
            return Err(ParseError::new("bitmap-run", at + 2 + 4 * index, expected, format!("{first}..={last}")));
        }
        next_start = last + 2; // a run that touches the one before would be part of it
    }
    Ok(())
}

/// Finds the container that `roaring` refused, for the place and the name of the fault.
fn locate(headers: &Headers<'_>, end: usize, fault: &str) -> ParseError {
    let mut at = headers.containers_start;
    for index in 0..headers.containers {
        let Ok(container) = headers.container(index, end) else { break };
        let Ok(after) = container.end(headers.blob, at, end) else { break };
        let content = headers.blob.get(at..after).unwrap_or_default();
        if container.runs {
            let pairs = content.get(2..).unwrap_or_default().as_chunks::<4>().0;
            if let Err(fault) = check_runs(pairs, at) {
                return fault;
            }
        } else if container.cardinality <= MOST_ARRAY_VALUES {
            let values = content.as_chunks::<2>().0;
            let pairs = values.iter().zip(values.iter().skip(1));
            for (place, (before, next)) in pairs.enumerate() {
                let (before, next) = (u16::from_le_bytes(*before), u16::from_le_bytes(*next));
                if next <= before {
                    let (expected, found) = (format!("an array value above {before}"), next.to_string());
                    return ParseError::new("bitmap-array-order", at + 2 * (place + 1), expected, found);
                }
            }
        } else {
            let population: u32 = content.iter().map(|byte| byte.count_ones()).sum();
            if population != container.cardinality {
                let expected = format!("a bitset of {} values, as its description says", container.cardinality);
                return ParseError::new("bitmap-bitset-cardinality", at, expected, population.to_string());
            }
        }
        at = after;
    }
    ParseError::new("bitmap-invalid", headers.start, "a 32-bit Roaring bitmap in the portable format", fault)
}

/// A little-endian number of 4 bytes at `at`, before `end`.
#[inline]
pub(super) fn u32_at(blob: &[u8], at: usize, end: usize, what: &str) -> Result<u32, ParseError> {
    check_room(at + 4, end, at, what)?;
    let bytes = blob.get(at..).and_then(|rest| rest.first_chunk());
    Ok(bytes.map_or(0, |bytes| u32::from_le_bytes(*bytes)))
}

#[inline]
fn u16_at(blob: &[u8], at: usize, end: usize, what: &str) -> Result<u16, ParseError> {
    check_room(at + 2, end, at, what)?;
    let bytes = blob.get(at..).and_then(|rest| rest.first_chunk());
    Ok(bytes.map_or(0, |bytes| u16::from_le_bytes(*bytes)))
}

#[inline]
fn check_room(needed: usize, end: usize, at: usize, what: &str) -> Result<(), ParseError> {
    if needed <= end {
        return Ok(());
    }
    let expected = format!("{} bytes of {what}", needed - at);
    Err(ParseError::new("bitmap-truncated", at, expected, format!("{} before the checksum", end.saturating_sub(at))))
}
