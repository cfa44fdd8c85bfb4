//! Which places are other tables': what the server reads for a table is not theirs, whatever its metadata names.

use super::{App, Warehouse};
use crate::auth::{Action, Caller, Object};
use crate::storage::{Location, Neighbours, Scoped, Source};
use crate::store::{self, locations};
use async_trait::async_trait;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Asks the database whose places are closed to a table, and remembers the answers: for one request.
#[derive(Debug)]
struct Known {
    app: App,
    table_id: String,
    /// Who asks for the change that files are read for; nobody where what is there already is read.
    caller: Option<Caller>,
    places: Mutex<HashMap<String, bool>>,
}

/// Places that one request remembers.
const MOST_PLACES: usize = 10_000;

#[async_trait]
impl Neighbours for Known {
    async fn closed_at(&self, place: &Location) -> Result<bool, Source> {
        let place = place.to_string();
        let places = || self.places.lock().unwrap_or_else(PoisonError::into_inner);
        let known = places().get(&place).copied();
        if let Some(known) = known {
            return Ok(known);
        }
        let found = self.is_closed(&place).await.map_err(Box::new)?;
        let mut places = places();
        if places.len() < MOST_PLACES {
            places.insert(place, found);
        }
        Ok(found)
    }
}

impl Known {
    async fn is_closed(&self, place: &str) -> Result<bool, store::Error> {
        if locations::covering(&self.app.db, place, &self.table_id).await?.is_some() {
            return Ok(true);
        }
        match &self.caller {
            Some(caller) => Ok(!self.app.may_take_up(caller, place, false, &self.table_id).await?),
            None => Ok(false),
        }
    }
}

impl App {
    /// Whether a caller may take up, for a table, what others left behind at this place, or also below it (`around`):
    /// who may not write where those were could read, and write over, what was in tables that they had no part in.
    pub async fn may_take_up(
        &self,
        caller: &Caller,
        place: &str,
        around: bool,
        table_id: &str,
    ) -> Result<bool, store::Error> {
        if caller.principal.unrestricted {
            return Ok(true);
        }
        let left_by = locations::left_by(&self.db, place, around, table_id).await?;
        Ok(left_by.into_iter().all(|(warehouse_id, namespace)| {
            let object = match namespace {
                Some(namespace) => Object::Namespace(warehouse_id, namespace),
                None => Object::Warehouse(warehouse_id),
            };
            caller.may(&Action::Write, &object)
        }))
    }

    /// Storage as seen by a table of a warehouse: nothing outside of the warehouse's allowed places, nothing where other
    /// tables live, and for a change nothing that its `caller` may not take up. `home` is where the table lives, as the
    /// database knows it; a table that is not there yet has no id and no home.
    pub fn scoped(&self, warehouse: &Warehouse, table_id: &str, home: Option<&str>, caller: Option<&Caller>) -> Scoped {
        let (app, table_id, caller) = (self.clone(), table_id.to_owned(), caller.cloned());
        let known = Known { app, table_id, caller, places: Mutex::default() };
        let home = home.and_then(|home| Location::parse(home).ok());
        Scoped::new(self.storage.clone(), warehouse.allowed.clone()).beside(home, Arc::new(known))
    }
}
