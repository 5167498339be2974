//! Watches while the store is away (cases sections 3 and 10).

use compozy_proto::change::v1 as pb;
use tonic::Code;

use crate::client::{beating, cause, reason, resumed};
use crate::world::World;

cases! {
    n055_a_bad_token_is_one_also_then,
    n122_an_open_watch_goes_on_and_loses_nothing,
}

async fn n055_a_bad_token_is_one_also_then(world: World) {
    let server = world.start().await;
    let token = server
        .watch(pb::WatchCatalogRequest::default())
        .await
        .synced()
        .await;
    let mut edited = token.clone();
    edited.replace_range(60..=60, if token.as_bytes()[60] == b'B' { "C" } else { "B" });
    server.watched.set_away(true);
    for text in ["!!!", edited.as_str()] {
        cause(&server.refused(resumed(text)).await);
    }
    for request in [resumed(&token), pb::WatchCatalogRequest::default()] {
        let status = server.refused(request).await;
        assert_eq!(
            reason(&status),
            (Code::Unavailable, "STORE_UNAVAILABLE".to_owned())
        );
    }
    server.watched.set_away(false);
    server.watch(resumed(&token)).await.synced().await;
}

async fn n122_an_open_watch_goes_on_and_loses_nothing(world: World) {
    let server = world.start().await;
    let a = server.register(&world, "a").await;
    let mut w = server.watch(beating(pb::WatchCatalogRequest::default())).await;
    let synced = w.synced().await;
    server.watched.set_away(true);
    w.heartbeat().await;
    w.heartbeat().await;
    server.watched.set_away(false);
    let written = server.retitle(&a.id, "t").await.workspace.unwrap();
    assert_eq!(w.change().await.version, written.version);
    let (missed, _) = server.watch(resumed(&synced)).await.caught_up().await;
    assert_eq!(
        missed.iter().map(|change| change.version).collect::<Vec<_>>(),
        [written.version]
    );
}
