//! Promises about the clock that sessions live by.

use std::time::Duration;

use compozy_domain::session::StopCause;
use compozy_domain::{ChangeReason, SessionState, Timestamp};

use super::engine::Engine;
use super::fixture::{Catalog, START};
use super::session_fixture::{changing, deletion, new_in, new_lease, renaming, stopping, ungrouped};
use crate::catalog::{CatalogStore as _, StoreKind};
use crate::sessions::{CreateSession, SessionStore as _};

const HOUR: Duration = Duration::from_secs(3_600);
const SECOND: Duration = Duration::from_secs(1);

/// The least instant that a write may carry when the clock was set back: none below a stored one where one process has
/// the only clock.
fn floor<E>(catalog: &Catalog<E>, stored: Timestamp) -> Timestamp {
    match catalog.store.kind() {
        StoreKind::Sqlite => stored,
        StoreKind::Postgres => catalog.now(),
    }
}

pub async fn s137_everything_works_when_the_clock_is_set_back<E: Engine>(catalog: Catalog<E>) {
    let workspace = catalog.register("/t/a").await;
    catalog.set_clock(START).await;
    let create = CreateSession {
        bind: Some(new_lease("h1")),
        ..new_in(&workspace)
    };
    let old = catalog.create_session(create).await;
    catalog.set_clock(START.minus(HOUR)).await;
    let swept = catalog.sweep().await;
    assert_eq!((swept.stopped.len(), swept.unusable.len()), (0, 0));
    let made = catalog.session_in(&workspace).await;
    catalog.change_session(&made.id, renaming("x")).await;
    let stopped = catalog
        .change_session(&made.id, stopping(StopCause::User, ""))
        .await;
    assert_eq!(stopped.state, SessionState::Stopped);
    let found = catalog.get_session(&old.id).await;
    assert_eq!((found.created_at, found.state), (START, SessionState::Active));
    let positions: Vec<i64> = catalog.log().await.iter().map(|entry| entry.position).collect();
    assert!(
        positions.windows(2).all(|pair| pair[1] == pair[0] + 1),
        "{positions:?}"
    );
    catalog.delete_session(deletion(&made.id)).await.unwrap();
    catalog.assert_counts_are_true().await;
}

pub async fn an_instant_is_not_below_a_stored_one_of_the_only_process<E: Engine>(catalog: Catalog<E>) {
    catalog.set_clock(START).await;
    let first = catalog.create_session(ungrouped()).await;
    catalog.set_clock(START.minus(HOUR)).await;
    let expected = floor(&catalog, START);
    let second = catalog.create_session(ungrouped()).await;
    assert_eq!(second.created_at, expected);
    let found = catalog
        .store
        .find_session(&first.id, &compozy_domain::Visibility::All, catalog.now())
        .await;
    assert_eq!(found.unwrap().0.unwrap().at, expected);
    let renamed = catalog.change_session(&first.id, renaming("x")).await;
    assert_eq!(renamed.updated_at, expected);
    catalog.set_clock(START.plus(SECOND)).await;
    assert_eq!(
        catalog.change_session(&first.id, renaming("y")).await.updated_at,
        START.plus(SECOND)
    );
}

/// What only looked, or was refused, holds nobody's clock up.
pub async fn a_read_and_a_refused_write_store_no_instant<E: Engine>(catalog: Catalog<E>) {
    catalog.set_clock(START).await;
    let session = catalog.create_session(ungrouped()).await;
    let stopped = catalog
        .change_session(&session.id, stopping(StopCause::User, ""))
        .await;
    catalog.set_clock(START.plus(HOUR)).await;
    catalog.get_session(&session.id).await;
    catalog
        .change_session(&session.id, stopping(StopCause::User, ""))
        .await;
    let refused = changing(
        &session.id,
        compozy_domain::session::change::SessionChange::Bind(new_lease("h")),
    );
    assert!(
        catalog
            .store
            .change_session(refused, catalog.session_call())
            .await
            .is_err()
    );
    catalog.set_clock(START.plus(SECOND)).await;
    let renamed = catalog.change_session(&session.id, renaming("x")).await;
    assert_eq!(
        (renamed.updated_at, stopped.updated_at),
        (START.plus(SECOND), START)
    );
}

pub async fn a_moved_clock_moves_everything<E: Engine>(catalog: Catalog<E>) {
    for span in [Duration::ZERO, HOUR, 1_000 * HOUR] {
        catalog.set_clock(START.plus(span)).await;
        let written = catalog
            .try_create_session(ungrouped())
            .await
            .unwrap()
            .value
            .session;
        assert_eq!(
            (written.at, written.session.created_at),
            (catalog.now(), catalog.now())
        );
        let entry = catalog.log().await.pop().unwrap();
        assert_eq!(
            (entry.change.at, entry.change.reason),
            (catalog.now(), ChangeReason::Created)
        );
        let now = crate::change_log::ChangeLog::now(&*catalog.store, catalog.now())
            .await
            .unwrap();
        assert_eq!(now, catalog.now());
    }
}
