//! An entry of the change log as the checker compares it, and which entries a watcher wants.

use std::collections::BTreeSet;
use std::fmt;

use compozy_proto::change::v1::{Change, ChangeKind, ChangeOp, ChangeReason};

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
}

/// What of an entry every reader sees alike. No two entries of a log are equal: of a record the version rises, and
/// two moves of one workspace are written at two times.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Entry {
    pub(crate) kind: ChangeKind,
    pub(crate) op: ChangeOp,
    pub(crate) reason: ChangeReason,
    pub(crate) workspace: String,
    /// The profile itself, or the one that is selected.
    pub(crate) profile: String,
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
            profile: change.profile_id.clone(),
            version: change.version,
            at: i128::from(at.seconds) * 1_000_000_000 + i128::from(at.nanos),
        }
    }

    /// The record that it is about; of a move the moved one.
    pub(crate) fn record(&self) -> Record {
        match self.kind {
            ChangeKind::Profile => Record::Profile(self.profile.clone()),
            ChangeKind::Selection => Record::Selection(self.workspace.clone()),
            _ => Record::Workspace(self.workspace.clone()),
        }
    }

    /// Whether it counts the versions of a record up.
    pub(crate) fn is_of_record(&self) -> bool {
        self.kind != ChangeKind::WorkspaceOrder
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
            profile,
            version,
            ..
        } = self;
        let of = format!("{workspace} {profile}");
        write!(formatter, "{kind:?} {reason:?} {} v{version}", of.trim())
    }
}

/// The filter of a watch, as the contract words it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Filter {
    /// Empty is all.
    pub(crate) kinds: BTreeSet<ChangeKind>,
    /// Ids; empty is all.
    pub(crate) workspaces: BTreeSet<String>,
}

impl Filter {
    pub(crate) fn wants(&self, entry: &Entry) -> bool {
        (self.takes(entry.kind) && self.holds(&entry.workspace)) || self.loses_selections(entry)
    }

    /// Whether it looks at selections that end with a record. Those of a profile may be anywhere.
    fn loses_selections(&self, entry: &Entry) -> bool {
        let may_be_there = match entry.kind {
            ChangeKind::Workspace => self.holds(&entry.workspace),
            ChangeKind::Profile => true,
            _ => false,
        };
        entry.op == ChangeOp::Deleted && self.takes(ChangeKind::Selection) && may_be_there
    }

    fn takes(&self, kind: ChangeKind) -> bool {
        self.kinds.is_empty() || self.kinds.contains(&kind)
    }

    /// Whether it looks at a workspace, or, of an empty one, at what belongs to none.
    fn holds(&self, workspace: &str) -> bool {
        self.workspaces.is_empty() || self.workspaces.contains(workspace)
    }

    /// Whether a snapshot shows a record, and whoever follows it knows what has become of it.
    pub(crate) fn shows(&self, record: &Record) -> bool {
        match record {
            Record::Workspace(id) => self.takes(ChangeKind::Workspace) && self.holds(id),
            Record::Profile(_) => self.takes(ChangeKind::Profile) && self.holds(""),
            Record::Selection(id) => self.takes(ChangeKind::Selection) && self.holds(id),
        }
    }
}
