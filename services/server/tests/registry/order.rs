//! The manual order (cases section 7).

use std::time::Duration;

use compozy_domain::{ChangeKind, ChangeReason};
use tonic::Code;

use crate::requests::moved;
use crate::world::{World, workspace_of};

cases! {
    w201_a_move_in_front_of_another,
    w202_a_move_to_the_end,
    w203_a_place_that_it_has,
    w204_unknown_ones_the_moved_one_first,
    w298_two_starts_show_one_order,
}

async fn w201_a_move_in_front_of_another(world: World) {
    let ids = three(&world).await;
    let before = world.rows().await;
    world.clock.advance(Duration::from_secs(1));
    let changes = world.changes().await.len();
    let answer = world
        .daemon
        .api
        .move_workspace(moved(&ids[0], Some(&ids[1])))
        .await
        .unwrap();
    assert!(answer.moved && !answer.revision.is_empty());
    assert_eq!(
        (answer.previous_id, answer.next_id),
        (ids[2].clone(), ids[1].clone())
    );
    assert_eq!(world.order().await, ["c", "a", "b"]);
    // Nobody's record moved.
    let mut after = world.rows().await;
    after.swap(1, 2);
    assert_eq!(before, after);
    let new = world.changes().await.split_off(changes);
    assert_eq!(new.len(), 1);
    let change = &new[0].change;
    assert_eq!(
        (change.kind, change.reason),
        (ChangeKind::WorkspaceOrder, ChangeReason::Moved)
    );
    assert_eq!(workspace_of(change), ids[0]);
}

async fn w202_a_move_to_the_end(mut world: World) {
    let ids = three(&world).await;
    let answer = world
        .daemon
        .api
        .move_workspace(moved(&ids[2], None))
        .await
        .unwrap();
    assert_eq!(
        (answer.previous_id, answer.next_id.as_str()),
        (ids[0].clone(), "")
    );
    assert_eq!(world.order().await, ["b", "a", "c"]);
    world.restart(|_| {}).await;
    assert_eq!(world.order().await, ["b", "a", "c"]);
}

async fn w203_a_place_that_it_has(world: World) {
    let ids = three(&world).await;
    for (id, before) in [
        (&ids[1], Some(&ids[1])),
        (&ids[2], Some(&ids[1])),
        (&ids[0], None),
    ] {
        let request = moved(id, before.map(String::as_str));
        let answer = world
            .unchanged_by(world.daemon.api.move_workspace(request))
            .await
            .unwrap();
        assert!(!answer.moved);
    }
}

async fn w204_unknown_ones_the_moved_one_first(world: World) {
    let ids = three(&world).await;
    let (unknown, other) = ("ws_0000000000000001", "ws_0000000000000002");
    for (id, before, named) in [
        (unknown, ids[1].as_str(), unknown),
        (ids[0].as_str(), unknown, unknown),
        (unknown, other, unknown),
    ] {
        let call = world.daemon.api.move_workspace(moved(id, Some(before)));
        let failure = world.refused(Code::NotFound, "WORKSPACE_NOT_FOUND", call).await;
        assert_eq!(failure.metadata["reference"], named);
    }
}

async fn w298_two_starts_show_one_order(mut world: World) {
    for name in ["e", "d", "c", "b", "a"] {
        world.reg_new(name).await;
    }
    let before = world.rows().await;
    world.restart(|_| {}).await;
    assert_eq!(world.rows().await, before);
}

/// Ids of `a`, `b`, `c`, in the order `c, b, a`.
async fn three(world: &World) -> Vec<String> {
    let mut ids = Vec::new();
    for name in ["a", "b", "c"] {
        ids.push(world.reg_new(name).await.id);
    }
    assert_eq!(world.order().await, ["c", "b", "a"]);
    ids
}
