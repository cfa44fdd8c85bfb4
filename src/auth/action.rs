//! What may be done, and which privilege allows what.

use std::fmt;

/// Something that a caller wants to do to an object.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Action {
    /// Know that it is there: what lists and existence checks tell.
    See,
    /// Read it: metadata, plans, credentials for reading, reports.
    Read,
    /// Add a namespace, a table or a view to it.
    Create,
    /// Change it.
    Write,
    /// Add snapshots to this branch or tag of it, and nothing else.
    CommitToRef(String),
    /// Raise its format version.
    Upgrade,
    /// Take it out of the catalog; files stay.
    Drop,
    /// Have its files deleted.
    Purge,
    /// Say who may do what to it.
    ManageGrants,
    /// Settings, warehouses, background work, the audit log.
    Administer,
}

impl Action {
    /// Those that are about no branch or tag.
    pub const PLAIN: [Self; 9] = [
        Self::See,
        Self::Read,
        Self::Create,
        Self::Write,
        Self::Upgrade,
        Self::Drop,
        Self::Purge,
        Self::ManageGrants,
        Self::Administer,
    ];

    /// Its name.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::See => "see",
            Self::Read => "read",
            Self::Create => "create",
            Self::Write => "write",
            Self::CommitToRef(_) => "commit-to-ref",
            Self::Upgrade => "upgrade-format-version",
            Self::Drop => "drop",
            Self::Purge => "purge",
            Self::ManageGrants => "manage-grants",
            Self::Administer => "administer",
        }
    }

    /// Reads what is displayed.
    pub fn parse(text: &str) -> Option<Self> {
        if let Some(name) = text.strip_prefix("commit-to-ref:").filter(|name| !name.is_empty()) {
            return Some(Self::CommitToRef(name.to_owned()));
        }
        Self::PLAIN.into_iter().find(|action| action.as_str() == text)
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CommitToRef(name) => write!(f, "commit-to-ref:{name}"),
            other => f.write_str(other.as_str()),
        }
    }
}

/// What can be granted: a role, or one thing alone.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Privilege {
    /// Reads.
    Viewer,
    /// Reads, creates, writes and drops.
    Editor,
    /// Everything.
    Admin,
    /// Adds snapshots to one branch or tag.
    CommitToRef(String),
    /// Raises format versions.
    Upgrade,
    /// Drops; files stay.
    Drop,
    /// Drops, and has files deleted.
    Purge,
    /// Grants to others what the grantee may do.
    ManageGrants,
}

impl Privilege {
    /// Names of those that can be granted.
    pub const NAMES: [&str; 8] =
        ["viewer", "editor", "admin", "commit-to-ref", "upgrade-format-version", "drop", "purge", "manage-grants"];

    /// Its name.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Viewer => "viewer",
            Self::Editor => "editor",
            Self::Admin => "admin",
            Self::CommitToRef(_) => "commit-to-ref",
            Self::Upgrade => "upgrade-format-version",
            Self::Drop => "drop",
            Self::Purge => "purge",
            Self::ManageGrants => "manage-grants",
        }
    }

    /// The branch or tag that it is about; empty where it is about none.
    pub fn ref_name(&self) -> &str {
        match self {
            Self::CommitToRef(name) => name,
            _ => "",
        }
    }

    /// The privilege of this name. Only `commit-to-ref` is about a branch or tag, and it must be.
    pub fn new(name: &str, ref_name: &str) -> Option<Self> {
        let plain = match name {
            "commit-to-ref" if !ref_name.is_empty() => return Some(Self::CommitToRef(ref_name.to_owned())),
            "viewer" => Self::Viewer,
            "editor" => Self::Editor,
            "admin" => Self::Admin,
            "upgrade-format-version" => Self::Upgrade,
            "drop" => Self::Drop,
            "purge" => Self::Purge,
            "manage-grants" => Self::ManageGrants,
            _ => return None,
        };
        ref_name.is_empty().then_some(plain)
    }

    /// Reads what is displayed.
    pub fn parse(text: &str) -> Option<Self> {
        let (name, ref_name) = text.split_once(':').unwrap_or((text, ""));
        Self::new(name, ref_name)
    }

    /// Whether who has it on an object may do this to it and to what it holds.
    pub fn allows(&self, action: &Action) -> bool {
        match (self, action) {
            (Self::Admin, _) | (_, Action::See) => true,
            (Self::Viewer, action) => matches!(action, Action::Read),
            (Self::Editor, action) => {
                matches!(action, Action::Read | Action::Create | Action::Write | Action::CommitToRef(_) | Action::Drop)
            }
            (Self::CommitToRef(mine), Action::CommitToRef(wanted)) => mine == wanted,
            (Self::Upgrade, action) => matches!(action, Action::Upgrade),
            (Self::Drop, action) => matches!(action, Action::Drop),
            (Self::Purge, action) => matches!(action, Action::Drop | Action::Purge),
            (Self::ManageGrants, action) => matches!(action, Action::ManageGrants),
            (Self::CommitToRef(_), _) => false,
        }
    }

    /// All that it allows: what its giver must be allowed, too.
    pub fn actions(&self) -> Vec<Action> {
        let mut all: Vec<Action> = Action::PLAIN.into_iter().filter(|action| self.allows(action)).collect();
        if let Self::CommitToRef(name) = self {
            all.push(Action::CommitToRef(name.clone()));
        }
        all
    }
}

impl fmt::Display for Privilege {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CommitToRef(name) => write!(f, "commit-to-ref:{name}"),
            other => f.write_str(other.as_str()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_are_written() {
        for action in Action::PLAIN.into_iter().chain([Action::CommitToRef("a:b".into())]) {
            assert_eq!(Action::parse(&action.to_string()), Some(action));
        }
        for name in Privilege::NAMES {
            let text = if name == "commit-to-ref" { "commit-to-ref:a:b" } else { name };
            assert_eq!(Privilege::parse(text).unwrap().to_string(), text);
        }
        for wrong in ["", "owner", "viewer:main", "commit-to-ref", "commit-to-ref:", "Viewer"] {
            assert_eq!(Privilege::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn each_role_allows_what_the_one_below_it_does() {
        for action in Action::PLAIN.into_iter().chain([Action::CommitToRef("main".into())]) {
            assert!(!Privilege::Viewer.allows(&action) || Privilege::Editor.allows(&action), "{action}");
            assert!(Privilege::Admin.allows(&action), "{action}");
        }
    }

    #[test]
    fn what_cannot_be_undone_needs_more_than_an_editor() {
        for action in [Action::Upgrade, Action::Purge, Action::ManageGrants, Action::Administer] {
            assert!(!Privilege::Editor.allows(&action), "{action}");
        }
    }

    #[test]
    fn a_single_privilege_allows_nothing_else() {
        assert_eq!(Privilege::Upgrade.actions(), [Action::See, Action::Upgrade]);
        assert_eq!(Privilege::Purge.actions(), [Action::See, Action::Drop, Action::Purge]);
        let commit = Privilege::CommitToRef("audit".into());
        assert_eq!(commit.actions(), [Action::See, Action::CommitToRef("audit".into())]);
        assert!(!commit.allows(&Action::CommitToRef("main".into())));
    }
}
