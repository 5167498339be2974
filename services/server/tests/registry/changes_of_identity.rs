//! Settling identities (cases sections 1 and 16).

use std::fs;

use compozy_domain::ChangeReason;
use compozy_proto::workspace::v1 as pb;
use compozy_proto::workspace::v1::{IdentityAction as Action, WorkspaceStatus as Status};
use compozy_resolver::identity;
use tonic::Code;

use crate::requests::{ID1, ID2, by_id, settle, settle_path};
use crate::tree::{exists, identity_file};
use crate::world::{World, file_of};

cases! {
    a_changed_file_changes_no_row,
    w041_repair_makes_a_lost_file_with_the_rows_id,
    w043_accept_takes_the_files_id,
    w044_restore_writes_the_rows_id,
    w046_an_accepted_id_may_be_shared,
    w333_repair_of_a_directory_that_nobody_registered,
    w334_an_invalid_file_is_replaced_with_force_only,
    w335_restore_keeps_the_other_keys,
    a_fork_gives_file_and_row_a_new_id,
    a_repeated_repair_gets_the_first_answer,
    a_link_in_a_roots_place_leads_no_write_out,
}

/// What was admitted at registration says nothing about where a link leads that took the root's place.
async fn a_link_in_a_roots_place_leads_no_write_out(world: World) {
    let row = world.reg_new("in/a").await;
    let (allowed, out) = (world.path("in"), world.mkdir("out"));
    let daemon = world
        .start(|parts| parts.settings.allowed_roots = vec![allowed])
        .await;
    let inside = world.mkdir("in/b");
    fs::remove_dir_all(&row.root_dir).unwrap();
    for (target, reason) in [(&world.home, "PATH_NOT_ALLOWED"), (&out, "PATH_NOT_ALLOWED")] {
        let _ = fs::remove_file(&row.root_dir);
        world.link(target, "in/a");
        let failure = daemon
            .api
            .update_identity(settle(&row.id, Action::Repair))
            .await
            .unwrap_err();
        assert_eq!(failure.reason, reason, "{target}");
        let request = pb::GetIdentityRequest {
            target: by_id(&row.id).map(pb::get_identity_request::Target::Ref),
        };
        let failure = daemon.api.get_identity(request).await.unwrap_err();
        assert_eq!(failure.reason, reason, "{target}");
        assert!(!exists(&file_of(target)), "{target}");
    }
    // Without allowed roots the daemon's home is refused all the same.
    let _ = fs::remove_file(&row.root_dir);
    world.link(&world.home, "in/a");
    let failure = world
        .daemon
        .api
        .update_identity(settle(&row.id, Action::Repair))
        .await
        .unwrap_err();
    assert_eq!(failure.reason, "HOME_FORBIDDEN");
    assert!(!exists(&file_of(&world.home)));
    fs::remove_file(&row.root_dir).unwrap();
    world.link(&inside, "in/a");
    let answer = daemon
        .api
        .update_identity(settle(&row.id, Action::Repair))
        .await
        .unwrap();
    assert!(answer.file_written && exists(&file_of(&inside)));
}

async fn a_changed_file_changes_no_row(world: World) {
    let row = changed(&world).await;
    assert_eq!(
        world.unchanged_by(world.status(&row.id)).await,
        Status::IdentityChanged
    );
    assert_eq!(world.record(&row.id).await, row);
}

async fn w041_repair_makes_a_lost_file_with_the_rows_id(world: World) {
    let row = world.reg_new("a").await;
    fs::remove_file(file_of(&row.root_dir)).unwrap();
    let answer = world
        .daemon
        .api
        .update_identity(settle(&row.id, Action::Repair))
        .await
        .unwrap();
    assert!(answer.file_written);
    assert_eq!(answer.workspace.as_ref(), Some(&row));
    assert_eq!(answer.identity.unwrap().durable_id, row.durable_id);
    assert_eq!(world.status(&row.id).await, Status::Ok);
    let again = world
        .unchanged_by(world.daemon.api.update_identity(settle(&row.id, Action::Repair)))
        .await;
    assert!(!again.unwrap().file_written);
}

