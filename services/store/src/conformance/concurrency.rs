//! Promises about writers and readers that meet.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use compozy_domain::workspace::WorkspaceOrder;
use compozy_domain::{CatalogError, Visibility, Workspace, WorkspaceId};
use tokio::task::JoinSet;

use super::change_log::{assert_dense, assert_versions_ascend, number_until};
use super::engine::Engine;
use super::fixture::{Catalog, fresh, rejection, removal};
use super::numbers::Seeded;
use super::update::{rename, retitle};
use crate::call::Answer;
use crate::error::{Error, Result};
use crate::workspaces::{MoveBefore, Register, Registered, WorkspaceStore as _};

/// Carries out registrations at once.
async fn all_at_once<E: Engine>(
    catalog: &Catalog<E>,
    registers: Vec<Register>,
) -> Vec<Result<Answer<Registered>>> {
    let mut tasks = JoinSet::new();
    for register in registers {
        let (store, call) = (Arc::clone(&catalog.store), catalog.call());
        tasks.spawn(async move { store.register(register, call).await });
    }
    tasks.join_all().await
}

pub async fn w132_of_two_with_one_explicit_name_one_gets_it<E: Engine>(catalog: Catalog<E>) {
    for round in 0..10 {
        let name = format!("name-{round}");
        let registers = ["left", "right"].map(|side| catalog.new_named(&format!("/{side}/{round}"), &name));
        let outcomes = all_at_once(&catalog, registers.to_vec()).await;
        let (won, lost): (Vec<_>, Vec<_>) = outcomes.into_iter().partition(std::result::Result::is_ok);
        assert_eq!((won.len(), lost.len()), (1, 1));
        for outcome in lost {
            let error = rejection(outcome);
            assert!(matches!(error, CatalogError::NameConflict { .. }), "{error}");
        }
    }
    assert_eq!(catalog.names().await.len(), 10);
}

/// All of them race for the next number, and each gets one of the first.
pub async fn many_directories_of_one_base_name_get_the_first_numbers<E: Engine>(catalog: Catalog<E>) {
    for (base, count) in [("few", 20), ("many", 100)] {
        let registers = (0..count)
            .map(|n| catalog.new_at(&format!("/{n}/{base}")))
            .collect();
        let mut names: HashSet<String> = HashSet::new();
        for outcome in all_at_once(&catalog, registers).await {
            let Registered::Created(row) = fresh(outcome.unwrap()).value else {
                panic!("each root is new")
            };
            names.insert(row.name.as_str().to_owned());
        }
        let numbered = (2..=count).map(|number| format!("{base}-{number}"));
        assert_eq!(names, numbered.chain([base.to_owned()]).collect());
    }
}

pub async fn many_registrations_of_one_root_make_one_row<E: Engine>(catalog: Catalog<E>) {
    let registers = (0..20).map(|_| catalog.new_at("/w/a")).collect();
    let mut ids: HashSet<WorkspaceId> = HashSet::new();
    let mut created = 0;
    for outcome in all_at_once(&catalog, registers).await {
        let (Registered::Created(row) | Registered::Existing(row)) = match fresh(outcome.unwrap()).value {
            new @ Registered::Created(_) => {
                created += 1;
                new
            }
            existing => existing,
        };
        ids.insert(row.id);
    }
    assert_eq!((created, ids.len()), (1, 1));
    assert_eq!(catalog.log().await.len(), 1);
}

pub async fn w186_of_two_updates_with_one_etag_one_succeeds<E: Engine>(catalog: Catalog<E>) {
    let mut workspace = catalog.register("/w/a").await;
    for round in 0..10 {
        let mut tasks = JoinSet::new();
        for side in ["left", "right"] {
            let mut update = retitle(&workspace.id, &format!("{side} {round}"));
            update.etag = Some(workspace.etag());
            let (store, call) = (Arc::clone(&catalog.store), catalog.call());
            tasks.spawn(async move { store.update(update, call).await });
        }
        let outcomes = tasks.join_all().await;
        let (won, lost): (Vec<_>, Vec<_>) = outcomes.into_iter().partition(std::result::Result::is_ok);
        assert_eq!((won.len(), lost.len()), (1, 1));
        for outcome in lost {
            let error = rejection(outcome);
            assert!(matches!(error, CatalogError::EtagMismatch { .. }), "{error}");
        }
        workspace = catalog.get(&workspace.id).await;
    }
    assert_eq!(workspace.version, 11);
}

