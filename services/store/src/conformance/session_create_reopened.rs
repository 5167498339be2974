//! Promises about what a restart leaves of sessions that were made, changed and deleted, and of their clock.

use std::collections::BTreeMap;
use std::time::Duration;

use compozy_domain::session::StopCause;
use compozy_domain::session::change::SessionChange;
use compozy_domain::{CatalogError, Timestamp};

use super::engine::Engine;
use super::fixture::{Catalog, START, rejection};
use super::request_ids::remembered;
use super::requests::Request;
use super::session_fixture::{deletion, new_in, new_lease, renaming, stopping, ungrouped};
use crate::catalog::{CatalogStore as _, StoreKind};
use crate::sessions::{CreateSession, SessionStore as _};

const HOUR: Duration = Duration::from_secs(3_600);

pub async fn sessions_and_their_transitions_outlive_the_process<E: Engine>(catalog: Catalog<E>) {
    let workspace = catalog.register("/t/a").await;
    catalog.set_clock(START).await;
    let create = CreateSession {
        name: "plan".to_owned(),
        labels: BTreeMap::from([("k".to_owned(), "v".to_owned())]),
        bind: Some(new_lease("h1")),
        ..new_in(&workspace)
    };
    let bound = catalog.create_session(create).await;
    let stopped = catalog.stopped_in(&workspace).await;
    let resumed = catalog
        .change_session(&stopped.id, SessionChange::Resume { bind: None })
        .await;
    let deleted = catalog.stopped_in(&workspace).await;
    catalog.delete_session(deletion(&deleted.id)).await.unwrap();
    let transitions = catalog.store.transitions(&stopped.id).await.unwrap();
    assert_eq!(transitions.len(), 3);
    let before = catalog.everything().await;

    let catalog = catalog.reopened().await;
    assert_eq!(catalog.everything().await, before);
    assert_eq!(catalog.get_session(&bound.id).await, bound);
    assert_eq!(catalog.get_session(&stopped.id).await, resumed);
    assert_eq!(catalog.store.transitions(&stopped.id).await.unwrap(), transitions);
    let again = CreateSession {
        id: deleted.id.clone(),
        ..ungrouped()
    };
    let refused = rejection(catalog.try_create_session(again).await);
    assert_eq!(
        refused,
        CatalogError::SessionIdConflict {
            id: deleted.id.to_string()
        }
    );
    let newest = catalog.session_in(&workspace).await;
    assert!(
        newest.rank < resumed.rank && resumed.rank < bound.rank,
        "the last one comes first"
    );
    catalog.assert_counts_are_true().await;
    catalog.store.close().await;
}

pub async fn the_answer_to_a_creation_outlives_the_process<E: Engine>(catalog: Catalog<E>) {
    let request = Request::new("CreateSession");
    let first = catalog
        .store
        .create_session(ungrouped(), catalog.session_call_once(&request))
        .await
        .unwrap();
    let catalog = catalog.reopened().await;
    let again = catalog
        .store
        .create_session(ungrouped(), catalog.session_call_once(&request))
        .await
        .unwrap();
    let crate::call::Answer::Fresh(first) = first else {
        panic!("carried out before");
    };
    assert_eq!(remembered(again), format!("{first:?}").into_bytes());
    assert_eq!(catalog.log().await.len(), 1);
    catalog.store.close().await;
}

pub async fn a_clock_that_was_set_back_at_a_restart_stands_still<E: Engine>(catalog: Catalog<E>) {
    catalog.set_clock(START).await;
    let session = catalog.create_session(ungrouped()).await;
    catalog.set_clock(START.plus(HOUR)).await;
    catalog
        .change_session(&session.id, stopping(StopCause::User, ""))
        .await;
    let back = START.minus(HOUR);
    let catalog = catalog.reopened().await;
    catalog.set_clock(back).await;
    let expected: Timestamp = match catalog.store.kind() {
        StoreKind::Sqlite => START.plus(HOUR),
        StoreKind::Postgres => back,
    };
    assert_eq!(catalog.create_session(ungrouped()).await.created_at, expected);
    // Also where the newest instant is that of a sweep.
    catalog.set_clock(START.plus(2 * HOUR)).await;
    catalog.sweep().await;
    let catalog = catalog.reopened().await;
    catalog.set_clock(back).await;
    let expected = match catalog.store.kind() {
        StoreKind::Sqlite => START.plus(2 * HOUR),
        StoreKind::Postgres => back,
    };
    let renamed = catalog.change_session(&session.id, renaming("x")).await;
    assert_eq!(renamed.updated_at, expected);
    catalog.store.close().await;
}
