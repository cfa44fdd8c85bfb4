//! Names of namespaces, tables and views.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::error::{Error, Result};
use super::json::Object;

/// Most levels a namespace may have.
const MAX_LEVELS: usize = 64;

/// The separator of levels in URLs that every server accepts (spec.md 1.2); inside a level it could not be told apart.
const URL_SEPARATOR: char = '\u{1f}';

/// The name of a namespace: one or more levels, none of them empty.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "Vec<String>", into = "Vec<String>")]
pub struct Namespace(Vec<String>);

impl Namespace {
    /// Makes a namespace name of its levels, outermost first.
    ///
    /// # Errors
    /// [`Error::Invalid`] if there is no level, more than 64 levels, an empty level, or one that contains NUL or 0x1F.
    pub fn new(levels: Vec<String>) -> Result<Self> {
        if levels.is_empty() {
            return Err(Error::invalid("Invalid namespace: it has no levels"));
        }
        if levels.len() > MAX_LEVELS {
            return Err(Error::invalid(format!("Invalid namespace: more than {MAX_LEVELS} levels")));
        }
        levels.iter().try_for_each(|level| check_level(level))?;
        Ok(Self(levels))
    }

    /// The levels, outermost first. Never empty.
    pub fn levels(&self) -> &[String] {
        &self.0
    }

    /// The namespace that contains this one; `None` for a namespace of one level.
    pub fn parent(&self) -> Option<Self> {
        match self.0.split_last() {
            Some((_, rest)) if !rest.is_empty() => Some(Self(rest.to_vec())),
            _ => None,
        }
    }

    /// The same levels in lower case (Unicode's, of no language).
    pub fn to_lowercase(&self) -> Self {
        Self(self.0.iter().map(|level| level.to_lowercase()).collect())
    }
}

fn check_level(level: &str) -> Result<()> {
    if level.is_empty() {
        return Err(Error::invalid("Invalid namespace: a level is empty"));
    }
    if level.contains('\0') {
        return Err(Error::invalid("Cannot create a namespace with the null-byte character"));
    }
    if level.contains(URL_SEPARATOR) {
        return Err(Error::invalid("Cannot create a namespace with the character 0x1F, which separates levels"));
    }
    Ok(())
}

impl fmt::Display for Namespace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join("."))
    }
}

impl TryFrom<Vec<String>> for Namespace {
    type Error = Error;

    fn try_from(levels: Vec<String>) -> Result<Self> {
        Self::new(levels)
    }
}

impl From<Namespace> for Vec<String> {
    fn from(namespace: Namespace) -> Self {
        namespace.0
    }
}

/// The name of a table or view within its namespace.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "UncheckedIdent")]
pub struct TableIdent {
    /// Where the table lives.
    pub namespace: Namespace,
    /// The table's own name; never empty.
    pub name: String,
}

/// What serde reads before the name is checked.
#[derive(Deserialize)]
struct UncheckedIdent {
    namespace: Namespace,
    name: String,
}

impl TableIdent {
    /// Makes an identifier of a namespace and a name.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the name is empty or contains NUL.
    pub fn new(namespace: Namespace, name: impl Into<String>) -> Result<Self> {
        let name = name.into();
        if name.is_empty() {
            return Err(Error::invalid("Invalid table name: null or empty"));
        }
        if name.contains('\0') {
            return Err(Error::invalid("Invalid table name: it contains the null-byte character"));
        }
        Ok(Self { namespace, name })
    }

    /// Reads `{"namespace": [..], "name": ".."}`.
    ///
    /// # Errors
    /// [`Error::Invalid`] that names the member which is missing or wrong.
    pub fn parse(raw: &RawValue) -> Result<Self> {
        let mut object = Object::parse_raw(raw)?;
        let namespace = Namespace::new(object.required_strings("namespace")?)?;
        Self::new(namespace, object.required_str("name")?)
    }
}

impl TableIdent {
    /// The same identifier in lower case.
    pub fn to_lowercase(&self) -> Self {
        Self { namespace: self.namespace.to_lowercase(), name: self.name.to_lowercase() }
    }
}

impl TryFrom<UncheckedIdent> for TableIdent {
    type Error = Error;

    fn try_from(ident: UncheckedIdent) -> Result<Self> {
        Self::new(ident.namespace, ident.name)
    }
}

impl fmt::Display for TableIdent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.namespace, self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn namespace(levels: &[&str]) -> Result<Namespace> {
        Namespace::new(levels.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn names_print_with_dots() {
        let ident = TableIdent::new(namespace(&["a", "b"]).unwrap(), "t").unwrap();
        assert_eq!(ident.to_string(), "a.b.t");
        assert_eq!(ident.namespace.parent().unwrap().to_string(), "a");
        assert_eq!(ident.namespace.parent().unwrap().parent(), None);
    }

    #[test]
    fn a_namespace_has_levels_and_none_is_empty() {
        for levels in [&[][..], &[""], &["a", ""], &["a\0"], &["a\u{1f}b"]] {
            assert!(namespace(levels).is_err(), "{levels:?}");
        }
        assert!(Namespace::new(vec!["a".to_owned(); MAX_LEVELS + 1]).is_err());
    }

    #[test]
    fn identifiers_pass_through_json() {
        let text = r#"{"namespace":["a","b"],"name":"t"}"#;
        let ident: TableIdent = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&ident).unwrap(), text);
        let raw: Box<RawValue> = serde_json::from_str(text).unwrap();
        assert_eq!(TableIdent::parse(&raw).unwrap(), ident);
        assert!(serde_json::from_str::<TableIdent>(r#"{"namespace":["a"],"name":""}"#).is_err());
        assert!(serde_json::from_str::<TableIdent>(r#"{"namespace":[],"name":"t"}"#).is_err());
    }
}
