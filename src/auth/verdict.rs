//! What was found out about a token, and how long it holds.

use super::Principal;
use super::error::Error;
use super::jwt::{Claims, Validity};
use crate::store::identities::{Identity, Status};
use serde_json::Value;
use std::sync::Arc;

/// Whose token it is.
#[derive(Debug, Clone)]
pub(super) struct Verdict {
    pub(super) principal: Arc<Principal>,
    /// When it is valid; `None` where whoever vouched for it does not say.
    pub(super) validity: Option<Validity>,
    /// Set for this catalog's own tokens, which are void once their identity changes.
    pub(super) stamp: Option<Stamp>,
}

/// The identity that a token was given to, as it was then.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stamp {
    pub(super) name: String,
    version: i64,
}

impl Stamp {
    pub(super) fn of(claims: &Claims) -> Result<Self, Error> {
        let name = claims.get("sub").and_then(Value::as_str);
        match (name, claims.get("ver").and_then(Value::as_i64)) {
            (Some(name), Some(version)) => Ok(Self { name: name.to_owned(), version }),
            _ => Err(Error::refused("it names no identity")),
        }
    }

    /// Whether the identity is still the same.
    pub(super) fn is_of(&self, identity: &Identity) -> bool {
        identity.status == Status::Active && identity.name == self.name && identity.version == self.version
    }
}
