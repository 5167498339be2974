//! Promises about sessions that are resumed.

use std::sync::Arc;
use std::time::{Duration, Instant};

use compozy_domain::session::change::{Report, SessionChange};
use compozy_domain::session::{RuntimeState, StopCause};
use compozy_domain::{CatalogError, ChangeReason, SessionState, Visibility};
use tokio::task::JoinSet;

use super::engine::Engine;
use super::fixture::{Catalog, START, fresh};
use super::profiles::told;
use super::session_change::{
    assert_state_conflict, assert_told_once, changes_nothing, head, refuses, stopping_one,
};
use super::session_fixture::{STALE_AFTER, TTL, changing, new_lease, stopping, ungrouped};
use crate::sessions::{CreateSession, HeartbeatCall, Heartbeats, SessionStore as _};

const RESUME: SessionChange = SessionChange::Resume { bind: None };

pub async fn s139_a_stopped_session_starts_again<E: Engine>(catalog: Catalog<E>) {
    let workspace = catalog.register("/t/a").await;
    catalog.set_clock(START).await;
    let stopped = catalog.stopped_in(&workspace).await;
    let before = head(&catalog).await;
    catalog.pass(Duration::from_secs(1)).await;
    let resumed = catalog.change_session(&stopped.id, RESUME).await;
    assert_eq!(
        (&resumed.id, resumed.state),
        (&stopped.id, SessionState::Starting)
    );
    assert!(resumed.generation > stopped.generation);
    assert_eq!((&resumed.stop, resumed.runtime), (&None, RuntimeState::None));
    assert_eq!(
        (resumed.state_at, resumed.updated_at),
        (catalog.now(), catalog.now())
    );
    assert_eq!(catalog.get_session(&stopped.id).await, resumed);
    assert_told_once(&catalog, before, &resumed, ChangeReason::State).await;
    catalog.assert_counts_are_true().await;
}

pub async fn s140_a_starting_session_is_resumed_already<E: Engine>(catalog: Catalog<E>) {
    let create = CreateSession {
        state: SessionState::Starting,
        ..ungrouped()
    };
    let starting = catalog.create_session(create).await;
    changes_nothing(&catalog, &starting.id, RESUME).await;
}

pub async fn s141_a_running_session_is_not_resumed<E: Engine>(catalog: Catalog<E>) {
    let active = catalog.create_session(ungrouped()).await;
    let stopping = stopping_one(&catalog).await;
    for session in [active, stopping] {
        assert_state_conflict(&refuses(&catalog, &session.id, RESUME).await, session.state);
    }
}

pub async fn s142_an_archived_session_is_not_resumed<E: Engine>(catalog: Catalog<E>) {
    let workspace = catalog.register("/t/a").await;
    let id = catalog.stopped_in(&workspace).await.id;
    catalog.change_session(&id, SessionChange::Archive).await;
    let refused = refuses(&catalog, &id, RESUME).await;
    assert_eq!(refused, CatalogError::SessionArchived { id });
}

pub async fn s143_of_many_who_resume_a_session_one_does<E: Engine>(catalog: Catalog<E>) {
    let workspace = catalog.register("/t/a").await;
    for _ in 0..3 {
        let stopped = catalog.stopped_in(&workspace).await;
        let before = head(&catalog).await;
        let mut tasks = JoinSet::new();
        for _ in 0..32 {
            let (store, call) = (Arc::clone(&catalog.store), catalog.session_call());
            let change = changing(&stopped.id, RESUME);
            tasks.spawn(async move { store.change_session(change, call).await });
        }
        for outcome in tasks.join_all().await {
            let answer = fresh(outcome.unwrap()).value.session;
            assert_eq!(answer.state, SessionState::Starting);
            assert_eq!(answer.generation, stopped.generation + 1);
        }
        let resumed = catalog.get_session(&stopped.id).await;
        assert_told_once(&catalog, before, &resumed, ChangeReason::State).await;
    }
    catalog.assert_counts_are_true().await;
}

