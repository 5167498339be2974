//! Starting a stopped session again, and what happens to leases when a session's workspace goes.

use std::time::Duration;

use compozy_proto::session::v1 as pb;
use compozy_proto::workspace::v1 as workspace_pb;
use tonic::Code;

use crate::asked::{NOBODY, R, beat, new, resume};
use crate::leases_place::{LOST, at_once, entering};
use crate::requests::by_id;
use crate::world::World;

cases! {
    s051_what_is_not_there_is_not_found_by_any_method_of_leases,
    s139_s144_s146_a_stopped_session_starts_again_under_its_id,
    s140_s141_s142_only_a_stopped_session_is_resumed,
    s143_many_resumes_at_once_are_one,
    s145_a_session_that_lost_its_workspace_is_resumed,
    s382_a_runtime_goes_on_when_its_session_is_ungrouped,
    a_resumed_session_is_bound_in_the_same_write,
}

async fn s051_what_is_not_there_is_not_found_by_any_method_of_leases(world: World) {
    let api = &world.daemon.api;
    for id in [NOBODY, "", "sess-zz", "../x", "/etc/passwd", "a\u{0}b"] {
        let release = pb::ReleaseAttachLeaseRequest {
            session_id: id.to_owned(),
            holder: "h1".to_owned(),
            request_id: String::new(),
        };
        let seen = pb::MarkSessionSeenRequest {
            session_id: id.to_owned(),
            request_id: String::new(),
        };
        let failures = [
            api.bind_runtime(crate::asked::bind(id, "h1", 30))
                .await
                .unwrap_err(),
            api.resume_session(resume(id)).await.unwrap_err(),
            api.acquire_attach_lease(entering(id, "h1", 60))
                .await
                .unwrap_err(),
            api.release_attach_lease(release).await.unwrap_err(),
            api.mark_session_seen(seen).await.unwrap_err(),
        ];
        for failure in failures {
            assert_eq!(
                (failure.code, failure.reason.as_str()),
                (Code::NotFound, "SESSION_NOT_FOUND")
            );
            assert!(failure.names_resource);
        }
    }
}

async fn s139_s144_s146_a_stopped_session_starts_again_under_its_id(world: World) {
    let a = world.only_a().await;
    let created = world.create(new(&a.id)).await;
    let id = created.id.clone();
    let lease = world.bind(&id, "h1").await;
    world.finish_done(&lease.token).await;
    world.advance(Duration::from_secs(1)).await;
    let head = world.head().await;
    let answer = world.daemon.api.resume_session(resume(&id)).await.unwrap();
    assert_eq!(answer.lease, None);
    let session = answer.session.unwrap();
    assert_eq!(
        (session.id.as_str(), session.state()),
        (id.as_str(), pb::SessionState::Starting)
    );
    assert_eq!(session.stop, None);
    let runtime = session.runtime.as_ref().unwrap();
    assert_eq!((runtime.state(), runtime.generation), (pb::RuntimeState::None, 2));
    assert_eq!(session.updated_at, Some(world.now()));
    assert_eq!(world.told_since(head).await, ["upserted state"]);
    world
        .refused(
            Code::Aborted,
            LOST,
            world.daemon.api.heartbeat(beat(&lease.token)),
        )
        .await;

    let stopped = world.stop(&id).await;
    assert_eq!(stopped.created_at, created.created_at);
    assert_eq!(world.account(&a.id).await, [id]);
    assert_eq!(world.total_of(pb::SessionFilter::default()).await, 1);
}

