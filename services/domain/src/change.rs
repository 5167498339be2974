//! The change log's words. Every mutation appends entries in its own transaction; a position is given to
//! each, dense and the same for every reader.

use crate::clock::Timestamp;
use crate::id::{HostId, ProfileId, SessionId, WorkspaceId};

/// What an entry is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ChangeKind {
    /// A workspace's record.
    Workspace,
    /// The manual order of the workspaces.
    WorkspaceOrder,
    /// A session's record.
    Session,
    /// The order of the sessions of a workspace.
    AccountOrder,
    /// A profile.
    Profile,
    /// Which profile is selected.
    Selection,
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
    /// A record was made.
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
    /// A place in an order changed.
    Moved,
    /// A record was removed that stood for no other.
    Removed,
    /// A registration was removed; its sessions were kept, without a workspace.
    RemovedSessionsKept,
    /// A registration was removed together with its sessions.
    RemovedSessionsDeleted,
    /// A session changed its state.
    State,
    /// A session was archived.
    Archived,
    /// A session is no longer archived.
    Unarchived,
    /// A session was attached to a workspace. Without one it came from, it was in none.
    Attached,
    /// A session was detached from its workspace.
    Detached,
    /// Who is attached to a session changed.
    AttachLease,
    /// The badge of a session changed.
    Badge,
    /// The health of a session changed.
    Health,
    /// A session was seen by a person.
    Seen,
    /// The ledger of a session was written.
    Ledger,
    /// A session went where a watcher does not look. Never stored: only watchers see it.
    Left,
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

stored_words!(ChangeKind {
    Workspace = "workspace",
    WorkspaceOrder = "workspace_order",
    Session = "session",
    AccountOrder = "account_order",
    Profile = "profile",
    Selection = "selection",
});
stored_words!(ChangeOp { Upserted = "upserted", Deleted = "deleted" });
stored_words!(ChangeReason {
    Created = "created",
    Renamed = "renamed",
    Updated = "updated",
    Relinked = "relinked",
    Status = "status",
    Identity = "identity",
    Moved = "moved",
    Removed = "removed",
    RemovedSessionsKept = "removed_sessions_kept",
    RemovedSessionsDeleted = "removed_sessions_deleted",
    State = "state",
    Archived = "archived",
    Unarchived = "unarchived",
    Attached = "attached",
    Detached = "detached",
    AttachLease = "attach_lease",
    Badge = "badge",
    Health = "health",
    Seen = "seen",
    Ledger = "ledger",
    Left = "left",
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
    /// Host of the workspace or session.
    pub host_id: HostId,
    /// The workspace: the record, the moved one of an order, or the one that a session belongs to.
    pub workspace_id: Option<WorkspaceId>,
    /// The workspace that a session has left.
    pub from_workspace_id: Option<WorkspaceId>,
    /// The session.
    pub session_id: Option<SessionId>,
    /// The profile.
    pub profile_id: Option<ProfileId>,
    /// Whether the session is an internal one.
    pub internal: bool,
    /// Version of the record after the operation; of a deletion the last one.
    pub version: i64,
    /// Number of sessions that a deletion stands for.
    pub session_count: i64,
    /// When: by the writer's clock, on Postgres by the database's.
    pub at: Timestamp,
}

impl NewChange {
    /// An entry about a workspace, or about its place in the order.
    #[must_use]
    pub fn of_workspace(
        kind: ChangeKind,
        (op, reason): (ChangeOp, ChangeReason),
        host_id: &HostId,
        workspace_id: &WorkspaceId,
        version: i64,
        at: Timestamp,
    ) -> Self {
        Self {
            kind,
            op,
            reason,
            host_id: host_id.clone(),
            workspace_id: Some(workspace_id.clone()),
            from_workspace_id: None,
            session_id: None,
            profile_id: None,
            internal: false,
            version,
            session_count: 0,
            at,
        }
    }
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
