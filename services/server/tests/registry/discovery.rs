//! Discovery (cases section 6).

use std::fs;

use compozy_proto::workspace::v1 as pb;
use compozy_proto::workspace::v1::DiscoveryMethod as Method;
use compozy_proto::workspace::v1::workspace_ref::Form;
use tonic::Code;

use crate::requests::{discover, get, register};
use crate::tree::{chmod, exists};
use crate::world::World;

cases! {
    w161_w162_w163_containment_is_by_component,
    w164_w165_a_link_leads_out,
    w166_additional_directories_own_nothing,
    w170_other_roots_that_are_gone_or_closed_play_no_part,
    w173_discovery_writes_nothing,
    w174_an_enclosing_root_is_reused,
    w175_a_directory_that_nothing_encloses,
    w176_many_at_once_make_one,
    w177_w178_nested_registrations,
}

async fn w161_w162_w163_containment_is_by_component(world: World) {
    world.reg_new("w/alpha").await;
    unowned(&world, &world.mkdir("w/alpha-2/x")).await;
    world.reg_new("w/alpha-2").await;
    assert_eq!(owner(&world, &world.path("w/alpha-2/x")).await.0, "alpha-2");
    world.reg_new("w").await;
    world.reg_new("w/app").await;
    assert_eq!(
        owner(&world, &world.mkdir("w/app/pkg")).await,
        ("app".to_owned(), Method::Ancestor)
    );
    assert_eq!(
        owner(&world, &world.mkdir("w/app2")).await,
        ("w".to_owned(), Method::Ancestor)
    );
    assert_eq!(
        owner(&world, &world.path("w")).await,
        ("w".to_owned(), Method::Root)
    );
}

async fn w164_w165_a_link_leads_out(world: World) {
    world.reg_new("a").await;
    world.reg_new("b").await;
    let into_b = world.link(&world.mkdir("b/inside"), "a/to-b");
    let into_nothing = world.link(&world.mkdir("free"), "a/to-free");
    let found = world.daemon.api.discover(discover(&into_b)).await.unwrap();
    assert_eq!(found.canonical_path, world.path("b/inside"));
    assert_eq!(found.workspace.unwrap().name.as_deref(), Some("b"));
    unowned(&world, &into_nothing).await;
}

async fn w166_additional_directories_own_nothing(world: World) {
    let (a, b) = (world.mkdir("a"), world.mkdir("b"));
    let x = world.mkdir("b/x");
    let request = pb::RegisterWorkspaceRequest {
        additional_dirs: vec![b.clone()],
        ..register(a)
    };
    world.daemon.api.register(request).await.unwrap();
    unowned(&world, &x).await;
    world.reg(&b).await;
    assert_eq!(owner(&world, &x).await.0, "b");
}

async fn w170_other_roots_that_are_gone_or_closed_play_no_part(world: World) {
    world.reg_new("top").await;
    for name in ["top/gone", "top/closed", "top/good"] {
        world.reg_new(name).await;
    }
    fs::remove_dir_all(world.path("top/gone")).unwrap();
    chmod(&world.path("top/closed"), 0);
    assert_eq!(owner(&world, &world.mkdir("top/good/x")).await.0, "good");
    assert_eq!(owner(&world, &world.mkdir("top/other")).await.0, "top");
    chmod(&world.path("top/closed"), 0o755);
}

async fn w173_discovery_writes_nothing(world: World) {
    world.reg_new("a").await;
    let path = world.mkdir("a/x");
    world
        .unchanged_by(async {
            for _ in 0..100 {
                world.daemon.api.discover(discover(&path)).await.unwrap();
                world.daemon.api.get(get(Form::Path(path.clone()))).await.unwrap();
            }
        })
        .await;
}

async fn w174_an_enclosing_root_is_reused(world: World) {
    let root = world.reg_new("r").await;
    let sub = world.mkdir("r/sub");
    let answer = world
        .unchanged_by(world.daemon.api.register(reuse(&sub)))
        .await
        .unwrap();
    assert!(!answer.created);
    assert_eq!(answer.workspace, Some(root));
    assert!(!exists(&format!("{sub}/.compozy")));
}

