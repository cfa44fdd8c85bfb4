//! Each rule's level, by default and as configured.

use super::level::{Error, Level};
use super::rules;

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
