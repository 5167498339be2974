//! Heartbeats: what renews a lease, what a runtime reports, and what its session shows of it.

use std::time::Duration;

use compozy_proto::session::v1 as pb;
use tonic::Code;

use crate::asked::{beat, bind, finish, list, new, stop};
use crate::leases_place::{LOST, NO_LEASE, settled, stalled, waiting};
use crate::world::World;

cases! {
    s075_s076_a_heartbeat_renews_and_tells_nobody,
    s077_s078_activity_alone_is_no_change,
    s079_s080_a_lease_that_is_over_renews_and_ends_nothing,
    s081_s082_many_heartbeats_at_once_are_taken_each_by_itself,
    s083_s084_a_heartbeat_is_told_that_the_session_shall_stop,
    s121_what_moves_updated_at_and_the_etag,
    s191_s192_a_runtime_says_what_it_is_doing,
    s196_s198_health_is_looked_at_without_a_write,
    s201_s202_a_runtime_says_what_it_waits_for,
    s203_s204_s205_s206_a_settled_turn_is_done_until_somebody_has_seen_it,
    s209_n014_what_is_told_once_is_not_told_again,
    the_first_heartbeat_makes_a_starting_session_active,
    a_batch_holds_one_to_a_thousand_heartbeats_one_a_lease,
    what_a_runtime_reports_has_its_bounds_and_no_secrets,
}

async fn s075_s076_a_heartbeat_renews_and_tells_nobody(world: World) {
    let a = world.only_a().await;
    let id = world.create(new(&a.id)).await.id;
    let lease = world.bind(&id, "h1").await;
    let before = world.session(&id).await;
    world.advance(Duration::from_secs(20)).await;
    let head = world.head().await;
    let answer = world.beat(&lease.token).await.unwrap();
    assert_eq!(answer.session_id, id);
    assert_eq!(answer.state(), pb::SessionState::Active);
    assert_eq!(answer.expires_at, Some(world.now_plus(30)));
    for _ in 0..999 {
        world.beat(&lease.token).await.unwrap();
    }
    let after = world.session(&id).await;
    let runtime = after.runtime.as_ref().unwrap();
    assert_eq!(runtime.expires_at, Some(world.now_plus(30)));
    assert_eq!(runtime.last_heartbeat_at, Some(world.now()));
    assert_eq!(runtime.generation, 1);
    assert_eq!((after.etag, after.updated_at), (before.etag, before.updated_at));
    assert_eq!(after.version, before.version);
    assert_eq!(world.head().await, head);
}

async fn s077_s078_activity_alone_is_no_change(world: World) {
    let a = world.only_a().await;
    let ids: [String; 3] = world.create_some(&a.id).await;
    let lease = world.bind(&ids[0], "h1").await;
    world.beat(&lease.token).await.unwrap();
    let before = world.session(&ids[0]).await;
    let order = |sort| world.ids(pb::SessionFilter::default(), sort);
    let recent = order(pb::SessionSort::Recent).await;
    let head = world.head().await;
    world.advance(Duration::from_secs(1)).await;
    let report = pb::HeartbeatRequest {
        activity: Some(pb::Activity {
            last_activity_at: None,
            kind: "tool".to_owned(),
            detail: "ls -l\nin a".to_owned(),
            current_tool: "bash".to_owned(),
            turn_id: "t1".to_owned(),
        }),
        ..beat(&lease.token)
    };
    world.take_report(report.clone()).await;
    let after = world.session(&ids[0]).await;
    let activity = pb::Activity {
        last_activity_at: Some(world.now()),
        ..report.activity.unwrap()
    };
    assert_eq!(after.activity, Some(activity));
    assert_eq!((after.etag, after.updated_at), (before.etag, before.updated_at));
    assert_eq!(after.version, before.version);
    assert_eq!(world.head().await, head);
    // Within ten seconds a sweep has run, and the order follows.
    world.advance(Duration::from_secs(5)).await;
    world.sweep().await;
    let first = order(pb::SessionSort::LastActivity).await.remove(0);
    assert_eq!(first, ids[0]);
    assert_eq!(order(pb::SessionSort::Recent).await, recent);
    assert_eq!(world.head().await, head);
}

