//! Which delete files apply to which data file (spec: "Scan planning", `spec.md` 3.8).

use std::collections::HashMap;
use std::sync::Arc;

use super::Error;
use super::value::{compare, decode};
use crate::manifest::{Counts, DataFile, FileContent, ManifestEntry, Partition, Value};
use crate::spec::{Field, Primitive, TableMetadata, Type};

/// The id of the column `file_path` of position delete files.
pub(super) const DELETE_FILE_PATH: i32 = 2_147_483_546;

/// A live delete file.
#[derive(Debug, Clone)]
pub(super) struct Delete {
    pub(super) entry: Arc<ManifestEntry>,
    pub(super) spec_id: i32,
    /// Its data sequence number.
    pub(super) sequence_number: i64,
}

/// A data file that deletes are looked up for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Target<'a> {
    pub(super) file: &'a DataFile,
    pub(super) spec_id: i32,
    /// Its data sequence number.
    pub(super) sequence_number: i64,
}

/// The live delete files of a snapshot.
#[derive(Debug, Default)]
pub(super) struct DeleteIndex<'a> {
    /// Deletion vectors by data file. A vector is known by its file and its place in it; a file may hold many.
    vectors: HashMap<Box<str>, Delete>,
    /// Position deletes that name one data file.
    by_path: HashMap<Box<str>, Vec<Delete>>,
    /// Position deletes of whole partitions.
    by_partition: HashMap<(i32, Partition), Vec<Delete>>,
    /// Equality deletes of unpartitioned specs: they apply everywhere.
    everywhere: Vec<EqualityDelete<'a>>,
    /// Equality deletes of one partition.
    equality: HashMap<(i32, Partition), Vec<EqualityDelete<'a>>>,
}

/// An equality delete and the fields that it compares.
#[derive(Debug)]
struct EqualityDelete<'a> {
    delete: Delete,
    fields: Vec<&'a Field>,
}

impl Delete {
    pub(super) fn file(&self) -> &DataFile {
        &self.entry.data_file
    }

    /// What tells it from every other: deletion vectors share files.
    pub(super) fn key(&self) -> (&str, Option<i64>, Option<i64>) {
        let file = self.file();
        (&file.file_path, file.content_offset, file.content_size_in_bytes)
    }
}

impl<'a> DeleteIndex<'a> {
    /// Indexes the deletes of a table.
    pub(super) fn of(deletes: Vec<Delete>, table: &'a TableMetadata) -> Result<Self, Error> {
        let mut index = Self::default();
        for delete in deletes {
            index.add(delete, table)?;
        }
        Ok(index)
    }

    fn add(&mut self, delete: Delete, table: &'a TableMetadata) -> Result<(), Error> {
        let file = delete.file();
        match file.content {
            FileContent::PositionDeletes if file.is_deletion_vector() => self.add_vector(delete)?,
            FileContent::PositionDeletes => match only_data_file(file) {
                Some(path) => self.by_path.entry(path).or_default().push(delete),
                None => {
                    let partition = (delete.spec_id, file.partition.clone());
                    self.by_partition.entry(partition).or_default().push(delete);
                }
            },
            FileContent::EqualityDeletes => self.add_equality(delete, table)?,
            FileContent::Data | FileContent::Other(_) => {
                return Err(Error::Corrupt(format!("{} is in a delete manifest and is none", file.file_path)));
            }
        }
        Ok(())
    }

    fn add_vector(&mut self, delete: Delete) -> Result<(), Error> {
        let Some(path) = delete.file().referenced_data_file.clone() else {
            return Err(Error::Corrupt(format!("the deletion vector {} names no data file", described(&delete))));
        };
        if let Some(other) = self.vectors.get(&path) {
            let (one, other) = (described(&delete), described(other));
            return Err(Error::Corrupt(format!("Can't index multiple DVs for {path}: {one} and {other}")));
        }
        self.vectors.insert(path, delete);
        Ok(())
    }

    fn add_equality(&mut self, delete: Delete, table: &'a TableMetadata) -> Result<(), Error> {
        let file = delete.file();
        let Some(spec) = table.partition_spec(delete.spec_id) else {
            return Err(Error::Corrupt(format!("{} has no partition spec {}", file.file_path, delete.spec_id)));
        };
        let mut fields = Vec::new();
        for id in file.equality_ids.iter().flatten() {
            let field = table.schemas.iter().rev().find_map(|schema| schema.find_field(*id));
            fields.push(field.ok_or_else(|| Error::Corrupt(format!("Cannot find field for ID {id}")))?);
        }
        let partition = (delete.spec_id, file.partition.clone());
        let delete = EqualityDelete { delete, fields };
        if spec.is_unpartitioned() {
            self.everywhere.push(delete);
        } else {
            self.equality.entry(partition).or_default().push(delete);
        }
        Ok(())
    }

    /// The deletes that apply to a data file. Its deletion vector replaces all its position deletes.
    pub(super) fn for_file(&self, target: Target<'_>) -> Result<Vec<&Delete>, Error> {
        let partition = (target.spec_id, target.file.partition.clone());
        let of_partition = self.equality.get(&partition).into_iter().flatten();
        let mut found: Vec<&Delete> = self
            .everywhere
            .iter()
            .chain(of_partition)
            .filter(|equality| equality.may_apply(target))
            .map(|equality| &equality.delete)
            .collect();
        if let Some(vector) = self.vectors.get(&target.file.file_path) {
            check_vector(vector, target)?;
            found.push(vector);
            return Ok(found);
        }
        let applies = |delete: &&Delete| delete.sequence_number >= target.sequence_number;
        let of_partition = self.by_partition.get(&partition).into_iter().flatten();
        found.extend(of_partition.filter(applies).filter(|delete| may_name(delete.file(), &target.file.file_path)));
        for delete in self.by_path.get(&target.file.file_path).into_iter().flatten().filter(applies) {
            check_partition(delete, target)?;
            found.push(delete);
        }
        Ok(found)
    }
}

