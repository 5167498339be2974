//! TLS: certificates, their replacement, and client certificates.

use std::path::Path;

use compozy_proto::admin::v1::GetServerInfoRequest;
use compozy_proto::admin::v1::admin_service_client::AdminServiceClient;
use compozy_server::home::Home;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair, SanType};
use tonic::transport::{Certificate, Channel, ClientTlsConfig, Endpoint, Identity};

use crate::running::{Running, Scripted, explained, try_start, until, with_headers};

type Issuer = CertifiedIssuer<'static, KeyPair>;

const CONFIG: &str = "grpc.listen = \"127.0.0.1:0\"\n\
                      grpc.tls.cert = \"$COMPOZY_HOME/cert.pem\"\ngrpc.tls.key = \"$COMPOZY_HOME/key.pem\"\n";

fn issuer() -> Issuer {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
}

/// A certificate and its key, for these names.
fn issue(issuer: &Issuer, names: Vec<SanType>) -> (String, String) {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.subject_alt_names = names;
    let key = KeyPair::generate().unwrap();
    let certificate = params.signed_by(&key, issuer).unwrap();
    (certificate.pem(), key.serialize_pem())
}

fn install(directory: &Path, issuer: &Issuer) {
    let (certificate, key) = issue(issuer, vec![SanType::DnsName("localhost".try_into().unwrap())]);
    // The key first: a daemon that reads in between keeps the old pair.
    std::fs::write(directory.join("key.pem"), key).unwrap();
    std::fs::write(directory.join("cert.pem"), certificate).unwrap();
}

async fn serve(config: &str, prepare: impl FnOnce(&Home)) -> Scripted {
    try_start(config, prepare).await.unwrap()
}

async fn connect(
    server: &Running,
    issuer: &Issuer,
    identity: Option<Identity>,
) -> Result<Channel, tonic::transport::Error> {
    let mut tls = ClientTlsConfig::new()
        .ca_certificate(Certificate::from_pem(issuer.pem()))
        .domain_name("localhost");
    if let Some(identity) = identity {
        tls = tls.identity(identity);
    }
    let address = format!("https://{}", server.addresses[0]);
    Endpoint::from_shared(address)
        .unwrap()
        .tls_config(tls)
        .unwrap()
        .connect()
        .await
}

async fn info(channel: Channel, headers: &[(&'static str, &str)]) -> Result<(), tonic::Status> {
    let request = with_headers(GetServerInfoRequest {}, headers);
    AdminServiceClient::new(channel)
        .get_server_info(request)
        .await
        .map(drop)
}

#[tokio::test]
async fn a_certificate_is_served_and_a_replaced_one_too() {
    let (first, second) = (issuer(), issuer());
    let server = serve(CONFIG, |home| install(home.path(), &first)).await;
    let token = format!("Bearer {}", server.token());
    let old = connect(&server, &first, None).await.unwrap();
    info(old.clone(), &[("authorization", &token)]).await.unwrap();
    assert!(
        connect(&server, &second, None).await.is_err(),
        "an authority that did not sign it"
    );
    install(server.home.path(), &second);
    until("the new certificate", async || {
        connect(&server, &second, None).await.is_ok()
    })
    .await;
    info(old, &[("authorization", &token)])
        .await
        .expect("old connections go on");
    assert!(server.end().await);
}

#[tokio::test]
async fn a_client_certificate_is_a_caller_by_its_name() {
    let authority = issuer();
    let config = format!(
        "{CONFIG}grpc.tls.client_ca = \"$COMPOZY_HOME/ca.pem\"\nauth.tokens_file = \"$COMPOZY_HOME/tokens.toml\"\n"
    );
    let server = serve(&config, |home| {
        install(home.path(), &authority);
        std::fs::write(home.path().join("ca.pem"), authority.pem()).unwrap();
        let tokens =
            "[[certificates]]\nid = \"gateway\"\nsan = \"spiffe://c/gateway\"\nscopes = [\"read\"]\n";
        std::fs::write(home.path().join("tokens.toml"), tokens).unwrap();
    })
    .await;
    let identity = |issuer: &Issuer, name: &str| {
        let (certificate, key) = issue(issuer, vec![SanType::URI(name.try_into().unwrap())]);
        Identity::from_pem(certificate, key)
    };
    let known = connect(
        &server,
        &authority,
        Some(identity(&authority, "spiffe://c/gateway")),
    )
    .await
    .unwrap();
    info(known, &[]).await.unwrap();
    let unknown = connect(
        &server,
        &authority,
        Some(identity(&authority, "spiffe://c/other")),
    )
    .await
    .unwrap();
    assert_eq!(
        explained(&info(unknown, &[]).await.unwrap_err()).reason,
        "TOKEN_MISSING"
    );
    for stranger in [None, Some(identity(&issuer(), "spiffe://c/gateway"))] {
        // TLS 1.3 tells a client only with the first answer that its certificate was refused.
        if let Ok(channel) = connect(&server, &authority, stranger).await {
            assert!(info(channel, &[]).await.is_err());
        }
    }
}

#[tokio::test]
async fn files_that_can_not_be_used_are_named_with_their_key() {
    let authority = issuer();
    for (file, content, key) in [
        ("cert.pem", "", "grpc.tls.cert"),
        ("key.pem", "nonsense", "grpc.tls.key"),
        (
            "key.pem",
            issuer().key().serialize_pem().as_str(),
            "grpc.tls.cert",
        ),
    ] {
        let started = try_start(CONFIG, |home| {
            install(home.path(), &authority);
            std::fs::write(home.path().join(file), content).unwrap();
        });
        let failure = started.await.err().expect("it started").to_string();
        assert!(failure.contains(key) && failure.contains("pem"), "{failure}");
    }
}
