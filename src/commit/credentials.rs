//! Letting a client at a table's files: with credentials for its place, or by signing requests to it.

use crate::app::{App, Warehouse};
use crate::auth::Access;
use crate::commit::{Error, load};
use crate::spec::{TableIdent, TableMetadata};
use crate::storage::{Location, Payload, Scheme};
use crate::store::locations;
use crate::vending::signing::{self, SignRequest};
use crate::vending::{Mode, Order, Vended};
use http::HeaderMap;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::Arc;

/// How somebody gets at files.
#[derive(Debug, Clone, Copy)]
pub struct Asker {
    /// What the warehouse offers and the client can do.
    pub mode: Mode,
    /// How far it may go.
    pub access: Access,
}

/// A table, as credentials for it are asked.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'a> {
    /// Its name.
    pub ident: &'a TableIdent,
    /// [`crate::store::tables::TableRow::id`]; empty for one that is only staged.
    pub id: &'a str,
    /// Its location, as its metadata says.
    pub location: &'a str,
}

/// What a client is told, so that it gets at a table's files.
#[derive(Debug, Clone)]
pub struct Grant {
    /// What its file IO reads.
    pub config: BTreeMap<String, String>,
    /// The same for the place alone, where it is a credential.
    pub credentials: Vec<StorageCredential>,
    /// Tells this grant from the next one, in the reply's tag.
    pub tag: String,
}

/// A credential, by the beginning of the locations that it is good for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct StorageCredential {
    /// What it is good for.
    pub prefix: String,
    /// The keys that clients' file IO reads.
    #[schema(value_type = BTreeMap<String, String>)]
    pub config: Secrets,
}

/// Keys and values that nothing prints.
#[derive(Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Secrets(BTreeMap<String, String>);

impl std::fmt::Debug for Secrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

/// What a client gets with a table; nothing where its place is not its own.
pub async fn grant(
    app: &App,
    warehouse: &Warehouse,
    subject: Subject<'_>,
    asker: Asker,
) -> Result<Option<Grant>, Error> {
    let place = match own_place(app, warehouse, subject).await {
        Ok(place) => place,
        Err(Error::Invalid(reason)) => {
            tracing::warn!(table = %subject.ident, reason, "no credentials are vended");
            return Ok(None);
        }
        Err(error) => return Err(error),
    };
    let mut config = app.storage.client_config(subject.location);
    if asker.mode == Mode::RemoteSigning {
        let endpoint = route(warehouse, subject.ident, "sign");
        let signed = [
            ("s3.remote-signing-enabled", "true"),
            ("s3.signer", "S3V4RestSigner"),
            ("s3.signer.endpoint", &endpoint),
            ("signer.endpoint", &endpoint),
        ];
        config.extend(signed.map(|(key, value)| (key.to_owned(), value.to_owned())));
        return Ok(Some(Grant { config, credentials: Vec::new(), tag: "signed".to_owned() }));
    }
    let credential = credential(app, warehouse, subject.ident, place, asker.access).await?;
    // What an emulator asks of those who have none.
    config.remove("gcs.no-auth");
    config.extend(credential.0.config.0.clone());
    Ok(Some(Grant { config, tag: credential.1, credentials: vec![credential.0] }))
}

/// The credentials of a table's files, anew; none where the warehouse vends none.
pub async fn credentials(
    app: &App,
    warehouse: &Warehouse,
    ident: &TableIdent,
    access: Access,
) -> Result<Vec<StorageCredential>, Error> {
    let (row, stored) = load::<TableMetadata>(app, warehouse, ident).await?;
    if warehouse.credentials.mode != Mode::VendedCredentials {
        return Ok(Vec::new());
    }
    let subject = Subject { ident, id: &row.id, location: &stored.metadata().location };
    let place = own_place(app, warehouse, subject).await?;
    Ok(vec![credential(app, warehouse, ident, place, access).await?.0])
}

