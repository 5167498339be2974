//! `grpc.health.v1` as the protocol says.

use std::collections::{BTreeMap, BTreeSet, HashMap};
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

/// A watch of a name's health.
pub async fn watch(channel: &Channel, name: &str) -> Streaming<HealthCheckResponse> {
    let watching = HealthClient::new(channel.clone()).watch(ask(name)).await;
    watching.unwrap().into_inner()
}

/// The next state that a watch tells.
pub async fn next(watch: &mut Streaming<HealthCheckResponse>) -> ServingStatus {
    let message = tokio::time::timeout(PATIENCE, watch.message())
        .await
        .expect("nothing came");
    message.unwrap().expect("the watch ended").status()
}

#[tokio::test]
async fn n173_everything_but_liveness_follows_the_store() {
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
async fn n170_an_unknown_service_is_not_found_and_its_watch_stays_open() {
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

/// The state of every name.
pub async fn list(channel: &Channel) -> BTreeMap<String, ServingStatus> {
    let mut client = tonic::client::Grpc::new(channel.clone());
    client.ready().await.unwrap();
    let path = http::uri::PathAndQuery::from_static("/grpc.health.v1.Health/List");
    let codec = ProstCodec::<(), ListResponse>::default();
    let list = client.unary(tonic::Request::new(()), path, codec).await.unwrap();
    let states = list.into_inner().statuses.into_iter();
    states.map(|(name, state)| (name, state.status())).collect()
}

/// Every service of the contract, as its descriptors name them.
fn services_of_the_contract() -> Vec<String> {
    let all = compozy_server::descriptors::all().unwrap();
    let ours = all
        .file
        .iter()
        .filter(|file| file.package().starts_with("compozy."));
    ours.flat_map(|file| {
        file.service
            .iter()
            .map(|service| format!("{}.{}", file.package(), service.name()))
    })
    .collect()
}

#[tokio::test]
async fn n169_n172_list_has_every_service_and_all_are_serving_after_the_start() {
    let server = start("").await;
    let channel = server.channel().await;
    let expected: BTreeSet<String> = services_of_the_contract()
        .into_iter()
        .chain(["".to_owned(), "liveness".to_owned()])
        .collect();
    assert!(expected.contains("compozy.change.v1.CatalogChangeService"));
    until("serving", async || {
        server_is(&channel, ServingStatus::Serving).await
    })
    .await;
    let found: BTreeSet<String> = list(&channel).await.into_keys().collect();
    assert_eq!(found, expected);
    for name in &expected {
        assert_eq!(check(&channel, name).await, ServingStatus::Serving, "{name}");
    }
    server.store.away.store(true, Ordering::SeqCst);
    until("not serving", async || {
        server_is(&channel, ServingStatus::NotServing).await
    })
    .await;
}

/// Whether every name but that of the process has this state.
async fn server_is(channel: &Channel, state: ServingStatus) -> bool {
    let mut states = list(channel).await;
    assert_eq!(states.remove("liveness"), Some(ServingStatus::Serving));
    states.into_values().all(|found| found == state)
}

#[tokio::test]
async fn n171_a_watch_tells_the_present_state_at_once_and_then_changes_only() {
    let server = start("").await;
    let channel = server.channel().await;
    until("serving", async || {
        server_is(&channel, ServingStatus::Serving).await
    })
    .await;
    let mut watched = watch(&channel, "").await;
    assert_eq!(next(&mut watched).await, ServingStatus::Serving);
    for state in [ServingStatus::NotServing, ServingStatus::Serving] {
        server
            .store
            .away
            .store(state == ServingStatus::NotServing, Ordering::SeqCst);
        assert_eq!(next(&mut watched).await, state);
    }
    // The next message is the one of the drain: all the looks at the store in between said nothing new.
    server.shutdown.begin("the test");
    assert_eq!(next(&mut watched).await, ServingStatus::NotServing);
    assert!(server.ended().await);
}
