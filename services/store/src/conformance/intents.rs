//! Promises about intents and path locks.

use compozy_domain::{ProfileId, Timestamp};

use super::engine::Engine;
use super::fixture::{Catalog, HOST, host};
use super::hooks;
use super::profiles::profile_id;
use crate::catalog::{CatalogStore as _, StoreKind};
use crate::intents::{INTENT_LEASE, Intent, IntentId, IntentStore as _, IntentWork};

/// An intent to make an identity file.
pub(crate) fn creating(id: &str, host_id: &str, owner: &str, root: &str) -> Intent {
    Intent {
        id: IntentId(id.to_owned()),
        host_id: host(host_id),
        owner: owner.to_owned(),
        work: IntentWork::CreateIdentity {
            root_dir: root.to_owned(),
            content: [7; 32],
            makes_directory: true,
        },
    }
}

/// An intent to move the directory of a profile.
pub(crate) fn renaming(id: &str, profile: &ProfileId, from: &str, to: &str) -> Intent {
    Intent {
        work: IntentWork::RenameProfile {
            profile_id: profile.clone(),
            from: from.to_owned(),
            to: to.to_owned(),
        },
        ..creating(id, HOST, "owner-1", "")
    }
}

/// The intents that another process finds abandoned once every lease has lapsed.
pub(crate) async fn abandoned<E>(catalog: &Catalog<E>, owner: &str) -> Vec<Intent> {
    let late = catalog.tick().plus(INTENT_LEASE).plus(INTENT_LEASE);
    abandoned_at(catalog, HOST, owner, late).await
}

async fn abandoned_at<E>(catalog: &Catalog<E>, host_id: &str, owner: &str, now: Timestamp) -> Vec<Intent> {
    catalog
        .store
        .abandoned_intents(&host(host_id), owner, now)
        .await
        .unwrap()
}

pub async fn an_intent_is_found_as_it_was_written<E: Engine>(catalog: Catalog<E>) {
    let create = creating("i1", HOST, "owner-1", "/w/a");
    let replace = Intent {
        id: IntentId("i2".into()),
        work: IntentWork::ReplaceIdentity {
            root_dir: "/w/b".into(),
            content: [255; 32],
            previous: vec![0, 255, b'\n'],
        },
        ..create.clone()
    };
    let rename = renaming("i3", &profile_id(), "/h/profiles/p", "/h/profiles/q");
    for intent in [&create, &replace, &rename] {
        catalog.store.begin_intent(intent, catalog.tick()).await.unwrap();
    }
    assert_eq!(
        abandoned(&catalog, "owner-2").await,
        [create.clone(), replace, rename.clone()]
    );
    let at = |host_id: &str, root: &str| {
        let (host, root) = (host(host_id), root.to_owned());
        let store = &catalog.store;
        async move { store.intents_at(&host, &root).await.unwrap() }
    };
    assert_eq!(at(HOST, "/w/a").await, std::slice::from_ref(&create));
    assert_eq!(at(HOST, "/w").await, []);
    assert_eq!(at("h2", "/w/a").await, []);
    assert_eq!(at(HOST, "/h/profiles/p").await, [rename]);
    assert_eq!(at(HOST, "/h/profiles/q").await, []);
    for ended in ["i2", "i2", "i3"] {
        catalog.store.end_intent(&IntentId(ended.into())).await.unwrap();
    }
    assert_eq!(abandoned(&catalog, "owner-2").await, [create]);
}

pub async fn only_others_of_the_same_host_recover_an_intent<E: Engine>(catalog: Catalog<E>) {
    let here = creating("i1", HOST, "owner-1", "/w/a");
    let there = creating("i2", "h2", "owner-1", "/w/a");
    for intent in [&here, &there] {
        catalog.store.begin_intent(intent, catalog.tick()).await.unwrap();
    }
    let late = catalog.tick().plus(INTENT_LEASE);
    assert_eq!(abandoned_at(&catalog, HOST, "owner-1", late).await, []);
    assert_eq!(abandoned_at(&catalog, HOST, "owner-2", late).await, [here]);
    assert_eq!(abandoned_at(&catalog, "h2", "owner-2", late).await, [there]);
    assert_eq!(abandoned_at(&catalog, "h3", "owner-2", late).await, []);
}

/// One process at a time has an SQLite catalog, so every other owner is gone. On Postgres the lease decides.
pub async fn a_lease_protects_an_intent_where_owners_share_a_catalog<E: Engine>(catalog: Catalog<E>) {
    let intent = creating("i1", HOST, "owner-1", "/w/a");
    let began = catalog.tick();
    catalog.store.begin_intent(&intent, began).await.unwrap();
    let shared = catalog.store.kind() == StoreKind::Postgres;
    let nanosecond = std::time::Duration::from_nanos(1);
    let lapses = began.plus(INTENT_LEASE);
    let expected = |recovered: bool| {
        if recovered {
            vec![intent.clone()]
        } else {
            Vec::new()
        }
    };
    assert_eq!(
        abandoned_at(&catalog, HOST, "owner-2", lapses.minus(nanosecond)).await,
        expected(!shared)
    );
    assert_eq!(
        abandoned_at(&catalog, HOST, "owner-2", lapses).await,
        expected(true)
    );
    catalog.store.renew_intents("owner-3", lapses).await.unwrap();
    assert_eq!(
        abandoned_at(&catalog, HOST, "owner-2", lapses).await,
        expected(true)
    );
    catalog.store.renew_intents("owner-1", lapses).await.unwrap();
    assert_eq!(
        abandoned_at(&catalog, HOST, "owner-2", lapses).await,
        expected(!shared)
    );
    let lapses = lapses.plus(INTENT_LEASE);
    assert_eq!(
        abandoned_at(&catalog, HOST, "owner-2", lapses).await,
        expected(true)
    );
}

