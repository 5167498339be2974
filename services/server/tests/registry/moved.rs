//! Directories that were moved or copied (cases sections 2 and 13).

use std::fs;
use std::time::Duration;

use compozy_domain::{ChangeKind, ChangeOp, ChangeReason};
use compozy_proto::workspace::v1 as pb;
use compozy_proto::workspace::v1::{IdentityPolicy as Policy, WorkspaceStatus as Status};
use compozy_resolver::identity;
use tonic::Code;

use crate::requests::{ID1, ID2, discover, named, register};
use crate::tree::{chmod, copy, identity_file};
use crate::world::{World, file_of};

cases! {
    w048_a_move_keeps_everything_but_the_root,
    w049_a_move_that_is_only_tried,
    w051_the_policy_is_about_copies,
    w052_a_move_into_another_workspace,
    a_move_with_other_fields_is_a_conflict,
    w054_a_root_that_comes_back,
    w055_a_new_directory_is_no_moved_one,
    w056_a_copy_shares_the_identity,
    w057_clones_without_identity_share_nothing,
    w058_a_copy_gets_an_identity_of_its_own,
    w059_nothing_to_fork,
    w060_a_copy_that_can_not_be_written,
    a_fork_that_fails_later_has_its_old_bytes_again,
    w062_a_copy_is_refused_with_both_paths,
    w311_a_root_that_can_not_be_seen_is_not_absent,
    w312_a_root_that_was_replaced_is_not_absent,
    two_absent_roots_are_not_one_that_moved,
    another_holder_that_still_carries_the_identity_prevents_a_move,
    w050_a_move_to_another_device,
    two_at_once_move_one_workspace_to_two_places,
}

async fn w048_a_move_keeps_everything_but_the_root(world: World) {
    world.reg_new("x").await;
    let titled = pb::RegisterWorkspaceRequest {
        title: Some("API".into()),
        ..named(world.mkdir("a"), "api")
    };
    let before = world
        .daemon
        .api
        .register(titled)
        .await
        .unwrap()
        .workspace
        .unwrap();
    world.reg_new("z").await;
    world.clock.advance(Duration::from_secs(60));
    rename(&world, "a", "b");
    let changes = world.changes().await.len();
    let answer = world
        .daemon
        .api
        .register(register(world.path("b")))
        .await
        .unwrap();
    assert_eq!(
        (answer.created, answer.relinked_from),
        (false, Some(world.path("a")))
    );
    let after = answer.workspace.unwrap();
    assert_eq!(after.root_dir, world.path("b"));
    assert_eq!(
        (&after.id, &after.name, &after.title),
        (&before.id, &before.name, &before.title)
    );
    assert_eq!(
        (after.created_at, &after.durable_id),
        (before.created_at, &before.durable_id)
    );
    assert!(after.etag != before.etag && after.updated_at != before.updated_at);
    assert_eq!(world.order().await, ["z", "api", "x"]);
    let new = world.changes().await.split_off(changes);
    assert_eq!(new.len(), 1);
    let change = &new[0].change;
    assert_eq!(
        (change.kind, change.op, change.reason),
        (ChangeKind::Workspace, ChangeOp::Upserted, ChangeReason::Relinked)
    );
    assert_eq!(world.status(&after.id).await, Status::Ok);
}

async fn w049_a_move_that_is_only_tried(world: World) {
    let before = world.reg_new("a").await;
    rename(&world, "a", "b");
    let request = pb::RegisterWorkspaceRequest {
        validate_only: true,
        ..register(world.path("b"))
    };
    let answer = world
        .unchanged_by(world.daemon.api.register(request))
        .await
        .unwrap();
    assert_eq!(answer.relinked_from, Some(world.path("a")));
    assert_eq!(answer.workspace.unwrap().id, before.id);
    assert_eq!(world.record(&before.id).await, before);
}

async fn w051_the_policy_is_about_copies(world: World) {
    let before = world.reg_new("a").await;
    rename(&world, "a", "b");
    for policy in [Policy::Reject, Policy::Fork] {
        let answer = world
            .daemon
            .api
            .register(with_policy(&world, "b", policy))
            .await
            .unwrap();
        assert_eq!(answer.workspace.unwrap().id, before.id);
    }
    assert_eq!(world.total().await, 1);
}

async fn w052_a_move_into_another_workspace(world: World) {
    let before = world.reg_new("a").await;
    let mono = world.reg_new("mono").await;
    rename(&world, "a", "mono/a");
    let after = world.reg(world.path("mono/a")).await;
    assert_eq!(after.id, before.id);
    for (path, owner) in [("mono/a/x", &before.id), ("mono/y", &mono.id)] {
        let found = world
            .daemon
            .api
            .discover(discover(world.mkdir(path)))
            .await
            .unwrap();
        assert_eq!(found.workspace.unwrap().id, *owner);
    }
}

