//! Creating and changing views (`spec.md` 2.7).

use crate::app::{App, Warehouse};
use crate::auth::Caller;
use crate::commit::create::{create, require_free};
use crate::commit::places::Places;
use crate::commit::swap::{Attempt, New, Prepared, Write, until_won};
use crate::commit::{Error, Once, Stored, load};
use crate::spec::{self, CommitViewRequest, CreateViewRequest, Namespace, TableIdent, ViewMetadata};
use crate::store;
use crate::store::locations::Claim;
use crate::store::tables::Kind;
use std::sync::Arc;

/// Creates a view, with schema 0 and version 1.
pub async fn create_view(
    app: &App,
    warehouse: &Warehouse,
    namespace: &Namespace,
    request: &CreateViewRequest,
    caller: &Caller,
    once: &Once,
) -> Result<Arc<Stored<ViewMetadata>>, Error> {
    let ident = TableIdent::new(namespace.clone(), request.name.clone())?;
    require_free(app, warehouse, Kind::View, &ident).await?;
    let build = |location: &str| request.build(location, &app.ids.uuid());
    let places = Places { app, warehouse, caller, namespace, row: None };
    create(places, &ident, request.location.as_deref(), build, once).await
}

/// Commits to a view. Of several commits that meet, each one happens: the later ones start from what the earlier ones
/// left, and versions get new numbers where theirs are taken.
///
/// # Errors
/// 409 when a requirement does not hold or other commits win every time; 400 when an update is wrong;
/// [`store::Error::OutcomeUnknown`] when the database's answer was lost.
pub async fn commit_view(
    app: &App,
    warehouse: &Warehouse,
    ident: &TableIdent,
    request: &CommitViewRequest,
    caller: &Caller,
    once: &Once,
) -> Result<Arc<Stored<ViewMetadata>>, Error> {
    let mut done = until_won(app, warehouse, Replacement { app, warehouse, ident, request, caller }, once).await?;
    // One change has one answer.
    done.pop().ok_or(Error::Store(store::Error::Conflict))
}

/// A commit to a view on its way to the swap.
struct Replacement<'a> {
    app: &'a App,
    warehouse: &'a Warehouse,
    ident: &'a TableIdent,
    request: &'a CommitViewRequest,
    caller: &'a Caller,
}

impl Attempt<ViewMetadata> for Replacement<'_> {
    async fn prepare(&mut self) -> Result<Vec<Prepared<ViewMetadata>>, Error> {
        let (row, base) = load::<ViewMetadata>(self.app, self.warehouse, self.ident).await?;
        self.request.requirements.iter().try_for_each(|requirement| requirement.check(base.metadata()))?;
        let now_ms = self.app.clock.now_ms();
        let applied = spec::apply_view(base.metadata(), &self.request.updates, now_ms)?;
        if !applied.changed {
            return Ok(vec![Prepared::Same(base, row)]);
        }
        let metadata = applied.metadata;
        let Self { app, warehouse, caller, ident, .. } = *self;
        let places = Places { app, warehouse, caller, namespace: &ident.namespace, row: Some(&row) };
        let new = New {
            ident: self.ident,
            id: row.id.clone(),
            previous: Some(base.location()),
            location_key: places.check_changed(&**base.metadata(), &metadata).await?,
            claim: Claim::Requested,
            dropped: Vec::new(),
        };
        Ok(vec![Prepared::Swap(Write::new(self.app, new, metadata, now_ms)?, row)])
    }

    fn idents(&self) -> Vec<&TableIdent> {
        vec![self.ident]
    }
}
