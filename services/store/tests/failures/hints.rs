//! Postgres: hints between processes. They are only hints: the log is read all the same.

#![allow(clippy::unwrap_used)]

use std::time::{Duration, Instant};

use compozy_store::conformance::{Catalog, Engine as _, PooledPostgres, Postgres, open, run};
use compozy_store::{CatalogStore as _, ChangeLog, SqlStore};
use sqlx::postgres::PgListener;
use sqlx::{Connection as _, PgConnection, PgPool};

const CHANNEL: &str = "compozy_change";
/// For what has to come.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long it takes at most until a change is seen that no hint has told, with some time for a busy machine.
const BY_POLL: Duration = Duration::from_secs(3);
/// Between two notifications of one process.
const DEBOUNCE: Duration = Duration::from_millis(25);

/// Waits for a hint that has to come.
async fn heard(store: &SqlStore, within: Duration) {
    let hinted = tokio::time::timeout(within, store.hinted()).await;
    hinted.expect("a hint came");
}

/// The connections of this catalog that listen.
async fn listeners(pool: &PgPool) -> Vec<i32> {
    let sql = "SELECT pid FROM pg_stat_activity WHERE datname = current_database() \
               AND application_name = 'compozyd' AND (query LIKE 'LISTEN%' OR query LIKE 'NOTIFY%')";
    sqlx::query_scalar(sql).fetch_all(pool).await.unwrap()
}

/// Waits until the number of connections that listen is as expected.
async fn listening(pool: &PgPool, count: usize) -> Vec<i32> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let pids = listeners(pool).await;
        if pids.len() == count {
            return pids;
        }
        assert!(Instant::now() < deadline, "{pids:?} listen");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Two processes that listen, and have heard whatever there was at the beginning.
