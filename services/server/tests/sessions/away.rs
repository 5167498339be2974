//! Stores that are away, or fail at the last moment (cases sections 8, 19 and 20).

use std::sync::Arc;

use compozy_proto::session::v1 as pb;
use tonic::Code;

use crate::accounts::{attach, detach, move_before};
use crate::asked::{
    archive, beat, bind, delete, finish, get, list, new, rename, resume, stop, unarchive, update,
};
use crate::away_store::WatchedStore;
use crate::client::{Api, Failure};
use crate::world::World;

cases! {
    s338_every_method_while_the_store_is_away,
    s155_a_store_that_fails_at_the_commit,
}

async fn s338_every_method_while_the_store_is_away(world: World) {
    let a = world.only_a().await;
    let session = world.create(new(&a.id)).await;
    let lease = world.bind(&session.id, "h1").await.token;
    let store = Arc::new(WatchedStore::over(&world.store));
    let shared = Arc::clone(&store);
    let daemon = world.start(|parts| parts.store = shared).await;
    let before = (world.changes().await, world.session(&session.id).await);
    store.set_away(true);
    for failure in failures(&daemon.api, &a.id, &session.id, &lease).await {
        assert_eq!(
            (failure.code, failure.reason.as_str()),
            (Code::Unavailable, "STORE_UNAVAILABLE"),
            "{failure:?}"
        );
    }
    store.set_away(false);
    assert_eq!((world.changes().await, world.session(&session.id).await), before);
    // The same daemon goes on.
    daemon.api.heartbeat(beat(&lease)).await.unwrap();
    daemon
        .api
        .rename_session(rename(&session.id, "back"))
        .await
        .unwrap();
    let created = daemon
        .api
        .create_session(new(&a.id))
        .await
        .unwrap()
        .session
        .unwrap();
    assert_eq!(
        daemon
            .api
            .get_session(get(&created.id))
            .await
            .unwrap()
            .session
            .unwrap(),
        created
    );
}

/// Every method of the service, and those about accounts.
async fn failures(api: &Api, workspace_id: &str, id: &str, lease: &str) -> Vec<Failure> {
    let session_id = id.to_owned();
    let mode = pb::Session {
        permission_mode: pb::PermissionMode::DenyAll.into(),
        ..Default::default()
    };
    let enter = pb::AcquireAttachLeaseRequest {
        session_id: session_id.clone(),
        holder: "h1".into(),
        ..Default::default()
    };
    let leave = pb::ReleaseAttachLeaseRequest {
        session_id: session_id.clone(),
        holder: "h1".into(),
        request_id: String::new(),
    };
    let seen = pb::MarkSessionSeenRequest {
        session_id: session_id.clone(),
        request_id: String::new(),
    };
    let health = pb::GetSessionHealthRequest {
        session_id: session_id.clone(),
    };
    let inspect = pb::InspectSessionRequest { session_id };
    let batch = pb::BatchHeartbeatRequest {
        heartbeats: vec![beat(lease)],
    };
    let launch = pb::GetLaunchRequest {
        lease: lease.to_owned(),
    };
    let stopping = pb::StopSessionRequest {
        wait: Some(crate::asked::seconds(5)),
        ..stop(id, pb::StopCause::User)
    };
    vec![
        api.create_session(new(workspace_id)).await.unwrap_err(),
        api.get_session(get(id)).await.unwrap_err(),
        api.list_sessions(list(pb::SessionFilter::default()))
            .await
            .unwrap_err(),
        api.count_sessions(pb::CountSessionsRequest::default())
            .await
            .unwrap_err(),
        api.update_session(update(id, &[], mode)).await.unwrap_err(),
        api.rename_session(rename(id, "x")).await.unwrap_err(),
        api.stop_session(stopping).await.unwrap_err(),
        api.resume_session(resume(id)).await.unwrap_err(),
        api.archive_session(archive(id)).await.unwrap_err(),
        api.unarchive_session(unarchive(id)).await.unwrap_err(),
        api.delete_session(delete(id)).await.unwrap_err(),
        api.bind_runtime(bind(id, "h1", 30)).await.unwrap_err(),
        api.heartbeat(beat(lease)).await.unwrap_err(),
        api.batch_heartbeat(batch).await.unwrap_err(),
        api.finish_session(finish(lease, pb::StopCause::Completed))
            .await
            .unwrap_err(),
        api.acquire_attach_lease(enter).await.unwrap_err(),
        api.release_attach_lease(leave).await.unwrap_err(),
        api.mark_session_seen(seen).await.unwrap_err(),
        api.get_session_health(health).await.unwrap_err(),
        api.inspect_session(inspect).await.unwrap_err(),
        api.get_launch(launch).await.unwrap_err(),
        api.attach_session(attach(workspace_id, id)).await.unwrap_err(),
        api.detach_session(detach(None, id)).await.unwrap_err(),
        api.move_session(move_before(id, None)).await.unwrap_err(),
    ]
}

async fn s155_a_store_that_fails_at_the_commit(world: World) {
    let a = world.only_a().await;
    let named = pb::CreateSessionRequest {
        name: "old".into(),
        ..new(&a.id)
    };
    let id = world.create(named).await.id;
    let api = &world.daemon.api;
    let failed = async |renaming: bool| {
        world.store.fail_commits(true);
        let failure = if renaming {
            api.rename_session(rename(&id, "young")).await.unwrap_err()
        } else {
            api.create_session(new(&a.id)).await.unwrap_err()
        };
        world.store.fail_commits(false);
        failure
    };
    for renaming in [true, false] {
        let failure = world.unchanged_by(failed(renaming)).await;
        assert_eq!(
            (failure.code, failure.reason.as_str()),
            (Code::Unavailable, "STORE_UNAVAILABLE")
        );
    }
    let by_text = |query: &str| pb::SessionFilter {
        query: query.to_owned(),
        ..Default::default()
    };
    assert_eq!(world.session(&id).await.name, "old");
    assert_eq!(
        (
            world.total_of(by_text("old")).await,
            world.total_of(by_text("young")).await
        ),
        (1, 0)
    );
    assert_eq!(world.account(&a.id).await, [id]);
}
