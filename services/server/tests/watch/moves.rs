//! Sessions that go from one workspace to another (cases sections 6 and 18), as hand-made entries.

use std::collections::{BTreeMap, BTreeSet};

use compozy_domain::ChangeReason;
use compozy_proto::change::v1 as pb;

use crate::client::{entry, of, of_kinds};
use crate::entries::{deleted, moved, removed, session};
use crate::world::World;

cases! {
    n078_n079_detached_and_attached_again,
    n080_n081_n082_moved_between_two_and_deleted,
    n083_a_removal_reaches_who_held_its_sessions,
    n084_who_was_away_is_told_what_left,
    n085_a_model_of_a_workspace_equals_the_truth,
    n194_sessions_without_a_workspace,
}

fn ungrouped() -> pb::WatchCatalogRequest {
    pb::WatchCatalogRequest {
        ungrouped: true,
        ..Default::default()
    }
}

fn places(change: &pb::Change) -> (&str, &str) {
    (&change.workspace_id, &change.from_workspace_id)
}

async fn n078_n079_detached_and_attached_again(world: World) {
    let server = world.start().await;
    let (a, b) = (
        server.register(&world, "a").await.id,
        server.register(&world, "b").await.id,
    );
    let (mut w, mut wa, mut wb) = (
        server.w().await,
        server.synced(of(&[&a])).await,
        server.synced(of(&[&b])).await,
    );
    server
        .append(
            &world,
            &[moved("sess-1", Some(&a), None), moved("sess-1", None, Some(&a))],
        )
        .await;
    server
        .append(&world, &[session("sess-2", ChangeReason::Created, Some(&b))])
        .await;
    let told = wa.changes(2).await;
    assert_eq!(
        told.iter().map(entry).collect::<Vec<_>>(),
        ["session deleted left", "session upserted attached"]
    );
    assert_eq!(
        (places(&told[0]), places(&told[1])),
        ((a.as_str(), ""), (a.as_str(), ""))
    );
    let told = w.changes(2).await;
    assert_eq!(
        told.iter().map(entry).collect::<Vec<_>>(),
        ["session upserted detached", "session upserted attached"]
    );
    assert_eq!(places(&told[0]), ("", a.as_str()));
    assert_eq!(wb.change().await.session_id, "sess-2", "nothing of the other one");
}

async fn n080_n081_n082_moved_between_two_and_deleted(world: World) {
    let server = world.start().await;
    let (a, b) = (
        server.register(&world, "a").await.id,
        server.register(&world, "b").await.id,
    );
    let mut watches = Vec::new();
    for request in [
        of(&[&a]),
        of(&[&b]),
        pb::WatchCatalogRequest::default(),
        of(&[&a, &b]),
    ] {
        watches.push(server.synced(request).await);
    }
    server
        .append(
            &world,
            &[moved("sess-1", Some(&a), Some(&b)), deleted("sess-1", Some(&b))],
        )
        .await;
    server.append(&world, &[deleted("sess-2", Some(&a))]).await;
    let left = watches[0].changes(2).await;
    assert_eq!(
        left.iter().map(entry).collect::<Vec<_>>(),
        ["session deleted left", "session deleted removed"]
    );
    assert_eq!(
        (places(&left[0]), left[1].session_id.as_str()),
        ((a.as_str(), ""), "sess-2")
    );
    for watching in &mut watches[1..] {
        let told = watching.changes(2).await;
        let words: Vec<_> = told.iter().map(entry).collect();
        assert_eq!(words, ["session upserted attached", "session deleted removed"]);
        assert_eq!(places(&told[0]), (b.as_str(), a.as_str()), "both ids");
    }
}

