//! Watches from the revision of a page or of an answer (cases section 3, and W224, W231 of workspaces).

use compozy_proto::change::v1 as pb;

use crate::client::{entry, of, resumed};
use crate::world::World;

cases! {
    n042_w224_from_a_page_nothing_is_missed,
    n043_from_an_answer_its_own_write_comes_first,
    w231_a_removal_is_one_entry,
}

async fn n042_w224_from_a_page_nothing_is_missed(world: World) {
    let server = world.start().await;
    let a = server.register(&world, "a").await;
    server.retitle(&a.id, "shown").await;
    let (rows, page) = server.page().await;
    let one = server.retitle(&a.id, "one").await.workspace.unwrap();
    let two = server.rename(&a.id, "two").await.workspace.unwrap();
    let (changes, _) = server.watch(resumed(&page.revision)).await.caught_up().await;
    let repeated = changes.len() - 2;
    // What the page already shows may be told again; the two come once and in order.
    assert!(
        changes[..repeated]
            .iter()
            .all(|change| change.version <= rows[0].version)
    );
    let versions: Vec<_> = changes[repeated..].iter().map(|change| change.version).collect();
    assert_eq!(versions, [one.version, two.version]);
    // It starts any watch.
    let filtered = pb::WatchCatalogRequest {
        resume_token: page.revision,
        ..of(&[&a.id])
    };
    let (changes, _) = server.watch(filtered).await.caught_up().await;
    assert_eq!(changes.last().unwrap().version, two.version);
}

async fn n043_from_an_answer_its_own_write_comes_first(world: World) {
    let server = world.start().await;
    let a = server.register(&world, "a").await;
    let answer = server.rename(&a.id, "other").await;
    let next = server.retitle(&a.id, "next").await.workspace.unwrap();
    let mut w = server.watch(resumed(&answer.revision)).await;
    let (changes, _) = w.caught_up().await;
    let own = answer.workspace.unwrap();
    let at = changes
        .iter()
        .position(|change| change.version == own.version)
        .expect("its own write");
    assert_eq!(entry(&changes[at]), "workspace upserted renamed");
    let rest: Vec<_> = changes[at..].iter().map(|change| change.version).collect();
    assert_eq!(rest, [own.version, next.version]);
    let live = server.retitle(&a.id, "live").await.workspace.unwrap();
    assert_eq!(w.change().await.version, live.version);
}

async fn w231_a_removal_is_one_entry(world: World) {
    let server = world.start().await;
    let a = server.register(&world, "a").await;
    let b = server.register(&world, "b").await;
    let mut w = server.w().await;
    server.remove(&a.id).await;
    let marker = server.retitle(&b.id, "marker").await.workspace.unwrap();
    let changes = w.changes(2).await;
    assert_eq!(entry(&changes[0]), "workspace deleted removed");
    assert_eq!(changes[0].workspace_id, a.id);
    assert_eq!(changes[0].removed_sessions(), pb::RemovedSessions::Kept);
    assert_eq!(changes[0].session_count, 0, "it had none");
    assert_eq!(
        (changes[1].workspace_id.as_str(), changes[1].version),
        (b.id.as_str(), marker.version)
    );
}
