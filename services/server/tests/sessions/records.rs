//! Rename, update, archive, delete (cases section 8).

use std::time::Duration;

use compozy_proto::session::v1 as pb;
use tonic::Code;

use crate::asked::{archive, delete, get, new, rename, stop, unarchive, update};
use crate::place::told;
use crate::world::World;

cases! {
    s148_a_rename,
    s149_s150_s151_names_that_are_refused,
    s152_sessions_in_every_state_are_renamed,
    s153_s154_etags,
    an_update_of_labels_and_permission_mode,
    s156_s157_s158_archived_and_back,
    s159_what_is_live_is_not_archived,
    s160_many_archive_one_session,
    s161_s162_an_archived_session,
    s163_counts_of_archived_ones,
    s164_s168_a_deletion,
    s166_s167_what_is_live_is_not_deleted,
    s169_many_delete_one_session,
    s170_s171_archived_ones_and_parents,
    the_current_name_writes_nothing,
}

async fn s148_a_rename(world: World) {
    let a = world.only_a().await;
    let session = world.create(new(&a.id)).await;
    world.advance(Duration::from_secs(9)).await;
    let before = world.changes().await.len();
    let request = rename(&session.id, "  a \u{2003}\u{a0} b ");
    let renamed = world
        .daemon
        .api
        .rename_session(request)
        .await
        .unwrap()
        .session
        .unwrap();
    assert_eq!(
        (renamed.name.as_str(), renamed.updated_at),
        ("a b", Some(world.now()))
    );
    assert_ne!(renamed.etag, session.etag);
    let new = world.session_changes_since(before).await;
    assert_eq!(new.iter().map(told).collect::<Vec<_>>(), ["upserted renamed"]);
}

async fn the_current_name_writes_nothing(world: World) {
    let a = world.only_a().await;
    let named = pb::CreateSessionRequest {
        name: "x".into(),
        ..new(&a.id)
    };
    let session = world.create(named).await;
    world.advance(Duration::from_secs(1)).await;
    let call = world.daemon.api.rename_session(rename(&session.id, " x "));
    assert_eq!(world.unchanged_by(call).await.unwrap().session.unwrap(), session);
}

async fn s149_s150_s151_names_that_are_refused(world: World) {
    let a = world.only_a().await;
    let id = world.create(new(&a.id)).await.id;
    // A family of two code points, so that 32 of them are 64.
    let longest = "\u{1f468}\u{1f3fd}".repeat(32);
    let answer = world
        .daemon
        .api
        .rename_session(rename(&id, &longest))
        .await
        .unwrap();
    assert_eq!(answer.session.unwrap().name, longest);
    for name in ["", " \u{3000} ", &format!("{longest}x"), "a\u{7}b"] {
        let call = world.daemon.api.rename_session(rename(&id, name));
        world.names_field("name", call).await;
    }
    for session_type in [
        pb::SessionType::Coordinator,
        pb::SessionType::Spawned,
        pb::SessionType::System,
    ] {
        let request = pb::CreateSessionRequest {
            r#type: session_type.into(),
            ..new(&a.id)
        };
        let id = world.create(request).await.id;
        let call = world.daemon.api.rename_session(rename(&id, "x"));
        world.names_field("name", call).await;
    }
}

async fn s152_sessions_in_every_state_are_renamed(world: World) {
    let a = world.only_a().await;
    let id = world.create(new(&a.id)).await.id;
    let renamed = |name: &'static str| {
        let (api, request) = (world.daemon.api.clone(), rename(&id, name));
        async move { api.rename_session(request).await.unwrap().session.unwrap().name }
    };
    assert_eq!(renamed("live").await, "live");
    world.stop(&id).await;
    assert_eq!(renamed("stopped").await, "stopped");
    world.daemon.api.archive_session(archive(&id)).await.unwrap();
    assert_eq!(renamed("archived").await, "archived");
}

