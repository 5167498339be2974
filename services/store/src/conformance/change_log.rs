//! Promises about the change log: dense positions, in the order of commits, the same for every reader.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use compozy_domain::{
    CatalogError, ChangeEntry, ChangeKind, ChangeOp, ChangeReason, HostId, NewChange, ProfileId, SessionId,
    Timestamp, WorkspaceId,
};
use tokio::task::JoinSet;

use super::engine::Engine;
use super::fixture::Catalog;
use super::hooks;
use super::update::retitle;
use crate::catalog::{CatalogStore as _, StoreKind};
use crate::change_log::{ChangeLog as _, Numbering};
use crate::error::Error;
use crate::workspaces::WorkspaceStore as _;

const WRITERS: usize = 16;
const COMMITS: usize = 1_000;
const ROLLBACKS: usize = 300;
/// For what has to come.
const PATIENCE: Duration = Duration::from_secs(30);
/// For what must not come: longer than it takes where it comes by mistake.
const WHILE: Duration = Duration::from_millis(300);

/// Fails unless the entries have every position from 1 on, in order.
#[track_caller]
pub(crate) fn assert_dense(entries: &[ChangeEntry]) {
    for (place, entry) in entries.iter().enumerate() {
        assert_eq!(
            entry.position,
            place as i64 + 1,
            "positions from 1 on, none missing, none twice"
        );
    }
}

/// Fails unless the versions of each record ascend one by one.
#[track_caller]
pub(crate) fn assert_versions_ascend(entries: &[ChangeEntry]) {
    let mut versions: HashMap<&WorkspaceId, i64> = HashMap::new();
    for ChangeEntry { change, .. } in entries {
        if change.kind == ChangeKind::Workspace {
            let id = change.workspace_id.as_ref().expect("a workspace is named");
            let before = versions.insert(id, change.version);
            assert_eq!(change.version, before.unwrap_or(0) + 1, "{change:?}");
        }
    }
}

pub async fn a_log_is_read_from_any_position<E: Engine>(catalog: Catalog<E>) {
    let empty = catalog.store.head().await.unwrap();
    assert_eq!((empty.head.position, empty.floor, empty.pending), (0, 0, 0));
    for number in 0..5 {
        catalog.register(&format!("/w/{number}")).await;
    }
    let all = catalog.log().await;
    assert_dense(&all);
    assert_eq!(all.len(), 5);
    let read = async |position, limit| {
        let slice = catalog.store.read_after(position, limit).await.unwrap();
        assert_eq!((slice.head.position, slice.floor), (5, 0));
        slice.entries
    };
    assert_eq!(read(0, 3).await, all[..3]);
    assert_eq!(read(3, 3).await, all[3..]);
    assert_eq!(read(5, 3).await, []);
    assert_eq!(read(1_000, 3).await, []);
    let head = catalog.store.head().await.unwrap();
    assert_eq!((head.head.position, head.pending), (5, 0));
    assert_eq!(head.head.epoch, empty.head.epoch);
}

/// Who stands at the floor has lost nothing; what lies below it is gone.
pub async fn a_trimmed_log_tells_its_floor<E: Engine>(catalog: Catalog<E>) {
    for number in 0..5 {
        catalog.register(&format!("/w/{number}")).await;
    }
    let all = catalog.log().await;
    assert_eq!(catalog.store.trim(all[2].change.at, u64::MAX).await.unwrap(), 2);
    let slice = catalog.store.read_after(2, 10).await.unwrap();
    assert_eq!((slice.entries.as_slice(), slice.floor), (&all[2..], 2));
    assert_eq!(catalog.store.head().await.unwrap().floor, 2);
    assert_eq!(catalog.store.examine().await.unwrap(), []);
    catalog.register("/w/next").await;
    assert_eq!(catalog.log_after(5).await[0].position, 6);
}

/// Whichever leaves less: the age or the number. A log of which everything went goes on where it was.
pub async fn old_entries_and_those_beyond_the_limit_go<E: Engine>(catalog: Catalog<E>) {
    let store = &catalog.store;
    for number in 0..6 {
        catalog.register(&format!("/w/{number}")).await;
    }
    let all = catalog.log().await;
    let (oldest, newest) = (all[0].change.at, all[5].change.at);
    assert_eq!(store.trim(oldest, 6).await.unwrap(), 0);
    assert_eq!(store.trim(oldest, 4).await.unwrap(), 2);
    assert_eq!(store.trim(all[3].change.at, 4).await.unwrap(), 1);
    assert_eq!(store.trim(all[3].change.at, 4).await.unwrap(), 0);
    let slice = store.read_after(3, 10).await.unwrap();
    assert_eq!((slice.entries.as_slice(), slice.floor), (&all[3..], 3));
    let later = newest.plus(Duration::from_nanos(1));
    assert_eq!(store.trim(later, 4).await.unwrap(), 3);
    let slice = store.read_after(6, 10).await.unwrap();
    assert_eq!((slice.entries.len(), slice.floor, slice.head.position), (0, 6, 6));
    assert_eq!(store.examine().await.unwrap(), []);
    catalog.register("/w/next").await;
    assert_eq!(catalog.log_after(6).await[0].position, 7);
    assert_eq!(store.examine().await.unwrap(), []);
}

