//! How a table is named on a command line, and found.

use std::fmt;

use bytes::Bytes;

use super::Error;
use crate::client::Catalog;
use crate::spec::{Namespace, TableIdent, TableMetadata, file};
use crate::storage::{Location, Mapped};

/// A table to look at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// By its metadata file: a URI, or a path made absolute.
    File(String),
    /// By its name in a catalog.
    Name(TableIdent),
}

/// A table that was found.
#[derive(Debug)]
pub struct Found {
    /// Its metadata file, if it is known.
    pub metadata_location: Option<String>,
    /// Its metadata.
    pub metadata: TableMetadata,
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(location) => f.write_str(location),
            Self::Name(ident) => ident.fmt(f),
        }
    }
}

impl Target {
    /// A metadata file, as a URI or as a path of this machine.
    pub fn file(text: &str) -> Result<Self, Error> {
        Ok(Self::File(place(text)?))
    }

    /// A name: levels of the namespace and the table, joined by dots.
    pub fn name(text: &str) -> Result<Self, Error> {
        let wrong = || Error::Request(format!("`{text}` is no name of a table: NAMESPACE.TABLE"));
        let (levels, table) = text.rsplit_once('.').ok_or_else(wrong)?;
        let namespace = Namespace::new(levels.split('.').map(str::to_owned).collect()).map_err(|_| wrong())?;
        TableIdent::new(namespace, table).map(Self::Name).map_err(|_| wrong())
    }

    /// Reads the table's metadata: its file, or what the catalog says of the name.
    pub async fn find(&self, reader: &Mapped, catalog: Option<&Catalog>) -> Result<Found, Error> {
        match (self, catalog) {
            (Self::File(location), _) => {
                let metadata = parse(location, &reader.whole(location).await?)?;
                Ok(Found { metadata_location: Some(location.clone()), metadata })
            }
            (Self::Name(ident), Some(catalog)) => {
                let table = catalog.table(ident).await?;
                let metadata_location = table.metadata_location;
                let metadata = TableMetadata::parse(table.metadata.get().as_bytes()).map_err(|fault| {
                    let location = metadata_location.clone().unwrap_or_else(|| ident.to_string());
                    Error::Metadata { location, fault }
                })?;
                Ok(Found { metadata_location, metadata })
            }
            (Self::Name(ident), None) => Err(Error::Request(format!("{ident} is a name: say --uri of its catalog"))),
        }
    }
}

/// Reads metadata, compressed or not.
fn parse(location: &str, bytes: &Bytes) -> Result<TableMetadata, Error> {
    let wrong = |fault| Error::Metadata { location: location.to_owned(), fault };
    TableMetadata::parse(&file::document(bytes).map_err(wrong)?).map_err(wrong)
}

/// A place as a command line names it: a URI as it is, a path of this machine in full.
pub fn place(text: &str) -> Result<String, Error> {
    let is_uri = text.contains("://") || text.starts_with("file:");
    let full = if is_uri {
        text.to_owned()
    } else {
        let path = std::fs::canonicalize(text).or_else(|_| std::path::absolute(text));
        let path = path.map_err(|fault| Error::Request(format!("`{text}` is no path: {fault}")))?;
        path.to_str().map(str::to_owned).ok_or_else(|| Error::Request(format!("`{text}` is no text")))?
    };
    Location::parse(&full)?;
    Ok(full)
}

/// A place and where to look for it instead: `gs://warehouse=./folder`.
pub fn map(text: &str) -> Result<(Location, Location), Error> {
    let (from, to) =
        text.split_once('=').ok_or_else(|| Error::Request(format!("`{text}` is no map: FROM=TO, two places")))?;
    Ok((Location::parse(&place(from)?)?, Location::parse(&place(to)?)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_named_as_people_name_them() {
        assert_eq!(Target::name("a.b.t").unwrap().to_string(), "a.b.t");
        for wrong in ["t", ".t", "a.", "a..t"] {
            assert!(Target::name(wrong).is_err(), "{wrong}");
        }
        let uri = "gs://b/t/metadata/v1.metadata.json";
        assert_eq!(Target::file(uri).unwrap().to_string(), uri);
        let here = Target::file("Cargo.toml").unwrap().to_string();
        assert!(here.starts_with('/') && here.ends_with("/Cargo.toml"), "{here}");
        assert!(Target::file("http://b/t").is_err());
    }

    #[test]
    fn a_map_is_two_places() {
        let (from, to) = map("gs://warehouse/a=src").unwrap();
        assert_eq!(from.to_string(), "gs://warehouse/a");
        assert!(to.to_string().starts_with("file:///") && to.to_string().ends_with("/src"), "{to}");
        assert!(map("gs://warehouse").is_err() && map("nowhere://x=src").is_err());
    }
}