async fn s079_s080_a_lease_that_is_over_renews_and_ends_nothing(world: World) {
    let a = world.only_a().await;
    let id = world.create(new(&a.id)).await.id;
    let first = world.bind(&id, "h1").await;
    world.pass(Duration::from_secs(30)).await;
    world.bind(&id, "h2").await;
    world.advance(Duration::from_secs(1)).await;
    let before = world.session(&id).await;
    let api = &world.daemon.api;
    for token in [
        first.token.as_str(),
        NO_LEASE,
        "",
        "lease_",
        "lease_zzz",
        "lease_\u{0}",
    ] {
        let refused = world
            .refused(Code::Aborted, LOST, api.heartbeat(beat(token)))
            .await;
        assert!(token.len() < 10 || !refused.message.contains(token));
        let word = finish(token, pb::StopCause::Completed);
        world.refused(Code::Aborted, LOST, api.finish_session(word)).await;
    }
    assert_eq!(world.session(&id).await, before);
}

async fn s081_s082_many_heartbeats_at_once_are_taken_each_by_itself(world: World) {
    let a = world.only_a().await;
    let created = world.create_bound(&a.id, 1_000).await;
    world.advance(Duration::from_secs(10)).await;
    let head = world.head().await;
    let batch = |tokens: Vec<&str>| pb::BatchHeartbeatRequest {
        heartbeats: tokens.into_iter().map(beat).collect(),
    };
    let three = batch(vec![&created[0].token, NO_LEASE, &created[2].token]);
    let results = world.daemon.api.batch_heartbeat(three).await.unwrap().results;
    let outcomes: Vec<_> = results
        .into_iter()
        .map(|result| result.outcome.unwrap())
        .collect();
    let renewed = |outcome: &pb::heartbeat_result::Outcome, id: &str| {
        let pb::heartbeat_result::Outcome::Renewed(answer) = outcome else {
            return false;
        };
        answer.session_id == id && answer.expires_at == Some(world.now_plus(30))
    };
    assert!(renewed(&outcomes[0], &created[0].session_id));
    assert_eq!(
        outcomes[1],
        pb::heartbeat_result::Outcome::Reason(LOST.to_owned())
    );
    assert!(renewed(&outcomes[2], &created[2].session_id));

    let all = batch(created.iter().map(|lease| lease.token.as_str()).collect());
    let results = world.daemon.api.batch_heartbeat(all).await.unwrap().results;
    assert_eq!(results.len(), 1_000);
    for (result, lease) in results.iter().zip(&created) {
        assert!(renewed(result.outcome.as_ref().unwrap(), &lease.session_id));
    }
    assert_eq!(world.head().await, head);
}

async fn s083_s084_a_heartbeat_is_told_that_the_session_shall_stop(world: World) {
    let a = world.only_a().await;
    let id = world.create(new(&a.id)).await.id;
    let lease = world.bind(&id, "h1").await;
    let answer = world.beat(&lease.token).await.unwrap();
    assert!(!answer.stop_requested && answer.stop_requested_at.is_none());
    assert_eq!(answer.stop_cause(), pb::StopCause::Unspecified);
    world.advance(Duration::from_secs(1)).await;
    let asked_at = world.now();
    world
        .daemon
        .api
        .stop_session(stop(&id, pb::StopCause::User))
        .await
        .unwrap();
    for _ in 0..2 {
        world.advance(Duration::from_secs(1)).await;
        let answer = world.beat(&lease.token).await.unwrap();
        assert_eq!(answer.state(), pb::SessionState::Stopping);
        assert!(answer.stop_requested);
        assert_eq!(answer.stop_requested_at, Some(asked_at));
        assert_eq!(answer.stop_cause(), pb::StopCause::User);
        assert_eq!(answer.expires_at, Some(world.now_plus(30)));
    }
}

async fn s121_what_moves_updated_at_and_the_etag(world: World) {
    let a = world.only_a().await;
    let mut seen = vec![world.create(new(&a.id)).await];
    let id = seen[0].id.clone();
    world.advance(Duration::from_secs(1)).await;
    let lease = world.bind(&id, "h1").await;
    seen.push(world.session(&id).await);
    world.advance(Duration::from_secs(1)).await;
    world.beat(&lease.token).await.unwrap();
    seen.push(world.session(&id).await);
    world.advance(Duration::from_secs(1)).await;
    seen.push(world.stop_for(&id, pb::StopCause::User, "").await);
    world.advance(Duration::from_secs(1)).await;
    seen.push(world.finish_done(&lease.token).await);
    let moves: Vec<(bool, bool)> = seen
        .windows(2)
        .map(|pair| {
            (
                pair[0].updated_at != pair[1].updated_at,
                pair[0].etag != pair[1].etag,
            )
        })
        .collect();
    let (still, moved) = ((false, false), (true, true));
    assert_eq!(moves, [still, still, moved, moved]);
    assert_eq!(seen[4].updated_at, Some(world.now()));
}

