//! Promises about sessions of a catalog that several processes have open at once. For Postgres.

use std::time::Instant;

use compozy_domain::session::change::{Report, SessionChange};
use compozy_domain::session::filter::{SessionFilter, SessionSort};
use compozy_domain::{CatalogError, ChangeReason, SessionState, Visibility};

use super::engine::Engine;
use super::fixture::{Catalog, START, fresh, rejection};
use super::session_fixture::{STALE_AFTER, TTL, changing, new_lease, renaming, ungrouped};
use super::session_leases_fixture::{lease, seconds, sweep};
use crate::call::Call;
use crate::catalog::CatalogStore as _;
use crate::sessions::{HeartbeatCall, Heartbeats, SessionStore as _, Swept};

pub async fn s072_of_16_who_bind_by_each_of_two_processes_one_gets_the_lease<E: Engine>(catalog: Catalog<E>) {
    let other = catalog.opened_again().await;
    catalog.begin_sweeping().await;
    let session = catalog.create_session(ungrouped()).await;
    let holders: Vec<String> = (0..32).map(|number| format!("h{number}")).collect();
    let binding = holders.iter().enumerate().map(|(number, holder)| {
        let process = if number % 2 == 0 { &catalog } else { &other };
        process.bind(&session.id, holder)
    });
    let outcomes = futures::future::join_all(binding).await;
    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 1);
    for outcome in outcomes.into_iter().filter(Result::is_err) {
        assert!(matches!(rejection(outcome), CatalogError::LeaseHeld { .. }));
    }
    assert_eq!(catalog.get_session(&session.id).await.generation, 1);
    other.store.close().await;
}

pub async fn two_processes_that_sweep_at_once_give_each_session_up_once<E: Engine>(catalog: Catalog<E>) {
    let other = catalog.opened_again().await;
    catalog.begin_sweeping().await;
    let bound = catalog.many_bound(1_000, TTL).await;
    catalog.pass_unseen(TTL).await;
    let (here, there) = futures::future::join(catalog.sweep(), other.sweep()).await;
    // Each passes over what the other one has locked, so that a few may be left for the next run.
    let rest = catalog.sweep().await;
    let stopped: usize = [&here, &there, &rest]
        .iter()
        .map(|swept| swept.stopped.len())
        .sum();
    assert_eq!(stopped, 1_000);
    let entries = catalog.log().await;
    for (id, _) in &bound {
        let reasons: Vec<ChangeReason> = entries
            .iter()
            .filter(|entry| entry.change.session_id.as_ref() == Some(id))
            .map(|entry| entry.change.reason)
            .collect();
        assert_eq!(reasons, [ChangeReason::Created, ChangeReason::State]);
    }
    catalog.assert_counts_are_true().await;
    other.store.close().await;
}

pub async fn s368_a_restart_beside_others_grants_nothing<E: Engine>(catalog: Catalog<E>) {
    let other = catalog.opened_again().await;
    catalog.begin_sweeping().await;
    let (session, _) = catalog.bound("h1").await;
    // The other one is away for 60 s, in which the lease lapses.
    let mut stopped = Vec::new();
    for _ in 0..6 {
        catalog.pass(seconds(10)).await;
        let swept = catalog.sweep().await;
        assert_eq!(swept.granted_count, 0);
        stopped.extend(swept.stopped);
        if stopped.is_empty() {
            continue;
        }
        assert_eq!(catalog.get_session(&session.id).await.updated_at, START.plus(TTL));
    }
    assert_eq!(stopped, [session.id]);
    assert_eq!(other.sweep().await, Swept::default());
    other.store.close().await;
}

pub async fn s369_the_clock_of_the_database_counts_and_no_other<E: Engine>(catalog: Catalog<E>) {
    let other = catalog.opened_again().await;
    catalog.begin_sweeping().await;
    let (ahead, behind) = (START.plus(seconds(3_600)), START.minus(seconds(3_600)));
    let (first, second) = (ungrouped(), ungrouped());
    let made = [
        catalog.store.create_session(first.clone(), call_at(ahead)).await,
        other.store.create_session(second, call_at(behind)).await,
    ];
    for made in made {
        let made = fresh(made.unwrap()).value.session.session;
        assert_eq!((made.created_at, made.updated_at), (START, START));
    }
    let given = new_lease("h1");
    let bind = changing(&first.id, SessionChange::Bind(given.clone()));
    let bound = catalog.store.change_session(bind, call_at(ahead)).await.unwrap();
    assert_eq!(lease(&fresh(bound).value.session).expires_at, START.plus(TTL));
    catalog.pass(seconds(5)).await;
    let beats = Heartbeats {
        beats: vec![(given.hash.clone(), Report::default())],
        stale_after: STALE_AFTER,
    };
    let beat = HeartbeatCall {
        visibility: Visibility::All,
        now: behind,
        asked_at: Instant::now(),
        deadline: Instant::now() + seconds(30),
    };
    let beaten = other
        .store
        .heartbeat(&beats, &beat)
        .await
        .unwrap()
        .remove(0)
        .unwrap();
    assert_eq!(lease(&beaten.session).expires_at, START.plus(seconds(35)));
    for (process, now) in [(&catalog, ahead), (&other, behind)] {
        let run = sweep(now);
        assert_eq!(process.store.sweep(run).await.unwrap(), Swept::default());
    }
    assert_eq!(catalog.get_session(&first.id).await.state, SessionState::Active);
    other.store.close().await;
}

fn call_at<T>(now: compozy_domain::Timestamp) -> Call<T> {
    Call {
        visibility: Visibility::All,
        now,
        deadline: Instant::now() + seconds(30),
        remember: None,
    }
}

pub async fn s320_a_page_of_one_process_holds_what_another_one_has_answered<E: Engine>(catalog: Catalog<E>) {
    let other = catalog.opened_again().await;
    for number in 1..=20 {
        let (writer, reader) = if number % 2 == 0 {
            (&catalog, &other)
        } else {
            (&other, &catalog)
        };
        let made = writer.create_session(ungrouped()).await;
        let everything = reader.sessions(SessionFilter::default(), SessionSort::Recent, 1);
        let page = reader.session_page(&everything).await.page;
        assert_eq!((page.rows[0].id.clone(), page.total), (made.id.clone(), number));
        writer.change_session(&made.id, renaming("renamed")).await;
        let named = SessionFilter {
            query: Some("renamed".to_owned()),
            ..SessionFilter::default()
        };
        let named = reader.sessions(named, SessionSort::LastActivity, 1);
        assert_eq!(reader.session_page(&named).await.page.total, number);
    }
    other.store.close().await;
}