/// A start recovers what it understands and leaves the rest to a release that knows it.
pub async fn an_intent_of_an_unknown_kind_is_left_alone<E: Engine>(catalog: Catalog<E>) {
    an_intent_is_left_alone(&catalog, "kind = 'something_new'").await;
}

/// Damage of one row does not keep a start from recovering the others.
pub async fn an_intent_that_makes_no_sense_is_left_alone<E: Engine>(catalog: Catalog<E>) {
    let no_bytes = match catalog.store.kind() {
        StoreKind::Sqlite => "x''",
        StoreKind::Postgres => "''",
    };
    for spoil in [
        format!("content = {no_bytes}"),
        format!("kind = 'something_new', content = {no_bytes}"),
        "kind = 'rename_profile'".to_owned(),
        format!("previous = {no_bytes}"),
    ] {
        an_intent_is_left_alone(&catalog, &spoil).await;
    }
}

async fn an_intent_is_left_alone<E: Engine>(catalog: &Catalog<E>, spoil: &str) {
    let intent = creating("i1", HOST, "owner-1", "/w/a");
    let spoiled = creating("i2", HOST, "owner-1", "/w/b");
    for intent in [&intent, &spoiled] {
        catalog.store.begin_intent(intent, catalog.tick()).await.unwrap();
    }
    let sql = format!("UPDATE intent SET {spoil} WHERE id = 'i2'");
    assert_eq!(hooks::execute(&catalog.store, &sql).await.unwrap(), 1);
    assert_eq!(abandoned(catalog, "owner-2").await, [intent], "{spoil}");
    let kept = hooks::rows(&catalog.store, "SELECT id FROM intent ORDER BY id").await;
    assert_eq!(kept.unwrap(), [["i1"], ["i2"]]);
    for id in ["i1", "i2"] {
        catalog.store.end_intent(&IntentId(id.into())).await.unwrap();
    }
}

/// A registration takes over identity files and nothing else.
pub async fn a_registration_leaves_the_move_of_a_directory_alone<E: Engine>(catalog: Catalog<E>) {
    let rename = renaming("i1", &profile_id(), "/w/a", "/w/b");
    catalog.store.begin_intent(&rename, catalog.tick()).await.unwrap();
    catalog.register("/w/a").await;
    assert_eq!(abandoned(&catalog, "owner-2").await, [rename]);
}

/// Releases from before this kind of intent look at the size of every content, and stop at another one.
pub async fn the_move_of_a_directory_is_stored_with_a_content_of_the_usual_size<E: Engine>(
    catalog: Catalog<E>,
) {
    let rename = renaming("i1", &profile_id(), "/h/profiles/p", "/h/profiles/q");
    catalog.store.begin_intent(&rename, catalog.tick()).await.unwrap();
    let stored = hooks::rows(&catalog.store, "SELECT kind, content FROM intent")
        .await
        .unwrap();
    assert_eq!(
        (stored[0][0].as_str(), stored[0][1].len()),
        ("rename_profile", 2 * 32)
    );
}

pub async fn a_path_lock_keeps_out_everybody_else<E: Engine>(catalog: Catalog<E>) {
    let store = &catalog.store;
    let held = store.lock_path(&host(HOST), "/w/a").await.unwrap();
    // Other paths, and the same path of another host, are free.
    drop(store.lock_path(&host(HOST), "/w/b").await.unwrap());
    drop(store.lock_path(&host("h2"), "/w/a").await.unwrap());
    let here = host(HOST);
    let mut second = Box::pin(store.lock_path(&here, "/w/a"));
    assert!(futures::poll!(&mut second).is_pending());
    drop(held);
    drop(second.await.unwrap());
    drop(store.lock_path(&here, "/w/a").await.unwrap());
}

/// More holders than Postgres has connections for locks.
pub async fn many_wait_for_one_path_and_each_gets_it_alone<E: Engine>(catalog: Catalog<E>) {
    let inside = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..40 {
        let (store, inside) = (
            std::sync::Arc::clone(&catalog.store),
            std::sync::Arc::clone(&inside),
        );
        tasks.spawn(async move {
            let lock = store.lock_path(&host(HOST), "/w/a").await.unwrap();
            assert_eq!(inside.fetch_add(1, std::sync::atomic::Ordering::SeqCst), 0);
            tokio::task::yield_now().await;
            inside.fetch_sub(1, std::sync::atomic::Ordering::SeqCst);
            drop(lock);
        });
    }
    let mut got = 0;
    while let Some(outcome) = tasks.join_next().await {
        outcome.unwrap();
        got += 1;
    }
    assert_eq!(got, 40);
}
