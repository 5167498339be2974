//! The methods of sessions behind the real frame: tokens, large requests, the end of the server (cases section 19).

use std::fmt::Write as _;

use compozy_proto::session::v1 as pb;
use compozy_proto::session::v1::session_catalog_service_client::SessionCatalogServiceClient;
use compozy_proto::workspace::v1::WorkspaceRef;
use compozy_proto::workspace::v1::workspace_ref::Form;
use tonic::transport::Channel;
use tonic::{Code, Status};
use tonic_types::StatusExt as _;

use crate::running::{explained, reason, spawn, until, with_headers};
use crate::site::{Site, register};
use crate::telemetry::calls_in_flight;

const TCP: &str = "grpc.listen = \"127.0.0.1:0\"\ntelemetry.listen = \"127.0.0.1:0\"\n";

on_both_engines! {
    s328_callers_over_tcp_need_a_token,
    s332_a_request_above_4_mib,
    s337_a_call_that_had_begun_ends_and_a_new_one_is_refused,
}

fn new(root: &std::path::Path) -> pb::CreateSessionRequest {
    pb::CreateSessionRequest {
        workspace: Some(WorkspaceRef {
            form: Some(Form::Path(root.to_str().unwrap().to_owned())),
        }),
        agent: Some("general".to_owned()),
        ..Default::default()
    }
}

async fn create(channel: &Channel, request: pb::CreateSessionRequest) -> Result<pb::Session, Status> {
    let mut client = SessionCatalogServiceClient::new(channel.clone());
    let answer = client.create_session(request).await?;
    Ok(answer.into_inner().session.unwrap())
}

async fn total(channel: &Channel) -> i64 {
    let mut client = SessionCatalogServiceClient::new(channel.clone());
    let answer = client
        .count_sessions(pb::CountSessionsRequest::default())
        .await
        .unwrap();
    answer.into_inner().total
}

async fn s328_callers_over_tcp_need_a_token(site: Site) {
    let root = site.folder();
    let hash = compozy_server::token::hash("expired");
    let mut tokens = String::from("[[tokens]]\nid = \"old\"\nsha256 = \"");
    for byte in hash {
        write!(tokens, "{byte:02x}").unwrap();
    }
    tokens.push_str("\"\nscopes = [\"read\", \"write\"]\nexpires_at = 2020-01-01T00:00:00Z\n");
    std::fs::write(site.home.path().join("tokens.toml"), tokens).unwrap();
    let config = format!(
        "{TCP}auth.tokens_file = \"$COMPOZY_HOME/tokens.toml\"\nworkspaces.allowed_roots = [\"{}\"]\n",
        root.display()
    );
    let server = site.start(&config).await;
    register(&server.channel().await, &root).await.unwrap();
    let channel = server.network().await;
    for (header, expected) in [
        (None, "TOKEN_MISSING"),
        (Some("Bearer unknown"), "TOKEN_INVALID"),
        (Some("Bearer expired"), "TOKEN_INVALID"),
    ] {
        let mut client = SessionCatalogServiceClient::new(channel.clone());
        let headers: Vec<_> = header.iter().map(|value| ("authorization", *value)).collect();
        let get = pb::GetSessionRequest {
            session_id: "sess-00000000000000ff".into(),
            include_health: false,
        };
        for status in [
            client
                .create_session(with_headers(new(&root), &headers))
                .await
                .unwrap_err(),
            client.get_session(with_headers(get, &headers)).await.unwrap_err(),
        ] {
            assert_eq!(
                (status.code(), reason(&status).as_str()),
                (Code::Unauthenticated, expected)
            );
        }
    }
    let own = format!("Bearer {}", server.token());
    let mut client = SessionCatalogServiceClient::new(channel);
    let request = with_headers(new(&root), &[("authorization", &own)]);
    client.create_session(request).await.unwrap();
    assert_eq!(total(&server.channel().await).await, 1);
}

async fn s332_a_request_above_4_mib(site: Site) {
    let server = site.start("").await;
    let channel = server.channel().await;
    let root = site.folder();
    register(&channel, &root).await.unwrap();
    let large = pb::CreateSessionRequest {
        start_cause: "x".repeat(4 * 1024 * 1024 + 1),
        ..new(&root)
    };
    let status = create(&channel, large).await.unwrap_err();
    assert_eq!(
        (status.code(), reason(&status).as_str()),
        (Code::ResourceExhausted, "MESSAGE_TOO_LARGE")
    );
    assert_eq!(
        explained(&status).metadata["limit"],
        (4 * 1024 * 1024).to_string()
    );
    // The connection lives on.
    create(&channel, new(&root)).await.unwrap();
    assert_eq!(total(&channel).await, 1);
}

async fn s337_a_call_that_had_begun_ends_and_a_new_one_is_refused(site: Site) {
    let server = site.start(TCP).await;
    let channel = server.channel().await;
    let root = site.folder();
    register(&channel, &root).await.unwrap();
    let session = create(&channel, new(&root)).await.unwrap();
    let mut client = SessionCatalogServiceClient::new(channel.clone());
    let binding = pb::RuntimeBinding {
        holder: "h1".into(),
        ttl: None,
    };
    let bind = pb::BindRuntimeRequest {
        session_id: session.id.clone(),
        binding: Some(binding),
        request_id: String::new(),
    };
    let lease = client
        .bind_runtime(bind)
        .await
        .unwrap()
        .into_inner()
        .lease
        .unwrap();
    let before = calls_in_flight(&server).await;
    // It waits for a runtime that takes its time; the drain does not.
    let patient = pb::StopSessionRequest {
        session_id: session.id,
        cause: pb::StopCause::User.into(),
        wait: Some(prost_types::Duration {
            seconds: 600,
            nanos: 0,
        }),
        ..Default::default()
    };
    let mut waiting = client.clone();
    let begun = spawn(async move { waiting.stop_session(patient).await });
    until("the slow call is in flight", async || {
        calls_in_flight(&server).await > before
    })
    .await;
    // Another call, which the drain waits for: nothing is cut meanwhile.
    let other = server.shutdown.enter().unwrap();
    server.shutdown.begin("the test");
    let status = create(&channel, new(&root)).await.unwrap_err();
    assert_eq!(
        (status.code(), reason(&status).as_str()),
        (Code::Unavailable, "DRAINING")
    );
    assert!(status.get_details_retry_info().is_some());
    let stopped = begun.await.unwrap().unwrap().into_inner().session.unwrap();
    assert_eq!(stopped.state(), pb::SessionState::Stopping, "{lease:?}");
    drop(other);
    assert!(server.ended().await);
}
