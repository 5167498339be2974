//! Promises about a catalog that several processes have open at once. For Postgres.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use compozy_domain::Timestamp;
use tokio::task::JoinSet;

use super::change_log::{assert_dense, assert_versions_ascend, number_until, read_until};
use super::engine::Engine;
use super::fixture::{Catalog, HOST, host};
use super::requests::Request;
use super::update::retitle;
use crate::call::Answer;
use crate::catalog::CatalogStore as _;
use crate::intents::IntentStore as _;
use crate::observations::ObservationStore as _;
use crate::workspaces::WorkspaceStore as _;

pub async fn a_path_lock_keeps_out_other_processes<E: Engine>(catalog: Catalog<E>) {
    let other = catalog.opened_again().await;
    let here = host(HOST);
    let held = catalog.store.lock_path(&here, "/w/a").await.unwrap();
    drop(other.store.lock_path(&here, "/w/b").await.unwrap());
    let (entered, store) = (Arc::new(AtomicBool::new(false)), Arc::clone(&other.store));
    let inside = Arc::clone(&entered);
    let mut waiting = JoinSet::new();
    waiting.spawn(async move {
        let lock = store.lock_path(&host(HOST), "/w/a").await.unwrap();
        inside.store(true, Ordering::SeqCst);
        drop(lock);
    });
    // Until the server has it among those that wait.
    let waits = "SELECT COUNT(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted \
                 AND database = (SELECT oid::int8 FROM pg_database WHERE datname = current_database())";
    while super::hooks::rows(&catalog.store, waits).await.unwrap() != [["1"]] {
        tokio::task::yield_now().await;
    }
    assert!(!entered.load(Ordering::SeqCst));
    drop(held);
    waiting.join_all().await;
    assert!(entered.load(Ordering::SeqCst));
    other.store.close().await;
}

pub async fn two_processes_number_one_log<E: Engine>(catalog: Catalog<E>) {
    let other = catalog.opened_again().await;
    let mut ids = Vec::new();
    for number in 0..8 {
        ids.push(catalog.register(&format!("/w/{number}")).await.id);
    }
    let done = Arc::new(AtomicBool::new(false));
    let mut others = JoinSet::new();
    for store in [&catalog.store, &other.store] {
        others.spawn(number_until(Arc::clone(store), Arc::clone(&done)));
        others.spawn(read_until(Arc::clone(store), Arc::clone(&done)));
    }
    let mut writers = JoinSet::new();
    for writer in 0..8 {
        let catalog = if writer % 2 == 0 {
            catalog.clone()
        } else {
            other.clone()
        };
        let ids = ids.clone();
        writers.spawn(async move {
            for round in 0..25 {
                let update = retitle(&ids[(writer + round) % 8], &format!("{writer} {round}"));
                catalog.store.update(update, catalog.call()).await.unwrap();
            }
        });
    }
    writers.join_all().await;
    done.store(true, Ordering::SeqCst);
    others.join_all().await;
    let entries = catalog.log().await;
    assert_eq!(entries.len(), 8 + 8 * 25);
    assert_dense(&entries);
    assert_versions_ascend(&entries);
    assert_eq!(other.log().await, entries, "the same for every reader");
    other.store.close().await;
}

pub async fn a_request_is_carried_out_once_by_all_processes<E: Engine>(catalog: Catalog<E>) {
    let other = catalog.opened_again().await;
    let request = Request::new("Register");
    let mut tasks = JoinSet::new();
    for number in 0..10 {
        let catalog = if number % 2 == 0 {
            catalog.clone()
        } else {
            other.clone()
        };
        let call = catalog.call_once(&request);
        tasks.spawn(async move {
            catalog
                .store
                .register(catalog.new_at("/w/a"), call)
                .await
                .unwrap()
        });
    }
    let answers = tasks.join_all().await;
    let fresh = answers.iter().filter(|answer| matches!(answer, Answer::Fresh(_)));
    assert_eq!(fresh.count(), 1);
    assert_eq!(other.names().await, ["a"]);
    other.store.close().await;
}

pub async fn keys_rounds_and_the_first_start_belong_to_the_catalog<E: Engine>(catalog: Catalog<E>) {
    let other = catalog.opened_again().await;
    assert_eq!(other.store.catalog_id(), catalog.store.catalog_id());
    catalog.store.rotate_key([3; 32], catalog.tick()).await.unwrap();
    assert_eq!(
        other.store.keys().await.unwrap(),
        catalog.store.keys().await.unwrap()
    );
    assert!(catalog.store.claim_first_start().await.unwrap());
    assert!(!other.store.claim_first_start().await.unwrap());
    let now = Timestamp::from_nanos(1_000_000_000_000);
    let claim = async |store: &crate::SqlStore, owner| {
        store
            .claim_round(&host(HOST), owner, now, 1_000_000_000)
            .await
            .unwrap()
    };
    assert!(claim(&other.store, "b").await);
    assert!(!claim(&catalog.store, "a").await);
    other.store.close().await;
}

pub async fn n018_of_two_that_see_a_root_missing_one_tells<E: Engine>(catalog: Catalog<E>) {
    let other = catalog.opened_again().await;
    assert_eq!(super::logged::both_see_it_missing(&catalog, &other).await, 1);
    let log = catalog.log().await;
    assert_eq!(other.log().await, log);
    let id = log[0].change.workspace_id.clone().unwrap();
    assert_eq!(catalog.get(&id).await.version, 2);
    other.store.close().await;
}