async fn with_two(test: &str, body: impl AsyncFnOnce(Catalog<Postgres>, Catalog<Postgres>, PgPool)) {
    run::<Postgres, _>(test, async |catalog: Catalog<Postgres>| {
        let other = catalog.opened_again().await;
        let pool = catalog.engine.connections().await;
        for store in [&catalog.store, &other.store] {
            heard(store, PATIENCE).await;
        }
        listening(&pool, 2).await;
        let closing = other.store.clone();
        body(catalog, other, pool.clone()).await;
        closing.close().await;
        pool.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hint_is_heard_by_the_other_process_only() {
    let test = concat!(module_path!(), "::a_hint_is_heard_by_the_other_process_only");
    with_two(test, async |catalog, other, _| {
        for _ in 0..5 {
            catalog.store.hint().await;
            heard(&other.store, PATIENCE).await;
        }
        other.store.hint().await;
        heard(&catalog.store, PATIENCE).await;
        assert!(futures::poll!(Box::pin(other.store.hinted())).is_pending());
    })
    .await;
}

/// However often something is said, and the last word is never lost.
#[tokio::test(flavor = "multi_thread")]
async fn n134_notifications_are_empty_and_few() {
    let test = concat!(module_path!(), "::n134_notifications_are_empty_and_few");
    with_two(test, async |catalog, _, pool| {
        let mut witness = PgListener::connect_with(&pool).await.unwrap();
        witness.listen(CHANNEL).await.unwrap();
        let mut next = async || {
            let received = tokio::time::timeout(PATIENCE, witness.recv()).await;
            let notification = received.expect("a notification came").unwrap();
            assert_eq!((notification.channel(), notification.payload()), (CHANNEL, ""));
        };
        let began = Instant::now();
        for number in 0..40 {
            catalog.register(&format!("/w/{number}")).await;
            catalog.number_all().await;
            for _ in 0..25 {
                catalog.store.hint().await;
            }
        }
        let spoke = began.elapsed();
        // Alone behind a pause, it is sent for itself; and so is the one that falls into the pause behind it.
        next().await;
        let mut received = 1;
        while tokio::time::timeout(DEBOUNCE * 20, next()).await.is_ok() {
            received += 1;
        }
        let most = spoke.as_millis() / DEBOUNCE.as_millis() + 2;
        assert!(received <= most, "{received} in {spoke:?}");
        for _ in 0..2 {
            catalog.store.hint().await;
            next().await;
        }
    })
    .await;
}

/// Nobody else's entries wait for a hint: the lock that a notification takes is the server's only one.
#[tokio::test(flavor = "multi_thread")]
async fn a_write_sends_no_notification() {
    let test = concat!(module_path!(), "::a_write_sends_no_notification");
    with_two(test, async |catalog, _, pool| {
        let mut witness = PgListener::connect_with(&pool).await.unwrap();
        witness.listen(CHANNEL).await.unwrap();
        for number in 0..5 {
            catalog.register(&format!("/w/{number}")).await;
            catalog.number_all().await;
        }
        let received = tokio::time::timeout(DEBOUNCE * 20, witness.recv()).await;
        assert!(received.is_err(), "{:?}", received.unwrap().unwrap());
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn n136_a_listener_that_is_cut_comes_back() {
    let test = concat!(module_path!(), "::n136_a_listener_that_is_cut_comes_back");
    with_two(test, async |catalog, other, pool| {
        for number in 0..3 {
            let before = listening(&pool, 2).await;
            sqlx::query("SELECT pg_terminate_backend(pid) FROM unnest($1::int[]) pid")
                .bind(&before)
                .execute(&pool)
                .await
                .unwrap();
            // A change meanwhile, whose hint may be lost.
            catalog.register(&format!("/w/{number}")).await;
            catalog.number_all().await;
            catalog.store.hint().await;
            heard(&other.store, BY_POLL).await;
            let log = other.store.read_after(number, 10).await.unwrap();
            assert_eq!(log.entries.len(), 1);
            let after = listening(&pool, 2).await;
            assert!(
                after.iter().all(|pid| !before.contains(pid)),
                "{before:?} {after:?}"
            );
            // What came back was told as well, so the next hint is one of its own.
            while tokio::time::timeout(DEBOUNCE * 10, other.store.hinted())
                .await
                .is_ok()
            {}
            catalog.store.hint().await;
            heard(&other.store, PATIENCE).await;
        }
    })
    .await;
}

/// A process that can't listen when it begins to.
#[tokio::test(flavor = "multi_thread")]
async fn a_listener_begins_when_the_server_is_there() {
    let test = concat!(module_path!(), "::a_listener_begins_when_the_server_is_there");
    run::<Postgres, _>(test, async |catalog: Catalog<Postgres>| {
        let other = catalog.opened_again().await;
        heard(&other.store, PATIENCE).await;
        let server = catalog.engine.options().database("postgres");
        let mut server = PgConnection::connect_with(&server).await.unwrap();
        let mut allow = async |allowed: bool| {
            let database = catalog.engine.database();
            let sql = format!("ALTER DATABASE {database} ALLOW_CONNECTIONS {allowed}");
            sqlx::raw_sql(sqlx::AssertSqlSafe(sql))
                .execute(&mut server)
                .await
                .unwrap();
        };
        allow(false).await;
        let mut first = Box::pin(catalog.store.hinted());
        let refused = tokio::time::timeout(DEBOUNCE * 10, &mut first).await;
        assert!(refused.is_err(), "it can't connect");
        allow(true).await;
        // The first look is due when it listens.
        tokio::time::timeout(PATIENCE, first).await.expect("it has come");
        other.store.hint().await;
        heard(&catalog.store, PATIENCE).await;
        other.store.close().await;
        server.close().await.unwrap();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_closed_store_does_not_listen() {
    let test = concat!(module_path!(), "::a_closed_store_does_not_listen");
    with_two(test, async |catalog, other, pool| {
        tokio::time::timeout(PATIENCE, other.store.close())
            .await
            .expect("it closes");
        listening(&pool, 1).await;
        catalog.store.hint().await;
        tokio::time::timeout(PATIENCE, catalog.store.close())
            .await
            .expect("it closes");
        listening(&pool, 0).await;
    })
    .await;
}

/// Reads the log as the tail of a server does, and answers how long the next entry took.
async fn follow(store: &SqlStore, position: i64, since: Instant) -> Duration {
    loop {
        if !store.read_after(position, 10).await.unwrap().entries.is_empty() {
            return since.elapsed();
        }
        tokio::select! {
            () = store.hinted() => {}
            () = tokio::time::sleep(store.poll_period()) => {}
        }
    }
}

/// P2 is behind a pooler that passes no notifications on; P1 sends them in vain.
#[tokio::test(flavor = "multi_thread")]
async fn n126_without_notifications_a_change_is_found_by_the_poll() {
    let test = concat!(
        module_path!(),
        "::n126_without_notifications_a_change_is_found_by_the_poll"
    );
    run::<PooledPostgres, _>(test, async |second: Catalog<PooledPostgres>| {
        let first = open(second.engine.direct().address()).await.unwrap();
        for position in 0..5 {
            let register = second.new_at(&format!("/w/{position}"));
            let following = follow(&second.store, position, Instant::now());
            let writing = async {
                use compozy_store::WorkspaceStore as _;
                first.register(register, second.call()).await.unwrap();
                first.settle(Instant::now() + PATIENCE).await.unwrap();
                first.hint().await;
            };
            let (took, ()) = futures::join!(following, writing);
            assert!(took < BY_POLL, "{took:?}");
        }
        first.close().await;
    })
    .await;
}