async fn w043_accept_takes_the_files_id(world: World) {
    let row = changed(&world).await;
    let changes = world.changes().await.len();
    let answer = world
        .daemon
        .api
        .update_identity(settle(&row.id, Action::Accept))
        .await
        .unwrap();
    assert!(!answer.file_written);
    let after = answer.workspace.unwrap();
    assert_eq!(
        (after.durable_id.as_str(), &after.id, &after.name),
        (ID2, &row.id, &row.name)
    );
    assert_eq!(world.status(&row.id).await, Status::Ok);
    assert_eq!(
        fs::read_to_string(file_of(&row.root_dir)).unwrap(),
        identity_file(ID2)
    );
    let new = world.changes().await.split_off(changes);
    assert_eq!(new.len(), 1);
    assert_eq!(new[0].change.reason, ChangeReason::Identity);
}

async fn w044_restore_writes_the_rows_id(world: World) {
    let row = changed(&world).await;
    let answer = world
        .daemon
        .api
        .update_identity(settle(&row.id, Action::Restore))
        .await
        .unwrap();
    assert!(answer.file_written);
    assert_eq!(
        fs::read_to_string(file_of(&row.root_dir)).unwrap(),
        identity_file(ID1)
    );
    assert_eq!(world.status(&row.id).await, Status::Ok);
    assert_eq!(world.record(&row.id).await, row);
}

async fn w046_an_accepted_id_may_be_shared(world: World) {
    let first = changed(&world).await;
    let second = world.reg(world.mkdir_with_id("b", ID2)).await;
    assert!(second.shares_identity_with.is_empty());
    let answer = world
        .daemon
        .api
        .update_identity(settle(&first.id, Action::Accept))
        .await
        .unwrap();
    assert_eq!(
        answer.workspace.unwrap().shares_identity_with,
        [second.id.clone()]
    );
    assert_eq!(world.record(&second.id).await.shares_identity_with, [first.id]);
}

async fn w333_repair_of_a_directory_that_nobody_registered(mut world: World) {
    world.restart(|parts| parts.settings.auto_create = false).await;
    let root = world.mkdir("c");
    let answer = world
        .daemon
        .api
        .update_identity(settle_path(&root, Action::Repair))
        .await
        .unwrap();
    assert!(answer.file_written && answer.workspace.is_none());
    assert_eq!(world.total().await, 0);
    let id = answer.identity.unwrap().durable_id;
    assert_eq!(world.reg(&root).await.durable_id, id);
}

async fn w334_an_invalid_file_is_replaced_with_force_only(world: World) {
    let row = world.reg_new("a").await;
    fs::write(file_of(&row.root_dir), "nonsense").unwrap();
    let call = world.daemon.api.update_identity(settle(&row.id, Action::Repair));
    world
        .refused(Code::FailedPrecondition, "IDENTITY_INVALID", call)
        .await;
    let forced = pb::UpdateIdentityRequest {
        force: true,
        ..settle(&row.id, Action::Repair)
    };
    let answer = world.daemon.api.update_identity(forced).await.unwrap();
    assert_eq!(answer.identity.unwrap().durable_id, row.durable_id);
    assert_eq!(world.status(&row.id).await, Status::Ok);
}

async fn w335_restore_keeps_the_other_keys(world: World) {
    let row = world.reg(world.mkdir_with_id("a", ID1)).await;
    let content = format!("{}team = \"x\"\n[note]\nby = \"me\"\n", identity_file(ID2));
    fs::write(file_of(&row.root_dir), &content).unwrap();
    world
        .daemon
        .api
        .update_identity(settle(&row.id, Action::Restore))
        .await
        .unwrap();
    assert_eq!(
        fs::read_to_string(file_of(&row.root_dir)).unwrap(),
        content.replace(ID2, ID1)
    );
}

async fn a_fork_gives_file_and_row_a_new_id(world: World) {
    let first = world.reg(world.mkdir_with_id("a", ID1)).await;
    let second = world.reg(world.mkdir_with_id("b", ID1)).await;
    let answer = world
        .daemon
        .api
        .update_identity(settle(&second.id, Action::Fork))
        .await
        .unwrap();
    let (file, row) = (answer.identity.unwrap(), answer.workspace.unwrap());
    assert_eq!(
        (file.forked_from.as_str(), &file.durable_id),
        (ID1, &row.durable_id)
    );
    assert_ne!(row.durable_id, ID1);
    let on_disk = identity::parse(&fs::read(file_of(&second.root_dir)).unwrap()).unwrap();
    assert_eq!(on_disk.durable_id.as_str(), row.durable_id);
    assert!(row.shares_identity_with.is_empty());
    assert!(world.record(&first.id).await.shares_identity_with.is_empty());
    assert_eq!(world.status(&second.id).await, Status::Ok);
}

