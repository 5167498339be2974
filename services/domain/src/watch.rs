//! What a watcher sees of the change log: its filter and what exists for its caller, applied to each entry by
//! itself, before anything is coalesced.

use crate::change::{ChangeKind, ChangeOp, ChangeReason, NewChange};
use crate::id::{ProfileId, SessionId, WorkspaceId};
use crate::principal::Visibility;

/// Which entries a watcher wants. Its parts are sorted and without repetition, so that equal filters compare equal.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WatchFilter {
    workspaces: Vec<WorkspaceId>,
    ungrouped: bool,
    kinds: Vec<ChangeKind>,
    include_internal: bool,
}

/// An entry as one watcher sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SeenChange<'a> {
    /// What happened, for this watcher.
    pub op: ChangeOp,
    /// Which operation, or [`ChangeReason::Left`].
    pub reason: ChangeReason,
    /// The workspace; after leaving, the one that was left.
    pub workspace_id: Option<&'a WorkspaceId>,
    /// The workspace before, where the watcher may know it.
    pub from_workspace_id: Option<&'a WorkspaceId>,
}

/// What a change is about: of several changes of one thing the last one says it all.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Thing {
    kind: ChangeKind,
    workspace_id: Option<WorkspaceId>,
    session_id: Option<SessionId>,
    profile_id: Option<ProfileId>,
}

impl WatchFilter {
    /// A filter of these parts, in any order. Without workspaces and without `ungrouped` it takes every place, without
    /// kinds every kind.
    #[must_use]
    pub fn new(
        mut workspaces: Vec<WorkspaceId>,
        ungrouped: bool,
        mut kinds: Vec<ChangeKind>,
        include_internal: bool,
    ) -> Self {
        workspaces.sort_unstable();
        workspaces.dedup();
        kinds.sort_unstable();
        kinds.dedup();
        Self {
            workspaces,
            ungrouped,
            kinds,
            include_internal,
        }
    }

    /// The workspaces that it is about, ascending; empty when it is about no particular ones.
    #[must_use]
    pub fn workspaces(&self) -> &[WorkspaceId] {
        &self.workspaces
    }

    /// Whether it takes sessions without a workspace besides those of its workspaces.
    #[must_use]
    pub fn ungrouped(&self) -> bool {
        self.ungrouped
    }

    /// The kinds, ascending; empty is all.
    #[must_use]
    pub fn kinds(&self) -> &[ChangeKind] {
        &self.kinds
    }

    /// Whether it takes internal sessions.
    #[must_use]
    pub fn include_internal(&self) -> bool {
        self.include_internal
    }

    /// Whether a kind is wanted.
    #[must_use]
    pub fn wants(&self, kind: ChangeKind) -> bool {
        self.kinds.is_empty() || self.kinds.contains(&kind)
    }

    /// Whether it names no places.
    fn is_everywhere(&self) -> bool {
        self.workspaces.is_empty() && !self.ungrouped
    }

    /// How a watcher with this filter sees an entry; `None` if it does not.
    #[must_use]
    pub fn see<'a>(&self, change: &'a NewChange, visibility: &Visibility) -> Option<SeenChange<'a>> {
        if change.internal && !self.include_internal {
            return None;
        }
        let stands_for_sessions = change.kind == ChangeKind::Workspace && change.session_count > 0;
        let is_wanted = self.wants(change.kind)
            || (stands_for_sessions && self.wants(ChangeKind::Session))
            || (stands_for_selections(change) && self.wants(ChangeKind::Selection));
        if !is_wanted {
            return None;
        }
        let now = change.workspace_id.as_ref();
        let visible = |place: Option<&WorkspaceId>| match (visibility, place) {
            (Visibility::All, _) => true,
            (Visibility::Only(_), Some(id)) => visibility.includes(id),
            (Visibility::Only(_), None) => false,
        };
        // The sessions of a removed workspace that are kept are without one from now on.
        let joins_ungrouped = stands_for_sessions
            && change.reason == ChangeReason::RemovedSessionsKept
            && self.ungrouped
            && self.wants(ChangeKind::Session);
        // Nobody but the log knows of which workspaces a deleted profile was the selected one.
        let ends_selections = change.kind == ChangeKind::Profile
            && stands_for_selections(change)
            && self.wants(ChangeKind::Selection)
            && (self.is_everywhere() || !self.workspaces.is_empty());
        if ends_selections || (visible(now) && (self.holds(change.kind, now) || joins_ungrouped)) {
            return Some(SeenChange {
                op: change.op,
                reason: change.reason,
                workspace_id: now,
                from_workspace_id: change.from_workspace_id.as_ref().filter(|id| visible(Some(id))),
            });
        }
        let before = place_before(change)?;
        (visible(before) && self.holds(change.kind, before)).then_some(SeenChange {
            op: ChangeOp::Deleted,
            reason: ChangeReason::Left,
            workspace_id: before,
            from_workspace_id: None,
        })
    }

    /// Whether a place is one of the filter's.
    fn holds(&self, kind: ChangeKind, place: Option<&WorkspaceId>) -> bool {
        match place {
            _ if self.is_everywhere() => true,
            Some(id) => self.workspaces.binary_search(id).is_ok(),
            None => self.ungrouped && kind == ChangeKind::Session,
        }
    }
}

/// Whether an entry stands for the end of selections: that of a removed workspace, those of a deleted profile.
fn stands_for_selections(change: &NewChange) -> bool {
    change.op == ChangeOp::Deleted && matches!(change.kind, ChangeKind::Workspace | ChangeKind::Profile)
}

/// Where a session was before, if the entry says that it is somewhere else now. The inner `None` is no workspace.
fn place_before(change: &NewChange) -> Option<Option<&WorkspaceId>> {
    match (&change.from_workspace_id, change.reason) {
        (Some(id), _) => Some(Some(id)),
        (None, ChangeReason::Attached) => Some(None),
        (None, _) => None,
    }
}

impl Thing {
    /// What an entry is about.
    #[must_use]
    pub fn of(change: &NewChange) -> Self {
        // A session is the same one wherever it is.
        let by_place = change.kind != ChangeKind::Session;
        Self {
            kind: change.kind,
            workspace_id: change.workspace_id.clone().filter(|_| by_place),
            session_id: change.session_id.clone(),
            // A selection is the same one whatever is selected.
            profile_id: change
                .profile_id
                .clone()
                .filter(|_| change.kind == ChangeKind::Profile),
        }
    }
}

#[cfg(test)]
mod tests;
