//! Postgres: connections that the server ends, all of them, again and again.

#![allow(clippy::unwrap_used)]

use std::collections::HashMap;
use std::sync::Arc;

use compozy_domain::WorkspaceId;
use compozy_store::conformance::{Catalog, HOST, Postgres, open, run};
use compozy_store::{
    CatalogStore as _, ChangeLog as _, Error, IntentStore as _, StoreAddress, WorkspaceStore as _,
};
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
            *told
                .entry(entry.change.workspace_id.as_ref().unwrap())
                .or_default() += 1;
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

/// After a failover connections may lead to a server that takes no writes. They are not used again.
#[tokio::test(flavor = "multi_thread")]
async fn a_connection_that_takes_no_writes_is_dropped() {
    let test = concat!(module_path!(), "::a_connection_that_takes_no_writes_is_dropped");
    run::<Postgres, _>(test, async |catalog: Catalog<Postgres>| {
        let pool = catalog.engine.connections().await;
        let mut ours = pool.acquire().await.unwrap();
        let every_new_connection = async |ours: &mut sqlx::PgConnection, setting: &str| {
            let sql = format!(
                "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I {setting}', current_database()); END $$"
            );
            sqlx::query(sqlx::AssertSqlSafe(sql)).execute(ours).await.unwrap();
        };
        every_new_connection(&mut ours, "SET default_transaction_read_only = on").await;
        terminate_all(&pool).await;
        let refused = catalog
            .store
            .register(catalog.new_at("/w/a"), catalog.call())
            .await;
        let is_known = matches!(
            refused,
            Err(Error::Unavailable {
                outcome_unknown: false,
                ..
            })
        );
        assert!(is_known, "{refused:?}");
        every_new_connection(&mut ours, "RESET default_transaction_read_only").await;
        catalog.register("/w/a").await;
        assert_eq!(catalog.names().await, ["a"]);
        drop(ours);
        pool.close().await;
    })
    .await;
}

/// Behind a transaction pooler nothing is set when a connection begins, and answered writes are as safe.
#[tokio::test(flavor = "multi_thread")]
async fn a_write_behind_a_pooler_waits_for_its_commit() {
    let test = concat!(module_path!(), "::a_write_behind_a_pooler_waits_for_its_commit");
    run::<Postgres, _>(test, async |catalog: Catalog<Postgres>| {
        let pool = catalog.engine.connections().await;
        let sql = "DO $$ BEGIN \
                   EXECUTE format('ALTER DATABASE %I SET synchronous_commit = off', current_database()); END $$";
        sqlx::query(sql).execute(&pool).await.unwrap();
        // Told by the write itself.
        let sql = "CREATE FUNCTION tell() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
                   NEW.title := current_setting('synchronous_commit'); RETURN NEW; END $$";
        sqlx::query(sql).execute(&pool).await.unwrap();
        let sql = "CREATE TRIGGER tell BEFORE INSERT ON workspace FOR EACH ROW EXECUTE FUNCTION tell()";
        sqlx::query(sql).execute(&pool).await.unwrap();
        for pooler in [true, false] {
            let url = catalog.engine.url().to_owned();
            let store = open(StoreAddress::Postgres { url, pooler }).await.unwrap();
            let new = catalog.new_at(&format!("/w/{pooler}"));
            let id = new.workspace.id.clone();
            store.register(new, catalog.call()).await.unwrap();
            assert_eq!(catalog.get(&id).await.title, "on", "pooler: {pooler}");
            store.close().await;
        }
        pool.close().await;
    })
    .await;
}

async fn epoch(catalog: &Catalog<Postgres>) -> String {
    catalog.store.head().await.unwrap().head.epoch
}

/// The positions of a server that was promoted, or that a dump was restored on, are those of another log.
#[tokio::test(flavor = "multi_thread")]
async fn an_epoch_belongs_to_the_server_that_it_was_made_on() {
    let test = concat!(
        module_path!(),
        "::an_epoch_belongs_to_the_server_that_it_was_made_on"
    );
    run::<Postgres, _>(test, async |catalog: Catalog<Postgres>| {
        let pool = catalog.engine.connections().await;
        let elsewhere = "UPDATE change_head SET made_on = 'elsewhere/00000001'";
        let first = epoch(&catalog).await;
        let again = catalog.opened_again().await;
        assert_eq!(epoch(&again).await, first, "the same server");

        sqlx::query(elsewhere).execute(&pool).await.unwrap();
        let moved = catalog.opened_again().await;
        let second = epoch(&moved).await;
        assert_ne!(second, first, "another server");
        assert_eq!(epoch(&catalog.opened_again().await).await, second);

        // While it is served: every connection is lost, and the new ones lead to another server.
        terminate_all(&pool).await;
        moved.register("/w/a").await;
        assert_eq!(epoch(&moved).await, second, "the same server, back again");
        sqlx::query(elsewhere).execute(&pool).await.unwrap();
        moved.store.served_another_server("elsewhere/00000001");
        terminate_all(&pool).await;
        moved.register("/w/b").await;
        assert!(![first, second].contains(&epoch(&moved).await));
        pool.close().await;
    })
    .await;
}

/// A role that may not ask for the server's identity serves all the same.
#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_does_not_tell_its_identity_is_served() {
    let test = concat!(
        module_path!(),
        "::a_server_that_does_not_tell_its_identity_is_served"
    );
    run::<Postgres, _>(test, async |catalog: Catalog<Postgres>| {
        let pool = catalog.engine.connections().await;
        let role = format!("compozy_test_mute_{}", std::process::id());
        let first = epoch(&catalog).await;
        for sql in [
            format!("CREATE ROLE {role} LOGIN PASSWORD 'mute'"),
            format!("GRANT ALL ON ALL TABLES IN SCHEMA public TO {role}"),
            format!("GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO {role}"),
            "REVOKE EXECUTE ON FUNCTION pg_control_system() FROM PUBLIC".to_owned(),
        ] {
            sqlx::query(sqlx::AssertSqlSafe(sql))
                .execute(&pool)
                .await
                .unwrap();
        }
        let url = catalog.engine.options().username(&role).password("mute");
        let url = sqlx::ConnectOptions::to_url_lossy(&url).to_string();
        let store = open(StoreAddress::Postgres { url, pooler: false }).await.unwrap();
        store
            .register(catalog.new_at("/w/a"), catalog.call())
            .await
            .unwrap();
        assert_eq!(store.head().await.unwrap().head.epoch, first);
        store.close().await;
        for sql in [format!("DROP OWNED BY {role}"), format!("DROP ROLE {role}")] {
            sqlx::query(sqlx::AssertSqlSafe(sql))
                .execute(&pool)
                .await
                .unwrap();
        }
        pool.close().await;
    })
    .await;
}
