//! Promises about letting the oldest entries go: in pieces, without a hole, whoever else is at work.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use compozy_domain::workspace::WorkspaceOrder;
use compozy_domain::{ChangeEntry, Timestamp, Visibility};
use tokio::task::JoinSet;

use super::change_log::number_until;
use super::engine::Engine;
use super::fixture::{Catalog, START};
use super::hooks::append_entries;
use super::update::retitle;
use crate::catalog::CatalogStore as _;
use crate::change_log::ChangeLog as _;
use crate::workspaces::WorkspaceStore as _;

/// The most that goes at a time.
const PIECE: u64 = 5_000;
/// Before every entry: nothing is old.
const NEVER: Timestamp = Timestamp::from_nanos(0);
const HOUR: Duration = Duration::from_secs(3_600);

/// Trims until nothing is due, and answers how many went.
async fn trim_all<E>(catalog: &Catalog<E>, before: Timestamp, entries: u64) -> u64 {
    let mut all = 0;
    loop {
        let trimmed = catalog.store.trim(before, entries).await.unwrap();
        assert!(trimmed <= PIECE, "a piece of {trimmed}");
        if trimmed == 0 {
            return all;
        }
        all += trimmed;
    }
}

/// Fails unless the entries follow each other from behind the floor on.
#[track_caller]
fn assert_suffix(entries: &[ChangeEntry], floor: i64) {
    for (place, entry) in entries.iter().enumerate() {
        assert_eq!(entry.position, floor + 1 + place as i64);
    }
}

pub async fn n107_the_newest_entries_stay<E: Engine>(catalog: Catalog<E>) {
    append_entries(&catalog.store, 1_500, START).await.unwrap();
    assert_eq!(trim_all(&catalog, NEVER, 1_000).await, 500);
    let slice = catalog.store.read_after(500, 2_000).await.unwrap();
    assert_eq!(
        (slice.entries.len(), slice.floor, slice.head.position),
        (1_000, 500, 1_500)
    );
    assert_suffix(&slice.entries, 500);
    assert_eq!(trim_all(&catalog, NEVER, 1_000).await, 0);
}

pub async fn n110_what_is_older_goes_although_it_is_little<E: Engine>(catalog: Catalog<E>) {
    append_entries(&catalog.store, 10, START.minus(HOUR * 2))
        .await
        .unwrap();
    assert_eq!(trim_all(&catalog, START.minus(HOUR), 1_000_000).await, 10);
    let slice = catalog.store.read_after(10, 10).await.unwrap();
    assert_eq!(
        (slice.entries.len(), slice.floor, slice.head.position),
        (0, 10, 10)
    );
}

/// Twice as many as are kept, all young.
pub async fn n111_of_two_million_the_newest_million_stays<E: Engine>(catalog: Catalog<E>) {
    let (all, kept) = (E::ENTRIES, E::ENTRIES / 2);
    append_entries(&catalog.store, all, START).await.unwrap();
    assert_eq!(trim_all(&catalog, START.minus(HOUR), kept).await, all - kept);
    let head = catalog.store.head().await.unwrap();
    assert_eq!((head.head.position as u64, head.floor as u64), (all, all - kept));
    let first = catalog.store.read_after(head.floor, 10).await.unwrap();
    assert_suffix(&first.entries, head.floor);
    let last = catalog
        .store
        .read_after(head.head.position - 1, 10)
        .await
        .unwrap();
    assert_eq!(last.entries.len(), 1);
    assert_eq!(catalog.store.examine().await.unwrap(), []);
}

/// Sixteen writers, one that trims all the while, and a reader that follows: every write is done, no piece is larger
/// than it may be, and the reader has every entry that it was not told to have lost.
pub async fn n112_writers_and_readers_go_on_while_the_log_is_trimmed<E: Engine>(catalog: Catalog<E>) {
    const WRITERS: usize = 16;
    const ROUNDS: usize = 20;
    const KEPT: u64 = 50;
    const BEFORE: u64 = 23_000;
    append_entries(&catalog.store, BEFORE, START).await.unwrap();
    let mut ids = Vec::new();
    for number in 0..WRITERS {
        ids.push(catalog.register(&format!("/w/{number}")).await.id);
    }
    let done = Arc::new(AtomicBool::new(false));
    let mut others = JoinSet::new();
    others.spawn(number_until(Arc::clone(&catalog.store), Arc::clone(&done)));
    others.spawn(trim_until(catalog.clone(), KEPT, Arc::clone(&done)));
    let mut reader = JoinSet::new();
    reader.spawn(follow_until(catalog.clone(), Arc::clone(&done)));
    let mut writers = JoinSet::new();
    for (writer, id) in ids.into_iter().enumerate() {
        let catalog = catalog.clone();
        writers.spawn(async move {
            for round in 0..ROUNDS {
                let update = retitle(&id, &format!("{writer} {round}"));
                catalog.store.update(update, catalog.call()).await.unwrap();
            }
        });
    }
    writers.join_all().await;
    done.store(true, Ordering::SeqCst);
    others.join_all().await;
    reader.join_all().await;
    catalog.number_all().await;
    trim_all(&catalog, NEVER, KEPT).await;
    let head = catalog.store.head().await.unwrap();
    let written = (WRITERS + WRITERS * ROUNDS) as u64;
    assert_eq!(head.head.position as u64, BEFORE + written);
    assert_eq!(head.floor as u64, BEFORE + written - KEPT);
    let left = catalog.store.read_after(head.floor, 100).await.unwrap();
    assert_eq!(left.entries.len() as u64, KEPT);
    assert_suffix(&left.entries, head.floor);
    assert_eq!(catalog.store.examine().await.unwrap(), []);
}

async fn trim_until<E: Engine>(catalog: Catalog<E>, entries: u64, done: Arc<AtomicBool>) {
    while !done.load(Ordering::SeqCst) {
        let trimmed = catalog.store.trim(NEVER, entries).await.unwrap();
        assert!(trimmed <= PIECE, "a piece of {trimmed}");
        tokio::task::yield_now().await;
    }
}

/// Reads like a watcher: what it has lost lies below the floor that the same slice tells, and everything else comes.
async fn follow_until<E: Engine>(catalog: Catalog<E>, done: Arc<AtomicBool>) {
    let mut seen = 0;
    while !done.load(Ordering::SeqCst) {
        let slice = catalog.store.read_after(seen, 100).await.unwrap();
        seen = seen.max(slice.floor);
        for entry in slice.entries {
            assert_eq!(entry.position, seen + 1, "a hole that nobody was told of");
            seen = entry.position;
        }
        assert!(
            seen <= slice.head.position,
            "what lies above the head is not there yet"
        );
        tokio::task::yield_now().await;
    }
}

/// The entry of a removal is trimmed: who looks at the rows afterwards does not meet the removed one.
pub async fn n116_a_trimmed_removal_leaves_no_row<E: Engine>(catalog: Catalog<E>) {
    let stays = catalog.register("/w/stays").await;
    let goes = catalog.register("/w/goes").await;
    catalog.remove(&goes.id).await.unwrap();
    catalog.number_all().await;
    assert_eq!(trim_all(&catalog, NEVER, 0).await, 3);
    let every = Visibility::All;
    let rows = catalog.store.above(None, &[], 10, &every).await.unwrap();
    let expected = [stays];
    assert_eq!(rows, expected);
    assert_eq!(catalog.store.find(&goes.id, &every).await.unwrap().0, None);
    let page = catalog.read(&catalog.page(WorkspaceOrder::Manual, 10)).await;
    assert_eq!((page.rows, page.revision.position), (expected.to_vec(), 3));
}
