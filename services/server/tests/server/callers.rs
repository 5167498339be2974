//! Who may call, and what for.

use compozy_proto::admin::v1::admin_service_client::AdminServiceClient;
use compozy_proto::admin::v1::{GetServerInfoRequest, ShutdownRequest};
use compozy_server::home::Home;
use prost_types::FileDescriptorSet;
use tonic::Code;
use tonic::transport::Channel;
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_client::HealthClient;
use tonic_prost::ProstCodec;

use crate::running::{
    Scripted, call, call_with, explained, reason, start, tokens_file, try_start, with_headers,
};

const TCP: &str = "grpc.listen = \"127.0.0.1:0\"\n";

/// A server on TCP with a reader, a writer and an administrator.
async fn with_tokens() -> Scripted {
    let config = format!("{TCP}auth.tokens_file = \"$COMPOZY_HOME/tokens.toml\"\n");
    let write = |home: &Home| {
        let entries: [(&str, &[&str]); 3] = [
            ("reader", &["read"]),
            ("writer", &["read", "write"]),
            ("admin", &["admin"]),
        ];
        std::fs::write(home.path().join("tokens.toml"), tokens_file(&entries)).unwrap();
    };
    try_start(&config, write).await.unwrap()
}

fn bearer(id: &str) -> String {
    format!("Bearer token-{id}")
}

/// Calls every method of every served service once, without a token.
async fn refusals(channel: &Channel, descriptors: &FileDescriptorSet) -> Vec<(String, tonic::Status)> {
    let mut refused = Vec::new();
    for file in &descriptors.file {
        for service in file.service.iter().filter(|_| file.package() != "grpc.health.v1") {
            for method in &service.method {
                let path = format!("/{}.{}/{}", file.package(), service.name(), method.name());
                let mut client = tonic::client::Grpc::new(channel.clone());
                client.ready().await.unwrap();
                let messages = tonic::Request::new(tokio_stream::once(()));
                let codec = ProstCodec::<(), ()>::default();
                let answer = client.streaming(messages, path.parse().unwrap(), codec).await;
                let status = match answer {
                    Err(status) => status,
                    Ok(stream) => stream.into_inner().message().await.unwrap_err(),
                };
                refused.push((path, status));
            }
        }
    }
    refused
}

#[tokio::test]
async fn w326_n199_over_tcp_every_method_but_health_needs_a_token() {
    let server = start(TCP).await;
    let channel = server.network().await;
    let refused = refusals(&channel, &compozy_server::descriptors::all().unwrap()).await;
    for part in [
        "AdminService",
        "WorkspaceService",
        "reflection.v1.",
        "reflection.v1alpha.",
    ] {
        assert!(
            refused.iter().any(|(path, _)| path.contains(part)),
            "{part} was not asked"
        );
    }
    for (path, status) in refused {
        assert_eq!(
            (status.code(), reason(&status).as_str()),
            (Code::Unauthenticated, "TOKEN_MISSING"),
            "{path}"
        );
    }
    HealthClient::new(channel)
        .check(HealthCheckRequest::default())
        .await
        .unwrap();
}

#[tokio::test]
async fn the_homes_own_token_opens_tcp_and_a_wrong_one_does_not() {
    let server = start(TCP).await;
    let channel = server.network().await;
    let own = format!("bearer {}", server.token());
    call_with(&channel, "", &[("authorization", &own)]).await.unwrap();
    for wrong in ["Bearer nonsense", "Bearer ", "Basic eDp5", "nonsense"] {
        let status = call_with(&channel, "", &[("authorization", wrong)])
            .await
            .unwrap_err();
        assert_eq!(
            (status.code(), reason(&status).as_str()),
            (Code::Unauthenticated, "TOKEN_INVALID"),
            "{wrong}"
        );
    }
}

#[tokio::test]
async fn the_sockets_caller_needs_none() {
    let server = start(TCP).await;
    call(&server.channel().await, "").await.unwrap();
}

#[tokio::test]
async fn w329_shutdown_needs_the_scope_admin() {
    let server = with_tokens().await;
    let mut client = AdminServiceClient::new(server.network().await);
    for id in ["reader", "writer"] {
        let request = with_headers(ShutdownRequest {}, &[("authorization", &bearer(id))]);
        let status = client.shutdown(request).await.unwrap_err();
        assert_eq!(
            (status.code(), reason(&status).as_str()),
            (Code::PermissionDenied, "SCOPE_DENIED"),
            "{id}"
        );
        assert_eq!(explained(&status).metadata["scope"], "admin");
    }
    assert!(!server.shutdown.has_begun());
    let info = with_headers(GetServerInfoRequest {}, &[("authorization", &bearer("admin"))]);
    let status = client.get_server_info(info).await.unwrap_err();
    assert_eq!(
        explained(&status).metadata["scope"],
        "read",
        "scopes do not contain each other"
    );
    let request = with_headers(ShutdownRequest {}, &[("authorization", &bearer("admin"))]);
    client.shutdown(request).await.unwrap();
    assert!(server.ended().await);
}
