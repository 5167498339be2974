//! Promises about the lease of an operator who enters a live session.

use std::time::Duration;

use compozy_domain::session::change::{Report, SessionChange};
use compozy_domain::session::{AttachLease, Session, StopCause};
use compozy_domain::{CatalogError, ChangeReason, SessionId, SessionState};

use super::engine::Engine;
use super::fixture::{Catalog, START, rejection};
use super::session_fixture::{stopping, ungrouped};
use super::session_leases_fixture::{INSTANT, lease, seconds, stalled, starting};
use crate::error::Result;
use crate::sessions::Swept;

/// For how long operators enter, unless said otherwise.
const FIFTEEN_MINUTES: Duration = Duration::from_secs(900);

async fn enter<E: Engine>(
    catalog: &Catalog<E>,
    id: &SessionId,
    holder: &str,
    ttl: Duration,
) -> Result<Session> {
    let change = SessionChange::AcquireAttach {
        holder: holder.to_owned(),
        ttl,
    };
    Ok(catalog.try_change_session(id, change).await?.value.session)
}

async fn leave<E: Engine>(catalog: &Catalog<E>, id: &SessionId, holder: &str) -> Session {
    let change = SessionChange::ReleaseAttach {
        holder: holder.to_owned(),
    };
    catalog.change_session(id, change).await
}

fn held(holder: &str, expires_at: compozy_domain::Timestamp) -> Option<AttachLease> {
    Some(AttachLease {
        holder: holder.to_owned(),
        expires_at,
    })
}

pub async fn n015_an_operator_enters_and_the_lapse_is_told_once<E: Engine>(catalog: Catalog<E>) {
    catalog.begin_sweeping().await;
    let made = catalog.create_session(ungrouped()).await;
    enter(&catalog, &made.id, "h1", seconds(60)).await.unwrap();
    let view = catalog.view(&made.id).await;
    assert_eq!(
        (view.attach, view.attachable),
        (held("h1", START.plus(seconds(60))), false)
    );
    let before = catalog.everything().await;
    assert_eq!(
        catalog.pass_sweeping(seconds(60) - INSTANT).await,
        Swept::default()
    );
    assert_eq!(catalog.everything().await, before);
    let swept = catalog.pass_sweeping(INSTANT).await;
    assert_eq!(swept.attach_lapsed_count, 1);
    assert_eq!(catalog.pass_sweeping(seconds(5)).await, Swept::default());
    assert_eq!(
        catalog.reasons_of(&made.id).await,
        [
            ChangeReason::Created,
            ChangeReason::AttachLease,
            ChangeReason::AttachLease
        ]
    );
}

pub async fn s178_another_operator_does_not_get_in<E: Engine>(catalog: Catalog<E>) {
    catalog.begin_sweeping().await;
    let made = catalog.create_session(ungrouped()).await;
    enter(&catalog, &made.id, "h1", seconds(60)).await.unwrap();
    for wait in [seconds(1), seconds(59) - INSTANT] {
        catalog.pass(wait).await;
        let before = catalog.everything().await;
        let refused = rejection(enter(&catalog, &made.id, "h2", seconds(60)).await);
        let holder = "h1".to_owned();
        assert_eq!(refused, CatalogError::LeaseHeld { holder });
        assert_eq!(catalog.everything().await, before);
    }
    catalog.pass(INSTANT).await;
    let entered = enter(&catalog, &made.id, "h2", seconds(60)).await.unwrap();
    assert_eq!(entered.live.unwrap().attach.unwrap().holder, "h2");
}

pub async fn s179_the_same_operator_renews<E: Engine>(catalog: Catalog<E>) {
    catalog.begin_sweeping().await;
    let made = catalog.create_session(ungrouped()).await;
    enter(&catalog, &made.id, "h1", FIFTEEN_MINUTES).await.unwrap();
    let head = catalog.log_length().await;
    catalog.pass(seconds(10)).await;
    enter(&catalog, &made.id, "h1", seconds(60)).await.unwrap();
    let view = catalog.view(&made.id).await;
    assert_eq!(view.attach, held("h1", START.plus(seconds(70))));
    assert_eq!(catalog.log_length().await, head, "to renew is no change");
}

pub async fn s180_of_32_operators_at_once_one_gets_in<E: Engine>(catalog: Catalog<E>) {
    catalog.begin_sweeping().await;
    let made = catalog.create_session(ungrouped()).await;
    let holders: Vec<String> = (0..32).map(|number| format!("h{number}")).collect();
    let entering = holders
        .iter()
        .map(|holder| enter(&catalog, &made.id, holder, FIFTEEN_MINUTES));
    let outcomes = futures::future::join_all(entering).await;
    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 1);
    for outcome in outcomes.into_iter().filter(Result::is_err) {
        assert!(matches!(rejection(outcome), CatalogError::LeaseHeld { .. }));
    }
}

