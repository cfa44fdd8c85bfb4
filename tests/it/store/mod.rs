//! The contract of `guillemot::store`: every case runs on SQLite and on PostgreSQL.

mod audit;
mod contention;
mod dropped;
mod engines;
mod grants;
mod idempotency;
mod identities;
mod locations;
mod loose_files;
mod lost_connections;
mod migrations;
mod namespaces;
mod reports;
mod tables;
mod tasks;
mod warehouses;
mod warnings;

use guillemot::spec::{Namespace, TableIdent};
use guillemot::store::locations::Claim;
use guillemot::store::namespaces::Properties;
use guillemot::store::tables::{Change, Kind, NewTable, TableRow};
use guillemot::store::warehouses::{NewWarehouse, Warehouse};
use guillemot::store::{self as sut, Db, Result};

/// The warehouse that [`seed`] creates.
const WAREHOUSE: &str = "00000000-0000-0000-0000-0000000000aa";

fn namespace(name: &str) -> Namespace {
    Namespace::new(name.split('.').map(str::to_owned).collect()).unwrap()
}

/// `a.b.t` is the table `t` in the namespace `a.b`.
fn ident(name: &str) -> TableIdent {
    let (levels, table) = name.rsplit_once('.').unwrap();
    TableIdent::new(namespace(levels), table).unwrap()
}

/// A warehouse and some namespaces in it.
async fn seed(db: &Db, names: &[&str]) {
    create_warehouse(db, WAREHOUSE, "main", "gs://main").await.unwrap();
    for name in names {
        create_namespace(db, name).await.unwrap();
    }
}

async fn create_warehouse(db: &Db, id: &str, name: &str, location: &str) -> Result<Warehouse> {
    let mut tx = db.begin().await?;
    let new = NewWarehouse { id, name, location, properties: "{}", storage_secret: None, now_ms: 1 };
    let warehouse = sut::warehouses::create(&mut tx, &new).await?;
    tx.commit().await?;
    Ok(warehouse)
}

async fn create_namespace(db: &Db, name: &str) -> Result<()> {
    let mut tx = db.begin().await?;
    sut::namespaces::create(&mut tx, WAREHOUSE, &namespace(name), &Properties::new(), 1).await?;
    tx.commit().await
}

async fn drop_namespace(db: &Db, name: &str) -> Result<()> {
    let mut tx = db.begin().await?;
    sut::namespaces::drop(&mut tx, WAREHOUSE, &namespace(name)).await?;
    tx.commit().await
}

/// What a metadata file says, for a test that only looks at where it is.
fn change(metadata_location: &str) -> Change<'_> {
    Change { uuid: "u", format_version: 2, location: "gs://main/t", metadata_location, paths: &[], now_ms: 2 }
}

async fn create_as(db: &Db, kind: Kind, name: &str, location: &str, claim: Claim) -> Result<TableRow> {
    let mut tx = db.begin().await?;
    let new = NewTable {
        id: &format!("id-of-{}", name.chars().take(50).collect::<String>()),
        warehouse_id: WAREHOUSE,
        ident: &ident(name),
        kind,
        location_key: location,
        claim,
        change: change("m0"),
    };
    let row = sut::tables::create(&mut tx, &new).await?;
    tx.commit().await?;
    Ok(row)
}

/// Creates a table at a location that goes with its name.
async fn create_table(db: &Db, name: &str) -> Result<TableRow> {
    create_as(db, Kind::Table, name, &format!("gs://main/{name}"), Claim::Exclusive).await
}

async fn create_view(db: &Db, name: &str) -> Result<TableRow> {
    create_as(db, Kind::View, name, &format!("gs://main/{name}"), Claim::Exclusive).await
}

async fn drop_table(db: &Db, name: &str) -> Result<TableRow> {
    let mut tx = db.begin().await?;
    let dropped = sut::tables::drop(&mut tx, WAREHOUSE, Kind::Table, &ident(name), 9).await?;
    tx.commit().await?;
    Ok(dropped)
}

async fn load_table(db: &Db, name: &str) -> Option<TableRow> {
    sut::tables::load(db, WAREHOUSE, &ident(name)).await.unwrap()
}
