//! Promises about the sweep: what it gives up, when, and that it does so once.

use std::time::{Duration, Instant};

use compozy_domain::session::change::{Report, SessionChange};
use compozy_domain::session::health::Badge;
use compozy_domain::session::{FailureKind, RuntimeState, Session, StopCause, StopReason};
use compozy_domain::{CatalogError, ChangeReason, SessionState};
use tokio::task::JoinSet;

use super::engine::Engine;
use super::fixture::{Catalog, START};
use super::hooks;
use super::session_fixture::{TTL, new_lease, stopping, ungrouped};
use super::session_leases_fixture::{INSTANT, START_TIMEOUT, lease, seconds, starting, sweep, waiting};
use crate::catalog::{CatalogStore as _, StoreKind};
use crate::sessions::{CreateSession, SessionStore as _, Sweep, Swept};

/// Fails unless a session was given up, in these words.
fn assert_given_up(session: &Session, reason: StopReason, kind: FailureKind, detail: &str) {
    assert_eq!(session.state, SessionState::Stopped);
    let stop = session.stop.as_ref().unwrap();
    assert_eq!(stop.reason, Some(reason));
    assert_eq!(stop.failure.as_ref().unwrap().kind, kind);
    assert_eq!(stop.detail, detail);
    assert_eq!(session.live, None);
}

pub async fn s122_a_lease_that_has_not_lapsed_is_left_alone<E: Engine>(catalog: Catalog<E>) {
    catalog.begin_sweeping().await;
    catalog.bound("h1").await;
    let before = catalog.everything().await;
    let swept = catalog.pass_sweeping(TTL - INSTANT).await;
    assert_eq!(swept, Swept::default());
    assert_eq!(catalog.everything().await, before);
}

pub async fn s123_s124_a_lapsed_session_is_given_up_once<E: Engine>(catalog: Catalog<E>) {
    catalog.begin_sweeping().await;
    let (session, _) = catalog.bound("h1").await;
    let swept = catalog.pass_sweeping(TTL).await;
    assert_eq!(swept.stopped, std::slice::from_ref(&session.id));
    let over = catalog.get_session(&session.id).await;
    let detail = "runtime lease expired while active";
    assert_given_up(&over, StopReason::AgentCrashed, FailureKind::ProcessExit, detail);
    assert_eq!(
        (over.runtime, over.runtime_holder.as_str()),
        (RuntimeState::Lost, "h1")
    );
    assert_eq!(over.updated_at, START.plus(TTL));
    assert_eq!(
        catalog.reasons_of(&session.id).await,
        [ChangeReason::Created, ChangeReason::State]
    );
    let transitions = catalog.store.transitions(&session.id).await.unwrap();
    let last = transitions.last().unwrap();
    assert_eq!((last.state, last.by.as_str()), (SessionState::Stopped, "sweep"));
    let before = catalog.everything().await;
    for _ in 0..10 {
        assert_eq!(catalog.pass_sweeping(seconds(5)).await, Swept::default());
    }
    assert_eq!(catalog.everything().await, before);
    catalog.assert_counts_are_true().await;
}

pub async fn s125_a_stop_that_did_not_complete_is_given_up<E: Engine>(catalog: Catalog<E>) {
    for (given, kept) in [("", "stop did not complete"), ("not allowed", "not allowed")] {
        catalog.begin_sweeping_now().await;
        let (session, _) = catalog.bound("h1").await;
        catalog
            .change_session(&session.id, stopping(StopCause::Hook, given))
            .await;
        catalog.pass_sweeping(TTL).await;
        let over = catalog.get_session(&session.id).await;
        assert_given_up(&over, StopReason::AgentCrashed, FailureKind::ProcessExit, kept);
        assert_eq!(over.runtime, RuntimeState::Lost);
    }
}

pub async fn s126_a_start_that_takes_too_long_is_given_up<E: Engine>(catalog: Catalog<E>) {
    catalog.begin_sweeping().await;
    let create = CreateSession {
        bind: Some(new_lease("h1")),
        ..starting()
    };
    let sessions = [
        catalog.create_session(starting()).await,
        catalog.create_session(create).await,
    ];
    let before = catalog.everything().await;
    assert_eq!(catalog.pass_sweeping(START_TIMEOUT).await, Swept::default());
    assert_eq!(catalog.everything().await, before);
    let swept = catalog.pass_sweeping(INSTANT).await;
    assert_eq!(swept.stopped.len(), 2);
    for (session, runtime) in sessions.iter().zip([RuntimeState::None, RuntimeState::Lost]) {
        let over = catalog.get_session(&session.id).await;
        let detail = "start did not complete";
        assert_given_up(&over, StopReason::Error, FailureKind::StartupFailure, detail);
        assert_eq!(over.runtime, runtime);
    }
}

