//! Where the keys are that secrets are sealed with.

use super::sealed::Sealer;
use crate::config::AuthConfig;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use percent_encoding::percent_decode_str;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Bytes of a key.
const KEY_BYTES: usize = 32;

/// Why there is no key.
#[derive(Debug, thiserror::Error)]
pub enum SecretKeyError {
    /// What is set is no key.
    #[error("{place} holds no key: expected 32 bytes in base64, as `openssl rand -base64 32` prints them")]
    Malformed {
        /// The setting or the file.
        place: String,
    },
    /// The file cannot be read or made.
    #[error("the key file {} cannot be used", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// `PostgreSQL` is shared by servers, and a key that one of them made would be unknown to the others.
    #[error(
        "with PostgreSQL, tokens and secrets need a key that every server is given: \
         set secret-key or secret-key-file to what `openssl rand -base64 32` prints"
    )]
    Missing,
}

/// What seals secrets under the keys that the settings name; else under the one beside the `SQLite` file, which is made
/// if it is absent.
pub fn sealer(config: &AuthConfig, database_url: &str) -> Result<Sealer, SecretKeyError> {
    if let Some(keys) = &config.secret_key {
        return parse(keys.reveal(), "secret-key");
    }
    if let Some(path) = &config.secret_key_file {
        return read(path);
    }
    let Some(path) = beside_sqlite(database_url) else { return Err(SecretKeyError::Missing) };
    if !path.exists() {
        make(&path).map_err(|source| SecretKeyError::File { path: path.clone(), source })?;
    }
    read(&path)
}

fn read(path: &Path) -> Result<Sealer, SecretKeyError> {
    let text = std::fs::read_to_string(path);
    let text = text.map_err(|source| SecretKeyError::File { path: path.to_owned(), source })?;
    parse(&text, &path.display().to_string())
}

fn parse(text: &str, place: &str) -> Result<Sealer, SecretKeyError> {
    let sealer = Sealer::new(text).ok().filter(Sealer::is_ready);
    sealer.ok_or_else(|| SecretKeyError::Malformed { place: place.to_owned() })
}

/// Random bytes that nobody can guess.
pub(super) fn random<const N: usize>() -> Option<[u8; N]> {
    let mut bytes = [0; N];
    aws_lc_rs::rand::fill(&mut bytes).ok()?;
    Some(bytes)
}

/// `FILE.key` of `sqlite://FILE?…`.
fn beside_sqlite(database_url: &str) -> Option<PathBuf> {
    let rest = database_url.strip_prefix("sqlite:")?;
    let path = rest.strip_prefix("//").unwrap_or(rest).split('?').next().unwrap_or_default();
    let path = percent_decode_str(path).decode_utf8().ok()?;
    Some(PathBuf::from(format!("{path}.key")))
}

/// Makes a key file that its owner alone can read. Whole or not at all, and never over another one: two servers may
/// start at once.
fn make(path: &Path) -> io::Result<()> {
    let key: [u8; KEY_BYTES] = random().ok_or_else(|| io::Error::other("the system gives no random bytes"))?;
    let draft = path.with_extension(format!("key.{}", std::process::id()));
    let written =
        write_private(&draft, format!("{}\n", STANDARD.encode(key)).as_bytes()).and_then(
            |()| match std::fs::hard_link(&draft, path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
                linked => linked,
            },
        );
    // The draft is of no use, whatever became of it.
    let _ = std::fs::remove_file(&draft);
    written
}

/// Writes a new file that its owner alone can read.
pub fn write_private(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    file.write_all(content)?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Settings;

    fn config(secret_key: Option<&str>) -> AuthConfig {
        let mut settings = Settings::default();
        settings.auth.secret_key = secret_key.map(|key| key.parse().unwrap());
        settings.resolve().unwrap().auth
    }

    #[test]
    fn a_key_has_32_bytes() {
        for bad in ["too short!", "AAAA", &STANDARD.encode([1; 31]), &STANDARD.encode([1; 33])] {
            let error = sealer(&config(Some(bad)), "sqlite://x").unwrap_err();
            assert!(matches!(error, SecretKeyError::Malformed { .. }), "{bad}: {error}");
            assert!(!error.to_string().contains(bad));
        }
    }

    #[test]
    fn sqlite_has_its_key_beside_it_and_postgresql_none() {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("sqlite://{}?mode=rwc", folder.path().join("g.db").display());
        let sealed = sealer(&config(None), &url).unwrap().seal("a", b"x").unwrap();
        assert_eq!(sealer(&config(None), &url).unwrap().open("a", &sealed).unwrap(), b"x");
        let files: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert_eq!(files, [folder.path().join("g.db.key")]);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(files[0].metadata().unwrap().permissions().mode() & 0o777, 0o600);
        }
        let error = sealer(&config(None), "postgres://h/d").unwrap_err();
        assert!(matches!(error, SecretKeyError::Missing));
    }
}
