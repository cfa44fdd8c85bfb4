//! The decision: may this caller do that to this object? Pure.

use super::action::Action;
use super::grant::{Grant, Object};
use super::principal::Principal;

/// What was decided, and why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision<'a> {
    /// Yes: the server runs without authentication.
    Unrestricted,
    /// Yes, by this grant.
    Allowed(&'a Grant),
    /// No.
    Denied {
        /// Whether the caller may know that the object is there.
        visible: bool,
    },
}

impl Decision<'_> {
    /// Whether it is a yes.
    pub fn is_allowed(&self) -> bool {
        !matches!(self, Self::Denied { .. })
    }
}

/// Decides by the grants, of which those of others do not count. Of several grants that allow it the one on the
/// outermost object is named.
///
/// Who has any privilege on an object may see it, and by name all that it lies in.
pub fn decide<'a>(principal: &Principal, grants: &'a [Grant], action: &Action, object: &Object) -> Decision<'a> {
    if principal.unrestricted {
        return Decision::Unrestricted;
    }
    let allows = |grant: &&Grant| grant.privilege.allows(action) && grant.object.holds(object);
    let on_path = |grant: &&Grant| *action == Action::See && object.holds(&grant.object);
    let mine = || grants.iter().filter(|grant| grant.is_for(principal));
    let outermost = mine().filter(allows).min_by_key(|grant| depth(&grant.object));
    if let Some(grant) = outermost.or_else(|| mine().find(on_path)) {
        return Decision::Allowed(grant);
    }
    let visible =
        *object == Object::Server || mine().any(|grant| grant.object.holds(object) || object.holds(&grant.object));
    Decision::Denied { visible }
}

