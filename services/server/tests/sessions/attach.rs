//! Operators who enter a session: one at a time, for a time, and only where there is something to enter.

use std::time::Duration;

use compozy_proto::session::v1 as pb;
use tonic::Code;

use crate::asked::{R, beat, bind, new};
use crate::leases_place::{at_once, entering, stalled};
use crate::world::World;

cases! {
    s175_s176_a_lease_lasts_as_long_as_it_was_asked_for,
    s177_a_ttl_is_one_second_to_one_day,
    s178_s179_a_live_lease_is_its_holders_who_may_renew_it,
    s180_of_many_operators_at_once_one_enters,
    s181_s182_s183_only_a_sound_active_session_can_be_entered,
    s184_s185_n015_a_lapse_is_seen_at_once_and_told_once,
    s186_who_is_inside_keeps_others_out,
    s187_a_stop_ends_the_lease,
    s188_a_stall_keeps_operators_out_while_it_lasts,
    s189_what_a_list_says_is_what_each_record_says,
    s190_the_runtime_lease_is_another_one,
    s197_a_session_can_be_woken_exactly_without_a_reason_against_it,
    an_operator_gives_back_only_its_own_lease,
}

async fn s175_s176_a_lease_lasts_as_long_as_it_was_asked_for(world: World) {
    let a = world.only_a().await;
    let before = world.create(new(&a.id)).await;
    let head = world.head().await;
    world.advance(Duration::from_secs(1)).await;
    let request = pb::AcquireAttachLeaseRequest {
        ttl: None,
        ..entering(&before.id, "h1", 0)
    };
    let answer = world.daemon.api.acquire_attach_lease(request).await.unwrap();
    let session = answer.session.unwrap();
    let attach = session.attach.as_ref().unwrap();
    assert_eq!(
        (attach.holder.as_str(), attach.expires_at),
        ("h1", Some(world.now_plus(900)))
    );
    assert_eq!(
        (&session.etag, session.updated_at),
        (&before.etag, before.updated_at)
    );
    assert_eq!(world.told_since(head).await, ["upserted attach_lease"]);
    assert_eq!(world.session(&before.id).await, session);
    for ttl in [1, 86_400] {
        let session = world.enter(&before.id, "h1", ttl).await.unwrap();
        assert_eq!(session.attach.unwrap().expires_at, Some(world.now_plus(ttl)));
    }
}

async fn s177_a_ttl_is_one_second_to_one_day(world: World) {
    let a = world.only_a().await;
    let id = world.create(new(&a.id)).await.id;
    for (seconds, nanos) in [
        (0, 0),
        (0, 500_000_000),
        (-1, 0),
        (86_401, 0),
        (86_400, 1),
        (1_i64 << 62, 0),
        (i64::MAX, i32::MAX),
    ] {
        let request = pb::AcquireAttachLeaseRequest {
            ttl: Some(prost_types::Duration { seconds, nanos }),
            ..entering(&id, "h1", 0)
        };
        let call = world.daemon.api.acquire_attach_lease(request);
        let refused = world.refused(Code::InvalidArgument, "INVALID_FIELD", call).await;
        assert_eq!(refused.fields, ["ttl"]);
    }
    assert_eq!(world.session(&id).await.attach, None);
}

async fn s178_s179_a_live_lease_is_its_holders_who_may_renew_it(world: World) {
    let a = world.only_a().await;
    let id = world.create(new(&a.id)).await.id;
    world.enter(&id, "h1", 900).await.unwrap();
    world
        .refused(Code::Aborted, "LEASE_HELD", world.enter(&id, "h2", 60))
        .await;
    world.advance(Duration::new(899, 999_999_999)).await;
    world
        .refused(Code::Aborted, "LEASE_HELD", world.enter(&id, "h2", 60))
        .await;
    let head = world.head().await;
    let renewed = world.enter(&id, "h1", 60).await.unwrap();
    assert_eq!(renewed.attach.unwrap().expires_at, Some(world.now_plus(60)));
    assert_eq!(world.head().await, head, "a renewal is no news");
    world.advance(Duration::from_secs(60)).await;
    let taken = world.enter(&id, "h2", 60).await.unwrap();
    assert_eq!(taken.attach.unwrap().holder, "h2");
}

