//! Epochs (cases section 17): a token of another one, or of a position that does not exist yet, starts over.

use compozy_domain::{ChangeReason, NewChange, Revision};
use compozy_proto::change::v1 as pb;
use compozy_proto::change::v1::watch_catalog_response::Message;
use compozy_server::resume_token;
use compozy_store::CatalogStore as _;
use compozy_store::conformance::execute;

use crate::client::{from, of, resumed};
use crate::entries::session;
use crate::world::{Options, World, until};

const EPOCH: &str = "01J0ZK3M5N7P9Q1R3S5T7V9WXY";

cases! {
    n190_a_position_above_the_head_starts_over,
    n190_a_new_epoch_under_open_watches,
    n190_another_epoch_is_told_once,
    what_a_log_has_lost_is_not_told_from_memory,
}

replica_cases! {
    n190_a_new_epoch_by_another_process,
}

async fn n190_a_position_above_the_head_starts_over(world: World) {
    let server = world.start().await;
    let a = server.register(&world, "a").await;
    for on_expired in [pb::OnExpired::Fail, pb::OnExpired::Resync] {
        let present = server.watches.log.present().await.unwrap();
        let ahead = Revision {
            epoch: present.epoch.to_string(),
            position: present.head + 1,
        };
        let token = resume_token::encode(&server.watches.seal, &ahead);
        let mut w = server
            .watch(pb::WatchCatalogRequest {
                on_expired: on_expired.into(),
                ..resumed(&token)
            })
            .await;
        assert_eq!(w.resync().await.reason(), pb::ResyncReason::Epoch);
        w.synced().await;
        let written = server
            .retitle(&a.id, on_expired.as_str_name())
            .await
            .workspace
            .unwrap();
        assert_eq!(w.change().await.version, written.version);
    }
}

async fn n190_a_new_epoch_under_open_watches(world: World) {
    let server = world.start().await;
    let a = server.register(&world, "a").await;
    let mut w = server.watch(pb::WatchCatalogRequest::default()).await;
    let token = w.synced().await;
    let mut wa = server.synced(of(&[&a.id])).await;
    let page = server.page().await.1.revision;
    server.store.new_epoch(EPOCH).await.unwrap();
    let resync = w.resync().await;
    assert_eq!(
        (resync.reason(), resync.workspace_ids.len()),
        (pb::ResyncReason::Epoch, 0)
    );
    assert_eq!(wa.resync().await.workspace_ids, [a.id.clone()]);
    let written = server.retitle(&a.id, "t").await.workspace.unwrap();
    for watching in [&mut w, &mut wa] {
        assert_eq!(watching.change().await.version, written.version);
    }
    // Of before: over again. Since then: goes on.
    for old in [&token, &page] {
        let mut again = server.watch(resumed(old)).await;
        assert_eq!(again.resync().await.reason(), pb::ResyncReason::Epoch);
        again.synced().await;
    }
    let (missed, _) = server.watch(resumed(&resync.token)).await.caught_up().await;
    assert_eq!(
        missed.iter().map(|change| change.version).collect::<Vec<_>>(),
        [written.version]
    );
    assert_eq!(
        server
            .metric("compozy_watch_resyncs_total{reason=\"epoch\"}")
            .await,
        4.0
    );
}

async fn n190_a_new_epoch_by_another_process(world: World) {
    let (one, two) = (world.start().await, world.start().await);
    let a = one.register(&world, "a").await;
    let mut w = two.watch(pb::WatchCatalogRequest::default()).await;
    let token = w.synced().await;
    one.store.new_epoch(EPOCH).await.unwrap();
    assert_eq!(w.resync().await.reason(), pb::ResyncReason::Epoch);
    let mut again = two.watch(resumed(&token)).await;
    assert_eq!(again.resync().await.reason(), pb::ResyncReason::Epoch);
    let written = one.retitle(&a.id, "t").await.workspace.unwrap();
    assert_eq!(w.change().await.version, written.version);
}

/// Entries of so many sessions.
fn sessions(name: &str, count: usize) -> Vec<NewChange> {
    let one = |number| session(&format!("{name}-{number}"), ChangeReason::State, None);
    (0..count).map(one).collect()
}

/// A server that keeps next to nothing in memory.
fn forgetful() -> Options {
    let mut options = Options::default();
    options.settings.recent_entries = 10;
    options
}

async fn n190_another_epoch_is_told_once(world: World) {
    let server = world.start_with(forgetful()).await;
    server.append(&world, &sessions("old", 6_000)).await;
    let mut w = server.watch(from(pb::WatchStart::Earliest)).await;
    w.message().await;
    let sql = "UPDATE change_head SET epoch = '01J0ZK3M5N7P9Q1R3S5T7V9WXZ'";
    execute(&server.store, sql).await.unwrap();
    let mut resyncs = Vec::new();
    loop {
        match w.message().await {
            Message::Resync(resync) => resyncs.push(resync),
            // On from now: this one is the only one.
            Message::Synced(_) => break,
            _ => {}
        }
    }
    server.append(&world, &sessions("new", 1)).await;
    assert_eq!(w.change().await.session_id, "new-0");
    assert_eq!(resyncs.len(), 1, "{resyncs:?}");
    assert_eq!(resyncs[0].reason(), pb::ResyncReason::Epoch);
    let (missed, _) = server.watch(resumed(&resyncs[0].token)).await.caught_up().await;
    assert_eq!(missed.len(), 1, "its token is good");
}

async fn what_a_log_has_lost_is_not_told_from_memory(world: World) {
    let server = world.start_with(forgetful()).await;
    server.append(&world, &sessions("old", 580)).await;
    server.append(&world, &sessions("old", 20)).await;
    let (all, _) = server
        .watch(from(pb::WatchStart::Earliest))
        .await
        .caught_up()
        .await;
    assert_eq!(all.len(), 600);
    for sql in [
        "DELETE FROM change WHERE position > 100",
        "UPDATE change_head SET head = 100",
    ] {
        execute(&server.store, sql).await.unwrap();
    }
    until("the reader sees it", async || {
        server.watches.log.present().await.unwrap().head == 100
    })
    .await;
    for _ in 0..3 {
        server.append(&world, &sessions("new", 300)).await;
    }
    let (all, _) = server
        .watch(from(pb::WatchStart::Earliest))
        .await
        .caught_up()
        .await;
    let lost = all
        .iter()
        .skip(100)
        .filter(|change| change.session_id.starts_with("old"));
    assert_eq!((all.len(), lost.count()), (1_000, 0));
}