async fn s153_s154_etags(world: World) {
    let a = world.only_a().await;
    let session = world.create(new(&a.id)).await;
    let with = |name: &str, etag: &str| pb::RenameSessionRequest {
        etag: etag.to_owned(),
        ..rename(&session.id, name)
    };
    let (one, other) = tokio::join!(
        world.daemon.api.rename_session(with("one", &session.etag)),
        world.daemon.api.rename_session(with("other", &session.etag)),
    );
    let (won, lost) = match (one, other) {
        (Ok(won), Err(lost)) | (Err(lost), Ok(won)) => (won, lost),
        both => panic!("one wins: {both:?}"),
    };
    assert_eq!(
        (lost.code, lost.reason.as_str()),
        (Code::Aborted, "ETAG_MISMATCH")
    );
    assert_eq!(world.session(&session.id).await, won.session.unwrap());
    let (api, etag, id) = (&world.daemon.api, session.etag.clone(), session.id.clone());
    let labels = pb::Session {
        permission_mode: pb::PermissionMode::DenyAll.into(),
        ..Default::default()
    };
    let updated = pb::UpdateSessionRequest {
        etag: etag.clone(),
        ..update(&id, &[], labels)
    };
    let stopped = pb::StopSessionRequest {
        etag: etag.clone(),
        ..stop(&id, pb::StopCause::User)
    };
    let archived = pb::ArchiveSessionRequest {
        etag: etag.clone(),
        ..archive(&id)
    };
    let unarchived = pb::UnarchiveSessionRequest {
        etag: etag.clone(),
        ..unarchive(&id)
    };
    let deleted = pb::DeleteSessionRequest {
        etag,
        force: true,
        ..delete(&id)
    };
    let failures = world
        .unchanged_by(async {
            [
                api.rename_session(with("late", &session.etag)).await.unwrap_err(),
                api.update_session(updated).await.unwrap_err(),
                api.stop_session(stopped).await.unwrap_err(),
                api.archive_session(archived).await.unwrap_err(),
                api.unarchive_session(unarchived).await.unwrap_err(),
                api.delete_session(deleted).await.unwrap_err(),
            ]
        })
        .await;
    for failure in failures {
        assert_eq!(failure.reason, "ETAG_MISMATCH", "{failure:?}");
    }
}

async fn an_update_of_labels_and_permission_mode(world: World) {
    let a = world.only_a().await;
    let request = pb::CreateSessionRequest {
        labels: [("env".to_owned(), "prod".to_owned())].into_iter().collect(),
        permission_mode: pb::PermissionMode::DenyAll.into(),
        ..new(&a.id)
    };
    let session = world.create(request).await;
    let wanted = pb::Session {
        labels: [("team".to_owned(), "x".to_owned())].into_iter().collect(),
        permission_mode: pb::PermissionMode::ApproveReads.into(),
        name: "ignored".into(),
        ..Default::default()
    };
    let api = &world.daemon.api;
    let before = world.changes().await.len();
    let without_mask = api
        .update_session(update(&session.id, &[], wanted.clone()))
        .await
        .unwrap();
    let without_mask = without_mask.session.unwrap();
    assert_eq!(without_mask.permission_mode(), pb::PermissionMode::ApproveReads);
    assert_eq!(
        (&without_mask.labels, without_mask.name.as_str()),
        (&session.labels, "")
    );
    let masked = api
        .update_session(update(&session.id, &["labels"], wanted.clone()))
        .await
        .unwrap();
    let masked = masked.session.unwrap();
    assert_eq!(
        (&masked.labels, masked.permission_mode()),
        (&wanted.labels, pb::PermissionMode::ApproveReads)
    );
    let new = world.session_changes_since(before).await;
    assert_eq!(new.iter().map(told).collect::<Vec<_>>(), ["upserted updated"; 2]);
    let call = api.update_session(update(
        &session.id,
        &["labels", "permission_mode"],
        wanted.clone(),
    ));
    assert_eq!(world.unchanged_by(call).await.unwrap().session.unwrap(), masked);
    let nothing = api
        .update_session(update(&session.id, &["labels"], pb::Session::default()))
        .await;
    assert!(nothing.unwrap().session.unwrap().labels.is_empty());
    for path in ["name", "colour"] {
        let call = api.update_session(update(&session.id, &[path], wanted.clone()));
        let failure = world.names_field("update_mask", call).await;
        assert!(failure.message.contains(path), "{failure:?}");
    }
    let unset = update(&session.id, &["permission_mode"], pb::Session::default());
    world
        .names_field("session.permission_mode", api.update_session(unset))
        .await;
    let long = pb::Session {
        labels: [("k".to_owned(), "v".repeat(256))].into_iter().collect(),
        ..Default::default()
    };
    let long = api.update_session(update(&session.id, &["labels"], long));
    world.names_field("session.labels", long).await;
}