/// Only the beginning of the log ever goes.
pub async fn an_entry_of_a_clock_that_was_set_back_leaves_no_gap<E: Engine>(catalog: Catalog<E>) {
    let store = &catalog.store;
    for number in 0..4 {
        catalog.register(&format!("/w/{number}")).await;
    }
    let all = catalog.log().await;
    hooks::execute(store, "UPDATE change SET at = 1 WHERE position = 3")
        .await
        .unwrap();
    assert_eq!(store.trim(all[1].change.at, u64::MAX).await.unwrap(), 1);
    let slice = store.read_after(1, 10).await.unwrap();
    assert_eq!((slice.entries.len(), slice.floor), (3, 1));
    assert_eq!(store.trim(all[3].change.at, u64::MAX).await.unwrap(), 2);
    assert_eq!(store.examine().await.unwrap(), []);
}

/// N133. Whatever the clocks of the processes say, entries carry the database's time, and stay in their order.
pub async fn n133_entries_carry_the_clock_of_the_catalog<E: Engine>(catalog: Catalog<E>) {
    let database = async || -> i64 {
        let sql = "SELECT (extract(epoch FROM clock_timestamp()) * 1000000000)::bigint";
        hooks::rows(&catalog.store, sql).await.unwrap()[0][0]
            .parse()
            .unwrap()
    };
    let shared = catalog.store.kind() == StoreKind::Postgres;
    let begun = if shared { database().await } else { 0 };
    let mut called = Vec::new();
    for back in [0, 3_600, 0] {
        let mut call = catalog.call();
        call.now = call.now.minus(Duration::from_secs(back));
        called.push(call.now);
        let register = catalog.new_at(&format!("/w/{}", called.len()));
        catalog.store.register(register, call).await.unwrap();
    }
    let entries = catalog.log().await;
    assert_dense(&entries);
    let told: Vec<Timestamp> = entries.iter().map(|entry| entry.change.at).collect();
    if !shared {
        assert_eq!(told, called);
        return;
    }
    let ended = database().await;
    assert!(told.is_sorted(), "{told:?}");
    assert!(
        told[0].nanos() >= begun && told[2].nanos() <= ended,
        "{begun} <= {told:?} <= {ended}"
    );
}

/// Every page and answer tells the same head, in one epoch.
pub async fn a_revision_is_the_head_of_the_log<E: Engine>(catalog: Catalog<E>) {
    let row = catalog.register("/w/a").await;
    catalog.number_all().await;
    let head = catalog.store.head().await.unwrap().head;
    let visibility = compozy_domain::Visibility::All;
    assert_eq!(catalog.store.find(&row.id, &visibility).await.unwrap().1, head);
    let unknown = WorkspaceId::parse("ws_0000000000000000").unwrap();
    assert_eq!(
        catalog.store.find(&unknown, &visibility).await.unwrap(),
        (None, head.clone())
    );
    let list = catalog.page(compozy_domain::workspace::WorkspaceOrder::Name, 10);
    assert_eq!(catalog.read(&list).await.revision, head);
    let answer = catalog.store.update(retitle(&row.id, "x"), catalog.call()).await;
    assert_eq!(super::fixture::fresh(answer.unwrap()).revision, head);
}

/// SQLite numbers inside the write; on Postgres an entry waits to be numbered, and says so.
pub async fn a_committed_entry_is_counted_until_it_has_a_position<E: Engine>(catalog: Catalog<E>) {
    catalog.register("/w/a").await;
    let head = catalog.store.head().await.unwrap();
    let waits = u64::from(catalog.store.kind() == StoreKind::Postgres);
    assert_eq!((head.head.position as u64, head.pending), (1 - waits, waits));
    assert_eq!(
        catalog.store.number_pending().await.unwrap(),
        Numbering::Given(waits)
    );
    assert_eq!(catalog.store.number_pending().await.unwrap(), Numbering::Given(0));
    let head = catalog.store.head().await.unwrap();
    assert_eq!((head.head.position, head.pending), (1, 0));
}

