//! New field ids for the schema of a new table.

use std::collections::HashMap;

use super::Schema;
use crate::spec::types::{Field, Type};

impl Schema {
    /// The same schema with ids from 1 on, and which old id became which new one. The order is Java's, which clients
    /// count on (spec.md 2.5): all fields of a struct first, then the parts of each field in turn.
    pub fn assign_fresh_ids(&self) -> (Self, HashMap<i32, i32>) {
        let mut fresh = FreshIds { last: 0, new_of_old: HashMap::new() };
        let mut schema = self.clone();
        fresh.fields(&mut schema.fields);
        for id in &mut schema.identifier_field_ids {
            if let Some(new) = fresh.new_of_old.get(id) {
                *id = *new;
            }
        }
        (schema, fresh.new_of_old)
    }
}

struct FreshIds {
    last: i32,
    new_of_old: HashMap<i32, i32>,
}

impl FreshIds {
    fn fields(&mut self, fields: &mut [Field]) {
        for field in fields.iter_mut() {
            self.assign(field);
        }
        for field in fields.iter_mut() {
            self.parts(&mut field.field_type);
        }
    }

    fn parts(&mut self, parent: &mut Type) {
        match parent {
            Type::Struct(fields) => self.fields(&mut fields.fields),
            Type::List(list) => {
                self.assign(&mut list.element);
                self.parts(&mut list.element.field_type);
            }
            Type::Map(map) => {
                self.assign(&mut map.key);
                self.assign(&mut map.value);
                self.parts(&mut map.key.field_type);
                self.parts(&mut map.value.field_type);
            }
            Type::Primitive(_) | Type::Variant | Type::Other(_) => {}
        }
    }

    fn assign(&mut self, field: &mut Field) {
        self.last += 1;
        self.new_of_old.insert(field.id, self.last);
        field.id = self.last;
    }
}
