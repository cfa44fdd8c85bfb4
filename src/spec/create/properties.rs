//! Properties of a new table (spec.md 2.3): which are kept, which must make sense.

use indexmap::IndexMap;

use crate::spec::error::{Error, Result};
use crate::spec::schema::Schema;

/// Properties that tell a create what to do, and say what metadata says anyway. They are never stored.
const RESERVED: &[&str] = &[
    "format-version",
    "uuid",
    "snapshot-count",
    "current-snapshot-id",
    "current-snapshot-summary",
    "current-snapshot-timestamp-ms",
    "current-schema",
    "default-partition-spec",
    "default-sort-order",
];

/// Properties of commits, which would all fail if one of these were no number.
const COMMIT: &[&str] = &[
    "commit.retry.num-retries",
    "commit.retry.min-wait-ms",
    "commit.retry.max-wait-ms",
    "commit.retry.total-timeout-ms",
];

/// Properties of table encryption, which came with format version 3.
const ENCRYPTION: &[&str] = &["encryption.key-id", "encryption.data-key-length"];

/// What comes before a column's name in the property that says which metrics to keep of it.
const METRICS_OF_COLUMN: &str = "write.metadata.metrics.column.";

/// What the reference server stores with every new table, since old clients take another default.
const PARQUET_COMPRESSION: (&str, &str) = ("write.parquet.compression-codec", "zstd");

/// The properties that a new table keeps of those that the client set.
pub(super) fn stored(properties: &IndexMap<String, String>) -> IndexMap<String, String> {
    let (key, value) = PARQUET_COMPRESSION;
    let mut stored = IndexMap::from([(key.to_owned(), value.to_owned())]);
    let set = properties.iter().filter(|(key, _)| !RESERVED.contains(&key.as_str()));
    stored.extend(set.map(|(key, value)| (key.clone(), value.clone())));
    stored
}

/// Whether the properties make sense for a new table.
pub(super) fn check(properties: &IndexMap<String, String>, schema: &Schema, format_version: u8) -> Result<()> {
    check_metrics(properties, schema)?;
    for key in COMMIT {
        let Some(value) = properties.get(*key) else { continue };
        match value.parse::<i32>() {
            Err(_) => return Err(Error::invalid(format!("Table property {key} must have integer value"))),
            Ok(..0) => {
                return Err(Error::invalid(format!("Table property {key} must have non negative integer value")));
            }
            Ok(_) => {}
        }
    }
    let encryption: Vec<_> = ENCRYPTION.iter().copied().filter(|key| properties.contains_key(*key)).collect();
    if format_version < 3 && !encryption.is_empty() {
        let found = encryption.join(", ");
        return Err(Error::invalid(format!("Invalid properties for v{format_version}: [{found}]")));
    }
    Ok(())
}

fn check_metrics(properties: &IndexMap<String, String>, schema: &Schema) -> Result<()> {
    let columns = properties.keys().filter_map(|key| key.strip_prefix(METRICS_OF_COLUMN));
    for column in columns {
        if schema.find_by_name(column).is_none() {
            let text = format!("Invalid metrics config, could not find column {column}");
            return Err(Error::invalid(format!("{text} from table prop {METRICS_OF_COLUMN}{column}")));
        }
    }
    Ok(())
}
