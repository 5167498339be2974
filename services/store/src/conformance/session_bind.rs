//! Promises about runtime leases: who gets one, and until when.

use compozy_domain::session::change::{LastWord, SessionChange};
use compozy_domain::session::{RuntimeState, StopCause};
use compozy_domain::{CatalogError, ChangeReason, SessionState, Visibility};

use super::engine::Engine;
use super::fixture::{Catalog, START, rejection};
use super::session_fixture::{TTL, deletion, new_in, new_lease, stopping, ungrouped};
use super::session_leases_fixture::{INSTANT, lease, seconds};
use crate::sessions::{CreateSession, SessionStore as _};

pub async fn a_bound_runtime_holds_a_lease_for_its_ttl<E: Engine>(catalog: Catalog<E>) {
    catalog.begin_sweeping().await;
    let made = catalog.create_session(ungrouped()).await;
    let before = catalog.log_length().await;
    catalog.pass(seconds(1)).await;
    let (bound, hash) = catalog.bind(&made.id, "h1").await.unwrap();
    assert_eq!(
        (bound.runtime, bound.runtime_holder.as_str(), bound.generation),
        (RuntimeState::Bound, "h1", 1)
    );
    assert_eq!(lease(&bound).expires_at, START.plus(seconds(31)));
    assert_eq!(lease(&bound).hash, hash);
    assert_eq!(bound.state, SessionState::Active, "the state stays as it is");
    assert_eq!((bound.updated_at, bound.etag()), (made.updated_at, made.etag()));
    assert_eq!(catalog.get_session(&made.id).await, bound);
    assert_eq!(catalog.log_length().await, before + 1);
    assert_eq!(
        catalog.reasons_of(&made.id).await,
        [ChangeReason::Created, ChangeReason::Health]
    );
}

pub async fn s069_a_held_lease_is_not_given_to_another_holder<E: Engine>(catalog: Catalog<E>) {
    catalog.begin_sweeping().await;
    let (session, hash) = catalog.bound("h1").await;
    catalog.pass_unseen(TTL - INSTANT).await;
    let before = catalog.everything().await;
    let refused = rejection(catalog.bind(&session.id, "h2").await);
    assert_eq!(
        refused,
        CatalogError::LeaseHeld {
            holder: "h1".to_owned()
        }
    );
    assert_eq!(catalog.everything().await, before);
    assert!(catalog.beat(&hash, Default::default()).await.is_ok());
}

pub async fn s070_a_lapsed_lease_is_given_to_another_holder<E: Engine>(catalog: Catalog<E>) {
    for late in [seconds(0), INSTANT] {
        catalog.begin_sweeping_now().await;
        let (session, hash) = catalog.bound("h1").await;
        catalog.pass_unseen(TTL + late).await;
        let (bound, _) = catalog.bind(&session.id, "h2").await.unwrap();
        assert_eq!((bound.generation, bound.runtime_holder.as_str()), (2, "h2"));
        let lost = catalog.beat(&hash, Default::default()).await;
        assert_eq!(lost, Err(CatalogError::LeaseLost));
    }
}

pub async fn the_same_holder_binds_again_and_gets_another_generation<E: Engine>(catalog: Catalog<E>) {
    catalog.begin_sweeping().await;
    let (session, first) = catalog.bound("h1").await;
    catalog.pass(seconds(10)).await;
    let (bound, second) = catalog.bind(&session.id, "h1").await.unwrap();
    assert_eq!(bound.generation, 2);
    assert_eq!(lease(&bound).expires_at, START.plus(seconds(40)));
    let lost = catalog.beat(&first, Default::default()).await;
    assert_eq!(lost, Err(CatalogError::LeaseLost));
    assert!(catalog.beat(&second, Default::default()).await.is_ok());
}

pub async fn s071_of_32_who_bind_at_once_one_gets_the_lease<E: Engine>(catalog: Catalog<E>) {
    catalog.begin_sweeping().await;
    let session = catalog.create_session(ungrouped()).await;
    let holders: Vec<String> = (0..32).map(|number| format!("h{number}")).collect();
    let binding = holders.iter().map(|holder| catalog.bind(&session.id, holder));
    let outcomes = futures::future::join_all(binding).await;
    let bound = outcomes.iter().filter(|outcome| outcome.is_ok()).count();
    assert_eq!(bound, 1);
    for outcome in outcomes.into_iter().filter(Result::is_err) {
        assert!(matches!(rejection(outcome), CatalogError::LeaseHeld { .. }));
    }
    assert_eq!(catalog.get_session(&session.id).await.generation, 1);
}

