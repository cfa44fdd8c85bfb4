//! Where a new table or view lives: the location that it is given.

use crate::app::App;
use crate::commit::Error;
use crate::commit::places::{Places, check_inside};
use crate::spec::TableIdent;
use crate::storage::{Location, segment};
use crate::store::locations;

/// A place for a new table or view: the one the client asks for, or else `<base>/<namespace>/<table>`.
///
/// A place that the catalog chooses overlaps no other table's, neither a live one's nor one whose files a dropped
/// table left behind: a unique suffix is added where it would.
pub(super) async fn choose(places: Places<'_>, ident: &TableIdent, asked: Option<&str>) -> Result<Chosen, Error> {
    let Places { app, warehouse, .. } = places;
    if let Some(asked) = asked {
        let location = asked.trim_end_matches('/').to_owned();
        let place = check_inside(warehouse, "location", &location)?;
        places.check("location", &place, true).await?;
        return Ok(Chosen { location, key: place.to_string(), claim: locations::Claim::Requested });
    }
    let folder = free_folder(app, app.folder(warehouse, &ident.namespace).await?).await?;
    let plain = format!("{folder}/{}", segment(&ident.name));
    let unique = warehouse.settings.unique_table_locations.unwrap_or(app.config.unique_table_locations);
    let free = !unique && is_free(app, &normal(&plain)?).await?;
    let location = if free { plain } else { format!("{plain}-{}", app.ids.uuid()) };
    let key = check_inside(warehouse, "location", &location)?.to_string();
    Ok(Chosen { location, key, claim: locations::Claim::Exclusive })
}

/// The folder of a namespace, or one beside it where a table has the folder: `a.b` may be a table and a namespace.
async fn free_folder(app: &App, folder: String) -> Result<String, Error> {
    let place = Location::parse(&folder).map_err(Error::from_storage)?;
    let occupied = locations::is_in_home(&app.db, &place.to_string()).await?;
    Ok(if occupied { format!("{folder}-{}", app.ids.uuid()) } else { folder })
}

/// Whether nothing stands in the way of a new table at this place. What a dropped table left behind does no more once
/// its files are gone, as after Spark's `DROP TABLE .. PURGE`.
async fn is_free(app: &App, place: &str) -> Result<bool, Error> {
    let Some(occupied) = locations::overlapping(&app.db, place).await? else { return Ok(true) };
    let emptied = occupied.state == locations::State::LeftBehind
        && occupied.location == place
        && !app.storage.list_any(place).await.map_err(Error::from_write)?;
    if emptied {
        let mut tx = app.db.begin().await?;
        locations::forget_left_behind(&mut tx, place).await?;
        tx.commit().await?;
        return Ok(locations::overlapping(&app.db, place).await?.is_none());
    }
    Ok(false)
}

/// A location for a new table or view.
#[derive(Debug)]
pub(super) struct Chosen {
    /// As it stands in the metadata.
    pub location: String,
    /// In normal form, for comparing.
    pub key: String,
    /// Whether it must still be free when the table is added.
    pub claim: locations::Claim,
}

fn normal(location: &str) -> Result<String, Error> {
    Ok(Location::parse(location).map_err(Error::from_storage)?.to_string())
}
