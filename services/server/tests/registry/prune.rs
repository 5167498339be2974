//! Pruning (cases section 8).

use std::fs;
use std::time::Duration;

use compozy_proto::workspace::v1 as pb;
use tonic::Code;

use crate::requests::prune;
use crate::tree::chmod;
use crate::world::World;

const DAY: u64 = 86_400;

cases! {
    w234_w235_only_what_was_seen_missing_for_so_long,
    w237_an_unreadable_root_is_never_pruned,
    w238_time_without_observations_does_not_count,
    w239_a_root_that_came_back_counts_anew,
    a_root_that_is_back_just_now_is_kept,
}

async fn w234_w235_only_what_was_seen_missing_for_so_long(world: World) {
    let gone = world.reg_new("gone").await;
    world.reg_new("kept").await;
    look(&world).await;
    fs::remove_dir_all(world.path("gone")).unwrap();
    look(&world).await;
    world.clock.advance(Duration::from_secs(30 * DAY - 3_600));
    look(&world).await;
    assert_eq!(pruned(&world, prune(30, false)).await, Vec::<String>::new());
    world.clock.advance(Duration::from_secs(3_600));
    look(&world).await;
    let tried = world.unchanged_by(pruned(&world, prune(30, true))).await;
    assert_eq!(tried, [gone.id.clone()]);
    assert_eq!(pruned(&world, prune(30, false)).await, [gone.id]);
    assert_eq!(world.order().await, ["kept"]);
    assert_eq!(pruned(&world, prune(30, false)).await, Vec::<String>::new());
}

async fn w237_an_unreadable_root_is_never_pruned(world: World) {
    world.reg_new("p/a").await;
    chmod(&world.path("p"), 0);
    for _ in 0..12 {
        world.clock.advance(Duration::from_secs(31 * DAY));
        look(&world).await;
    }
    assert_eq!(pruned(&world, prune(30, false)).await, Vec::<String>::new());
    assert_eq!(world.total().await, 1);
    chmod(&world.path("p"), 0o755);
}

async fn w238_time_without_observations_does_not_count(mut world: World) {
    world.reg_new("a").await;
    look(&world).await;
    fs::remove_dir_all(world.path("a")).unwrap();
    world.clock.advance(Duration::from_secs(60 * DAY));
    world.restart(|_| {}).await;
    look(&world).await;
    assert_eq!(pruned(&world, prune(30, false)).await, Vec::<String>::new());
    assert_eq!(world.total().await, 1);
}

async fn w239_a_root_that_came_back_counts_anew(world: World) {
    world.reg_new("a").await;
    fs::rename(world.path("a"), world.path("away")).unwrap();
    look(&world).await;
    world.clock.advance(Duration::from_secs(15 * DAY));
    fs::rename(world.path("away"), world.path("a")).unwrap();
    look(&world).await;
    world.clock.advance(Duration::from_secs(DAY));
    fs::rename(world.path("a"), world.path("away")).unwrap();
    look(&world).await;
    world.clock.advance(Duration::from_secs(15 * DAY));
    look(&world).await;
    assert_eq!(pruned(&world, prune(30, false)).await, Vec::<String>::new());
}

async fn a_root_that_is_back_just_now_is_kept(world: World) {
    world.reg_new("a").await;
    fs::rename(world.path("a"), world.path("away")).unwrap();
    look(&world).await;
    world.clock.advance(Duration::from_secs(31 * DAY));
    look(&world).await;
    fs::rename(world.path("away"), world.path("a")).unwrap();
    assert_eq!(pruned(&world, prune(30, true)).await, Vec::<String>::new());
    assert_eq!(pruned(&world, prune(30, false)).await, Vec::<String>::new());
    assert_eq!(world.total().await, 1);
}

file_cases! {
    a_span_of_a_minute_or_more_is_required,
}

async fn a_span_of_a_minute_or_more_is_required(world: World) {
    let span = |seconds, nanos| Some(prost_types::Duration { seconds, nanos });
    for missing_for in [None, span(59, 999_999_999), span(-60, 0), span(100, -1)] {
        let request = pb::PruneWorkspacesRequest {
            missing_for,
            ..prune(1, false)
        };
        let call = world.daemon.api.prune(request);
        assert_eq!(
            world
                .refused(Code::InvalidArgument, "INVALID_FIELD", call)
                .await
                .fields,
            ["missing_for"]
        );
    }
}

async fn look(world: &World) {
    world.daemon.registry.observe_round(Duration::ZERO).await.unwrap();
}

async fn pruned(world: &World, request: pb::PruneWorkspacesRequest) -> Vec<String> {
    let answer = world.daemon.api.prune(request).await.unwrap();
    assert!(!answer.has_more);
    answer.workspaces.into_iter().map(|row| row.id).collect()
}
