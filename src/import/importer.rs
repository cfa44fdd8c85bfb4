//! Doing it: one namespace, table or view after the other, each on its own. What fails is told and stops nothing else.

use std::collections::{BTreeMap, HashSet};

use crate::app::{App, Warehouse};
use crate::commit::{self, Candidate, Document, Findings, Once};
use crate::config::RegisterCheck;
use crate::spec::{Namespace, TableIdent, TableMetadata, ViewMetadata};
use crate::storage::Location;
use crate::store::tables::{self, Kind, TableRow};
use crate::store::{self, locations, namespaces};
use crate::telemetry::chain;

use super::decide::{Decision, Lineage, decide};
use super::report::{Line, Outcome, Tally, What};

/// What is told of a table whose namespace cannot be had.
pub(super) const NO_NAMESPACE: &str = "its namespace could not be imported";

/// How an import is done.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// Whether nothing is to be changed.
    pub dry_run: bool,
    /// Whether tables that are here already are moved on to what the source has by now.
    pub update: bool,
    /// How strictly tables are checked, where that is more than the warehouse asks for.
    pub check: RegisterCheck,
}

/// Puts what it is given into a warehouse, and tells of each.
pub struct Importer<'a> {
    app: &'a App,
    warehouse: &'a Warehouse,
    options: Options,
    tell: Box<dyn FnMut(&Line) + 'a>,
    tally: Tally,
    /// Namespaces that are here, or would be after a dry run.
    known: HashSet<Namespace>,
}

impl std::fmt::Debug for Importer<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Importer").field("options", &self.options).field("tally", &self.tally).finish_non_exhaustive()
    }
}

impl<'a> Importer<'a> {
    /// An import into a warehouse.
    pub fn new(app: &'a App, warehouse: &'a Warehouse, options: Options, tell: impl FnMut(&Line) + 'a) -> Self {
        let (tell, tally, known) = (Box::new(tell), Tally::default(), HashSet::new());
        Self { app, warehouse, options, tell, tally, known }
    }

    /// What was done so far.
    pub fn tally(&self) -> &Tally {
        &self.tally
    }

    /// Tells that the import ended before its time.
    pub fn stopped(&mut self, why: impl Into<String>) {
        self.failed(What::Source, "import", why);
    }