async fn a_move_with_other_fields_is_a_conflict(world: World) {
    world
        .daemon
        .api
        .register(named(world.mkdir("a"), "api"))
        .await
        .unwrap();
    rename(&world, "a", "b");
    let failure = world
        .reg_refused(
            Code::AlreadyExists,
            "WORKSPACE_PATH_CONFLICT",
            named(world.path("b"), "other"),
        )
        .await;
    assert_eq!(failure.metadata["fields"], "name");
    let answer = world
        .daemon
        .api
        .register(named(world.path("b"), "api"))
        .await
        .unwrap();
    assert_eq!(answer.relinked_from, Some(world.path("a")));
}

async fn w054_a_root_that_comes_back(world: World) {
    let before = world.reg_new("a").await;
    rename(&world, "a", "away");
    assert_eq!(world.status(&before.id).await, Status::RootMissing);
    world.clock.advance(Duration::from_secs(3_600));
    rename(&world, "away", "a");
    assert_eq!(world.status(&before.id).await, Status::Ok);
    assert_eq!(world.record(&before.id).await, before);
}

async fn w055_a_new_directory_is_no_moved_one(world: World) {
    let gone = world.reg_new("a").await;
    fs::remove_dir_all(world.path("a")).unwrap();
    let answer = world
        .daemon
        .api
        .register(register(world.mkdir("c")))
        .await
        .unwrap();
    assert!(answer.created && answer.relinked_from.is_none());
    let new = answer.workspace.unwrap();
    assert!(new.id != gone.id && new.durable_id != gone.durable_id);
    assert_eq!(world.status(&gone.id).await, Status::RootMissing);
}

async fn w056_a_copy_shares_the_identity(world: World) {
    let first = world.reg(world.mkdir_with_id("a", ID1)).await;
    world.mkdir_with_id("b", ID1);
    let request = pb::RegisterWorkspaceRequest {
        validate_only: true,
        ..with_policy(&world, "b", Policy::Share)
    };
    let tried = world
        .unchanged_by(world.daemon.api.register(request))
        .await
        .unwrap();
    let answer = world
        .daemon
        .api
        .register(with_policy(&world, "b", Policy::Share))
        .await
        .unwrap();
    for answer in [&tried, &answer] {
        assert_eq!(answer.diagnostics.len(), 1);
        assert_eq!(answer.diagnostics[0].code, "identity_shared");
        assert_eq!(answer.diagnostics[0].severity(), pb::Severity::Warning);
        assert!(answer.diagnostics[0].message.contains(&world.path("a")));
        assert_eq!(
            answer.workspace.as_ref().unwrap().shares_identity_with,
            [first.id.clone()]
        );
    }
    let second = answer.workspace.unwrap();
    assert!(answer.created && second.durable_id == ID1);
    assert_eq!(world.record(&first.id).await.shares_identity_with, [second.id]);
}

async fn w057_clones_without_identity_share_nothing(world: World) {
    let (one, two) = (world.reg_new("a").await, world.reg_new("b").await);
    assert_ne!(one.durable_id, two.durable_id);
    assert!(one.shares_identity_with.is_empty() && two.shares_identity_with.is_empty());
}

async fn w058_a_copy_gets_an_identity_of_its_own(world: World) {
    let content = format!("{}team = \"x\"\n", identity_file(ID1));
    let first = world.reg(world.mkdir_with_file("a", &content)).await;
    copy(&world.path("a"), &world.path("b"));
    let answer = world
        .daemon
        .api
        .register(with_policy(&world, "b", Policy::Fork))
        .await
        .unwrap();
    let second = answer.workspace.unwrap();
    assert!(answer.created && second.durable_id != ID1 && second.shares_identity_with.is_empty());
    let text = fs::read_to_string(file_of(&world.path("b"))).unwrap();
    let forked = identity::parse(text.as_bytes()).unwrap();
    assert_eq!(forked.durable_id.as_str(), second.durable_id);
    assert_eq!(forked.forked_from.unwrap().as_str(), ID1);
    assert!(text.contains("team = \"x\""));
    assert_eq!(fs::read_to_string(file_of(&world.path("a"))).unwrap(), content);
    assert!(world.record(&first.id).await.shares_identity_with.is_empty());
}

async fn w059_nothing_to_fork(world: World) {
    let root = world.mkdir_with_id("b", ID1);
    let answer = world
        .daemon
        .api
        .register(with_policy(&world, "b", Policy::Fork))
        .await
        .unwrap();
    assert_eq!(answer.workspace.unwrap().durable_id, ID1);
    assert_eq!(fs::read_to_string(file_of(&root)).unwrap(), identity_file(ID1));
}

async fn w060_a_copy_that_can_not_be_written(world: World) {
    world.reg(world.mkdir_with_id("a", ID1)).await;
    let root = world.mkdir_with_id("b", ID1);
    chmod(&format!("{root}/.compozy"), 0o555);
    let request = with_policy(&world, "b", Policy::Fork);
    world
        .reg_refused(Code::FailedPrecondition, "IDENTITY_UNWRITABLE", request)
        .await;
}

