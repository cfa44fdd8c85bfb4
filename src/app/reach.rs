//! Which places of a warehouse may be used for a table, by whom.
//!
//! ```text
//! in the table's own location                                              -> open
//! where another table lives                                                -> closed
//! on a server without authentication                                       -> open
//! left behind by, or named by a `write.*.path` of, another table, of a
//! namespace that the caller may not write, unless a place of the table's
//! own is as narrow                                                         -> closed
//! for who may write the whole warehouse                                    -> open
//! where the table lived, what its own `write.*.path` name or named         -> open
//! left behind by a table of a namespace that the caller may write          -> open
//! in the folder of a namespace that the caller may write                   -> open
//! all else is the warehouse's                                              -> closed
//! ```
//! Where only what is there already is read, and nothing is taken, it is enough to be allowed to read, or to be in the same
//! namespace, and what is the warehouse's is open.

use super::{App, Warehouse};
use crate::auth::{Action, Caller, Object};
use crate::spec::Namespace;
use crate::storage::{Location, Neighbours, Scoped, Source, segment};
use crate::store::locations::{Held, MOST_HELD};
use crate::store::{self, locations, namespaces};
use async_trait::async_trait;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The table or view that places are asked for, and who asks.
#[derive(Debug, Clone)]
pub struct Reach {
    /// The server's parts.
    pub app: App,
    /// Its warehouse's id.
    pub warehouse_id: String,
    /// Its warehouse's location.
    pub warehouse_location: String,
    /// Who asks.
    pub caller: Caller,
    /// [`Action::Write`] for what is to be taken, [`Action::Read`] where only what is there is read.
    pub action: Action,
    /// The namespace of the table.
    pub namespace: Namespace,
    /// The table's id; empty for a new one.
    pub table_id: String,
    /// Where the table lives, as the database knows it; nowhere yet for a new one.
    pub home: Option<Location>,
    /// Where its properties say that files are to go; checked when they were set.
    pub paths: Vec<Location>,
}

/// Why a place may not be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Closed {
    /// Another table lives there.
    Live,
    /// A table of a namespace that the caller has no part in left it behind, or has files there.
    Held,
    /// It is the warehouse's, of which the caller has only a part.
    Foreign,
}

impl Reach {
    /// Whether a place is closed; with `around` also for what lies in it.
    pub async fn ask(&self, place: &Location, around: bool) -> Result<Option<Closed>, store::Error> {
        if self.home.as_ref().is_some_and(|home| place.is_under(home)) {
            return Ok(None);
        }
        let (db, key) = (&self.app.db, place.to_string());
        let live = if around {
            locations::overlapping_live(db, &key, &self.table_id).await?
        } else {
            locations::covering(db, &key, &self.table_id).await?
        };
        if live.is_some() {
            return Ok(Some(Closed::Live));
        }
        if self.caller.principal.unrestricted {
            return Ok(None);
        }
        // The narrower of two places that hold one is the one that counts: a large folder of one table may hold places of
        // others.
        let own = self.narrowest(place).await?;
        let held = locations::held(db, &key, around, &self.table_id).await?;
        let counts = |held: &Held| held.location.len() > own.unwrap_or(0) || !covers(&held.location, place);
        if held.len() >= MOST_HELD || held.iter().any(|held| counts(held) && !self.may(held)) {
            return Ok(Some(Closed::Held));
        }
        let is_taken_up = held.iter().any(|held| covers(&held.location, place));
        if self.action == Action::Read || own.is_some() || is_taken_up || self.owns_all() {
            return Ok(None);
        }
        Ok((!self.is_in_folder(place).await?).then_some(Closed::Foreign))
    }

    /// The length of the narrowest place of the table's own that holds this one.
    async fn narrowest(&self, place: &Location) -> Result<Option<usize>, store::Error> {
        let mut own: Vec<String> = self.paths.iter().map(ToString::to_string).collect();
        if !self.table_id.is_empty() {
            own.extend(locations::places_of(&self.app.db, &self.table_id).await?);
        }
        Ok(own.iter().filter(|own| covers(own, place)).map(String::len).max())
    }