async fn s180_of_many_operators_at_once_one_enters(world: World) {
    let a = world.only_a().await;
    let id = world.create(new(&a.id)).await.id;
    let outcomes = at_once(32, |number| {
        let (api, request) = (world.daemon.api.clone(), entering(&id, &format!("h{number}"), 60));
        async move { api.acquire_attach_lease(request).await }
    })
    .await;
    let (inside, outside): (Vec<_>, Vec<_>) = outcomes.into_iter().partition(Result::is_ok);
    assert_eq!(inside.len(), 1);
    assert!(
        outside
            .iter()
            .all(|outcome| outcome.as_ref().unwrap_err().reason == "LEASE_HELD")
    );
    let session = inside[0].as_ref().unwrap().session.as_ref().unwrap();
    assert_eq!(world.session(&id).await.attach, session.attach);
}

async fn s181_s182_s183_only_a_sound_active_session_can_be_entered(world: World) {
    let a = world.only_a().await;
    let starting = pb::CreateSessionRequest {
        initial_state: pb::SessionState::Starting.into(),
        ..new(&a.id)
    };
    let starting = world.create(starting).await.id;
    let [stopping, stopped, stuck]: [String; 3] = world.create_some(&a.id).await;
    world.bind(&stopping, "h1").await;
    world.stop_for(&stopping, pb::StopCause::User, "").await;
    world.stop(&stopped).await;
    let lease = world.bind(&stuck, "h1").await;
    world.take_report(stalled(&lease.token, true)).await;
    for id in [&starting, &stopping, &stopped, &stuck] {
        world
            .refused(
                Code::FailedPrecondition,
                "SESSION_STATE_CONFLICT",
                world.enter(id, "h1", 60),
            )
            .await;
    }
    world.archive(&stopped).await;
    world
        .refused(
            Code::FailedPrecondition,
            "SESSION_ARCHIVED",
            world.enter(&stopped, "h1", 60),
        )
        .await;
}

async fn s184_s185_n015_a_lapse_is_seen_at_once_and_told_once(world: World) {
    let a = world.only_a().await;
    let id = world.create(new(&a.id)).await.id;
    let head = world.head().await;
    world.enter(&id, "h1", 10).await.unwrap();
    world.pass(Duration::from_secs(10)).await;
    let look = async {
        for _ in 0..10 {
            let session = world.session(&id).await;
            assert_eq!((session.attach, session.attachable), (None, true));
            assert_eq!(listed(&world, true).await, std::slice::from_ref(&id));
            assert!(world.health(&id).await.attachable);
        }
    };
    world.unchanged_by(look).await;
    let before = world.session(&id).await;
    let swept = world.sweep().await;
    assert_eq!(swept.attach_lapsed_count, 1);
    let lease = "upserted attach_lease";
    assert_eq!(world.told_since(head).await, [lease, lease]);
    assert_eq!(world.session(&id).await.updated_at, before.updated_at);
    world.unchanged_by(world.sweep()).await;
}

async fn s186_who_is_inside_keeps_others_out(world: World) {
    let a = world.only_a().await;
    let ids: [String; 2] = world.create_some(&a.id).await;
    let recent = || world.ids(pb::SessionFilter::default(), pb::SessionSort::Recent);
    let before = recent().await;
    let session = world.enter(&ids[0], "h1", 60).await.unwrap();
    assert!(!session.attachable);
    assert_eq!(listed(&world, true).await, std::slice::from_ref(&ids[1]));
    assert_eq!(recent().await, before);
}