async fn w175_a_directory_that_nothing_encloses(world: World) {
    world.mkdir("p/.git");
    let sub = world.mkdir("p/sub");
    let answer = world.daemon.api.register(reuse(&sub)).await.unwrap();
    assert!(answer.created);
    assert_eq!(answer.workspace.unwrap().root_dir, sub);
}

async fn w176_many_at_once_make_one(world: World) {
    let root = world.mkdir("a");
    world.mkdir("x");
    let one = world.link(&root, "one");
    let two = world.link(&one, "two");
    let spellings = [
        root.clone(),
        format!("{}/./a", world.t),
        format!("{}/x/../a", world.t),
        one,
        two,
    ];
    let mut calls = tokio::task::JoinSet::new();
    for at in 0..100 {
        let (api, path) = (world.daemon.api.clone(), spellings[at % spellings.len()].clone());
        calls.spawn(async move { api.register(reuse(&path)).await.unwrap() });
    }
    let answers = calls.join_all().await;
    assert_eq!(answers.iter().filter(|answer| answer.created).count(), 1);
    let mut ids: Vec<_> = answers
        .into_iter()
        .map(|answer| answer.workspace.unwrap().id)
        .collect();
    ids.dedup();
    assert_eq!(ids.len(), 1);
    assert_eq!(world.total().await, 1);
}

async fn w177_w178_nested_registrations(world: World) {
    world.reg_new("r/middle").await;
    world.reg_new("r/middle/sub").await;
    world.reg_new("r").await;
    assert_eq!(owner(&world, &world.mkdir("r/middle/sub/x")).await.0, "sub");
    assert_eq!(owner(&world, &world.mkdir("r/middle/x")).await.0, "middle");
    assert_eq!(owner(&world, &world.mkdir("r/x")).await.0, "r");
}

file_cases! {
    w171_a_path_that_can_not_be_looked_at,
    w179_reuse_needs_an_existing_directory,
    a_root_that_was_renamed_away_and_replaced_is_its_path,
}

async fn w171_a_path_that_can_not_be_looked_at(world: World) {
    world.reg_new("a").await;
    let path = world.mkdir("a/closed/x");
    chmod(&world.path("a/closed"), 0);
    let call = world.daemon.api.discover(discover(&path));
    world
        .refused(Code::PermissionDenied, "PATH_UNREADABLE", call)
        .await;
    chmod(&world.path("a/closed"), 0o755);
}

async fn w179_reuse_needs_an_existing_directory(world: World) {
    world.reg_new("a").await;
    world
        .reg_refused(Code::NotFound, "PATH_NOT_FOUND", reuse(&world.path("a/none")))
        .await;
}

async fn a_root_that_was_renamed_away_and_replaced_is_its_path(world: World) {
    let row = world.reg_new("a").await;
    fs::rename(world.path("a"), world.path("b")).unwrap();
    // The recorded inode is at another path now, but the row's own path does not lead there.
    unowned(&world, &world.path("b")).await;
    world.mkdir("a");
    assert_eq!(
        owner(&world, &world.path("a")).await,
        (row.name.unwrap(), Method::Root)
    );
}

fn reuse(path: &str) -> pb::RegisterWorkspaceRequest {
    pb::RegisterWorkspaceRequest {
        reuse_enclosing: true,
        ..register(path)
    }
}

/// Name of the owner of a path, the same by discovery and by reference.
async fn owner(world: &World, path: &str) -> (String, Method) {
    let found = world.daemon.api.discover(discover(path)).await.unwrap();
    let method = found.method();
    let workspace = found.workspace.unwrap();
    let by_reference = world
        .daemon
        .api
        .get(get(Form::Path(path.to_owned())))
        .await
        .unwrap();
    assert_eq!(by_reference.workspace.as_ref(), Some(&workspace));
    (workspace.name.unwrap(), method)
}

async fn unowned(world: &World, path: &str) {
    world
        .refused(
            Code::NotFound,
            "WORKSPACE_NOT_FOUND",
            world.daemon.api.discover(discover(path)),
        )
        .await;
    let call = world.daemon.api.get(get(Form::Path(path.to_owned())));
    world.refused(Code::NotFound, "WORKSPACE_NOT_FOUND", call).await;
}
