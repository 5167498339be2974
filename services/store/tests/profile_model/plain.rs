//! Profiles and selections as plain maps.

use std::collections::BTreeMap;

use compozy_domain::{
    ChangeKind, ChangeOp, ChangeReason, Profile, ProfileId, ProfileName, ProfileState, Reason, Timestamp,
    WorkspaceId,
};

use crate::operation::{Operation, Outcome, Work};

/// What an entry tells: kind, operation, reason, workspace, profile, version.
pub(crate) type Told = (
    ChangeKind,
    ChangeOp,
    ChangeReason,
    Option<WorkspaceId>,
    Option<ProfileId>,
    i64,
);

#[derive(Debug, Default)]
pub(crate) struct Plain {
    profiles: BTreeMap<ProfileId, Profile>,
    workspaces: Vec<WorkspaceId>,
    /// Without a workspace: for everything else. A forgotten one keeps its version.
    selections: BTreeMap<Option<WorkspaceId>, (Option<ProfileId>, i64)>,
    told: Vec<Told>,
}

impl Plain {
    pub(crate) fn register(&mut self, id: WorkspaceId) {
        self.workspaces.push(id);
    }

    pub(crate) fn workspaces(&self) -> &[WorkspaceId] {
        &self.workspaces
    }

    pub(crate) fn profile_ids(&self) -> Vec<ProfileId> {
        self.profiles.keys().cloned().collect()
    }

    /// All records, by id.
    pub(crate) fn records(&self) -> Vec<Profile> {
        self.profiles.values().cloned().collect()
    }

    pub(crate) fn told(&self) -> &[Told] {
        &self.told
    }

    /// What is selected for a workspace, or for everything else.
    pub(crate) fn selected(&self, workspace: Option<&WorkspaceId>) -> Option<Profile> {
        let (profile, _) = self.selections.get(&workspace.cloned())?;
        let id = profile.as_ref()?;
        let permanent = Profile::permanent();
        if *id == permanent.id {
            return Some(permanent);
        }
        self.profiles.get(id).cloned()
    }

    pub(crate) fn apply(&mut self, operation: &Operation) -> Outcome {
        let now = operation.now;
        let outcome = match operation.work.clone() {
            Work::Create(id, name) => self.create(&id, name, now),
            Work::Update(id, update) => self.change(&id, ChangeReason::Updated, now, |profile| {
                if let Some(color) = update.color {
                    profile.color = color;
                }
                if let Some(icon) = update.icon {
                    profile.icon = icon;
                }
            }),
            Work::Rename(id, name) => self.rename(&id, name, now),
            Work::Set(id, state) => {
                let reason = match state {
                    ProfileState::Active => ChangeReason::Unarchived,
                    ProfileState::Archived => ChangeReason::Archived,
                };
                self.change(&id, reason, now, |profile| profile.state = state)
            }
            Work::Delete(id, allow_missing) => self.delete(&id, allow_missing),
            Work::Select(workspace, profile) => self.select(workspace.as_ref(), profile),
            Work::Replace(id) => {
                self.workspaces.retain(|workspace| *workspace != id);
                self.selections.remove(&Some(id));
                Ok(Outcome::Replaced)
            }
        };
        outcome.unwrap_or_else(Outcome::Refused)
    }

    fn is_taken(&self, name: &ProfileName) -> bool {
        self.profiles.values().any(|profile| profile.name == *name)
    }

    fn tell(&mut self, op: ChangeOp, reason: ChangeReason, id: &ProfileId, version: i64) {
        self.told
            .push((ChangeKind::Profile, op, reason, None, Some(id.clone()), version));
    }

    fn create(&mut self, id: &ProfileId, name: ProfileName, now: Timestamp) -> Result<Outcome, Reason> {
        if self.is_taken(&name) {
            return Err(Reason::ProfileNameConflict);
        }
        let profile = Profile {
            id: id.clone(),
            name,
            color: String::new(),
            icon: String::new(),
            state: ProfileState::Active,
            version: 1,
            created_at: now,
            updated_at: now,
        };
        self.profiles.insert(id.clone(), profile.clone());
        self.tell(ChangeOp::Upserted, ChangeReason::Created, id, 1);
        Ok(Outcome::Record(profile))
    }

    fn rename(&mut self, id: &ProfileId, name: ProfileName, now: Timestamp) -> Result<Outcome, Reason> {
        let current = self.profiles.get(id).ok_or(Reason::ProfileNotFound)?;
        if current.name != name && self.is_taken(&name) {
            return Err(Reason::ProfileNameConflict);
        }
        self.change(id, ChangeReason::Renamed, now, |profile| profile.name = name)
    }

    fn change(
        &mut self,
        id: &ProfileId,
        reason: ChangeReason,
        now: Timestamp,
        change: impl FnOnce(&mut Profile),
    ) -> Result<Outcome, Reason> {
        let current = self.profiles.get_mut(id).ok_or(Reason::ProfileNotFound)?;
        let before = current.clone();
        change(current);
        if *current == before {
            return Ok(Outcome::Record(before));
        }
        current.version += 1;
        current.updated_at = now;
        let changed = current.clone();
        self.tell(ChangeOp::Upserted, reason, id, changed.version);
        Ok(Outcome::Record(changed))
    }

    fn delete(&mut self, id: &ProfileId, allow_missing: bool) -> Result<Outcome, Reason> {
        let Some(gone) = self.profiles.remove(id) else {
            let nothing = Outcome::Deleted(None);
            return if allow_missing {
                Ok(nothing)
            } else {
                Err(Reason::ProfileNotFound)
            };
        };
        for (selected, _) in self.selections.values_mut() {
            if selected.as_ref() == Some(id) {
                *selected = None;
            }
        }
        self.tell(ChangeOp::Deleted, ChangeReason::Removed, id, gone.version + 1);
        Ok(Outcome::Deleted(Some(gone.id)))
    }

    fn select(
        &mut self,
        workspace: Option<&WorkspaceId>,
        profile: Option<ProfileId>,
    ) -> Result<Outcome, Reason> {
        if workspace.is_some_and(|id| !self.workspaces.contains(id)) {
            return Err(Reason::WorkspaceNotFound);
        }
        if let Some(id) = profile.as_ref().filter(|id| **id != Profile::permanent().id) {
            let found = self.profiles.get(id).ok_or(Reason::ProfileNotFound)?;
            if found.state == ProfileState::Archived {
                return Err(Reason::ProfileArchived);
            }
        }
        let (selected, version) = self.selections.entry(workspace.cloned()).or_insert((None, 0));
        if *selected != profile {
            *version += 1;
            selected.clone_from(&profile);
            let (op, reason) = match &profile {
                Some(_) => (ChangeOp::Upserted, ChangeReason::Updated),
                None => (ChangeOp::Deleted, ChangeReason::Removed),
            };
            let told = (
                ChangeKind::Selection,
                op,
                reason,
                workspace.cloned(),
                profile,
                *version,
            );
            self.told.push(told);
        }
        Ok(Outcome::Selected(self.selected(workspace)))
    }
}
