//! The end of the whole server while watches are open.

use std::time::{Duration, Instant};

use compozy_proto::change::v1::watch_catalog_response::Message;
use compozy_proto::change::v1::{Change, ChangeKind, ChangeReason, GoingAwayReason};
use futures::future::join_all;
use tonic::transport::Channel;
use tonic::{Code, Status};
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_types::StatusExt;

use crate::bare;
use crate::health::{self, check};
use crate::running::{Running, reason, socket_channel, spawn, until};
use crate::site::{Site, on_sqlite, register};
use crate::telemetry::calls_in_flight;
use crate::watches::{Watch, wanted, wanted_by};

const BOTH_WAYS: &str = "grpc.listen = \"127.0.0.1:0\"\ntelemetry.listen = \"127.0.0.1:0\"\n";
/// Of each way, over two connections.
const WATCHES: usize = 100;

on_both_engines! {
    n175_n176_n177_watches_leave_with_tokens_that_lose_nothing,
}

async fn open_watches(server: &Running, tokens: &[String]) -> Vec<Watch> {
    let mut watches = Vec::new();
    let bearer = server.token();
    for connection in 0..4 {
        let over_tcp = connection % 2 == 1;
        let channel = if over_tcp {
            server.network().await
        } else {
            server.channel().await
        };
        for number in 0..WATCHES / 2 {
            let token = tokens
                .get(connection * WATCHES / 2 + number)
                .map_or("", String::as_str);
            let request = if over_tcp {
                wanted_by(&bearer, token)
            } else {
                wanted(token)
            };
            watches.push(Watch::open(&channel, request).await.unwrap());
        }
    }
    watches
}

fn assert_draining(status: &Status, what: &str) {
    assert_eq!(
        (status.code(), reason(status).as_str()),
        (Code::Unavailable, "DRAINING"),
        "{what}"
    );
    assert!(status.get_details_retry_info().is_some(), "{what}");
}

/// Workspaces in the order of their registration.
fn created(changes: &[Change]) -> Vec<&str> {
    for change in changes {
        assert_eq!(
            (change.kind(), change.reason()),
            (ChangeKind::Workspace, ChangeReason::Created)
        );
    }
    changes
        .iter()
        .map(|change| change.workspace_id.as_str())
        .collect()
}

async fn register_one(channel: &Channel, site: &Site) -> String {
    let answer = register(channel, &site.folder()).await.unwrap();
    answer.workspace.unwrap().id
}

async fn n175_n176_n177_watches_leave_with_tokens_that_lose_nothing(site: Site) {
    let server = site.start(BOTH_WAYS).await;
    let channel = server.channel().await;
    register_one(&channel, &site).await;
    let mut watches = open_watches(&server, &[]).await;
    join_all(watches.iter_mut().map(Watch::synced)).await;
    let mut serving = health::watch(&server.channel().await, "").await;
    while health::next(&mut serving).await != ServingStatus::Serving {}

    let before = calls_in_flight(&server).await;
    let blocked = site.block_writes().await;
    let (slow_channel, slow_root) = (channel.clone(), site.folder());
    let slow = spawn(async move { register(&slow_channel, &slow_root).await });
    until("the slow call is in flight", async || {
        calls_in_flight(&server).await > before
    })
    .await;
    let begun = Instant::now();
    server.shutdown.begin("the test");

    let farewells = join_all(watches.iter_mut().map(Watch::farewell)).await;
    let late = server.channel().await;
    assert_eq!(check(&late, "").await, ServingStatus::NotServing);
    assert_eq!(health::next(&mut serving).await, ServingStatus::NotServing);
    for (changes, going_away) in farewells {
        assert!(changes.is_empty(), "{changes:?}");
        assert_eq!(going_away.reason(), GoingAwayReason::Draining);
        assert!(!going_away.token.is_empty());
    }
    let refused = register(&late, &site.folder()).await.unwrap_err();
    assert_draining(&refused, "a new call");
    let refused = Watch::open(&late, wanted("")).await.err();
    assert_draining(&refused.expect("a watch was let in"), "a new watch");

    assert!(!slow.is_finished(), "the slow call was not waited for");
    blocked.let_go().await;
    let slow = slow.await.unwrap().expect("the slow call was answered");
    assert!(server.ended().await);
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());

    let tokens: Vec<String> = watches.into_iter().map(|watch| watch.token).collect();
    let server = site.start(BOTH_WAYS).await;
    let channel = server.channel().await;
    let mut expected = vec![slow.workspace.unwrap().id];
    for _ in 0..3 {
        expected.push(register_one(&channel, &site).await);
    }
    let mut watches = open_watches(&server, &tokens).await;
    for missed in join_all(watches.iter_mut().map(Watch::synced)).await {
        assert_eq!(created(&missed), expected);
    }
    drop(watches);
    assert!(server.end().await);
}