async fn a_fork_that_fails_later_has_its_old_bytes_again(world: World) {
    world.reg(world.mkdir_with_id("a", ID1)).await;
    let root = world.mkdir_with_id("b", ID1);
    // The name is taken between the check and the write.
    let (api, other) = (world.daemon.api.clone(), world.mkdir("other"));
    let runtime = tokio::runtime::Handle::current();
    world
        .files
        .before(compozy_resolver::files::faulty::Operation::Replace, move || {
            runtime.block_on(api.register(named(other, "taken"))).unwrap();
        });
    let request = pb::RegisterWorkspaceRequest {
        name: Some("taken".into()),
        ..with_policy(&world, "b", Policy::Fork)
    };
    let failure = world.daemon.api.register(request).await.unwrap_err();
    assert_eq!(failure.reason, "WORKSPACE_NAME_CONFLICT");
    assert_eq!(fs::read_to_string(file_of(&root)).unwrap(), identity_file(ID1));
}

async fn w062_a_copy_is_refused_with_both_paths(world: World) {
    let first = world.reg(world.mkdir_with_id("a", ID1)).await;
    let root = world.mkdir_with_id("b", ID1);
    let request = with_policy(&world, "b", Policy::Reject);
    let failure = world
        .reg_refused(Code::AlreadyExists, "WORKSPACE_PATH_CONFLICT", request)
        .await;
    assert_eq!(
        (&failure.metadata["path"], &failure.metadata["original"]),
        (&root, &world.path("a"))
    );
    assert_eq!(failure.metadata["holder"], first.id);
}

async fn w311_a_root_that_can_not_be_seen_is_not_absent(world: World) {
    let first = world.reg(world.mkdir_with_id("p/a", ID1)).await;
    world.mkdir_with_id("c", ID1);
    chmod(&world.path("p"), 0);
    let answer = world
        .daemon
        .api
        .register(register(world.path("c")))
        .await
        .unwrap();
    assert!(answer.created && answer.relinked_from.is_none());
    assert_eq!(answer.diagnostics.len(), 1);
    let after = world.record(&first.id).await;
    assert_eq!((after.root_dir, after.etag), (first.root_dir, first.etag));
    chmod(&world.path("p"), 0o755);
}

async fn w312_a_root_that_was_replaced_is_not_absent(world: World) {
    let first = world.reg(world.mkdir_with_id("a", ID1)).await;
    rename(&world, "a", "b");
    world.mkdir_with_id("a", ID2);
    let answer = world
        .daemon
        .api
        .register(register(world.path("b")))
        .await
        .unwrap();
    assert!(answer.created && answer.relinked_from.is_none());
    assert_eq!(world.record(&first.id).await.durable_id, ID1);
    assert_eq!(world.status(&first.id).await, Status::IdentityChanged);
}

async fn two_absent_roots_are_not_one_that_moved(world: World) {
    world.reg(world.mkdir_with_id("a", ID1)).await;
    world.reg(world.mkdir_with_id("b", ID1)).await;
    fs::remove_dir_all(world.path("a")).unwrap();
    rename(&world, "b", "c");
    assert!(
        world
            .daemon
            .api
            .register(register(world.path("c")))
            .await
            .unwrap()
            .created
    );
}

async fn another_holder_that_still_carries_the_identity_prevents_a_move(world: World) {
    world.reg(world.mkdir_with_id("a", ID1)).await;
    world.reg(world.mkdir_with_id("b", ID1)).await;
    rename(&world, "a", "c");
    assert!(
        world
            .daemon
            .api
            .register(register(world.path("c")))
            .await
            .unwrap()
            .created
    );
}

async fn w050_a_move_to_another_device(world: World) {
    let shm = tempfile::Builder::new().tempdir_in("/dev/shm");
    let Ok(shm) = shm else {
        return eprintln!("w050: /dev/shm is not there");
    };
    let before = world.reg_new("a").await;
    let target = shm.path().canonicalize().unwrap().join("a");
    let target = target.to_str().unwrap();
    copy(&world.path("a"), target);
    fs::remove_dir_all(world.path("a")).unwrap();
    let answer = world.daemon.api.register(register(target)).await.unwrap();
    assert_eq!(answer.relinked_from, Some(before.root_dir));
    assert_eq!(answer.workspace.unwrap().id, before.id);
}

async fn two_at_once_move_one_workspace_to_two_places(world: World) {
    let before = world.reg_new("a").await;
    rename(&world, "a", "b");
    copy(&world.path("b"), &world.path("c"));
    let api = &world.daemon.api;
    let (one, two) = tokio::join!(
        api.register(register(world.path("b"))),
        api.register(register(world.path("c")))
    );
    let (one, two) = (one.unwrap(), two.unwrap());
    // One of them is the moved workspace, the other a copy of it.
    assert!(one.created ^ two.created, "{one:?} {two:?}");
    let moved = if one.created { two } else { one };
    assert_eq!(moved.workspace.unwrap().id, before.id);
    assert_eq!(world.total().await, 2);
}

fn rename(world: &World, from: &str, to: &str) {
    fs::rename(world.path(from), world.path(to)).unwrap();
}

fn with_policy(world: &World, name: &str, policy: Policy) -> pb::RegisterWorkspaceRequest {
    pb::RegisterWorkspaceRequest {
        identity_policy: policy.into(),
        ..register(world.path(name))
    }
}
