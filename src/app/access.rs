//! What callers were granted, kept in memory by the version of all grants.

use super::App;
use crate::auth::{Caller, Grant, Granted, Grantee, Principal};
use crate::store::{self, grants};
use moka::sync::Cache;
use std::sync::Arc;

/// For how many principals grants are kept in mind.
const MOST_PRINCIPALS: u64 = 10_000;

/// The grants of principals that called lately, by what decides: name and roles.
#[derive(Debug)]
pub struct GrantCache(Cache<Arc<Principal>, Arc<Granted>>);

impl Default for GrantCache {
    fn default() -> Self {
        Self(Cache::new(MOST_PRINCIPALS))
    }
}

impl App {
    /// Whoever runs the commands of this server: they have its database, and may do everything.
    pub fn operator() -> Caller {
        Caller { principal: Arc::new(Principal::anonymous()), granted: Arc::default() }
    }

    /// What a principal may do, as it is now: one small query tells whether what is kept is old.
    pub async fn access(&self, principal: Arc<Principal>) -> Result<Caller, store::Error> {
        if principal.unrestricted {
            return Ok(Caller { principal, granted: Arc::default() });
        }
        let version = grants::version(&self.db).await?;
        self.access_at(principal, version).await
    }

    /// What a principal could do when it was last looked, without asking the database if it is known at all. Whoever uses
    /// it finds out from its next query whether it is old, see [`App::access_at`].
    pub async fn access_from_memory(&self, principal: Arc<Principal>) -> Result<Caller, store::Error> {
        let known = self.grants.0.get(&principal).filter(|_| !principal.unrestricted);
        match known {
            Some(granted) => Ok(Caller { principal, granted }),
            None => self.access(principal).await,
        }
    }

    /// What a principal may do at this version of all grants, or at a later one.
    pub async fn access_at(&self, principal: Arc<Principal>, version: i64) -> Result<Caller, store::Error> {
        if let Some(granted) = self.grants.0.get(&principal).filter(|known| known.version >= version) {
            return Ok(Caller { principal, granted });
        }
        // The version is read first: grants that change in between are newer than it says, and are read again.
        let mut all = Vec::new();
        let users = std::iter::once(Grantee::User(principal.name.clone()));
        for grantee in users.chain(principal.roles.iter().cloned().map(Grantee::Role)) {
            all.extend(grants::of_grantee(&self.db, &grantee).await?.into_iter().filter_map(Grant::from_row));
        }
        let granted = Arc::new(Granted { version, grants: all });
        self.grants.0.insert(Arc::clone(&principal), Arc::clone(&granted));
        Ok(Caller { principal, granted })
    }
}
