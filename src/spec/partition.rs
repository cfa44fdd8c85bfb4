//! Partition specs: which columns, transformed how, tell where a row lives (spec.md 2.3, 3.4).

use std::collections::{HashMap, HashSet};
use std::fmt;

use serde_json::value::RawValue;

use super::error::{Error, Result};
use super::json::{Object, ObjectWriter, Raw, elements, raw_from_valid, shown};
use super::schema::Schema;
use super::transform::Transform;

mod source;
#[cfg(test)]
mod tests;

pub use source::Source;

/// The id that a table's first partition field gets.
const FIRST_FIELD_ID: i32 = 1000;

/// What `last-partition-id` is before there is any partition field.
pub const UNPARTITIONED_LAST_ID: i32 = FIRST_FIELD_ID - 1;

/// A partition spec whose fields have ids.
#[derive(Debug, Clone)]
pub struct PartitionSpec {
    /// The spec's number in its table.
    pub spec_id: i32,
    /// The fields in order; none in an unpartitioned spec.
    pub fields: Vec<PartitionField>,
    rest: Object,
}

/// A field of a partition spec.
#[derive(Debug, Clone)]
pub struct PartitionField {
    /// The column or columns it is made of.
    pub source: Source,
    /// The field's id, unique over all specs of a table.
    pub field_id: i32,
    /// The field's name, unique in its spec.
    pub name: String,
    /// How it is made.
    pub transform: Transform,
    rest: Object,
}

/// A partition spec as a request or an old metadata file brings it: its fields have ids, all or none.
#[derive(Debug, Clone)]
pub struct UnboundPartitionSpec {
    /// The number the client gave it; 0 if none.
    pub spec_id: i32,
    fields: Vec<PartitionField>,
    has_ids: bool,
    rest: Object,
}

impl PartitionSpec {
    /// A spec without fields.
    pub fn unpartitioned(spec_id: i32) -> Self {
        Self { spec_id, fields: Vec::new(), rest: Object::default() }
    }

    /// Reads a spec of a metadata file. Fields without ids get 1000 and up, as in old files of version 1.
    ///
    /// # Errors
    /// [`Error::Invalid`] that says what is missing or wrong.
    pub fn parse(raw: &RawValue) -> Result<Self> {
        let has_id = Object::parse_raw(raw).is_ok_and(|object| object.has("spec-id"));
        let spec = UnboundPartitionSpec::parse(raw)?;
        if !has_id {
            return Err(Error::invalid("Cannot parse missing int: spec-id"));
        }
        Ok(spec.with_ids(UNPARTITIONED_LAST_ID, &[]))
    }

    /// The spec's JSON.
    pub fn to_json(&self) -> Raw {
        let mut out = String::new();
        self.write(&mut out);
        raw_from_valid(out)
    }

    /// Appends the spec's JSON.
    pub(super) fn write(&self, out: &mut String) {
        let mut object = ObjectWriter::new(out);
        object.int("spec-id", self.spec_id);
        object.array("fields", &self.fields, |out, field| field.write(out));
        object.rest(&self.rest);
        object.finish();
    }

    /// Appends the JSON of the fields alone: the member `partition-spec` of version 1.
    pub fn write_fields(&self, out: &mut String) {
        super::json::push_array(out, &self.fields, |out, field| field.write(out));
    }

    /// This spec under another number.
    pub fn with_id(mut self, spec_id: i32) -> Self {
        self.spec_id = spec_id;
        self
    }

    /// Whether it has no fields, or only fields that are always null.
    pub fn is_unpartitioned(&self) -> bool {
        self.fields.iter().all(|field| field.transform == Transform::Void)
    }

    /// The highest field id, or 999 if there are no fields.
    pub fn last_assigned_field_id(&self) -> i32 {
        self.fields
            .iter()
            .map(|field| field.field_id)
            .max()
            .map_or(UNPARTITIONED_LAST_ID, |id| id.max(UNPARTITIONED_LAST_ID))
    }

    /// Whether the field ids run from 1000 without a gap, as version 1 needs.
    pub fn has_sequential_ids(&self) -> bool {
        (FIRST_FIELD_ID..).zip(&self.fields).all(|(id, field)| field.field_id == id)
    }

