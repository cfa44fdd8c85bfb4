//! What a schema must be: to be read at all, to be added, to be of a format version.

use std::collections::{BTreeMap, HashMap};

use super::Schema;
use super::lookup::full_name;
use crate::spec::default_value;
use crate::spec::error::{Error, Result};
use crate::spec::types::{Field, Primitive, Type};

/// Field ids above this are reserved for metadata columns (spec.md 3.2).
const MAX_FIELD_ID: i32 = 2_147_483_447;

/// The first format version with default values.
const DEFAULTS_MIN_FORMAT_VERSION: u8 = 3;

/// Most bytes that the full names of all fields may have together. A name repeats those of its parents, so a small
/// document could otherwise ask for a large memory.
const MAX_NAMES: usize = 16 << 20;

impl Schema {
    /// What Java demands of every schema it reads, of old ones in a metadata file too.
    pub(super) fn check_readable(&self) -> Result<()> {
        self.check_unique()?;
        let mut checked = Ok(());
        self.for_each_field(&mut |_, field| {
            if checked.is_ok() {
                checked = check_field(field);
            }
        });
        checked?;
        self.check_identifier_fields()
    }

    /// What a schema must be besides to be added to a table or view: no types that nobody here knows, no reserved
    /// field ids.
    ///
    /// # Errors
    /// [`Error::Invalid`] with the text of the first problem.
    pub fn check_valid(&self) -> Result<()> {
        self.check_readable()?;
        let mut checked = Ok(());
        self.for_each_field(&mut |parents, field| {
            if checked.is_ok() {
                checked = check_addable(parents, field);
            }
        });
        checked
    }

    /// Whether a table of this format version may have the schema (spec.md 2.3): its types exist there, and it has
    /// initial defaults only from version 3 on.
    ///
    /// # Errors
    /// [`Error::Invalid`] that lists all problems, by field id.
    pub fn check_compatible(&self, format_version: u8) -> Result<()> {
        let mut problems = BTreeMap::new();
        self.for_each_field(&mut |parents, field| {
            if let Some(problem) = incompatibility(parents, field, format_version) {
                problems.insert(field.id, problem);
            }
        });
        if problems.is_empty() {
            return Ok(());
        }
        let problems: Vec<_> = problems.into_values().collect();
        Err(Error::invalid(format!("Invalid schema for v{format_version}:\n- {}", problems.join("\n- "))))
    }

    fn check_unique(&self) -> Result<()> {
        let mut ids: HashMap<i32, &str> = HashMap::new();
        let mut names: HashMap<String, i32> = HashMap::new();
        let mut bytes = 0_usize;
        let mut checked = Ok(());
        self.for_each_field(&mut |parents, field| {
            if checked.is_err() {
                return;
            }
            bytes += parents.iter().map(|parent| parent.name.len() + 1).sum::<usize>() + field.name.len();
            if bytes > MAX_NAMES {
                checked = Err(Error::invalid("Invalid schema: the names of its fields are too long"));
                return;
            }
            if let Some(other) = ids.insert(field.id, &field.name) {
                let (id, name) = (field.id, &field.name);
                checked =
                    Err(Error::invalid(format!("Invalid schema: multiple fields for id {id}: {other} and {name}")));
            }
            let name = full_name(parents, field);
            if let Some(other) = names.get(&name) {
                let id = field.id;
                let message = format!("Invalid schema: multiple fields for name {name}: {other} and {id}");
                checked = checked.clone().and(Err(Error::Invalid(message)));
            }
            names.insert(name, field.id);
        });
        checked
    }

    fn check_identifier_fields(&self) -> Result<()> {
        if self.identifier_field_ids.is_empty() {
            return Ok(());
        }
        let mut fields: HashMap<i32, (Vec<&Field>, &Field)> = HashMap::new();
        self.for_each_field(&mut |parents, field| {
            fields.insert(field.id, (parents.to_vec(), field));
        });
        self.identifier_field_ids.iter().try_for_each(|id| match fields.get(id) {
            Some((parents, field)) => check_identifier(parents, field),
            None => {
                Err(Error::invalid(format!("Cannot add fieldId {id} as an identifier field: field does not exist")))
            }
        })
    }
}

fn check_field(field: &Field) -> Result<()> {
    if field.required && matches!(field.field_type, Type::Primitive(Primitive::Unknown)) {
        return Err(Error::invalid(format!("Cannot create required field with unknown type: {}", field.name)));
    }
    [&field.initial_default, &field.write_default]
        .into_iter()
        .flatten()
        .try_for_each(|value| default_value::check(&field.field_type, value))
}

fn check_addable(parents: &[&Field], field: &Field) -> Result<()> {
    if let Type::Other(name) = &field.field_type {
        return Err(Error::invalid(format!("Cannot parse type string to primitive: {name}")));
    }
    if field.id > MAX_FIELD_ID {
        let name = full_name(parents, field);
        let message = format!("Invalid schema: field id {} of {name} is reserved (above {MAX_FIELD_ID})", field.id);
        return Err(Error::Invalid(message));
    }
    Ok(())
}

fn incompatibility(parents: &[&Field], field: &Field, format_version: u8) -> Option<String> {
    if let Some(value) = field.initial_default.as_ref().filter(|_| format_version < DEFAULTS_MIN_FORMAT_VERSION) {
        let (name, value) = (full_name(parents, field), default_value::plain(value));
        return Some(format!(
            "Invalid initial default for {name}: non-null default ({value}) is not supported until \
             v{DEFAULTS_MIN_FORMAT_VERSION}"
        ));
    }
    let needed = field.field_type.min_format_version().filter(|needed| format_version < *needed)?;
    let name = full_name(parents, field);
    Some(format!("Invalid type for {name}: {} is not supported until v{needed}", field.field_type))
}

fn check_identifier(parents: &[&Field], field: &Field) -> Result<()> {
    let refused =
        |why: &str| Err(Error::invalid(format!("Cannot add field {} as an identifier field: {why}", field.name)));
    match &field.field_type {
        Type::Primitive(Primitive::Float | Primitive::Double) if field.required => {
            return refused("must not be float or double field");
        }
        Type::Primitive(_) if field.required => {}
        Type::Primitive(_) => return refused("not a required field"),
        _ => return refused("not a primitive type field"),
    }
    for parent in parents {
        if !parent.field_type.is_struct() {
            return refused(&format!("must not be nested in {parent}"));
        }
        if !parent.required {
            return refused(&format!("must not be nested in an optional field {parent}"));
        }
    }
    Ok(())
}