async fn s140_s141_s142_only_a_stopped_session_is_resumed(world: World) {
    let a = world.only_a().await;
    let starting = pb::CreateSessionRequest {
        initial_state: pb::SessionState::Starting.into(),
        ..new(&a.id)
    };
    let starting = world.create(starting).await;
    let api = &world.daemon.api;
    let again = world
        .unchanged_by(api.resume_session(resume(&starting.id)))
        .await
        .unwrap();
    assert_eq!(again.session.unwrap(), starting);

    let [active, stopping, stopped]: [String; 3] = world.create_some(&a.id).await;
    world.bind(&stopping, "h1").await;
    world.stop_for(&stopping, pb::StopCause::User, "").await;
    for (id, word) in [(&active, "active"), (&stopping, "stopping")] {
        let refused = world
            .refused(
                Code::FailedPrecondition,
                "SESSION_STATE_CONFLICT",
                api.resume_session(resume(id)),
            )
            .await;
        assert!(refused.message.contains(word), "{}", refused.message);
    }
    world.stop(&stopped).await;
    world.archive(&stopped).await;
    world
        .refused(
            Code::FailedPrecondition,
            "SESSION_ARCHIVED",
            api.resume_session(resume(&stopped)),
        )
        .await;
}

async fn s143_many_resumes_at_once_are_one(world: World) {
    let a = world.only_a().await;
    let id = world.create(new(&a.id)).await.id;
    world.stop(&id).await;
    let head = world.head().await;
    let outcomes = at_once(32, |_| {
        let (api, request) = (world.daemon.api.clone(), resume(&id));
        async move { api.resume_session(request).await }
    })
    .await;
    for outcome in outcomes {
        let session = outcome.unwrap().session.unwrap();
        assert_eq!(session.state(), pb::SessionState::Starting);
        assert_eq!(session.runtime.unwrap().generation, 1);
    }
    assert_eq!(world.told_since(head).await, ["upserted state"]);
}

fn without(workspace_id: &str) -> workspace_pb::RemoveWorkspaceRequest {
    workspace_pb::RemoveWorkspaceRequest {
        r#ref: by_id(workspace_id),
        ..Default::default()
    }
}

async fn s145_a_session_that_lost_its_workspace_is_resumed(world: World) {
    let a = world.only_a().await;
    let id = world.create(new(&a.id)).await.id;
    world.stop(&id).await;
    world.daemon.api.remove(without(&a.id)).await.unwrap();
    let answer = world.daemon.api.resume_session(resume(&id)).await.unwrap();
    let session = answer.session.unwrap();
    assert_eq!(session.state(), pb::SessionState::Starting);
    assert_eq!(session.workspace_id, "");
}

async fn s382_a_runtime_goes_on_when_its_session_is_ungrouped(world: World) {
    let a = world.only_a().await;
    let [active, stopped]: [String; 2] = world.create_some(&a.id).await;
    let lease = world.bind(&active, "h1").await;
    world.stop(&stopped).await;
    let before = world.changes().await.len();
    let request = workspace_pb::RemoveWorkspaceRequest {
        live: workspace_pb::LiveSessions::Ungroup.into(),
        ..without(&a.id)
    };
    world.daemon.api.remove(request).await.unwrap();
    let entries = world.changes().await.split_off(before);
    assert_eq!(entries.len(), 1, "{entries:?}");
    assert_eq!(entries[0].change.session_count, 2);
    world.beat(&lease.token).await.unwrap();
    let session = world.session(&active).await;
    assert_eq!(
        (session.workspace_id.as_str(), session.state()),
        ("", pb::SessionState::Active)
    );
    assert_eq!(world.session(&stopped).await.workspace_id, "");
}

async fn a_resumed_session_is_bound_in_the_same_write(world: World) {
    let a = world.only_a().await;
    let id = world.create(new(&a.id)).await.id;
    world.stop(&id).await;
    let head = world.head().await;
    let request = pb::ResumeSessionRequest {
        bind: Some(crate::asked::binding("h1", 30)),
        request_id: R.to_owned(),
        ..resume(&id)
    };
    let answer = world.daemon.api.resume_session(request).await.unwrap();
    let (session, lease) = (answer.session.unwrap(), answer.lease.unwrap());
    let runtime = session.runtime.unwrap();
    assert_eq!(runtime.state(), pb::RuntimeState::Bound);
    assert_eq!(runtime.generation, lease.generation);
    assert_eq!(world.told_since(head).await, ["upserted state"]);
    world.beat(&lease.token).await.unwrap();
    assert_eq!(world.session(&id).await.state(), pb::SessionState::Active);
}
