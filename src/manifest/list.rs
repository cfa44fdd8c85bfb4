//! Manifest lists (spec: "Manifest lists").

use super::container::Container;
use super::cursor::{Cursor, Fault};
use super::layout::{Column, Layout, Shape, column, record_fields};
use super::schema::Type;
use super::{Limits, Metadata, ParseError};

/// The manifests of one snapshot.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ManifestList {
    /// The file's key-value pairs: `snapshot-id`, `sequence-number`, ... as far as the writer gave them.
    pub metadata: Metadata,
    /// The manifests, in the order of the file.
    pub manifests: Vec<ManifestFile>,
    /// Field ids that format version 2 and later require and the file's schema lacks.
    pub missing_fields: Vec<i32>,
}

/// One manifest, as its manifest list describes it. Version 1 lists lack some columns; they read as the spec says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ManifestFile {
    /// Location of the manifest (500).
    pub manifest_path: Box<str>,
    /// Length of the manifest in bytes (501).
    pub manifest_length: i64,
    /// The partition spec its entries were written with (502).
    pub partition_spec_id: i32,
    /// Data files or delete files (517); data where absent.
    pub content: ManifestContent,
    /// Sequence number when it was added to the table (515); 0 where absent.
    pub sequence_number: i64,
    /// Lowest data sequence number of its live files (516); 0 where absent.
    pub min_sequence_number: i64,
    /// The snapshot that wrote it (503).
    pub added_snapshot_id: Option<i64>,
    /// Number of ADDED entries (504).
    pub added_files_count: Option<i64>,
    /// Number of EXISTING entries (505).
    pub existing_files_count: Option<i64>,
    /// Number of DELETED entries (506).
    pub deleted_files_count: Option<i64>,
    /// Records in ADDED files (512).
    pub added_rows_count: Option<i64>,
    /// Records in EXISTING files (513).
    pub existing_rows_count: Option<i64>,
    /// Records in DELETED files (514).
    pub deleted_rows_count: Option<i64>,
    /// Summaries of the partition fields, in the order of the spec's fields (507).
    pub partitions: Option<Vec<FieldSummary>>,
    /// Whether key metadata is present (519): the manifest is encrypted.
    pub encrypted: bool,
    /// First row id of the rows whose files have none (520).
    pub first_row_id: Option<i64>,
}

/// What a manifest's entries have in one partition field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldSummary {
    /// Whether some value is null (509).
    pub contains_null: bool,
    /// Whether some value is NaN (518), if known.
    pub contains_nan: Option<bool>,
    /// Lower bound of the others (510), in the spec's binary form.
    pub lower_bound: Option<Box<[u8]>>,
    /// Upper bound of the others (511).
    pub upper_bound: Option<Box<[u8]>>,
}

/// What a manifest lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ManifestContent {
    /// Data files (0).
    Data,
    /// Delete files (1).
    Deletes,
    /// A number the spec does not define.
    Other(i32),
}

impl ManifestFile {
    /// Whether it may list live files: it says that it has some, or does not say.
    pub fn may_be_live(&self) -> bool {
        self.added_files_count != Some(0) || self.existing_files_count != Some(0)
    }

    /// Rows of its live files, none if the list does not say.
    pub fn live_rows(&self) -> Option<i64> {
        self.added_rows_count?.checked_add(self.existing_rows_count?)
    }

    /// Live files, none if the list does not say.
    pub fn live_files(&self) -> Option<i64> {
        self.added_files_count?.checked_add(self.existing_files_count?)
    }
}

impl ManifestList {
    /// Reads a manifest list.
    pub fn parse(bytes: &[u8], limits: Limits) -> Result<Self, ParseError> {
        let file = Container::open(bytes)?;
        let fields = record_fields(&file.schema, &file, "a manifest list")?;
        let layout = Layout::of(fields, &[COLUMNS], &file)?;
        let summary = match layout.type_of(PARTITIONS).map(Type::unwrapped) {
            Some(Type::Array(item)) => {
                Some(Layout::of(record_fields(item, &file, "a field summary")?, &[SUMMARY_COLUMNS], &file)?)
            }
            _ => None,
        };
        let mut manifests = Vec::new();
        let mut summaries_left = limits.rows.saturating_mul(SUMMARIES_PER_ROW);
        file.rows(limits, |cursor| {
            let row = manifest_file(cursor, &layout, summary.as_ref(), summaries_left)?;
            summaries_left = summaries_left.saturating_sub(row.partitions.as_ref().map_or(0, Vec::len));
            manifests.push(row);
            Ok(())
        })?;
        let missing_fields = REQUIRED_SINCE_V2.iter().copied().filter(|id| !layout.has(*id)).collect();
        Ok(Self { metadata: file.metadata, manifests, missing_fields })
    }
}

