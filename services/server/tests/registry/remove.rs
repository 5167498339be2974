//! Removing (cases section 8).

use compozy_domain::{ChangeKind, ChangeOp};
use compozy_proto::workspace::v1 as pb;
use compozy_proto::workspace::v1::workspace_ref::Form;
use tonic::Code;

use crate::requests::{get, remove};
use crate::tree::tree;
use crate::world::{World, workspace_of};

cases! {
    w229_w230_what_is_not_there,
    a_removal_touches_no_directory_and_is_one_change,
    w232_a_root_that_is_missing,
    a_stale_etag_removes_nothing,
}

async fn w229_w230_what_is_not_there(world: World) {
    let row = world.reg_new("a").await;
    world.daemon.api.remove(remove(&row.id)).await.unwrap();
    for id in ["ws_0123456789abcdef", &row.id] {
        let call = world.daemon.api.remove(remove(id));
        world.refused(Code::NotFound, "WORKSPACE_NOT_FOUND", call).await;
        let allowed = pb::RemoveWorkspaceRequest {
            allow_missing: true,
            ..remove(id)
        };
        let answer = world
            .unchanged_by(world.daemon.api.remove(allowed))
            .await
            .unwrap();
        assert_eq!(answer.id, "");
    }
    let call = world.daemon.api.get(get(Form::Id(row.id)));
    world.refused(Code::NotFound, "WORKSPACE_NOT_FOUND", call).await;
}

async fn a_removal_touches_no_directory_and_is_one_change(world: World) {
    let row = world.reg_new("a").await;
    world.reg_new("b").await;
    let (changes, before) = (world.changes().await.len(), tree(&world.t));
    let answer = world.daemon.api.remove(remove(&row.id)).await.unwrap();
    assert_eq!(
        (answer.id, answer.kept_session_count, answer.deleted_session_count),
        (row.id.clone(), 0, 0)
    );
    assert_eq!(tree(&world.t), before);
    assert_eq!(world.order().await, ["b"]);
    let new = world.changes().await.split_off(changes);
    assert_eq!(new.len(), 1);
    let change = &new[0].change;
    assert_eq!(
        (change.kind, change.op),
        (ChangeKind::Workspace, ChangeOp::Deleted)
    );
    assert_eq!(workspace_of(change), row.id);
}

async fn w232_a_root_that_is_missing(world: World) {
    let row = world.reg_new("a").await;
    std::fs::remove_dir_all(&row.root_dir).unwrap();
    world.daemon.api.remove(remove(&row.id)).await.unwrap();
    assert_eq!(world.total().await, 0);
}

async fn a_stale_etag_removes_nothing(world: World) {
    let row = world.reg_new("a").await;
    let stale = pb::RemoveWorkspaceRequest {
        etag: "old".into(),
        ..remove(&row.id)
    };
    world
        .refused(Code::Aborted, "ETAG_MISMATCH", world.daemon.api.remove(stale))
        .await;
    let fresh = pb::RemoveWorkspaceRequest {
        etag: row.etag,
        ..remove(&row.id)
    };
    world.daemon.api.remove(fresh).await.unwrap();
}
