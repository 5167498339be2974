//! Statuses: what a look at the roots shows (cases section 7).

use std::fs;
use std::time::{Duration, Instant};

use compozy_proto::workspace::v1 as pb;
use compozy_proto::workspace::v1::WorkspaceStatus as Status;
use rustix::fs::{CWD, FileType, Mode};

use crate::requests::list;
use crate::tree::chmod;
use crate::world::World;

file_cases! {
    w220_nobody_looks_unless_asked,
    w221_a_root_that_does_not_answer,
    w222_each_kind_of_root,
    w223_all_roots_are_away_for_a_while,
}

async fn w220_nobody_looks_unless_asked(world: World) {
    world.reg_new("a").await;
    let calls = world.files.all_calls();
    let page = world.daemon.api.list(list()).await.unwrap();
    assert_eq!(page.workspaces[0].status(), Status::Unspecified);
    assert_eq!(world.files.all_calls(), calls);
}

async fn w221_a_root_that_does_not_answer(world: World) {
    for name in ["a", "slow", "c"] {
        world.reg_new(name).await;
    }
    let held = world.files.hold(world.path("slow"));
    for _ in 0..2 {
        let begun = Instant::now();
        assert_eq!(
            statuses(&world).await,
            [Status::Ok, Status::RootUnreadable, Status::Ok]
        );
        assert!(begun.elapsed() < Duration::from_secs(10));
    }
    drop(held);
    while statuses(&world).await != [Status::Ok; 3] {
        tokio::task::yield_now().await;
    }
}

async fn w222_each_kind_of_root(world: World) {
    for name in ["gone", "closed/x", "fifo", "dangling", "fine"] {
        world.reg_new(name).await;
    }
    fs::remove_dir_all(world.path("gone")).unwrap();
    chmod(&world.path("closed"), 0);
    fs::remove_dir_all(world.path("fifo")).unwrap();
    rustix::fs::mknodat(CWD, world.path("fifo"), FileType::Fifo, Mode::RUSR, 0).unwrap();
    fs::remove_dir_all(world.path("dangling")).unwrap();
    world.link("/nowhere/at/all", "dangling");
    let seen = world.unchanged_by(statuses(&world)).await;
    assert_eq!(
        seen,
        [
            Status::RootMissing,
            Status::RootUnreadable,
            Status::RootNotDirectory,
            Status::RootMissing,
            Status::Ok
        ]
    );
    chmod(&world.path("closed"), 0o755);
}

async fn w223_all_roots_are_away_for_a_while(world: World) {
    for name in ["disk/a", "disk/b", "disk/c"] {
        world.reg_new(name).await;
    }
    fs::rename(world.path("disk"), world.path("unmounted")).unwrap();
    for _ in 0..5 {
        let seen = world.unchanged_by(statuses(&world)).await;
        assert_eq!(seen, [Status::RootMissing; 3]);
    }
    fs::rename(world.path("unmounted"), world.path("disk")).unwrap();
    assert_eq!(statuses(&world).await, [Status::Ok; 3]);
}

/// Statuses of a page, oldest registration first.
async fn statuses(world: &World) -> Vec<Status> {
    let request = pb::ListWorkspacesRequest {
        include_status: true,
        ..list()
    };
    let page = world.daemon.api.list(request).await.unwrap();
    assert_eq!(
        page.page.unwrap().total,
        i64::try_from(page.workspaces.len()).unwrap()
    );
    page.workspaces.iter().rev().map(pb::Workspace::status).collect()
}
