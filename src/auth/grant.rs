//! What is given to whom, and on what.

use super::action::Privilege;
use super::principal::Principal;
use crate::spec::{Namespace, TableIdent};
use crate::store::grants::{GrantRow, On};
use crate::store::tables::Kind;

pub use crate::store::grants::Grantee;

/// What actions are done to, and what grants are on.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Object {
    /// The whole server.
    Server,
    /// A warehouse, by its id.
    Warehouse(String),
    /// A namespace of a warehouse.
    Namespace(String, Namespace),
    /// A table or view of a warehouse: they share their names.
    Table(String, TableIdent),
}

impl Object {
    /// Whether this is the other object, or holds it.
    pub fn holds(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Server, _) => true,
            (Self::Warehouse(id), other) => Some(id.as_str()) == other.warehouse(),
            (Self::Namespace(id, outer), Self::Namespace(other, inner)) => {
                id == other && inner.levels().starts_with(outer.levels())
            }
            (Self::Namespace(id, outer), Self::Table(other, table)) => {
                id == other && table.namespace.levels().starts_with(outer.levels())
            }
            (Self::Table(id, table), Self::Table(other, wanted)) => id == other && table == wanted,
            (Self::Namespace(..) | Self::Table(..), _) => false,
        }
    }

    /// The id of the warehouse that it is, or lies in.
    pub fn warehouse(&self) -> Option<&str> {
        match self {
            Self::Server => None,
            Self::Warehouse(id) | Self::Namespace(id, _) | Self::Table(id, _) => Some(id),
        }
    }

    /// The namespace that it is, or lies in.
    pub fn namespace(&self) -> Option<&Namespace> {
        match self {
            Self::Server | Self::Warehouse(_) => None,
            Self::Namespace(_, namespace) => Some(namespace),
            Self::Table(_, table) => Some(&table.namespace),
        }
    }
}

/// A grant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grant {
    /// Its id.
    pub id: String,
    /// Who is given something.
    pub grantee: Grantee,
    /// What.
    pub privilege: Privilege,
    /// On what.
    pub object: Object,
    /// Of a table or view, which of the two it is.
    pub kind: Option<Kind>,
}

impl Grant {
    /// A grant as it is stored. `None` if it counts for nothing now: its table is kept aside, or a newer version of the
    /// server knows what it allows.
    pub fn from_row(row: GrantRow) -> Option<Self> {
        let privilege = Privilege::new(&row.privilege, &row.ref_name)?;
        let kind = row.table.as_ref().map(|table| table.kind);
        let object = match row.on {
            On::Server => Object::Server,
            On::Warehouse(id) => Object::Warehouse(id),
            On::Namespace(id, namespace) => Object::Namespace(id, namespace),
            On::Table(id, _) => Object::Table(id, row.table?.ident),
        };
        Some(Self { id: row.id, grantee: row.grantee, privilege, object, kind })
    }

    /// Whether it is given to this principal, or to a role of it.
    pub fn is_for(&self, principal: &Principal) -> bool {
        match &self.grantee {
            Grantee::User(name) => *name == principal.name,
            Grantee::Role(role) => principal.roles.contains(role),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn namespace(name: &str) -> Namespace {
        Namespace::new(name.split('.').map(str::to_owned).collect()).unwrap()
    }

    fn table(warehouse: &str, name: &str) -> Object {
        let (levels, table) = name.rsplit_once('.').unwrap();
        Object::Table(warehouse.into(), TableIdent::new(namespace(levels), table).unwrap())
    }

    #[test]
    fn an_object_holds_itself_and_what_lies_in_it() {
        let [w, v] = ["w", "v"].map(|id| Object::Warehouse(id.into()));
        let [a, ab, ax] = ["a", "a.b", "ax"].map(|name| Object::Namespace("w".into(), namespace(name)));
        let t = table("w", "a.b.t");
        for (outer, inner) in [(&Object::Server, &w), (&w, &a), (&a, &ab), (&ab, &t), (&a, &t), (&w, &t), (&t, &t)] {
            assert!(outer.holds(inner), "{outer:?} {inner:?}");
            assert!(outer == inner || !inner.holds(outer), "{inner:?} {outer:?}");
        }
        for (one, other) in
            [(&v, &t), (&w, &v), (&a, &ax), (&ax, &t), (&table("v", "a.b.t"), &t), (&table("w", "a.t"), &t)]
        {
            assert!(!one.holds(other) && !other.holds(one), "{one:?} {other:?}");
        }
    }
}
