//! The sweep: who is given up, when, and what an outage of the catalog changes.

use std::collections::HashMap;
use std::time::Duration;

use compozy_proto::session::v1 as pb;
use compozy_server::registry::session::sweep_metrics::SweepMetrics;
use compozy_server::telemetry::Metrics;
use tonic::Code;

use crate::asked::{beat, bind, finish, new};
use crate::leases_place::{LOST, classified, settled, waiting};
use crate::world::World;

cases! {
    s122_s123_s124_a_lapsed_lease_is_given_up_once,
    s125_a_stop_that_did_not_complete_keeps_its_detail,
    s126_s127_a_start_has_its_time,
    s128_a_session_without_a_runtime_never_lapses,
    s129_two_servers_give_each_session_up_once,
    s132_s133_s134_an_outage_gives_each_lease_its_ttl_once_more,
    s135_s138_a_restart_leaves_live_sessions_alone,
    s193_s194_silence_is_stale_after_its_time,
    s195_each_edge_of_health_is_told_once,
    s207_s208_what_a_badge_is_when_a_session_is_over,
    s365_s366_an_outage_is_forgiven_once,
    s367_after_an_outage_a_runtime_goes_on_before_any_sweep,
    s363_every_change_of_state_is_kept,
    n019_each_lost_session_is_told,
    the_daemon_sweeps_by_itself_and_counts_what_it_did,
}

const TTL: Duration = Duration::from_secs(30);
const NANO: Duration = Duration::from_nanos(1);

async fn s122_s123_s124_a_lapsed_lease_is_given_up_once(world: World) {
    let a = world.only_a().await;
    let id = world.create(new(&a.id)).await.id;
    world.bind(&id, "h1").await;
    world.pass(TTL - NANO).await;
    let swept = world.unchanged_by(world.sweep()).await;
    assert_eq!(swept.stopped, []);

    let head = world.head().await;
    world.advance(NANO).await;
    let swept = world.sweep().await;
    assert_eq!(
        swept.stopped.iter().map(ToString::to_string).collect::<Vec<_>>(),
        [id.clone()]
    );
    let session = world.session(&id).await;
    assert_eq!(session.state(), pb::SessionState::Stopped);
    assert_eq!(
        classified(&session),
        (pb::StopReason::AgentCrashed, pb::FailureKind::ProcessExit)
    );
    let stop = session.stop.as_ref().unwrap();
    assert_eq!(stop.detail, "runtime lease expired while active");
    assert_eq!(stop.stopped_at, Some(world.now()));
    assert_eq!(session.runtime.unwrap().state(), pb::RuntimeState::Lost);
    assert_eq!(session.updated_at, Some(world.now()));
    assert_eq!(world.told_since(head).await, ["upserted state"]);

    for _ in 0..10 {
        world.advance(Duration::from_secs(5)).await;
        let swept = world.unchanged_by(world.sweep()).await;
        assert_eq!(swept.stopped, []);
    }
}

async fn s125_a_stop_that_did_not_complete_keeps_its_detail(world: World) {
    let a = world.only_a().await;
    for (detail, kept) in [("", "stop did not complete"), ("not allowed", "not allowed")] {
        let id = world.create(new(&a.id)).await.id;
        world.bind(&id, "h1").await;
        world.stop_for(&id, pb::StopCause::Hook, detail).await;
        world.pass(TTL).await;
        world.sweep().await;
        let session = world.session(&id).await;
        assert_eq!(session.state(), pb::SessionState::Stopped);
        let crashed = (pb::StopReason::AgentCrashed, pb::FailureKind::ProcessExit);
        assert_eq!(classified(&session), crashed);
        assert_eq!(session.stop.unwrap().detail, kept);
    }
}

async fn s126_s127_a_start_has_its_time(mut world: World) {
    let a = world.only_a().await;
    let starting = pb::CreateSessionRequest {
        initial_state: pb::SessionState::Starting.into(),
        ..new(&a.id)
    };
    let id = world.create(starting.clone()).await.id;
    world.pass(Duration::from_secs(60)).await;
    world.unchanged_by(world.sweep()).await;
    world.advance(NANO).await;
    world.sweep().await;
    let failed = (pb::StopReason::Error, pb::FailureKind::StartupFailure);
    let session = world.session(&id).await;
    assert_eq!(session.state(), pb::SessionState::Stopped);
    assert_eq!(classified(&session), failed);
    assert_eq!(session.stop.unwrap().detail, "start did not complete");

    world
        .restart(|parts| parts.settings.sessions.start_timeout = Duration::from_secs(5))
        .await;
    let id = world.create(starting).await.id;
    world.pass(Duration::from_secs(6)).await;
    world.sweep().await;
    assert_eq!(classified(&world.session(&id).await), failed);
}

