//! The plain model: a vector of records in their order, and the entries that were told.

use std::collections::HashMap;

use compozy_domain::workspace::{DirsUpdate, NewName, NewWorkspace, WorkspaceUpdate};
use compozy_domain::{
    ChangeKind, ChangeOp, ChangeReason, DurableId, Rank, Reason, Timestamp, Workspace, WorkspaceId,
    WorkspaceName, WorkspaceStatus,
};

use crate::operation::{Operation, Outcome, Work, record, registered};

/// What an entry of the log says.
pub(crate) type Told = (ChangeKind, ChangeOp, ChangeReason, WorkspaceId, i64);

#[derive(Debug, Default)]
pub(crate) struct Plain {
    /// In the manual order.
    rows: Vec<Workspace>,
    seen: HashMap<WorkspaceId, (WorkspaceStatus, Option<Timestamp>)>,
    told: Vec<Told>,
}

impl Plain {
    pub(crate) fn order(&self) -> Vec<WorkspaceId> {
        self.rows.iter().map(|row| row.id.clone()).collect()
    }

    pub(crate) fn told(&self) -> &[Told] {
        &self.told
    }

    pub(crate) fn root_of(&self, id: &WorkspaceId) -> Option<String> {
        self.rows
            .iter()
            .find(|row| row.id == *id)
            .map(|row| row.root_dir.clone())
    }

    pub(crate) fn status(&self, id: &WorkspaceId) -> Option<WorkspaceStatus> {
        self.seen.get(id).map(|(status, _)| *status)
    }

    /// The records in their order, complete.
    pub(crate) fn records(&self) -> Vec<Workspace> {
        let mut rows = self.rows.clone();
        for row in &mut rows {
            let sharers = self
                .rows
                .iter()
                .filter(|other| other.durable_id == row.durable_id && other.id != row.id);
            row.shares_identity_with = sharers.map(|other| other.id.clone()).collect();
            row.shares_identity_with.sort_unstable();
        }
        rows
    }

    pub(crate) fn apply(&mut self, operation: &Operation) -> Outcome {
        let now = operation.now;
        let outcome = match &operation.work {
            Work::Register(new) => self.register(new),
            Work::Update(id, update) => self.update(id, update, now),
            Work::Move(id, before) => self.move_before(id, before.as_ref()),
            Work::Relink(id, from, to) => self.relink(id, from, to, now),
            Work::Identify(id, durable_id) => self.identify(id, durable_id, now),
            Work::Remove(id) => self.remove(id),
            Work::Prune { missing_since, limit } => Ok(self.prune(*missing_since, *limit as usize)),
            Work::Observe(id, _root, status) => {
                self.observe(id, *status, now);
                Ok(Outcome::Done)
            }
        };
        outcome.unwrap_or_else(Outcome::Refused)
    }

    fn place(&self, id: &WorkspaceId) -> Result<usize, Reason> {
        let place = self.rows.iter().position(|row| row.id == *id);
        place.ok_or(Reason::WorkspaceNotFound)
    }

    fn holder(&self, name: &WorkspaceName) -> Option<&WorkspaceId> {
        let holder = self.rows.iter().find(|row| row.name.key() == name.key());
        holder.map(|row| &row.id)
    }

    fn register(&mut self, new: &NewWorkspace) -> Result<Outcome, Reason> {
        let there = |row: &&Workspace| row.root_dir == new.root_dir && row.host_id == new.host_id;
        if let Some(row) = self.rows.iter().find(there) {
            return Ok(registered(row.id.clone(), row.name.as_str(), false));
        }
        let name = match &new.name {
            NewName::Explicit(name) if self.holder(name).is_some() => {
                return Err(Reason::WorkspaceNameConflict);
            }
            NewName::Explicit(name) => name.clone(),
            NewName::Derived(name) => {
                let numbered = (2..).map(|number| name.with_suffix(number));
                let mut candidates = [name.clone()].into_iter().chain(numbered);
                candidates.find(|name| self.holder(name).is_none()).unwrap()
            }
        };
        let row = Workspace {
            id: new.id.clone(),
            durable_id: new.durable_id.clone(),
            host_id: new.host_id.clone(),
            root_dir: new.root_dir.clone(),
            root_file: new.root_file,
            additional_dirs: new.additional_dirs.clone(),
            name,
            title: new.title.clone(),
            default_agent: new.default_agent.clone(),
            is_default: new.is_default,
            rank: Rank::front(0),
            version: 1,
            state_number: 1,
            created_at: new.at,
            updated_at: new.at,
            shares_identity_with: Vec::new(),
            session_counts: compozy_domain::workspace::SessionCounts::default(),
            defect: None,
        };
        let outcome = registered(row.id.clone(), row.name.as_str(), true);
        self.rows.insert(0, row);
        self.tell(0, ChangeReason::Created);
        Ok(outcome)
    }

