//! The columns of a data file that only planning needs: column statistics, split offsets, key metadata.

use super::cursor::{Cursor, Fault};
use super::layout::{Column, Shape, column};
use super::schema::{Field, Type};

/// What [`Manifest::parse_with_details`](super::Manifest::parse_with_details) reads of a file beside the rest.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Details {
    /// Bytes that each column takes (108).
    pub column_sizes: Option<Counts>,
    /// Values of each column, null and NaN included (109).
    pub value_counts: Option<Counts>,
    /// Null values of each column (110).
    pub null_value_counts: Option<Counts>,
    /// NaN values of each column (137).
    pub nan_value_counts: Option<Counts>,
    /// Lower bounds of columns (125), in the spec's binary form.
    pub lower_bounds: Option<Bounds>,
    /// Upper bounds of columns (128).
    pub upper_bounds: Option<Bounds>,
    /// How the file is encrypted (131).
    pub key_metadata: Option<Box<[u8]>>,
    /// Where the file may be split, in bytes (132).
    pub split_offsets: Option<Box<[i64]>>,
}

/// Numbers by field id.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Counts {
    ids: Box<[i32]>,
    values: Box<[i64]>,
}

/// Single values by field id, in the spec's binary form. All bytes lie in one piece: a file has some hundred of them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Bounds {
    ids: Box<[i32]>,
    /// Where each value ends in `bytes`.
    ends: Box<[u32]>,
    bytes: Box<[u8]>,
}

impl Details {
    /// The memory that these take, in bytes.
    pub fn size_bytes(&self) -> usize {
        let counts = [&self.column_sizes, &self.value_counts, &self.null_value_counts, &self.nan_value_counts];
        let counts: usize = counts.into_iter().flatten().map(|counts| 12 * counts.ids.len()).sum();
        let bounds = [&self.lower_bounds, &self.upper_bounds];
        let bounds: usize = bounds.into_iter().flatten().map(|bounds| 8 * bounds.ids.len() + bounds.bytes.len()).sum();
        let rest = self.key_metadata.as_ref().map_or(0, |bytes| bytes.len())
            + self.split_offsets.as_ref().map_or(0, |offsets| 8 * offsets.len());
        size_of::<Self>() + counts + bounds + rest
    }

    /// Reads the value of one column, or passes over it if it is none of these.
    pub(super) fn read(&mut self, id: Option<i32>, cursor: &mut Cursor<'_>, of: &Type) -> Result<(), Fault> {
        match id {
            Some(COLUMN_SIZES) => self.column_sizes = counts(cursor, of)?,
            Some(VALUE_COUNTS) => self.value_counts = counts(cursor, of)?,
            Some(NULL_VALUE_COUNTS) => self.null_value_counts = counts(cursor, of)?,
            Some(NAN_VALUE_COUNTS) => self.nan_value_counts = counts(cursor, of)?,
            Some(LOWER_BOUNDS) => self.lower_bounds = bounds(cursor, of)?,
            Some(UPPER_BOUNDS) => self.upper_bounds = bounds(cursor, of)?,
            Some(SPLIT_OFFSETS) => self.split_offsets = offsets(cursor, of)?,
            _ => cursor.skip(of)?,
        }
        Ok(())
    }
}

impl Counts {
    /// The number of a field.
    pub fn get(&self, field_id: i32) -> Option<i64> {
        let place = self.ids.iter().position(|id| *id == field_id)?;
        self.values.get(place).copied()
    }

    /// Pairs of field id and number, in the order of the file.
    pub fn iter(&self) -> impl Iterator<Item = (i32, i64)> {
        self.ids.iter().copied().zip(self.values.iter().copied())
    }
}

impl Bounds {
    /// Bounds of these fields.
    #[cfg(test)]
    pub(crate) fn of(pairs: &[(i32, &[u8])]) -> Self {
        let (mut ids, mut ends, mut bytes) = (Vec::new(), Vec::new(), Vec::new());
        for (id, value) in pairs {
            ids.push(*id);
            bytes.extend_from_slice(value);
            ends.push(u32::try_from(bytes.len()).unwrap());
        }
        Self { ids: ids.into(), ends: ends.into(), bytes: bytes.into() }
    }

    /// The value of a field.
    pub fn get(&self, field_id: i32) -> Option<&[u8]> {
        self.at(self.ids.iter().position(|id| *id == field_id)?)
    }