async fn s191_s192_a_runtime_says_what_it_is_doing(world: World) {
    let a = world.only_a().await;
    let id = world.create(new(&a.id)).await.id;
    assert_eq!(world.health(&id).await.state(), pb::HealthState::Detached);
    let lease = world.bind(&id, "h1").await;
    for (prompting, state) in [(true, pb::HealthState::Prompting), (false, pb::HealthState::Idle)] {
        let report = pb::HeartbeatRequest {
            prompting: Some(prompting),
            ..beat(&lease.token)
        };
        world.take_report(report).await;
        // What a heartbeat does not speak of stays as it was.
        world.beat(&lease.token).await.unwrap();
        let health = world.health(&id).await;
        assert_eq!((health.state(), health.health()), (state, pb::Health::Healthy));
        assert_eq!(health.eligible_for_wake, !prompting);
    }
    world.take_report(stalled(&lease.token, true)).await;
    let health = world.health(&id).await;
    assert_eq!(health.health(), pb::Health::Degraded);
    assert_eq!(health.badge(), pb::SessionBadge::Unhealthy);
    assert!(!health.attachable && !health.eligible_for_wake);
}

async fn s196_s198_health_is_looked_at_without_a_write(world: World) {
    let a = world.only_a().await;
    let id = world.create(new(&a.id)).await.id;
    world.stop(&id).await;
    let health = world.health(&id).await;
    assert_eq!(health.state(), pb::HealthState::Stopped);
    assert_eq!(health.health(), pb::Health::Dead);
    let look = async {
        for _ in 0..100 {
            assert_eq!(world.health(&id).await, health);
        }
    };
    world.unchanged_by(look).await;
}

async fn s201_s202_a_runtime_says_what_it_waits_for(world: World) {
    use pb::WaitingReason::{Auth, Input, Unspecified};
    let a = world.only_a().await;
    let id = world.create(new(&a.id)).await.id;
    let lease = world.bind(&id, "h1").await;
    let cases: [(&[pb::WaitingReason], pb::SessionBadge); 5] = [
        (&[Auth], pb::SessionBadge::WaitingForAuth),
        (&[Input], pb::SessionBadge::WaitingForInput),
        (&[Input, Auth], pb::SessionBadge::WaitingForAuth),
        (&[Unspecified], pb::SessionBadge::Idle),
        (&[], pb::SessionBadge::Idle),
    ];
    for (reasons, badge) in cases {
        world.take_report(waiting(&lease.token, reasons)).await;
        world.beat(&lease.token).await.unwrap();
        assert_eq!(world.session(&id).await.badge(), badge, "{reasons:?}");
    }
}

async fn s203_s204_s205_s206_a_settled_turn_is_done_until_somebody_has_seen_it(world: World) {
    let a = world.only_a().await;
    let id = world.create(new(&a.id)).await.id;
    let lease = world.bind(&id, "h1").await;
    world.beat(&lease.token).await.unwrap();
    for _ in 0..2 {
        let before = world.head().await;
        world.take_report(settled(&lease.token)).await;
        assert_eq!(world.told_since(before).await, ["upserted badge"]);
        let done = world.session(&id).await;
        assert_eq!(done.badge(), pb::SessionBadge::Done);
        assert_eq!(world.health(&id).await.badge(), pb::SessionBadge::Done);
        let listed = world
            .daemon
            .api
            .list_sessions(list(pb::SessionFilter::default()))
            .await;
        assert_eq!(listed.unwrap().sessions[0].badge(), pb::SessionBadge::Done);

        let before = world.head().await;
        world.advance(Duration::from_secs(1)).await;
        let seen = world.mark_seen(&id).await;
        assert_eq!(seen.badge(), pb::SessionBadge::Idle);
        assert_eq!((seen.etag, seen.updated_at), (done.etag, done.updated_at));
        assert_eq!(world.told_since(before).await, ["upserted seen"]);
        world.unchanged_by(world.mark_seen(&id)).await;
    }
}

async fn s209_n014_what_is_told_once_is_not_told_again(world: World) {
    let a = world.only_a().await;
    let id = world.create(new(&a.id)).await.id;
    let lease = world.bind(&id, "h1").await;
    let before = world.head().await;
    world.beat(&lease.token).await.unwrap();
    let active = pb::HeartbeatRequest {
        activity: Some(pb::Activity {
            kind: "text".to_owned(),
            ..Default::default()
        }),
        ..beat(&lease.token)
    };
    world.take_report(active).await;
    assert_eq!(world.told_since(before).await, Vec::<String>::new());
    for _ in 0..3 {
        world
            .take_report(waiting(&lease.token, &[pb::WaitingReason::Input]))
            .await;
    }
    assert_eq!(world.told_since(before).await, ["upserted badge"]);
}