    /// Whether both partition alike: the same sources, transforms and names in the same order, whatever the ids.
    pub fn compatible_with(&self, other: &Self) -> bool {
        let alike = |one: &PartitionField, other: &PartitionField| {
            one.source == other.source && one.transform == other.transform && one.name == other.name
        };
        self.fields.len() == other.fields.len() && self.fields.iter().zip(&other.fields).all(|(a, b)| alike(a, b))
    }

    /// The same spec over a schema whose field ids were changed: every source moves with its column.
    ///
    /// # Errors
    /// [`Error::Invalid`] if a source is no column of the old schema, unless the field is always null.
    pub fn with_sources(mut self, new_of_old: &HashMap<i32, i32>) -> Result<Self> {
        for field in &mut self.fields {
            field.source = match field.source.mapped(new_of_old) {
                Some(source) => source,
                None if field.transform == Transform::Void => continue,
                None => {
                    let message = format!("Cannot find source column for partition field: {field}");
                    return Err(Error::Invalid(message));
                }
            };
        }
        Ok(self)
    }

    /// Whether the spec may be added to a table whose current schema is this: names, sources, nothing twice.
    ///
    /// # Errors
    /// [`Error::Invalid`] with the text of the first problem (spec.md 2.3).
    pub fn check_against(&self, schema: &Schema) -> Result<()> {
        self.fields.iter().try_for_each(|field| field.source.check_single())?;
        self.check_names(schema)?;
        self.check_redundant()?;
        self.check_sources(schema)
    }

    /// Whether the names can stand beside those of the columns. Java demands it of every spec it reads.
    ///
    /// # Errors
    /// [`Error::Invalid`] with the text of the first problem.
    pub fn check_names(&self, schema: &Schema) -> Result<()> {
        let mut names = HashSet::new();
        for PartitionField { name, source, .. } in &self.fields {
            let source_exists = source.ids().iter().any(|id| schema.find_field(*id).is_some());
            let column = schema.find_by_name(name).filter(|_| source_exists);
            if column.is_some_and(|column| !source.ids().contains(&column.id)) {
                let why = "Cannot create identity partition sourced from different field in schema";
                return Err(Error::invalid(format!("{why}: {name}")));
            }
            if name.is_empty() {
                return Err(Error::invalid(format!("Cannot use empty partition name: {name}")));
            }
            if !names.insert(name) {
                return Err(Error::invalid(format!("Cannot use partition name more than once: {name}")));
            }
        }
        Ok(())
    }

    /// Whether every field that is not always null has a source of a type it can transform. Java demands it of the
    /// default spec when it reads a table.
    ///
    /// # Errors
    /// [`Error::Invalid`] with the text of the first problem.
    pub fn check_sources(&self, schema: &Schema) -> Result<()> {
        let fields = self.fields.iter().filter(|field| field.transform != Transform::Void);
        fields.into_iter().try_for_each(|field| field.check_source(schema))
    }

    fn check_redundant(&self) -> Result<()> {
        let mut seen: HashMap<_, &PartitionField> = HashMap::new();
        for field in self.fields.iter().filter(|field| field.transform != Transform::Void) {
            if let Some(other) = seen.insert((&field.source, &field.transform), field) {
                return Err(Error::invalid(format!("Cannot add redundant partition: {other} conflicts with {field}")));
            }
        }
        let mut ids = HashSet::new();
        match self.fields.iter().find(|field| !ids.insert(field.field_id)) {
            Some(field) => Err(Error::invalid(format!("Cannot use partition field id more than once: {field}"))),
            None => Ok(()),
        }
    }
}

impl UnboundPartitionSpec {
    /// Reads a spec of a request.
    ///
    /// # Errors
    /// [`Error::Invalid`] that says what is missing or wrong, and if only some of the fields have ids.
    pub fn parse(raw: &RawValue) -> Result<Self> {
        if !raw.get().starts_with('{') {
            return Err(Error::invalid(format!("Cannot parse spec from non-object: {}", shown(raw))));
        }
        let mut object = Object::parse_raw(raw)?;
        let spec_id = object.present_i32("spec-id")?.unwrap_or(0);
        let fields = object.required_raw("fields")?;
        let spec = Self::parse_fields(&fields)?;
        Ok(Self { spec_id, rest: object, ..spec })
    }