#[tokio::test]
async fn n178_clients_that_do_not_read_hold_the_end_a_few_seconds_at_most() {
    on_sqlite("n178", async |site| {
        let server = site.start(BOTH_WAYS).await;
        let path = "/compozy.change.v1.CatalogChangeService/WatchCatalog";
        // One whose window is shut, and one whose process is stopped: it does not even answer pings.
        let _shut = bare::open_without_window(&server.socket, path).await;
        let _stopped = bare::open_and_freeze(&server.socket, path).await;
        let _silent = tokio::net::TcpStream::connect(server.addresses[0]).await.unwrap();
        let _idle = server.network().await;
        let begun = Instant::now();
        // Everything that could be answered was.
        assert!(server.end().await);
        assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    })
    .await;
}

#[tokio::test]
async fn n040_a_watch_ends_at_its_deadline() {
    on_sqlite("n040", async |site| {
        let server = site.start("").await;
        let path = "/compozy.change.v1.CatalogChangeService/WatchCatalog";
        let begun = Instant::now();
        let end = bare::call(&server.socket, path, &[("grpc-timeout", "2S")]).await;
        assert_eq!(
            (end.code(), reason(&end).as_str()),
            (Code::DeadlineExceeded, "DEADLINE_EXCEEDED")
        );
        assert!(begun.elapsed() >= Duration::from_secs(2), "{:?}", begun.elapsed());
        assert!(server.end().await);
    })
    .await;
}

mod lives {
    use super::*;

    on_both_engines! {
        n196_a_watch_whose_connection_is_old_goes_on_on_another,
    }

    /// Reads to the end of a connection's life, and answers the changes that came.
    async fn outlive(watch: &mut Watch) -> Vec<Change> {
        let mut changes = Vec::new();
        loop {
            match watch.next().await.unwrap() {
                Some(Message::Changes(batch)) => changes.extend(batch.changes),
                Some(Message::Synced(_)) => {}
                Some(Message::GoingAway(going_away)) => {
                    assert_eq!(going_away.reason(), GoingAwayReason::ConnectionAge);
                    assert_eq!(
                        watch.next().await.unwrap(),
                        None,
                        "something came after going_away"
                    );
                    return changes;
                }
                other => panic!("{other:?}"),
            }
        }
    }

    async fn n196_a_watch_whose_connection_is_old_goes_on_on_another(site: Site) {
        let server = site
            .start(&format!("{BOTH_WAYS}grpc.connection_age = \"500ms\"\n"))
            .await;
        let (bearer, endpoint) = (server.token(), server.endpoint());
        let mut watch = Watch::open(&endpoint.connect().await.unwrap(), wanted_by(&bearer, ""))
            .await
            .unwrap();
        watch.synced().await;
        let (stop, stopped) = tokio::sync::oneshot::channel();
        let writing = spawn(async move {
            let channel = socket_channel(&server.socket).await;
            let (mut written, mut stopped) = (Vec::new(), std::pin::pin!(stopped));
            while futures::poll!(&mut stopped).is_pending() {
                written.push(register_one(&channel, &site).await);
            }
            (written, server, site)
        });
        let mut seen = outlive(&mut watch).await;
        for _ in 0..3 {
            let channel = endpoint.connect().await.unwrap();
            watch = Watch::open(&channel, wanted_by(&bearer, &watch.token))
                .await
                .unwrap();
            seen.extend(outlive(&mut watch).await);
        }
        stop.send(()).unwrap();
        let (written, server, _site) = writing.await.unwrap();
        watch = Watch::open(
            &endpoint.connect().await.unwrap(),
            wanted_by(&bearer, &watch.token),
        )
        .await
        .unwrap();
        seen.extend(watch.synced().await);
        assert_eq!(created(&seen), written);
        drop(watch);
        assert!(server.end().await);
    }
}
