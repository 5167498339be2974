//! Stopping (cases section 5): what a caller asks for. What runtimes say is beside.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use compozy_proto::session::v1 as pb;
use compozy_server::registry::News;
use tokio_util::sync::CancellationToken;
use tonic::Code;

use crate::asked::{archive, finish, new, seconds, stop};
use crate::place::told;
use crate::world::World;

cases! {
    s087_s088_a_session_without_a_runtime_stops_at_once,
    s094_s095_what_is_over_stays_as_it_is,
    s097_a_stop_that_is_waited_for,
    s098_a_wait_that_is_over_first,
    a_wait_ends_when_the_server_takes_leave,
    a_wait_is_woken_by_the_change_log,
    who_waits_leaves_room_for_runtimes,
    s099_s101_details_and_causes_of_a_newer_contract,
    secrets_are_taken_out_of_a_detail,
    s121_times_and_etags_move_together,
}

async fn s087_s088_a_session_without_a_runtime_stops_at_once(world: World) {
    let a = world.only_a().await;
    let starting = pb::CreateSessionRequest {
        initial_state: pb::SessionState::Starting.into(),
        ..new(&a.id)
    };
    for (request, cause, reason, failure) in [
        (
            new(&a.id),
            pb::StopCause::Completed,
            pb::StopReason::Completed,
            None,
        ),
        (
            starting,
            pb::StopCause::Timeout,
            pb::StopReason::Timeout,
            Some(pb::FailureKind::Timeout),
        ),
    ] {
        let session = world.create(request).await;
        world.advance(Duration::from_secs(5)).await;
        let before = world.changes().await.len();
        let answer = world
            .daemon
            .api
            .stop_session(stop(&session.id, cause))
            .await
            .unwrap();
        let stopped = answer.session.unwrap();
        assert_eq!(stopped.state(), pb::SessionState::Stopped);
        let record = stopped.stop.clone().unwrap();
        assert_eq!((record.cause(), record.reason()), (cause, reason));
        assert_eq!(record.failure.map(|failure| failure.kind()), failure);
        assert_eq!(
            (record.requested_at, record.stopped_at),
            (Some(world.now()), Some(world.now()))
        );
        assert_eq!(stopped.updated_at, Some(world.now()));
        assert!(stopped.etag != session.etag && stopped.version == session.version + 1);
        assert_eq!(world.session(&session.id).await, stopped);
        let new = world.session_changes_since(before).await;
        assert_eq!(new.iter().map(told).collect::<Vec<_>>(), ["upserted state"]);
        assert!(world.position(&answer.revision).await < new[0].position);
    }
}

async fn s094_s095_what_is_over_stays_as_it_is(world: World) {
    let a = world.only_a().await;
    let id = world.create(new(&a.id)).await.id;
    let stopped = world.stop(&id).await;
    for cause in [
        pb::StopCause::Timeout,
        pb::StopCause::Completed,
        pb::StopCause::Unspecified,
    ] {
        let call = world.daemon.api.stop_session(stop(&id, cause));
        let again = world.unchanged_by(call).await.unwrap().session.unwrap();
        assert_eq!(again, stopped);
    }
    let archived = world
        .daemon
        .api
        .archive_session(archive(&id))
        .await
        .unwrap()
        .session
        .unwrap();
    let call = world.daemon.api.stop_session(stop(&id, pb::StopCause::Hook));
    assert_eq!(world.unchanged_by(call).await.unwrap().session.unwrap(), archived);
}

async fn s097_a_stop_that_is_waited_for(world: World) {
    let a = world.only_a().await;
    let id = world.create(new(&a.id)).await.id;
    let lease = world.bind(&id, "h1").await;
    let patient = pb::StopSessionRequest {
        wait: Some(seconds(20)),
        ..stop(&id, pb::StopCause::User)
    };
    let api = world.daemon.api.clone();
    let mut waiting = tokio::task::JoinSet::new();
    waiting.spawn(async move { api.stop_session(patient).await.unwrap() });
    // The runtime learns of it while the caller waits: no write is held.
    loop {
        let answer = world
            .daemon
            .api
            .heartbeat(crate::asked::beat(&lease.token))
            .await
            .unwrap();
        if answer.stop_requested {
            break;
        }
    }
    assert!(waiting.try_join_next().is_none());
    let finish = finish(&lease.token, pb::StopCause::Unspecified);
    world.daemon.api.finish_session(finish).await.unwrap();
    let session = waiting.join_next().await.unwrap().unwrap().session.unwrap();
    assert_eq!(session.state(), pb::SessionState::Stopped);
    assert_eq!(session.stop.unwrap().reason(), pb::StopReason::UserCanceled);
}

