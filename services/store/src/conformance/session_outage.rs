//! Promises about an absence of the catalog: it is no crash of the sessions.

use compozy_domain::session::StopCause;
use compozy_domain::session::change::Report;
use compozy_domain::{CatalogError, SessionState, Visibility};

use super::engine::Engine;
use super::fixture::{Catalog, START, rejection};
use super::session_fixture::{TTL, stopping};
use super::session_leases_fixture::{INSTANT, lease, seconds, starting};
use crate::sessions::{SessionStore as _, Swept};

pub async fn s365_an_absence_grants_one_ttl_and_no_second_one<E: Engine>(catalog: Catalog<E>) {
    catalog.begin_sweeping().await;
    catalog.many_bound(10, TTL).await;
    catalog.pass(seconds(3_600)).await;
    let first = catalog.sweep().await;
    assert_eq!((first.granted_count, first.stopped.len()), (10, 0));
    let mut stopped = Vec::new();
    for step in 1..=6 {
        catalog.pass(seconds(5)).await;
        let swept = catalog.sweep().await;
        assert_eq!(swept.granted_count, 0);
        assert!(
            step == 6 || swept.stopped.is_empty(),
            "not before the ttl is over"
        );
        stopped.extend(swept.stopped);
    }
    assert_eq!(stopped.len(), 10);
}

pub async fn s366_an_absence_is_longer_than_ten_seconds<E: Engine>(catalog: Catalog<E>) {
    for (away, given_up) in [(seconds(10), 1), (seconds(10) + INSTANT, 0)] {
        catalog.begin_sweeping_now().await;
        let (session, _) = catalog.bound_for("h1", seconds(5)).await;
        catalog.pass(away).await;
        let swept = catalog.sweep().await;
        assert_eq!(
            (swept.stopped.len(), swept.granted_count),
            (given_up, 1 - given_up as u64)
        );
        if given_up == 0 {
            let now = catalog.get_session(&session.id).await;
            assert_eq!(lease(&now).expires_at, catalog.now().plus(seconds(5)));
        }
        catalog.pass_sweeping(seconds(10)).await;
    }
}

pub async fn after_an_absence_a_lapsed_lease_is_held_until_the_sweep<E: Engine>(catalog: Catalog<E>) {
    catalog.begin_sweeping().await;
    let bound = catalog.many_bound(5, TTL).await;
    catalog.pass(seconds(60)).await;
    let beaten = catalog.beat(&bound[0].1, Report::default()).await.unwrap();
    assert_eq!(lease(&beaten).expires_at, START.plus(seconds(90)));
    let over = catalog.finish(&bound[1].1, Default::default()).await.unwrap();
    assert_eq!(over.state, SessionState::Stopped);
    let found = catalog
        .store
        .session_of_lease(&bound[2].1, &Visibility::All, catalog.now())
        .await;
    assert_eq!(found.unwrap().session.id, bound[2].0);
    let asked = catalog
        .change_session(&bound[3].0, stopping(StopCause::User, ""))
        .await;
    assert_eq!(asked.state, SessionState::Stopping);
    let other = rejection(catalog.bind(&bound[4].0, "other").await);
    assert!(matches!(other, CatalogError::LeaseHeld { .. }), "{other:?}");
    let swept = catalog.sweep().await;
    assert_eq!((swept.granted_count, swept.stopped.len()), (3, 0));
}

pub async fn a_lease_that_had_lapsed_before_the_absence_is_given_up_after_it<E: Engine>(catalog: Catalog<E>) {
    catalog.begin_sweeping().await;
    let (session, hash) = catalog.bound_for("h1", seconds(5)).await;
    // The run is remembered, and then the process ends before it has done anything.
    catalog.pass(seconds(5)).await;
    let sql = format!("UPDATE session_sweep SET ran_at = {}", catalog.now().nanos());
    super::hooks::execute(&catalog.store, &sql).await.unwrap();
    catalog.pass(seconds(60)).await;
    let lost = catalog.beat(&hash, Report::default()).await;
    assert_eq!(lost, Err(CatalogError::LeaseLost));
    assert_eq!(catalog.sweep().await, Swept::default());
    assert_eq!(catalog.pass_sweeping(seconds(5)).await.stopped, [session.id]);
}

pub async fn a_start_is_not_given_up_right_after_an_absence<E: Engine>(catalog: Catalog<E>) {
    catalog.begin_sweeping().await;
    let session = catalog.create_session(starting()).await;
    catalog.pass(seconds(3_600)).await;
    assert_eq!(catalog.sweep().await, Swept::default());
    assert_eq!(
        catalog.get_session(&session.id).await.state,
        SessionState::Starting
    );
}