async fn s156_s157_s158_archived_and_back(world: World) {
    let a = world.only_a().await;
    let id = world.create(new(&a.id)).await.id;
    world.stop(&id).await;
    world.advance(Duration::from_secs(3)).await;
    let (api, before) = (&world.daemon.api, world.changes().await.len());
    let archived = api.archive_session(archive(&id)).await.unwrap().session.unwrap();
    assert_eq!(
        (archived.archived_at, archived.state()),
        (Some(world.now()), pb::SessionState::Stopped)
    );
    world.advance(Duration::from_secs(3_600)).await;
    let again = world
        .unchanged_by(api.archive_session(archive(&id)))
        .await
        .unwrap();
    assert_eq!(again.session.unwrap(), archived);
    let back = api
        .unarchive_session(unarchive(&id))
        .await
        .unwrap()
        .session
        .unwrap();
    assert_eq!(back.archived_at, None);
    let again = world
        .unchanged_by(api.unarchive_session(unarchive(&id)))
        .await
        .unwrap();
    assert_eq!(again.session.unwrap(), back);
    let new = world.session_changes_since(before).await;
    assert_eq!(
        new.iter().map(told).collect::<Vec<_>>(),
        ["upserted archived", "upserted unarchived"]
    );
}

async fn s159_what_is_live_is_not_archived(world: World) {
    let a = world.only_a().await;
    for (id, state) in live_ones(&world, &a.id).await {
        let call = world.daemon.api.archive_session(archive(&id));
        let failure = world
            .refused(Code::FailedPrecondition, "SESSION_STATE_CONFLICT", call)
            .await;
        assert_eq!(failure.metadata["state"], state);
        assert!(failure.message.contains(state), "{failure:?}");
        assert_eq!(failure.preconditions.len(), 1);
    }
}

async fn s160_many_archive_one_session(world: World) {
    let a = world.only_a().await;
    let id = world.create(new(&a.id)).await.id;
    world.stop(&id).await;
    let before = world.changes().await.len();
    let mut calls = tokio::task::JoinSet::new();
    for _ in 0..32 {
        let (api, request) = (world.daemon.api.clone(), archive(&id));
        calls.spawn(async move { api.archive_session(request).await.unwrap().session.unwrap() });
    }
    while let Some(answer) = calls.join_next().await {
        assert_eq!(answer.unwrap().archived_at, Some(world.now()));
    }
    assert_eq!(world.session_changes_since(before).await.len(), 1);
}

async fn s161_s162_an_archived_session(world: World) {
    let a = world.only_a().await;
    let id = world.create(new(&a.id)).await.id;
    world.stop(&id).await;
    let api = &world.daemon.api;
    api.archive_session(archive(&id)).await.unwrap();
    let listed = |filter: pb::SessionFilter| world.ids(filter, pb::SessionSort::Recent);
    let with = |archive: pb::ArchiveFilter| pb::SessionFilter {
        archive: archive.into(),
        ..Default::default()
    };
    assert!(listed(pb::SessionFilter::default()).await.is_empty());
    let stopped = pb::SessionFilter {
        states: vec![pb::SessionState::Stopped.into()],
        ..Default::default()
    };
    assert!(listed(stopped).await.is_empty());
    assert_eq!(listed(with(pb::ArchiveFilter::Only)).await, [id.clone()]);
    assert_eq!(listed(with(pb::ArchiveFilter::Include)).await, [id.clone()]);
    assert!(
        api.get_session(get(&id))
            .await
            .unwrap()
            .session
            .unwrap()
            .archived_at
            .is_some()
    );
    let healthy = pb::GetSessionRequest {
        include_health: true,
        ..get(&id)
    };
    let session = api.get_session(healthy).await.unwrap().session.unwrap();
    assert_eq!(session.health.unwrap().state(), pb::HealthState::Stopped);
    api.rename_session(rename(&id, "x")).await.unwrap();
    api.delete_session(delete(&id)).await.unwrap();
    assert!(listed(with(pb::ArchiveFilter::Include)).await.is_empty());
}

async fn s163_counts_of_archived_ones(world: World) {
    let a = world.only_a().await;
    let id = world.create(new(&a.id)).await.id;
    world.stop(&id).await;
    let before = world.record(&a.id).await.session_counts.unwrap();
    assert_eq!((before.stopped_count, before.archived_count), (1, 0));
    world.daemon.api.archive_session(archive(&id)).await.unwrap();
    let counts = world.record(&a.id).await.session_counts.unwrap();
    assert_eq!(counts.archived_count, 1);
    world.daemon.api.unarchive_session(unarchive(&id)).await.unwrap();
    assert_eq!(world.record(&a.id).await.session_counts.unwrap(), before);
}

