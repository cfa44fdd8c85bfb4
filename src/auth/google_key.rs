//! Keys in the shape of Google's service-account files, so that Google's libraries log in here as they do there.

use super::error::Error;
use super::secret::random;
use crate::store::identities::PublicKey;
use aws_lc_rs::encoding::{AsDer, Pkcs8V1Der};
use aws_lc_rs::rsa::{KeyPair, KeySize};
use aws_lc_rs::signature::KeyPair as _;
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use serde_json::json;

/// What follows an identity's name in the e-mail address of its key file. It is no place on the internet.
const AT: &str = "@guillemot";

/// Characters of a line of PEM.
const PEM_LINE: usize = 64;

/// The e-mail address by which a key file calls an identity.
pub(super) fn email_of(name: &str) -> String {
    format!("{name}{AT}")
}

/// The identity that an e-mail address of a key file means.
pub(super) fn name_in(email: &str) -> Option<&str> {
    email.strip_suffix(AT)
}

/// Makes a key: what is kept of it, and the file.
pub(super) fn make(name: &str, token_uri: &str) -> Result<(PublicKey, String), Error> {
    let failed = || Error::Keys("no RSA key could be made");
    let pair = KeyPair::generate(KeySize::Rsa2048).map_err(|_| failed())?;
    let public = pair.public_key();
    let part = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
    let jwk = json!({
        "kty": "RSA",
        "n": part(public.modulus().big_endian_without_leading_zero()),
        "e": part(public.exponent().big_endian_without_leading_zero()),
    });
    let id = format!("{:032x}", u128::from_be_bytes(random().ok_or_else(failed)?));
    let private = AsDer::<Pkcs8V1Der<'_>>::as_der(&pair).map_err(|_| failed())?;
    let file = json!({
        "type": "service_account",
        "project_id": "guillemot",
        "private_key_id": id,
        "private_key": pem(private.as_ref()),
        "client_email": email_of(name),
        "client_id": name,
        "token_uri": token_uri,
    });
    Ok((PublicKey { id, jwk: jwk.to_string(), token_uri: token_uri.to_owned() }, format!("{file:#}\n")))
}

fn pem(pkcs8: &[u8]) -> String {
    let mut text = "-----BEGIN PRIVATE KEY-----\n".to_owned();
    for (at, character) in STANDARD.encode(pkcs8).chars().enumerate() {
        if at > 0 && at % PEM_LINE == 0 {
            text.push('\n');
        }
        text.push(character);
    }
    text.push_str("\n-----END PRIVATE KEY-----\n");
    text
}
