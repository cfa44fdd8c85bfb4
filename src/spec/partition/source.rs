//! The columns that a partition or sort field is made of.

use std::collections::HashMap;
use std::fmt;

use crate::spec::error::{Error, Result};
use crate::spec::json::{Object, ObjectWriter};

/// One source column, or a list of them for a transform of several arguments, kept as it was written (spec.md 3.4).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Source {
    id: Option<i32>,
    ids: Option<Vec<i32>>,
}

impl Source {
    /// One column.
    pub fn one(id: i32) -> Self {
        Self { id: Some(id), ids: None }
    }

    /// The field ids of the columns: those of `source-ids` if there is such a list.
    pub fn ids(&self) -> &[i32] {
        self.ids.as_deref().unwrap_or(self.id.as_slice())
    }

    /// Takes the members `source-id` and `source-ids` out of a field's object. There must be at least one of them.
    pub(in crate::spec) fn read(object: &mut Object) -> Result<Self> {
        let (id, ids) = (object.present_i32("source-id")?, object.present_i32s("source-ids")?);
        if id.is_none() && ids.is_none() {
            return Err(Error::invalid("Cannot parse missing int: source-id"));
        }
        Ok(Self { id, ids })
    }

    pub(in crate::spec) fn write(&self, object: &mut ObjectWriter<'_>) {
        if let Some(id) = self.id {
            object.int("source-id", id);
        }
        if let Some(ids) = &self.ids {
            object.array("source-ids", ids, |out, id| out.push_str(&id.to_string()));
        }
    }

    /// Java reads no field without `source-id`, so none is added that has none; and Java would take the first of
    /// several columns for the only one.
    pub(in crate::spec) fn check_single(&self) -> Result<()> {
        match (self.id, self.ids.as_deref()) {
            (None, _) => Err(Error::invalid("Cannot parse missing int: source-id")),
            (Some(id), Some(ids)) if ids != [id] => {
                Err(Error::invalid(format!("Cannot add a field of several source columns: source-ids {ids:?}")))
            }
            _ => Ok(()),
        }
    }

    /// The same columns under new ids; `None` if one of them has none.
    pub(in crate::spec) fn mapped(&self, new_of_old: &HashMap<i32, i32>) -> Option<Self> {
        let new = |id: &i32| new_of_old.get(id).copied();
        let id = match &self.id {
            Some(id) => Some(new(id)?),
            None => None,
        };
        let ids = match &self.ids {
            Some(ids) => Some(ids.iter().map(new).collect::<Option<Vec<_>>>()?),
            None => None,
        };
        Some(Self { id, ids })
    }
}

/// The ids, separated by commas.
impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ids: Vec<_> = self.ids().iter().map(i32::to_string).collect();
        f.write_str(&ids.join(", "))
    }
}
