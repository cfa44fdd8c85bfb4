//! What is in the tables of Iceberg's `JdbcCatalog` or `PyIceberg`'s `SqlCatalog`.

use std::collections::BTreeMap;

use crate::spec::{Namespace, TableIdent};
use crate::store;
use crate::store::jdbc::{BadRow, Source, SourceTable};
use crate::store::tables::Kind;

use super::Importer;
use super::importer::NO_NAMESPACE;
use super::report::What;

/// The property by which both catalogs keep a namespace that has no other.
const MARK: (&str, &str) = ("exists", "true");

/// Imports a catalog of the database: namespaces with their properties, then tables and views.
///
/// # Errors
/// Where the database does not answer; what was imported before stays.
pub async fn import(importer: &mut Importer<'_>, source: &Source, catalog: &str) -> Result<(), store::Error> {
    let (namespaces, bad) = source.namespaces(catalog).await?;
    for BadRow { row, why } in bad {
        importer.failed(What::Source, row, why);
    }
    for (name, properties) in namespaces {
        match namespace(&name) {
            Ok(namespace) => {
                let properties = properties.into_iter().filter(|(key, value)| (key.as_str(), value.as_str()) != MARK);
                importer.namespace(&namespace, properties.collect()).await;
            }
            Err(why) => importer.failed(What::Namespace, name, why),
        }
    }
    let mut after = None;
    loop {
        let part = source.tables(catalog, after.as_ref()).await?;
        if part.next.is_none() {
            return Ok(());
        }
        after = part.next;
        for row in part.rows {
            match row {
                Ok(table) => put(importer, &table).await,
                Err(BadRow { row, why }) => importer.failed(What::Source, row, why),
            }
        }
    }
}

async fn put(importer: &mut Importer<'_>, table: &SourceTable) {
    let name = format!("{}.{}", table.namespace, table.name);
    let (kind, what) = match table.kind.as_deref() {
        // Tables are all that the first version of the schema knows.
        None | Some("TABLE") => (Kind::Table, What::Table),
        Some("VIEW") => (Kind::View, What::View),
        Some(other) => {
            importer.failed(What::Source, name, format!("iceberg_type: expected TABLE or VIEW, found {other}"));
            return;
        }
    };
    let ident = namespace(&table.namespace)
        .and_then(|namespace| TableIdent::new(namespace, table.name.as_str()).map_err(|error| error.to_string()));
    match (ident, &table.metadata_location) {
        (Err(why), _) => importer.failed(what, name, why),
        (Ok(_), None) => importer.failed(what, name, "metadata_location: expected a metadata file, found NULL"),
        (Ok(ident), Some(location)) => {
            if importer.namespace(&ident.namespace, BTreeMap::new()).await {
                importer.put(kind, &ident, location).await;
            } else {
                importer.failed(what, name, NO_NAMESPACE);
            }
        }
    }
}

/// A namespace as these catalogs write it: levels joined by dots. A dot within a level cannot be told apart.
fn namespace(text: &str) -> Result<Namespace, String> {
    Namespace::new(text.split('.').map(str::to_owned).collect()).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn namespaces_are_joined_by_dots() {
        assert_eq!(namespace("a.b").unwrap().levels(), ["a", "b"]);
        assert!(namespace("").is_err() && namespace("a..b").is_err());
    }
}
