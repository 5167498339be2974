//! Relinking on request (cases section 2).

use std::fs;

use compozy_domain::ChangeReason;
use compozy_proto::workspace::v1 as pb;
use tonic::Code;

use crate::requests::{ID1, ID2, relink};
use crate::tree::{exists, identity_file};
use crate::world::{World, file_of};

cases! {
    w063_to_a_directory_of_the_same_identity,
    w064_w065_w066_another_identity_needs_force,
    w067_to_a_root_that_another_has,
    w068_to_the_root_it_has,
    a_relink_that_is_only_tried,
    a_stale_etag_relinks_nothing,
}

async fn w063_to_a_directory_of_the_same_identity(world: World) {
    let before = world.reg(world.mkdir_with_id("a", ID1)).await;
    let root = world.mkdir_with_id("b", ID1);
    let changes = world.changes().await.len();
    let answer = world.daemon.api.relink(relink(&before.id, &root)).await.unwrap();
    assert_eq!(answer.relinked_from, Some(world.path("a")));
    let after = answer.workspace.unwrap();
    let expected = pb::Workspace {
        root_dir: root,
        etag: after.etag.clone(),
        version: before.version + 1,
        ..before.clone()
    };
    assert_eq!(after, expected);
    assert_ne!(after.etag, before.etag);
    let new = world.changes().await.split_off(changes);
    assert_eq!(new.len(), 1);
    assert_eq!(new[0].change.reason, ChangeReason::Relinked);
}

async fn w064_w065_w066_another_identity_needs_force(world: World) {
    let row = world.reg(world.mkdir_with_id("a", ID1)).await;
    let other = world.mkdir_with_id("c", ID2);
    let call = world.daemon.api.relink(relink(&row.id, &other));
    let failure = world
        .refused(Code::FailedPrecondition, "IDENTITY_MISMATCH", call)
        .await;
    assert_eq!(
        (
            failure.metadata["expected"].as_str(),
            failure.metadata["found"].as_str()
        ),
        (ID1, ID2)
    );
    let bare = world.mkdir("d");
    let call = world.daemon.api.relink(relink(&row.id, &bare));
    world
        .refused(Code::FailedPrecondition, "IDENTITY_MISMATCH", call)
        .await;
    assert!(!exists(&format!("{bare}/.compozy")));
    let forced = pb::RelinkWorkspaceRequest {
        force: true,
        ..relink(&row.id, &other)
    };
    let after = world.daemon.api.relink(forced).await.unwrap().workspace.unwrap();
    assert_eq!(
        (after.root_dir.as_str(), after.durable_id.as_str()),
        (other.as_str(), ID1)
    );
    assert_eq!(fs::read_to_string(file_of(&other)).unwrap(), identity_file(ID2));
}

async fn w067_to_a_root_that_another_has(world: World) {
    let row = world.reg(world.mkdir_with_id("a", ID1)).await;
    let holder = world.reg(world.mkdir_with_id("b", ID1)).await;
    for force in [false, true] {
        let request = pb::RelinkWorkspaceRequest {
            force,
            ..relink(&row.id, world.path("b"))
        };
        let call = world.daemon.api.relink(request);
        let failure = world
            .refused(Code::AlreadyExists, "WORKSPACE_PATH_CONFLICT", call)
            .await;
        assert_eq!(failure.metadata["holder"], holder.id);
    }
}

async fn w068_to_the_root_it_has(world: World) {
    let row = world.reg_new("a").await;
    let request = relink(&row.id, format!("{}/.", row.root_dir));
    let answer = world
        .unchanged_by(world.daemon.api.relink(request))
        .await
        .unwrap();
    assert_eq!((answer.workspace.unwrap(), answer.relinked_from), (row, None));
}

async fn a_relink_that_is_only_tried(world: World) {
    let row = world.reg(world.mkdir_with_id("a", ID1)).await;
    let root = world.mkdir_with_id("b", ID1);
    let request = pb::RelinkWorkspaceRequest {
        validate_only: true,
        ..relink(&row.id, &root)
    };
    let answer = world
        .unchanged_by(world.daemon.api.relink(request))
        .await
        .unwrap();
    assert_eq!(
        (answer.workspace.unwrap().root_dir, answer.relinked_from),
        (root, Some(row.root_dir))
    );
}

async fn a_stale_etag_relinks_nothing(world: World) {
    let row = world.reg(world.mkdir_with_id("a", ID1)).await;
    let root = world.mkdir_with_id("b", ID1);
    for path in [&root, &row.root_dir] {
        let request = pb::RelinkWorkspaceRequest {
            etag: "old".into(),
            ..relink(&row.id, path)
        };
        world
            .refused(Code::Aborted, "ETAG_MISMATCH", world.daemon.api.relink(request))
            .await;
    }
    let request = pb::RelinkWorkspaceRequest {
        etag: row.etag.clone(),
        ..relink(&row.id, &root)
    };
    assert_eq!(
        world
            .daemon
            .api
            .relink(request)
            .await
            .unwrap()
            .workspace
            .unwrap()
            .root_dir,
        root
    );
}

file_cases! {
    w069_to_no_directory,
    an_invalid_identity_relinks_nothing,
}

async fn w069_to_no_directory(world: World) {
    let row = world.reg_new("a").await;
    fs::write(world.path("file"), "").unwrap();
    let cases = [
        (world.path("none"), Code::NotFound, "PATH_NOT_FOUND"),
        (world.path("file"), Code::InvalidArgument, "PATH_NOT_DIRECTORY"),
        ("b/c".to_owned(), Code::InvalidArgument, "PATH_NOT_ABSOLUTE"),
        (world.home.clone(), Code::FailedPrecondition, "HOME_FORBIDDEN"),
    ];
    for (path, code, reason) in cases {
        world
            .refused(code, reason, world.daemon.api.relink(relink(&row.id, path)))
            .await;
    }
}

async fn an_invalid_identity_relinks_nothing(world: World) {
    let row = world.reg_new("a").await;
    let root = world.mkdir_with_file("b", "workspace_id = 7");
    let call = world.daemon.api.relink(relink(&row.id, root));
    world
        .refused(Code::FailedPrecondition, "IDENTITY_INVALID", call)
        .await;
}
