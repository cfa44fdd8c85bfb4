//! The tables of a Hadoop catalog: folders `<warehouse>/<namespace>/…/<table>/metadata/vN.metadata.json`.

use std::collections::BTreeMap;

use crate::spec::{Namespace, TableIdent};
use crate::storage::{self, Location};
use crate::store::tables::Kind;
use crate::telemetry::chain;

use super::report::What;
use super::versions::{HINT, HINT_BYTES, current, hinted, is_metadata};
use super::{Importer, importer};

/// How many folders are looked into, and how deep they may lie below the first: links may go round in circles.
const MOST_FOLDERS: usize = 200_000;
const DEEPEST: usize = 64;

/// Why an import did not begin.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The place is none, or cannot be looked into.
    #[error(transparent)]
    Storage(#[from] storage::Error),
    /// There is nothing to import there, or not as it is asked for.
    #[error("{0}")]
    Nothing(String),
}

/// What a folder is.
enum Look {
    /// A table: its metadata file, or why that cannot be told.
    Table(Result<String, String>),
    /// No table: the folders in it.
    Folder(Vec<Location>),
}

/// Imports the tables below a place, each under the namespace that its folders name; or, if the place is itself a
/// table, that one as `named`, or else as its last two folders are called.
///
/// # Errors
/// Only where nothing was imported at all; what fails of one table is told of it.
pub async fn import(importer: &mut Importer<'_>, place: &str, named: Option<TableIdent>) -> Result<(), Error> {
    let root = Location::parse(place)?;
    importer.check_place("the path", place).map_err(Error::Nothing)?;
    match (look(importer, &root).await?, named) {
        (Look::Table(found), named) => {
            let ident = named.or_else(|| last_two(&root));
            let ident = ident.ok_or_else(|| {
                Error::Nothing(format!(
                    "{root} is a table, and its folders do not say its name: say --as NAMESPACE.TABLE"
                ))
            })?;
            put(importer, &ident, found).await;
            Ok(())
        }
        (Look::Folder(_), Some(_)) => {
            Err(Error::Nothing(format!("{root} is no table: expected metadata/vN.metadata.json in it, for --as")))
        }
        (Look::Folder(folders), None) => walk(importer, &root, folders).await,
    }
}

async fn walk(importer: &mut Importer<'_>, root: &Location, folders: Vec<Location>) -> Result<(), Error> {
    let mut seen = 0;
    let mut tables = 0;
    let mut open: Vec<(Location, Vec<String>)> = below(folders, &[]);
    while let Some((folder, levels)) = open.pop() {
        seen += 1;
        if seen > MOST_FOLDERS {
            let why = format!("expected at most {MOST_FOLDERS} folders, found more: import its parts one by one");
            importer.failed(What::Source, root.to_string(), why);
            return Ok(());
        }
        match look(importer, &folder).await {
            Err(error) => importer.failed(What::Source, folder.to_string(), chain(&error)),
            Ok(Look::Table(found)) => {
                tables += 1;
                match ident(&levels) {
                    Ok(ident) => put(importer, &ident, found).await,
                    Err(why) => importer.failed(What::Table, folder.to_string(), why),
                }
            }
            Ok(Look::Folder(inner)) if levels.len() < DEEPEST || inner.is_empty() => open.extend(below(inner, &levels)),
            Ok(Look::Folder(_)) => {
                let why = format!("expected a table within {DEEPEST} folders, found none: links in a circle?");
                importer.failed(What::Source, folder.to_string(), why);
            }
        }
    }
    if tables > 0 {
        return Ok(());
    }
    Err(Error::Nothing(format!(
        "{root} holds no table: expected folders with metadata/vN.metadata.json in it, found none in {seen} folders"
    )))
}