    /// Reads the fields alone: the member `partition-spec` of version 1.
    ///
    /// # Errors
    /// As [`UnboundPartitionSpec::parse`].
    pub fn parse_fields(raw: &RawValue) -> Result<Self> {
        if !raw.get().starts_with('[') {
            return Err(Error::invalid(format!("Cannot parse partition spec fields, not an array: {}", shown(raw))));
        }
        let read =
            elements("fields", raw)?.iter().map(|field| PartitionField::read(field)).collect::<Result<Vec<_>>>()?;
        let (all, missing) = (read.len(), read.iter().filter(|(_, has_id)| !has_id).count());
        if missing != 0 && missing != all {
            let message = format!("Cannot parse spec with missing field IDs: {missing} missing of {all} fields.");
            return Err(Error::Invalid(message));
        }
        let fields = read.into_iter().map(|(field, _)| field).collect();
        Ok(Self { spec_id: 0, fields, has_ids: missing == 0, rest: Object::default() })
    }

    /// The spec with ids for its fields. Where the client gave none, a field like one of the known specs (same source
    /// and transform) gets that field's id, any other the next after `last_assigned`.
    pub fn with_ids(mut self, last_assigned: i32, known: &[PartitionSpec]) -> PartitionSpec {
        if !self.has_ids {
            let known_fields = known.iter().flat_map(|spec| &spec.fields);
            let ids: HashMap<_, _> =
                known_fields.map(|field| ((&field.source, &field.transform), field.field_id)).collect();
            let mut last = last_assigned.max(UNPARTITIONED_LAST_ID);
            for field in &mut self.fields {
                field.field_id = ids.get(&(&field.source, &field.transform)).copied().unwrap_or_else(|| {
                    last = last.saturating_add(1);
                    last
                });
            }
        }
        PartitionSpec { spec_id: self.spec_id, fields: self.fields, rest: self.rest }
    }

    /// The spec with ids from 1000 on, whatever the client gave: for a new table.
    pub fn with_fresh_ids(mut self) -> PartitionSpec {
        self.has_ids = false;
        self.with_ids(UNPARTITIONED_LAST_ID, &[])
    }
}

impl PartitionField {
    /// Reads a field, and whether it has an id.
    fn read(raw: &RawValue) -> Result<(Self, bool)> {
        if !raw.get().starts_with('{') {
            return Err(Error::invalid(format!("Cannot parse partition field, not an object: {}", shown(raw))));
        }
        let mut object = Object::parse_raw(raw)?;
        let name = object.required_str("name")?;
        let transform = Transform::parse(&object.required_str("transform")?)?;
        let source = Source::read(&mut object)?;
        let field_id = object.present_i32("field-id")?;
        let field = Self { source, field_id: field_id.unwrap_or(0), name, transform, rest: object };
        Ok((field, field_id.is_some()))
    }

    fn write(&self, out: &mut String) {
        let mut object = ObjectWriter::new(out);
        object.str("name", &self.name);
        object.str("transform", &self.transform.to_string());
        self.source.write(&mut object);
        object.int("field-id", self.field_id);
        object.rest(&self.rest);
        object.finish();
    }

    fn check_source(&self, schema: &Schema) -> Result<()> {
        for id in self.source.ids() {
            let Some(column) = schema.find_field(*id) else {
                return Err(Error::invalid(format!("Cannot find source column for partition field: {self}")));
            };
            let source_type = &column.field_type;
            if !source_type.is_primitive() {
                return Err(Error::invalid(format!("Cannot partition by non-primitive source field: {source_type}")));
            }
            if !self.transform.can_transform(source_type) {
                let message = format!("Invalid source type {source_type} for transform: {}", self.transform);
                return Err(Error::Invalid(message));
            }
            let parents = schema.parents_of(*id).unwrap_or_default();
            if let Some(parent) = parents.iter().find(|parent| !parent.field_type.is_struct()) {
                return Err(Error::invalid(format!("Invalid partition field parent: {}", parent.field_type)));
            }
        }
        Ok(())
    }
}

/// The field as error messages print it: `1000: name: transform(source)`.
impl fmt::Display for PartitionField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {}({})", self.field_id, self.name, self.transform, self.source)
    }
}
