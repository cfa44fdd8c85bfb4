//! Which locations were handed out to tables and views, and may therefore hold files.
//!
//! Locations are keys here: in normal form, `scheme://…`, without a slash at the end. Two of them overlap when they
//! are equal or one lies in the other: `/a/t` and `/a/t/x`, but not `/a/t` and `/a/t2`.

use sqlx::any::AnyRow;
use sqlx::query;

use super::error::{Error, Result};
use super::tables::TableRow;
use super::text::{check_location, optional_text, text};
use super::tx::Query;
use super::{Db, Tx, namespaces};
use crate::spec::Namespace;

/// What is known about a location.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// A table or view has it.
    Live,
    /// Its table or view was dropped without purge, or moved away: files may still be there.
    LeftBehind,
}

/// A location that was handed out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Occupied {
    /// The location.
    pub location: String,
    /// Who has it, or had it: [`super::tables::TableRow::id`].
    pub table_id: String,
    /// The warehouse of that table; places of two warehouses may overlap.
    pub warehouse_id: String,
    /// Whether that table is still there.
    pub state: State,
}

/// How a table takes its location. It never overlaps the live one of another table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Claim {
    /// Refuse it also if it overlaps one that was left behind: for a location that the catalog chooses.
    Exclusive,
    /// What was left behind may be taken up again: for a location that the client chose, and for register.
    Requested,
}

/// The first location that was handed out and overlaps this one: live ones first.
pub async fn overlapping(db: &Db, location: &str) -> Result<Option<Occupied>> {
    let mut found = Vec::new();
    for chunk in above(location).chunks(SLOTS) {
        found.extend(db.rows(overlap_query(location, chunk)).await?);
    }
    first(&found)
}

/// A live location of another table than `table_id` that overlaps this one.
pub async fn overlapping_live(db: &Db, location: &str, table_id: &str) -> Result<Option<Occupied>> {
    let mut found = Vec::new();
    for chunk in above(location).chunks(SLOTS) {
        found.extend(db.rows(live_query(location, chunk, table_id)).await?);
    }
    first(&found)
}

/// Whether this place equals, or lies in, a location where a table lives or lived.
pub async fn is_in_home(db: &Db, place: &str) -> Result<bool> {
    const SQL: &str = "
        SELECT location FROM locations
        WHERE location IN ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) AND kind = 'home' LIMIT 1";
    for chunk in above(place).chunks(SLOTS) {
        if db.optional(bind_slots(query(SQL), place, chunk)).await?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// A live location of another table than `table_id` that this place equals or lies in.
pub async fn covering(db: &Db, place: &str, table_id: &str) -> Result<Option<Occupied>> {
    const SQL: &str = "
        SELECT location, table_id, warehouse_id, state FROM locations
        WHERE location IN ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) AND state = 'live' AND kind = 'home'
          AND table_id <> $13
        LIMIT 1";
    for chunk in above(place).chunks(SLOTS) {
        if let Some(row) = db.optional(bind_slots(query(SQL), place, chunk).bind(table_id)).await? {
            return Ok(Some(read(&row)?));
        }
    }
    Ok(None)
}

/// A place that a table left behind, or has files in besides where it lives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Held {
    /// The location.
    pub location: String,
    /// The table's warehouse.
    pub warehouse_id: String,
    /// The namespace that the table is in, or was in when it was dropped; `None` where that was not noted yet.
    pub namespace: Option<Namespace>,
}

/// How many places [`held`] answers at most; there may be more.
pub const MOST_HELD: usize = 1000;

/// What other tables than `table_id` left behind, or have files in besides where they live, that overlaps this location
/// or, with `around` false, that this location equals or lies in.
pub async fn held(db: &Db, location: &str, around: bool, table_id: &str) -> Result<Vec<Held>> {
    let mut found = Vec::new();
    for chunk in above(location).chunks(SLOTS) {
        for row in db.rows(held_query(location, chunk, around, table_id)).await? {
            let namespace = optional_text(&row, "namespace")?.map(|key| namespaces::from_key(&key)).transpose()?;
            let (location, warehouse_id) = (text(&row, "location")?, text(&row, "warehouse_id")?);
            found.push(Held { location, warehouse_id, namespace });
        }
    }
    Ok(found)
}