    fn update(
        &mut self,
        id: &WorkspaceId,
        update: &WorkspaceUpdate,
        now: Timestamp,
    ) -> Result<Outcome, Reason> {
        let place = self.place(id)?;
        if let Some(name) = &update.name
            && self.holder(name).is_some_and(|holder| holder != id)
        {
            return Err(Reason::WorkspaceNameConflict);
        }
        let before = self.rows[place].clone();
        let row = &mut self.rows[place];
        if let Some(name) = &update.name {
            row.name = name.clone();
        }
        if let Some(title) = &update.title {
            row.title.clone_from(title);
        }
        if let Some(agent) = &update.default_agent {
            row.default_agent.clone_from(agent);
        }
        if let DirsUpdate::Replace(dirs) = &update.dirs {
            row.additional_dirs.clear();
            for dir in dirs {
                if *dir != row.root_dir && !row.additional_dirs.contains(dir) {
                    row.additional_dirs.push(dir.clone());
                }
            }
        }
        if *row != before {
            let renamed = row.name != before.name;
            self.next_state(place, now);
            self.tell(
                place,
                if renamed {
                    ChangeReason::Renamed
                } else {
                    ChangeReason::Updated
                },
            );
        }
        Ok(record(&self.rows[place]))
    }

    fn move_before(&mut self, id: &WorkspaceId, before: Option<&WorkspaceId>) -> Result<Outcome, Reason> {
        let place = self.place(id)?;
        let anchor = before.map(|before| self.place(before)).transpose()?;
        let moves = anchor.is_none_or(|anchor| anchor != place);
        let order = self.order();
        if moves {
            let row = self.rows.remove(place);
            let to = before.map_or(Ok(self.rows.len()), |before| self.place(before))?;
            self.rows.insert(to, row);
        }
        let moved = self.order() != order;
        let place = self.place(id)?;
        if moved {
            let row = &self.rows[place];
            let told = (
                ChangeKind::WorkspaceOrder,
                ChangeOp::Upserted,
                ChangeReason::Moved,
                id.clone(),
                row.version,
            );
            self.told.push(told);
        }
        let neighbour = |place: Option<usize>| self.rows.get(place?).map(|row| row.id.clone());
        Ok(Outcome::Neighbours(
            neighbour(place.checked_sub(1)),
            neighbour(Some(place + 1)),
            moved,
        ))
    }

    fn relink(&mut self, id: &WorkspaceId, from: &str, to: &str, now: Timestamp) -> Result<Outcome, Reason> {
        let place = self.place(id)?;
        let host = &self.rows[place].host_id;
        if self.rows[place].root_dir != from || from == to {
            return Ok(record(&self.rows[place]));
        }
        if self
            .rows
            .iter()
            .any(|row| row.root_dir == to && row.host_id == *host)
        {
            return Err(Reason::WorkspacePathConflict);
        }
        let row = &mut self.rows[place];
        to.clone_into(&mut row.root_dir);
        row.root_file = compozy_domain::FileIdentity { device: 2, inode: 2 };
        row.additional_dirs.retain(|dir| dir != to);
        self.seen.remove(id);
        self.next_state(place, now);
        self.tell(place, ChangeReason::Relinked);
        Ok(record(&self.rows[place]))
    }

    fn identify(
        &mut self,
        id: &WorkspaceId,
        durable_id: &DurableId,
        now: Timestamp,
    ) -> Result<Outcome, Reason> {
        let place = self.place(id)?;
        if self.rows[place].durable_id != *durable_id {
            self.rows[place].durable_id = durable_id.clone();
            self.next_state(place, now);
            self.tell(place, ChangeReason::Identity);
        }
        Ok(record(&self.rows[place]))
    }

    fn remove(&mut self, id: &WorkspaceId) -> Result<Outcome, Reason> {
        let place = self.place(id)?;
        let row = self.rows.remove(place);
        self.seen.remove(id);
        self.told.push((
            ChangeKind::Workspace,
            ChangeOp::Deleted,
            ChangeReason::RemovedSessionsKept,
            id.clone(),
            row.version + 1,
        ));
        Ok(Outcome::Removed(vec![id.clone()], false))
    }

    fn prune(&mut self, missing_since: Timestamp, limit: usize) -> Outcome {
        let due = |row: &&Workspace| {
            let seen = self.seen.get(&row.id);
            let since = seen.and_then(|(_, since)| *since);
            row.host_id.as_str() == "h1" && since.is_some_and(|since| since <= missing_since)
        };
        let mut ids: Vec<WorkspaceId> = self.rows.iter().filter(due).map(|row| row.id.clone()).collect();
        ids.sort_unstable();
        let has_more = ids.len() > limit;
        ids.truncate(limit);
        for id in &ids {
            self.remove(id).unwrap();
        }
        Outcome::Removed(ids, has_more)
    }

    fn observe(&mut self, id: &WorkspaceId, status: WorkspaceStatus, now: Timestamp) {
        let Ok(place) = self.place(id) else { return };
        let before = self.status(id);
        if before == Some(status) {
            return;
        }
        let since = (status == WorkspaceStatus::RootMissing).then_some(now);
        self.seen.insert(id.clone(), (status, since));
        if before.is_none() && status == WorkspaceStatus::Ok {
            return;
        }
        self.rows[place].version += 1;
        self.tell(place, ChangeReason::Status);
    }

    fn next_state(&mut self, place: usize, now: Timestamp) {
        let row = &mut self.rows[place];
        row.version += 1;
        row.state_number += 1;
        row.updated_at = now;
    }

    fn tell(&mut self, place: usize, reason: ChangeReason) {
        let row = &self.rows[place];
        let told = (
            ChangeKind::Workspace,
            ChangeOp::Upserted,
            reason,
            row.id.clone(),
            row.version,
        );
        self.told.push(told);
    }
}
