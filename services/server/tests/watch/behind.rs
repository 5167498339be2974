//! Clients that fall behind what is retained, and those that only seem to (cases section 8).

use compozy_domain::Timestamp;
use compozy_proto::change::v1 as pb;
use compozy_proto::change::v1::watch_catalog_response::Message;
use compozy_store::ChangeLog as _;

use crate::client::{beating, of};
use crate::server::Server;
use crate::slow::{fill, sessions};
use crate::world::{Options, World};

cases! {
    n104_behind_the_floor_one_resync_and_then_what_is_new,
    n105_who_is_behind_with_hidden_changes_only_has_missed_nothing,
}

/// Lets everything go from the log but a number of entries.
async fn trim(server: &Server, entries: u64) {
    while server
        .store
        .trim(Timestamp::from_nanos(0), entries)
        .await
        .unwrap()
        > 0
    {}
    server.watches.log.present().await.unwrap();
}

async fn n104_behind_the_floor_one_resync_and_then_what_is_new(world: World) {
    let mut options = Options::impatient();
    options.settings.recent_entries = 100;
    let server = world.start_with(options).await;
    let a = server.register(&world, "a").await;
    let b = server.register(&world, "b").await;
    let requests = [
        (pb::WatchCatalogRequest::default(), vec![]),
        (of(&[&a.id]), vec![a.id.clone()]),
        (
            of(&[&a.id, &b.id]),
            [&a.id, &b.id].into_iter().cloned().collect::<Vec<_>>(),
        ),
        (
            pb::WatchCatalogRequest {
                ungrouped: true,
                ..of(&[&a.id])
            },
            vec![],
        ),
    ];
    let mut watches = Vec::new();
    for (request, names) in requests {
        watches.push((server.synced(request).await, names));
    }
    fill(&server, &world, &a.id).await;
    server.append(&world, &sessions(0..2_000, &a.id)).await;
    trim(&server, 10).await;
    let head = server.watches.log.known().head;
    for (slow, names) in &mut watches {
        let resync = loop {
            match slow.news().await {
                Message::Changes(_) => {}
                Message::Resync(resync) => break resync,
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(resync.reason(), pb::ResyncReason::Behind);
        let mut named = names.clone();
        named.sort();
        assert_eq!(resync.workspace_ids, named);
        assert!(server.position(&resync.token).await >= head);
    }
    let written = server.retitle(&a.id, "new").await.workspace.unwrap();
    for (slow, _) in &mut watches {
        let change = slow.change().await;
        assert_eq!(
            (change.version, change.session_id.as_str()),
            (written.version, ""),
            "nothing older"
        );
    }
}

async fn n105_who_is_behind_with_hidden_changes_only_has_missed_nothing(world: World) {
    let mut options = Options::impatient();
    options.settings.recent_entries = 100;
    let server = world.start_with(options).await;
    let a = server.register(&world, "a").await;
    let b = server.register(&world, "b").await;
    let mut wa = server.synced(beating(of(&[&a.id]))).await;
    for _ in 0..3 {
        server.append(&world, &sessions(0..2_000, &b.id)).await;
    }
    // Its cursor goes on although its client does not read: the heartbeats say so, which nobody reads either.
    let head = server.watches.log.known().head;
    let mut beat = wa.heartbeat().await;
    while server.position(&beat.token).await < head {
        beat = wa.heartbeat().await;
    }
    trim(&server, 10).await;
    let written = server.retitle(&a.id, "t").await.workspace.unwrap();
    assert_eq!(wa.change().await.version, written.version);
    assert_eq!(
        server
            .metric("compozy_watch_resyncs_total{reason=\"behind\"}")
            .await,
        0.0
    );
}
