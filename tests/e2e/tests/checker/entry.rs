//! An entry of the change log as the checker compares it, and which entries a watcher wants.

use std::collections::BTreeSet;
use std::fmt;

use compozy_proto::change::v1::{Change, ChangeKind, ChangeOp, ChangeReason};

/// Where an entry stands in the log.
pub(crate) type Position = i64;

/// What of an entry every reader sees alike. No two entries of a log are equal: of a record the version rises, and
/// two moves of one workspace are written at two times.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Entry {
    pub(crate) kind: ChangeKind,
    pub(crate) op: ChangeOp,
    pub(crate) reason: ChangeReason,
    pub(crate) workspace: String,
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
            version: change.version,
            at: i128::from(at.seconds) * 1_000_000_000 + i128::from(at.nanos),
        }
    }

    /// Whether it counts the versions of a record up.
    pub(crate) fn is_of_record(&self) -> bool {
        self.kind == ChangeKind::Workspace
    }

    pub(crate) fn is_removal(&self) -> bool {
        self.is_of_record() && self.op == ChangeOp::Deleted
    }
}

impl fmt::Display for Entry {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            kind,
            reason,
            workspace,
            version,
            ..
        } = self;
        write!(formatter, "{kind:?} {reason:?} {workspace} v{version}")
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
        (self.kinds.is_empty() || self.kinds.contains(&entry.kind)) && self.holds(&entry.workspace)
    }

    /// Whether it looks at a workspace.
    pub(crate) fn holds(&self, workspace: &str) -> bool {
        self.workspaces.is_empty() || self.workspaces.contains(workspace)
    }

    /// Whether whoever follows it knows every workspace that it holds.
    pub(crate) fn follows_records(&self) -> bool {
        self.kinds.is_empty() || self.kinds.contains(&ChangeKind::Workspace)
    }
}
