//! What becomes of the sessions of a workspace that is removed (sessions section 11, workspaces section 8).

use compozy_domain::ChangeKind;
use compozy_proto::session::v1 as pb;
use compozy_proto::workspace::v1 as workspace_pb;
use tonic::Code;

use crate::asked::{archive, beat, get, new, stop};
use crate::place::told;
use crate::requests::remove;
use crate::tree::tree;
use crate::world::World;

cases! {
    s223_w225_kept_sessions,
    s224_w226_deleted_sessions,
    s225_w227_live_sessions_keep_their_workspace,
    w228_ten_of_many_are_named,
    s382_w337_live_ones_are_ungrouped,
    s145_a_kept_session_is_resumed,
}

fn with_sessions(
    id: &str,
    sessions: workspace_pb::RemovedSessions,
    live: workspace_pb::LiveSessions,
) -> workspace_pb::RemoveWorkspaceRequest {
    workspace_pb::RemoveWorkspaceRequest {
        sessions: sessions.into(),
        live: live.into(),
        ..remove(id)
    }
}

async fn s223_w225_kept_sessions(world: World) {
    let (a, b) = world.a_and_b().await;
    let [s1, s2] = world.create_some(&a.id).await;
    let other = world.create(new(&b.id)).await;
    for id in [&s1, &s2] {
        world.stop(id).await;
    }
    world.daemon.api.archive_session(archive(&s2)).await.unwrap();
    let kept = world.session(&s2).await;
    let (before, disk) = (world.changes().await.len(), tree(&world.t));
    let answer = world.daemon.api.remove(remove(&a.id)).await.unwrap();
    assert_eq!((answer.kept_session_count, answer.deleted_session_count), (2, 0));
    assert_eq!(tree(&world.t), disk);
    for id in [&s1, &s2] {
        let session = world.session(id).await;
        assert_eq!(
            (session.workspace_id.as_str(), session.workspace_name.as_str()),
            ("", "")
        );
        assert_eq!(
            (session.cwd.as_str(), session.canonical_cwd.as_str()),
            (a.root_dir.as_str(), a.root_dir.as_str())
        );
        assert_eq!(session.state(), pb::SessionState::Stopped);
    }
    let archived = world.session(&s2).await;
    assert_eq!(
        (archived.archived_at, &archived.stop),
        (kept.archived_at, &kept.stop)
    );
    assert_ne!(archived.etag, kept.etag);
    assert_eq!(world.session(&other.id).await, other);
    let nowhere = pb::SessionFilter {
        ungrouped: true,
        archive: pb::ArchiveFilter::Include.into(),
        ..Default::default()
    };
    assert_eq!(world.total_of(nowhere).await, 2);
    let new = world.changes().await.split_off(before);
    assert_eq!(new.len(), 1);
    assert_eq!(new[0].change.kind, ChangeKind::Workspace);
    assert!(told(&new[0]).starts_with("deleted "), "{new:?}");
}

async fn s224_w226_deleted_sessions(world: World) {
    let (a, b) = world.a_and_b().await;
    let [s1, s2] = world.create_some(&a.id).await;
    let other = world.create(new(&b.id)).await;
    for id in [&s1, &s2] {
        world.stop(id).await;
    }
    let (before, disk) = (world.changes().await.len(), tree(&world.t));
    let request = with_sessions(
        &a.id,
        workspace_pb::RemovedSessions::Delete,
        workspace_pb::LiveSessions::Refuse,
    );
    let answer = world.daemon.api.remove(request).await.unwrap();
    assert_eq!((answer.kept_session_count, answer.deleted_session_count), (0, 2));
    assert_eq!(tree(&world.t), disk);
    for id in [&s1, &s2] {
        let call = world.daemon.api.get_session(get(id));
        world.refused(Code::NotFound, "SESSION_NOT_FOUND", call).await;
        // Nor is the id ever used again.
        let again = pb::CreateSessionRequest {
            id: id.clone(),
            ..new(&b.id)
        };
        let call = world.daemon.api.create_session(again);
        world
            .refused(Code::AlreadyExists, "SESSION_ID_CONFLICT", call)
            .await;
    }
    assert_eq!(world.session(&other.id).await, other);
    let new = world.changes().await.split_off(before);
    assert_eq!(new.len(), 1);
    assert_eq!(new[0].change.kind, ChangeKind::Workspace);
}