pub async fn a_start_takes_as_long_as_it_may<E: Engine>(catalog: Catalog<E>) {
    catalog.begin_sweeping().await;
    let session = catalog.create_session(starting()).await;
    catalog.pass(seconds(6)).await;
    assert_eq!(catalog.sweep().await, Swept::default());
    let swept = catalog.try_sweep(seconds(5)).await.unwrap();
    assert_eq!(swept.stopped, [session.id]);
}

pub async fn s128_an_active_session_without_a_runtime_never_lapses<E: Engine>(catalog: Catalog<E>) {
    catalog.begin_sweeping().await;
    let session = catalog.create_session(ungrouped()).await;
    let before = catalog.everything().await;
    catalog.pass(seconds(365 * 24 * 60 * 60)).await;
    catalog.sweep().await;
    assert_eq!(catalog.pass_sweeping(seconds(20)).await, Swept::default());
    assert_eq!(catalog.everything().await, before);
    assert_eq!(catalog.get_session(&session.id).await.state, SessionState::Active);
}

pub async fn every_session_of_more_than_a_piece_is_given_up_once<E: Engine>(catalog: Catalog<E>) {
    catalog.begin_sweeping().await;
    let bound = catalog.many_bound(450, TTL).await;
    let swept = catalog.pass_sweeping(TTL).await;
    let mut stopped = swept.stopped;
    stopped.sort_unstable();
    let mut all: Vec<_> = bound.into_iter().map(|(id, _)| id).collect();
    all.sort_unstable();
    assert_eq!(stopped, all);
    let states = catalog.log().await;
    let states = states
        .iter()
        .filter(|entry| entry.change.reason == ChangeReason::State);
    assert_eq!(states.count(), 450);
    catalog.assert_counts_are_true().await;
}

pub async fn s130_what_a_killed_sweep_leaves_the_next_one_does<E: Engine>(catalog: Catalog<E>) {
    catalog.begin_sweeping().await;
    let bound = catalog.many_bound(1_000, TTL).await;
    catalog.pass_unseen(TTL).await;
    let run = sweep(catalog.now());
    let mut killed = JoinSet::new();
    let store = std::sync::Arc::clone(&catalog.store);
    killed.spawn(async move { store.sweep(run).await });
    let over = "SELECT COUNT(*) FROM session WHERE state = 'stopped'";
    while hooks::rows(&catalog.store, over).await.unwrap() == [["0"]] {
        tokio::task::yield_now().await;
    }
    killed.shutdown().await;
    catalog.sweep().await;
    // A piece that had begun is finished by itself, and the sweep passes it over meanwhile.
    while hooks::rows(&catalog.store, over).await.unwrap() != [["1000"]] {
        catalog.sweep().await;
    }
    let entries = catalog.log().await;
    for (id, _) in &bound {
        let of_it = entries
            .iter()
            .filter(|entry| entry.change.session_id.as_ref() == Some(id));
        assert_eq!(of_it.count(), 2, "it is created and given up");
    }
}

pub async fn s131_a_heartbeat_at_the_instant_of_a_sweep_is_taken_or_lost<E: Engine>(catalog: Catalog<E>) {
    const TRIES: usize = 1_000;
    catalog.begin_sweeping().await;
    let bound = catalog.many_bound(TRIES, TTL).await;
    catalog.pass_unseen(TTL - INSTANT).await;
    let (last, lapsed) = (catalog.now(), catalog.now().plus(INSTANT));
    if catalog.store.kind() == StoreKind::Postgres {
        // Each look at the clock is before or at the end of the leases.
        let sql = format!(
            "CREATE OR REPLACE FUNCTION catalog_now() RETURNS BIGINT LANGUAGE SQL VOLATILE \
             AS 'SELECT {}::bigint + (random() < 0.5)::int'",
            last.nanos()
        );
        hooks::execute(&catalog.store, &sql).await.unwrap();
    }
    let sweeping = async {
        for _ in 0..4 {
            let run = sweep(lapsed);
            catalog.store.sweep(run).await.unwrap();
        }
    };
    let beating = async {
        let mut outcomes = Vec::with_capacity(TRIES);
        for some in bound.chunks(50) {
            let beats = some.iter().map(|(_, hash)| catalog.beat(hash, Report::default()));
            outcomes.extend(futures::future::join_all(beats).await);
        }
        outcomes
    };
    let ((), outcomes) = futures::future::join(sweeping, beating).await;
    catalog.set_clock(lapsed).await;
    catalog.sweep().await;
    for ((id, _), outcome) in bound.iter().zip(&outcomes) {
        let session = catalog.get_session(id).await;
        match outcome {
            Ok(_) => {
                assert_eq!(session.state, SessionState::Active);
                assert!(lease(&session).expires_at >= lapsed.plus(TTL - INSTANT));
            }
            Err(CatalogError::LeaseLost) => assert_eq!(session.state, SessionState::Stopped),
            Err(other) => panic!("{other}"),
        }
    }
}