/// Every location that a table has or had: where it lives and lived.
pub async fn of_table(db: &Db, table_id: &str) -> Result<Vec<Occupied>> {
    const SQL: &str =
        "SELECT location, table_id, warehouse_id, state FROM locations WHERE table_id = $1 AND kind = 'home'";
    db.rows(query(SQL).bind(table_id)).await?.iter().map(read).collect()
}

/// All places that a table has or had: where it lives and lived, and others that it named for its files.
pub async fn places_of(db: &Db, table_id: &str) -> Result<Vec<String>> {
    const SQL: &str = "SELECT location FROM locations WHERE table_id = $1";
    db.rows(query(SQL).bind(table_id)).await?.iter().map(|row| text(row, "location")).collect()
}

/// Forgets what was left behind at exactly this location, once nothing is there any more.
pub async fn forget_left_behind(tx: &mut Tx, location: &str) -> Result<()> {
    const SQL: &str = "DELETE FROM locations WHERE location = $1 AND state = 'left-behind'";
    tx.execute(query(SQL).bind(location)).await?;
    Ok(())
}

/// Forgets every location that a dropped table left behind, once its files are purged.
pub async fn forget_table(tx: &mut Tx, table_id: &str) -> Result<()> {
    const SQL: &str = "DELETE FROM locations WHERE table_id = $1 AND state = 'left-behind'";
    tx.execute(query(SQL).bind(table_id)).await?;
    Ok(())
}

/// Who takes a location, and how.
#[derive(Debug, Clone, Copy)]
pub(super) struct Taking<'a> {
    pub(super) location: &'a str,
    pub(super) table_id: &'a str,
    pub(super) warehouse_id: &'a str,
    pub(super) claim: Claim,
    pub(super) now_ms: i64,
}

/// Remembers that a table has a location.
pub(super) async fn take(tx: &mut Tx, taking: &Taking<'_>) -> Result<()> {
    const SQL: &str = "
        INSERT INTO locations (location, table_id, warehouse_id, state, exclusive, created_ms, updated_ms)
        VALUES ($1, $2, $3, 'live', $4, $5, $5)
        ON CONFLICT DO NOTHING";
    // A table that moves back to where it was has a row already.
    const AGAIN: &str = "
        UPDATE locations SET state = 'live', kind = 'home', namespace = NULL, updated_ms = $3
        WHERE location = $1 AND table_id = $2";
    refuse_overlap(tx, taking).await?;
    let exclusive = i64::from(taking.claim == Claim::Exclusive);
    let insert = query(SQL).bind(taking.location).bind(taking.table_id).bind(taking.warehouse_id);
    if tx.execute(insert.bind(exclusive).bind(taking.now_ms)).await? == 0 {
        let again = query(AGAIN).bind(taking.location).bind(taking.table_id).bind(taking.now_ms);
        if tx.execute(again).await? == 0 {
            // The row that is in the way is another table's: it won a race for this very location.
            return Err(taken(taking.location, taking.location));
        }
    }
    end_claims(tx, taking.location, taking.table_id).await
}

/// What others left behind here, or below, is this table's from now on.
async fn end_claims(tx: &mut Tx, location: &str, table_id: &str) -> Result<()> {
    const SQL: &str = "
        DELETE FROM locations
        WHERE (location = $1 OR (location > $2 AND location < $3)) AND state = 'left-behind' AND table_id <> $4";
    let delete = query(SQL).bind(location).bind(format!("{location}/")).bind(format!("{location}0")).bind(table_id);
    tx.execute(delete).await?;
    Ok(())
}

/// Marks all that a table had as left behind, because it is dropped; `row` is what it was until then.
pub async fn leave(tx: &mut Tx, row: &TableRow, now_ms: i64) -> Result<()> {
    const SQL: &str = "
        UPDATE locations SET state = 'left-behind', namespace = $2, updated_ms = $3
        WHERE table_id = $1 AND state = 'live'";
    mark_left(tx, SQL, row, now_ms).await
}

