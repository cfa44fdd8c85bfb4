//! Which places are other tables': what the server reads for a table is not theirs, whatever its metadata names.

use super::{App, Warehouse};
use crate::storage::{Location, Neighbours, Scoped, Source};
use crate::store::{Db, locations};
use async_trait::async_trait;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Asks the database where other tables than one live, and remembers the answers: for one request.
#[derive(Debug)]
struct Known {
    db: Db,
    table_id: String,
    places: Mutex<HashMap<String, bool>>,
}

/// Places that one request remembers.
const MOST_PLACES: usize = 10_000;

#[async_trait]
impl Neighbours for Known {
    async fn live_at(&self, place: &Location) -> Result<bool, Source> {
        let place = place.to_string();
        let places = || self.places.lock().unwrap_or_else(PoisonError::into_inner);
        let known = places().get(&place).copied();
        if let Some(known) = known {
            return Ok(known);
        }
        let found = locations::covering(&self.db, &place, &self.table_id).await.map_err(Box::new)?.is_some();
        let mut places = places();
        if places.len() < MOST_PLACES {
            places.insert(place, found);
        }
        Ok(found)
    }
}

impl App {
    /// Storage as seen by a table of a warehouse: nothing outside of the warehouse's allowed places, and nothing where
    /// other tables live. `home` is where the table lives, as the database knows it; a table that is not there yet has no
    /// id and no home.
    pub fn scoped(&self, warehouse: &Warehouse, table_id: &str, home: Option<&str>) -> Scoped {
        let known = Known { db: self.db.clone(), table_id: table_id.to_owned(), places: Mutex::default() };
        let home = home.and_then(|home| Location::parse(home).ok());
        Scoped::new(self.storage.clone(), warehouse.allowed.clone()).beside(home, Arc::new(known))
    }
}
