//! Downscoped tokens of Google: a token of the warehouse's, exchanged for one that is good for one table.

use super::boundary::boundary;
use super::google::{Base, Token};
use super::{Error, Order, Vended, Vending, ask, unreadable};
use std::collections::BTreeMap;

const SERVICE: &str = "Google's security token service";

/// Google takes no longer options.
const MOST_BYTES: usize = 4096;

const GRANT: &str = "urn:ietf:params:oauth:grant-type:token-exchange";
const ACCESS_TOKEN: &str = "urn:ietf:params:oauth:token-type:access_token";

/// Exchanges the base token.
pub(super) async fn downscoped(vending: &Vending, order: &Order, base: &Base, now_ms: i64) -> Result<Vended, Error> {
    let options = boundary(&order.place, order.access);
    if options.len() > MOST_BYTES {
        let place = order.place.to_string();
        return Err(Error::TooLong { place, what: "credential access boundary", limit: MOST_BYTES });
    }
    let form = [
        ("grant_type", GRANT),
        ("requested_token_type", ACCESS_TOKEN),
        ("subject_token_type", ACCESS_TOKEN),
        ("subject_token", base.token.as_str()),
        ("options", &options),
    ];
    let request = vending.client.post(&vending.services.google_sts_url).form(&form);
    let answer = ask(order, SERVICE, request).await?;
    let token: Token = serde_json::from_str(&answer).map_err(|_| unreadable(order, SERVICE))?;
    // Google says nothing of the time where it is that of the token that was exchanged.
    let expires_ms = token.expires_in.map_or(base.expires_ms, |seconds| now_ms.saturating_add(seconds * 1000));
    let expires_ms = expires_ms.min(base.expires_ms);
    Ok(Vended {
        prefix: format!("{}/", order.place),
        config: BTreeMap::from([
            ("gcs.oauth2.token".to_owned(), token.access_token),
            ("gcs.oauth2.token-expires-at".to_owned(), expires_ms.to_string()),
        ]),
        expires_ms,
    })
}
