//! Promises about the numbers of sessions that are kept.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use compozy_domain::session::StopCause;
use compozy_domain::session::change::SessionChange;
use compozy_domain::{CatalogError, SessionState, SessionType, Workspace, WorkspaceId};
use tokio::task::JoinSet;

use super::engine::Engine;
use super::fixture::{Catalog, rejection};
use super::hooks;
use super::session_fixture::{deletion, new_in, renaming, stopping, ungrouped};
use crate::catalog::{CatalogStore as _, StoreKind};
use crate::error::{Error, Result};
use crate::sessions::{CreateSession, DeleteSession, SessionStore as _};
use crate::sql::{Cells, CellsOf, Transaction, Tx, counted, counted_by};

/// What a test asks the kept numbers.
#[derive(Debug, Clone, Default)]
struct Asked {
    /// `None` = all sessions.
    workspaces: Option<Vec<String>>,
    hidden: Vec<i64>,
    states: Vec<&'static str>,
    types: Vec<&'static str>,
    agents: Vec<&'static str>,
}

impl Asked {
    fn cells(&self) -> Cells<'_> {
        Cells {
            of: match &self.workspaces {
                None => CellsOf::All,
                Some(ids) => CellsOf::Workspaces(ids.iter().map(String::as_str).collect()),
            },
            hidden: self.hidden.clone(),
            states: self.states.clone(),
            types: self.types.clone(),
            agents: self.agents.clone(),
        }
    }
}

#[async_trait]
impl Transaction for Asked {
    type Output = i64;

    async fn run(&self, tx: &mut Tx) -> Result<i64> {
        counted(tx, &self.cells()).await
    }
}

async fn ask<E>(catalog: &Catalog<E>, asked: Asked) -> i64 {
    catalog.store.db().read(Arc::new(asked)).await.unwrap()
}

