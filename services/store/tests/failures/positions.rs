//! Postgres: positions follow commits, whatever transactions are open beside them.

#![allow(clippy::unwrap_used)]

use std::sync::Arc;
use std::time::{Duration, Instant};

use compozy_domain::workspace::WorkspaceUpdate;
use compozy_domain::{ChangeEntry, WorkspaceId};
use compozy_store::conformance::{Catalog, Postgres, Request, START, append_entries, run};
use compozy_store::{ChangeLog as _, Error, MoveBefore, Numbering, Update, WorkspaceStore as _};
use sqlx::{PgPool, Postgres as Driver, Transaction};
use tokio::task::JoinSet;

/// The lock that every move in the order takes, after its request id and before its rows.
const ORDER_LOCK: i64 = 7_022_364_301_936_337;

/// A transaction of somebody else that has appended its entry and stays open.
async fn open_with_entry(pool: &PgPool, id: &WorkspaceId) -> Transaction<'static, Driver> {
    let mut transaction = pool.begin().await.unwrap();
    append_to(&mut transaction, id, 99).await;
    transaction
}

async fn append_to(transaction: &mut Transaction<'static, Driver>, id: &WorkspaceId, version: i64) {
    let sql = "INSERT INTO change_pending (kind, op, reason, host_id, workspace_id, version, session_count, at) \
               VALUES ('workspace', 'upserted', 'updated', 'h1', $1, $2, 0, 1)";
    sqlx::query(sql)
        .bind(id.as_str())
        .bind(version)
        .execute(&mut **transaction)
        .await
        .unwrap();
}

async fn transaction_id(transaction: &mut Transaction<'static, Driver>) -> i64 {
    sqlx::query_scalar("SELECT pg_current_xact_id()::text::bigint")
        .fetch_one(&mut **transaction)
        .await
        .unwrap()
}

fn retitle(id: &WorkspaceId) -> Update {
    Update {
        id: id.clone(),
        etag: None,
        update: WorkspaceUpdate {
            title: Some("by A".into()),
            ..WorkspaceUpdate::default()
        },
        validate_only: false,
    }
}

/// A watcher: reads from where it stands, and checks that positions follow each other.
#[derive(Debug, Default)]
struct Watcher {
    seen: Vec<ChangeEntry>,
}

impl Watcher {
    async fn read(&mut self, catalog: &Catalog<Postgres>) -> Vec<ChangeEntry> {
        catalog.number_all().await;
        let position = self.seen.len() as i64;
        let entries = catalog.store.read_after(position, 1_000).await.unwrap().entries;
        for (place, entry) in entries.iter().enumerate() {
            assert_eq!(entry.position, position + place as i64 + 1);
        }
        self.seen.extend(entries.iter().cloned());
        assert_eq!(
            catalog.log().await,
            self.seen,
            "nothing turns up below what was seen"
        );
        entries
    }
}

/// Transaction ids in the order B, C, A. B has to wait for what A holds, so A commits first on the row of both;
/// C stays open all the while.
#[tokio::test(flavor = "multi_thread")]
async fn three_transaction_interleaving() {
    run::<Postgres, _>(
        concat!(module_path!(), "::three_transaction_interleaving"),
        interleave,
    )
    .await;
}

