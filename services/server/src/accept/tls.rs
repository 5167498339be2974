//! TLS: the server's certificate, read again when it was replaced, and the names in a client's one.

use std::fmt;
use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};

use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::{CryptoProvider, ring};
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::server::WebPkiClientVerifier;
use tokio_rustls::rustls::{RootCertStore, ServerConfig, ServerConnection};

use crate::config::TlsFiles;
use crate::failure::Failure;
use crate::small_file::{self, Links};
use crate::watched::Watched;

const BYTES_MAX: u64 = 1024 * 1024;

/// Gives every new connection the certificate that is in the files now.
pub struct TlsSource {
    files: TlsFiles,
    current: RwLock<Arc<ServerConfig>>,
    watched: Watched,
}

impl TlsSource {
    /// Reads the files.
    ///
    /// # Errors
    /// A failure that names the file and its key.
    pub fn load(files: TlsFiles) -> Result<Self, Failure> {
        let paths = [Some(&files.cert), Some(&files.key), files.client_ca.as_ref()];
        let watched = Watched::begin(paths.into_iter().flatten().cloned().collect());
        let current = RwLock::new(Arc::new(read(&files)?));
        Ok(Self {
            files,
            current,
            watched,
        })
    }

    /// What makes a connection out of a stream. Files that got broken leave the last good ones in force.
    pub(super) fn acceptor(&self) -> TlsAcceptor {
        if self.watched.changed() {
            match read(&self.files) {
                Ok(config) => {
                    *self.current.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(config);
                    tracing::info!("certificates were read again");
                }
                Err(failure) => {
                    tracing::error!(%failure, "changed certificates can't be used, the old ones go on");
                }
            }
        }
        TlsAcceptor::from(Arc::clone(
            &self.current.read().unwrap_or_else(PoisonError::into_inner),
        ))
    }
}

impl fmt::Debug for TlsSource {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("TlsSource")
            .field("files", &self.files)
            .finish_non_exhaustive()
    }
}

/// DNS and URI names of the client's certificate, which the handshake has verified.
pub(super) fn names_of(connection: &ServerConnection) -> Arc<[String]> {
    let certificate = connection
        .peer_certificates()
        .and_then(<[CertificateDer<'_>]>::first);
    let Some(parsed) = certificate.and_then(|certificate| webpki::EndEntityCert::try_from(certificate).ok())
    else {
        return Arc::default();
    };
    parsed
        .valid_dns_names()
        .chain(parsed.valid_uri_names())
        .map(str::to_owned)
        .collect()
}

fn read(files: &TlsFiles) -> Result<ServerConfig, Failure> {
    let provider = Arc::new(ring::default_provider());
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|error| Failure::config(format!("TLS can't be set up: {error}")))?;
    let builder = match &files.client_ca {
        None => builder.with_no_client_auth(),
        Some(path) => builder.with_client_cert_verifier(client_verifier(path, provider)?),
    };
    let chain = certificates("grpc.tls.cert", &files.cert)?;
    let key = private_key(&files.key)?;
    let mut config = builder.with_single_cert(chain, key).map_err(|error| {
        refused(
            "grpc.tls.cert",
            &files.cert,
            &format!("does not fit grpc.tls.key ({error})"),
        )
    })?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}

fn client_verifier(
    path: &Path,
    provider: Arc<CryptoProvider>,
) -> Result<Arc<dyn tokio_rustls::rustls::server::danger::ClientCertVerifier>, Failure> {
    const KEY: &str = "grpc.tls.client_ca";
    let mut roots = RootCertStore::empty();
    for certificate in certificates(KEY, path)? {
        roots
            .add(certificate)
            .map_err(|error| refused(KEY, path, &format!("can't be used ({error})")))?;
    }
    WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider)
        .build()
        .map_err(|error| refused(KEY, path, &format!("can't be used ({error})")))
}

fn certificates(key: &str, path: &Path) -> Result<Vec<CertificateDer<'static>>, Failure> {
    let text = text(key, path)?;
    let parsed: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(text.as_bytes()).collect();
    let parsed = parsed.map_err(|_| refused(key, path, "is no valid PEM"))?;
    if parsed.is_empty() {
        return Err(refused(key, path, "holds no certificate"));
    }
    Ok(parsed)
}

fn private_key(path: &Path) -> Result<PrivateKeyDer<'static>, Failure> {
    const KEY: &str = "grpc.tls.key";
    let text = text(KEY, path)?;
    PrivateKeyDer::from_pem_slice(text.as_bytes())
        .map_err(|_| refused(KEY, path, "holds no private key in PEM"))
}

fn text(key: &str, path: &Path) -> Result<String, Failure> {
    let text = small_file::read(path, BYTES_MAX, Links::Follow)
        .map_err(|fault| refused(key, path, &fault.to_string()))?;
    text.ok_or_else(|| refused(key, path, "does not exist"))
}

fn refused(key: &str, path: &Path, problem: &str) -> Failure {
    Failure::config(format!("{key}: {} {problem}", path.display()))
}
