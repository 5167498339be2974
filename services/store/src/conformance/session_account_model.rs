//! Random operations of several callers on accounts, compared with a plain model after each of them; and many callers
//! at once, whose outcome has to add up.

use std::collections::BTreeMap;
use std::sync::Arc;

use compozy_domain::session::StopCause;
use compozy_domain::session::change::SessionChange;
use compozy_domain::workspace::SessionCounts;
use compozy_domain::{CatalogError, Reason, SessionId, Visibility, Workspace, WorkspaceId};
use tokio::task::JoinSet;

use super::engine::Engine;
use super::fixture::{Catalog, fresh, removal};
use super::hooks;
use super::numbers::Seeded;
use super::session_accounts::{attaching, detaching, ungrouped_at};
use super::session_fixture::{changing, deletion, new_in, session_id, stopping};
use super::session_moves::moving;
use crate::call::Answer;
use crate::error::{Error, Result};
use crate::sessions::{DeleteSession, SessionStore as _};
use crate::workspaces::{Remove, WorkspaceStore as _};

/// Steps of one run, and runs.
const STEPS: usize = 250;
const SEEDS: [u64; 2] = [227, 20_261_130];

/// Accounts as lists.
#[derive(Debug, Default)]
struct Plain {
    accounts: BTreeMap<WorkspaceId, Vec<SessionId>>,
    free: Vec<SessionId>,
    over: Vec<SessionId>,
}

impl Plain {
    fn account_of(&self, id: &SessionId) -> Option<&WorkspaceId> {
        let holds = |(_, ids): &(&WorkspaceId, &Vec<SessionId>)| ids.contains(id);
        self.accounts.iter().find(holds).map(|(account, _)| account)
    }

    fn sees(&self, id: &SessionId, caller: &Visibility) -> bool {
        match (self.account_of(id), caller) {
            (Some(account), caller) => caller.includes(account),
            (None, Visibility::All) => self.free.contains(id),
            (None, Visibility::Only(_)) => false,
        }
    }

    fn take(&mut self, id: &SessionId) {
        self.free.retain(|other| other != id);
        for ids in self.accounts.values_mut() {
            ids.retain(|other| other != id);
        }
    }

    fn attach(&mut self, id: &SessionId, to: &WorkspaceId, caller: &Visibility) -> Outcome {
        if !caller.includes(to) || !self.accounts.contains_key(to) {
            return Err(Reason::WorkspaceNotFound);
        }
        if !self.sees(id, caller) {
            return Err(Reason::SessionNotFound);
        }
        if self.account_of(id) == Some(to) {
            return Ok(false);
        }
        self.take(id);
        self.accounts.get_mut(to).unwrap().insert(0, id.clone());
        Ok(true)
    }

    fn detach(&mut self, id: &SessionId, only: Option<&WorkspaceId>, caller: &Visibility) -> Outcome {
        if !self.sees(id, caller) {
            return Err(Reason::SessionNotFound);
        }
        let account = self.account_of(id);
        if account.is_none() || only.is_some_and(|only| account != Some(only)) {
            return Ok(false);
        }
        self.take(id);
        self.free.push(id.clone());
        Ok(true)
    }

    fn move_before(&mut self, id: &SessionId, before: Option<&SessionId>, caller: &Visibility) -> Outcome {
        if !self.sees(id, caller) || before.is_some_and(|before| !self.sees(before, caller)) {
            return Err(Reason::SessionNotFound);
        }
        let Some(account) = self.account_of(id).cloned() else {
            return Err(Reason::WorkspaceMoveInvalid);
        };
        if before.is_some_and(|before| self.account_of(before) != Some(&account)) {
            return Err(Reason::WorkspaceMoveInvalid);
        }
        let ids = self.accounts.get_mut(&account).unwrap();
        let old = ids.clone();
        if before != Some(id) {
            ids.retain(|other| other != id);
            let at = before.map_or(ids.len(), |before| {
                ids.iter().position(|other| other == before).unwrap()
            });
            ids.insert(at, id.clone());
        }
        Ok(*ids != old)
    }