async fn s225_w227_live_sessions_keep_their_workspace(world: World) {
    let a = world.only_a().await;
    let starting = pb::CreateSessionRequest {
        initial_state: pb::SessionState::Starting.into(),
        ..new(&a.id)
    };
    for request in [starting, new(&a.id)] {
        let id = world.create(request).await.id;
        refuse_both(&world, &a.id, &id).await;
        world.stop(&id).await;
    }
    let id = world.create(new(&a.id)).await.id;
    world.bind(&id, "h1").await;
    world
        .daemon
        .api
        .stop_session(stop(&id, pb::StopCause::User))
        .await
        .unwrap();
    refuse_both(&world, &a.id, &id).await;
}

async fn refuse_both(world: &World, workspace_id: &str, session_id: &str) {
    for sessions in [
        workspace_pb::RemovedSessions::Keep,
        workspace_pb::RemovedSessions::Delete,
    ] {
        let request = with_sessions(workspace_id, sessions, workspace_pb::LiveSessions::Refuse);
        let call = world.daemon.api.remove(request);
        let failure = world
            .refused(Code::FailedPrecondition, "WORKSPACE_HAS_LIVE_SESSIONS", call)
            .await;
        assert_eq!(failure.metadata["ids"], session_id);
    }
}

async fn w228_ten_of_many_are_named(world: World) {
    let a = world.only_a().await;
    let mut ids = world.create_some::<12>(&a.id).await;
    ids.sort_unstable();
    let call = world.daemon.api.remove(remove(&a.id));
    let failure = world
        .refused(Code::FailedPrecondition, "WORKSPACE_HAS_LIVE_SESSIONS", call)
        .await;
    assert_eq!(failure.metadata["ids"], ids[..10].join(","));
    assert_eq!(failure.metadata["ids_count"], "12");
}

async fn s382_w337_live_ones_are_ungrouped(world: World) {
    let (a, b) = world.a_and_b().await;
    for (workspace, sessions, is_deleted) in [
        (&a, workspace_pb::RemovedSessions::Keep, false),
        (&b, workspace_pb::RemovedSessions::Delete, true),
    ] {
        let [s1, s2, s3] = world.create_some(&workspace.id).await;
        let lease = world.bind(&s1, "h1").await;
        for id in [&s2, &s3] {
            world.stop(id).await;
        }
        let before = world.changes().await.len();
        let request = with_sessions(&workspace.id, sessions, workspace_pb::LiveSessions::Ungroup);
        let answer = world.daemon.api.remove(request).await.unwrap();
        let counted = if is_deleted { (1, 2) } else { (3, 0) };
        assert_eq!((answer.kept_session_count, answer.deleted_session_count), counted);
        let live = world.session(&s1).await;
        assert_eq!(
            (live.workspace_id.as_str(), live.state()),
            ("", pb::SessionState::Active)
        );
        assert_eq!(live.runtime.unwrap().state(), pb::RuntimeState::Bound);
        world.daemon.api.heartbeat(beat(&lease.token)).await.unwrap();
        for id in [&s2, &s3] {
            let found = world.daemon.api.get_session(get(id)).await;
            match found {
                Ok(found) => assert!(!is_deleted && found.session.unwrap().workspace_id.is_empty()),
                Err(failure) => assert!(is_deleted && failure.reason == "SESSION_NOT_FOUND"),
            }
        }
        if !is_deleted {
            assert_eq!(world.changes().await.len(), before + 1);
        }
    }
}

async fn s145_a_kept_session_is_resumed(world: World) {
    let a = world.only_a().await;
    let id = world.create(new(&a.id)).await.id;
    world.stop(&id).await;
    world.daemon.api.remove(remove(&a.id)).await.unwrap();
    let answer = world
        .daemon
        .api
        .resume_session(crate::asked::resume(&id))
        .await
        .unwrap();
    let session = answer.session.unwrap();
    assert_eq!(
        (session.workspace_id.as_str(), session.state()),
        ("", pb::SessionState::Starting)
    );
}
