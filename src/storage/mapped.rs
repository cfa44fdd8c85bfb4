//! Reading for tools: everywhere, with some places looked for elsewhere.

use std::borrow::Cow;
use std::ops::Range;

use bytes::Bytes;

use super::{Error, Location, Storage};
use crate::validate::{ReadBytes, ReadError};

/// A [`Storage`] for tables whose files lie elsewhere than their metadata says: a copy in a folder, say.
#[derive(Debug, Clone)]
pub struct Mapped {
    storage: Storage,
    /// Where the metadata says, and where to look; the longest first.
    maps: Vec<(Location, Location)>,
}

impl Mapped {
    /// Reads from this storage. What lies under the first place of a pair is looked for under the second.
    pub fn new(storage: Storage, mut maps: Vec<(Location, Location)>) -> Self {
        maps.sort_by_key(|(from, _)| std::cmp::Reverse(from.key().len()));
        Self { storage, maps }
    }

    /// Reads a whole object.
    pub async fn whole(&self, location: &str) -> Result<Bytes, Error> {
        self.storage.read(&self.place(location)).await
    }

    fn place<'a>(&self, location: &'a str) -> Cow<'a, str> {
        let Ok(parsed) = Location::parse(location) else { return Cow::Borrowed(location) };
        let found = self.maps.iter().find_map(|(from, to)| parsed.moved(from, to));
        found.map_or(Cow::Borrowed(location), |moved| Cow::Owned(moved.to_string()))
    }
}

impl ReadBytes for Mapped {
    fn permit(&self, _: &str) -> Result<(), ReadError> {
        // Who runs a tool may read what the tool may read.
        Ok(())
    }

    async fn size(&self, location: &str) -> Result<u64, ReadError> {
        self.storage.size(&self.place(location)).await.map_err(|error| read_error(location, error))
    }

    async fn read(&self, location: &str, range: Option<Range<u64>>) -> Result<Bytes, ReadError> {
        let place = self.place(location);
        let read = match range {
            Some(range) => self.storage.read_range(&place, range).await,
            None => self.storage.read(&place).await,
        };
        read.map_err(|error| read_error(location, error))
    }
}

/// What an error means to a tool. That a location is of a kind that cannot be read here is no fault of the table.
fn read_error(location: &str, error: Error) -> ReadError {
    let location = location.to_owned();
    match error {
        Error::NotFound { .. } => ReadError::NotFound { location },
        Error::TooLarge { size, limit, .. } => ReadError::TooLarge { location, size, limit },
        other => ReadError::Unavailable { location, source: Box::new(other) },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::StorageConfig;

    #[test]
    fn the_longest_map_wins_and_segments_are_whole() {
        let map = |from: &str, to: &str| (Location::parse(from).unwrap(), Location::parse(to).unwrap());
        let maps = vec![map("gs://w", "/all"), map("gs://w/a", "/one"), map("s3://x/y", "gs://z/q")];
        let mapped = Mapped::new(Storage::new(StorageConfig::default()).unwrap(), maps);
        for (location, place) in [
            ("gs://w/b/c", "file:///all/b/c"),
            ("gs://w/a/c", "file:///one/c"),
            ("gs://w/ab/c", "file:///all/ab/c"),
            ("s3a://x/y/z.avro", "gs://z/q/z.avro"),
            ("s3://x/z", "s3://x/z"),
            ("hdfs://x/z", "hdfs://x/z"),
        ] {
            assert_eq!(mapped.place(location), place, "{location}");
        }
    }
}
