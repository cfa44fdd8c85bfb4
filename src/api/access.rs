//! What a client asks for, and its caller may have, of a table's files.

use super::authorise::writes;
use crate::app::{App, Warehouse};
use crate::auth::{Access, Caller};
use crate::commit::Asker;
use crate::spec::TableIdent;
use crate::vending::{Delegation, HEADER, Mode};
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use std::convert::Infallible;

/// How a client asks to get at files.
#[derive(Debug, Clone, Copy)]
pub(super) struct Asks(Delegation);

impl Asks {
    /// What is to be had for a table; nothing where the warehouse offers nothing that the client asks for.
    pub(super) fn of(self, caller: &Caller, warehouse: &Warehouse, ident: &TableIdent) -> Option<Asker> {
        match self.0.of(warehouse.credentials.mode) {
            Mode::None => None,
            mode => Some(Asker { mode, access: access(caller, warehouse, ident) }),
        }
    }
}

/// How far a caller who may read a table may go with its files. Whoever may add snapshots to one branch alone reads:
/// no credential is good for new files and not for those of other branches.
pub(super) fn access(caller: &Caller, warehouse: &Warehouse, ident: &TableIdent) -> Access {
    if writes(caller, &warehouse.row.id, ident) { Access::ReadWrite } else { Access::Read }
}

impl FromRequestParts<App> for Asks {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, Infallible> {
        let values = parts.headers.get_all(HEADER).iter().filter_map(|value| value.to_str().ok());
        Ok(Self(Delegation::parse(values)))
    }
}
