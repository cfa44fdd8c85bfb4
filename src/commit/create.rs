//! Creating a table, at once or staged for a later commit; and what creating a view has in common with it.

use crate::app::{App, Warehouse};
use crate::auth::Caller;
use crate::commit::check::check_version;
use crate::commit::files::load_reply;
use crate::commit::location::{Chosen, choose};
use crate::commit::places::Places;
use crate::commit::swap::{Attempt, New, Prepared, Write, until_won};
use crate::commit::{Document, Error, Grant, Once, Stored, document, name_taken};
use crate::spec::{self, CreateTableRequest, Namespace, TableIdent, TableMetadata};
use crate::store::tables::{self, Kind};
use crate::store::{self, Entity, namespaces};
use bytes::Bytes;
use std::sync::Arc;

/// What a create answers.
#[derive(Debug)]
pub enum Created {
    /// The table is there.
    Table(Arc<Stored>),
    /// Nothing is kept: the `LoadTableResult` that a create transaction starts from.
    Staged(Staged),
}

/// A table that would be.
#[derive(Debug)]
pub struct Staged {
    /// Its name.
    pub ident: TableIdent,
    /// Its location.
    pub location: String,
    /// Its metadata.
    document: Vec<u8>,
    /// The reply without credentials.
    pub reply: Bytes,
}

impl Staged {
    /// The reply with what lets a client at its files.
    pub fn granted_reply(&self, grant: &Grant) -> Bytes {
        load_reply(None, &self.document, &grant.config, &grant.credentials).0
    }
}

/// Creates a table with fresh ids (`spec.md` 2.5), or computes what it would be when the request is staged.
pub async fn create_table(
    app: &App,
    warehouse: &Warehouse,
    namespace: &Namespace,
    request: &CreateTableRequest,
    caller: &Caller,
    once: &Once,
) -> Result<Created, Error> {
    let ident = TableIdent::new(namespace.clone(), request.name.clone())?;
    require_free(app, warehouse, Kind::Table, &ident).await?;
    let version = request.format_version()?.unwrap_or(warehouse.versions.default);
    check_version(warehouse, version)?;
    let build = |location: &str| request.build_as(version, location, &app.ids.uuid(), app.clock.now_ms());
    let places = Places { app, warehouse, caller, namespace, row: None };
    let asked = request.location.as_deref();
    if !request.stage_create {
        return Ok(Created::Table(create(places, &ident, asked, build, once).await?));
    }
    let chosen = choose(places, &ident, asked).await?;
    let metadata = build(&chosen.location)?;
    places.check_chosen(&metadata).await?;
    let config = TableMetadata::client_config(app, &chosen.location);
    let bytes = metadata.to_bytes();
    let (reply, _) = load_reply(None, &bytes, &config, &[]);
    once.keep_alone(app, || document(String::from_utf8_lossy(&reply).into_owned())).await?;
    Ok(Created::Staged(Staged { ident, location: metadata.location, document: bytes, reply }))
}

/// Adds a table or view: `build` makes its first metadata for the location that is chosen.
pub(super) async fn create<M: Document>(
    places: Places<'_>,
    ident: &TableIdent,
    asked: Option<&str>,
    build: impl Fn(&str) -> spec::Result<M> + Send + Sync,
    once: &Once,
) -> Result<Arc<Stored<M>>, Error> {
    let mut created = until_won(places.app, places.warehouse, Creation { places, ident, asked, build }, once).await?;
    // One change has one answer.
    created.pop().ok_or(Error::Store(store::Error::Conflict))
}

/// A table or view on its way into the catalog.
struct Creation<'a, B> {
    places: Places<'a>,
    ident: &'a TableIdent,
    /// The location that the client wants.
    asked: Option<&'a str>,
    build: B,
}

impl<M: Document, B: Fn(&str) -> spec::Result<M> + Send + Sync> Attempt<M> for Creation<'_, B> {
    async fn prepare(&mut self) -> Result<Vec<Prepared<M>>, Error> {
        let app = self.places.app;
        let Chosen { location, key, claim } = choose(self.places, self.ident, self.asked).await?;
        let metadata = (self.build)(&location)?;
        self.places.check_chosen(&metadata).await?;
        let new = New {
            ident: self.ident,
            id: app.ids.uuid(),
            previous: None,
            location_key: key,
            claim,
            dropped: Vec::new(),
        };
        Ok(vec![Prepared::Create(Write::new(app, new, metadata, app.clock.now_ms())?)])
    }

    fn judge(&self, error: store::Error) -> Result<store::Error, Error> {
        match error {
            store::Error::Conflict | store::Error::Busy(_) => Ok(error),
            // Another create took the very location that was chosen: choose again.
            store::Error::LocationTaken { .. } if self.asked.is_none() => Ok(error),
            other => Err(name_taken(M::KIND, other)),
        }
    }

    fn idents(&self) -> Vec<&TableIdent> {
        vec![self.ident]
    }
}

/// Refuses early what the insert would refuse after the file is written. The insert still has the last word.
pub(super) async fn require_free(
    app: &App,
    warehouse: &Warehouse,
    wanted: Kind,
    ident: &TableIdent,
) -> Result<(), Error> {
    if let Some(row) = tables::load(&app.db, &warehouse.row.id, ident).await? {
        return Err(name_taken(wanted, store::Error::AlreadyExists(row.kind.entity(ident))));
    }
    if !namespaces::exists(&app.db, &warehouse.row.id, &ident.namespace).await? {
        return Err(store::Error::NotFound(Entity::Namespace(ident.namespace.to_string())).into());
    }
    Ok(())
}