    fn remove(&mut self, id: &WorkspaceId, delete: bool, ungroup_live: bool) -> Outcome {
        let ids = &self.accounts[id];
        if !ungroup_live && ids.iter().any(|id| !self.over.contains(id)) {
            return Err(Reason::WorkspaceHasLiveSessions);
        }
        for id in self.accounts.remove(id).unwrap() {
            if !delete || !self.over.contains(&id) {
                self.free.push(id);
            }
        }
        Ok(true)
    }

    fn all(&self) -> Vec<SessionId> {
        let grouped = self.accounts.values().flatten();
        grouped.chain(&self.free).cloned().collect()
    }
}

/// Whether something was written, or why not.
type Outcome = std::result::Result<bool, Reason>;

fn outcome<T: std::fmt::Debug>(result: Result<Answer<T>>, changed: impl FnOnce(&T) -> bool) -> Outcome {
    match result {
        Ok(answer) => Ok(changed(&fresh(answer).value)),
        Err(Error::Rejected(error)) => Err(error.reason()),
        Err(error) => panic!("{error}"),
    }
}

pub async fn accounts_equal_those_of_a_model<E: Engine>(catalog: Catalog<E>) {
    for seed in SEEDS {
        let mut numbers = Seeded::new(seed);
        let mut roots = BTreeMap::new();
        let mut plain = Plain::default();
        for root in ["/w/a", "/w/b"] {
            let workspace = catalog.register(root).await;
            plain.accounts.insert(workspace.id.clone(), Vec::new());
            roots.insert(root, workspace);
        }
        for step in 0..STEPS {
            step_of(&catalog, &mut plain, &mut roots, &mut numbers).await;
            let found: BTreeMap<WorkspaceId, Vec<SessionId>> = {
                let mut found = BTreeMap::new();
                for id in plain.accounts.keys() {
                    found.insert(id.clone(), catalog.account(id).await);
                }
                found
            };
            assert_eq!(found, plain.accounts, "step {step} of seed {seed}");
            catalog.assert_counts_are_true().await;
            catalog.assert_ranks_are_distinct().await;
        }
        for (root, workspace) in roots {
            let remove = Remove {
                ungroup_live: true,
                ..removal(&workspace.id)
            };
            catalog
                .store
                .remove(remove, catalog.session_call())
                .await
                .unwrap();
            plain.accounts.clear();
            assert_eq!(catalog.account(&workspace.id).await, [], "{root}");
        }
        for id in catalog_sessions(&catalog).await {
            let delete = DeleteSession {
                force: true,
                ..deletion(&id)
            };
            catalog.delete_session(delete).await.unwrap();
        }
    }
}

async fn catalog_sessions<E: Engine>(catalog: &Catalog<E>) -> Vec<SessionId> {
    let rows = hooks::rows(&catalog.store, "SELECT id FROM session")
        .await
        .unwrap();
    rows.into_iter()
        .map(|row| SessionId::from_stored(row[0].clone()))
        .collect()
}