async fn s128_a_session_without_a_runtime_never_lapses(world: World) {
    let a = world.only_a().await;
    world.create(new(&a.id)).await;
    world.sweep().await;
    world.advance(Duration::from_secs(365 * 24 * 3_600)).await;
    for _ in 0..3 {
        world.unchanged_by(world.sweep()).await;
        world.advance(Duration::from_secs(5)).await;
    }
}

async fn s129_two_servers_give_each_session_up_once(world: World) {
    if !world.is_postgres() {
        return;
    }
    let a = world.only_a().await;
    let leases = world.create_bound(&a.id, 1_000).await;
    let other = world.second_daemon().await;
    world.pass(TTL).await;
    let head = world.head().await;
    let (mine, theirs) = tokio::join!(
        world.daemon.registry.sweep_sessions(),
        other.registry.sweep_sessions()
    );
    let mut stopped: Vec<String> = Vec::new();
    for swept in [mine.unwrap(), theirs.unwrap()] {
        stopped.extend(swept.stopped.iter().map(ToString::to_string));
    }
    // What both of them had no time for is done by the next looks.
    loop {
        let swept = world.sweep().await;
        if swept.stopped.is_empty() {
            break;
        }
        stopped.extend(swept.stopped.iter().map(ToString::to_string));
    }
    let mut expected: Vec<String> = leases.into_iter().map(|lease| lease.session_id).collect();
    expected.sort();
    stopped.sort();
    assert_eq!(stopped, expected);
    assert_eq!(world.told_since(head).await, vec!["upserted state"; 1_000]);
}

async fn s132_s133_s134_an_outage_gives_each_lease_its_ttl_once_more(mut world: World) {
    let a = world.only_a().await;
    let [goes_on, is_lost]: [String; 2] = world.create_some(&a.id).await;
    let kept = world.bind(&goes_on, "h1").await;
    world.bind(&is_lost, "h1").await;
    world.pass(Duration::from_secs(10)).await;
    world.sweep().await;
    let before = world.session(&goes_on).await;
    world.advance(Duration::from_secs(90)).await;
    world.restart(|_| {}).await;

    let head = world.head().await;
    let swept = world.sweep().await;
    assert_eq!((swept.stopped.len(), swept.granted_count), (0, 2));
    let session = world.session(&goes_on).await;
    assert_eq!(session.state(), pb::SessionState::Active);
    let runtime = session.runtime.unwrap();
    assert_eq!(
        (runtime.state(), runtime.generation),
        (pb::RuntimeState::Bound, 1)
    );
    assert_eq!(runtime.expires_at, Some(world.now_plus(30)));
    assert_eq!(session.updated_at, before.updated_at);
    assert_eq!(world.head().await, head);

    world.pass(Duration::from_secs(20)).await;
    world.beat(&kept.token).await.unwrap();
    world.pass(Duration::from_secs(9)).await;
    world.unchanged_by(world.sweep()).await;
    world.advance(Duration::from_secs(2)).await;
    let swept = world.sweep().await;
    assert_eq!(swept.stopped.len(), 1);
    let lost = world.session(&is_lost).await;
    assert_eq!(lost.stop.unwrap().detail, "runtime lease expired while active");
    assert_eq!(world.session(&goes_on).await.state(), pb::SessionState::Active);
}

async fn s135_s138_a_restart_leaves_live_sessions_alone(mut world: World) {
    let a = world.only_a().await;
    let ids: [String; 4] = world.create_some(&a.id).await;
    let mut tokens = HashMap::new();
    for id in &ids[1..] {
        tokens.insert(id.clone(), world.bind(id, "h1").await.token);
    }
    world.pass(Duration::from_secs(20)).await;
    world.restart(|_| {}).await;
    world.unchanged_by(world.sweep()).await;
    let unbound = world.session(&ids[0]).await;
    assert_eq!(unbound.state(), pb::SessionState::Active);
    assert_eq!(unbound.runtime.unwrap().state(), pb::RuntimeState::None);
    for (id, token) in tokens {
        world.beat(&token).await.unwrap();
        let session = world.session(&id).await;
        assert_eq!(session.state(), pb::SessionState::Active);
        assert_eq!(session.runtime.unwrap().generation, 1);
    }
}

