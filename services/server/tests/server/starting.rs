//! The time before the catalog is open: health answers, and says that nothing is served yet.

use std::sync::Arc;
use std::time::Duration;

use compozy_proto::admin::v1::admin_service_client::AdminServiceClient;
use compozy_proto::admin::v1::{GetServerInfoRequest, ShutdownRequest};
use compozy_server::app::{App, Starting};
use compozy_server::catalog::{Catalog, SERVICE_NAMES};
use compozy_server::failure::{Failure, FailureKind};
use compozy_server::home::{self, Home};
use compozy_server::plug;
use compozy_server::shutdown::Shutdown;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Status};
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_types::StatusExt;

use crate::health::{check, list, next, watch};
use crate::proxy::Proxy;
use crate::reflection;
use crate::running::{PATIENCE, Running, Store, call, catalog, reason, setup, socket_channel, spawn, until};
use crate::script::Script;
use crate::site::{Site, on_postgres};
use crate::watches::{Watch, wanted};

/// A server whose catalog opens when the test says so.
struct Beginning {
    home: Home,
    channel: Channel,
    network: Channel,
    open: oneshot::Sender<Result<Catalog, Failure>>,
    opening: JoinHandle<Result<Option<App>, Failure>>,
    _directory: tempfile::TempDir,
}

async fn begin() -> Beginning {
    let directory = tempfile::tempdir().unwrap();
    let home = Home::at(directory.path().join("home"));
    home::prepare(&home).unwrap();
    let setup = setup(&home, "grpc.listen = \"127.0.0.1:0\"\n").unwrap();
    let starting = Starting::listen(setup, Shutdown::new()).await.unwrap();
    let channel = socket_channel(starting.socket()).await;
    let network = Endpoint::from_shared(format!("http://{}", starting.addresses()[0])).unwrap();
    let (open, opened) = oneshot::channel();
    let mut opened = Some(opened);
    let opening = starting.open(move |_| {
        let opened = opened.take().expect("it is opened once");
        async move { opened.await.expect("the test opens it") }
    });
    Beginning {
        network: network.connect().await.unwrap(),
        opening: spawn(opening),
        home,
        channel,
        open,
        _directory: directory,
    }
}

fn assert_not_there_yet(status: &Status, what: &str) {
    assert_eq!(
        (status.code(), reason(status).as_str()),
        (Code::Unavailable, "STORE_UNAVAILABLE"),
        "{what}"
    );
    assert!(status.get_details_retry_info().is_some(), "{what}");
}

#[tokio::test]
async fn n168_before_the_catalog_is_open_health_says_so_and_nothing_else_is_served() {
    let beginning = begin().await;
    let channel = &beginning.channel;
    let mut watched = watch(channel, "").await;
    assert_eq!(next(&mut watched).await, ServingStatus::NotServing);
    for name in SERVICE_NAMES.into_iter().chain([""]) {
        assert_eq!(check(channel, name).await, ServingStatus::NotServing, "{name}");
        assert_eq!(list(channel).await[name], ServingStatus::NotServing, "{name}");
    }
    assert_eq!(check(channel, "liveness").await, ServingStatus::Serving);
    assert_eq!(check(&beginning.network, "").await, ServingStatus::NotServing);

    assert_not_there_yet(&call(channel, "").await.unwrap_err(), "a unary call");
    let info = AdminServiceClient::new(channel.clone())
        .get_server_info(GetServerInfoRequest {})
        .await;
    assert_not_there_yet(&info.unwrap_err(), "admin");
    let refused = Watch::open(channel, wanted("")).await.err();
    assert_not_there_yet(&refused.expect("a watch was let in"), "a watch");
    assert_not_there_yet(&reflection::services_of(channel).await.unwrap_err(), "reflection");
    let stranger = call(&beginning.network, "").await.unwrap_err();
    assert_eq!(
        reason(&stranger),
        "TOKEN_MISSING",
        "callers come before the catalog"
    );
    assert!(
        !beginning.home.daemon_file_path().exists(),
        "it is announced too early"
    );

    let (script, _gate) = Script::new();
    let opened = catalog(&script, &Arc::new(Store::default()));
    assert!(beginning.open.send(Ok(opened)).is_ok());
    assert_eq!(next(&mut watched).await, ServingStatus::Serving);
    assert!(beginning.home.daemon_file_path().exists(), "SERVING came first");
    call(channel, "").await.unwrap();
    let app = beginning.opening.await.unwrap().unwrap().unwrap();
    let running = Running::of(&beginning.home, app);
    assert!(running.end().await);
}

