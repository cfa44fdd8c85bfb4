//! Manifests (spec: "Manifests", "Data file fields").

use super::bounds;
use super::container::Container;
use super::cursor::{Cursor, Fault};
use super::details::{DETAIL_COLUMNS, Details};
use super::layout::{Column, Layout, Shape, column, record_fields};
use super::partition::{self, Partition, PartitionColumn, Value};
use super::schema::{Field, Type};
use super::{Limits, Metadata, ParseError};

/// A manifest: the files that one or more commits put into one list.
#[derive(Debug, Clone, PartialEq)]
pub struct Manifest {
    /// The file's key-value pairs: `schema`, `partition-spec`, `partition-spec-id`, `format-version`, `content`.
    pub metadata: Metadata,
    /// The fields of the partition record, in the file's order.
    pub partition_columns: Vec<PartitionColumn>,
    /// The entries, in the order of the file (row ids are assigned in it).
    pub entries: Vec<ManifestEntry>,
}

/// One file and what the manifest says happened to it.
#[derive(Debug, Clone, PartialEq)]
pub struct ManifestEntry {
    /// Carried, added or removed (0).
    pub status: Status,
    /// The snapshot that added or removed the file (1); none means: the one that wrote the manifest.
    pub snapshot_id: Option<i64>,
    /// Data sequence number (3); none means: that of the manifest.
    pub sequence_number: Option<i64>,
    /// File sequence number (4); none means: that of the manifest.
    pub file_sequence_number: Option<i64>,
    /// The file (2).
    pub data_file: DataFile,
}

/// A data file or a delete file.
#[derive(Debug, Clone, PartialEq)]
pub struct DataFile {
    /// What the file holds (134); data where absent.
    pub content: FileContent,
    /// Its location (100).
    pub file_path: Box<str>,
    /// Its format (101).
    pub file_format: FileFormat,
    /// Its partition tuple (102).
    pub partition: Partition,
    /// Its number of records (103); of a deletion vector, the number of positions.
    pub record_count: i64,
    /// The size of the whole file in bytes (104).
    pub file_size_in_bytes: i64,
    /// Fields that an equality delete file compares (135).
    pub equality_ids: Option<Vec<i32>>,
    /// The sort order it was written in (140).
    pub sort_order_id: Option<i32>,
    /// Row id of its first row (142); none means: assigned from the manifest's.
    pub first_row_id: Option<i64>,
    /// The only data file that a delete file applies to (143).
    pub referenced_data_file: Option<Box<str>>,
    /// Where a deletion vector starts in its file, in bytes (144).
    pub content_offset: Option<i64>,
    /// The length of a deletion vector, in bytes (145).
    pub content_size_in_bytes: Option<i64>,
    /// The only data file that the bounds of a position delete file name (125, 128): how writers said it before
    /// format version 3.
    pub path_in_bounds: Option<Box<str>>,
    /// Whether key metadata is present (131): the file is encrypted.
    pub encrypted: bool,
    /// What [`Manifest::parse`] passes over.
    pub details: Option<Box<Details>>,
}

/// What happened to the file of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// Was there before the manifest was written (0).
    Existing,
    /// Added by the snapshot that wrote the manifest (1).
    Added,
    /// Removed by the snapshot that wrote the manifest (2).
    Deleted,
    /// A number the spec does not define.
    Other(i32),
}

/// What a file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileContent {
    /// Rows (0).
    Data,
    /// Positions of deleted rows: a position delete file or a deletion vector (1).
    PositionDeletes,
    /// Values of deleted rows (2).
    EqualityDeletes,
    /// A number the spec does not define.
    Other(i32),
}

/// A file format; names are compared without case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileFormat {
    /// Apache Avro.
    Avro,
    /// Apache ORC.
    Orc,
    /// Apache Parquet.
    Parquet,
    /// Puffin: a deletion vector.
    Puffin,
    /// A name the spec does not define.
    Other(Box<str>),
}

impl ManifestEntry {
    /// Whether the file is part of the snapshot.
    pub fn is_live(&self) -> bool {
        matches!(self.status, Status::Existing | Status::Added)
    }
}

impl DataFile {
    /// Whether the file is a deletion vector: position deletes in a Puffin file.
    pub fn is_deletion_vector(&self) -> bool {
        self.content == FileContent::PositionDeletes && self.file_format == FileFormat::Puffin
    }

