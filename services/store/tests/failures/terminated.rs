//! Postgres: connections that the server ends, all of them, again and again.

#![allow(clippy::unwrap_used)]

use std::collections::HashMap;
use std::sync::Arc;

use compozy_domain::WorkspaceId;
use compozy_store::conformance::{Catalog, HOST, Postgres, run};
use compozy_store::{Error, IntentStore as _, WorkspaceStore as _};
use sqlx::PgPool;
use tokio::task::JoinSet;

const WRITES: i64 = 200;

/// Ends every connection of the store.
async fn terminate_all(pool: &PgPool) {
    let sql = "SELECT COUNT(pg_terminate_backend(pid)) FROM pg_stat_activity \
               WHERE datname = current_database() AND application_name = 'compozyd'";
    sqlx::query(sql).execute(pool).await.unwrap();
}

async fn count_rows(pool: &PgPool) -> i64 {
    sqlx::query_scalar("SELECT COUNT(*) FROM workspace")
        .fetch_one(pool)
        .await
        .unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_answered_write_is_there_and_none_twice() {
    let test = concat!(module_path!(), "::every_answered_write_is_there_and_none_twice");
    run::<Postgres, _>(test, async |catalog: Catalog<Postgres>| {
        let pool = catalog.engine.connections().await;
        let mut writers = JoinSet::new();
        for number in 0..WRITES {
            let store = Arc::clone(&catalog.store);
            // The same base name for some of them, so that they meet.
            let root = format!("/{number}/{}", number % 20);
            let (register, call) = (catalog.new_at(&root), catalog.call());
            let id = register.workspace.id.clone();
            writers.spawn(async move { (id, store.register(register, call).await) });
        }
        for done in [10, 50, 90, 130, 170] {
            while count_rows(&pool).await < done {
                tokio::task::yield_now().await;
            }
            terminate_all(&pool).await;
        }
        let mut answered: HashMap<WorkspaceId, bool> = HashMap::new();
        for (id, outcome) in writers.join_all().await {
            let known = matches!(
                outcome,
                Ok(_)
                    | Err(Error::Unavailable {
                        outcome_unknown: false,
                        ..
                    })
            );
            assert!(known, "a server that is there knows every outcome: {outcome:?}");
            answered.insert(id, outcome.is_ok());
        }
        let succeeded = answered.values().filter(|ok| **ok).count();
        assert!(succeeded as i64 >= WRITES - 10, "{succeeded} of {WRITES}");
        let entries = catalog.log().await;
        let mut told: HashMap<&WorkspaceId, u32> = HashMap::new();
        for entry in &entries {
            *told.entry(&entry.change.workspace_id).or_default() += 1;
        }
        for (id, ok) in &answered {
            assert_eq!(catalog.find(id).await.is_some(), *ok, "{id}");
            assert_eq!(told.get(id).copied().unwrap_or(0), u32::from(*ok), "{id}");
        }
        assert_eq!(catalog.names().await.len(), succeeded);
        pool.close().await;
    })
    .await;
}

/// Places of a pool that hold dead connections are no reason to fail a read or a lock.
#[tokio::test(flavor = "multi_thread")]
async fn reads_and_locks_pass_over_dead_connections() {
    let test = concat!(module_path!(), "::reads_and_locks_pass_over_dead_connections");
    run::<Postgres, _>(test, async |catalog: Catalog<Postgres>| {
        let pool = catalog.engine.connections().await;
        catalog.register("/w/a").await;
        let host = compozy_domain::HostId::parse(HOST).unwrap();
        for _ in 0..2 {
            let paths: Vec<String> = (0..10).map(|number| format!("/w/{number}")).collect();
            let locks = paths.iter().map(|path| catalog.store.lock_path(&host, path));
            let held = futures::future::try_join_all(locks).await.unwrap();
            let reads = (0..10).map(|_| catalog.names());
            futures::future::join_all(reads).await;
            drop(held);
            terminate_all(&pool).await;
            assert_eq!(catalog.names().await, ["a"]);
            for path in &paths {
                drop(catalog.store.lock_path(&host, path).await.unwrap());
            }
        }
        pool.close().await;
    })
    .await;
}
