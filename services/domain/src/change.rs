//! The change log's words. Every mutation appends entries in its own transaction; a position is given to
//! each, dense and the same for every reader.

use crate::clock::Timestamp;
use crate::id::{HostId, WorkspaceId};

/// What an entry is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ChangeKind {
    /// A workspace's record.
    Workspace,
    /// The manual order of the workspaces.
    WorkspaceOrder,
}

/// What happened to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ChangeOp {
    /// It is there, new or changed.
    Upserted,
    /// It is gone.
    Deleted,
}

/// Which operation wrote the entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ChangeReason {
    /// A registration was made.
    Created,
    /// A name changed.
    Renamed,
    /// Another field changed.
    Updated,
    /// A root moved to another path.
    Relinked,
    /// The observer saw another status.
    Status,
    /// The durable id of the record changed.
    Identity,
    /// A place in the order changed.
    Moved,
    /// A registration was removed; its sessions were kept, without a workspace.
    RemovedSessionsKept,
    /// A registration was removed together with its sessions.
    RemovedSessionsDeleted,
}

macro_rules! stored_words {
    ($name:ident { $($variant:ident = $word:literal),+ $(,)? }) => {
        impl $name {
            /// The word that is stored and sent.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }

            /// Reads a stored word; `None` for one of a newer release.
            #[must_use]
            pub fn parse(word: &str) -> Option<Self> {
                match word { $($word => Some(Self::$variant),)+ _ => None }
            }
        }
    };
}
pub(crate) use stored_words;

stored_words!(ChangeKind { Workspace = "workspace", WorkspaceOrder = "workspace_order" });
stored_words!(ChangeOp { Upserted = "upserted", Deleted = "deleted" });
stored_words!(ChangeReason {
    Created = "created",
    Renamed = "renamed",
    Updated = "updated",
    Relinked = "relinked",
    Status = "status",
    Identity = "identity",
    Moved = "moved",
    RemovedSessionsKept = "removed_sessions_kept",
    RemovedSessionsDeleted = "removed_sessions_deleted",
});

/// An entry to append. Its position is given later: on SQLite inside the write, on Postgres after commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewChange {
    /// What it is about.
    pub kind: ChangeKind,
    /// What happened.
    pub op: ChangeOp,
    /// Which operation.
    pub reason: ChangeReason,
    /// Host of the workspace.
    pub host_id: HostId,
    /// The workspace.
    pub workspace_id: WorkspaceId,
    /// Version of the record after the operation; of a deletion the last one.
    pub version: i64,
    /// Number of sessions that a deletion stands for.
    pub session_count: i64,
    /// When, by the writer's clock.
    pub at: Timestamp,
}

/// An entry with its position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangeEntry {
    /// Place in the log, from 1, without gaps. Who has seen a position never later finds something below it.
    pub position: i64,
    /// The entry.
    pub change: NewChange,
}

/// A position in the log of one epoch. A restored or rewound store starts a new epoch, in which old
/// positions mean nothing.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Revision {
    /// Random text that names the epoch.
    pub epoch: String,
    /// Everything up to this position was seen.
    pub position: i64,
}