async fn interleave(catalog: Catalog<Postgres>) {
    let other = catalog.register("/w/a").await.id;
    let row = catalog.register("/w/b").await.id;
    let mut watcher = Watcher::default();
    watcher.read(&catalog).await;
    let pool = catalog.engine.connections().await;

    // B: a move of the row. It gets its transaction id for its request, then waits behind this lock.
    let mut holder = pool.acquire().await.unwrap();
    lock(&mut holder, "SELECT pg_advisory_lock($1)").await;
    let (store, moved) = (Arc::clone(&catalog.store), row.clone());
    let call = catalog.call_once(&Request::new("Move"));
    let mut b = JoinSet::new();
    b.spawn(async move {
        store
            .move_before(
                MoveBefore {
                    id: moved,
                    before: None,
                },
                call,
            )
            .await
    });
    let b_id = id_of_waiting(&pool).await;

    // C: appends, and stays open.
    let mut c = open_with_entry(&pool, &other).await;
    let c_id = transaction_id(&mut c).await;

    // A: an update of the same row, committed before B gets to it.
    catalog.store.update(retitle(&row), catalog.call()).await.unwrap();
    let a_id: i64 = sqlx::query_scalar("SELECT xmin::text::bigint FROM workspace WHERE id = $1")
        .bind(row.as_str())
        .fetch_one(&pool)
        .await
        .unwrap();
    assert!(b_id < c_id && c_id < a_id, "ids {b_id}, {c_id}, {a_id}");
    let first = watcher.read(&catalog).await;
    assert_eq!(first.len(), 1, "an open transaction holds nothing back");
    assert_eq!(
        (
            first[0].change.reason.as_str(),
            first[0].change.workspace_id.as_ref()
        ),
        ("updated", Some(&row))
    );

    lock(&mut holder, "SELECT pg_advisory_unlock($1)").await;
    b.join_all()
        .await
        .into_iter()
        .for_each(|outcome| drop(outcome.unwrap()));
    let second = watcher.read(&catalog).await;
    assert_eq!(second.len(), 1);
    assert_eq!(
        (
            second[0].change.reason.as_str(),
            second[0].change.workspace_id.as_ref()
        ),
        ("moved", Some(&row))
    );
    assert!(
        second[0].position > first[0].position,
        "committed later, so it comes later"
    );
    assert_eq!(catalog.store.head().await.unwrap().pending, 0);

    c.commit().await.unwrap();
    let third = watcher.read(&catalog).await;
    assert_eq!(third.len(), 1);
    assert_eq!(third[0].change.workspace_id, Some(other));
    assert_eq!(watcher.seen.len(), 5);
    drop(holder);
    pool.close().await;
}

async fn lock(connection: &mut sqlx::PgConnection, sql: &'static str) {
    sqlx::query(sql)
        .bind(ORDER_LOCK)
        .execute(connection)
        .await
        .unwrap();
}

/// The transaction id of the one that waits for the order's lock, as soon as it does.
async fn id_of_waiting(pool: &PgPool) -> i64 {
    let sql = "SELECT a.backend_xid::text::bigint FROM pg_stat_activity a \
               JOIN pg_locks l ON l.pid = a.pid AND l.locktype = 'advisory' AND NOT l.granted \
               WHERE a.datname = current_database() AND a.backend_xid IS NOT NULL";
    loop {
        if let Some(id) = sqlx::query_scalar(sql).fetch_optional(pool).await.unwrap() {
            return id;
        }
        tokio::task::yield_now().await;
    }
}

/// A hundred writes beside a transaction that has appended and stays open.
async fn a_hundred_beside_an_open_one(
    catalog: &Catalog<Postgres>,
    pool: &PgPool,
) -> Transaction<'static, Driver> {
    let row = WorkspaceId::parse("ws_00000000000000ff").unwrap();
    let open = open_with_entry(pool, &row).await;
    let mut writers = JoinSet::new();
    for number in 0..100 {
        let (store, register, call) = (
            Arc::clone(&catalog.store),
            catalog.new_at(&format!("/w/{number}")),
            catalog.call(),
        );
        writers.spawn(async move { store.register(register, call).await });
    }
    for outcome in writers.join_all().await {
        outcome.unwrap();
    }
    open
}

