//! The floor: what any catalog of this kind must do to answer a load, and nothing else.
//!
//! A bare axum handler, as this program's own process like the real server: it looks up the pointer of the table in
//! the path with the same indexed query through the same pool, and answers bytes that it has in memory.

use crate::Result;
use axum::Router;
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use guillemot::spec::{Namespace, TableIdent};
use guillemot::store::{Db, tables, warehouses};
use std::io::Write;
use tokio::net::TcpListener;

#[derive(Clone)]
struct Floor {
    db: Db,
    warehouse_id: String,
    body: Bytes,
}

/// Serves `/floor/{namespace}/{table}` until it is killed. Arguments: database URL, warehouse, size of the body.
pub(crate) async fn serve(arguments: &[String]) -> Result<()> {
    let [url, warehouse, bytes] = arguments else { return Err("floor: DATABASE_URL WAREHOUSE BYTES".into()) };
    let db = Db::connect(url).await?;
    let warehouse = warehouses::load(&db, warehouse).await?.ok_or("no such warehouse")?;
    let floor = Floor { db, warehouse_id: warehouse.id, body: vec![b'x'; bytes.parse()?].into() };
    let router = Router::new().route("/floor/{namespace}/{table}", get(answer)).with_state(floor);
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let mut out = std::io::stdout();
    writeln!(out, "listening on http://{}/floor", listener.local_addr()?)?;
    out.flush()?;
    Ok(axum::serve(listener, router).await?)
}

async fn answer(State(floor): State<Floor>, Path((namespace, table)): Path<(String, String)>) -> Response {
    let ident = Namespace::new(vec![namespace]).and_then(|namespace| TableIdent::new(namespace, table));
    let Ok(ident) = ident else { return StatusCode::BAD_REQUEST.into_response() };
    match tables::load(&floor.db, &floor.warehouse_id, &ident).await {
        Ok(Some(_)) => ([(header::CONTENT_TYPE, "application/json")], floor.body).into_response(),
        Ok(None) => StatusCode::NOT_FOUND.into_response(),
        Err(_) => StatusCode::SERVICE_UNAVAILABLE.into_response(),
    }
}