async fn s187_a_stop_ends_the_lease(world: World) {
    let a = world.only_a().await;
    let id = world.create(new(&a.id)).await.id;
    world.enter(&id, "h1", 900).await.unwrap();
    let stopped = world.stop(&id).await;
    assert_eq!((stopped.attach, stopped.attachable), (None, false));
    let session = world.session(&id).await;
    assert_eq!((session.attach, session.attachable), (None, false));
}

async fn s188_a_stall_keeps_operators_out_while_it_lasts(world: World) {
    let a = world.only_a().await;
    let id = world.create(new(&a.id)).await.id;
    let lease = world.bind(&id, "h1").await;
    for stall in [true, false] {
        world.take_report(stalled(&lease.token, stall)).await;
        assert_eq!(world.session(&id).await.attachable, !stall);
    }
}

/// What the list says about who can be entered.
async fn listed(world: &World, attachable: bool) -> Vec<String> {
    let filter = pb::SessionFilter {
        attachable: Some(attachable),
        archive: pb::ArchiveFilter::Include.into(),
        ..Default::default()
    };
    world.ids(filter, pb::SessionSort::Recent).await
}

async fn s189_what_a_list_says_is_what_each_record_says(world: World) {
    let a = world.only_a().await;
    for number in 0..200_u32 {
        make_one(&world, &a.id, number).await;
    }
    for _ in 0..2 {
        let all = pb::SessionFilter {
            archive: pb::ArchiveFilter::Include.into(),
            ..Default::default()
        };
        let everyone = world.ids(all.clone(), pb::SessionSort::Recent).await;
        assert_eq!(everyone.len(), 200);
        let attachable = listed(&world, true).await;
        let resumable = pb::SessionFilter {
            resumable: Some(true),
            ..all
        };
        let resumable = world.ids(resumable, pb::SessionSort::Recent).await;
        assert!(!attachable.is_empty() && !resumable.is_empty());
        for id in everyone {
            let session = world.session(&id).await;
            assert_eq!(session.attachable, attachable.contains(&id), "{session:?}");
            assert_eq!(session.resumable, resumable.contains(&id), "{session:?}");
            assert_eq!(world.health(&id).await.attachable, session.attachable);
        }
        world.advance(Duration::from_secs(900)).await;
    }
}

async fn s197_a_session_can_be_woken_exactly_without_a_reason_against_it(world: World) {
    use pb::IneligibilityReason as Reason;
    let a = world.only_a().await;
    for number in 0..200_u32 {
        make_one(&world, &a.id, number).await;
    }
    let prompting = world.create(new(&a.id)).await.id;
    let lease = world.bind(&prompting, "h1").await;
    let report = pb::HeartbeatRequest {
        prompting: Some(true),
        ..beat(&lease.token)
    };
    world.take_report(report).await;
    let mut reasons = std::collections::HashSet::new();
    for _ in 0..2 {
        let all = pb::SessionFilter {
            archive: pb::ArchiveFilter::Include.into(),
            ..Default::default()
        };
        for id in world.ids(all, pb::SessionSort::Recent).await {
            let health = world.health(&id).await;
            let reason = health.ineligibility_reason();
            assert_eq!(health.eligible_for_wake, reason == Reason::Unspecified);
            let is_bad = health.state() != pb::HealthState::Idle || health.health() != pb::Health::Healthy;
            assert!(!(is_bad && health.eligible_for_wake), "{health:?}");
            reasons.insert(reason);
        }
        // Silent for too long from here on.
        world.advance(Duration::from_secs(121)).await;
    }
    for reason in [
        Reason::Unspecified,
        Reason::SessionPromptActive,
        Reason::SessionNotAttachable,
        Reason::SessionHealthStale,
        Reason::SessionHealthUnknown,
    ] {
        assert!(reasons.contains(&reason), "{reason:?} in {reasons:?}");
    }
}

