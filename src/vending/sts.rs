//! Temporary S3 keys: `AssumeRole` with a session policy.

use super::policy::policy;
use super::{Error, Order, Vended, Vending, ask, not_set_up, unreadable};
use crate::spec::iso;
use crate::storage::{Error as StorageError, Payload, Storage};
use bytes::Bytes;
use http::Request;
use http::header::CONTENT_TYPE;
use serde::Deserialize;
use std::collections::BTreeMap;

const SERVICE: &str = "the security token service";

/// The part of the answer that matters.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Answer {
    #[serde(rename = "AssumeRoleResult")]
    result: Outcome,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Outcome {
    credentials: Keys,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Keys {
    access_key_id: String,
    secret_access_key: String,
    session_token: String,
    expiration: String,
}

/// Takes on the warehouse's role for one table.
pub(super) async fn keys(vending: &Vending, storage: &Storage, order: &Order, now_ms: i64) -> Result<Vended, Error> {
    let (role, region) = (&order.role, storage.s3_region());
    let endpoint = match &vending.services.s3_sts_endpoint {
        Some(endpoint) => endpoint.trim_end_matches('/').to_owned(),
        None if role.arn.is_some() => format!("https://sts.{region}.amazonaws.com"),
        None => {
            let reason = "set the warehouse's s3-role-arn, or --s3-sts-endpoint where roles are not needed".to_owned();
            return Err(not_set_up(order, reason));
        }
    };
    let partition = role.arn.as_deref().and_then(|arn| arn.split(':').nth(1)).unwrap_or("aws");
    let policy = policy(&order.place, order.access, partition, role.kms_key.as_deref())?;
    let lifetime = order.lifetime_s.to_string();
    let mut form = vec![
        ("Action", "AssumeRole"),
        ("Version", "2011-06-15"),
        ("RoleSessionName", "guillemot"),
        ("DurationSeconds", &lifetime),
        ("Policy", &policy),
    ];
    form.extend(role.arn.as_deref().map(|arn| ("RoleArn", arn)));
    form.extend(role.external_id.as_deref().map(|id| ("ExternalId", id)));
    let body: Bytes = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(form).finish().into();
    let url = format!("{endpoint}/");
    let request = Request::post(&url).header(CONTENT_TYPE, "application/x-www-form-urlencoded").body(body.clone());
    let request = request.map_err(|error| not_set_up(order, error.to_string()))?;
    let headers = storage.sign(&order.place, "sts", region, request, Payload::Whole).await;
    let headers = headers.map_err(|error| unsigned(order, error))?;
    let answer = ask(order, SERVICE, vending.client.post(url).headers(headers).body(body)).await?;
    let answer: Answer = quick_xml::de::from_str(&answer).map_err(|_| unreadable(order, SERVICE))?;
    let keys = answer.result.credentials;
    let said = iso::timestamp_with_offset(&keys.expiration).map(|time| time.micros() / 1000);
    let expires_ms = said.unwrap_or(now_ms.saturating_add(i64::from(order.lifetime_s) * 1000));
    let config = [
        ("s3.access-key-id", keys.access_key_id),
        ("s3.secret-access-key", keys.secret_access_key),
        ("s3.session-token", keys.session_token),
        ("s3.session-token-expires-at-ms", expires_ms.to_string()),
    ];
    Ok(Vended {
        prefix: format!("{}/", order.place),
        config: config.into_iter().map(|(key, value)| (key.to_owned(), value)).collect::<BTreeMap<_, _>>(),
        expires_ms,
    })
}

fn unsigned(order: &Order, error: StorageError) -> Error {
    Error::Unavailable {
        place: order.place.to_string(),
        service: "whoever gives this server its own keys",
        source: error.into(),
    }
}