/// Marks where a table lived as left behind, because it moves away.
pub(super) async fn leave_home(tx: &mut Tx, row: &TableRow, now_ms: i64) -> Result<()> {
    const SQL: &str = "
        UPDATE locations SET state = 'left-behind', namespace = $2, updated_ms = $3
        WHERE table_id = $1 AND state = 'live' AND kind = 'home'";
    mark_left(tx, SQL, row, now_ms).await
}

/// Remembers that a table has files in a place besides where it lives. Several may have; what was left behind at this very
/// place is theirs from now on.
pub(super) async fn share(tx: &mut Tx, place: &str, table_id: &str, warehouse_id: &str, now_ms: i64) -> Result<()> {
    const SQL: &str = "
        INSERT INTO locations (location, table_id, warehouse_id, state, exclusive, kind, created_ms, updated_ms)
        VALUES ($1, $2, $3, 'live', 0, 'path', $4, $4)
        ON CONFLICT (location, table_id) DO UPDATE SET state = 'live', kind = 'path', namespace = NULL, updated_ms = $4
        WHERE locations.state = 'left-behind'";
    const END: &str = "DELETE FROM locations WHERE location = $1 AND state = 'left-behind' AND table_id <> $2";
    check_location(place)?;
    // Nothing to do for most commits: the table has it already.
    if tx.execute(query(SQL).bind(place).bind(table_id).bind(warehouse_id).bind(now_ms)).await? > 0 {
        tx.execute(query(END).bind(place).bind(table_id)).await?;
    }
    Ok(())
}

async fn mark_left(tx: &mut Tx, sql: &'static str, row: &TableRow, now_ms: i64) -> Result<()> {
    let update = query(sql).bind(&row.id).bind(namespaces::key(&row.ident.namespace)).bind(now_ms);
    tx.execute(update).await?;
    Ok(())
}

/// Takes the turn of the location's bucket, until the transaction ends. Before [`take`], and before rows that another
/// one with the turn may want.
pub(super) async fn take_turn(tx: &mut Tx, location: &str) -> Result<()> {
    const SQL: &str = "
        INSERT INTO location_turns (bucket, taken) VALUES ($1, 1)
        ON CONFLICT (bucket) DO UPDATE SET taken = location_turns.taken + 1";
    check_location(location)?;
    tx.execute(query(SQL).bind(bucket(location))).await?;
    Ok(())
}

async fn refuse_overlap(tx: &mut Tx, taking: &Taking<'_>) -> Result<()> {
    let location = taking.location;
    for chunk in above(location).chunks(SLOTS) {
        let statement = match taking.claim {
            Claim::Exclusive => overlap_query(location, chunk),
            Claim::Requested => live_query(location, chunk, taking.table_id),
        };
        let found = tx.rows(statement).await?;
        if let Some(occupied) = first(&found)? {
            return Err(taken(location, &occupied.location));
        }
    }
    Ok(())
}

fn taken(wanted: &str, taken: &str) -> Error {
    Error::LocationTaken { wanted: wanted.to_owned(), taken: taken.to_owned() }
}

/// How many locations [`overlap_query`] compares at once. Few tables lie deeper than that.
const SLOTS: usize = 12;

/// Looks for the locations in `chunk` (at most [`SLOTS`]) and for what lies below `location`: point and range look-ups
/// on the primary key, whatever the number of tables.
fn overlap_query<'q>(location: &str, chunk: &[&str]) -> Query<'q> {
    const SQL: &str = "
        SELECT location, table_id, warehouse_id, state FROM locations
        WHERE ((location > $1 AND location < $2)
            OR location IN ($3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14))
          AND (kind = 'home' OR location >= $15)
        ORDER BY CASE state WHEN 'live' THEN 0 ELSE 1 END, location LIMIT 1";
    // '0' follows '/', so the range holds exactly what begins with `location/`.
    let statement = query(SQL).bind(format!("{location}/")).bind(format!("{location}0"));
    // Of other places of tables only those that are this one or lie in it: many may have files in one large folder.
    bind_slots(statement, location, chunk).bind(location.to_owned())
}