fn check_vector(vector: &Delete, target: Target<'_>) -> Result<(), Error> {
    let (of_vector, of_file) = (vector.sequence_number, target.sequence_number);
    if of_vector < of_file {
        return Err(Error::Corrupt(format!(
            "DV data sequence number ({of_vector}) must be greater than or equal to data file sequence number ({of_file})"
        )));
    }
    check_partition(vector, target)
}

/// A delete that names a data file must be in its partition.
fn check_partition(delete: &Delete, target: Target<'_>) -> Result<(), Error> {
    let what = if delete.spec_id != target.spec_id {
        format!("specs ({}, {})", delete.spec_id, target.spec_id)
    } else if delete.file().partition != target.file.partition {
        format!("tuples ({}, {})", delete.file().partition, target.file.partition)
    } else {
        return Ok(());
    };
    let (delete, file) = (&delete.file().file_path, &target.file.file_path);
    Err(Error::Corrupt(format!(
        "Mismatched partition {what} for delete file {delete} and data file {file}: metadata is corrupted"
    )))
}

fn described(delete: &Delete) -> String {
    let (path, offset, length) = delete.key();
    let shown = |number: Option<i64>| number.map_or_else(|| "null".to_owned(), |number| number.to_string());
    let data_file = delete.file().referenced_data_file.as_deref().unwrap_or("null");
    format!("DV{{location={path}, offset={}, length={}, referencedDataFile={data_file}}}", shown(offset), shown(length))
}

/// The only data file that a position delete file has rows for: it says so, or all its paths are the same.
fn only_data_file(file: &DataFile) -> Option<Box<str>> {
    if let Some(path) = &file.referenced_data_file {
        return Some(path.clone());
    }
    let (lower, upper) = path_bounds(file)?;
    if lower != upper {
        return None;
    }
    std::str::from_utf8(lower).ok().map(Into::into)
}

/// Whether a position delete file may have rows for a data file, by the bounds of its paths.
fn may_name(file: &DataFile, path: &str) -> bool {
    path_bounds(file).is_none_or(|(lower, upper)| (lower..=upper).contains(&path.as_bytes()))
}

fn path_bounds(file: &DataFile) -> Option<(&[u8], &[u8])> {
    let details = file.details.as_ref()?;
    let lower = details.lower_bounds.as_ref()?.get(DELETE_FILE_PATH)?;
    Some((lower, details.upper_bounds.as_ref()?.get(DELETE_FILE_PATH)?))
}

impl EqualityDelete<'_> {
    /// Whether it may delete rows of a data file, which must be older.
    fn may_apply(&self, target: Target<'_>) -> bool {
        target.sequence_number < self.delete.sequence_number
            && self.fields.iter().all(|field| may_meet(field, target.file, self.delete.file()))
    }
}

/// Whether a field may have the same value in both files.
fn may_meet(field: &Field, data: &DataFile, delete: &DataFile) -> bool {
    let Type::Primitive(of) = &field.field_type else { return true };
    let (data, delete) = (Column { field, file: data }, Column { field, file: delete });
    if data.may_have_nulls() && delete.may_have_nulls() {
        return true;
    }
    if (data.has_only_nulls() && delete.has_no_nulls()) || (delete.has_only_nulls() && data.has_no_nulls()) {
        return false;
    }
    if matches!(of, Primitive::Float | Primitive::Double) {
        // Bounds say nothing of NaN, which equals itself here.
        return true;
    }
    let above = |one: Option<Value>, other: Option<Value>| compare(&one?, &other?).map(std::cmp::Ordering::is_gt);
    above(data.bound(of, false), delete.bound(of, true)) != Some(true)
        && above(delete.bound(of, false), data.bound(of, true)) != Some(true)
}

/// The statistics of a field in a file.
struct Column<'a> {
    field: &'a Field,
    file: &'a DataFile,
}

impl Column<'_> {
    fn count(&self, counts: impl Fn(&crate::manifest::Details) -> Option<&Counts>) -> Option<i64> {
        counts(self.file.details.as_ref()?)?.get(self.field.id)
    }

    fn nulls(&self) -> Option<i64> {
        self.count(|details| details.null_value_counts.as_ref())
    }

    fn may_have_nulls(&self) -> bool {
        !self.field.required && self.nulls().is_none_or(|nulls| nulls > 0)
    }

    fn has_no_nulls(&self) -> bool {
        self.field.required || self.nulls().is_some_and(|nulls| nulls <= 0)
    }

    fn has_only_nulls(&self) -> bool {
        let values = self.count(|details| details.value_counts.as_ref());
        !self.field.required && values.is_some() && self.nulls() == values
    }

    fn bound(&self, of: &Primitive, upper: bool) -> Option<Value> {
        let details = self.file.details.as_ref()?;
        let bounds = if upper { &details.upper_bounds } else { &details.lower_bounds };
        decode(of, bounds.as_ref()?.get(self.field.id)?)
    }
}