async fn step_of<E: Engine>(
    catalog: &Catalog<E>,
    plain: &mut Plain,
    roots: &mut BTreeMap<&'static str, Workspace>,
    numbers: &mut Seeded,
) {
    let root = ["/w/a", "/w/b"][numbers.below(2)];
    let workspace = roots[root].clone();
    let caller = match numbers.below(4) {
        0 => Visibility::Only(vec![roots["/w/a"].id.clone()]),
        _ => Visibility::All,
    };
    let all = plain.all();
    let pick = |numbers: &mut Seeded| match all.len() {
        0 => session_id(),
        count => all[numbers.below(count)].clone(),
    };
    let (store, id) = (&catalog.store, pick(numbers));
    match numbers.below(16) {
        0..=3 => {
            let made = catalog.session_in(&workspace).await;
            plain.accounts.get_mut(&workspace.id).unwrap().insert(0, made.id);
        }
        4 => {
            let made = catalog.create_session(ungrouped_at(root)).await;
            plain.free.push(made.id);
        }
        5..=7 => {
            let attach = attaching(&id, &workspace, &format!("{root}/sub"));
            let call = catalog.session_call_as(caller.clone());
            let result = store.attach_session(attach, call).await;
            let found = outcome(result, |regrouped| regrouped.changed);
            assert_eq!(found, plain.attach(&id, &workspace.id, &caller));
        }
        8 | 9 => {
            let mut detach = detaching(&id);
            detach.workspace_id = (numbers.below(2) == 0).then(|| workspace.id.clone());
            let call = catalog.session_call_as(caller.clone());
            let result = store.detach_session(detach.clone(), call).await;
            let found = outcome(result, |regrouped| regrouped.changed);
            assert_eq!(found, plain.detach(&id, detach.workspace_id.as_ref(), &caller));
        }
        10..=12 => {
            let before = (numbers.below(4) > 0).then(|| pick(numbers));
            let call = catalog.session_call_as(caller.clone());
            let result = store.move_session(moving(&id, before.as_ref()), call).await;
            let found = outcome(result, |moved| moved.moved);
            assert_eq!(found, plain.move_before(&id, before.as_ref(), &caller));
        }
        13 | 14 if all.contains(&id) => {
            catalog
                .change_session(&id, stopping(StopCause::Completed, ""))
                .await;
            plain.over.push(id.clone());
            if numbers.below(3) == 0 {
                catalog.delete_session(deletion(&id)).await.unwrap();
                plain.take(&id);
            }
        }
        _ => {
            let remove = Remove {
                delete_sessions: numbers.below(2) == 0,
                ungroup_live: numbers.below(2) == 0,
                ..removal(&workspace.id)
            };
            let (delete, ungroup) = (remove.delete_sessions, remove.ungroup_live);
            let found = outcome(store.remove(remove, catalog.session_call()).await, |_| true);
            assert_eq!(found, plain.remove(&workspace.id, delete, ungroup));
            if found.is_ok() {
                let next = catalog.register(root).await;
                plain.accounts.insert(next.id.clone(), Vec::new());
                roots.insert(root, next);
            }
        }
    }
}

/// 64 callers at once on two workspaces.
pub async fn s227_accounts_add_up_under_many_callers<E: Engine>(catalog: Catalog<E>) {
    let a = catalog.register("/w/a").await;
    let b = catalog.register("/w/b").await;
    let mut ids = Vec::new();
    for number in 0..24 {
        let made = match number % 3 {
            0 => catalog.session_in(&a).await,
            1 => catalog.session_in(&b).await,
            _ => catalog.create_session(ungrouped_at("/w/a")).await,
        };
        ids.push(made.id);
    }
    let (ids, created) = (Arc::new(ids), 64);
    let mut callers = JoinSet::new();
    for caller in 0..created {
        let (catalog, ids) = (catalog.clone(), Arc::clone(&ids));
        let workspaces = [a.clone(), b.clone()];
        callers.spawn(async move {
            let mut numbers = Seeded::new(caller);
            for turn in 0..8 {
                let workspace = &workspaces[numbers.below(2)];
                let id = &ids[numbers.below(ids.len())];
                let before = &ids[numbers.below(ids.len())];
                let store = &catalog.store;
                let refused = match (turn, numbers.below(3)) {
                    (0, _) => store
                        .create_session(new_in(workspace), catalog.session_call())
                        .await
                        .err(),
                    (_, 0) => {
                        let attach = attaching(id, workspace, &workspace.root_dir);
                        store.attach_session(attach, catalog.session_call()).await.err()
                    }
                    (_, 1) => store
                        .detach_session(detaching(id), catalog.session_call())
                        .await
                        .err(),
                    _ => {
                        let before = (numbers.below(4) > 0).then_some(before);
                        store
                            .move_session(moving(id, before), catalog.session_call())
                            .await
                            .err()
                    }
                };
                match refused {
                    None | Some(Error::Rejected(CatalogError::MoveInvalid { .. })) => {}
                    Some(error) => panic!("{error:?}"),
                }
            }
        });
    }
    callers.join_all().await;
    let (on_a, on_b) = (catalog.account(&a.id).await, catalog.account(&b.id).await);
    let total = ids.len() + usize::try_from(created).unwrap();
    let sql = "SELECT COUNT(*) FROM session WHERE workspace_id = ''";
    let free: usize = hooks::rows(&catalog.store, sql).await.unwrap()[0][0]
        .parse()
        .unwrap();
    assert_eq!(on_a.len() + on_b.len() + free, total);
    assert!(on_a.iter().all(|id| !on_b.contains(id)));
    catalog.assert_ranks_are_distinct().await;
    catalog.assert_counts_are_true().await;
    for (workspace, ids) in [(&a, on_a), (&b, on_b)] {
        let expected = SessionCounts {
            active: i64::try_from(ids.len()).unwrap(),
            ..SessionCounts::default()
        };
        assert_eq!(catalog.get(&workspace.id).await.session_counts, expected);
    }
}