pub async fn s181_s182_only_an_active_session_is_entered<E: Engine>(catalog: Catalog<E>) {
    catalog.begin_sweeping().await;
    let in_state = |state| move |refused: &CatalogError| matches!(refused, CatalogError::SessionState { state: found, .. } if *found == state);
    let refused = async |id: &SessionId| {
        let before = catalog.everything().await;
        let refused = rejection(enter(&catalog, id, "h1", FIFTEEN_MINUTES).await);
        assert_eq!(catalog.everything().await, before);
        refused
    };
    let made = catalog.create_session(starting()).await;
    assert!(in_state(SessionState::Starting)(&refused(&made.id).await));
    let (bound, _) = catalog.bound("r1").await;
    catalog
        .change_session(&bound.id, stopping(StopCause::User, ""))
        .await;
    assert!(in_state(SessionState::Stopping)(&refused(&bound.id).await));
    let plain = catalog.create_session(ungrouped()).await;
    catalog
        .change_session(&plain.id, stopping(StopCause::User, ""))
        .await;
    assert!(in_state(SessionState::Stopped)(&refused(&plain.id).await));
    catalog.change_session(&plain.id, SessionChange::Archive).await;
    let archived = refused(&plain.id).await;
    assert!(matches!(archived, CatalogError::SessionArchived { .. }));
}

pub async fn s183_s188_a_stalled_session_is_not_entered<E: Engine>(catalog: Catalog<E>) {
    catalog.begin_sweeping().await;
    let (session, hash) = catalog.bound("r1").await;
    catalog.beat(&hash, stalled(true)).await.unwrap();
    assert!(!catalog.view(&session.id).await.attachable);
    let refused = rejection(enter(&catalog, &session.id, "h1", FIFTEEN_MINUTES).await);
    assert!(matches!(refused, CatalogError::SessionState { .. }));
    catalog.beat(&hash, stalled(false)).await.unwrap();
    assert!(catalog.view(&session.id).await.attachable);
    enter(&catalog, &session.id, "h1", FIFTEEN_MINUTES).await.unwrap();
}

pub async fn s184_s185_a_lapsed_lease_is_over_before_the_sweep_tells<E: Engine>(catalog: Catalog<E>) {
    catalog.begin_sweeping().await;
    let made = catalog.create_session(ungrouped()).await;
    enter(&catalog, &made.id, "h1", seconds(8)).await.unwrap();
    catalog.pass(seconds(8)).await;
    let before = catalog.everything().await;
    for _ in 0..10 {
        let view = catalog.view(&made.id).await;
        assert_eq!((view.attach, view.attachable), (None, true));
    }
    assert_eq!(catalog.everything().await, before);
    let head = catalog.log_length().await;
    assert_eq!(catalog.sweep().await.attach_lapsed_count, 1);
    assert_eq!(catalog.log_length().await, head + 1);
    let after = catalog.get_session(&made.id).await;
    assert_eq!((after.updated_at, after.etag()), (made.updated_at, made.etag()));
    assert_eq!(
        catalog.reasons_of(&made.id).await.last(),
        Some(&ChangeReason::AttachLease)
    );
}

pub async fn an_operator_leaves_once<E: Engine>(catalog: Catalog<E>) {
    catalog.begin_sweeping().await;
    let made = catalog.create_session(ungrouped()).await;
    enter(&catalog, &made.id, "h1", FIFTEEN_MINUTES).await.unwrap();
    let before = catalog.everything().await;
    leave(&catalog, &made.id, "h2").await;
    assert_eq!(catalog.everything().await, before, "it is somebody else's");
    leave(&catalog, &made.id, "h1").await;
    assert!(catalog.view(&made.id).await.attachable);
    let before = catalog.everything().await;
    leave(&catalog, &made.id, "h1").await;
    assert_eq!(catalog.everything().await, before);
}

pub async fn s187_a_stop_ends_the_lease_of_an_operator<E: Engine>(catalog: Catalog<E>) {
    catalog.begin_sweeping().await;
    let made = catalog.create_session(ungrouped()).await;
    enter(&catalog, &made.id, "h1", FIFTEEN_MINUTES).await.unwrap();
    catalog
        .change_session(&made.id, stopping(StopCause::User, ""))
        .await;
    let view = catalog.view(&made.id).await;
    assert_eq!((view.attach, view.attachable), (None, false));
}

pub async fn s190_the_lease_of_an_operator_leaves_that_of_the_runtime_alone<E: Engine>(catalog: Catalog<E>) {
    catalog.begin_sweeping().await;
    let (session, _) = catalog.bound_for("r1", seconds(600)).await;
    let runtime = lease(&session).clone();
    let is_untouched = async || {
        let now = catalog.get_session(&session.id).await;
        assert_eq!((lease(&now), now.generation), (&runtime, session.generation));
        assert_eq!(now.runtime_holder, "r1");
    };
    enter(&catalog, &session.id, "h1", seconds(60)).await.unwrap();
    is_untouched().await;
    catalog.pass_sweeping(seconds(5)).await;
    enter(&catalog, &session.id, "h1", seconds(30)).await.unwrap();
    is_untouched().await;
    assert_eq!(catalog.pass_sweeping(seconds(30)).await.attach_lapsed_count, 1);
    is_untouched().await;
}

pub async fn a_heartbeat_leaves_the_lease_of_an_operator_alone<E: Engine>(catalog: Catalog<E>) {
    catalog.begin_sweeping().await;
    let (session, hash) = catalog.bound("r1").await;
    enter(&catalog, &session.id, "h1", FIFTEEN_MINUTES).await.unwrap();
    catalog.pass(seconds(5)).await;
    catalog.beat(&hash, Report::default()).await.unwrap();
    let view = catalog.view(&session.id).await;
    assert_eq!(view.attach, held("h1", START.plus(FIFTEEN_MINUTES)));
}
