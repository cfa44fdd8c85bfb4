//! HTTPS: the certificate and its key, from files that are looked at again and again.
//!
//! Whoever renews certificates replaces files, one after the other, or all at once by a link. What is in them counts, not
//! when they were written: every few seconds they are read, and once both have changed and fit each other, new
//! connections get the new certificate. Until then the old one serves.

use crate::config::TlsConfig;
use crate::telemetry::chain;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::{self, CryptoProvider};
use tokio_rustls::rustls::pki_types::pem::{self, PemObject};
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::server::{ClientHello, ResolvesServerCert};
use tokio_rustls::rustls::sign::CertifiedKey;
use tokio_rustls::rustls::{self, ServerConfig};

/// How often the files are looked at.
const LOOKED_AT_EVERY: Duration = Duration::from_secs(5);

/// Why the files cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file cannot be read.
    #[error("{} cannot be read", file.display())]
    Read {
        /// The file.
        file: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// There is nothing of its kind in a file.
    #[error("{} holds no {expected} in PEM form", file.display())]
    Nothing {
        /// The file.
        file: PathBuf,
        /// What was looked for.
        expected: &'static str,
    },
    /// A file is no PEM file. What is in it is not shown: it may be a key.
    #[error("{} is not in PEM form", file.display())]
    Malformed {
        /// The file.
        file: PathBuf,
    },
    /// The two are not of each other.
    #[error("the key in {} does not belong to the first certificate in {}", key.display(), cert.display())]
    Mismatch {
        /// The file of the certificate.
        cert: PathBuf,
        /// The file of the key.
        key: PathBuf,
    },
    /// They are of a kind that TLS has no use for.
    #[error("{} and {} cannot be used", cert.display(), key.display())]
    Unusable {
        /// The file of the certificate.
        cert: PathBuf,
        /// The file of the key.
        key: PathBuf,
        /// Why not.
        source: rustls::Error,
    },
}

/// Greets clients with the certificate that is in force.
pub(super) struct Tls {
    files: TlsConfig,
    read: Files,
    current: Arc<Current>,
    acceptor: TlsAcceptor,
}

/// What is in the two files.
#[derive(PartialEq, Eq)]
struct Files {
    cert: Vec<u8>,
    key: Vec<u8>,
}

#[derive(Debug)]
struct Current(RwLock<Arc<CertifiedKey>>);

impl ResolvesServerCert for Current {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner)))
    }
}

impl Tls {
    /// Reads the files, and demands that they can be used.
    pub(super) fn load(files: &TlsConfig) -> Result<Self, TlsError> {
        let provider = Arc::new(crypto::aws_lc_rs::default_provider());
        let read = Files::read(files)?;
        let current = Arc::new(Current(RwLock::new(Arc::new(read.certified(files, &provider)?))));
        let unusable = |source| TlsError::Unusable { cert: files.cert.clone(), key: files.key.clone(), source };
        let versions = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let resolver = Arc::clone(&current) as Arc<dyn ResolvesServerCert>;
        let mut config = versions.map_err(unusable)?.with_no_client_auth().with_cert_resolver(resolver);
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(Self { files: files.clone(), read, current, acceptor: TlsAcceptor::from(Arc::new(config)) })
    }

    /// Makes HTTPS of a connection.
    pub(super) fn acceptor(&self) -> TlsAcceptor {
        self.acceptor.clone()
    }

    /// Looks at the files, for ever.
    pub(super) async fn keep_fresh(mut self) {
        loop {
            tokio::time::sleep(LOOKED_AT_EVERY).await;
            let files = self.files.clone();
            let read = tokio::task::spawn_blocking(move || Files::read(&files)).await;
            match read {
                Ok(Ok(read)) if read == self.read => {}
                Ok(Ok(read)) => self.renew(read),
                Ok(Err(error)) => tracing::warn!(cause = chain(&error), "the certificate is not renewed"),
                Err(_) => {}
            }
        }
    }

    fn renew(&mut self, read: Files) {
        match read.certified(&self.files, &crypto::aws_lc_rs::default_provider()) {
            Ok(certified) => {
                *self.current.0.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(certified);
                tracing::info!(file = %self.files.cert.display(), "new connections get the new certificate");
            }
            Err(error) => tracing::warn!(cause = chain(&error), "the certificate is not renewed"),
        }
        // Said once, whatever came of it.
        self.read = read;
    }
}

impl Files {
    fn read(files: &TlsConfig) -> Result<Self, TlsError> {
        let read = |file: &Path| std::fs::read(file).map_err(|source| TlsError::Read { file: file.to_owned(), source });
        Ok(Self { cert: read(&files.cert)?, key: read(&files.key)? })
    }

    fn certified(&self, files: &TlsConfig, provider: &CryptoProvider) -> Result<CertifiedKey, TlsError> {
        let chain = CertificateDer::pem_slice_iter(&self.cert).collect::<Result<Vec<_>, _>>();
        let chain = chain.map_err(|error| wrong(&files.cert, "certificate", &error))?;
        if chain.is_empty() {
            return Err(TlsError::Nothing { file: files.cert.clone(), expected: "certificate" });
        }
        let key = PrivateKeyDer::from_pem_slice(&self.key);
        let key = key.map_err(|error| wrong(&files.key, "private key without a passphrase", &error))?;
        CertifiedKey::from_der(chain, key, provider).map_err(|source| {
            let (cert, key) = (files.cert.clone(), files.key.clone());
            match source {
                rustls::Error::InconsistentKeys(_) => TlsError::Mismatch { cert, key },
                source => TlsError::Unusable { cert, key, source },
            }
        })
    }
}

fn wrong(file: &Path, expected: &'static str, error: &pem::Error) -> TlsError {
    let file = file.to_owned();
    match error {
        pem::Error::NoItemsFound => TlsError::Nothing { file, expected },
        _ => TlsError::Malformed { file },
    }
}
