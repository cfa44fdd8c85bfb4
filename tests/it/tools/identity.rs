//! Key files name an address that clients can use.

use super::{guillemot_in, text};
use serde_json::Value;

#[test]
fn the_token_uri_of_a_key_file_is_by_the_scheme_that_the_server_speaks() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("key.json");
    let token_uri = |name: &str, more: &[&str]| {
        let mut arguments = vec!["identity", "create", name, "--google-key", text(&file)];
        arguments.extend(["--database-url", "sqlite://test.db", "--listen", "lake.example:8443"]);
        arguments.extend(more);
        let ran = guillemot_in(folder.path(), &arguments);
        assert_eq!(ran.code, 0, "{}", ran.err);
        let made: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
        std::fs::remove_file(&file).unwrap();
        made["token_uri"].as_str().unwrap().to_owned()
    };
    let tls = ["--tls-cert", "tls.crt", "--tls-key", "tls.key"];
    assert_eq!(token_uri("plain", &[]), "http://lake.example:8443/iceberg/v1/oauth/tokens");
    assert_eq!(token_uri("secure", &tls), "https://lake.example:8443/iceberg/v1/oauth/tokens");
    let public = [&tls[..], &["--public-url", "https://catalog.example/"]].concat();
    assert_eq!(token_uri("public", &public), "https://catalog.example/iceberg/v1/oauth/tokens");
}
