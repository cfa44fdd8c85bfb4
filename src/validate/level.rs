//! What a broken rule does.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// What a broken rule does to a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Refuses it.
    Deny,
    /// Lets it pass, and says so.
    Warn,
    /// Nothing: the rule is not looked at.
    Off,
}

impl Level {
    /// `deny`, `warn` or `off`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Deny => "deny",
            Self::Warn => "warn",
            Self::Off => "off",
        }
    }
}

impl FromStr for Level {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        [Self::Deny, Self::Warn, Self::Off]
            .into_iter()
            .find(|level| level.as_str() == text)
            .ok_or_else(|| Error::UnknownLevel(text.to_owned()))
    }
}

/// Why a level cannot be set.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// There is no such rule.
    #[error("there is no rule `{0}`")]
    UnknownRule(String),
    /// There is no such level.
    #[error("`{0}` is no level: deny, warn or off")]
    UnknownLevel(String),
}