pub async fn s144_the_token_of_before_a_resume_is_over<E: Engine>(catalog: Catalog<E>) {
    let old = new_lease("h1");
    let create = CreateSession {
        bind: Some(old.clone()),
        ..ungrouped()
    };
    catalog.set_clock(START).await;
    let id = catalog.create_session(create).await.id;
    // Its runtime goes without a word.
    catalog.pass(TTL).await;
    catalog.change_session(&id, stopping(StopCause::User, "")).await;
    let new = new_lease("h1");
    let resume = SessionChange::Resume {
        bind: Some(new.clone()),
    };
    let resumed = catalog.change_session(&id, resume).await;
    assert_eq!((resumed.runtime, resumed.generation), (RuntimeState::Bound, 2));
    let beats = Heartbeats {
        beats: vec![(old.hash, Report::default()), (new.hash, Report::default())],
        stale_after: STALE_AFTER,
    };
    let call = HeartbeatCall {
        visibility: Visibility::All,
        now: catalog.now(),
        asked_at: Instant::now(),
        deadline: Instant::now() + Duration::from_secs(20),
    };
    let outcomes = catalog.store.heartbeat(&beats, &call).await.unwrap();
    assert_eq!(outcomes[0], Err(CatalogError::LeaseLost));
    assert_eq!(outcomes[1].as_ref().unwrap().session.state, SessionState::Active);
}

pub async fn s145_a_session_whose_workspace_is_gone_is_resumed<E: Engine>(catalog: Catalog<E>) {
    let workspace = catalog.register("/t/a").await;
    let id = catalog.stopped_in(&workspace).await.id;
    catalog.remove(&workspace.id).await.unwrap();
    let resumed = catalog.change_session(&id, RESUME).await;
    assert_eq!(
        (resumed.state, &resumed.workspace),
        (SessionState::Starting, &None)
    );
    assert_eq!(
        (
            catalog.get_session(&id).await.rank,
            resumed.canonical_cwd.as_str()
        ),
        (None, "/t/a")
    );
    catalog.assert_counts_are_true().await;
}

pub async fn s146_a_session_that_stops_again_is_the_same_one<E: Engine>(catalog: Catalog<E>) {
    let workspace = catalog.register("/t/a").await;
    catalog.set_clock(START).await;
    let first = catalog.stopped_in(&workspace).await;
    catalog.pass(Duration::from_secs(60)).await;
    catalog.change_session(&first.id, RESUME).await;
    let again = catalog
        .change_session(&first.id, stopping(StopCause::Timeout, ""))
        .await;
    assert_eq!((again.created_at, &again.rank), (first.created_at, &first.rank));
    assert_eq!(
        (again.stop.unwrap().cause, again.generation),
        (Some(StopCause::Timeout), 1)
    );
    let rows = super::hooks::rows(&catalog.store, "SELECT COUNT(*) FROM session")
        .await
        .unwrap();
    assert_eq!(rows, [["1"]]);
    let reasons: Vec<ChangeReason> = told(&catalog, 1).await.iter().map(|entry| entry.reason).collect();
    use ChangeReason::{Created, State};
    assert_eq!(reasons, [Created, State, State, State]);
    catalog.assert_counts_are_true().await;
}

pub async fn s147_stopped_sessions_can_be_resumed_unless_archived<E: Engine>(catalog: Catalog<E>) {
    let workspace = catalog.register("/t/a").await;
    let active = catalog.session_in(&workspace).await;
    let completed = catalog.stopped_in(&workspace).await;
    let archived = catalog.stopped_in(&workspace).await;
    catalog.change_session(&archived.id, SessionChange::Archive).await;
    let late = catalog.session_in(&workspace).await;
    catalog
        .change_session(&late.id, stopping(StopCause::Timeout, ""))
        .await;
    for (session, expected) in [
        (active, false),
        (completed, true),
        (archived, false),
        (late, true),
    ] {
        assert_eq!(catalog.get_session(&session.id).await.is_resumable(), expected);
    }
}