/// Whoever comes to a workspace while it is removed is either taken off with the others or comes too late.
pub async fn nobody_joins_an_account_that_is_removed<E: Engine>(catalog: Catalog<E>) {
    for round in 0..12 {
        let a = catalog.register("/w/a").await;
        let member = catalog.stopped_in(&a).await.id;
        let free = catalog.create_session(ungrouped_at("/w/a")).await.id;
        catalog
            .change_session(&free, stopping(StopCause::Completed, ""))
            .await;
        let mut callers: JoinSet<Option<Error>> = JoinSet::new();
        let spawned = catalog.clone();
        let attach = attaching(&free, &a, "/w/a");
        callers.spawn(async move {
            spawned
                .store
                .attach_session(attach, spawned.session_call())
                .await
                .err()
        });
        let (spawned, create) = (catalog.clone(), new_in(&a));
        callers.spawn(async move {
            spawned
                .store
                .create_session(create, spawned.session_call())
                .await
                .err()
        });
        let (spawned, detach) = (catalog.clone(), detaching(&member));
        callers.spawn(async move {
            spawned
                .store
                .detach_session(detach, spawned.session_call())
                .await
                .err()
        });
        let resume = changing(&member, SessionChange::Resume { bind: None });
        let spawned = catalog.clone();
        callers.spawn(async move {
            spawned
                .store
                .change_session(resume, spawned.session_call())
                .await
                .err()
        });
        let spawned = catalog.clone();
        let remove = Remove {
            delete_sessions: round % 2 == 0,
            ungroup_live: round % 3 == 0,
            ..removal(&a.id)
        };
        callers.spawn(async move { spawned.store.remove(remove, spawned.session_call()).await.err() });
        for refused in callers.join_all().await.into_iter().flatten() {
            let Error::Rejected(refused) = refused else {
                panic!("{refused:?}");
            };
            assert!(
                matches!(
                    refused.reason(),
                    Reason::WorkspaceNotFound
                        | Reason::SessionNotFound
                        | Reason::SessionCwdMismatch
                        | Reason::WorkspaceHasLiveSessions
                ),
                "{refused}"
            );
        }
        catalog.assert_counts_are_true().await;
        if catalog.find(&a.id).await.is_none() {
            assert_eq!(catalog.account(&a.id).await, []);
        } else {
            let remove = Remove {
                ungroup_live: true,
                ..removal(&a.id)
            };
            catalog
                .store
                .remove(remove, catalog.session_call())
                .await
                .unwrap();
        }
        catalog.assert_counts_are_true().await;
    }
}
