//! What is in a catalog that speaks REST: namespaces, tables and views, one namespace after the other.

use crate::client::{self, Catalog};
use crate::spec::{Namespace, TableIdent};
use crate::store::tables::Kind;
use crate::telemetry::chain;

use super::Importer;
use super::report::{Outcome, What};

/// Most namespaces that a catalog may have: there may be no end of them.
const MOST_NAMESPACES: usize = 100_000;

/// Why an import did not begin, or ended before its time.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The catalog does not say which namespaces it has.
    #[error(transparent)]
    Client(#[from] client::Error),
    /// It has too many.
    #[error("expected at most {MOST_NAMESPACES} namespaces, found more: import its parts one by one, with --namespace")]
    TooMany,
}

/// Imports the namespaces that are named with what is in them, or all.
///
/// # Errors
/// Only where the catalog does not say which namespaces it has, or has no end of them; what else fails is told of what
/// it is about.
pub async fn import(importer: &mut Importer<'_>, source: &Catalog, only: &[Namespace]) -> Result<(), Error> {
    let mut room = MOST_NAMESPACES;
    let mut open = if only.is_empty() {
        named(importer, within(&mut room, source.namespaces(None).await?)?)
    } else {
        // Those above a namespace are made too, and they are not walked through.
        for namespace in only {
            let mut above: Vec<_> = std::iter::successors(namespace.parent(), Namespace::parent).collect();
            while let Some(namespace) = above.pop() {
                make(importer, source, &namespace).await;
            }
        }
        only.to_vec()
    };
    open.reverse();
    while let Some(namespace) = open.pop() {
        if !make(importer, source, &namespace).await {
            continue;
        }
        tables(importer, source, &namespace).await;
        views(importer, source, &namespace).await;
        let inner = within(&mut room, children(importer, source, &namespace).await)?;
        open.extend(named(importer, inner).into_iter().rev());
    }
    Ok(())
}

/// Takes names, as long as there is room for them.
fn within(room: &mut usize, names: Vec<Vec<String>>) -> Result<Vec<Vec<String>>, Error> {
    *room = room.checked_sub(names.len()).ok_or(Error::TooMany)?;
    Ok(names)
}

/// Names that can be had here; of others it is told that they cannot.
fn named(importer: &mut Importer<'_>, names: Vec<Vec<String>>) -> Vec<Namespace> {
    let mut namespaces = Vec::with_capacity(names.len());
    for levels in names {
        let text = levels.join(".");
        match Namespace::new(levels) {
            Ok(namespace) => namespaces.push(namespace),
            Err(error) => importer.failed(What::Namespace, text, format!("{error}; nothing in it is imported")),
        }
    }
    namespaces
}

async fn make(importer: &mut Importer<'_>, source: &Catalog, namespace: &Namespace) -> bool {
    if importer.knows(namespace) {
        return true;
    }
    match source.properties(namespace).await {
        Ok(properties) => importer.namespace(namespace, properties).await,
        Err(error) => {
            importer.failed(
                What::Namespace,
                namespace.to_string(),
                format!("{}; nothing in it is imported", chain(&error)),
            );
            false
        }
    }
}

async fn tables(importer: &mut Importer<'_>, source: &Catalog, namespace: &Namespace) {
    let names = match source.tables(namespace).await {
        Ok(names) => names,
        Err(error) => {
            importer.failed(What::Source, format!("tables of {namespace}"), chain(&error));
            return;
        }
    };
    for name in names {
        match TableIdent::new(namespace.clone(), name.as_str()) {
            Ok(ident) => match source.table_pointer(&ident).await {
                Ok(location) => importer.put(Kind::Table, &ident, &location).await,
                Err(error) => importer.failed(What::Table, ident.to_string(), chain(&error)),
            },
            Err(error) => importer.failed(What::Table, format!("{namespace}.{name}"), error.to_string()),
        }
    }
}

async fn views(importer: &mut Importer<'_>, source: &Catalog, namespace: &Namespace) {
    let said = source.has_views();
    if said == Some(false) {
        return;
    }
    let names = match source.views(namespace).await {
        Ok(names) => names,
        // A catalog that does not say what it can do may not know the question.
        Err(error) if said.is_none() && is_unknown(&error) => return,
        Err(error) => {
            importer.failed(What::Source, format!("views of {namespace}"), chain(&error));
            return;
        }
    };
    for name in names {
        match TableIdent::new(namespace.clone(), name.as_str()) {
            Ok(ident) => match source.view_pointer(&ident).await {
                Ok(location) => importer.put(Kind::View, &ident, &location).await,
                Err(error) => importer.failed(What::View, ident.to_string(), chain(&error)),
            },
            Err(error) => importer.failed(What::View, format!("{namespace}.{name}"), error.to_string()),
        }
    }
}

/// The namespaces in a namespace. There are catalogs that have one level, and refuse the question.
async fn children(importer: &mut Importer<'_>, source: &Catalog, namespace: &Namespace) -> Vec<Vec<String>> {
    match source.namespaces(Some(namespace)).await {
        Ok(names) => names,
        Err(error) if is_unknown(&error) => {
            let why = format!("the catalog names no namespaces in it: {}", chain(&error));
            importer.note(What::Namespace, namespace.to_string(), Outcome::Note(why));
            Vec::new()
        }
        Err(error) => {
            importer.failed(What::Source, format!("namespaces of {namespace}"), chain(&error));
            Vec::new()
        }
    }
}

/// Whether a catalog does not know a question, or has no such thing.
fn is_unknown(error: &client::Error) -> bool {
    matches!(error.status(), Some(400 | 404 | 405 | 406 | 501))
}