async fn s098_a_wait_that_is_over_first(world: World) {
    let a = world.only_a().await;
    let id = world.create(new(&a.id)).await.id;
    let lease = world.bind(&id, "h1").await;
    let began = Instant::now();
    let patient = |wait| pb::StopSessionRequest {
        wait: Some(wait),
        ..stop(&id, pb::StopCause::User)
    };
    let answer = world.daemon.api.stop_session(patient(seconds(1))).await.unwrap();
    assert!(began.elapsed() >= Duration::from_secs(1));
    assert_eq!(answer.session.unwrap().state(), pb::SessionState::Stopping);
    // Nor does it last beyond the deadline of the call, which is answered all the same.
    let answer = world
        .daemon
        .api
        .within(1_500)
        .stop_session(patient(seconds(600)))
        .await
        .unwrap();
    assert_eq!(answer.session.unwrap().state(), pb::SessionState::Stopping);
    let beat = world
        .daemon
        .api
        .heartbeat(crate::asked::beat(&lease.token))
        .await
        .unwrap();
    assert_eq!(beat.state(), pb::SessionState::Stopping);
    for wrong in [
        seconds(-1),
        prost_types::Duration {
            seconds: 1,
            nanos: -1,
        },
        prost_types::Duration {
            seconds: 1,
            nanos: 1_000_000_000,
        },
    ] {
        world
            .names_field("wait", world.daemon.api.stop_session(patient(wrong)))
            .await;
    }
}

async fn a_wait_ends_when_the_server_takes_leave(world: World) {
    let a = world.only_a().await;
    let id = world.create(new(&a.id)).await.id;
    world.bind(&id, "h1").await;
    let (_log, log_moved) = tokio::sync::watch::channel(());
    let parting = CancellationToken::new();
    let leaving = parting.clone();
    world.daemon.registry.hear(News { log_moved, parting });
    let patient = pb::StopSessionRequest {
        wait: Some(seconds(600)),
        ..stop(&id, pb::StopCause::User)
    };
    let began = Instant::now();
    let api = world.daemon.api.clone();
    let waiting = async { api.stop_session(patient).await.unwrap().session.unwrap() };
    let leave = async {
        while world.session(&id).await.state() != pb::SessionState::Stopping {}
        leaving.cancel();
    };
    let (session, ()) = tokio::join!(waiting, leave);
    assert_eq!(session.state(), pb::SessionState::Stopping);
    assert!(began.elapsed() < Duration::from_secs(20));
    // Whoever asks from then on has asked all the same, and waits for nothing.
    let id = world.create(new(&a.id)).await.id;
    world.bind(&id, "h1").await;
    let late = pb::StopSessionRequest {
        wait: Some(seconds(600)),
        ..stop(&id, pb::StopCause::User)
    };
    let session = api.stop_session(late).await.unwrap().session.unwrap();
    assert_eq!(session.state(), pb::SessionState::Stopping);
    assert!(began.elapsed() < Duration::from_secs(20));
}

async fn a_wait_is_woken_by_the_change_log(world: World) {
    let a = world.only_a().await;
    let id = world.create(new(&a.id)).await.id;
    let lease = world.bind(&id, "h1").await;
    let (log, log_moved) = tokio::sync::watch::channel(());
    world.daemon.registry.hear(News {
        log_moved,
        parting: CancellationToken::new(),
    });
    let patient = pb::StopSessionRequest {
        wait: Some(seconds(20)),
        ..stop(&id, pb::StopCause::User)
    };
    let api = world.daemon.api.clone();
    let mut waiting = tokio::task::JoinSet::new();
    waiting.spawn(async move { api.stop_session(patient).await.unwrap() });
    while world.session(&id).await.state() != pb::SessionState::Stopping {}
    let finish = finish(&lease.token, pb::StopCause::Unspecified);
    world.daemon.api.finish_session(finish).await.unwrap();
    log.send(()).unwrap();
    drop(log);
    let session = waiting.join_next().await.unwrap().unwrap().session.unwrap();
    assert_eq!(session.state(), pb::SessionState::Stopped);
}