async fn s193_s194_silence_is_stale_after_its_time(mut world: World) {
    let a = world.only_a().await;
    let id = world.create(new(&a.id)).await.id;
    let request = bind(&id, "h1", 3_600);
    let lease = world
        .daemon
        .api
        .bind_runtime(request)
        .await
        .unwrap()
        .lease
        .unwrap();
    world.beat(&lease.token).await.unwrap();
    world.advance(Duration::from_secs(120)).await;
    assert_eq!(world.health(&id).await.health(), pb::Health::Healthy);
    world.advance(NANO).await;
    let health = world.health(&id).await;
    assert_eq!(health.health(), pb::Health::Stale);
    assert_eq!(health.badge(), pb::SessionBadge::Hung);
    assert_eq!(
        health.ineligibility_reason(),
        pb::IneligibilityReason::SessionHealthStale
    );

    world
        .restart(|parts| parts.settings.sessions.stale_after = Duration::from_secs(10))
        .await;
    world.beat(&lease.token).await.unwrap();
    world.advance(Duration::from_secs(11)).await;
    assert_eq!(world.health(&id).await.health(), pb::Health::Stale);
}

async fn s195_each_edge_of_health_is_told_once(world: World) {
    let a = world.only_a().await;
    let id = world.create(new(&a.id)).await.id;
    let request = bind(&id, "h1", 3_600);
    let lease = world
        .daemon
        .api
        .bind_runtime(request)
        .await
        .unwrap()
        .lease
        .unwrap();
    world.beat(&lease.token).await.unwrap();
    world.pass(Duration::from_secs(120) + NANO).await;
    let head = world.head().await;
    world.sweep().await;
    world.sweep().await;
    assert_eq!(world.told_since(head).await, ["upserted health"]);
    world.beat(&lease.token).await.unwrap();
    world.sweep().await;
    assert_eq!(world.health(&id).await.health(), pb::Health::Healthy);
    assert_eq!(
        world.told_since(head).await,
        ["upserted health", "upserted health"]
    );
}

async fn s207_s208_what_a_badge_is_when_a_session_is_over(world: World) {
    let a = world.only_a().await;
    let [lost, done]: [String; 2] = world.create_some(&a.id).await;
    let done_lease = world.bind(&done, "h1").await;
    world.take_report(settled(&done_lease.token)).await;
    assert_eq!(world.session(&done).await.badge(), pb::SessionBadge::Done);
    world.finish_done(&done_lease.token).await;
    assert_eq!(world.session(&done).await.badge(), pb::SessionBadge::Stopped);

    let lease = world.bind(&lost, "h1").await;
    world
        .take_report(waiting(&lease.token, &[pb::WaitingReason::Input]))
        .await;
    world.pass(TTL).await;
    world.sweep().await;
    assert_eq!(world.session(&lost).await.badge(), pb::SessionBadge::Failed);
}

async fn s365_s366_an_outage_is_forgiven_once(world: World) {
    let a = world.only_a().await;
    let ids: [String; 10] = world.create_some(&a.id).await;
    for id in &ids {
        world.bind(id, "h1").await;
    }
    world.sweep().await;
    world.advance(Duration::from_secs(3_600)).await;
    let swept = world.sweep().await;
    assert_eq!((swept.stopped.len(), swept.granted_count), (0, 10));
    let mut given_up = 0;
    for _ in 0..8 {
        world.advance(Duration::from_secs(5)).await;
        let swept = world.sweep().await;
        assert_eq!(swept.granted_count, 0, "no second grace");
        given_up += swept.stopped.len();
    }
    assert_eq!(given_up, 10);

    for (silence, is_forgiven) in [
        (Duration::from_secs(10), false),
        (Duration::from_secs(10) + NANO, true),
    ] {
        let id = world.create(new(&a.id)).await.id;
        world.bind(&id, "h1").await;
        world.pass(Duration::from_secs(25)).await;
        world.sweep().await;
        world.advance(silence).await;
        let swept = world.sweep().await;
        assert_eq!(swept.granted_count, u64::from(is_forgiven));
        assert_eq!(swept.stopped.is_empty(), is_forgiven);
        if is_forgiven {
            let runtime = world.session(&id).await.runtime.unwrap();
            assert_eq!(runtime.expires_at, Some(world.now_plus(30)));
        }
    }
}