#[tokio::test(flavor = "multi_thread")]
async fn n128_an_open_transaction_holds_nothing_back() {
    run::<Postgres, _>(
        concat!(module_path!(), "::n128_an_open_transaction_holds_nothing_back"),
        async |catalog: Catalog<Postgres>| {
            let pool = catalog.engine.connections().await;
            let open = a_hundred_beside_an_open_one(&catalog, &pool).await;
            let mut watchers = [Watcher::default(), Watcher::default()];
            for watcher in &mut watchers {
                assert_eq!(watcher.read(&catalog).await.len(), 100);
            }
            open.commit().await.unwrap();
            for watcher in &mut watchers {
                let last = watcher.read(&catalog).await;
                assert_eq!(last.len(), 1);
                assert_eq!((last[0].position, last[0].change.version), (101, 99));
            }
            pool.close().await;
        },
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn n129_a_rolled_back_transaction_leaves_no_gap() {
    run::<Postgres, _>(
        concat!(module_path!(), "::n129_a_rolled_back_transaction_leaves_no_gap"),
        async |catalog: Catalog<Postgres>| {
            let pool = catalog.engine.connections().await;
            let open = a_hundred_beside_an_open_one(&catalog, &pool).await;
            let mut watcher = Watcher::default();
            assert_eq!(watcher.read(&catalog).await.len(), 100);
            open.rollback().await.unwrap();
            assert_eq!(watcher.read(&catalog).await, []);
            catalog.register("/w/next").await;
            assert_eq!(watcher.read(&catalog).await[0].position, 101);
            pool.close().await;
        },
    )
    .await;
}

/// X and Y write one row; Y waits for what X holds.
#[tokio::test(flavor = "multi_thread")]
async fn n184_two_writes_of_one_row_are_told_in_the_order_of_their_commits() {
    let test = concat!(
        module_path!(),
        "::n184_two_writes_of_one_row_are_told_in_the_order_of_their_commits"
    );
    run::<Postgres, _>(test, async |catalog: Catalog<Postgres>| {
        let pool = catalog.engine.connections().await;
        let row = catalog.register("/w/a").await;
        let mut watcher = Watcher::default();
        watcher.read(&catalog).await;
        let mut x = pool.begin().await.unwrap();
        sqlx::query("UPDATE workspace SET title = 'by X', version = version + 1 WHERE id = $1")
            .bind(row.id.as_str())
            .execute(&mut *x)
            .await
            .unwrap();
        let mut y = JoinSet::new();
        let (store, call, update) = (Arc::clone(&catalog.store), catalog.call(), retitle(&row.id));
        y.spawn(async move { store.update(update, call).await });
        let waits = "SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database() \
                     AND application_name = 'compozyd' AND wait_event_type = 'Lock'";
        while sqlx::query_scalar::<_, i64>(waits)
            .fetch_one(&pool)
            .await
            .unwrap()
            == 0
        {
            tokio::task::yield_now().await;
        }
        // X draws its number only now, while Y is under way.
        append_to(&mut x, &row.id, 2).await;
        x.commit().await.unwrap();
        y.join_all().await.pop().unwrap().unwrap();
        let told: Vec<i64> = watcher
            .read(&catalog)
            .await
            .iter()
            .map(|entry| entry.change.version)
            .collect();
        assert_eq!(told, [2, 3], "X's, then Y's");
        let last = catalog.get(&row.id).await;
        assert_eq!((last.title.as_str(), last.version), ("by A", 3));
        pool.close().await;
    })
    .await;
}

/// X draws its number before Y, on another row, and commits together with Z after Y has its position.
#[tokio::test(flavor = "multi_thread")]
async fn n185_who_has_seen_a_position_finds_nothing_below_it_later() {
    let test = concat!(
        module_path!(),
        "::n185_who_has_seen_a_position_finds_nothing_below_it_later"
    );
    run::<Postgres, _>(test, async |catalog: Catalog<Postgres>| {
        let pool = catalog.engine.connections().await;
        let ids =
            ["aa", "bb", "cc"].map(|end| WorkspaceId::parse(&format!("ws_00000000000000{end}")).unwrap());
        let x = open_with_entry(&pool, &ids[0]).await;
        let y = open_with_entry(&pool, &ids[1]).await;
        let z = open_with_entry(&pool, &ids[2]).await;
        let mut watcher = Watcher::default();
        y.commit().await.unwrap();
        let first = watcher.read(&catalog).await;
        assert_eq!(first.len(), 1);
        assert_eq!(first[0].change.workspace_id, Some(ids[1].clone()));
        z.commit().await.unwrap();
        x.commit().await.unwrap();
        let told: Vec<_> = watcher
            .read(&catalog)
            .await
            .into_iter()
            .map(|entry| entry.change.workspace_id)
            .collect();
        assert_eq!(
            told,
            [Some(ids[0].clone()), Some(ids[2].clone())],
            "in the order of their numbers"
        );
        pool.close().await;
    })
    .await;
}

/// Somebody else numbers and does not come to an end.
#[tokio::test(flavor = "multi_thread")]
async fn settling_ends_with_its_deadline() {
    let test = concat!(module_path!(), "::settling_ends_with_its_deadline");
    run::<Postgres, _>(test, async |catalog: Catalog<Postgres>| {
        let pool = catalog.engine.connections().await;
        let mut numbering = pool.begin().await.unwrap();
        sqlx::query("SELECT pg_advisory_xact_lock($1)")
            .bind(ORDER_LOCK + 1)
            .execute(&mut *numbering)
            .await
            .unwrap();
        let store = &catalog.store;
        let soon = Duration::from_millis(200);
        store.settle(Instant::now() + soon).await.unwrap();
        catalog.register("/w/a").await;
        let outcome = store.settle(Instant::now() + soon).await;
        assert!(matches!(outcome, Err(Error::DeadlineExceeded)), "{outcome:?}");
        // Whoever gives the position, it is settled then.
        let (settled, ()) = futures::join!(store.settle(Instant::now() + soon * 100), async {
            numbering.rollback().await.unwrap();
        });
        settled.unwrap();
        assert_eq!(store.head().await.unwrap().pending, 0);
        pool.close().await;
    })
    .await;
}

/// A piece of 5,000 is gone for whoever trims, and not committed yet.
#[tokio::test(flavor = "multi_thread")]
async fn n112_no_write_waits_for_a_piece_that_is_trimmed() {
    let test = concat!(
        module_path!(),
        "::n112_no_write_waits_for_a_piece_that_is_trimmed"
    );
    run::<Postgres, _>(test, async |catalog: Catalog<Postgres>| {
        let pool = catalog.engine.connections().await;
        append_entries(&catalog.store, 6_000, START).await.unwrap();
        let mut trimming = pool.begin().await.unwrap();
        for sql in [
            "DELETE FROM change WHERE position <= 5000",
            "UPDATE change_head SET floor = 5000",
        ] {
            sqlx::query(sql).execute(&mut *trimming).await.unwrap();
        }
        for number in 0..16 {
            catalog.register(&format!("/w/{number}")).await;
        }
        let before = catalog.store.read_after(0, 10).await.unwrap();
        assert_eq!((before.floor, before.entries[0].position), (0, 1), "one snapshot");
        trimming.commit().await.unwrap();
        let after = catalog.store.read_after(0, 10).await.unwrap();
        assert_eq!(
            (after.floor, after.entries[0].position),
            (5_000, 5_001),
            "another one"
        );
        catalog.number_all().await;
        assert_eq!(catalog.store.head().await.unwrap().head.position, 6_016);
        pool.close().await;
    })
    .await;
}

/// More entries than are numbered at once, and somebody else who is at it.
#[tokio::test(flavor = "multi_thread")]
async fn a_backlog_is_numbered_in_parts_by_one_at_a_time() {
    run::<Postgres, _>(concat!(module_path!(), "::a_backlog_is_numbered_in_parts_by_one_at_a_time"), async |catalog: Catalog<Postgres>| {
        let pool = catalog.engine.connections().await;
        let sql = "INSERT INTO change_pending (kind, op, reason, host_id, workspace_id, version, session_count, at) \
                   SELECT 'workspace', 'upserted', 'updated', 'h1', 'ws_00000000000000ff', n, 0, 1 \
                   FROM generate_series(1, 2500) n";
        sqlx::query(sql).execute(&pool).await.unwrap();
        let store = &catalog.store;
        let mut numbering = pool.begin().await.unwrap();
        sqlx::query("SELECT pg_advisory_xact_lock($1)")
            .bind(ORDER_LOCK + 1)
            .execute(&mut *numbering)
            .await
            .unwrap();
        assert_eq!(store.number_pending().await.unwrap(), Numbering::Busy);
        assert_eq!(store.head().await.unwrap().pending, 2_500);
        numbering.rollback().await.unwrap();
        for expected in [1_000, 1_000, 500, 0] {
            assert_eq!(store.number_pending().await.unwrap(), Numbering::Given(expected));
        }
        let versions: Vec<i64> = catalog.log().await.iter().map(|entry| entry.change.version).collect();
        assert_eq!(versions, (1..=2_500).collect::<Vec<i64>>());
        pool.close().await;
    })
    .await;
}
