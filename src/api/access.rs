//! What a caller asks for and may have of a table's files.

use crate::app::App;
use crate::auth::Access;
use crate::commit::Asker;
use crate::vending::{Delegation, HEADER};
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use std::convert::Infallible;

/// Who calls, as far as files are concerned.
#[derive(Debug, Clone, Copy)]
pub(super) struct Caller(Delegation);

impl Caller {
    /// How far it may go with the files of a table. Whoever reaches this server may change every table.
    #[expect(clippy::unused_self, reason = "what a caller may do is a matter of who calls")]
    pub(super) fn access(self) -> Access {
        Access::ReadWrite
    }

    /// What it asks for.
    pub(super) fn asker(self) -> Asker {
        Asker { delegation: self.0, access: self.access() }
    }
}

impl FromRequestParts<App> for Caller {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, Infallible> {
        let values = parts.headers.get_all(HEADER).iter().filter_map(|value| value.to_str().ok());
        Ok(Self(Delegation::parse(values)))
    }
}
