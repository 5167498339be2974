//! Servers that end and begin again on the same catalog, in this process (cases sections 3 and 10). Real kills are
//! the watch checker's.

use compozy_proto::change::v1 as pb;
use compozy_proto::change::v1::watch_catalog_response::Message;

use compozy_store::StoreAddress;

use crate::client::{of, resumed};
use crate::world::World;

cases! {
    n057_n124_tokens_outlive_a_restart,
    n123_an_answered_write_is_there_after_a_kill,
}

async fn n057_n124_tokens_outlive_a_restart(world: World) {
    let server = world.start().await;
    let a = server.register(&world, "a").await;
    let mut w = server.watch(pb::WatchCatalogRequest::default()).await;
    let synced = w.synced().await;
    let mut wa = server.synced(of(&[&a.id])).await;
    let answer = server.retitle(&a.id, "t").await;
    let told = w.change().await;
    wa.change().await;
    server.shutdown().begin("the test");
    let mut tokens = Vec::new();
    for watching in [&mut w, &mut wa] {
        match watching.news().await {
            Message::GoingAway(last) => {
                assert_eq!(last.reason(), pb::GoingAwayReason::Draining);
                tokens.push(last.token);
            }
            other => panic!("{other:?}"),
        }
        assert_eq!(watching.next().await.unwrap(), None, "the stream ends well");
    }
    assert!(server.stop().await);

    let server = world.start().await;
    let next = server.retitle(&a.id, "u").await.workspace.unwrap();
    let versions = async |request: pb::WatchCatalogRequest| {
        let (missed, _) = server.watch(request).await.caught_up().await;
        missed.iter().map(|change| change.version).collect::<Vec<_>>()
    };
    assert_eq!(versions(resumed(&synced)).await, [told.version, next.version]);
    assert_eq!(versions(resumed(&told.token)).await, [next.version]);
    assert_eq!(versions(resumed(&tokens[0])).await, [next.version]);
    let of_a = pb::WatchCatalogRequest {
        resume_token: tokens[1].clone(),
        ..of(&[&a.id])
    };
    assert_eq!(versions(of_a).await, [next.version]);
    let from_answer = versions(resumed(&answer.revision)).await;
    assert!(
        from_answer.ends_with(&[told.version, next.version]),
        "{from_answer:?}"
    );
}

/// What a kill leaves: on SQLite the files as they are at that moment, on Postgres what the database has.
async fn n123_an_answered_write_is_there_after_a_kill(mut world: World) {
    let killed = world.start().await;
    let a = killed.register(&world, "a").await;
    let token = killed
        .watch(pb::WatchCatalogRequest::default())
        .await
        .synced()
        .await;
    let written = killed.retitle(&a.id, "t").await.workspace.unwrap();
    if let StoreAddress::SqliteFile(path) = &world.address {
        let left = world.path("left.db");
        for suffix in ["", "-wal"] {
            let name = |path: &std::path::Path| format!("{}{suffix}", path.display());
            std::fs::copy(name(path), name(&left)).unwrap();
        }
        world.address = StoreAddress::SqliteFile(left);
    }
    let server = world.start().await;
    let (missed, _) = server.watch(resumed(&token)).await.caught_up().await;
    assert_eq!(
        missed.iter().map(|change| change.version).collect::<Vec<_>>(),
        [written.version]
    );
}
