//! The body of a commit to one table (spec.md 2.1).

use serde_json::value::RawValue;

use super::error::{Error, Result};
use super::ident::TableIdent;
use super::json::Object;
use super::requirement::TableRequirement;
use super::update::TableUpdate;

/// Most updates of a request, those not counted that add or remove snapshots: expiry sends one for every snapshot.
/// Some updates look at all objects of their kind, so that the time they take grows with the square of their number.
const MAX_UPDATES: usize = 10_000;

/// A commit to one table: what must hold, then what changes.
#[derive(Debug, Clone)]
pub struct CommitTableRequest {
    /// The table; a transaction must name it, elsewhere the path does.
    pub identifier: Option<TableIdent>,
    /// What must hold of the table.
    pub requirements: Vec<TableRequirement>,
    /// What changes, in order.
    pub updates: Vec<TableUpdate>,
}

impl CommitTableRequest {
    /// Reads the body of a request.
    ///
    /// # Errors
    /// [`Error::Invalid`] that names what is unknown, missing or wrong.
    pub fn parse(body: &[u8]) -> Result<Self> {
        Self::read(Object::parse_document(body)?)
    }

    /// Reads one element of a transaction's `table-changes`.
    ///
    /// # Errors
    /// As [`CommitTableRequest::parse`].
    pub fn parse_raw(raw: &RawValue) -> Result<Self> {
        Self::read(Object::parse_raw(raw)?)
    }

    fn read(mut object: Object) -> Result<Self> {
        let identifier = object.optional_raw("identifier").map(|raw| TableIdent::parse(&raw)).transpose()?;
        let requirements = object.optional_array("requirements")?.unwrap_or_default();
        let updates = object.optional_array("updates")?.unwrap_or_default();
        let requirements = requirements.iter().map(|raw| TableRequirement::parse(raw)).collect::<Result<_>>()?;
        let updates: Vec<_> = updates.iter().map(|raw| TableUpdate::parse(raw)).collect::<Result<_>>()?;
        check_number(&updates)?;
        Ok(Self { identifier, requirements, updates })
    }

    /// Whether the commit creates the table: its one kind of requirement is `assert-create`.
    ///
    /// # Errors
    /// [`Error::Invalid`] if it demands something of a table that it says is not there.
    pub fn is_create(&self) -> Result<bool> {
        let (create, others): (Vec<_>, Vec<_>) =
            self.requirements.iter().partition(|requirement| matches!(requirement, TableRequirement::NotExists));
        if create.is_empty() {
            return Ok(false);
        }
        if others.is_empty() {
            return Ok(true);
        }
        let others: Vec<_> = others.into_iter().map(TableRequirement::kind).collect();
        Err(Error::invalid(format!("Invalid create requirements: [{}]", others.join(", "))))
    }
}

fn check_number(updates: &[TableUpdate]) -> Result<()> {
    let is_counted = |update: &&TableUpdate| {
        !matches!(update, TableUpdate::AddSnapshot { .. } | TableUpdate::RemoveSnapshots { .. })
    };
    match updates.iter().filter(is_counted).count() {
        ..=MAX_UPDATES => Ok(()),
        found => Err(Error::invalid(format!("Too many updates in one request: {found} > {MAX_UPDATES}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_updates_is_bounded() {
        let request = |update: &str, times: usize| {
            let body = format!("{{\"updates\":[{}]}}", vec![update; times].join(","));
            CommitTableRequest::parse(body.as_bytes())
        };
        let set = r#"{"action":"set-location","location":"l"}"#;
        assert!(request(set, MAX_UPDATES).is_ok());
        assert!(request(set, MAX_UPDATES + 1).is_err());
        let expire = r#"{"action":"remove-snapshots","snapshot-ids":[1]}"#;
        assert!(request(expire, 2 * MAX_UPDATES).is_ok());
    }
}