/// Folders with the names that lead to them, so that the first one by name is taken first.
fn below(mut folders: Vec<Location>, levels: &[String]) -> Vec<(Location, Vec<String>)> {
    folders.sort_by(|a, b| b.name().cmp(a.name()));
    let path = |folder: &Location| levels.iter().cloned().chain([folder.name().to_owned()]).collect();
    folders.into_iter().map(|folder| (folder.clone(), path(&folder))).collect()
}

/// Looks at a folder: whether it is a table, as Iceberg's `HadoopCatalog` tells, and which metadata file is current.
/// Entries that cannot be used are told of one by one.
async fn look(importer: &mut Importer<'_>, folder: &Location) -> Result<Look, storage::Error> {
    let storage = &importer.app().storage;
    let inside = storage.list_folder(folder).await?;
    tell(importer, &inside.faults);
    let Some(metadata) = inside.folders.iter().find(|folder| folder.name() == "metadata") else {
        return Ok(Look::Folder(inside.folders));
    };
    let files = storage.list_folder(metadata).await?;
    tell(importer, &files.faults);
    // A metadata file that cannot be used may be the current one: the table is not imported as it was before.
    let unusable = files.faults.iter().filter_map(|fault| fault.location().rsplit('/').next());
    let names: Vec<&str> = files.objects.iter().map(Location::name).chain(unusable).collect();
    if !names.iter().any(|name| is_metadata(name)) {
        return Ok(Look::Folder(inside.folders));
    }
    let hint = if names.contains(&HINT) {
        hinted(&storage.read_range(&format!("{metadata}/{HINT}"), 0..HINT_BYTES).await?)
    } else {
        None
    };
    Ok(Look::Table(current(&names, hint).map(|name| format!("{metadata}/{name}"))))
}

fn tell(importer: &mut Importer<'_>, faults: &[storage::Error]) {
    for fault in faults {
        importer.failed(What::Source, fault.location(), chain(fault));
    }
}

/// The name that folders give a table.
fn ident(levels: &[String]) -> Result<TableIdent, String> {
    match levels.split_last() {
        Some((name, above)) if !above.is_empty() => {
            let namespace = Namespace::new(above.to_vec()).map_err(|error| error.to_string())?;
            TableIdent::new(namespace, name.as_str()).map_err(|error| error.to_string())
        }
        _ => {
            Err("expected a namespace's folder around it, found none: import it alone, with --as NAMESPACE.TABLE"
                .into())
        }
    }
}

/// The last two folders of a place as a namespace and a table.
fn last_two(place: &Location) -> Option<TableIdent> {
    let folder = place.folder();
    ident(&[folder.name().to_owned(), place.name().to_owned()]).ok()
}

async fn put(importer: &mut Importer<'_>, ident: &TableIdent, found: Result<String, String>) {
    match found {
        Ok(location) => {
            if importer.namespace(&ident.namespace, BTreeMap::new()).await {
                importer.put(Kind::Table, ident, &location).await;
            } else {
                importer.failed(What::Table, ident.to_string(), importer::NO_NAMESPACE);
            }
        }
        Err(why) => importer.failed(What::Table, ident.to_string(), why),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_name_tables() {
        let levels = |path: &str| path.split('/').map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(ident(&levels("a/b/t")).unwrap().to_string(), "a.b.t");
        assert!(ident(&levels("t")).unwrap_err().contains("--as"));
        assert!(ident(&[]).is_err());
        let place = |text: &str| last_two(&Location::parse(text).unwrap());
        assert_eq!(place("gs://b/w/a/t").unwrap().to_string(), "a.t");
        assert_eq!(place("gs://b/t"), None);
    }

    #[test]
    fn folders_are_taken_in_order_of_their_names() {
        let folders = ["gs://b/x", "gs://b/z", "gs://b/y"].map(|text| Location::parse(text).unwrap()).to_vec();
        let mut open = below(folders, &["a".to_owned()]);
        assert_eq!(open.pop().unwrap().1, ["a", "x"]);
        assert_eq!(open.pop().unwrap().1, ["a", "y"]);
    }
}
