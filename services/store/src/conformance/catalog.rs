//! Promises about the catalog as a whole.

use std::sync::Arc;

use compozy_domain::Visibility;
use tokio::task::JoinSet;

use super::engine::Engine;
use super::fixture::Catalog;
use super::hooks;
use crate::catalog::CatalogStore as _;
use crate::error::Error;
use crate::workspaces::WorkspaceStore as _;

pub async fn a_catalog_has_an_id_and_a_key_of_its_own<E: Engine>(catalog: Catalog<E>) {
    assert!(compozy_domain::id::is_ulid(catalog.store.catalog_id().as_str()));
    let keys = catalog.store.keys().await.unwrap();
    assert_eq!(keys.len(), 1);
    assert_eq!((keys[0].number, keys[0].bytes.len()), (1, 32));
    assert_ne!(keys[0].bytes, [0; 32]);
}

pub async fn the_two_newest_keys_are_valid<E: Engine>(catalog: Catalog<E>) {
    let mut newest_first = catalog.store.keys().await.unwrap();
    for number in 2..=4_u8 {
        let rotated = catalog
            .store
            .rotate_key([number; 32], catalog.tick())
            .await
            .unwrap();
        assert_eq!(
            (rotated.number, rotated.bytes.as_slice()),
            (i64::from(number), &[number; 32][..])
        );
        newest_first.insert(0, rotated);
        newest_first.truncate(2);
        assert_eq!(catalog.store.keys().await.unwrap(), newest_first);
    }
}

pub async fn keys_rotated_at_once_get_numbers_of_their_own<E: Engine>(catalog: Catalog<E>) {
    let mut tasks = JoinSet::new();
    for number in 0..8 {
        let (store, now) = (Arc::clone(&catalog.store), catalog.tick());
        tasks.spawn(async move { store.rotate_key([number; 32], now).await.unwrap().number });
    }
    let mut numbers = tasks.join_all().await;
    numbers.sort_unstable();
    assert_eq!(numbers, (2..=9).collect::<Vec<i64>>());
    assert_eq!(catalog.store.keys().await.unwrap().len(), 2);
}

pub async fn the_first_start_is_claimed_once<E: Engine>(catalog: Catalog<E>) {
    let mut tasks = JoinSet::new();
    for _ in 0..20 {
        let store = Arc::clone(&catalog.store);
        tasks.spawn(async move { store.claim_first_start().await.unwrap() });
    }
    let claims = tasks.join_all().await;
    assert_eq!(claims.iter().filter(|claimed| **claimed).count(), 1);
    assert!(!catalog.store.claim_first_start().await.unwrap());
}

pub async fn a_sound_catalog_has_no_findings<E: Engine>(catalog: Catalog<E>) {
    catalog.store.check().await.unwrap();
    assert_eq!(catalog.store.examine().await.unwrap(), []);
    let row = catalog.register("/w/a").await;
    catalog.register("/w/b").await;
    catalog.remove(&row.id).await.unwrap();
    let before = catalog.everything().await;
    assert_eq!(catalog.store.examine().await.unwrap(), []);
    catalog.store.check().await.unwrap();
    assert_eq!(catalog.everything().await, before, "looking writes nothing");
}

pub async fn a_gap_in_the_log_is_found<E: Engine>(catalog: Catalog<E>) {
    for root in ["/w/a", "/w/b", "/w/c"] {
        catalog.register(root).await;
    }
    catalog.number_all().await;
    hooks::execute(&catalog.store, "DELETE FROM change WHERE position = 2")
        .await
        .unwrap();
    let findings = catalog.store.examine().await.unwrap();
    assert_eq!(findings.len(), 1);
    assert!(
        findings[0].is_error && findings[0].message.contains("change log"),
        "{findings:?}"
    );
}

/// Closing waits for what has begun; nothing is begun afterwards.
pub async fn a_closed_catalog_answers_that_it_is_away<E: Engine>(catalog: Catalog<E>) {
    let row = catalog.register("/w/a").await;
    catalog.store.close().await;
    let outcome = catalog.store.find(&row.id, &Visibility::All).await;
    assert!(
        matches!(
            outcome,
            Err(Error::Unavailable {
                outcome_unknown: false,
                ..
            })
        ),
        "{outcome:?}"
    );
    let outcome = catalog
        .store
        .register(catalog.new_at("/w/b"), catalog.call())
        .await;
    assert!(
        matches!(
            outcome,
            Err(Error::Unavailable {
                outcome_unknown: false,
                ..
            })
        ),
        "{outcome:?}"
    );
    catalog.store.close().await;
}