fn depth(object: &Object) -> usize {
    match object {
        Object::Server => 0,
        Object::Warehouse(_) => 1,
        Object::Namespace(_, namespace) => 1 + namespace.levels().len(),
        Object::Table(_, table) => 2 + table.namespace.levels().len(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::auth::action::Privilege;
    use crate::auth::grant::Grantee;
    use crate::spec::{Namespace, TableIdent};
    use proptest::prelude::*;

    fn principal() -> Principal {
        Principal { name: "ann".into(), roles: vec!["etl".into()], unrestricted: false }
    }

    fn grant(grantee: Grantee, privilege: Privilege, object: Object) -> Grant {
        Grant { id: "g".into(), grantee, privilege, object, kind: None }
    }

    fn namespace(levels: &[&str]) -> Namespace {
        Namespace::new(levels.iter().map(ToString::to_string).collect()).unwrap()
    }

    fn table(levels: &[&str], name: &str) -> Object {
        Object::Table("w".into(), TableIdent::new(namespace(levels), name).unwrap())
    }

    #[test]
    fn roles_count_and_other_peoples_grants_do_not() {
        let on = || Object::Warehouse("w".into());
        let object = table(&["a"], "t");
        for (grantee, allowed) in [
            (Grantee::User("ann".into()), true),
            (Grantee::Role("etl".into()), true),
            (Grantee::User("bob".into()), false),
            (Grantee::Role("ann".into()), false),
            (Grantee::User("etl".into()), false),
        ] {
            let grants = [grant(grantee, Privilege::Viewer, on())];
            assert_eq!(decide(&principal(), &grants, &Action::Read, &object).is_allowed(), allowed, "{grants:?}");
        }
    }

    #[test]
    fn a_grant_on_a_table_shows_the_names_on_the_path_and_nothing_else() {
        let grants = [grant(Grantee::User("ann".into()), Privilege::Viewer, table(&["a", "b"], "t"))];
        let decide = |action: &Action, object: &Object| decide(&principal(), &grants, action, object);
        for seen in [Object::Server, Object::Warehouse("w".into()), Object::Namespace("w".into(), namespace(&["a"]))] {
            assert!(decide(&Action::See, &seen).is_allowed(), "{seen:?}");
            assert_eq!(decide(&Action::Read, &seen), Decision::Denied { visible: true });
        }
        assert!(decide(&Action::Read, &table(&["a", "b"], "t")).is_allowed());
        assert_eq!(decide(&Action::Write, &table(&["a", "b"], "t")), Decision::Denied { visible: true });
        for hidden in [
            table(&["a", "b"], "u"),
            table(&["a"], "t"),
            Object::Namespace("w".into(), namespace(&["a", "c"])),
            Object::Warehouse("v".into()),
        ] {
            assert_eq!(decide(&Action::See, &hidden), Decision::Denied { visible: false }, "{hidden:?}");
        }
    }

    #[test]
    fn the_grant_on_the_outermost_object_is_the_reason() {
        let ann = || Grantee::User("ann".into());
        let grants = [
            grant(ann(), Privilege::Admin, table(&["a"], "t")),
            grant(ann(), Privilege::Viewer, Object::Warehouse("w".into())),
        ];
        assert_eq!(decide(&principal(), &grants, &Action::Read, &table(&["a"], "t")), Decision::Allowed(&grants[1]));
        assert_eq!(decide(&principal(), &grants, &Action::Write, &table(&["a"], "t")), Decision::Allowed(&grants[0]));
    }

    fn any_namespace() -> impl Strategy<Value = Namespace> {
        prop::collection::vec("[ab]", 1..4).prop_map(|levels| Namespace::new(levels).unwrap())
    }

    fn any_object() -> impl Strategy<Value = Object> {
        prop_oneof![
            Just(Object::Server),
            "[wv]".prop_map(Object::Warehouse),
            ("[wv]", any_namespace()).prop_map(|(id, namespace)| Object::Namespace(id, namespace)),
            ("[wv]", any_namespace(), "[tu]")
                .prop_map(|(id, namespace, name)| Object::Table(id, TableIdent::new(namespace, name).unwrap())),
        ]
    }

    fn any_privilege() -> impl Strategy<Value = Privilege> {
        prop_oneof![
            Just(Privilege::Viewer),
            Just(Privilege::Editor),
            Just(Privilege::Admin),
            Just(Privilege::Upgrade),
            Just(Privilege::Drop),
            Just(Privilege::Purge),
            Just(Privilege::ManageGrants),
            "[mn]".prop_map(Privilege::CommitToRef),
        ]
    }

    fn any_grants() -> impl Strategy<Value = Vec<Grant>> {
        let grantee = prop_oneof!["ann|bob".prop_map(Grantee::User), "etl|ops".prop_map(Grantee::Role)];
        let one = (grantee, any_privilege(), any_object());
        prop::collection::vec(one.prop_map(|(grantee, privilege, object)| grant(grantee, privilege, object)), 0..5)
    }

    fn any_action() -> impl Strategy<Value = Action> {
        prop_oneof![prop::sample::select(Action::PLAIN.to_vec()), "[mn]".prop_map(Action::CommitToRef)]
    }

    proptest! {
        /// What is allowed on an object is allowed on what it holds. (To see is also passed on upwards, so that who sees
        /// one thing in a namespace does not see all of it.)
        #[test]
        fn rights_are_inherited_downwards(grants in any_grants(), action in any_action(), object in any_object(), inner in any_object()) {
            prop_assume!(action != Action::See && object.holds(&inner));
            let on = |object| decide(&principal(), &grants, &action, object).is_allowed();
            prop_assert!(!on(&object) || on(&inner));
        }

        /// Another grant never takes anything away.
        #[test]
        fn grants_only_add(grants in any_grants(), more in any_grants(), action in any_action(), object in any_object()) {
            let all: Vec<Grant> = grants.iter().chain(&more).cloned().collect();
            let by = |grants: &[Grant]| decide(&principal(), grants, &action, &object).is_allowed();
            prop_assert!(!by(&grants) || by(&all));
        }

        /// Whatever may be done to an object, it may be seen, and so may all that it lies in.
        #[test]
        fn what_is_allowed_is_visible(grants in any_grants(), action in any_action(), object in any_object(), outer in any_object()) {
            prop_assume!(outer.holds(&object));
            if decide(&principal(), &grants, &action, &object).is_allowed() {
                prop_assert!(decide(&principal(), &grants, &Action::See, &object).is_allowed());
                prop_assert!(decide(&principal(), &grants, &Action::See, &outer).is_allowed());
            }
        }

        /// Without a grant that touches it, an object is not there.
        #[test]
        fn nothing_is_allowed_without_a_grant_on_the_path(grants in any_grants(), action in any_action(), object in any_object()) {
            let touched = grants.iter().any(|grant| {
                grant.is_for(&principal()) && (grant.object.holds(&object) || object.holds(&grant.object))
            });
            if !touched {
                let visible = object == Object::Server;
                prop_assert_eq!(decide(&principal(), &grants, &action, &object), Decision::Denied { visible });
            }
        }
    }
}