async fn the_first_heartbeat_makes_a_starting_session_active(world: World) {
    let a = world.only_a().await;
    let request = pb::CreateSessionRequest {
        initial_state: pb::SessionState::Starting.into(),
        bind: Some(crate::asked::binding("h1", 30)),
        ..new(&a.id)
    };
    let answer = world.daemon.api.create_session(request).await.unwrap();
    let (session, lease) = (answer.session.unwrap(), answer.lease.unwrap());
    assert_eq!(session.state(), pb::SessionState::Starting);
    let before = world.head().await;
    world.advance(Duration::from_secs(1)).await;
    let answer = world.beat(&lease.token).await.unwrap();
    assert_eq!(answer.state(), pb::SessionState::Active);
    assert_eq!(world.told_since(before).await, ["upserted state"]);
    let active = world.session(&session.id).await;
    assert_eq!(active.updated_at, Some(world.now()));
    assert_ne!(active.etag, session.etag);
}

async fn a_batch_holds_one_to_a_thousand_heartbeats_one_a_lease(world: World) {
    let a = world.only_a().await;
    let id = world.create(new(&a.id)).await.id;
    let lease = world.bind(&id, "h1").await;
    for count in [0, 1_001] {
        let batch = pb::BatchHeartbeatRequest {
            heartbeats: vec![beat(&lease.token); count],
        };
        let refused = world
            .refused(
                Code::InvalidArgument,
                "INVALID_FIELD",
                world.daemon.api.batch_heartbeat(batch),
            )
            .await;
        assert_eq!(refused.fields, ["heartbeats"]);
    }
    let too_long = pb::HeartbeatRequest {
        activity: Some(pb::Activity {
            kind: "k".repeat(65),
            ..Default::default()
        }),
        ..beat(NO_LEASE)
    };
    let batch = pb::BatchHeartbeatRequest {
        heartbeats: vec![beat(&lease.token), beat(&lease.token), too_long],
    };
    let results = world.daemon.api.batch_heartbeat(batch).await.unwrap().results;
    let reasons: Vec<Option<String>> = results
        .into_iter()
        .map(|result| match result.outcome.unwrap() {
            pb::heartbeat_result::Outcome::Renewed(_) => None,
            pb::heartbeat_result::Outcome::Reason(reason) => Some(reason),
        })
        .collect();
    let invalid = Some("INVALID_FIELD".to_owned());
    assert_eq!(reasons, [None, invalid.clone(), invalid]);
}

async fn what_a_runtime_reports_has_its_bounds_and_no_secrets(world: World) {
    let a = world.only_a().await;
    let id = world.create(new(&a.id)).await.id;
    let lease = world
        .daemon
        .api
        .bind_runtime(bind(&id, "h1", 3_600))
        .await
        .unwrap()
        .lease
        .unwrap();
    let reporting = |activity: pb::Activity| pb::HeartbeatRequest {
        activity: Some(activity),
        ..beat(&lease.token)
    };
    let long = |length: usize| "x".repeat(length);
    let activity = pb::Activity::default;
    for (activity, field) in [
        (
            pb::Activity {
                kind: long(65),
                ..activity()
            },
            "activity.kind",
        ),
        (
            pb::Activity {
                detail: long(1_025),
                ..activity()
            },
            "activity.detail",
        ),
        (
            pb::Activity {
                current_tool: long(129),
                ..activity()
            },
            "activity.current_tool",
        ),
        (
            pb::Activity {
                turn_id: long(129),
                ..activity()
            },
            "activity.turn_id",
        ),
        (
            pb::Activity {
                kind: "a\u{0}".to_owned(),
                ..activity()
            },
            "activity.kind",
        ),
        (
            pb::Activity {
                detail: "a\u{0}".to_owned(),
                ..activity()
            },
            "activity.detail",
        ),
    ] {
        let refused = world
            .refused(
                Code::InvalidArgument,
                "INVALID_FIELD",
                world.daemon.api.heartbeat(reporting(activity)),
            )
            .await;
        assert_eq!(refused.fields, [field]);
    }
    let telling = pb::Activity {
        kind: long(64),
        detail: "Authorization: Bearer abc.def.ghi".to_owned(),
        ..activity()
    };
    world.take_report(reporting(telling)).await;
    let shown = format!("{:?}", world.session(&id).await);
    assert!(!shown.contains("abc.def.ghi"), "{shown}");
}