    /// The server's parts.
    pub(super) fn app(&self) -> &'a App {
        self.app
    }

    /// Tells what became of something.
    pub(super) fn note(&mut self, what: What, name: impl Into<String>, outcome: Outcome) {
        let line = Line { what, name: name.into(), outcome };
        self.tally.count(&line);
        (self.tell)(&line);
    }

    /// Tells that something could not be imported.
    pub(super) fn failed(&mut self, what: What, name: impl Into<String>, why: impl Into<String>) {
        self.note(what, name, Outcome::Failed(why.into()));
    }

    /// Whether a namespace was made or found here.
    pub(super) fn knows(&self, namespace: &Namespace) -> bool {
        self.known.contains(&self.app.names(namespace.clone()))
    }

    /// Makes a namespace, and those above it, unless it is here. One that is here keeps its properties. Answers whether
    /// something can be put into it.
    pub(super) async fn namespace(&mut self, namespace: &Namespace, properties: BTreeMap<String, String>) -> bool {
        let namespace = &self.app.names(namespace.clone());
        if self.known.contains(namespace) {
            return true;
        }
        let above = std::iter::successors(namespace.parent(), Namespace::parent);
        let mut wanted: Vec<(Namespace, BTreeMap<String, String>)> =
            above.take_while(|above| !self.known.contains(above)).map(|above| (above, BTreeMap::new())).collect();
        wanted.insert(0, (namespace.clone(), properties));
        for (namespace, properties) in wanted.into_iter().rev() {
            let properties = self.allowed(&namespace, properties).await;
            match self.make(&namespace, &properties).await {
                Ok(outcome) => self.note(What::Namespace, namespace.to_string(), outcome),
                Err(error) => {
                    self.failed(What::Namespace, namespace.to_string(), chain(&error));
                    return false;
                }
            }
            self.known.insert(namespace);
        }
        true
    }

    /// A namespace's properties without a `location` that would put its new tables outside of the warehouse.
    async fn allowed(
        &mut self,
        namespace: &Namespace,
        mut properties: BTreeMap<String, String>,
    ) -> BTreeMap<String, String> {
        let (app, warehouse, caller) = (self.app, self.warehouse, App::operator());
        let checked = commit::check_namespace_properties(app, warehouse, &caller, namespace, &properties).await;
        if let Err(error) = checked {
            properties.remove("location");
            let why = format!("its property location is not taken over: {error}");
            self.note(What::Namespace, namespace.to_string(), Outcome::Note(why));
        }
        properties
    }

    async fn make(
        &self,
        namespace: &Namespace,
        properties: &BTreeMap<String, String>,
    ) -> Result<Outcome, store::Error> {
        let warehouse = &self.warehouse.row.id;
        if namespaces::exists(&self.app.db, warehouse, namespace).await? {
            return Ok(Outcome::Present);
        }
        if !self.options.dry_run {
            let mut tx = self.app.db.begin().await?;
            match namespaces::create(&mut tx, warehouse, namespace, properties, self.app.clock.now_ms()).await {
                // Somebody else was faster.
                Err(store::Error::AlreadyExists(_)) => return Ok(Outcome::Present),
                made => made?,
            }
            tx.commit().await?;
        }
        Ok(Outcome::Imported { at: None, remarks: Vec::new() })
    }

    /// Imports what has a name and a metadata file in the source. Its namespace must be here.
    pub(super) async fn put(&mut self, kind: Kind, ident: &TableIdent, metadata_location: &str) {
        let ident = &self.app.names(ident.clone());
        let (what, done) = match kind {
            Kind::Table => (What::Table, self.try_put::<TableMetadata>(ident, metadata_location).await),
            Kind::View => (What::View, self.try_put::<ViewMetadata>(ident, metadata_location).await),
        };
        let outcome = done.unwrap_or_else(Outcome::Failed);
        self.note(what, ident.to_string(), outcome);
    }

    async fn try_put<M: Document + Lineage>(&self, ident: &TableIdent, location: &str) -> Result<Outcome, String> {
        let (app, warehouse, options) = (self.app, self.warehouse, self.options);
        let row = tables::load(&app.db, &warehouse.row.id, ident).await.map_err(|error| chain(&error))?;
        if let Some(row) = row.as_ref().filter(|row| row.kind != M::KIND) {
            let why = format!("{} has the name here: rename or drop it first", row.kind.entity(ident));
            return Ok(Outcome::Conflict(why));
        }
        self.check_place("metadata-location", location)?;
        let caller = App::operator();
        let (ident, replaced) = (ident.clone(), row.clone());
        let candidate = Candidate { app, warehouse, caller: &caller, ident, replaced };
        let stored = match candidate.read::<M>(location).await {
            Ok(stored) => stored,
            Err(error) => return Err(self.explain(error, location, row.as_ref()).await),
        };
        if let Some(row) = &row {
            let here = commit::stored::<M>(app, &row.metadata_location).await;
            let here = here.map_err(|error| format!("what has the name here cannot be read: {}", chain(&error)))?;
            match decide(&M::state(&here), &M::state(&stored)) {
                Decision::Present => return Ok(Outcome::Present),
                Decision::Conflict(why) => return Ok(Outcome::Conflict(why)),
                Decision::Behind if options.update => {}
                Decision::Behind => {
                    return Ok(Outcome::Behind { here: row.metadata_location.clone(), there: location.to_owned() });
                }
            }
        }
        let home = stored.metadata().location().to_owned();
        self.check_place("location", &home)?;
        let registration = match candidate.check(stored, options.check).await {
            Ok(registration) => registration,
            Err(error) => return Err(self.explain(error, &home, row.as_ref()).await),
        };
        let (at, remarks) = (location.to_owned(), remarks(registration.findings()));
        if !options.dry_run
            && let Err(error) = registration.carry_out(app, warehouse, &Once::default()).await
        {
            return Err(self.explain(error, &home, row.as_ref()).await);
        }
        Ok(if row.is_some() { Outcome::Updated { at, remarks } } else { Outcome::Imported { at: Some(at), remarks } })
    }

    /// Refuses a place outside of the warehouse, and says what can be done.
    pub(super) fn check_place(&self, what: &str, location: &str) -> Result<(), String> {
        let parsed = Location::parse(location).map_err(|error| format!("{what}: {error}"))?;
        if self.warehouse.allowed.iter().any(|allowed| parsed.is_under(allowed)) {
            return Ok(());
        }
        let allowed: Vec<String> = self.warehouse.allowed.iter().map(ToString::to_string).collect();
        let (name, allowed) = (&self.warehouse.row.name, allowed.join(" or "));
        Err(format!(
            "{what} {location} is outside of warehouse {name}: expected a place under {allowed}; say --allow-prefix of \
             its place to the server and here, or import into a warehouse at that place (guillemot warehouse create, --in)"
        ))
    }

    /// An error of registering, with whose the place is where it is taken: who runs this may know.
    async fn explain(&self, error: commit::Error, place: &str, own: Option<&TableRow>) -> String {
        let text = chain(&error);
        let taken =
            matches!(&error, commit::Error::Invalid(_) | commit::Error::Store(store::Error::LocationTaken { .. }));
        if !taken || !text.contains("another table") && !text.contains("overlaps") {
            return text;
        }
        let Ok(place) = Location::parse(place) else { return text };
        let own = own.map_or("", |row| &row.id);
        let found = locations::overlapping_live(&self.app.db, &place.to_string(), own).await;
        let Ok(Some(occupied)) = found else { return text };
        match tables::load_by_id(&self.app.db, &occupied.table_id).await {
            Ok(Some(row)) => format!("{text} ({} here, at {})", row.ident, occupied.location),
            _ => text,
        }
    }
}

/// What the check found, one remark a line.
fn remarks(findings: &Findings) -> Vec<String> {
    let broken = findings.warnings.iter().map(|warning| {
        let word = if warning.would_refuse { "BROKEN" } else { "warning" };
        format!("{word}: {}", warning.message)
    });
    broken.chain(findings.not_told.iter().map(|why| format!("not checked to the end: {why}"))).collect()
}
