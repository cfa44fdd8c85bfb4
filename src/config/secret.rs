//! A setting that is a secret.

use super::Error;
use serde::{Deserialize, Serialize, Serializer};
use std::convert::Infallible;
use std::fmt;
use std::path::Path;
use std::str::FromStr;

/// A text that is never shown: not among the settings in force, not in a log.
#[derive(Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct Hidden(String);

impl Hidden {
    /// The text itself, or what is in the file.
    pub(super) fn of(text: Option<Self>, file: Option<&Path>) -> Result<Self, Error> {
        match (text.filter(|text| !text.is_empty()), file) {
            (Some(text), _) => Ok(text),
            (None, Some(path)) => {
                let read = std::fs::read_to_string(path);
                Ok(Self(read.map_err(|source| Error::ReadSecret { path: path.into(), source })?))
            }
            (None, None) => Ok(Self::default()),
        }
    }

    /// Whether nothing was given.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The text, for where it is used.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl FromStr for Hidden {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(Self(text.to_owned()))
    }
}

impl fmt::Debug for Hidden {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_empty() { "" } else { "***" })
    }
}

impl Serialize for Hidden {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(if self.0.is_empty() { "" } else { "***" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_not_shown() {
        let secret: Hidden = "hunter2".parse().unwrap();
        assert_eq!((format!("{secret:?}"), serde_json::to_string(&secret).unwrap()), ("***".into(), "\"***\"".into()));
        assert_eq!(secret.reveal(), "hunter2");
    }

    #[test]
    fn a_file_is_read_where_the_text_is_not_given() {
        let file = std::env::temp_dir().join(format!("guillemot-hidden-{}", std::process::id()));
        std::fs::write(&file, "from file").unwrap();
        assert_eq!(Hidden::of(None, Some(&file)).unwrap().reveal(), "from file");
        assert_eq!(Hidden::of(Some("text".parse().unwrap()), Some(&file)).unwrap().reveal(), "text");
        std::fs::remove_file(&file).unwrap();
        assert!(Hidden::of(None, Some(&file)).is_err());
        assert_eq!(Hidden::of(None, None).unwrap(), Hidden::default());
    }
}
