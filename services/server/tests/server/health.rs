//! `grpc.health.v1` as the protocol says.

use std::collections::HashMap;
use std::sync::atomic::Ordering;

use tonic::Code;
use tonic::codec::Streaming;
use tonic::transport::Channel;
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_client::HealthClient;
use tonic_health::pb::{HealthCheckRequest, HealthCheckResponse};
use tonic_prost::ProstCodec;

use crate::running::{PATIENCE, reason, start, until};

const WORKSPACES: &str = "compozy.workspace.v1.WorkspaceService";

fn ask(name: &str) -> HealthCheckRequest {
    HealthCheckRequest {
        service: name.to_owned(),
    }
}

pub async fn check(channel: &Channel, name: &str) -> ServingStatus {
    HealthClient::new(channel.clone())
        .check(ask(name))
        .await
        .unwrap()
        .into_inner()
        .status()
}

async fn next(watch: &mut Streaming<HealthCheckResponse>) -> ServingStatus {
    let message = tokio::time::timeout(PATIENCE, watch.message())
        .await
        .expect("nothing came");
    message.unwrap().expect("the watch ended").status()
}

#[tokio::test]
async fn everything_but_liveness_follows_the_store() {
    let server = start("").await;
    let channel = server.channel().await;
    until("serving", async || {
        check(&channel, "").await == ServingStatus::Serving
    })
    .await;
    assert_eq!(check(&channel, WORKSPACES).await, ServingStatus::Serving);
    let mut watch = HealthClient::new(channel.clone())
        .watch(ask(WORKSPACES))
        .await
        .unwrap()
        .into_inner();
    assert_eq!(next(&mut watch).await, ServingStatus::Serving);
    server.store.away.store(true, Ordering::SeqCst);
    assert_eq!(next(&mut watch).await, ServingStatus::NotServing);
    until("not serving", async || {
        check(&channel, "").await == ServingStatus::NotServing
    })
    .await;
    assert_eq!(check(&channel, "liveness").await, ServingStatus::Serving);
    server.store.away.store(false, Ordering::SeqCst);
    assert_eq!(next(&mut watch).await, ServingStatus::Serving);
    assert!(server.end().await);
}

#[tokio::test]
async fn an_unknown_service_is_not_found_and_its_watch_stays_open() {
    let server = start("").await;
    let channel = server.channel().await;
    let status = HealthClient::new(channel.clone())
        .check(ask("x.Y"))
        .await
        .unwrap_err();
    assert_eq!(
        (status.code(), reason(&status).as_str()),
        (Code::NotFound, "SERVICE_NOT_FOUND")
    );
    let mut watch = HealthClient::new(channel.clone())
        .watch(ask("x.Y"))
        .await
        .unwrap()
        .into_inner();
    assert_eq!(next(&mut watch).await, ServingStatus::ServiceUnknown);
    let more = tokio::time::timeout(std::time::Duration::from_millis(100), watch.message()).await;
    assert!(more.is_err(), "the watch said more or ended: {more:?}");
    // It ends with the server and does not hold it.
    assert!(server.end().await);
}

#[derive(Clone, PartialEq, prost::Message)]
struct ListResponse {
    #[prost(map = "string, message", tag = "1")]
    statuses: HashMap<String, HealthCheckResponse>,
}

#[tokio::test]
async fn list_names_everything_that_is_served() {
    let server = start("").await;
    let mut client = tonic::client::Grpc::new(server.channel().await);
    client.ready().await.unwrap();
    let path = http::uri::PathAndQuery::from_static("/grpc.health.v1.Health/List");
    let codec = ProstCodec::<(), ListResponse>::default();
    let list = client
        .unary(tonic::Request::new(()), path, codec)
        .await
        .unwrap()
        .into_inner();
    for name in ["", "liveness", WORKSPACES, "compozy.admin.v1.AdminService"] {
        assert!(list.statuses.contains_key(name), "{name} is missing");
    }
}