pub async fn of_two_renames_to_one_name_one_succeeds<E: Engine>(catalog: Catalog<E>) {
    let rows = catalog.register_in_order(&["/w/a", "/w/b"]).await;
    for round in 0..10 {
        let mut tasks = JoinSet::new();
        for row in &rows {
            let update = rename(&row.id, &format!("wanted-{round}"));
            let (store, call) = (Arc::clone(&catalog.store), catalog.call());
            tasks.spawn(async move { store.update(update, call).await });
        }
        let outcomes = tasks.join_all().await;
        assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 1);
    }
}

/// Rows, total and revision of each page fit together, however many writes go on.
pub async fn a_page_is_one_snapshot_under_writes<E: Engine>(catalog: Catalog<E>) {
    let done = Arc::new(AtomicBool::new(false));
    let mut readers = JoinSet::new();
    readers.spawn(number_until(Arc::clone(&catalog.store), Arc::clone(&done)));
    let mut pages = JoinSet::new();
    for _ in 0..2 {
        let (catalog, done) = (catalog.clone(), Arc::clone(&done));
        pages.spawn(async move {
            let mut pages = Vec::new();
            while !done.load(Ordering::SeqCst) {
                pages.push(catalog.read(&catalog.page(WorkspaceOrder::Manual, 100)).await);
            }
            pages
        });
    }
    for number in 0..90 {
        catalog.register(&format!("/w/{number}")).await;
    }
    done.store(true, Ordering::SeqCst);
    readers.join_all().await;
    let entries = catalog.log().await;
    for page in pages.join_all().await.into_iter().flatten() {
        assert_eq!(page.total, page.rows.len() as u64);
        let listed: HashSet<&WorkspaceId> = page.rows.iter().map(|row| &row.id).collect();
        let told = entries
            .iter()
            .filter(|entry| entry.position <= page.revision.position)
            .count();
        let mut made = entries
            .iter()
            .take(told)
            .filter_map(|entry| entry.change.workspace_id.as_ref());
        assert!(
            made.all(|id| listed.contains(id)),
            "a watch from the page's revision would miss a row"
        );
        assert!(listed.len() >= told);
    }
}

/// Rows that nobody touches are seen exactly once, while others move and go between the pages.
pub async fn a_walk_sees_every_untouched_row_once<E: Engine>(catalog: Catalog<E>) {
    let mut still: Vec<WorkspaceId> = Vec::new();
    let mut restless: Vec<WorkspaceId> = Vec::new();
    for number in 0..60 {
        let row = catalog.register(&format!("/w/{number}")).await;
        let group = if number % 3 == 0 {
            &mut restless
        } else {
            &mut still
        };
        group.push(row.id);
    }
    still.sort_unstable();
    let mut numbers = Seeded::new(60);
    for order in [
        WorkspaceOrder::Manual,
        WorkspaceOrder::Name,
        WorkspaceOrder::Created,
        WorkspaceOrder::Updated,
    ] {
        let mut list = catalog.page(order, 7);
        let mut seen: Vec<WorkspaceId> = Vec::new();
        loop {
            let page = catalog.read(&list).await;
            list.after = page.rows.last().map(|row| row.place(order));
            seen.extend(page.rows.into_iter().map(|row| row.id));
            if !page.has_more {
                break;
            }
            disturb(&catalog, &mut restless, &still, &mut numbers).await;
        }
        seen.retain(|id| still.contains(id));
        seen.sort_unstable();
        assert_eq!(seen, still, "{order:?}");
    }
}

/// Moves one, renames one and removes one, now and then the last row that was seen.
async fn disturb<E: Engine>(
    catalog: &Catalog<E>,
    restless: &mut Vec<WorkspaceId>,
    still: &[WorkspaceId],
    numbers: &mut Seeded,
) {
    if restless.len() < 3 {
        return;
    }
    let anchor = &still[numbers.below(still.len())];
    let moved = &restless[numbers.below(restless.len())];
    catalog.move_before(moved, Some(anchor)).await.unwrap();
    let renamed = &restless[numbers.below(restless.len())];
    let update = rename(renamed, &format!("n{}", numbers.below(1_000_000)));
    catalog.store.update(update, catalog.call()).await.unwrap();
    let removed = restless.swap_remove(numbers.below(restless.len()));
    catalog.remove(&removed).await.unwrap();
}

