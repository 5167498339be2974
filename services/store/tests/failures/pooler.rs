//! Postgres behind PgBouncer in transaction mode. The whole conformance suite runs there as well; this is what only
//! concerns the pooler.

#![allow(clippy::unwrap_used)]

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use compozy_store::conformance::{Catalog, Engine as _, PooledPostgres, run};
use compozy_store::{CatalogStore as _, ChangeLog as _, SqlStore, WorkspaceStore as _};
use tokio::task::JoinSet;

const WRITES: usize = 1_000;
const WRITERS: usize = 16;

async fn number_until(store: Arc<SqlStore>, done: Arc<AtomicBool>) {
    while !done.load(Ordering::SeqCst) {
        store.number_pending().await.unwrap();
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

/// Reads as a watcher does, and answers what it has seen once the log is as long as it is to be.
async fn watch(store: Arc<SqlStore>, length: usize) -> Vec<String> {
    let mut seen = Vec::new();
    while seen.len() < length {
        let slice = store.read_after(seen.len() as i64, 100).await.unwrap();
        for entry in slice.entries {
            assert_eq!(entry.position, seen.len() as i64 + 1);
            seen.push(entry.change.workspace_id.unwrap().to_string());
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    seen
}

#[tokio::test(flavor = "multi_thread")]
async fn n200_two_servers_behind_a_pooler() {
    let test = concat!(module_path!(), "::n200_two_servers_behind_a_pooler");
    run::<PooledPostgres, _>(test, two_servers).await;
}

async fn two_servers(first: Catalog<PooledPostgres>) {
    let second = first.opened_again().await;
    let done = Arc::new(AtomicBool::new(false));
    let (mut numbering, mut watching, mut writers) = (JoinSet::new(), JoinSet::new(), JoinSet::new());
    for store in [&first.store, &second.store] {
        numbering.spawn(number_until(Arc::clone(store), Arc::clone(&done)));
        watching.spawn(watch(Arc::clone(store), WRITES));
    }
    for writer in 0..WRITERS {
        let catalog = if writer % 2 == 0 {
            first.clone()
        } else {
            second.clone()
        };
        writers.spawn(async move {
            for number in (0..WRITES).filter(|number| number % WRITERS == writer) {
                catalog.register(&format!("/{writer}/{number}")).await;
            }
        });
    }
    writers.join_all().await;
    let seen = watching.join_all().await;
    done.store(true, Ordering::SeqCst);
    numbering.join_all().await;
    assert_eq!(seen[0], seen[1], "the same for both");
    assert_eq!(seen[0].iter().collect::<HashSet<_>>().len(), WRITES);

    // Nobody listens, on whatever connection.
    let pool = first.engine.direct().connections().await;
    let sql = "SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database() AND query LIKE '%LISTEN%' \
               AND pid <> pg_backend_pid()";
    for store in [&first.store, &second.store] {
        assert!(futures::poll!(Box::pin(store.hinted())).is_pending());
        store.hint().await;
    }
    let listening: i64 = sqlx::query_scalar(sql).fetch_one(&pool).await.unwrap();
    assert_eq!(listening, 0);
    // No named statement, session lock or setting on a server connection.
    first.engine.check().await;
    pool.close().await;

    // A change on P1 is found by P2's poll.
    assert_eq!(second.store.poll_period(), Duration::from_millis(250));
    first.register("/w/last").await;
    first.number_all().await;
    let since = Instant::now();
    while second
        .store
        .read_after(WRITES as i64, 10)
        .await
        .unwrap()
        .entries
        .is_empty()
    {
        tokio::time::sleep(second.store.poll_period()).await;
    }
    assert!(since.elapsed() < Duration::from_secs(2), "{:?}", since.elapsed());
    second.store.close().await;
}

/// The pooler's server connections end, all of them, again and again.
#[tokio::test(flavor = "multi_thread")]
async fn writes_behind_a_pooler_outlive_its_server_connections() {
    let test = concat!(
        module_path!(),
        "::writes_behind_a_pooler_outlive_its_server_connections"
    );
    run::<PooledPostgres, _>(test, async |catalog: Catalog<PooledPostgres>| {
        let pool = catalog.engine.direct().connections().await;
        let mut answered = 0;
        for round in 0..5 {
            let mut writers = JoinSet::new();
            for number in 0..20 {
                let (store, call) = (Arc::clone(&catalog.store), catalog.call());
                let register = catalog.new_at(&format!("/{round}/{number}"));
                writers.spawn(async move { store.register(register, call).await });
            }
            let cut = "SELECT COUNT(pg_terminate_backend(pid)) FROM pg_stat_activity \
                       WHERE datname = current_database() AND application_name <> 'test'";
            sqlx::query(cut).execute(&pool).await.unwrap();
            for outcome in writers.join_all().await {
                outcome.unwrap();
                answered += 1;
            }
        }
        assert_eq!(catalog.names().await.len(), answered);
        let log = catalog.log().await;
        assert_eq!(log.len(), answered);
        pool.close().await;
    })
    .await;
}

/// Behind a pooler no connection tells that the server was replaced: the one who gives positions looks.
#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_replaced_behind_a_pooler_begins_a_new_epoch() {
    let test = concat!(
        module_path!(),
        "::a_server_that_is_replaced_behind_a_pooler_begins_a_new_epoch"
    );
    run::<PooledPostgres, _>(test, async |catalog: Catalog<PooledPostgres>| {
        let pool = catalog.engine.direct().connections().await;
        catalog.register("/w/a").await;
        catalog.number_all().await;
        let before = catalog.store.head().await.unwrap().head;
        catalog.register("/w/b").await;
        // As if what was there came from another server.
        let elsewhere = "UPDATE change_head SET made_on = 'elsewhere/00000001'";
        sqlx::query(elsewhere).execute(&pool).await.unwrap();
        catalog.number_all().await;
        let after = catalog.store.head().await.unwrap().head;
        assert_eq!(after.position, before.position + 1);
        assert_ne!(after.epoch, before.epoch);
        catalog.register("/w/c").await;
        catalog.number_all().await;
        assert_eq!(catalog.store.head().await.unwrap().head.epoch, after.epoch);
        pool.close().await;
    })
    .await;
}
