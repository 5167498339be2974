//! One session, looked at closely (cases section 23).

use std::time::Duration;

use compozy_domain::Clock as _;
use compozy_proto::session::v1 as pb;
use compozy_store::{SessionStore as _, Sweep};
use tonic::Code;

use crate::asked::{NOBODY, beat, bind, finish, get, new, resume, stop};
use crate::world::World;

cases! {
    s363_every_transition_once_and_in_order,
    s050_s051_what_is_no_session,
    an_inspected_session_is_the_record_with_its_health,
}

fn inspect(id: &str) -> pb::InspectSessionRequest {
    pb::InspectSessionRequest {
        session_id: id.to_owned(),
    }
}

async fn s363_every_transition_once_and_in_order(mut world: World) {
    use pb::SessionState::{Active, Starting, Stopped, Stopping};
    let (a, _) = world.a_and_b().await;
    let made = world.now();
    let id = world.create(new(&a.id)).await.id;
    let mut expected = vec![(Active, made, "create", "local")];
    world.advance(Duration::from_secs(1)).await;
    let lease = world.daemon.api.bind_runtime(bind(&id, "h1", 30)).await.unwrap();
    let lease = lease.lease.unwrap().token;
    world.daemon.api.heartbeat(beat(&lease)).await.unwrap();
    // No-ops add none.
    world.daemon.api.heartbeat(beat(&lease)).await.unwrap();
    world.advance(Duration::from_secs(1)).await;
    expected.push((Stopping, world.now(), "user", "local"));
    for _ in 0..2 {
        let asked = stop(&id, pb::StopCause::User);
        world.daemon.api.stop_session(asked).await.unwrap();
    }
    world.advance(Duration::from_secs(1)).await;
    expected.push((Stopped, world.now(), "user", "h1"));
    for _ in 0..2 {
        let word = finish(&lease, pb::StopCause::Completed);
        world.daemon.api.finish_session(word).await.unwrap();
    }
    world.advance(Duration::from_secs(1)).await;
    expected.push((Starting, world.now(), "resume", "local"));
    for _ in 0..2 {
        world.daemon.api.resume_session(resume(&id)).await.unwrap();
    }
    sweep(&world).await;
    world.advance(Duration::from_secs(5)).await;
    for _ in 0..12 {
        // As often as a daemon does, so that it was never away.
        sweep(&world).await;
        world.advance(Duration::from_secs(5)).await;
    }
    expected.push((Stopped, world.now(), "sweep", "sweep"));
    sweep(&world).await;
    sweep(&world).await;
    for _ in 0..2 {
        let seen = world.daemon.api.inspect_session(inspect(&id)).await.unwrap();
        let told: Vec<_> = seen
            .transitions
            .iter()
            .map(|row| (row.state(), row.at.unwrap(), row.cause.as_str(), row.by.as_str()))
            .collect();
        assert_eq!(told, expected);
        assert_eq!(seen.session.unwrap().state(), Stopped);
        world.restart(|_| {}).await;
    }
}

/// One run of the sweep.
async fn sweep(world: &World) {
    let sweep = Sweep {
        start_timeout: Duration::from_secs(60),
        stale_after: Duration::from_secs(120),
        now: world.clock.now(),
        deadline: std::time::Instant::now() + Duration::from_secs(20),
    };
    world.store.sweep(sweep).await.unwrap();
}

async fn s050_s051_what_is_no_session(world: World) {
    let long = "x".repeat(10_000);
    for id in [NOBODY, "", "sess-zz", "../x", "/etc/passwd", "a\0b", &long] {
        let health = pb::GetSessionHealthRequest {
            session_id: id.to_owned(),
        };
        let seen = world.daemon.api.inspect_session(inspect(id)).await;
        let failures = [
            seen.unwrap_err(),
            world.daemon.api.get_session_health(health).await.unwrap_err(),
        ];
        for failure in failures {
            assert_eq!(
                (failure.code, failure.reason.as_str(), failure.names_resource),
                (Code::NotFound, "SESSION_NOT_FOUND", true)
            );
        }
    }
}

async fn an_inspected_session_is_the_record_with_its_health(world: World) {
    let (a, _) = world.a_and_b().await;
    let id = world.create(new(&a.id)).await.id;
    world.bound_for(&id, 30).await;
    let seen = world.daemon.api.inspect_session(inspect(&id)).await.unwrap();
    let with_health = pb::GetSessionRequest {
        include_health: true,
        ..get(&id)
    };
    let got = world.daemon.api.get_session(with_health).await.unwrap();
    assert!(got.session.as_ref().unwrap().health.is_some());
    assert_eq!((seen.session, seen.revision.is_empty()), (got.session, false));
    assert!(seen.pending_permissions.is_empty() && seen.vault.is_empty());
}