#[tokio::test]
async fn n168_a_start_that_fails_never_says_serving_and_leaves_nothing_behind() {
    let beginning = begin().await;
    let mut watched = watch(&beginning.channel, "").await;
    assert_eq!(next(&mut watched).await, ServingStatus::NotServing);
    let too_new = Failure::config("the catalog needs a newer release");
    assert!(beginning.open.send(Err(too_new.clone())).is_ok());
    let failed = tokio::time::timeout(PATIENCE, beginning.opening).await;
    assert_eq!(failed.unwrap().unwrap().unwrap_err(), too_new);
    let end = tokio::time::timeout(PATIENCE, watched.message()).await.unwrap();
    assert!(matches!(end, Ok(None) | Err(_)), "{end:?}");
    assert!(!beginning.home.socket_path().exists() && !beginning.home.daemon_file_path().exists());
}

#[tokio::test]
async fn n183_an_end_in_the_middle_of_the_start_is_an_end_in_order() {
    let beginning = begin().await;
    assert_eq!(check(&beginning.channel, "").await, ServingStatus::NotServing);
    let stranger = AdminServiceClient::new(beginning.network.clone())
        .shutdown(ShutdownRequest {})
        .await;
    assert_eq!(reason(&stranger.unwrap_err()), "TOKEN_MISSING");
    AdminServiceClient::new(beginning.channel.clone())
        .shutdown(ShutdownRequest {})
        .await
        .unwrap();
    let ended = tokio::time::timeout(PATIENCE, beginning.opening).await;
    assert!(ended.unwrap().unwrap().unwrap().is_none());
    assert!(!beginning.home.socket_path().exists() && !beginning.home.daemon_file_path().exists());
}

/// The host and port of a database, and the URL that leads there through another address.
fn detour(site: &Site) -> (Proxy, String) {
    let url = site.url();
    let (head, tail) = url.split_once('@').unwrap();
    let (target, path) = tail.split_once('/').unwrap();
    let proxy = Proxy::to(target);
    let url = format!("{head}@{}/{path}", proxy.address);
    (proxy, url)
}

async fn opened_later(site: Site) {
    let (mut proxy, url) = detour(&site);
    let config = format!("store.url = \"{url}\"\n");
    let starting = Starting::listen(setup(&site.home, &config).unwrap(), Shutdown::new()).await;
    let starting = starting.unwrap();
    let channel = socket_channel(starting.socket()).await;
    // One attempt has failed when the second begins.
    let mut attempts = 0;
    let mut app = Box::pin(starting.open(|context| {
        attempts += 1;
        if attempts == 2 {
            proxy.open();
        }
        plug::open(context)
    }));
    let app = tokio::time::timeout(PATIENCE, &mut app)
        .await
        .unwrap()
        .unwrap()
        .unwrap();
    until("serving", async || {
        check(&channel, "").await == ServingStatus::Serving
    })
    .await;
    assert!(Running::of(&site.home, app).end().await);
}

#[tokio::test]
async fn n168_a_database_that_comes_a_little_later_is_waited_for() {
    on_postgres("n168_comes_later", opened_later).await;
}

async fn away_and_back(site: Site) {
    let (mut proxy, url) = detour(&site);
    proxy.open();
    let config = format!("store.url = \"{url}\"\n");
    let starting = Starting::listen(setup(&site.home, &config).unwrap(), Shutdown::new()).await;
    let app = starting.unwrap().open(plug::open).await.unwrap().unwrap();
    let running = Running::of(&site.home, app);
    let mut watched = watch(&running.channel().await, "").await;
    while next(&mut watched).await != ServingStatus::Serving {}
    proxy.close().await;
    assert_eq!(next(&mut watched).await, ServingStatus::NotServing);
    proxy.open();
    assert_eq!(next(&mut watched).await, ServingStatus::Serving);
    assert!(running.end().await);
}

#[tokio::test]
async fn n173_health_follows_a_database_that_goes_away_and_comes_back() {
    on_postgres("n173_away_and_back", away_and_back).await;
}

async fn refused_at_once(site: Site) {
    let config = format!("store.url = \"{}_that_is_not_there\"\n", site.url());
    let starting = Starting::listen(setup(&site.home, &config).unwrap(), Shutdown::new()).await;
    let begun = std::time::Instant::now();
    let failure = starting.unwrap().open(plug::open).await.expect_err("it started");
    assert_eq!(
        (failure.kind(), failure.exit_code()),
        (FailureKind::Unavailable, 69)
    );
    assert!(failure.to_string().contains("does not exist"), "{failure}");
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
}

#[tokio::test]
async fn a_database_that_answers_and_refuses_is_not_waited_for() {
    on_postgres("refused_at_once", refused_at_once).await;
}
