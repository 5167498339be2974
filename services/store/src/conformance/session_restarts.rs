//! Promises about sessions whose daemon is restarted: they live on.

use compozy_domain::session::change::Report;
use compozy_domain::{LeaseHash, SessionId, SessionState};

use super::engine::Engine;
use super::fixture::{Catalog, START};
use super::session_fixture::{TTL, ungrouped};
use super::session_leases_fixture::{INSTANT, lease, seconds};
use crate::sessions::Swept;

/// A session whose lease would end at +30 s, and the first sweep after an absence from +10 s to +100 s.
async fn away<E: Engine>(catalog: Catalog<E>) -> (Catalog<E>, SessionId, LeaseHash) {
    catalog.begin_sweeping().await;
    let (session, hash) = catalog.bound("h1").await;
    catalog.pass_sweeping(seconds(10)).await;
    let catalog = catalog.reopened().await;
    catalog.pass(seconds(90)).await;
    let swept = catalog.sweep().await;
    assert_eq!((swept.granted_count, swept.stopped.len()), (1, 0));
    (catalog, session.id, hash)
}

pub async fn s132_s133_a_restart_gives_lapsed_leases_one_ttl_more<E: Engine>(catalog: Catalog<E>) {
    let (catalog, id, hash) = away(catalog).await;
    let session = catalog.get_session(&id).await;
    assert_eq!((session.state, session.generation), (SessionState::Active, 1));
    assert_eq!(session.runtime_holder, "h1");
    assert_eq!(lease(&session).expires_at, START.plus(seconds(130)));
    catalog.pass_sweeping(seconds(20)).await;
    let beaten = catalog.beat(&hash, Report::default()).await.unwrap();
    assert_eq!(lease(&beaten).expires_at, START.plus(seconds(150)));
}

pub async fn s134_after_that_ttl_it_is_given_up<E: Engine>(catalog: Catalog<E>) {
    let (catalog, id, _) = away(catalog).await;
    let before = catalog.everything().await;
    assert_eq!(catalog.pass_sweeping(seconds(29)).await, Swept::default());
    assert_eq!(catalog.everything().await, before);
    let swept = catalog.pass_sweeping(seconds(2)).await;
    assert_eq!(swept.stopped, std::slice::from_ref(&id));
    let stop = catalog.get_session(&id).await.stop.unwrap();
    assert_eq!(stop.detail, "runtime lease expired while active");
}

pub async fn s135_s138_a_restart_leaves_sessions_as_they_are<E: Engine>(catalog: Catalog<E>) {
    catalog.begin_sweeping().await;
    let plain = catalog.create_session(ungrouped()).await;
    let bound = catalog.many_bound(3, TTL).await;
    let before = catalog.everything().await;
    let catalog = catalog.reopened().await;
    catalog.pass(TTL - INSTANT).await;
    assert_eq!(catalog.sweep().await, Swept::default());
    assert_eq!(catalog.everything().await, before);
    assert_eq!(catalog.get_session(&plain.id).await.state, SessionState::Active);
    for (id, hash) in &bound {
        let beaten = catalog.beat(hash, Report::default()).await.unwrap();
        assert_eq!((&beaten.id, beaten.generation), (id, 1));
    }
}
