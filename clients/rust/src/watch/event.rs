//! What a watch hands out.

use std::time::Duration;

use compozy_proto::change::v1::{Change, ChangeOp, ResyncReason, Row};

use crate::Error;

/// One event of a watch.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum WatchEvent {
    /// Something is new or has changed. Its `version` tells whether the reader knows it already.
    Changed(Change),
    /// Something is gone, or has left what is watched.
    Removed(Change),
    /// A row of the snapshot. All of them come before `Synced`.
    Row(Row),
    /// Everything from before was handed out; from here on it is live. Comes once, after the snapshot or the missed
    /// changes, and again only when a `Resync` was part of a new beginning: a reconnect that missed nothing is
    /// not told.
    Synced,
    /// Changes are missing: what it names has to be read again. It goes on from now.
    Resync {
        /// The workspaces that are unknown; empty is everything that the watch looks at.
        workspace_ids: Vec<String>,
        /// Why.
        reason: ResyncCause,
    },
}

/// Why something is unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ResyncCause {
    /// The token's next change is no longer retained, and the request asked to go on.
    Expired,
    /// The store was restored or has failed over.
    Epoch,
    /// This side read so slowly that changes went before it read them.
    Behind,
    /// The connection was cut in the middle of the snapshot. It begins again: forget the rows so far.
    SnapshotCut,
    /// A reason of a newer server.
    Other,
}

/// What happens to the connection of a watch. Nothing has to be done about it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum WatchNotice {
    /// The connection has ended; a new one is made.
    Reconnecting {
        /// Which attempt this is since the server last said something, from 1.
        attempt: u32,
        /// How long it waits before.
        delay: Duration,
        /// What happened; `None` when the server asked to come again.
        error: Option<Error>,
    },
    /// The new connection works, and nothing was missed unless a `Resync` follows.
    Reconnected,
}

impl WatchEvent {
    /// The event that a change is.
    pub(super) fn of(change: Change) -> Self {
        match change.op() {
            ChangeOp::Deleted => Self::Removed(change),
            // An operation of a newer server leaves something to look at.
            ChangeOp::Upserted | ChangeOp::Unspecified => Self::Changed(change),
        }
    }
}

impl From<ResyncReason> for ResyncCause {
    fn from(reason: ResyncReason) -> Self {
        match reason {
            ResyncReason::Expired => Self::Expired,
            ResyncReason::Epoch => Self::Epoch,
            ResyncReason::Behind => Self::Behind,
            ResyncReason::Unspecified => Self::Other,
        }
    }
}
