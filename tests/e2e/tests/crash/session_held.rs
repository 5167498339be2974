//! What the catalog holds of a worker's sessions, as the worker knows it.

use std::collections::BTreeMap;

use compozy_proto::session::v1::{RuntimeState, Session, SessionState};

use crate::session_operation::{SessionOperation, What};

/// A session as the worker knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SessionRow {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) state: SessionState,
    pub(crate) is_archived: bool,
    /// Id of its workspace, or empty.
    pub(crate) workspace: String,
    pub(crate) is_bound: bool,
    pub(crate) generation: i64,
    pub(crate) version: i64,
}

/// What the catalog holds of a worker.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct SessionsHeld {
    pub(crate) rows: BTreeMap<String, SessionRow>,
    /// Ids in the order of each workspace's account; empty ones are left out.
    pub(crate) accounts: BTreeMap<String, Vec<String>>,
}

impl SessionRow {
    pub(crate) fn of(session: &Session) -> Self {
        let runtime = session.runtime.clone().unwrap();
        Self {
            id: session.id.clone(),
            name: session.name.clone(),
            state: session.state(),
            is_archived: session.archived_at.is_some(),
            workspace: session.workspace_id.clone(),
            is_bound: runtime.state() == RuntimeState::Bound,
            generation: runtime.generation,
            version: session.version,
        }
    }

    fn end(&mut self) {
        self.state = SessionState::Stopped;
        self.is_bound = false;
    }
}

impl SessionsHeld {
    /// What is held once the operation is done.
    pub(crate) fn after(&self, operation: &SessionOperation) -> Self {
        let mut held = self.clone();
        match &operation.what {
            What::Create {
                id,
                workspace,
                is_bound,
                ..
            } => {
                let row = SessionRow {
                    id: id.clone(),
                    name: String::new(),
                    state: SessionState::Active,
                    is_archived: false,
                    workspace: workspace.clone(),
                    is_bound: *is_bound,
                    generation: i64::from(*is_bound),
                    version: 1,
                };
                held.rows.insert(id.clone(), row);
                held.put_in_front(workspace, id);
            }
            What::Rename { id, name, .. } => held.change(id, |row| row.name.clone_from(name)),
            What::Bind { id, .. } => held.change(id, |row| {
                row.is_bound = true;
                row.generation += 1;
            }),
            What::Stop { id, .. } => held.change(id, |row| match row.is_bound {
                true => row.state = SessionState::Stopping,
                false => row.end(),
            }),
            What::Finish { id, .. } => held.change(id, SessionRow::end),
            What::Resume { id, .. } => held.change(id, |row| {
                row.state = SessionState::Starting;
                row.generation += 1;
            }),
            What::Archive { id, .. } => held.change(id, |row| row.is_archived = true),
            What::Unarchive { id, .. } => held.change(id, |row| row.is_archived = false),
            What::Delete { id, .. } => {
                held.take_off(id);
                held.rows.remove(id);
            }
            What::Attach { id, workspace, .. } => {
                if held.rows[id].workspace != *workspace {
                    held.take_off(id);
                    held.change(id, |row| row.workspace.clone_from(workspace));
                    held.put_in_front(workspace, id);
                }
            }
            What::Detach { id, .. } => {
                if !held.rows[id].workspace.is_empty() {
                    held.take_off(id);
                    held.change(id, |row| row.workspace.clear());
                }
            }
            What::Move { id, before, .. } => held.shift(id, before),
        }
        held
    }

    fn change(&mut self, id: &str, change: impl FnOnce(&mut SessionRow)) {
        let row = self.rows.get_mut(id).unwrap();
        change(row);
        row.version += 1;
    }

    fn put_in_front(&mut self, workspace: &str, id: &str) {
        if !workspace.is_empty() {
            let account = self.accounts.entry(workspace.to_owned()).or_default();
            account.insert(0, id.to_owned());
        }
    }

    fn take_off(&mut self, id: &str) {
        let workspace = &self.rows[id].workspace;
        if let Some(account) = self.accounts.get_mut(workspace) {
            account.retain(|other| other != id);
        }
        self.accounts.retain(|_, account| !account.is_empty());
    }

    fn shift(&mut self, id: &str, before: &str) {
        if id == before {
            return;
        }
        let account = self.accounts.get_mut(&self.rows[id].workspace).unwrap();
        account.retain(|other| other != id);
        let at = account.iter().position(|other| other == before);
        account.insert(at.unwrap_or(account.len()), id.to_owned());
    }
}
