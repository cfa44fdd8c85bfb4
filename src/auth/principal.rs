//! Who is calling.

/// Who is calling, as authentication found out. Grants name principals and roles; the audit log and idempotency keys
/// name principals.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Principal {
    /// Unique in this server: `identity:NAME` for a built-in identity, `ISSUER#SUBJECT` for a token of an issuer,
    /// `google:EMAIL` for a token that Google vouches for, `anonymous` where nobody has to say who they are.
    pub name: String,
    /// Roles that the token's claims give. Grants to a role count for everyone who has it.
    pub roles: Vec<String>,
    /// Whether everything is allowed: the server runs without authentication.
    pub unrestricted: bool,
}

impl Principal {
    /// Everyone, on a server without authentication.
    pub fn anonymous() -> Self {
        Self { name: "anonymous".to_owned(), roles: Vec::new(), unrestricted: true }
    }
}