struct By(Asked, &'static str, bool);

#[async_trait]
impl Transaction for By {
    type Output = Vec<(String, i64)>;

    async fn run(&self, tx: &mut Tx) -> Result<Self::Output> {
        let mut cells = self.0.cells();
        if self.2 {
            cells.of = CellsOf::Each;
        }
        counted_by(tx, &cells, self.1).await
    }
}

/// Numbers by state, of all sessions that are in the lists.
async fn by_state<E>(catalog: &Catalog<E>, hidden: Vec<i64>) -> Vec<(String, i64)> {
    let asked = Asked {
        hidden,
        ..Asked::default()
    };
    catalog
        .store
        .db()
        .read(Arc::new(By(asked, "state", false)))
        .await
        .unwrap()
}

async fn by_account<E>(catalog: &Catalog<E>, hidden: Vec<i64>) -> Vec<(String, i64)> {
    let asked = Asked {
        hidden,
        ..Asked::default()
    };
    catalog
        .store
        .db()
        .read(Arc::new(By(asked, "scope", true)))
        .await
        .unwrap()
}

fn pairs(expected: &[(&str, i64)]) -> Vec<(String, i64)> {
    let mut pairs: Vec<_> = expected
        .iter()
        .map(|(key, count)| ((*key).to_owned(), *count))
        .collect();
    pairs.sort();
    pairs
}

/// Two active ones in A, in B one stopped and one archived, and an ungrouped one that is starting.
async fn some<E: Engine>(catalog: &Catalog<E>) -> (WorkspaceId, WorkspaceId) {
    let (a, b) = (catalog.register("/t/a").await, catalog.register("/t/b").await);
    for _ in 0..2 {
        catalog.session_in(&a).await;
    }
    catalog.stopped_in(&b).await;
    let archived = catalog.stopped_in(&b).await;
    catalog.change_session(&archived.id, SessionChange::Archive).await;
    let create = CreateSession {
        state: SessionState::Starting,
        ..ungrouped()
    };
    catalog.create_session(create).await;
    (a.id, b.id)
}

pub async fn kept_numbers_are_summed_by_every_condition<E: Engine>(catalog: Catalog<E>) {
    let (a, b) = some(&catalog).await;
    let (a, b) = (a.as_str(), b.as_str());
    for _ in 0..2 {
        assert_eq!(
            by_state(&catalog, vec![0]).await,
            pairs(&[("active", 2), ("stopped", 1), ("starting", 1)])
        );
        assert_eq!(
            by_account(&catalog, vec![0]).await,
            pairs(&[(a, 2), (b, 1), ("", 1)])
        );
        assert_eq!(
            by_state(&catalog, vec![0, 1]).await,
            pairs(&[("active", 2), ("stopped", 2), ("starting", 1)])
        );
        assert_eq!(
            by_account(&catalog, Vec::new()).await,
            pairs(&[(a, 2), (b, 2), ("", 1)])
        );
        let asked = Asked::default();
        assert_eq!(ask(&catalog, asked.clone()).await, 5);
        let of_b = Asked {
            workspaces: Some(vec![b.to_owned()]),
            ..asked.clone()
        };
        assert_eq!(ask(&catalog, of_b.clone()).await, 2);
        assert_eq!(
            ask(
                &catalog,
                Asked {
                    hidden: vec![1],
                    ..of_b
                }
            )
            .await,
            1
        );
        let of_none = Asked {
            workspaces: Some(Vec::new()),
            ..asked.clone()
        };
        assert_eq!(ask(&catalog, of_none).await, 0);
        let of_two = Asked {
            workspaces: Some(vec![a.to_owned(), String::new()]),
            states: vec!["active", "starting"],
            types: vec!["user"],
            agents: vec!["general"],
            ..asked.clone()
        };
        assert_eq!(ask(&catalog, of_two.clone()).await, 3);
        assert_eq!(
            ask(
                &catalog,
                Asked {
                    agents: vec!["General"],
                    ..of_two
                }
            )
            .await,
            0
        );
        assert_eq!(
            ask(
                &catalog,
                Asked {
                    types: vec!["dream"],
                    ..asked
                }
            )
            .await,
            0
        );
        // The second time with everything folded.
        fold_all(&catalog).await;
    }
}

pub async fn s061_sessions_with_roles_of_similar_names_are_ordinary<E: Engine>(catalog: Catalog<E>) {
    let workspace = catalog.register("/t/a").await;
    for role in [
        "auto-titles",
        "memory-extractor-2",
        "auto-title",
        "Memory-Extractor",
    ] {
        let create = CreateSession {
            session_type: SessionType::Spawned,
            spawn_role: role.to_owned(),
            ..new_in(&workspace)
        };
        catalog.create_session(create).await;
    }
    let ordinary = Asked {
        hidden: vec![0],
        ..Asked::default()
    };
    assert_eq!(ask(&catalog, ordinary).await, 2);
    assert_eq!(
        ask(
            &catalog,
            Asked {
                hidden: vec![2],
                ..Asked::default()
            }
        )
        .await,
        2
    );
}

pub async fn s324_numbers_are_exact_after_every_answer<E: Engine>(catalog: Catalog<E>) {
    let (_, b) = some(&catalog).await;
    let workspace = catalog.get(&b).await;
    let session = catalog.session_in(&workspace).await;
    assert_eq!(by_account(&catalog, vec![0]).await.len(), 3);
    let active = |by_state: Vec<(String, i64)>| {
        by_state
            .into_iter()
            .find(|(state, _)| state == "active")
            .unwrap()
            .1
    };
    assert_eq!(active(by_state(&catalog, vec![0]).await), 3);
    catalog
        .change_session(&session.id, stopping(StopCause::User, ""))
        .await;
    assert_eq!(
        by_state(&catalog, vec![0]).await,
        pairs(&[("active", 2), ("stopped", 2), ("starting", 1)])
    );
    catalog.change_session(&session.id, SessionChange::Archive).await;
    assert_eq!(
        by_state(&catalog, vec![0]).await,
        pairs(&[("active", 2), ("stopped", 1), ("starting", 1)])
    );
    assert_eq!(by_state(&catalog, vec![1]).await, pairs(&[("stopped", 2)]));
    catalog.delete_session(deletion(&session.id)).await.unwrap();
    assert_eq!(by_state(&catalog, vec![1]).await, pairs(&[("stopped", 1)]));
    catalog.assert_counts_are_true().await;
}

/// Folds until nothing is left.
async fn fold_all<E>(catalog: &Catalog<E>) {
    while catalog.store.fold_counts().await.unwrap() > 0 {}
    if catalog.store.kind() == StoreKind::Postgres {
        let left = hooks::rows(&catalog.store, "SELECT number FROM session_count_delta")
            .await
            .unwrap();
        assert_eq!(left, Vec::<Vec<String>>::new());
    }
}

pub async fn folding_adds_every_delta_once<E: Engine>(catalog: Catalog<E>) {
    let workspace = catalog.register("/t/a").await;
    for _ in 0..10 {
        catalog.stopped_in(&workspace).await;
    }
    let before = catalog.kept_counts().await;
    let folded = catalog.store.fold_counts().await.unwrap();
    match catalog.store.kind() {
        // A creation has two deltas, a stop four.
        StoreKind::Postgres => assert_eq!(folded, 60),
        StoreKind::Sqlite => assert_eq!(folded, 0),
    }
    assert_eq!(catalog.kept_counts().await, before);
    assert_eq!(catalog.store.fold_counts().await.unwrap(), 0);
    catalog.assert_counts_are_true().await;
}

pub async fn a_fold_takes_a_bounded_number_of_deltas<E: Engine>(catalog: Catalog<E>) {
    if catalog.store.kind() == StoreKind::Sqlite {
        return;
    }
    let sql = "INSERT INTO session_count_delta (scope, hidden, state, type, agent, count) \
               SELECT '*', 0, 'active', 'user', 'a' || n % 3, 1 FROM generate_series(1, 12000) n";
    hooks::execute(&catalog.store, sql).await.unwrap();
    let before = catalog.kept_counts().await;
    for expected in [5_000, 5_000, 2_000, 0] {
        assert_eq!(catalog.store.fold_counts().await.unwrap(), expected);
        assert_eq!(catalog.kept_counts().await, before);
    }
}

/// Does what a caller of many does.
async fn busy<E: Engine>(catalog: Catalog<E>, workspace: Workspace, caller: usize, rounds: usize) {
    for round in 0..rounds {
        let create = CreateSession {
            agent: format!("agent{}", caller % 3),
            ..if round % 2 == 0 {
                new_in(&workspace)
            } else {
                ungrouped()
            }
        };
        let id = catalog.create_session(create).await.id;
        catalog.change_session(&id, stopping(StopCause::User, "")).await;
        match (caller + round) % 4 {
            0 => drop(catalog.change_session(&id, SessionChange::Archive).await),
            1 => drop(catalog.delete_session(deletion(&id)).await.unwrap()),
            2 => drop(
                catalog
                    .change_session(&id, SessionChange::Resume { bind: None })
                    .await,
            ),
            _ => drop(catalog.change_session(&id, renaming("x")).await),
        }
    }
}

pub async fn numbers_are_true_after_many_callers_and_folds<E: Engine>(catalog: Catalog<E>) {
    let workspace = catalog.register("/t/a").await;
    let done = Arc::new(AtomicBool::new(false));
    let mut beside = JoinSet::new();
    for _ in 0..2 {
        let (catalog, done) = (catalog.clone(), Arc::clone(&done));
        beside.spawn(async move {
            while !done.load(Ordering::SeqCst) {
                catalog.store.fold_counts().await.unwrap();
                // Both numbers are of one snapshot.
                let asked = Asked::default();
                let by_state: i64 = by_state(&catalog, Vec::new())
                    .await
                    .iter()
                    .map(|(_, count)| count)
                    .sum();
                assert!(by_state >= 0 && ask(&catalog, asked).await >= 0);
            }
        });
    }
    let mut callers = JoinSet::new();
    for caller in 0..64 {
        callers.spawn(busy(catalog.clone(), workspace.clone(), caller, 4));
    }
    callers.join_all().await;
    done.store(true, Ordering::SeqCst);
    beside.join_all().await;
    catalog.assert_counts_are_true().await;
    assert_eq!(catalog.store.recount_sessions().await.unwrap(), 0);
    fold_all(&catalog).await;
    catalog.assert_counts_are_true().await;
}

/// Numbers never show a half of a write, also while deltas are folded.
pub async fn a_number_is_that_of_one_snapshot<E: Engine>(catalog: Catalog<E>) {
    let workspace = catalog.register("/t/a").await;
    let mut ids = Vec::new();
    for _ in 0..6 {
        ids.push(catalog.stopped_in(&workspace).await.id);
    }
    let mut callers = JoinSet::new();
    for id in ids {
        let catalog = catalog.clone();
        callers.spawn(async move {
            for _ in 0..15 {
                catalog
                    .change_session(&id, SessionChange::Resume { bind: None })
                    .await;
                catalog.change_session(&id, stopping(StopCause::User, "")).await;
            }
        });
    }
    while !callers.is_empty() {
        assert_eq!(ask(&catalog, Asked::default()).await, 6);
        let of = Asked {
            workspaces: Some(vec![workspace.id.to_string()]),
            ..Asked::default()
        };
        assert_eq!(ask(&catalog, of).await, 6);
        catalog.store.fold_counts().await.unwrap();
        while callers.try_join_next().is_some() {}
    }
    catalog.assert_counts_are_true().await;
}

pub async fn s326_wrong_numbers_are_set_right<E: Engine>(catalog: Catalog<E>) {
    some(&catalog).await;
    fold_all(&catalog).await;
    assert_eq!(catalog.store.recount_sessions().await.unwrap(), 0);
    for sql in [
        "UPDATE session_count SET count = 7 WHERE scope = '*' AND state = 'active'",
        "DELETE FROM session_count WHERE scope = '' AND state = 'starting'",
        "INSERT INTO session_count (scope, hidden, state, type, agent, count) \
         VALUES ('ws_ffffffffffffffff', 0, 'active', 'user', 'x', 3)",
    ] {
        hooks::execute(&catalog.store, sql).await.unwrap();
    }
    let mut tasks = JoinSet::new();
    for _ in 0..4 {
        let store = Arc::clone(&catalog.store);
        tasks.spawn(async move { store.recount_sessions().await.unwrap() });
    }
    // Of several at once one finds them.
    assert_eq!(tasks.join_all().await.into_iter().sum::<u64>(), 3);
    catalog.assert_counts_are_true().await;
    assert_eq!(
        by_state(&catalog, vec![0]).await,
        pairs(&[("active", 2), ("stopped", 1), ("starting", 1)])
    );
}

pub async fn numbers_are_counted_anew_beside_writers<E: Engine>(catalog: Catalog<E>) {
    let workspace = catalog.register("/t/a").await;
    let mut callers = JoinSet::new();
    for caller in 0..8 {
        callers.spawn(busy(catalog.clone(), workspace.clone(), caller, 4));
    }
    while !callers.is_empty() {
        assert_eq!(catalog.store.recount_sessions().await.unwrap(), 0);
        catalog.store.fold_counts().await.unwrap();
        while callers.try_join_next().is_some() {}
    }
    catalog.assert_counts_are_true().await;
}

/// A creation with next to no time is there as a whole or not at all.
pub async fn s334_a_late_creation_is_whole_or_nothing<E: Engine>(catalog: Catalog<E>) {
    let workspace = catalog.register("/t/a").await;
    let mut tasks = JoinSet::new();
    for number in 0..1_000_u64 {
        let (store, create) = (Arc::clone(&catalog.store), new_in(&workspace));
        let mut call = catalog.session_call();
        tasks.spawn(async move {
            call.deadline = Instant::now() + Duration::from_micros(number * 20);
            (create.id.clone(), store.create_session(create, call).await)
        });
    }
    let mut made = 0;
    for (id, outcome) in tasks.join_all().await {
        match outcome {
            Ok(_) => {
                made += 1;
                assert_eq!(catalog.store.transitions(&id).await.unwrap().len(), 1);
            }
            Err(Error::DeadlineExceeded) => {}
            Err(error) => panic!("{error:?}"),
        }
    }
    let stored = hooks::rows(&catalog.store, "SELECT id FROM session WHERE rank IS NOT NULL")
        .await
        .unwrap();
    assert_eq!((stored.len(), catalog.log().await.len()), (made, made + 1));
    catalog.assert_counts_are_true().await;
}

/// A deletion with next to no time leaves everything or nothing.
pub async fn a_late_deletion_is_whole_or_nothing<E: Engine>(catalog: Catalog<E>) {
    let workspace = catalog.register("/t/a").await;
    let mut tasks = JoinSet::new();
    for number in 0..100_u64 {
        let id = catalog.session_in(&workspace).await.id;
        let (store, mut call) = (Arc::clone(&catalog.store), catalog.session_call());
        tasks.spawn(async move {
            call.deadline = Instant::now() + Duration::from_micros(number * 50);
            let delete = DeleteSession {
                force: true,
                ..deletion(&id)
            };
            (id, store.delete_session(delete, call).await)
        });
    }
    for (id, outcome) in tasks.join_all().await {
        let exists = catalog.find_session(&id).await.is_some();
        match outcome {
            Ok(_) => assert!(!exists),
            // Once the commit is sent, the answer says what became of it.
            Err(Error::DeadlineExceeded) => assert!(exists),
            Err(error) => panic!("{error:?}"),
        }
        let again = rejection(
            catalog
                .try_create_session(CreateSession { id, ..ungrouped() })
                .await,
        );
        assert!(matches!(again, CatalogError::SessionIdConflict { .. }));
    }
    catalog.assert_counts_are_true().await;
}