/// A plan with credentials for the table's files; none if the client gets none.
pub async fn with_credentials(
    app: &App,
    warehouse: &Warehouse,
    ident: &TableIdent,
    asker: Asker,
    plan: &str,
) -> Result<Option<String>, Error> {
    if asker.mode != Mode::VendedCredentials {
        return Ok(None);
    }
    let (row, stored) = load::<TableMetadata>(app, warehouse, ident).await?;
    let subject = Subject { ident, id: &row.id, location: &stored.metadata().location };
    let Some(grant) = grant(app, warehouse, subject, asker).await? else { return Ok(None) };
    let credentials = serde_json::to_string(&grant.credentials).unwrap_or_default();
    let rest = plan.strip_prefix('{').unwrap_or(plan);
    Ok(Some(format!("{{\"storage-credentials\":{credentials},{rest}")))
}

/// The headers that make a client's request to S3 one of this server, if it is one that the caller may make.
pub async fn sign(
    app: &App,
    warehouse: &Warehouse,
    ident: &TableIdent,
    access: Access,
    request: &SignRequest,
) -> Result<(String, HeaderMap), Error> {
    let (row, stored) = load::<TableMetadata>(app, warehouse, ident).await?;
    if warehouse.credentials.mode != Mode::RemoteSigning {
        return Err(Error::Forbidden(format!("warehouse {} does not sign requests", warehouse.row.name)));
    }
    let subject = Subject { ident, id: &row.id, location: &stored.metadata().location };
    let place = own_place(app, warehouse, subject).await?;
    let signable = signing::judge(request, &place, access, app.storage.s3_public_endpoint())?;
    let uri = signable.request.uri().to_string();
    let payload = match (&signable.hash, signable.whole) {
        (_, true) => Payload::Whole,
        (Some(hash), false) => Payload::Hashed(hash),
        (None, false) => Payload::Unsigned,
    };
    let signed = app.storage.sign(&place, "s3", &request.region, signable.request, payload).await;
    Ok((uri, signed.map_err(Error::from_storage)?))
}

async fn credential(
    app: &App,
    warehouse: &Warehouse,
    ident: &TableIdent,
    place: Location,
    access: Access,
) -> Result<(StorageCredential, String), Error> {
    let refresh = match place.scheme() {
        Scheme::Gs => "gcs.oauth2.refresh-credentials-endpoint",
        Scheme::S3 | Scheme::File => "client.refresh-credentials-endpoint",
    };
    let with = &warehouse.credentials;
    let order = Order {
        warehouse: (warehouse.row.id.clone(), warehouse.row.version),
        place,
        access,
        secret: with.secret.clone(),
        role: with.role.clone(),
        lifetime_s: with.lifetime_s,
    };
    let vended: Arc<Vended> = app.vending.vend(&app.storage, &order, || app.clock.now_ms()).await?;
    let mut config = vended.config.clone();
    config.insert(refresh.to_owned(), route(warehouse, ident, "credentials"));
    let tag = format!("{:?}.{:x}", access, vended.expires_ms).to_ascii_lowercase();
    Ok((StorageCredential { prefix: vended.prefix.clone(), config: Secrets(config) }, tag))
}

/// A table's place, if it is its own: inside of what the warehouse may use, not all of that, and with no other table in
/// it or around it. Who could write a table's metadata could otherwise name another one's place there.
async fn own_place(app: &App, warehouse: &Warehouse, subject: Subject<'_>) -> Result<Location, Error> {
    let place = Location::parse(subject.location).map_err(Error::from_storage)?;
    if !warehouse.allowed.iter().any(|allowed| place.is_under(allowed) && place != *allowed) || place.key().is_empty() {
        return Err(Error::Invalid(format!("{place} is not inside of the places of warehouse {}", warehouse.row.name)));
    }
    match locations::overlapping_live(&app.db, &place.to_string(), subject.id).await? {
        // Whose it is may be nobody's business.
        Some(_) => Err(Error::Invalid(format!("{place} overlaps the location of another table"))),
        None => Ok(place),
    }
}

/// A route of a table, as clients append it to the catalog's URI.
fn route(warehouse: &Warehouse, ident: &TableIdent, last: &str) -> String {
    let encode = |text: &str| utf8_percent_encode(text, NON_ALPHANUMERIC).to_string();
    let namespace = encode(&ident.namespace.levels().join("\u{1f}"));
    format!("v1/{}/namespaces/{namespace}/tables/{}/{last}", warehouse.row.name, encode(&ident.name))
}