pub async fn s073_a_stopped_session_gets_no_runtime<E: Engine>(catalog: Catalog<E>) {
    catalog.begin_sweeping().await;
    let session = catalog.create_session(ungrouped()).await;
    catalog
        .change_session(&session.id, stopping(StopCause::Completed, ""))
        .await;
    let before = catalog.everything().await;
    let refused = rejection(catalog.bind(&session.id, "h1").await);
    assert!(matches!(
        &refused,
        CatalogError::SessionState {
            state: SessionState::Stopped,
            ..
        }
    ));
    assert!(refused.to_string().contains("stopped"), "{refused}");
    assert_eq!(catalog.everything().await, before);
}

pub async fn s074_an_archived_session_gets_no_runtime<E: Engine>(catalog: Catalog<E>) {
    catalog.begin_sweeping().await;
    let session = catalog.create_session(ungrouped()).await;
    catalog
        .change_session(&session.id, stopping(StopCause::Completed, ""))
        .await;
    catalog.change_session(&session.id, SessionChange::Archive).await;
    let refused = rejection(catalog.bind(&session.id, "h1").await);
    assert!(matches!(refused, CatalogError::SessionArchived { .. }));
}

pub async fn s079_who_was_followed_by_another_holder_has_lost_the_lease<E: Engine>(catalog: Catalog<E>) {
    catalog.begin_sweeping().await;
    let (session, first) = catalog.bound("h1").await;
    catalog.pass_unseen(TTL).await;
    catalog.bind(&session.id, "h2").await.unwrap();
    let before = catalog.everything().await;
    let lost = catalog.beat(&first, Default::default()).await;
    assert_eq!(lost, Err(CatalogError::LeaseLost));
    let lost = rejection(catalog.finish(&first, LastWord::default()).await);
    assert_eq!(lost, CatalogError::LeaseLost);
    assert_eq!(catalog.everything().await, before);
}

pub async fn s085_a_deleted_session_takes_its_lease_along<E: Engine>(catalog: Catalog<E>) {
    catalog.begin_sweeping().await;
    let (session, hash) = catalog.bound("h1").await;
    let mut delete = deletion(&session.id);
    delete.force = true;
    catalog.delete_session(delete).await.unwrap();
    let before = catalog.everything().await;
    let lost = catalog.beat(&hash, Default::default()).await;
    assert_eq!(lost, Err(CatalogError::LeaseLost));
    assert_eq!(
        rejection(catalog.finish(&hash, LastWord::default()).await),
        CatalogError::LeaseLost
    );
    assert_eq!(catalog.everything().await, before);
}

pub async fn a_lease_leads_to_its_session_while_it_is_held<E: Engine>(catalog: Catalog<E>) {
    catalog.begin_sweeping().await;
    let workspace = catalog.register("/w/a").await;
    let other = catalog.register("/w/b").await;
    catalog.begin_sweeping_now().await;
    let lease = new_lease("h1");
    let create = CreateSession {
        bind: Some(lease.clone()),
        ..new_in(&workspace)
    };
    let session = catalog.create_session(create).await;
    let find = async |visibility: Visibility| {
        let found = catalog
            .store
            .session_of_lease(&lease.hash, &visibility, catalog.now())
            .await;
        found.map(|found| found.session)
    };
    let seen = Visibility::Only([workspace.id.clone()].into());
    let unseen = Visibility::Only([other.id.clone()].into());
    assert_eq!(find(Visibility::All).await.unwrap(), session);
    assert_eq!(find(seen).await.unwrap(), session);
    assert_eq!(rejection(find(unseen.clone()).await), CatalogError::LeaseLost);
    // Nor does such a caller renew it or end the session.
    let lost = catalog
        .beats_as(vec![(lease.hash.clone(), Default::default())], unseen)
        .await;
    assert_eq!(lost, [Err(CatalogError::LeaseLost)]);
    catalog.pass_unseen(TTL).await;
    assert_eq!(rejection(find(Visibility::All).await), CatalogError::LeaseLost);
}