async fn n083_a_removal_reaches_who_held_its_sessions(world: World) {
    let server = world.start().await;
    let (a, b) = (
        server.register(&world, "a").await.id,
        server.register(&world, "b").await.id,
    );
    let requests = [
        of(&[&a]),
        pb::WatchCatalogRequest::default(),
        ungrouped(),
        of_kinds(&[pb::ChangeKind::Session]),
    ];
    let mut watches = Vec::new();
    for request in requests {
        watches.push(server.synced(request).await);
    }
    let mut wb = server.synced(of(&[&b])).await;
    server
        .append(&world, &[removed(&a, ChangeReason::RemovedSessionsKept, 3)])
        .await;
    server
        .append(&world, &[session("sess-b", ChangeReason::State, Some(&b))])
        .await;
    for watching in &mut watches {
        let told = watching.change().await;
        assert_eq!(
            (entry(&told).as_str(), told.workspace_id.as_str()),
            ("workspace deleted removed", a.as_str())
        );
        assert_eq!(
            (told.removed_sessions(), told.session_count),
            (pb::RemovedSessions::Kept, 3)
        );
    }
    assert_eq!(wb.change().await.session_id, "sess-b");
    // No message for a session came with it: what is committed next is what comes next.
    for at in [1, 3] {
        assert_eq!(watches[at].change().await.session_id, "sess-b");
    }
}

async fn n084_who_was_away_is_told_what_left(world: World) {
    let server = world.start().await;
    let a = server.register(&world, "a").await.id;
    let resume_token = server.watch(of(&[&a])).await.synced().await;
    let meanwhile = [
        moved("sess-1", Some(&a), None),
        session("sess-2", ChangeReason::Archived, Some(&a)),
    ];
    server.append(&world, &meanwhile).await;
    let mut again = server
        .watch(pb::WatchCatalogRequest {
            resume_token,
            ..of(&[&a])
        })
        .await;
    let (missed, _) = again.caught_up().await;
    let told: Vec<_> = missed
        .iter()
        .map(|change| (entry(change), change.session_id.as_str()))
        .collect();
    let expected = [
        ("session deleted left".to_owned(), "sess-1"),
        ("session upserted archived".to_owned(), "sess-2"),
    ];
    assert_eq!(told, expected);
}

async fn n085_a_model_of_a_workspace_equals_the_truth(world: World) {
    let server = world.start().await;
    let (a, b) = (
        server.register(&world, "a").await.id,
        server.register(&world, "b").await.id,
    );
    let mut wa = server.synced(of(&[&a])).await;
    let mut truth: BTreeMap<String, Option<&str>> = BTreeMap::new();
    let mut entries = Vec::new();
    let mut dice = 12_345_u64;
    for _ in 0..1_000 {
        dice = dice
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let id = format!("sess-{}", (dice >> 33) % 40);
        let to = [Some(a.as_str()), Some(b.as_str()), None][(dice >> 45) as usize % 3];
        match truth.get(&id).copied() {
            None => {
                entries.push(session(&id, ChangeReason::Created, to));
                truth.insert(id, to);
            }
            Some(from) if from == to => {
                entries.push(deleted(&id, from));
                truth.remove(&id);
            }
            Some(from) => {
                entries.push(moved(&id, from, to));
                truth.insert(id, to);
            }
        }
    }
    server.append(&world, &entries).await;
    server
        .append(&world, &[session("sess-end", ChangeReason::Created, Some(&a))])
        .await;
    let mut model = BTreeSet::new();
    loop {
        let change = wa.change().await;
        if change.session_id == "sess-end" {
            break;
        }
        match change.op() {
            pb::ChangeOp::Deleted => drop(model.remove(&change.session_id)),
            _ => drop(model.insert(change.session_id)),
        }
    }
    let there = truth
        .into_iter()
        .filter(|(_, place)| *place == Some(a.as_str()))
        .map(|(id, _)| id);
    assert_eq!(model, there.collect());
}

async fn n194_sessions_without_a_workspace(world: World) {
    let server = world.start().await;
    let a = server.register(&world, "a").await.id;
    let mut homeless = server.synced(ungrouped()).await;
    let entries = [
        session("sess-u", ChangeReason::Renamed, None),
        moved("sess-1", Some(&a), None),
        moved("sess-1", None, Some(&a)),
        session("sess-1", ChangeReason::Renamed, Some(&a)),
        session("sess-u", ChangeReason::State, None),
    ];
    server.append(&world, &entries).await;
    let expected = [
        "session upserted renamed",
        "session upserted detached",
        "session deleted left",
        "session upserted state",
    ];
    assert_eq!(homeless.entries(4).await, expected);
}