    /// Pairs of field id and value, in the order of the file.
    pub fn iter(&self) -> impl Iterator<Item = (i32, &[u8])> {
        self.ids.iter().enumerate().filter_map(|(place, id)| Some((*id, self.at(place)?)))
    }

    fn at(&self, place: usize) -> Option<&[u8]> {
        let start = place.checked_sub(1).map_or(Some(0), |before| self.ends.get(before).copied())?;
        self.bytes.get(start as usize..*self.ends.get(place)? as usize)
    }
}

fn counts(cursor: &mut Cursor<'_>, of: &Type) -> Result<Option<Counts>, Fault> {
    let (mut ids, mut values) = (Vec::new(), Vec::new());
    let present = pairs(cursor, of, |id, cursor, of| {
        if let Some(value) = cursor.optional_long(of)? {
            ids.push(id);
            values.push(value);
        }
        Ok(())
    })?;
    Ok(present.then(|| Counts { ids: ids.into(), values: values.into() }))
}

fn bounds(cursor: &mut Cursor<'_>, of: &Type) -> Result<Option<Bounds>, Fault> {
    let (mut ids, mut ends, mut bytes) = (Vec::new(), Vec::new(), Vec::new());
    let present = pairs(cursor, of, |id, cursor, of| {
        if let Some(value) = cursor.optional_bytes(of)? {
            bytes.extend_from_slice(value);
            ids.push(id);
            ends.push(u32::try_from(bytes.len()).map_err(|_| Fault::new("bounds of less than 4 GiB", "more"))?);
        }
        Ok(())
    })?;
    Ok(present.then(|| Bounds { ids: ids.into(), ends: ends.into(), bytes: bytes.into() }))
}

fn offsets(cursor: &mut Cursor<'_>, of: &Type) -> Result<Option<Box<[i64]>>, Fault> {
    let mut values = Vec::new();
    let present = cursor.items(of, &mut |cursor, item| {
        values.extend(cursor.optional_long(item)?);
        Ok(())
    })?;
    Ok(present.then(|| values.into()))
}

/// Reads a map by field id, which Avro has as an array of records of a key and a value. The value must be read.
fn pairs(
    cursor: &mut Cursor<'_>,
    of: &Type,
    mut value: impl FnMut(i32, &mut Cursor<'_>, &Type) -> Result<(), Fault>,
) -> Result<bool, Fault> {
    let Type::Array(item) = of.unwrapped() else {
        cursor.skip(of)?;
        return Ok(false);
    };
    let [key, of_value] = key_and_value(item)?;
    cursor.items(of, &mut |cursor, item| {
        cursor.enter_record(item)?;
        let id = cursor.optional_int(key)?.ok_or_else(|| Fault::new("a field id", "null"))?;
        value(id, cursor, of_value)
    })
}

fn key_and_value(item: &Type) -> Result<[&Type; 2], Fault> {
    match item.unwrapped() {
        Type::Record(fields) => match fields.as_slice() {
            [Field { of: key, .. }, Field { of: value, .. }] => Ok([key, value]),
            other => Err(Fault::new("a record of key and value", format!("one of {} fields", other.len()))),
        },
        other => Err(Fault::new("a record of key and value", format!("Avro type {}", other.name()))),
    }
}

const COLUMN_SIZES: i32 = 108;
const VALUE_COUNTS: i32 = 109;
const NULL_VALUE_COUNTS: i32 = 110;
const LOWER_BOUNDS: i32 = 125;
const UPPER_BOUNDS: i32 = 128;
const SPLIT_OFFSETS: i32 = 132;
const NAN_VALUE_COUNTS: i32 = 137;

pub(super) const DETAIL_COLUMNS: &[Column] = &[
    column(COLUMN_SIZES, &["column_sizes"], Shape::Any, false),
    column(VALUE_COUNTS, &["value_counts"], Shape::Any, false),
    column(NULL_VALUE_COUNTS, &["null_value_counts"], Shape::Any, false),
    column(NAN_VALUE_COUNTS, &["nan_value_counts"], Shape::Any, false),
    column(LOWER_BOUNDS, &["lower_bounds"], Shape::Any, false),
    column(UPPER_BOUNDS, &["upper_bounds"], Shape::Any, false),
    column(SPLIT_OFFSETS, &["split_offsets"], Shape::Array, false),
];
