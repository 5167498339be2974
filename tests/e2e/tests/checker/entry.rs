//! An entry of the change log as the checker compares it, and which entries a watcher wants.

use std::collections::BTreeSet;
use std::fmt;

use compozy_proto::change::v1::{Change, ChangeKind, ChangeOp, ChangeReason, RemovedSessions};

use crate::catalog::State;

/// Where an entry stands in the log.
pub(crate) type Position = i64;

/// Something that the catalog holds.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Record {
    /// By its id, as the next one.
    Workspace(String),
    Profile(String),
    /// Which profile is remembered for a workspace; of an empty one for everything else.
    Selection(String),
    Session(String),
}

/// An entry of the log, or what a watcher sees of it. No two entries of a log are equal: of a record the version rises,
/// and two moves in one order are written at two times.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Entry {
    pub(crate) kind: ChangeKind,
    pub(crate) op: ChangeOp,
    pub(crate) reason: ChangeReason,
    pub(crate) workspace: String,
    /// Where a session was before, if that changed.
    pub(crate) from: String,
    pub(crate) session: String,
    /// The profile itself, or the one that is selected.
    pub(crate) profile: String,
    /// What became of the sessions of a removed workspace, and how many there were.
    pub(crate) removed: RemovedSessions,
    pub(crate) session_count: i64,
    pub(crate) version: i64,
    /// Nanoseconds since 1970.
    pub(crate) at: i128,
}

impl Entry {
    /// The entry that a change tells of.
    pub(crate) fn of(change: &Change) -> Self {
        let at = change.at.unwrap_or_default();
        Self {
            kind: change.kind(),
            op: change.op(),
            reason: change.reason(),
            workspace: change.workspace_id.clone(),
            from: change.from_workspace_id.clone(),
            session: change.session_id.clone(),
            profile: change.profile_id.clone(),
            removed: change.removed_sessions(),
            session_count: change.session_count,
            version: change.version,
            at: i128::from(at.seconds) * 1_000_000_000 + i128::from(at.nanos),
        }
    }

    /// The record that it is about; of a move the moved one.
    pub(crate) fn record(&self) -> Record {
        match self.kind {
            ChangeKind::Profile => Record::Profile(self.profile.clone()),
            ChangeKind::Selection => Record::Selection(self.workspace.clone()),
            ChangeKind::Session | ChangeKind::AccountOrder => Record::Session(self.session.clone()),
            _ => Record::Workspace(self.workspace.clone()),
        }
    }

    /// Whether it counts the versions of a record up.
    pub(crate) fn is_of_record(&self) -> bool {
        !matches!(self.kind, ChangeKind::WorkspaceOrder | ChangeKind::AccountOrder)
    }

    /// What tells it from every other one, however it is seen: one of a session is seen as a deletion by those whose
    /// workspaces it has left.
    pub(crate) fn identity(&self) -> Self {
        if self.kind != ChangeKind::Session {
            return self.clone();
        }
        Self {
            op: ChangeOp::Unspecified,
            reason: ChangeReason::Unspecified,
            workspace: String::new(),
            from: String::new(),
            ..self.clone()
        }
    }

    /// Whether it stands for what became of sessions of a removed workspace.
    fn stands_for_sessions(&self) -> bool {
        self.kind == ChangeKind::Workspace && self.session_count > 0
    }

    /// Where its session was before, if it says that it is somewhere else now.
    pub(crate) fn place_before(&self) -> Option<&str> {
        let moved = !self.from.is_empty() || self.reason == ChangeReason::Attached;
        moved.then_some(self.from.as_str())
    }

    /// Whether nothing can follow of its record. A selection that was forgotten can be made again.
    pub(crate) fn is_removal(&self) -> bool {
        self.op == ChangeOp::Deleted && self.kind != ChangeKind::Selection
    }
}

impl fmt::Display for Entry {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            kind,
            reason,
            workspace,
            session,
            profile,
            version,
            ..
        } = self;
        let of = format!("{session} {workspace} {profile}");
        write!(formatter, "{kind:?} {reason:?} {} v{version}", of.trim())
    }
}

/// The filter of a watch, as the contract words it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Filter {
    /// Empty is all.
    pub(crate) kinds: BTreeSet<ChangeKind>,
    /// Ids; empty is all, unless only what is ungrouped is looked at.
    pub(crate) workspaces: BTreeSet<String>,
    /// Sessions without a workspace, too.
    pub(crate) ungrouped: bool,
}

impl Filter {
    pub(crate) fn wants(&self, entry: &Entry) -> bool {
        self.sees(entry).is_some()
    }

    /// How a watcher with this filter sees an entry of the log; `None` if it does not.
    pub(crate) fn sees(&self, entry: &Entry) -> Option<Entry> {
        let is_wanted = self.takes(entry.kind)
            || (entry.stands_for_sessions() && self.takes(ChangeKind::Session))
            || (ends_selections(entry) && self.takes(ChangeKind::Selection));
        if !is_wanted {
            return None;
        }
        // Kept sessions of a removed workspace are ungrouped from then on.
        let joins = self.is_told_only_the_number_by(entry);
        // Those of a profile may be anywhere.
        let ends = entry.kind == ChangeKind::Profile
            && ends_selections(entry)
            && self.takes(ChangeKind::Selection)
            && (self.is_everywhere() || !self.workspaces.is_empty());
        if joins || ends || self.holds(entry.kind, &entry.workspace) {
            return Some(entry.clone());
        }
        let before = entry.place_before()?;
        self.holds(entry.kind, before).then(|| Entry {
            op: ChangeOp::Deleted,
            reason: ChangeReason::Left,
            workspace: before.to_owned(),
            from: String::new(),
            ..entry.clone()
        })
    }

    /// Whether an entry ungroups sessions that it does not name, and whoever looks so does not know.
    pub(crate) fn is_told_only_the_number_by(&self, entry: &Entry) -> bool {
        entry.stands_for_sessions()
            && entry.removed == RemovedSessions::Kept
            && self.ungrouped
            && self.takes(ChangeKind::Session)
            && !self.holds(ChangeKind::Session, &entry.workspace)
    }

    fn takes(&self, kind: ChangeKind) -> bool {
        self.kinds.is_empty() || self.kinds.contains(&kind)
    }

    fn is_everywhere(&self) -> bool {
        self.workspaces.is_empty() && !self.ungrouped
    }

    /// Whether it looks at a workspace, or, of an empty one, at what belongs to none.
    fn holds(&self, kind: ChangeKind, workspace: &str) -> bool {
        if self.is_everywhere() {
            return true;
        }
        match workspace {
            "" => self.ungrouped && kind == ChangeKind::Session,
            workspace => self.workspaces.contains(workspace),
        }
    }

    /// Whether a snapshot shows a record that is so, and whoever follows it knows what has become of it.
    pub(crate) fn shows(&self, record: &Record, state: &State) -> bool {
        let (kind, place) = match (record, state) {
            (Record::Workspace(id), _) => (ChangeKind::Workspace, id.as_str()),
            (Record::Profile(_), _) => (ChangeKind::Profile, ""),
            (Record::Selection(id), _) => (ChangeKind::Selection, id.as_str()),
            (Record::Session(_), State::Session { workspace, .. }) => {
                (ChangeKind::Session, workspace.as_str())
            }
            (Record::Session(_), _) => (ChangeKind::Session, ""),
        };
        self.takes(kind) && self.holds(kind, place)
    }
}

/// Whether selections end with a record.
fn ends_selections(entry: &Entry) -> bool {
    entry.op == ChangeOp::Deleted && matches!(entry.kind, ChangeKind::Workspace | ChangeKind::Profile)
}
