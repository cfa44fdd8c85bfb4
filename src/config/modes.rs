//! Settings that are one word out of a few.

use serde::{Deserialize, Serialize};

/// What a broken rule of level deny does.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RulesMode {
    /// It refuses the commit.
    #[default]
    Enforce,
    /// It lets the commit pass, and says what would have been refused.
    LogOnly,
}

/// What is done with what is found in a table that is registered, from lax to strict.
#[derive(
    Debug,
    Clone,
    Copy,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    clap::ValueEnum,
    Serialize,
    Deserialize,
    utoipa::ToSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum RegisterCheck {
    /// Nothing is looked at.
    Off,
    /// The table is registered, and what is broken in it is said.
    #[default]
    Warn,
    /// A broken table is not registered, and neither is one that could not be checked.
    Deny,
}

impl std::str::FromStr for RegisterCheck {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        clap::ValueEnum::from_str(text, false)
    }
}
