//! A caller, with all that was granted to it.

use super::action::Action;
use super::decide::{Decision, decide};
use super::grant::{Grant, Object};
use super::principal::Principal;
use crate::spec::Namespace;
use crate::store::tables::Kind;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The grants of one principal, as of one version of all grants.
#[derive(Debug, Default)]
pub struct Granted {
    /// See [`crate::store::grants::version`].
    pub version: i64,
    /// What is granted to the principal and to its roles.
    pub grants: Vec<Grant>,
}

/// Who is calling, and what they may do.
#[derive(Debug, Clone)]
pub struct Caller {
    /// Who is calling.
    pub principal: Arc<Principal>,
    /// What was granted to them; nothing is looked up for one who is unrestricted.
    pub granted: Arc<Granted>,
}

impl Caller {
    /// What is decided about an action.
    pub fn decide(&self, action: &Action, object: &Object) -> Decision<'_> {
        decide(&self.principal, &self.granted.grants, action, object)
    }

    /// Whether an action is allowed.
    pub fn may(&self, action: &Action, object: &Object) -> bool {
        self.decide(action, object).is_allowed()
    }

    /// Whether whatever lies in this object may be seen, and not only some of it.
    pub fn sees_all_in(&self, object: &Object) -> bool {
        let holds = |grant: &Grant| grant.is_for(&self.principal) && grant.object.holds(object);
        self.principal.unrestricted || self.granted.grants.iter().any(holds)
    }

    /// The namespaces on which an action was granted by name, not for the whole warehouse.
    pub fn namespaces(&self, action: &Action, warehouse_id: &str) -> BTreeSet<Namespace> {
        let granted = self.mine().filter(|grant| grant.privilege.allows(action));
        let named = granted.filter_map(|grant| match &grant.object {
            Object::Namespace(id, namespace) if id == warehouse_id => Some(namespace.clone()),
            _ => None,
        });
        named.collect()
    }

    /// The names of tables, or of views, of this very namespace that grants name.
    pub fn named_tables(&self, warehouse_id: &str, namespace: &Namespace, kind: Kind) -> BTreeSet<String> {
        let named = self.mine().filter(|grant| grant.kind == Some(kind)).filter_map(|grant| match &grant.object {
            Object::Table(id, table) if id == warehouse_id && table.namespace == *namespace => Some(table.name.clone()),
            _ => None,
        });
        named.collect()
    }

    /// The namespaces directly under `parent`, or at the top, that grants name or lie in.
    pub fn named_namespaces(&self, warehouse_id: &str, parent: Option<&Namespace>) -> BTreeSet<Namespace> {
        let above = parent.map_or(&[][..], Namespace::levels);
        let child = |grant: &Grant| {
            let levels = grant.object.namespace().filter(|_| grant.object.warehouse() == Some(warehouse_id))?.levels();
            let inside = levels.starts_with(above) && levels.len() > above.len();
            Namespace::new(levels.get(..=above.len()).filter(|_| inside)?.to_vec()).ok()
        };
        self.mine().filter_map(child).collect()
    }

    fn mine(&self) -> impl Iterator<Item = &Grant> {
        self.granted.grants.iter().filter(|grant| grant.is_for(&self.principal))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::auth::action::Privilege;
    use crate::auth::grant::Grantee;
    use crate::spec::TableIdent;

    fn namespace(name: &str) -> Namespace {
        Namespace::new(name.split('.').map(str::to_owned).collect()).unwrap()
    }

    fn on(object: Object, kind: Option<Kind>) -> Grant {
        let grantee = Grantee::User("ann".into());
        Grant { id: String::new(), grantee, privilege: Privilege::Viewer, object, kind }
    }

    fn table(warehouse: &str, name: &str, kind: Kind) -> Grant {
        let (levels, name) = name.rsplit_once('.').unwrap();
        on(Object::Table(warehouse.into(), TableIdent::new(namespace(levels), name).unwrap()), Some(kind))
    }

    #[test]
    fn names_come_from_grants_on_what_lies_below() {
        let grants = vec![
            table("w", "a.b.t", Kind::Table),
            table("w", "a.b.v", Kind::View),
            table("w", "a.u", Kind::Table),
            table("other", "x.t", Kind::Table),
            on(Object::Namespace("w".into(), namespace("c.d")), None),
        ];
        let principal = Principal { name: "ann".into(), roles: Vec::new(), unrestricted: false };
        let access = Caller { principal: principal.into(), granted: Granted { version: 1, grants }.into() };
        let children = |parent: Option<&str>| {
            let found = access.named_namespaces("w", parent.map(namespace).as_ref());
            found.iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        assert_eq!(children(None), ["a", "c"]);
        assert_eq!(children(Some("a")), ["a.b"]);
        assert_eq!(children(Some("a.b")), [""; 0]);
        let named = |kind| access.named_tables("w", &namespace("a.b"), kind).into_iter().collect::<Vec<_>>();
        assert_eq!((named(Kind::Table), named(Kind::View)), (vec!["t".to_owned()], vec!["v".to_owned()]));
        assert!(access.sees_all_in(&Object::Namespace("w".into(), namespace("c.d.e"))));
        assert!(!access.sees_all_in(&Object::Namespace("w".into(), namespace("c"))));
    }
}
