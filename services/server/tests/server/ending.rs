//! The orderly end: nothing new, what is in flight finishes, then everything is gone.

use std::time::{Duration, Instant};

use compozy_proto::admin::v1::ShutdownRequest;
use compozy_proto::admin::v1::admin_service_client::AdminServiceClient;
use compozy_server::catalog::SERVICE_NAMES;
use tonic::Code;
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_types::StatusExt;

use crate::health::{check, list, next, watch};
use crate::running::{call, reason, spawn, start, until};

#[tokio::test]
async fn n177_calls_in_flight_finish_and_new_ones_are_told_that_the_server_drains() {
    let server = start("").await;
    let channel = server.channel().await;
    let in_flight = {
        let channel = channel.clone();
        spawn(async move { call(&channel, "wait").await })
    };
    server.gate.waiting.acquire().await.unwrap().forget();
    AdminServiceClient::new(channel.clone())
        .shutdown(ShutdownRequest {})
        .await
        .unwrap();
    let late = server.channel().await;
    let refused = call(&late, "").await.unwrap_err();
    assert_eq!(
        (refused.code(), reason(&refused).as_str()),
        (Code::Unavailable, "DRAINING")
    );
    assert!(refused.get_details_retry_info().is_some());
    until("not serving", async || {
        check(&late, "").await == ServingStatus::NotServing
    })
    .await;
    assert_eq!(check(&late, "liveness").await, ServingStatus::Serving);
    server.gate.open.add_permits(1);
    in_flight.await.unwrap().expect("the call in flight was answered");
    let (socket, home) = (server.socket.clone(), server.home.clone());
    assert!(server.ended().await);
    assert!(!socket.exists() && !home.daemon_file_path().exists());
}

#[tokio::test]
async fn n181_what_does_not_finish_is_cut_within_the_drain_time() {
    let server = start("daemon.drain_timeout = \"400ms\"\n").await;
    let channel = server.channel().await;
    let stuck = spawn(async move { call(&channel, "wait").await });
    server.gate.waiting.acquire().await.unwrap().forget();
    let begun = Instant::now();
    assert!(!server.end().await);
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    let cut = stuck.await.unwrap().unwrap_err();
    assert_eq!(
        (cut.code(), reason(&cut).as_str()),
        (Code::Unavailable, "DRAINING")
    );
}

#[tokio::test]
async fn n182_every_watch_of_health_says_not_serving_while_calls_are_waited_for() {
    let server = start("").await;
    let channel = server.channel().await;
    let mut watches = Vec::new();
    for name in SERVICE_NAMES.into_iter().chain([""]) {
        let mut watch = watch(&channel, name).await;
        while next(&mut watch).await != ServingStatus::Serving {}
        watches.push(watch);
    }
    let stuck = {
        let channel = channel.clone();
        spawn(async move { call(&channel, "wait").await })
    };
    server.gate.waiting.acquire().await.unwrap().forget();
    server.shutdown.begin("the test");
    for watch in &mut watches {
        assert_eq!(next(watch).await, ServingStatus::NotServing);
    }
    let late = server.channel().await;
    for name in SERVICE_NAMES.into_iter().chain([""]) {
        assert_eq!(
            next(&mut watch(&late, name).await).await,
            ServingStatus::NotServing
        );
        assert_eq!(list(&late).await[name], ServingStatus::NotServing);
    }
    assert_eq!(
        next(&mut watch(&late, "liveness").await).await,
        ServingStatus::Serving
    );
    assert!(!stuck.is_finished());
    server.gate.open.add_permits(1);
    stuck.await.unwrap().unwrap();
    assert!(server.ended().await);
}

#[tokio::test]
async fn an_idle_connection_and_a_watch_of_health_do_not_hold_the_end() {
    let server = start("").await;
    let idle = server.channel().await;
    call(&idle, "").await.unwrap();
    let request = tonic_health::pb::HealthCheckRequest::default();
    let mut watch = tonic_health::pb::health_client::HealthClient::new(server.channel().await)
        .watch(request)
        .await
        .unwrap();
    watch.get_mut().message().await.unwrap();
    let begun = Instant::now();
    assert!(server.end().await);
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
}