    /// Whether the caller may use what another table holds.
    fn may(&self, held: &Held) -> bool {
        let (warehouse_id, namespace) = (held.warehouse_id.clone(), held.namespace.clone());
        let looks_beside = self.action == Action::Read
            && warehouse_id == self.warehouse_id
            && namespace.as_ref() == Some(&self.namespace);
        let owner = match namespace {
            Some(namespace) => Object::Namespace(warehouse_id, namespace),
            None => Object::Warehouse(warehouse_id),
        };
        looks_beside || self.caller.may(&self.action, &owner)
    }

    /// Whether the caller may write all of the warehouse.
    pub fn owns_all(&self) -> bool {
        self.caller.may(&Action::Write, &Object::Warehouse(self.warehouse_id.clone()))
    }

    /// Whether a place is in the folder of a namespace that the caller may write.
    async fn is_in_folder(&self, place: &Location) -> Result<bool, store::Error> {
        let mut mine = self.caller.namespaces(&self.action, &self.warehouse_id);
        if self.caller.may(&self.action, &Object::Namespace(self.warehouse_id.clone(), self.namespace.clone())) {
            mine.insert(self.namespace.clone());
        }
        let holds = |folder: &str| Location::parse(folder).is_ok_and(|folder| place.is_under(&folder));
        if mine.iter().any(|namespace| holds(&usual_folder(&self.warehouse_location, namespace))) {
            return Ok(true);
        }
        for namespace in &mine {
            let row = namespaces::load(&self.app.db, &self.warehouse_id, namespace).await?;
            if row.and_then(|row| row.properties.get("location").map(|folder| holds(folder))) == Some(true) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Storage as the table may see it: nothing outside of the warehouse's allowed places, and nothing that is closed.
    pub fn scoped(self, warehouse: &Warehouse) -> Scoped {
        let (storage, home) = (self.app.storage.clone(), self.home.clone());
        let known = Known { reach: self, places: Mutex::default() };
        Scoped::new(storage, warehouse.allowed.clone()).beside(home, Arc::new(known))
    }
}

/// Whether one place holds another one, or is the same.
fn covers(outer: &str, place: &Location) -> bool {
    Location::parse(outer).is_ok_and(|outer| place.is_under(&outer))
}

impl App {
    /// The folder of a namespace's tables: its `location` property, or one segment a level under the warehouse.
    pub async fn folder(&self, warehouse: &Warehouse, namespace: &Namespace) -> Result<String, store::Error> {
        let row = namespaces::load(&self.db, &warehouse.row.id, namespace).await?;
        if let Some(location) = row.and_then(|mut row| row.properties.remove("location")) {
            return Ok(location.trim_end_matches('/').to_owned());
        }
        Ok(usual_folder(&warehouse.row.location, namespace))
    }
}

fn usual_folder(warehouse: &str, namespace: &Namespace) -> String {
    let levels: Vec<String> = namespace.levels().iter().map(|level| segment(level)).collect();
    format!("{}/{}", warehouse.trim_end_matches('/'), levels.join("/"))
}

/// Asks which places are closed, and remembers the answers: for one request.
#[derive(Debug)]
struct Known {
    reach: Reach,
    places: Mutex<HashMap<String, bool>>,
}

/// Places that one request remembers.
const MOST_PLACES: usize = 10_000;

#[async_trait]
impl Neighbours for Known {
    async fn closed_at(&self, place: &Location) -> Result<bool, Source> {
        let key = place.to_string();
        let places = || self.places.lock().unwrap_or_else(PoisonError::into_inner);
        let known = places().get(&key).copied();
        if let Some(known) = known {
            return Ok(known);
        }
        let found = self.reach.ask(place, false).await.map_err(Box::new)?.is_some();
        let mut places = places();
        if places.len() < MOST_PLACES {
            places.insert(key, found);
        }
        Ok(found)
    }
}
