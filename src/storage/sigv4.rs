//! Signing requests to S3, and to what speaks its protocol, as Amazon's signature version 4.

use super::error::Error;
use super::location::{Location, Scheme};
use super::{Storage, within};
use bytes::Bytes;
use http::{HeaderMap, Request};
use object_store::aws::AwsAuthorizer;
use object_store::client::HttpRequestBody;
use std::time::Duration;

/// How long finding the credentials to sign with may take.
const CREDENTIALS_LIMIT: Duration = Duration::from_secs(20);

/// What of a request's content its signature covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Payload<'a> {
    /// The content, which is in the request.
    Whole,
    /// Content with this SHA-256.
    Hashed(&'a [u8]),
    /// Nothing: whatever is sent.
    Unsigned,
}

impl Storage {
    /// The headers that make this request one of whoever this server is at the place's store.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the place is in no store that speaks S3; [`Error::Unavailable`] if the server finds no
    /// credentials.
    pub async fn sign(
        &self,
        place: &Location,
        service: &str,
        region: &str,
        request: Request<Bytes>,
        payload: Payload<'_>,
    ) -> Result<HeaderMap, Error> {
        let location = place.to_string();
        if place.scheme() != Scheme::S3 {
            return Err(Error::Invalid { location, reason: "requests to S3 alone are signed".to_owned() });
        }
        let provider = self.stores.s3_credentials(&self.config, place)?;
        let credential = within(CREDENTIALS_LIMIT, &location, async {
            provider.get_credential().await.map_err(|e| Error::from_store(&location, e))
        })
        .await?;
        let mut request = request.map(HttpRequestBody::from);
        let signer = AwsAuthorizer::new(&credential, service, region);
        let (signer, hash) = match payload {
            Payload::Whole => (signer, None),
            Payload::Hashed(hash) => (signer, Some(hash)),
            Payload::Unsigned => (signer.with_sign_payload(false), None),
        };
        signer.try_authorize(&mut request, hash).map_err(|e| Error::from_store(&location, e))?;
        Ok(std::mem::take(request.headers_mut()))
    }

    /// The region that requests to S3 are made for.
    pub fn s3_region(&self) -> &str {
        self.config.s3_region.as_deref().unwrap_or("us-east-1")
    }

    /// The base URL of the store that speaks S3, as clients see it; none for Amazon's own.
    pub fn s3_public_endpoint(&self) -> Option<&str> {
        self.config.s3_public_endpoint.as_deref()
    }
}