/// Who follows the log is told of what this process appends, once for all that came since, and of nothing else.
pub async fn who_follows_is_told_of_what_is_appended<E: Engine>(catalog: Catalog<E>) {
    let store = &catalog.store;
    let row = catalog.register("/w/a").await;
    catalog.register("/w/b").await;
    let told = tokio::time::timeout(PATIENCE, store.appended()).await;
    told.expect("it was told of both");
    let mut next = Box::pin(store.appended());
    assert!(futures::poll!(&mut next).is_pending());
    // Reads, writes that change nothing or are refused, and positions that are given.
    catalog.names().await;
    store
        .update(retitle(&row.id, &row.title), catalog.call())
        .await
        .unwrap();
    let taken = catalog.new_named("/w/c", "a");
    super::fixture::rejection(store.register(taken, catalog.call()).await);
    catalog.number_all().await;
    store.trim(super::fixture::START, u64::MAX).await.unwrap();
    assert!(futures::poll!(&mut next).is_pending());
    catalog.register("/w/c").await;
    tokio::time::timeout(PATIENCE, next).await.expect("it was told");
    store.new_epoch("another").await.unwrap();
    let told = tokio::time::timeout(PATIENCE, store.appended()).await;
    told.expect("a new epoch is told as well");
}

/// Whoever waits for hints of others is not woken by its own.
pub async fn a_process_does_not_hint_to_itself<E: Engine>(catalog: Catalog<E>) {
    let store = &catalog.store;
    let mut hinted = Box::pin(store.hinted());
    if futures::poll!(&mut hinted).is_ready() || tokio::time::timeout(WHILE, &mut hinted).await.is_ok() {
        // Something might have come before anybody listened.
        hinted = Box::pin(store.hinted());
    }
    for number in 0..3 {
        catalog.register(&format!("/w/{number}")).await;
        catalog.number_all().await;
        store.hint().await;
    }
    let told = tokio::time::timeout(WHILE, hinted).await;
    assert!(told.is_err(), "nobody else is there");
    let period = store.poll_period();
    assert!(period <= Duration::from_secs(1), "{period:?}");
}

/// Everything that was committed before has its position after, also a backlog of several pieces.
pub async fn a_settled_log_has_a_position_for_every_commit<E: Engine>(catalog: Catalog<E>) {
    let soon = || std::time::Instant::now() + PATIENCE;
    catalog.store.settle(soon()).await.unwrap();
    for number in 0..5 {
        catalog.register(&format!("/w/{number}")).await;
    }
    catalog.store.settle(soon()).await.unwrap();
    let head = catalog.store.head().await.unwrap();
    assert_eq!(
        (head.head.position, head.pending, head.lag),
        (5, 0, Duration::ZERO)
    );
    if catalog.store.kind() == StoreKind::Sqlite {
        return;
    }
    let sql = "INSERT INTO change_pending (kind, op, reason, host_id, workspace_id, version, at) \
               SELECT 'workspace', 'upserted', 'updated', 'h1', 'ws_00000000000000ff', n, 1 \
               FROM generate_series(1, 2500) n";
    hooks::execute(&catalog.store, sql).await.unwrap();
    catalog.store.settle(soon()).await.unwrap();
    let head = catalog.store.head().await.unwrap();
    assert_eq!((head.head.position, head.pending), (2_505, 0));
}

/// By the database's clock, on Postgres; on SQLite nothing waits.
pub async fn a_pending_entry_tells_how_long_it_has_waited<E: Engine>(catalog: Catalog<E>) {
    catalog.register("/w/a").await;
    catalog.register("/w/b").await;
    if catalog.store.kind() == StoreKind::Postgres {
        let lag = catalog.store.head().await.unwrap().lag;
        assert!(lag < PATIENCE, "{lag:?}");
        let hour = "UPDATE change_pending SET at = at - 3600000000000 WHERE seq = \
                    (SELECT MIN(seq) FROM change_pending)";
        assert_eq!(hooks::execute(&catalog.store, hour).await.unwrap(), 1);
        let lag = catalog.store.head().await.unwrap().lag;
        assert!(lag >= Duration::from_secs(3_600), "{lag:?}");
    }
    catalog.number_all().await;
    assert_eq!(catalog.store.head().await.unwrap().lag, Duration::ZERO);
}