/// One session of a mixture of state, failure, archive, stall and lease.
async fn make_one(world: &World, workspace_id: &str, number: u32) {
    let mut request = new(workspace_id);
    if number.is_multiple_of(10) {
        request.initial_state = pb::SessionState::Starting.into();
    }
    let id = world.create(request).await.id;
    if number.is_multiple_of(10) {
        return;
    }
    let request = bind(&id, "h1", 3_600);
    let lease = match number % 3 {
        0 => None,
        _ => Some(
            world
                .daemon
                .api
                .bind_runtime(request)
                .await
                .unwrap()
                .lease
                .unwrap(),
        ),
    };
    match number % 4 {
        0 => {}
        1 => drop(world.enter(&id, "h1", 60).await.unwrap()),
        2 => drop(world.enter(&id, "h1", 3_600).await.unwrap()),
        _ => {
            if let Some(lease) = &lease {
                world.take_report(stalled(&lease.token, true)).await;
            }
        }
    }
    if number % 5 < 2 {
        let cause = match number % 7 {
            0 => pb::StopCause::Completed,
            1 => pb::StopCause::Timeout,
            _ => pb::StopCause::User,
        };
        let stopped = world.stop_for(&id, cause, "").await;
        if number.is_multiple_of(2)
            && let Some(lease) = &lease
        {
            world.finish_done(&lease.token).await;
        }
        let is_over = stopped.state() == pb::SessionState::Stopped || number.is_multiple_of(2);
        if is_over && number.is_multiple_of(3) {
            world.archive(&id).await;
        }
    }
}

async fn s190_the_runtime_lease_is_another_one(world: World) {
    let a = world.only_a().await;
    let id = world.create(new(&a.id)).await.id;
    let request = bind(&id, "r1", 3_600);
    let lease = world
        .daemon
        .api
        .bind_runtime(request)
        .await
        .unwrap()
        .lease
        .unwrap();
    world.daemon.api.heartbeat(beat(&lease.token)).await.unwrap();
    let runtime = world.session(&id).await.runtime;
    world.enter(&id, "h1", 30).await.unwrap();
    assert_eq!(world.session(&id).await.runtime, runtime);
    world.enter(&id, "h1", 60).await.unwrap();
    assert_eq!(world.session(&id).await.runtime, runtime);
    world.pass(Duration::from_secs(60)).await;
    world.sweep().await;
    let session = world.session(&id).await;
    assert_eq!((session.attach, session.runtime), (None, runtime));
}

async fn an_operator_gives_back_only_its_own_lease(world: World) {
    let a = world.only_a().await;
    let id = world.create(new(&a.id)).await.id;
    let api = &world.daemon.api;
    let leaving = |holder: &str, request_id: &str| pb::ReleaseAttachLeaseRequest {
        session_id: id.clone(),
        holder: holder.to_owned(),
        request_id: request_id.to_owned(),
    };
    world
        .unchanged_by(api.release_attach_lease(leaving("h1", "")))
        .await
        .unwrap();
    world.enter(&id, "h1", 900).await.unwrap();
    let kept = world
        .unchanged_by(api.release_attach_lease(leaving("h2", "")))
        .await
        .unwrap();
    assert_eq!(kept.session.unwrap().attach.unwrap().holder, "h1");
    let head = world.head().await;
    let left = api.release_attach_lease(leaving("h1", R)).await.unwrap();
    let session = left.session.as_ref().unwrap();
    assert_eq!((&session.attach, session.attachable), (&None, true));
    assert_eq!(world.told_since(head).await, ["upserted attach_lease"]);
    world.enter(&id, "h1", 900).await.unwrap();
    let again = world
        .unchanged_by(api.release_attach_lease(leaving("h1", R)))
        .await
        .unwrap();
    assert_eq!(again, left, "the first answer");
    let refused = world
        .refused(
            Code::InvalidArgument,
            "INVALID_FIELD",
            api.release_attach_lease(leaving("", "")),
        )
        .await;
    assert_eq!(refused.fields, ["holder"]);
}