    /// The only data file that a position delete file applies to, if it says so in one way or the other.
    pub fn only_data_file(&self) -> Option<&str> {
        self.referenced_data_file.as_deref().or(self.path_in_bounds.as_deref())
    }
}

impl Manifest {
    /// Reads a manifest, without the details of its files.
    pub fn parse(bytes: &[u8], limits: Limits) -> Result<Self, ParseError> {
        Self::read(bytes, limits, false)
    }

    /// Reads a manifest with everything that it says about its files.
    pub fn parse_with_details(bytes: &[u8], limits: Limits) -> Result<Self, ParseError> {
        Self::read(bytes, limits, true)
    }

    fn read(bytes: &[u8], limits: Limits, with_details: bool) -> Result<Self, ParseError> {
        let file = Container::open(bytes)?;
        let reader = EntryReader::of(&file, with_details)?;
        let mut entries: Vec<ManifestEntry> = Vec::new();
        file.rows(limits, |cursor| {
            let entry = reader.entry(cursor, entries.last().map(|entry| &entry.data_file.partition))?;
            entries.push(entry);
            Ok(())
        })?;
        let partition_columns = reader.partition_columns();
        Ok(Self { metadata: file.metadata, partition_columns, entries })
    }
}

/// The locations of a manifest's live files, of which this keeps nothing else.
pub fn live_files(bytes: &[u8], limits: Limits) -> Result<Vec<Box<str>>, ParseError> {
    let file = Container::open(bytes)?;
    let reader = EntryReader::of(&file, false)?;
    let mut paths = Vec::new();
    file.rows(limits, |cursor| {
        let entry = reader.entry(cursor, None)?;
        if entry.is_live() {
            paths.push(entry.data_file.file_path);
        }
        Ok(())
    })?;
    Ok(paths)
}

/// The layouts of one manifest's records.
struct EntryReader<'t> {
    entry: Layout<'t>,
    data_file: Layout<'t>,
    partition: &'t [Field],
    partition_ids: Vec<i32>,
    with_details: bool,
}

impl<'t> EntryReader<'t> {
    fn of(file: &'t Container<'_>, with_details: bool) -> Result<Self, ParseError> {
        let entry = Layout::of(record_fields(&file.schema, file, "a manifest entry")?, &[ENTRY_COLUMNS], file)?;
        let columns: &[_] = if with_details { &[DATA_FILE_COLUMNS, DETAIL_COLUMNS] } else { &[DATA_FILE_COLUMNS] };
        let data_file = match entry.type_of(DATA_FILE) {
            Some(of) => Layout::of(record_fields(of, file, "a data file")?, columns, file)?,
            None => Layout { fields: Vec::new() },
        };
        let partition = match data_file.type_of(PARTITION) {
            Some(of) => record_fields(of, file, "a partition")?,
            None => &[],
        };
        let partition_ids = partition_ids(partition, file)?;
        Ok(Self { entry, data_file, partition, partition_ids, with_details })
    }

    fn partition_columns(&self) -> Vec<PartitionColumn> {
        let fields = self.partition.iter().zip(&self.partition_ids);
        fields.map(|(field, id)| PartitionColumn { field_id: *id, kind: partition::kind(&field.of) }).collect()
    }

    /// Reads one entry. Entries of one partition often follow each other; they share `previous`.
    fn entry(&self, cursor: &mut Cursor<'_>, previous: Option<&Partition>) -> Result<ManifestEntry, Fault> {
        let (mut status, mut snapshot_id, mut sequence_number, mut file_sequence_number) = (None, None, None, None);
        let mut data_file = None;
        for (id, of) in &self.entry.fields {
            match *id {
                Some(STATUS) => status = cursor.optional_int(of)?,
                Some(SNAPSHOT_ID) => snapshot_id = cursor.optional_long(of)?,
                Some(SEQUENCE_NUMBER) => sequence_number = cursor.optional_long(of)?,
                Some(FILE_SEQUENCE_NUMBER) => file_sequence_number = cursor.optional_long(of)?,
                Some(DATA_FILE) => {
                    cursor.enter_record(of)?;
                    data_file = Some(self.data_file(cursor, previous)?);
                }
                _ => cursor.skip(of)?,
            }
        }
        Ok(ManifestEntry {
            status: Status::from(status.ok_or_else(|| null("status"))?),
            snapshot_id,
            sequence_number,
            file_sequence_number,
            data_file: data_file.ok_or_else(|| null("data_file"))?,
        })
    }

