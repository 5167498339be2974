//! How many watches there may be, and what becomes of those whose client is gone (cases sections 4 and 12).

use compozy_proto::change::v1 as pb;
use futures::FutureExt as _;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tonic::Code;
use tonic::transport::Endpoint;
use tonic_types::StatusExt as _;

use crate::client::{Watching, reason};
use crate::world::{Options, World, until};

cases! {
    n138_n139_one_watch_more_than_the_limit,
    n140_watches_of_clients_that_are_gone_are_gone,
}

file_cases! {
    n067_a_client_that_vanished_without_a_word,
}

fn everything() -> pb::WatchCatalogRequest {
    pb::WatchCatalogRequest::default()
}

async fn n138_n139_one_watch_more_than_the_limit(world: World) {
    let server = world.start_with(Options::with("limits.watchers = 3\n")).await;
    let a = server.register(&world, "a").await;
    let mut watches = Vec::new();
    for _ in 0..3 {
        watches.push(server.w().await);
    }
    let status = server.refused(everything()).await;
    assert_eq!(
        reason(&status),
        (Code::ResourceExhausted, "TOO_MANY_WATCHERS".to_owned())
    );
    assert!(status.get_details_retry_info().unwrap().retry_delay.is_some());
    // The network has seats of its own.
    let token = std::fs::read_to_string(server.home.token_path()).unwrap();
    server
        .watch_as(Some(token.trim()), everything())
        .await
        .unwrap()
        .synced()
        .await;
    let written = server.retitle(&a.id, "t").await.workspace.unwrap();
    for watching in &mut watches {
        assert_eq!(watching.change().await.version, written.version);
    }
    drop(watches.pop());
    until("a seat is free", async || {
        Watching::begin(server.channel.clone(), everything(), None)
            .await
            .is_ok()
    })
    .await;
}

async fn n140_watches_of_clients_that_are_gone_are_gone(world: World) {
    let server = world.start().await;
    let mut gone = Vec::new();
    for _ in 0..10 {
        let channel = server.connect(None).await;
        for _ in 0..20 {
            let mut watching = Watching::begin(channel.clone(), everything(), None)
                .await
                .unwrap();
            watching.synced().await;
            gone.push(watching);
        }
    }
    assert_eq!(server.metric("compozy_watchers").await, 200.0);
    drop(gone);
    until("nobody watches", async || {
        server.metric("compozy_watchers").await == 0.0
    })
    .await;
}

/// A network that takes everything and hands on nothing, as when a cable is cut.
async fn n067_a_client_that_vanished_without_a_word(world: World) {
    let config = "grpc.keepalive_interval = \"1s\"\ngrpc.keepalive_timeout = \"1s\"\n";
    let server = world.start_with(Options::with(config)).await;
    let a = server.register(&world, "a").await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let between = listener.local_addr().unwrap();
    let mut carrying = JoinSet::new();
    let to = server.address();
    let (cut, is_cut) = tokio::sync::oneshot::channel::<()>();
    carrying.spawn(async move {
        let (mut client, _) = listener.accept().await.unwrap();
        let mut upstream = TcpStream::connect(to).await.unwrap();
        let copying = tokio::io::copy_bidirectional(&mut client, &mut upstream);
        futures::future::select(Box::pin(copying), is_cut.boxed()).await;
        // Both connections stay open.
        std::future::pending::<()>().await;
    });
    let token = std::fs::read_to_string(server.home.token_path()).unwrap();
    let channel = Endpoint::from_shared(format!("http://{between}"))
        .unwrap()
        .connect()
        .await
        .unwrap();
    let mut watching = Watching::begin(channel, everything(), Some(token.trim()))
        .await
        .unwrap();
    watching.synced().await;
    assert_eq!(server.metric("compozy_watchers").await, 1.0);
    cut.send(()).unwrap();
    for number in 0..20 {
        server.retitle(&a.id, &number.to_string()).await;
    }
    until("the dead connection is noticed", async || {
        server.metric("compozy_watchers").await == 0.0
    })
    .await;
}
