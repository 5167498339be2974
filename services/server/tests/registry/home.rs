//! The default workspace (cases sections 8 and 16).

use std::fs;

use compozy_server::registry::Parts;
use tonic::Code;

use crate::requests::{discover, register, remove};
use crate::tree::{chmod, exists, mode};
use crate::world::{World, file_of};

cases! {
    w240_w241_the_first_start_registers_the_home,
    w242_a_removed_home_does_not_come_back,
    w243_register_home_may_be_off,
    a_home_that_can_not_be_registered_fails_no_start,
    w245_w246_the_default_workspace_owns_its_root_only,
    w247_the_daemons_home_lies_in_the_home,
    w339_a_home_registered_by_hand_owns_its_tree,
}

async fn w240_w241_the_first_start_registers_the_home(mut world: World) {
    start(&mut world).await;
    let rows = world.rows().await;
    assert_eq!(rows.len(), 1);
    assert!(rows[0].is_default);
    assert_eq!(rows[0].root_dir, world.t);
    start(&mut world).await;
    assert_eq!(world.rows().await, rows);
}

async fn w242_a_removed_home_does_not_come_back(mut world: World) {
    start(&mut world).await;
    let row = world.rows().await.remove(0);
    world.daemon.api.remove(remove(&row.id)).await.unwrap();
    for _ in 0..2 {
        start(&mut world).await;
        assert_eq!(world.total().await, 0);
    }
}

async fn w243_register_home_may_be_off(world: World) {
    world.daemon.registry.register_home().await.unwrap();
    assert_eq!(world.total().await, 0);
}

async fn a_home_that_can_not_be_registered_fails_no_start(mut world: World) {
    chmod(&world.t, 0o555);
    start(&mut world).await;
    assert_eq!(world.total().await, 0);
    chmod(&world.t, 0o755);
}

async fn w245_w246_the_default_workspace_owns_its_root_only(mut world: World) {
    let project = world.mkdir("proj");
    start(&mut world).await;
    let found = world
        .daemon
        .api
        .discover(discover(&world.t))
        .await
        .unwrap()
        .workspace
        .unwrap();
    assert!(found.is_default);
    let call = world.daemon.api.discover(discover(&project));
    world.refused(Code::NotFound, "WORKSPACE_NOT_FOUND", call).await;
    let request = compozy_proto::workspace::v1::RegisterWorkspaceRequest {
        reuse_enclosing: true,
        ..register(&project)
    };
    let answer = world.daemon.api.register(request).await.unwrap();
    assert!(answer.created);
    assert_eq!(answer.workspace.unwrap().root_dir, project);
}

async fn w247_the_daemons_home_lies_in_the_home(mut world: World) {
    let inside = world.mkdir(".compozy");
    chmod(&inside, 0o700);
    let home = inside.clone();
    restart(&mut world, |parts| parts.settings.catalog_home = home).await;
    assert_eq!(world.rows().await[0].root_dir, world.t);
    assert!(exists(&format!("{inside}/workspace.toml")));
    assert_eq!(fs::read_to_string(file_of(&world.t)).unwrap().lines().count(), 3);
    assert_eq!(mode(&inside), 0o700);
}

async fn w339_a_home_registered_by_hand_owns_its_tree(world: World) {
    let row = world.reg(&world.t).await;
    assert!(!row.is_default);
    let found = world
        .daemon
        .api
        .discover(discover(world.mkdir("proj")))
        .await
        .unwrap();
    assert_eq!(found.workspace.unwrap().id, row.id);
}

async fn start(world: &mut World) {
    restart(world, |_| {}).await;
}

async fn restart(world: &mut World, change: impl FnOnce(&mut Parts)) {
    world
        .restart(|parts| {
            parts.settings.register_home = true;
            change(parts);
        })
        .await;
    world.daemon.registry.register_home().await.unwrap();
}