    fn data_file(&self, cursor: &mut Cursor<'_>, previous: Option<&Partition>) -> Result<DataFile, Fault> {
        let mut row = DataFile::unset();
        let (mut path, mut format, mut records, mut size) = (None, None, None, None);
        let mut details = self.with_details.then(Box::<Details>::default);
        let (mut lower, mut upper) = (None, None);
        for (id, of) in &self.data_file.fields {
            match *id {
                Some(CONTENT) => row.content = FileContent::from(cursor.optional_int(of)?.unwrap_or(0)),
                Some(FILE_PATH) => path = cursor.optional_text(of)?,
                Some(FILE_FORMAT) => format = cursor.optional_text(of)?,
                Some(PARTITION) => row.partition = self.partition(cursor, of, previous)?,
                Some(RECORD_COUNT) => records = cursor.optional_long(of)?,
                Some(FILE_SIZE) => size = cursor.optional_long(of)?,
                Some(KEY_METADATA) => {
                    let key_metadata = cursor.optional_bytes(of)?;
                    row.encrypted = key_metadata.is_some();
                    if let Some(details) = &mut details {
                        details.key_metadata = key_metadata.map(Into::into);
                    }
                }
                Some(EQUALITY_IDS) => row.equality_ids = integers(cursor, of)?,
                Some(SORT_ORDER_ID) => row.sort_order_id = cursor.optional_int(of)?,
                Some(FIRST_ROW_ID) => row.first_row_id = cursor.optional_long(of)?,
                Some(REFERENCED_DATA_FILE) => row.referenced_data_file = cursor.optional_text(of)?.map(Into::into),
                Some(CONTENT_OFFSET) => row.content_offset = cursor.optional_long(of)?,
                Some(CONTENT_SIZE) => row.content_size_in_bytes = cursor.optional_long(of)?,
                other => {
                    // The path is looked up by a second cursor: details keep the bounds whole.
                    match other {
                        Some(LOWER_BOUNDS) if row.deletes_positions() => {
                            lower = bounds::of_file_path(&mut cursor.clone(), of)?;
                        }
                        Some(UPPER_BOUNDS) if row.deletes_positions() => {
                            upper = bounds::of_file_path(&mut cursor.clone(), of)?;
                        }
                        _ => {}
                    }
                    match &mut details {
                        Some(details) => details.read(other, cursor, of)?,
                        None => cursor.skip(of)?,
                    }
                }
            }
        }
        row.details = details;
        row.file_path = path.ok_or_else(|| null("file_path"))?.into();
        row.file_format = FileFormat::from(format.ok_or_else(|| null("file_format"))?);
        row.record_count = records.ok_or_else(|| null("record_count"))?;
        row.file_size_in_bytes = size.ok_or_else(|| null("file_size_in_bytes"))?;
        row.path_in_bounds = lower.filter(|lower| upper.as_ref() == Some(lower));
        Ok(row)
    }

    fn partition(&self, cursor: &mut Cursor<'_>, of: &Type, previous: Option<&Partition>) -> Result<Partition, Fault> {
        cursor.enter_record(of)?;
        let values: Vec<(i32, Value)> = partition::read(cursor, self.partition, &self.partition_ids)?;
        let partition = Partition::new(values);
        Ok(match previous {
            Some(previous) if *previous == partition => previous.clone(),
            _ => partition,
        })
    }
}

/// The ids of the partition record's fields: their own, else those of the `partition-spec` in the header, by place.
fn partition_ids(fields: &[Field], file: &Container<'_>) -> Result<Vec<i32>, ParseError> {
    if let Some(ids) = fields.iter().map(|field| field.id).collect::<Option<Vec<_>>>() {
        return Ok(ids);
    }
    let spec = file.metadata.get("partition-spec").and_then(|text| serde_json::from_str(text).ok());
    let spec: Vec<serde_json::Value> = spec.unwrap_or_default();
    let id = |field: &serde_json::Value| field.get("field-id")?.as_i64().and_then(|id| i32::try_from(id).ok());
    match spec.iter().map(id).collect::<Option<Vec<_>>>() {
        Some(ids) if ids.len() == fields.len() => Ok(ids),
        _ => Err(ParseError::new(file.header_offset, "field ids in the partition record or spec", "none")),
    }
}

fn integers(cursor: &mut Cursor<'_>, of: &Type) -> Result<Option<Vec<i32>>, Fault> {
    let mut values = Vec::new();
    let present = cursor.items(of, &mut |cursor, item| {
        values.extend(cursor.optional_int(item)?);
        Ok(())
    })?;
    Ok(present.then_some(values))
}