async fn s367_after_an_outage_a_runtime_goes_on_before_any_sweep(world: World) {
    let a = world.only_a().await;
    let [beats, finishes]: [String; 2] = world.create_some(&a.id).await;
    let lease = world.bind(&beats, "h1").await;
    let other = world.bind(&finishes, "h1").await;
    world.sweep().await;
    world.advance(Duration::from_secs(60)).await;
    let answer = world.beat(&lease.token).await.unwrap();
    assert_eq!(answer.expires_at, Some(world.now_plus(30)));
    let stopped = world.finish_done(&other.token).await;
    assert_eq!(stopped.stop.unwrap().reason(), pb::StopReason::Completed);
    assert_eq!(world.sweep().await.stopped, []);
}

async fn s363_every_change_of_state_is_kept(mut world: World) {
    let a = world.only_a().await;
    let id = world.create(new(&a.id)).await.id;
    let mut expected = vec![(pb::SessionState::Active, world.now(), "create", "local")];
    let step = async |world: &World| {
        world.advance(Duration::from_secs(1)).await;
        world.now()
    };
    step(&world).await;
    let lease = world.bind(&id, "h1").await;
    world.beat(&lease.token).await.unwrap();
    let at = step(&world).await;
    world.stop_for(&id, pb::StopCause::User, "").await;
    world.stop_for(&id, pb::StopCause::User, "").await;
    expected.push((pb::SessionState::Stopping, at, "user", "local"));
    let at = step(&world).await;
    world
        .finish(finish(&lease.token, pb::StopCause::Unspecified))
        .await;
    world
        .finish(finish(&lease.token, pb::StopCause::Unspecified))
        .await;
    expected.push((pb::SessionState::Stopped, at, "user", "h1"));
    let at = step(&world).await;
    let request = pb::ResumeSessionRequest {
        bind: Some(crate::asked::binding("h2", 30)),
        ..crate::asked::resume(&id)
    };
    let lease = world
        .daemon
        .api
        .resume_session(request)
        .await
        .unwrap()
        .lease
        .unwrap();
    expected.push((pb::SessionState::Starting, at, "resume", "local"));
    let at = step(&world).await;
    world.beat(&lease.token).await.unwrap();
    expected.push((pb::SessionState::Active, at, "heartbeat", "h2"));
    world.pass(TTL).await;
    world.sweep().await;
    world.sweep().await;
    expected.push((pb::SessionState::Stopped, world.now(), "sweep", "sweep"));
    for _ in 0..2 {
        let request = pb::InspectSessionRequest {
            session_id: id.clone(),
        };
        let answer = world.daemon.api.inspect_session(request).await.unwrap();
        let kept: Vec<_> = answer
            .transitions
            .iter()
            .map(|kept| {
                (
                    kept.state(),
                    kept.at.unwrap(),
                    kept.cause.as_str(),
                    kept.by.as_str(),
                )
            })
            .collect();
        assert_eq!(kept, expected);
        world.restart(|_| {}).await;
    }
}

async fn n019_each_lost_session_is_told(world: World) {
    let a = world.only_a().await;
    let ids: [String; 10] = world.create_some(&a.id).await;
    let mut tokens = Vec::new();
    for id in &ids {
        tokens.push(world.bind(id, "h1").await.token);
    }
    world.pass(TTL).await;
    let head = world.head().await;
    world.sweep().await;
    assert_eq!(world.told_since(head).await, vec!["upserted state"; 10]);
    for token in tokens {
        world
            .refused(Code::Aborted, LOST, world.daemon.api.heartbeat(beat(&token)))
            .await;
    }
}

async fn the_daemon_sweeps_by_itself_and_counts_what_it_did(world: World) {
    let a = world.only_a().await;
    let [lost, kept]: [String; 2] = world.create_some(&a.id).await;
    world.bind(&lost, "h1").await;
    world.pass(Duration::from_secs(29)).await;
    world.bind(&kept, "h2").await;
    world.pass(Duration::from_secs(1)).await;
    let metrics = Metrics::new();
    let sweeps = SweepMetrics::new(&metrics);
    let registry = std::sync::Arc::clone(&world.daemon.registry);
    let tasks = &world.daemon.tasks;
    let ended = tasks.spawn(registry.run_sweep(sweeps, tasks.stopping()));
    let is_told = |line: &str| metrics.text().lines().any(|told| told == line);
    while !is_told("compozy_runtime_leases 1") {
        tokio::task::yield_now().await;
    }
    assert!(is_told("compozy_sweep_sessions_stopped_total 1"));
    assert_eq!(world.session(&lost).await.state(), pb::SessionState::Stopped);
    assert_eq!(world.session(&kept).await.state(), pb::SessionState::Active);
    tasks.stop();
    ended.await.unwrap();
}
