//! What a broken rule does: each rule's level, by default and as configured.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::rules;

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

/// The level of every rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Levels {
    /// In the order of the catalogue.
    levels: Vec<Level>,
}

impl Default for Levels {
    /// The catalogue's own levels.
    fn default() -> Self {
        Self { levels: rules::all().map(|rule| rule.level).collect() }
    }
}

impl Levels {
    /// Sets the level of the rule with this id.
    pub fn set(&mut self, rule: &str, level: &str) -> Result<(), Error> {
        let level = level.parse()?;
        let index = rules::all().position(|known| known.id == rule);
        let place = index.and_then(|index| self.levels.get_mut(index));
        *place.ok_or_else(|| Error::UnknownRule(rule.to_owned()))? = level;
        Ok(())
    }

    /// The level of the rule with this id; off if there is none.
    pub fn of(&self, rule: &str) -> Level {
        let index = rules::all().position(|known| known.id == rule);
        index.and_then(|index| self.levels.get(index)).copied().unwrap_or(Level::Off)
    }

    /// Rule ids and levels, in the order of the catalogue.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, Level)> {
        rules::all().map(|rule| rule.id).zip(self.levels.iter().copied())
    }

    /// Whether any of these rules is looked at.
    pub(super) fn any(&self, rules: &[&str]) -> bool {
        rules.iter().any(|rule| self.of(rule) != Level::Off)
    }
}