/// Many callers register, rename, move and remove at random, each its own workspaces, among those of all.
pub async fn many_callers_end_in_what_each_of_them_did<E: Engine>(catalog: Catalog<E>) {
    let anchors = catalog
        .register_in_order(&["/anchor/1", "/anchor/2", "/anchor/3"])
        .await;
    let anchors: Arc<Vec<WorkspaceId>> = Arc::new(anchors.into_iter().map(|row| row.id).collect());
    let mut callers = JoinSet::new();
    for caller in 0..64 {
        callers.spawn(work_at_random(catalog.clone(), caller, Arc::clone(&anchors)));
    }
    let mut expected: Vec<Workspace> = callers.join_all().await.into_iter().flatten().collect();
    for anchor in anchors.iter() {
        expected.push(catalog.get(anchor).await);
    }
    expected.sort_by(|left, right| left.id.cmp(&right.id));
    let mut listed = catalog.walk(catalog.page(WorkspaceOrder::Manual, 100)).await;
    assert!(
        listed.windows(2).all(|pair| pair[0].rank < pair[1].rank),
        "two rows compare equal"
    );
    listed.sort_by(|left, right| left.id.cmp(&right.id));
    for row in listed.iter_mut().chain(&mut expected) {
        // What a caller was answered tells the place of that time.
        row.rank = compozy_domain::Rank::front(0);
    }
    assert_eq!(listed, expected);
    let entries = catalog.log().await;
    assert_dense(&entries);
    assert_versions_ascend(&entries);
}

async fn work_at_random<E: Engine>(
    catalog: Catalog<E>,
    caller: u64,
    anchors: Arc<Vec<WorkspaceId>>,
) -> Vec<Workspace> {
    let mut numbers = Seeded::new(caller * 1_000);
    let mut own: Vec<Workspace> = Vec::new();
    for round in 0..6 {
        if own.is_empty() || numbers.below(3) == 0 {
            own.push(catalog.register(&format!("/{caller}/{round}/same")).await);
        }
        let at = numbers.below(own.len());
        let id = own[at].id.clone();
        match numbers.below(4) {
            0 => {
                let update = rename(&id, &format!("caller-{caller}-{round}"));
                own[at] = fresh(catalog.store.update(update, catalog.call()).await.unwrap()).value;
            }
            1 => {
                let removed = own.swap_remove(at);
                let answer = catalog.store.remove(removal(&removed.id), catalog.call()).await;
                assert!(fresh(answer.unwrap()).value.workspace.is_some());
            }
            _ => {
                let before = anchors.get(numbers.below(4)).cloned();
                let moving = MoveBefore { id, before };
                catalog.store.move_before(moving, catalog.call()).await.unwrap();
            }
        }
    }
    own
}

/// A deadline that has passed lets nothing happen.
pub async fn a_write_behind_its_deadline_is_not_begun<E: Engine>(catalog: Catalog<E>) {
    let workspace = catalog.register("/w/a").await;
    let before = catalog.everything().await;
    let mut call = catalog.call();
    call.deadline = std::time::Instant::now();
    let outcome = catalog.store.update(retitle(&workspace.id, "late"), call).await;
    assert!(matches!(outcome, Err(Error::DeadlineExceeded)), "{outcome:?}");
    assert_eq!(catalog.everything().await, before);
}

/// A write that has begun is finished, although its caller goes away.
pub async fn a_caller_that_goes_away_does_not_undo_its_write<E: Engine>(catalog: Catalog<E>) {
    let register = catalog.new_at("/w/a");
    let id = register.workspace.id.clone();
    let mut write = Box::pin(catalog.store.register(register, catalog.call()));
    // Begun, and perhaps done already.
    let _begun = futures::poll!(&mut write);
    drop(write);
    // Waits for what has begun.
    let seen = async {
        while catalog
            .store
            .find(&id, &Visibility::All)
            .await
            .unwrap()
            .0
            .is_none()
        {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(20), seen)
        .await
        .expect("the write is finished");
    assert_eq!(catalog.log().await.len(), 1);
}