fn manifest_file(
    cursor: &mut Cursor<'_>,
    layout: &Layout<'_>,
    summary: Option<&Layout<'_>>,
    most_summaries: usize,
) -> Result<ManifestFile, Fault> {
    let mut row = ManifestFile::unset();
    let (mut path, mut length, mut spec_id) = (None, None, None);
    for (id, of) in &layout.fields {
        match *id {
            Some(MANIFEST_PATH) => path = cursor.optional_text(of)?,
            Some(MANIFEST_LENGTH) => length = cursor.optional_long(of)?,
            Some(PARTITION_SPEC_ID) => spec_id = cursor.optional_int(of)?,
            Some(CONTENT) => row.content = ManifestContent::from(cursor.optional_int(of)?.unwrap_or(0)),
            Some(SEQUENCE_NUMBER) => row.sequence_number = cursor.optional_long(of)?.unwrap_or(0),
            Some(MIN_SEQUENCE_NUMBER) => row.min_sequence_number = cursor.optional_long(of)?.unwrap_or(0),
            Some(ADDED_SNAPSHOT_ID) => row.added_snapshot_id = cursor.optional_long(of)?,
            Some(ADDED_FILES_COUNT) => row.added_files_count = cursor.optional_long(of)?,
            Some(EXISTING_FILES_COUNT) => row.existing_files_count = cursor.optional_long(of)?,
            Some(DELETED_FILES_COUNT) => row.deleted_files_count = cursor.optional_long(of)?,
            Some(ADDED_ROWS_COUNT) => row.added_rows_count = cursor.optional_long(of)?,
            Some(EXISTING_ROWS_COUNT) => row.existing_rows_count = cursor.optional_long(of)?,
            Some(DELETED_ROWS_COUNT) => row.deleted_rows_count = cursor.optional_long(of)?,
            Some(PARTITIONS) => row.partitions = field_summaries(cursor, of, summary, most_summaries)?,
            Some(KEY_METADATA) => row.encrypted = cursor.optional_bytes(of)?.is_some(),
            Some(FIRST_ROW_ID) => row.first_row_id = cursor.optional_long(of)?,
            _ => cursor.skip(of)?,
        }
    }
    row.manifest_path = path.ok_or_else(|| null("manifest_path"))?.into();
    row.manifest_length = length.ok_or_else(|| null("manifest_length"))?;
    row.partition_spec_id = spec_id.ok_or_else(|| null("partition_spec_id"))?;
    Ok(row)
}

fn field_summaries(
    cursor: &mut Cursor<'_>,
    of: &Type,
    layout: Option<&Layout<'_>>,
    most: usize,
) -> Result<Option<Vec<FieldSummary>>, Fault> {
    let mut summaries = Vec::new();
    let present = cursor.items(of, &mut |cursor, item| {
        cursor.enter_record(item)?;
        if summaries.len() >= most {
            return Err(Fault::new("partition summaries for a handful of fields", "more than the list may hold"));
        }
        let mut row = FieldSummary { contains_null: true, contains_nan: None, lower_bound: None, upper_bound: None };
        for (id, of) in layout.iter().flat_map(|layout| &layout.fields) {
            match *id {
                Some(CONTAINS_NULL) => row.contains_null = cursor.optional_boolean(of)?.unwrap_or(true),
                Some(CONTAINS_NAN) => row.contains_nan = cursor.optional_boolean(of)?,
                Some(LOWER_BOUND) => row.lower_bound = cursor.optional_bytes(of)?.map(Into::into),
                Some(UPPER_BOUND) => row.upper_bound = cursor.optional_bytes(of)?.map(Into::into),
                _ => cursor.skip(of)?,
            }
        }
        summaries.push(row);
        Ok(())
    })?;
    Ok(present.then_some(summaries))
}

fn null(column: &str) -> Fault {
    Fault::new(format!("a value for {column}"), "null")
}

impl From<i32> for ManifestContent {
    fn from(number: i32) -> Self {
        match number {
            0 => Self::Data,
            1 => Self::Deletes,
            other => Self::Other(other),
        }
    }
}