async fn s164_s168_a_deletion(world: World) {
    let a = world.only_a().await;
    let (id, other) = (
        world.create(new(&a.id)).await.id,
        world.create(new(&a.id)).await.id,
    );
    world.stop(&id).await;
    let (api, before) = (&world.daemon.api, world.changes().await.len());
    let answer = api.delete_session(delete(&id)).await.unwrap();
    assert_eq!(answer.id, id);
    let call = api.get_session(get(&id));
    world.refused(Code::NotFound, "SESSION_NOT_FOUND", call).await;
    let everything = pb::SessionFilter {
        archive: pb::ArchiveFilter::Include.into(),
        include_internal: true,
        ..Default::default()
    };
    assert_eq!(world.ids(everything, pb::SessionSort::Recent).await, [other]);
    let new = world.session_changes_since(before).await;
    assert_eq!(new.iter().map(told).collect::<Vec<_>>(), ["deleted removed"]);
    assert_eq!(new[0].change.workspace_id.as_ref().unwrap().as_str(), a.id);
    assert!(world.position(&answer.revision).await < new[0].position);
    world
        .refused(
            Code::NotFound,
            "SESSION_NOT_FOUND",
            api.delete_session(delete(&id)),
        )
        .await;
    for missing in [id.as_str(), "no id at all"] {
        let allowed = pb::DeleteSessionRequest {
            allow_missing: true,
            ..delete(missing)
        };
        assert_eq!(
            world.unchanged_by(api.delete_session(allowed)).await.unwrap().id,
            ""
        );
    }
}

async fn s166_s167_what_is_live_is_not_deleted(world: World) {
    let a = world.only_a().await;
    for (id, state) in live_ones(&world, &a.id).await {
        let call = world.daemon.api.delete_session(delete(&id));
        let failure = world
            .refused(Code::FailedPrecondition, "SESSION_STATE_CONFLICT", call)
            .await;
        assert_eq!(failure.metadata["state"], state);
        let forced = pb::DeleteSessionRequest {
            force: true,
            ..delete(&id)
        };
        world.daemon.api.delete_session(forced).await.unwrap();
        let call = world.daemon.api.get_session(get(&id));
        world.refused(Code::NotFound, "SESSION_NOT_FOUND", call).await;
    }
}

async fn s169_many_delete_one_session(world: World) {
    let a = world.only_a().await;
    let id = world.create(new(&a.id)).await.id;
    world.stop(&id).await;
    let before = world.changes().await.len();
    let mut calls = tokio::task::JoinSet::new();
    for _ in 0..32 {
        let (api, request) = (world.daemon.api.clone(), delete(&id));
        calls.spawn(async move { api.delete_session(request).await });
    }
    let mut deleted = 0;
    while let Some(outcome) = calls.join_next().await {
        match outcome.unwrap() {
            Ok(_) => deleted += 1,
            Err(failure) => assert_eq!(failure.reason, "SESSION_NOT_FOUND"),
        }
    }
    assert_eq!((deleted, world.session_changes_since(before).await.len()), (1, 1));
}

async fn s170_s171_archived_ones_and_parents(world: World) {
    let a = world.only_a().await;
    let parent = world.create(new(&a.id)).await.id;
    let mut children = Vec::new();
    for _ in 0..2 {
        let request = pb::CreateSessionRequest {
            parent_session_id: parent.clone(),
            ..new(&a.id)
        };
        let id = world.create(request).await.id;
        children.push(world.stop(&id).await);
    }
    world.stop(&parent).await;
    world.daemon.api.archive_session(archive(&parent)).await.unwrap();
    world.daemon.api.delete_session(delete(&parent)).await.unwrap();
    for child in &children {
        assert!(child.resumable);
        assert_eq!(world.session(&child.id).await, *child);
    }
    assert_eq!(world.total_of(pb::SessionFilter::default()).await, 2);
}

/// A starting, an active and a stopping session, with the words for their states.
async fn live_ones(world: &World, workspace_id: &str) -> [(String, &'static str); 3] {
    let starting = pb::CreateSessionRequest {
        initial_state: pb::SessionState::Starting.into(),
        ..new(workspace_id)
    };
    let starting = world.create(starting).await.id;
    let active = world.create(new(workspace_id)).await.id;
    world.bind(&active, "h1").await;
    let stopping = world.create(new(workspace_id)).await.id;
    world.bind(&stopping, "h1").await;
    let answer = world
        .daemon
        .api
        .stop_session(stop(&stopping, pb::StopCause::User))
        .await
        .unwrap();
    assert_eq!(answer.session.unwrap().state(), pb::SessionState::Stopping);
    [(starting, "starting"), (active, "active"), (stopping, "stopping")]
}
