//! Asks a server whether it is alive, as a container's health check does.

use crate::config::Config;
use std::net::{SocketAddr, ToSocketAddrs};
use std::time::Duration;

/// How long it may take to answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// Why it is not known to be alive.
#[derive(Debug, thiserror::Error)]
pub enum HealthError {
    /// The listen address cannot be looked up.
    #[error("the listen address {0} names no host")]
    Address(String),
    /// It cannot be asked.
    #[error("the server cannot be asked")]
    Ask(#[from] reqwest::Error),
    /// It answers something else.
    #[error("the server does not say that it is alive")]
    NotAlive,
}

/// Asks `/health` of the server at the listen address.
pub async fn ask_health(config: &Config) -> Result<(), HealthError> {
    let unknown = || HealthError::Address(config.listen.clone());
    let mut found = config.listen.to_socket_addrs().map_err(|_| unknown())?;
    let address = found.next().ok_or_else(unknown)?;
    let address = match address.ip() {
        ip if ip.is_unspecified() => SocketAddr::from(([127, 0, 0, 1], address.port())),
        _ => address,
    };
    // The certificate is made out to the name that clients use, and nothing is told to who answers here.
    let client =
        reqwest::Client::builder().timeout(PATIENCE).tls_danger_accept_invalid_certs(true).no_proxy().build()?;
    let answer = client.get(format!("{}://{address}/health", config.scheme())).send().await?;
    if answer.status().as_u16() == 200 { Ok(()) } else { Err(HealthError::NotAlive) }
}