impl ManifestFile {
    fn unset() -> Self {
        Self {
            manifest_path: Box::default(),
            manifest_length: 0,
            partition_spec_id: 0,
            content: ManifestContent::Data,
            sequence_number: 0,
            min_sequence_number: 0,
            added_snapshot_id: None,
            added_files_count: None,
            existing_files_count: None,
            deleted_files_count: None,
            added_rows_count: None,
            existing_rows_count: None,
            deleted_rows_count: None,
            partitions: None,
            encrypted: false,
            first_row_id: None,
        }
    }
}

/// A field summary may take one byte in a file and fifty in memory: how many a list may have for each row allowed.
const SUMMARIES_PER_ROW: usize = 4;

const MANIFEST_PATH: i32 = 500;
const MANIFEST_LENGTH: i32 = 501;
const PARTITION_SPEC_ID: i32 = 502;
const ADDED_SNAPSHOT_ID: i32 = 503;
const ADDED_FILES_COUNT: i32 = 504;
const EXISTING_FILES_COUNT: i32 = 505;
const DELETED_FILES_COUNT: i32 = 506;
const PARTITIONS: i32 = 507;
const CONTAINS_NULL: i32 = 509;
const LOWER_BOUND: i32 = 510;
const UPPER_BOUND: i32 = 511;
const ADDED_ROWS_COUNT: i32 = 512;
const EXISTING_ROWS_COUNT: i32 = 513;
const DELETED_ROWS_COUNT: i32 = 514;
const SEQUENCE_NUMBER: i32 = 515;
const MIN_SEQUENCE_NUMBER: i32 = 516;
const CONTENT: i32 = 517;
const CONTAINS_NAN: i32 = 518;
const KEY_METADATA: i32 = 519;
const FIRST_ROW_ID: i32 = 520;

const REQUIRED_SINCE_V2: &[i32] = &[
    MANIFEST_PATH,
    MANIFEST_LENGTH,
    PARTITION_SPEC_ID,
    CONTENT,
    SEQUENCE_NUMBER,
    MIN_SEQUENCE_NUMBER,
    ADDED_SNAPSHOT_ID,
    ADDED_FILES_COUNT,
    EXISTING_FILES_COUNT,
    DELETED_FILES_COUNT,
    ADDED_ROWS_COUNT,
    EXISTING_ROWS_COUNT,
    DELETED_ROWS_COUNT,
];

const COLUMNS: &[Column] = &[
    column(MANIFEST_PATH, &["manifest_path"], Shape::Text, true),
    column(MANIFEST_LENGTH, &["manifest_length"], Shape::Integer, true),
    column(PARTITION_SPEC_ID, &["partition_spec_id"], Shape::Integer, true),
    column(CONTENT, &["content"], Shape::Integer, false),
    column(SEQUENCE_NUMBER, &["sequence_number"], Shape::Integer, false),
    column(MIN_SEQUENCE_NUMBER, &["min_sequence_number"], Shape::Integer, false),
    column(ADDED_SNAPSHOT_ID, &["added_snapshot_id"], Shape::Integer, false),
    column(ADDED_FILES_COUNT, &["added_files_count", "added_data_files_count"], Shape::Integer, false),
    column(EXISTING_FILES_COUNT, &["existing_files_count", "existing_data_files_count"], Shape::Integer, false),
    column(DELETED_FILES_COUNT, &["deleted_files_count", "deleted_data_files_count"], Shape::Integer, false),
    column(ADDED_ROWS_COUNT, &["added_rows_count"], Shape::Integer, false),
    column(EXISTING_ROWS_COUNT, &["existing_rows_count"], Shape::Integer, false),
    column(DELETED_ROWS_COUNT, &["deleted_rows_count"], Shape::Integer, false),
    column(PARTITIONS, &["partitions"], Shape::Array, false),
    column(KEY_METADATA, &["key_metadata"], Shape::Bytes, false),
    column(FIRST_ROW_ID, &["first_row_id"], Shape::Integer, false),
];

const SUMMARY_COLUMNS: &[Column] = &[
    column(CONTAINS_NULL, &["contains_null"], Shape::Boolean, false),
    column(CONTAINS_NAN, &["contains_nan"], Shape::Boolean, false),
    column(LOWER_BOUND, &["lower_bound"], Shape::Bytes, false),
    column(UPPER_BOUND, &["upper_bound"], Shape::Bytes, false),
];
