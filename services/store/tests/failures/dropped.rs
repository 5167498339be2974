//! Postgres: callers that go away while their transaction begins.

#![allow(clippy::unwrap_used)]

use std::time::{Duration, Instant};

use compozy_domain::workspace::WorkspaceOrder;
use compozy_store::conformance::{Catalog, HOST, Postgres, run};
use compozy_store::{IntentStore as _, WorkspaceStore as _};
use futures::FutureExt as _;

/// Polls a future some times and drops it, as a deadline does.
async fn drop_after(polls: usize, work: impl Future) {
    let mut work = Box::pin(work.fuse());
    for _ in 0..polls {
        if futures::poll!(&mut work).is_ready() {
            return;
        }
        tokio::time::sleep(Duration::from_micros(100)).await;
    }
}

/// A connection that goes back to the pool in the middle of a transaction shows its next user what was there
/// when that one began, or fails it.
#[tokio::test(flavor = "multi_thread")]
async fn a_dropped_beginning_leaves_no_transaction_open() {
    let test = concat!(module_path!(), "::a_dropped_beginning_leaves_no_transaction_open");
    run::<Postgres, _>(test, async |catalog: Catalog<Postgres>| {
        let pool = catalog.engine.connections().await;
        catalog.register("/w/a").await;
        let host = compozy_domain::HostId::parse(HOST).unwrap();
        let page = catalog.page(WorkspaceOrder::Manual, 1);
        let open = "SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database() \
                    AND application_name = 'compozyd' AND state LIKE 'idle in transaction%'";
        for polls in (1..=8).cycle().take(80) {
            drop_after(polls, catalog.store.list(&page)).await;
            drop_after(polls, catalog.store.lock_path(&host, "/w/a")).await;
            let deadline = Instant::now() + Duration::from_secs(10);
            loop {
                let left: i64 = sqlx::query_scalar(open).fetch_one(&pool).await.unwrap();
                if left == 0 {
                    break;
                }
                assert!(Instant::now() < deadline, "{left} transactions stay open");
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        }
        assert_eq!(catalog.names().await, ["a"]);
        pool.close().await;
    })
    .await;
}