async fn a_repeated_repair_gets_the_first_answer(world: World) {
    let root = world.mkdir("c");
    let request = pb::UpdateIdentityRequest {
        request_id: ID2.into(),
        ..settle_path(&root, Action::Repair)
    };
    let first = world.daemon.api.update_identity(request.clone()).await.unwrap();
    fs::remove_file(file_of(&root)).unwrap();
    assert_eq!(world.daemon.api.update_identity(request).await.unwrap(), first);
    assert!(!exists(&file_of(&root)));
}

file_cases! {
    what_is_refused,
    roots_that_can_not_be_used,
}

async fn what_is_refused(world: World) {
    let row = world.reg_new("a").await;
    let bare = world.mkdir("bare");
    fs::write(file_of(&row.root_dir), identity_file(ID2)).unwrap();
    let repair = world.daemon.api.update_identity(settle(&row.id, Action::Repair));
    let mismatch = world
        .refused(Code::FailedPrecondition, "IDENTITY_MISMATCH", repair)
        .await;
    // Force is for files that are not valid, and no way out here.
    assert!(mismatch.metadata["remedy"].contains("accept"), "{mismatch:?}");
    assert!(!mismatch.message.contains("force"), "{mismatch:?}");
    fs::remove_file(file_of(&row.root_dir)).unwrap();
    for action in [Action::Accept, Action::Restore, Action::Fork] {
        let call = world.daemon.api.update_identity(settle(&row.id, action));
        let missing = world
            .refused(Code::FailedPrecondition, "IDENTITY_INVALID", call)
            .await;
        let repair = format!("compozy workspace identity repair {}", row.root_dir);
        assert!(missing.metadata["remedy"].contains(&repair), "{missing:?}");
        let call = world.daemon.api.update_identity(settle_path(&bare, action));
        assert_eq!(
            world
                .refused(Code::InvalidArgument, "INVALID_FIELD", call)
                .await
                .fields,
            ["action"]
        );
    }
    let unset = world
        .daemon
        .api
        .update_identity(settle(&row.id, Action::Unspecified));
    assert_eq!(
        world
            .refused(Code::InvalidArgument, "INVALID_FIELD", unset)
            .await
            .fields,
        ["action"]
    );
    let home = world
        .daemon
        .api
        .update_identity(settle_path(&world.home, Action::Repair));
    world
        .refused(Code::FailedPrecondition, "HOME_FORBIDDEN", home)
        .await;
    let untold = pb::UpdateIdentityRequest {
        target: None,
        ..settle(&row.id, Action::Repair)
    };
    world
        .refused(
            Code::InvalidArgument,
            "INVALID_FIELD",
            world.daemon.api.update_identity(untold),
        )
        .await;
}

async fn roots_that_can_not_be_used(world: World) {
    let row = world.reg_new("a").await;
    let request = || pb::GetIdentityRequest {
        target: by_id(&row.id).map(pb::get_identity_request::Target::Ref),
    };
    let file = world.daemon.api.get_identity(request()).await.unwrap();
    assert_eq!(file.workspace.as_ref(), Some(&row));
    assert_eq!(file.identity.unwrap().path, file_of(&row.root_dir));
    fs::rename(&row.root_dir, world.path("away")).unwrap();
    let call = world.daemon.api.get_identity(request());
    world
        .refused(Code::FailedPrecondition, "WORKSPACE_ROOT_MISSING", call)
        .await;
    fs::write(&row.root_dir, "").unwrap();
    let call = world.daemon.api.update_identity(settle(&row.id, Action::Repair));
    world
        .refused(Code::FailedPrecondition, "WORKSPACE_ROOT_NOT_DIRECTORY", call)
        .await;
}

/// A workspace with ID1 whose file says ID2 now.
async fn changed(world: &World) -> pb::Workspace {
    let row = world.reg(world.mkdir_with_id("a", ID1)).await;
    fs::write(file_of(&row.root_dir), identity_file(ID2)).unwrap();
    row
}
