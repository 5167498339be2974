//! The observer (cases sections 6, 8 and 16).

use std::fs;
use std::time::Duration;

use compozy_domain::ChangeReason;
use compozy_proto::workspace::v1 as pb;
use compozy_proto::workspace::v1::WorkspaceStatus as Status;

use crate::requests::list;
use crate::world::World;

cases! {
    w338_a_status_filter_is_what_was_last_seen,
    a_change_of_status_is_one_change,
    rounds_are_claimed,
    a_retargeted_root_is_refreshed,
    a_root_that_now_leads_to_a_forbidden_place_stays,
    a_root_that_now_leads_to_anothers_stays,
    a_woken_observer_looks_at_once,
}

async fn w338_a_status_filter_is_what_was_last_seen(world: World) {
    world.reg_new("a").await;
    let ok = pb::ListWorkspacesRequest {
        statuses: vec![Status::Ok.into()],
        ..list()
    };
    let unseen = pb::ListWorkspacesRequest {
        not_observed: true,
        ..list()
    };
    assert_eq!((total(&world, &ok).await, total(&world, &unseen).await), (0, 1));
    assert!(look(&world).await);
    assert_eq!((total(&world, &ok).await, total(&world, &unseen).await), (1, 0));
    // The filter does not look by itself.
    fs::remove_dir_all(world.path("a")).unwrap();
    assert_eq!(total(&world, &ok).await, 1);
}

async fn a_change_of_status_is_one_change(world: World) {
    let row = world.reg_new("a").await;
    look(&world).await;
    let changes = world.changes().await.len();
    world.unchanged_by(look(&world)).await;
    fs::rename(world.path("a"), world.path("away")).unwrap();
    look(&world).await;
    look(&world).await;
    fs::rename(world.path("away"), world.path("a")).unwrap();
    look(&world).await;
    let new = world.changes().await.split_off(changes);
    assert_eq!(new.len(), 2);
    assert!(
        new.iter()
            .all(|entry| entry.change.reason == ChangeReason::Status)
    );
    let after = world.record(&row.id).await;
    assert_eq!(
        (after.version, after.etag, after.updated_at),
        (3, row.etag, row.updated_at)
    );
}

async fn rounds_are_claimed(world: World) {
    world.reg_new("a").await;
    let registry = &world.daemon.registry;
    assert!(registry.observe_round(Duration::from_secs(50)).await.unwrap());
    assert!(!registry.observe_round(Duration::from_secs(50)).await.unwrap());
    let replica = world.start(|_| {}).await;
    assert!(
        !replica
            .registry
            .observe_round(Duration::from_secs(50))
            .await
            .unwrap()
    );
    world.clock.advance(Duration::from_secs(60));
    assert!(
        replica
            .registry
            .observe_round(Duration::from_secs(50))
            .await
            .unwrap()
    );
}

async fn a_retargeted_root_is_refreshed(world: World) {
    let before = world.reg_new("v/a").await;
    fs::create_dir(world.path("private")).unwrap();
    fs::rename(world.path("v"), world.path("private/v")).unwrap();
    world.link(&world.path("private/v"), "v");
    assert_eq!(world.record(&before.id).await.root_dir, world.path("v/a"));
    let changes = world.changes().await.len();
    world.clock.advance(Duration::from_secs(60));
    look(&world).await;
    let after = world.record(&before.id).await;
    assert_eq!(
        (&after.id, after.root_dir),
        (&before.id, world.path("private/v/a"))
    );
    let new = world.changes().await.split_off(changes);
    assert_eq!(new.len(), 1);
    assert_eq!(new[0].change.reason, ChangeReason::Relinked);
}

async fn a_root_that_now_leads_to_anothers_stays(world: World) {
    let first = world.reg_new("a").await;
    world.reg_new("b").await;
    look(&world).await;
    fs::remove_dir_all(world.path("a")).unwrap();
    world.link(&world.path("b"), "a");
    world.clock.advance(Duration::from_secs(60));
    look(&world).await;
    assert_eq!(world.record(&first.id).await.root_dir, first.root_dir);
}

/// A link can't make a workspace of what a registration would have refused.
async fn a_root_that_now_leads_to_a_forbidden_place_stays(world: World) {
    let row = world.reg_new("in/a").await;
    let allowed = world.path("in");
    let daemon = world
        .start(|parts| parts.settings.allowed_roots = vec![allowed])
        .await;
    let changes = world.changes().await.len();
    for target in [world.home.clone(), "/".to_owned(), world.mkdir("out")] {
        let _ = fs::remove_file(&row.root_dir);
        let _ = fs::remove_dir_all(&row.root_dir);
        world.link(&target, "in/a");
        world.clock.advance(Duration::from_secs(60));
        assert!(daemon.registry.observe_round(Duration::ZERO).await.unwrap());
        assert_eq!(world.record(&row.id).await.root_dir, row.root_dir, "{target}");
    }
    let new = world.changes().await.split_off(changes);
    assert!(
        new.iter()
            .all(|entry| entry.change.reason == ChangeReason::Status)
    );
}

async fn a_woken_observer_looks_at_once(world: World) {
    world.reg_new("a").await;
    let tasks = compozy_server::tasks::Tasks::new();
    let registry = std::sync::Arc::clone(&world.daemon.registry);
    let observer = tasks.spawn(registry.run_observer(tasks.stopping()));
    let gone = pb::ListWorkspacesRequest {
        statuses: vec![Status::RootMissing.into()],
        ..list()
    };
    let ok = pb::ListWorkspacesRequest {
        statuses: vec![Status::Ok.into()],
        ..list()
    };
    while total(&world, &ok).await != 1 {
        tokio::task::yield_now().await;
    }
    fs::remove_dir_all(world.path("a")).unwrap();
    world.clock.advance(Duration::from_secs(5));
    world.daemon.registry.wake_observer();
    while total(&world, &gone).await != 1 {
        tokio::task::yield_now().await;
    }
    assert!(tasks.join(Duration::from_secs(20)).await);
    observer.await.unwrap();
}

/// One round now; the clock goes on by a little, so that the next one is due.
async fn look(world: &World) -> bool {
    world.clock.advance(Duration::from_secs(1));
    world.daemon.registry.observe_round(Duration::ZERO).await.unwrap()
}

async fn total(world: &World, request: &pb::ListWorkspacesRequest) -> i64 {
    world
        .daemon
        .api
        .list(request.clone())
        .await
        .unwrap()
        .page
        .unwrap()
        .total
}