async fn who_waits_leaves_room_for_runtimes(mut world: World) {
    let a = world.only_a().await;
    let mut leases = HashMap::new();
    for _ in 0..2 {
        let id = world.create(new(&a.id)).await.id;
        let lease = world.bind(&id, "h1").await;
        leases.insert(id, lease.token);
    }
    world
        .restart(|parts| parts.settings.sessions.stop_waits = 1)
        .await;
    let mut waiting = tokio::task::JoinSet::new();
    for id in leases.keys() {
        let patient = pb::StopSessionRequest {
            wait: Some(seconds(20)),
            ..stop(id, pb::StopCause::User)
        };
        let api = world.daemon.api.clone();
        waiting.spawn(async move { api.stop_session(patient).await.unwrap().session.unwrap() });
    }
    // The one that finds no room is answered at once: its session is asked to stop all the same.
    let told = waiting.join_next().await.unwrap().unwrap();
    assert_eq!(told.state(), pb::SessionState::Stopping);
    leases.remove(&told.id);
    let (other, token) = leases.into_iter().next().unwrap();
    let finish = finish(&token, pb::StopCause::Unspecified);
    world.daemon.api.finish_session(finish).await.unwrap();
    let stopped = waiting.join_next().await.unwrap().unwrap();
    assert_eq!(
        (stopped.id, stopped.state),
        (other, pb::SessionState::Stopped.into())
    );
}

async fn s099_s101_details_and_causes_of_a_newer_contract(world: World) {
    let a = world.only_a().await;
    let with = |id: &str, cause: i32, detail: &str| pb::StopSessionRequest {
        session_id: id.to_owned(),
        cause,
        detail: detail.to_owned(),
        ..Default::default()
    };
    let id = world.create(new(&a.id)).await.id;
    let call = world.daemon.api.stop_session(with(&id, 0, &"d".repeat(2_049)));
    world.names_field("detail", call).await;
    let call = world.daemon.api.stop_session(with(&id, 0, "a\u{1b}b"));
    world.names_field("detail", call).await;
    let longest = "d".repeat(2_048);
    let answer = world
        .daemon
        .api
        .stop_session(with(&id, 0, &longest))
        .await
        .unwrap();
    assert_eq!(answer.session.unwrap().stop.unwrap().detail, longest);
    let id = world.create(new(&a.id)).await.id;
    let answer = world.daemon.api.stop_session(with(&id, 99, "")).await.unwrap();
    let record = answer.session.unwrap().stop.unwrap();
    assert_eq!(
        (record.cause(), record.reason(), record.failure),
        (pb::StopCause::Unspecified, pb::StopReason::Completed, None)
    );
}

async fn secrets_are_taken_out_of_a_detail(world: World) {
    let a = world.only_a().await;
    let request = pb::CreateSessionRequest {
        start_cause: "Authorization: Bearer abc.def.ghi".into(),
        ..new(&a.id)
    };
    let session = world.create(request).await;
    let detailed = pb::StopSessionRequest {
        detail: "Authorization: Bearer abc.def.ghi".into(),
        ..stop(&session.id, pb::StopCause::User)
    };
    let stopped = world.daemon.api.stop_session(detailed).await.unwrap();
    assert!(!format!("{session:?}{stopped:?}").contains("abc.def.ghi"));
}

async fn s121_times_and_etags_move_together(world: World) {
    let a = world.only_a().await;
    let second = Duration::from_secs(1);
    let moment = |session: &pb::Session| {
        let at = session.updated_at.unwrap();
        (at.seconds, at.nanos)
    };
    let created = world.create(new(&a.id)).await;
    world.advance(second).await;
    let lease = world.bind(&created.id, "h1").await;
    let bound = world.session(&created.id).await;
    world.advance(second).await;
    world
        .daemon
        .api
        .heartbeat(crate::asked::beat(&lease.token))
        .await
        .unwrap();
    let beaten = world.session(&created.id).await;
    world.advance(second).await;
    let stopping = world
        .daemon
        .api
        .stop_session(stop(&created.id, pb::StopCause::User))
        .await;
    let stopping = stopping.unwrap().session.unwrap();
    world.advance(second).await;
    let finish = finish(&lease.token, pb::StopCause::Unspecified);
    let finished = world
        .daemon
        .api
        .finish_session(finish)
        .await
        .unwrap()
        .session
        .unwrap();
    for quiet in [&bound, &beaten] {
        assert_eq!(
            (&quiet.etag, quiet.updated_at),
            (&created.etag, created.updated_at)
        );
    }
    assert!(moment(&stopping) > moment(&created) && stopping.etag != created.etag);
    assert!(moment(&finished) > moment(&stopping) && finished.etag != stopping.etag);
    let stale = pb::StopSessionRequest {
        etag: created.etag,
        ..stop(&created.id, pb::StopCause::User)
    };
    let call = world.daemon.api.stop_session(stale);
    world.refused(Code::Aborted, "ETAG_MISMATCH", call).await;
}
