//! TLS: whom the client trusts, and what it shows.

use std::path::PathBuf;

use compozy_client::{Client, Endpoint, ErrorKind, ServingStatus, Tls};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use tokio::net::TcpListener;
use tokio_stream::wrappers::TcpListenerStream;
use tonic::transport::{Certificate, Identity, Server, ServerTlsConfig};
use tonic_health::pb::health_server::HealthServer;

struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
    directory: tempfile::TempDir,
}

impl Authority {
    fn new() -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        Self {
            issuer,
            directory: tempfile::tempdir().unwrap(),
        }
    }

    /// Certificate and key for a name, as PEM.
    fn issue(&self, name: &str) -> (String, String) {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        (
            params.signed_by(&key, &self.issuer).unwrap().pem(),
            key.serialize_pem(),
        )
    }

    fn file(&self, name: &str, content: &str) -> PathBuf {
        let path = self.directory.path().join(name);
        std::fs::write(&path, content).unwrap();
        path
    }
}

/// A health service that wants to see a certificate of the authority.
async fn serve(authority: &Authority) -> Endpoint {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = Endpoint::parse(&format!("https://{}", listener.local_addr().unwrap())).unwrap();
    let (certificate, key) = authority.issue("127.0.0.1");
    let tls = ServerTlsConfig::new()
        .identity(Identity::from_pem(certificate, key))
        .client_ca_root(Certificate::from_pem(authority.issuer.pem()));
    let (reporter, _) = tonic_health::server::health_reporter();
    let health = HealthServer::new(tonic_health::server::HealthService::from_health_reporter(
        reporter,
    ));
    let router = Server::builder().tls_config(tls).unwrap().add_service(health);
    tokio::spawn(router.serve_with_incoming(TcpListenerStream::new(listener)));
    endpoint
}

#[tokio::test]
async fn both_sides_show_a_certificate() {
    let authority = Authority::new();
    let endpoint = serve(&authority).await;
    let (certificate, key) = authority.issue("client");
    let tls = Tls {
        ca: Some(authority.file("ca.pem", &authority.issuer.pem())),
        certificate: Some(authority.file("cert.pem", &certificate)),
        key: Some(authority.file("key.pem", &key)),
    };
    let client = Client::builder()
        .endpoint(endpoint.clone())
        .tls(tls.clone())
        .build()
        .unwrap();
    assert_eq!(client.check_health("").await.unwrap(), ServingStatus::Serving);

    let without = Tls {
        certificate: None,
        key: None,
        ..tls.clone()
    };
    let client = Client::builder()
        .endpoint(endpoint.clone())
        .tls(without)
        .build()
        .unwrap();
    assert_eq!(
        client.check_health("").await.unwrap_err().kind(),
        ErrorKind::Transport
    );

    let half = Tls { key: None, ..tls };
    let error = Client::builder()
        .endpoint(endpoint)
        .tls(half)
        .build()
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Configuration);
}

#[tokio::test]
async fn certificates_for_a_server_without_tls_are_a_mistake() {
    let tls = Tls {
        ca: Some("/ca.pem".into()),
        ..Tls::default()
    };
    let endpoint = Endpoint::parse("http://127.0.0.1:1").unwrap();
    let error = Client::builder().endpoint(endpoint).tls(tls).build().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Configuration);
}
