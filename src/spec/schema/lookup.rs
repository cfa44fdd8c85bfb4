//! Finding fields by id and by name.

use super::Schema;
use crate::spec::types::{Field, Type};

impl Schema {
    /// The highest field id, nested fields included; 0 if there are no fields.
    pub fn highest_field_id(&self) -> i32 {
        let mut highest = 0;
        self.for_each_field(&mut |_, field| highest = highest.max(field.id));
        highest
    }

    /// The field with this id, wherever it is nested.
    pub fn find_field(&self, id: i32) -> Option<&Field> {
        find(self.fields.iter(), id)
    }

    /// The field with this full name: levels joined by dots, the parts of lists and maps named `element`, `key` and
    /// `value`. Where those stand for a struct they may be left out, as in Java.
    pub fn find_by_name(&self, name: &str) -> Option<&Field> {
        named(self.fields.iter(), name, false).or_else(|| named(self.fields.iter(), name, true))
    }

    /// The full name of the field with this id.
    pub fn column_name(&self, id: i32) -> Option<String> {
        let mut name = None;
        self.for_each_field(&mut |parents, field| {
            if field.id == id {
                name = Some(full_name(parents, field));
            }
        });
        name
    }

    /// The fields that contain the field with this id, outermost first. `None` if there is no such field.
    pub fn parents_of(&self, id: i32) -> Option<Vec<&Field>> {
        let mut found = None;
        self.for_each_field(&mut |parents, field| {
            if field.id == id {
                found = Some(parents.to_vec());
            }
        });
        found
    }

    /// Calls the function with every field and the fields that contain it, parents before their parts.
    pub fn for_each_field<'a>(&'a self, each: &mut dyn FnMut(&[&'a Field], &'a Field)) {
        visit(self.fields.iter().collect(), &mut Vec::new(), each);
    }
}

fn visit<'a>(fields: Vec<&'a Field>, parents: &mut Vec<&'a Field>, each: &mut dyn FnMut(&[&'a Field], &'a Field)) {
    for field in fields {
        each(parents, field);
        parents.push(field);
        visit(field.field_type.parts(), parents, each);
        parents.pop();
    }
}

/// The name of a field within these parents.
pub(super) fn full_name(parents: &[&Field], field: &Field) -> String {
    let mut name = String::new();
    for parent in parents {
        name.push_str(&parent.name);
        name.push('.');
    }
    name.push_str(&field.name);
    name
}

fn find<'a>(fields: impl IntoIterator<Item = &'a Field>, id: i32) -> Option<&'a Field> {
    fields.into_iter().find_map(|field| if field.id == id { Some(field) } else { find(field.field_type.parts(), id) })
}

/// Finds a field by name. `short` leaves out the `element` and `value` that stand for a struct.
fn named<'a>(fields: impl IntoIterator<Item = &'a Field>, name: &str, short: bool) -> Option<&'a Field> {
    fields.into_iter().find_map(|field| {
        let rest = name.strip_prefix(field.name.as_str())?;
        if rest.is_empty() {
            return Some(field);
        }
        within(&field.field_type, rest.strip_prefix('.')?, short)
    })
}

fn within<'a>(parent: &'a Type, name: &str, short: bool) -> Option<&'a Field> {
    let skipped = |part: &Field| short && part.field_type.is_struct();
    match parent {
        Type::List(list) if skipped(&list.element) => within(&list.element.field_type, name, short),
        Type::Map(map) if skipped(&map.value) => {
            named([&map.key], name, short).or_else(|| within(&map.value.field_type, name, short))
        }
        _ => named(parent.parts(), name, short),
    }
}