fn null(column: &str) -> Fault {
    Fault::new(format!("a value for {column}"), "null")
}

impl DataFile {
    fn deletes_positions(&self) -> bool {
        self.content == FileContent::PositionDeletes
    }

    fn unset() -> Self {
        Self {
            content: FileContent::Data,
            file_path: Box::default(),
            file_format: FileFormat::Parquet,
            partition: Partition::default(),
            record_count: 0,
            file_size_in_bytes: 0,
            equality_ids: None,
            sort_order_id: None,
            first_row_id: None,
            referenced_data_file: None,
            content_offset: None,
            content_size_in_bytes: None,
            path_in_bounds: None,
            encrypted: false,
            details: None,
        }
    }
}

impl From<i32> for Status {
    fn from(number: i32) -> Self {
        match number {
            0 => Self::Existing,
            1 => Self::Added,
            2 => Self::Deleted,
            other => Self::Other(other),
        }
    }
}

impl From<i32> for FileContent {
    fn from(number: i32) -> Self {
        match number {
            0 => Self::Data,
            1 => Self::PositionDeletes,
            2 => Self::EqualityDeletes,
            other => Self::Other(other),
        }
    }
}

impl From<&str> for FileFormat {
    fn from(name: &str) -> Self {
        let known = [("parquet", Self::Parquet), ("puffin", Self::Puffin), ("avro", Self::Avro), ("orc", Self::Orc)];
        let found = known.into_iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map_or_else(|| Self::Other(name.into()), |(_, format)| format)
    }
}

const STATUS: i32 = 0;
const SNAPSHOT_ID: i32 = 1;
const DATA_FILE: i32 = 2;
const SEQUENCE_NUMBER: i32 = 3;
const FILE_SEQUENCE_NUMBER: i32 = 4;
const FILE_PATH: i32 = 100;
const FILE_FORMAT: i32 = 101;
const PARTITION: i32 = 102;
const RECORD_COUNT: i32 = 103;
const FILE_SIZE: i32 = 104;
const LOWER_BOUNDS: i32 = 125;
const UPPER_BOUNDS: i32 = 128;
const KEY_METADATA: i32 = 131;
const CONTENT: i32 = 134;
const EQUALITY_IDS: i32 = 135;
const SORT_ORDER_ID: i32 = 140;
const FIRST_ROW_ID: i32 = 142;
const REFERENCED_DATA_FILE: i32 = 143;
const CONTENT_OFFSET: i32 = 144;
const CONTENT_SIZE: i32 = 145;

const ENTRY_COLUMNS: &[Column] = &[
    column(STATUS, &["status"], Shape::Integer, true),
    column(SNAPSHOT_ID, &["snapshot_id"], Shape::Integer, false),
    column(SEQUENCE_NUMBER, &["sequence_number"], Shape::Integer, false),
    column(FILE_SEQUENCE_NUMBER, &["file_sequence_number"], Shape::Integer, false),
    column(DATA_FILE, &["data_file"], Shape::Record, true),
];

const DATA_FILE_COLUMNS: &[Column] = &[
    column(CONTENT, &["content"], Shape::Integer, false),
    column(FILE_PATH, &["file_path"], Shape::Text, true),
    column(FILE_FORMAT, &["file_format"], Shape::Text, true),
    column(PARTITION, &["partition"], Shape::Record, false),
    column(RECORD_COUNT, &["record_count"], Shape::Integer, true),
    column(FILE_SIZE, &["file_size_in_bytes"], Shape::Integer, true),
    column(LOWER_BOUNDS, &["lower_bounds"], Shape::Any, false),
    column(UPPER_BOUNDS, &["upper_bounds"], Shape::Any, false),
    column(KEY_METADATA, &["key_metadata"], Shape::Bytes, false),
    column(EQUALITY_IDS, &["equality_ids"], Shape::Array, false),
    column(SORT_ORDER_ID, &["sort_order_id"], Shape::Integer, false),
    column(FIRST_ROW_ID, &["first_row_id"], Shape::Integer, false),
    column(REFERENCED_DATA_FILE, &["referenced_data_file"], Shape::Text, false),
    column(CONTENT_OFFSET, &["content_offset"], Shape::Integer, false),
    column(CONTENT_SIZE, &["content_size_in_bytes"], Shape::Integer, false),
];
