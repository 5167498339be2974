//! TLS: which certificates to trust and which to show.

use std::path::PathBuf;

use tonic::transport::{Certificate, ClientTlsConfig, Identity};

use crate::Error;

/// Certificates for `https` endpoints. Without a CA file the system's roots are trusted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tls {
    /// PEM file of the authorities to trust instead of the system's.
    pub ca: Option<PathBuf>,
    /// PEM file of the client's certificate chain; goes together with `key`.
    pub certificate: Option<PathBuf>,
    /// PEM file of the client's private key; goes together with `certificate`.
    pub key: Option<PathBuf>,
}

impl Tls {
    pub(crate) fn config(&self) -> Result<ClientTlsConfig, Error> {
        let mut config = match &self.ca {
            Some(path) => ClientTlsConfig::new().ca_certificate(Certificate::from_pem(read(path)?)),
            None => ClientTlsConfig::new().with_native_roots(),
        };
        match (&self.certificate, &self.key) {
            (Some(certificate), Some(key)) => {
                config = config.identity(Identity::from_pem(read(certificate)?, read(key)?));
            }
            (None, None) => {}
            _ => {
                let message = "a client certificate and its key have to be given together";
                return Err(Error::configuration(message.to_owned()));
            }
        }
        Ok(config)
    }

    pub(crate) fn is_empty(&self) -> bool {
        let Self { ca, certificate, key } = self;
        ca.is_none() && certificate.is_none() && key.is_none()
    }
}

fn read(path: &PathBuf) -> Result<Vec<u8>, Error> {
    std::fs::read(path)
        .map_err(|error| Error::configuration(format!("{} cannot be read: {error}", path.display())))
}