/// Binds the locations in `chunk`, at most [`SLOTS`]; unused slots repeat the location itself.
fn bind_slots<'q>(mut statement: Query<'q>, location: &str, chunk: &[&str]) -> Query<'q> {
    for slot in 0..SLOTS {
        statement = statement.bind(chunk.get(slot).copied().unwrap_or(location).to_owned());
    }
    statement
}

/// As [`overlap_query`], for live locations of other tables than `table_id`.
fn live_query<'q>(location: &str, chunk: &[&str], table_id: &str) -> Query<'q> {
    const SQL: &str = "
        SELECT location, table_id, warehouse_id, state FROM locations
        WHERE ((location > $1 AND location < $2)
            OR location IN ($3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14))
          AND state = 'live' AND kind = 'home' AND table_id <> $15
        ORDER BY location LIMIT 1";
    let statement = query(SQL).bind(format!("{location}/")).bind(format!("{location}0"));
    bind_slots(statement, location, chunk).bind(table_id.to_owned())
}

/// As [`overlap_query`], for what [`held`] answers; with `around` false only above.
fn held_query<'q>(location: &str, chunk: &[&str], around: bool, table_id: &str) -> Query<'q> {
    const SQL: &str = "
        SELECT DISTINCT l.location AS location, l.warehouse_id AS warehouse_id,
               COALESCE(t.namespace, d.namespace, l.namespace) AS namespace
        FROM locations l LEFT JOIN tables t ON t.id = l.table_id LEFT JOIN dropped_tables d ON d.id = l.table_id
        WHERE ((l.location > $1 AND l.location < $2)
            OR l.location IN ($3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14))
          AND (l.state = 'left-behind' OR l.kind = 'path') AND l.table_id <> $15
        LIMIT 1000";
    // An empty range where nothing below is meant.
    let end = if around { format!("{location}0") } else { format!("{location}/") };
    let statement = query(SQL).bind(format!("{location}/")).bind(end);
    bind_slots(statement, location, chunk).bind(table_id.to_owned())
}

/// The scheme and the bucket of a location.
fn bucket(location: &str) -> &str {
    let path = location.find("://").map_or(0, |at| at + "://".len());
    let end = location.get(path..).and_then(|rest| rest.find('/')).map_or(location.len(), |at| path + at);
    location.get(..end).unwrap_or(location)
}

/// The location itself and those it lies in, deepest first: `gs://b/a/t`, `gs://b/a`, `gs://b`.
fn above(location: &str) -> Vec<&str> {
    let path = location.find("://").map_or(0, |at| at + "://".len());
    let slashes = location.match_indices('/').map(|(at, _)| at).filter(|&at| at > path);
    let mut all: Vec<&str> = slashes.filter_map(|at| location.get(..at)).collect();
    all.push(location);
    all.reverse();
    all
}

/// The first of several rows: live before left behind, then in order of the location.
fn first(rows: &[AnyRow]) -> Result<Option<Occupied>> {
    let all = rows.iter().map(read).collect::<Result<Vec<_>>>()?;
    Ok(all.into_iter().min_by(|a, b| (a.state, &a.location).cmp(&(b.state, &b.location))))
}

fn read(row: &AnyRow) -> Result<Occupied> {
    let location = text(row, "location")?;
    let state = match text(row, "state")?.as_str() {
        "live" => State::Live,
        "left-behind" => State::LeftBehind,
        _ => return Err(Error::Corrupt { table: "locations", column: "state", row: location }),
    };
    Ok(Occupied { location, table_id: text(row, "table_id")?, warehouse_id: text(row, "warehouse_id")?, state })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_location_lies_in_each_of_its_parents() {
        assert_eq!(above("gs://b/a/t"), ["gs://b/a/t", "gs://b/a", "gs://b"]);
        assert_eq!(above("file:///w/t"), ["file:///w/t", "file:///w"]);
        assert_eq!(above("gs://b"), ["gs://b"]);
    }

    #[test]
    fn all_that_may_overlap_is_in_one_bucket() {
        for (location, expected) in [("gs://b/a/t", "gs://b"), ("gs://b", "gs://b"), ("file:///w/t", "file://")] {
            assert_eq!(bucket(location), expected);
        }
    }
}