pub async fn s136_a_row_that_cannot_be_read_keeps_nobody_from_being_swept<E: Engine>(catalog: Catalog<E>) {
    catalog.begin_sweeping().await;
    let bound = catalog.many_bound(11, TTL).await;
    let (bad, others) = bound.split_first().unwrap();
    let sql = format!("UPDATE session SET labels = '[' WHERE id = '{}'", bad.0);
    hooks::execute(&catalog.store, &sql).await.unwrap();
    let swept = catalog.pass_sweeping(TTL).await;
    assert_eq!(swept.stopped.len(), 10);
    let (id, problem) = &swept.unusable[0];
    assert_eq!((swept.unusable.len(), id.as_str()), (1, bad.0.as_str()));
    assert!(problem.contains("labels"), "{problem}");
    for (id, _) in others {
        assert_eq!(catalog.get_session(id).await.state, SessionState::Stopped);
    }
    assert_eq!(catalog.get_session(&bad.0).await.state, SessionState::Active);
}

pub async fn damaged_bytes_keep_nobody_from_being_swept<E: Engine>(catalog: Catalog<E>) {
    if catalog.store.kind() == StoreKind::Postgres {
        return; // It takes no text that is none.
    }
    catalog.begin_sweeping().await;
    let bound = catalog.many_bound(3, TTL).await;
    let sql = format!(
        "UPDATE session SET agent = CAST(x'ff' AS TEXT) WHERE id = '{}'",
        bound[1].0
    );
    hooks::execute(&catalog.store, &sql).await.unwrap();
    let swept = catalog.pass_sweeping(TTL).await;
    assert_eq!(swept.stopped.len(), 2);
    assert_eq!(swept.unusable.len(), 1);
    assert_eq!(swept.unusable[0].0, bound[1].0.as_str());
}

pub async fn s207_a_lost_session_that_waited_has_failed<E: Engine>(catalog: Catalog<E>) {
    catalog.begin_sweeping().await;
    let (session, hash) = catalog.bound("h1").await;
    catalog.beat(&hash, waiting(false, true)).await.unwrap();
    assert_eq!(catalog.view(&session.id).await.badge, Badge::WaitingForInput);
    catalog.pass_sweeping(TTL).await;
    assert_eq!(catalog.view(&session.id).await.badge, Badge::Failed);
}

pub async fn a_resumed_session_is_swept_by_its_new_lease<E: Engine>(catalog: Catalog<E>) {
    catalog.begin_sweeping().await;
    let (session, _) = catalog.bound("h1").await;
    catalog.pass_sweeping(TTL).await;
    let lease = new_lease("h1");
    let hash = lease.hash.clone();
    let resume = SessionChange::Resume { bind: Some(lease) };
    let resumed = catalog.change_session(&session.id, resume).await;
    assert_eq!((resumed.state, resumed.stop), (SessionState::Starting, None));
    catalog.beat(&hash, Report::default()).await.unwrap();
    let swept = catalog.pass_sweeping(TTL).await;
    assert_eq!(swept.stopped, std::slice::from_ref(&session.id));
    let over = catalog.get_session(&session.id).await;
    let detail = "runtime lease expired while active";
    assert_given_up(&over, StopReason::AgentCrashed, FailureKind::ProcessExit, detail);
}

pub async fn a_sweep_behind_its_deadline_keeps_what_it_has_done<E: Engine>(catalog: Catalog<E>) {
    catalog.begin_sweeping().await;
    catalog.bound("h1").await;
    catalog.pass_unseen(TTL).await;
    let run = Sweep {
        deadline: Instant::now().checked_sub(Duration::from_millis(1)).unwrap(),
        ..sweep(catalog.now())
    };
    let outcome = catalog.store.sweep(run).await;
    assert!(
        matches!(outcome, Err(crate::Error::DeadlineExceeded)),
        "{outcome:?}"
    );
    assert_eq!(catalog.sweep().await.stopped.len(), 1);
}

pub async fn the_last_run_of_the_sweep_is_remembered<E: Engine>(catalog: Catalog<E>) {
    assert_eq!(catalog.store.swept_at().await.unwrap(), None);
    catalog.begin_sweeping().await;
    assert_eq!(catalog.store.swept_at().await.unwrap(), Some(START));
    catalog.pass_sweeping(seconds(3)).await;
    assert_eq!(
        catalog.store.swept_at().await.unwrap(),
        Some(START.plus(seconds(3)))
    );
}