/// Every field is stored and read again, also those that no operation of this release fills.
pub async fn an_entry_is_read_as_it_was_written<E: Engine>(catalog: Catalog<E>) {
    let (table, order) = match catalog.store.kind() {
        StoreKind::Sqlite => ("change", "position"),
        StoreKind::Postgres => ("change_pending", "seq"),
    };
    let sql = format!(
        "INSERT INTO {table} ({order}, kind, op, reason, host_id, workspace_id, from_workspace_id, session_id, \
         profile_id, internal, version, session_count, at) VALUES (1, 'session', 'upserted', 'attached', 'h1', \
         'ws_00000000000000bb', 'ws_00000000000000aa', 'ses_1', 'prf_1', (1 = 1), 7, 3, 42)"
    );
    hooks::execute(&catalog.store, &sql).await.unwrap();
    catalog.number_all().await;
    let slice = catalog.store.read_after(0, 10).await.unwrap();
    let expected = NewChange {
        kind: ChangeKind::Session,
        op: ChangeOp::Upserted,
        reason: ChangeReason::Attached,
        host_id: HostId::parse("h1").unwrap(),
        workspace_id: Some(WorkspaceId::parse("ws_00000000000000bb").unwrap()),
        from_workspace_id: Some(WorkspaceId::parse("ws_00000000000000aa").unwrap()),
        session_id: Some(SessionId::from_stored("ses_1".into())),
        profile_id: Some(ProfileId::from_stored("prf_1".into())),
        internal: true,
        version: 7,
        session_count: 3,
        at: Timestamp::from_nanos(42),
    };
    let change = expected.clone();
    assert_eq!(slice.entries, [ChangeEntry { position: 1, change }]);
}

/// Sixteen writers whose writes commit, and whose writes are refused after some statements, while somebody
/// numbers and somebody reads.
pub async fn n186_positions_are_dense_under_many_writers<E: Engine>(catalog: Catalog<E>) {
    let mut ids = Vec::new();
    for number in 0..WRITERS {
        ids.push(catalog.register(&format!("/w/{number}")).await.id);
    }
    let ids = Arc::new(ids);
    let done = Arc::new(AtomicBool::new(false));
    let mut readers = JoinSet::new();
    readers.spawn(number_until(Arc::clone(&catalog.store), Arc::clone(&done)));
    readers.spawn(read_until(Arc::clone(&catalog.store), Arc::clone(&done)));
    let mut writers = JoinSet::new();
    for writer in 0..WRITERS {
        writers.spawn(write_and_be_refused(catalog.clone(), Arc::clone(&ids), writer));
    }
    let (mut committed, mut refused) = (0, 0);
    for (commits, refusals) in writers.join_all().await {
        committed += commits;
        refused += refusals;
    }
    assert!(
        committed >= COMMITS && refused >= ROLLBACKS,
        "{committed} and {refused}"
    );
    done.store(true, Ordering::SeqCst);
    readers.join_all().await;
    let entries = catalog.log().await;
    assert_eq!(entries.len(), committed + WRITERS);
    assert_dense(&entries);
    assert_versions_ascend(&entries);
}

async fn write_and_be_refused<E: Engine>(
    catalog: Catalog<E>,
    ids: Arc<Vec<WorkspaceId>>,
    writer: usize,
) -> (usize, usize) {
    let (mut commits, mut refusals) = (0, 0);
    for round in 0..COMMITS.div_ceil(WRITERS) {
        // Rows that others write as well, so that writers meet.
        let id = &ids[(writer + round) % ids.len()];
        let update = retitle(id, &format!("{writer} {round}"));
        catalog.store.update(update, catalog.call()).await.unwrap();
        commits += 1;
        if round % 3 == 0 {
            let mut taken = catalog.new_named(&format!("/{writer}/{round}"), "0");
            taken.validate_only = round % 2 == 0;
            let outcome = catalog.store.register(taken, catalog.call()).await;
            assert!(
                matches!(outcome, Err(Error::Rejected(CatalogError::NameConflict { .. }))),
                "{outcome:?}"
            );
            refusals += 1;
        }
    }
    (commits, refusals)
}

/// Numbers what is pending until it is told that nothing more comes.
pub(crate) async fn number_until(store: Arc<crate::SqlStore>, done: Arc<AtomicBool>) {
    while !done.load(Ordering::SeqCst) {
        store.number_pending().await.unwrap();
        tokio::task::yield_now().await;
    }
}

/// Reads like a watcher: never again something at or below what it has seen, and no position is left out.
pub(crate) async fn read_until(store: Arc<crate::SqlStore>, done: Arc<AtomicBool>) {
    let mut seen = 0;
    while !done.load(Ordering::SeqCst) {
        let slice = store.read_after(seen, 100).await.unwrap();
        for entry in slice.entries {
            assert_eq!(entry.position, seen + 1);
            seen = entry.position;
        }
        tokio::task::yield_now().await;
    }
}
