//! Reads the footers of statistics files that a commit adds.

use crate::puffin;
use crate::spec::{StatisticsFile, TableMetadata};
use crate::validate::facts::{StatisticsFacts, StatisticsRead};
use crate::validate::finding::{Finding, NotChecked};
use crate::validate::levels::Levels;
use crate::validate::read::{ReadBytes, ReadError, Unavailable};

use super::Source;

/// How many statistics files of one commit are read.
const MOST_READ: usize = 20;
/// How much of the end of a file is read at first.
const TAIL_BYTES: u64 = 64 << 10;

/// The statistics files that are in the new metadata and not in the old.
pub(super) async fn gather<'a, R: ReadBytes>(
    source: &Source<'_, R>,
    levels: &Levels,
    base: &TableMetadata,
    new: &'a TableMetadata,
    not_checked: &mut Vec<NotChecked>,
) -> Result<Vec<StatisticsFacts<'a>>, Unavailable> {
    let added = new.statistics.iter().filter(|file| !base.statistics.contains(file));
    let mut facts: Vec<StatisticsFacts<'a>> =
        added.map(|file| StatisticsFacts { file, fault: None, read: None }).collect();
    if !levels.any(&["statistics-file"]) {
        return Ok(facts);
    }
    if facts.len() > MOST_READ {
        let reason = format!("only the first {MOST_READ} of {} statistics files were read (cost)", facts.len());
        not_checked.push(NotChecked { rule: "statistics-file", object: new.location.clone(), reason });
    }
    for of_file in facts.iter_mut().take(MOST_READ) {
        match read(source.reader, of_file.file).await {
            Ok(Ok(read)) => of_file.read = Some(read),
            Ok(Err(finding)) => of_file.fault = Some(finding),
            Err(ReadError::Unavailable { location, source }) => return Err(Unavailable { location, source }),
            Err(ReadError::Outside { location, .. }) => not_checked.push(NotChecked {
                rule: "statistics-file",
                object: location,
                reason: "it lies where the warehouse may not read".to_owned(),
            }),
            Err(fault @ (ReadError::NotFound { .. } | ReadError::TooLarge { .. })) => {
                of_file.fault = Some(Finding::new(&of_file.file.statistics_path, "a Puffin file", fault));
            }
        }
    }
    Ok(facts)
}

/// Size, footer size and footer; or what makes the file no Puffin file.
async fn read<R: ReadBytes>(reader: &R, file: &StatisticsFile) -> Result<Result<StatisticsRead, Finding>, ReadError> {
    let path = &file.statistics_path;
    let size = reader.size(path).await?;
    if size == 0 {
        return Ok(Err(Finding::new(path, "a Puffin file", "0 bytes")));
    }
    let mut tail = reader.read(path, Some(size.saturating_sub(TAIL_BYTES)..size)).await?;
    let length = puffin::footer_length(&tail, size);
    if let Ok(length) = length
        && length > tail.len() as u64
    {
        tail = reader.read(path, Some(size.saturating_sub(length)..size)).await?;
    }
    let footer = length.and_then(|length| Ok((length, puffin::footer(&tail, size)?)));
    Ok(match footer {
        Ok((footer_size, footer)) => Ok(StatisticsRead { size, footer_size, footer }),
        Err(fault) => Err(Finding::new(path, &fault.expected, &fault.found).at(fault.offset)),
    })
}
