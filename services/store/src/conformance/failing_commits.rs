//! Promises about a store that goes away at a commit.

use std::sync::Arc;

use compozy_domain::WorkspaceStatus;
use tokio::task::JoinSet;

use super::engine::Engine;
use super::fixture::{Catalog, removal};
use super::observations::seen;
use super::requests::Request;
use super::update::retitle;
use crate::error::{Error, Result};
use crate::observations::ObservationStore as _;
use crate::workspaces::WorkspaceStore as _;

#[track_caller]
pub(crate) fn assert_away<T: std::fmt::Debug>(outcome: &Result<T>) {
    let away = matches!(
        outcome,
        Err(Error::Unavailable {
            outcome_unknown: false,
            ..
        })
    );
    assert!(away, "{outcome:?}");
}

pub async fn w288_a_failed_registration_leaves_nothing_and_the_next_one_works<E: Engine>(
    catalog: Catalog<E>,
) {
    catalog.register("/w/a").await;
    let before = catalog.everything().await;
    let request = Request::new("Register");
    catalog.store.fail_commits(true);
    for _ in 0..3 {
        let call = catalog.call_once(&request);
        assert_away(&catalog.store.register(catalog.new_at("/w/b"), call).await);
    }
    assert_eq!(catalog.names().await, ["a"], "reading goes on");
    catalog.store.fail_commits(false);
    assert_eq!(catalog.everything().await, before);
    let call = catalog.call_once(&request);
    catalog
        .store
        .register(catalog.new_at("/w/b"), call)
        .await
        .unwrap();
    assert_eq!(catalog.names().await, ["b", "a"]);
    assert_eq!(catalog.log().await.len(), 2);
}

pub async fn w289_a_failed_move_leaves_the_order<E: Engine>(catalog: Catalog<E>) {
    let rows = catalog.register_in_order(&["/w/c", "/w/b", "/w/a"]).await;
    let before = catalog.everything().await;
    catalog.store.fail_commits(true);
    assert_away(&catalog.move_before(&rows[2].id, Some(&rows[0].id)).await);
    catalog.store.fail_commits(false);
    assert_eq!(catalog.everything().await, before);
    assert_eq!(catalog.names().await, ["c", "b", "a"]);
}

/// Whatever writes, and all at once.
pub async fn no_failed_write_leaves_anything<E: Engine>(catalog: Catalog<E>) {
    let rows = catalog.register_in_order(&["/w/c", "/w/b", "/w/a"]).await;
    let before = catalog.everything().await;
    catalog.store.fail_commits(true);
    let mut tasks = JoinSet::new();
    for row in &rows {
        let (store, id) = (Arc::clone(&catalog.store), row.id.clone());
        let (update, remove) = (catalog.call(), catalog.call());
        let (look, now) = (seen(row, WorkspaceStatus::RootMissing), catalog.tick());
        tasks.spawn(async move {
            assert_away(&store.update(retitle(&id, "x"), update).await);
            assert_away(&store.remove(removal(&id), remove).await);
            assert_away(&store.record(&[look], now).await);
        });
    }
    tasks.join_all().await;
    catalog.store.fail_commits(false);
    assert_eq!(catalog.everything().await, before);
}
