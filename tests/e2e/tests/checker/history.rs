//! What happened in a lap: each write with its answer, each watcher with every message that it got, and what was done
//! to the servers. A lap is short, so all of it fits in memory.

use std::collections::BTreeMap;
use std::time::Instant;

use compozy_proto::change::v1::ResyncReason;

use crate::catalog::{Catalog, Row, State};
use crate::entry::{Entry, Filter, Position, Record};

/// Everything that the check looks at.
#[derive(Debug, Default)]
pub(crate) struct History {
    pub(crate) writes: Vec<Write>,
    pub(crate) watchers: Vec<Watcher>,
    pub(crate) lies: Vec<Lie>,
    pub(crate) log: Log,
    /// What each server lists in the end.
    pub(crate) lists: Vec<Catalog>,
    /// When new epochs were begun.
    pub(crate) epochs: Vec<Span>,
    /// When a server or the store was kept from answering.
    pub(crate) outages: Vec<Span>,
}

/// From before until after.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Span {
    pub(crate) begun: Instant,
    pub(crate) ended: Instant,
}

/// The log as it was read from the database itself, piece by piece.
#[derive(Debug, Default)]
pub(crate) struct Log {
    pub(crate) entries: BTreeMap<Position, Entry>,
    /// Everything up to it was trimmed in the end.
    pub(crate) floor: Position,
    /// The newest one when nothing was written any more; what comes later is the observer's.
    pub(crate) quiet: Position,
    /// Positions that were found below one that had been seen before, or that changed.
    pub(crate) unsteady: Vec<Position>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Action {
    Register,
    Retitle,
    Rename,
    Relink,
    Move,
    Remove,
    CreateProfile,
    UpdateProfile,
    RenameProfile,
    ArchiveProfile,
    UnarchiveProfile,
    DeleteProfile,
    /// Of a profile that was never selected there before, so that there is one entry of it.
    Select,
    /// Of a profile that was selected there before, and perhaps still is.
    SelectAgain,
    Forget,
    CreateSession,
    RenameSession,
    LabelSession,
    /// A stop, the runtime's last word, a resume.
    ChangeState,
    /// A heartbeat that changes what the runtime waits for.
    Beat,
    ArchiveSession,
    UnarchiveSession,
    /// An operator's lease.
    Enter,
    DeleteSession,
    Attach,
    Detach,
    MoveSession,
}

impl Action {
    /// Whether its entry is about an order and tells no version of its own.
    pub(crate) fn is_move(self) -> bool {
        matches!(self, Self::Move | Self::MoveSession)
    }

    /// Whether its answer does not say which entry is its own.
    pub(crate) fn is_nameless(self) -> bool {
        self.is_move() || matches!(self, Self::Attach | Self::Detach)
    }
}

/// One write of one writer.
#[derive(Debug, Clone)]
pub(crate) struct Write {
    pub(crate) action: Action,
    /// What it is about: without an id if it was to be made and that was not answered.
    pub(crate) record: Record,
    /// The profile that it selects; empty for the others.
    pub(crate) selects: String,
    pub(crate) begun: Instant,
    pub(crate) outcome: Outcome,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Outcome {
    /// It was carried out.
    Answered {
        ended: Instant,
        /// Version of the record in the answer; 0 where an answer carries none.
        version: i64,
        /// Whether it changed anything.
        wrote: bool,
    },
    /// It was carried out, and the answer does not say whether that changed anything.
    Unsaid,
    /// It was refused, and wrote nothing.
    Refused,
    /// No answer came, or one that leaves it open.
    Unknown,
}

/// A client that watches: one stream after the other with one filter.
#[derive(Debug, Default)]
pub(crate) struct Watcher {
    pub(crate) streams: Vec<Stream>,
    /// It came back to a quiet server again and again, and never got to `synced`.
    pub(crate) stranded: bool,
}

/// One call of WatchCatalog.
#[derive(Debug)]
pub(crate) struct Stream {
    pub(crate) server: usize,
    pub(crate) filter: Filter,
    pub(crate) origin: Origin,
    pub(crate) include_rows: bool,
    /// Just before the call.
    pub(crate) opened: Instant,
    pub(crate) received: Vec<Received>,
    pub(crate) end: End,
    /// It read all the time, from a quiet server: nothing may be coalesced.
    pub(crate) exact: bool,
    /// Nothing is written any more, and it was waited for everything.
    pub(crate) complete: bool,
}

/// Where a stream began.
#[derive(Debug, Clone)]
pub(crate) enum Origin {
    Now,
    Snapshot,
    Earliest,
    /// After a message of an earlier stream of the same watcher.
    Token {
        stream: usize,
        event: usize,
    },
    /// The revision of a page; its rows if it was the whole list.
    Page {
        answered: Instant,
        listed: Listed,
        rows: Option<Catalog>,
    },
    /// The revision in the answer to the write that led to this state.
    Answer {
        record: Record,
        state: State,
    },
}

/// What a page lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Listed {
    Workspaces,
    Profiles,
    Sessions,
}

#[derive(Debug, Clone)]
pub(crate) struct Received {
    pub(crate) at: Instant,
    pub(crate) event: Event,
}

/// A message, or one of the changes of a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Event {
    /// A change, and the row that rode along.
    Change {
        entry: Entry,
        row: Option<Row>,
    },
    SnapshotRow(Row),
    Synced,
    Heartbeat,
    Resync {
        /// Empty is everything.
        workspaces: Vec<String>,
        reason: ResyncReason,
    },
    GoingAway,
}

/// How a stream ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum End {
    /// The watcher went away.
    Left,
    /// The server ended it with OK.
    Ok,
    /// The server ended it with a reason of the contract.
    Refused(String),
    /// The server could not serve it, or the connection broke.
    Broken(String),
    /// Neither a message nor an end came for a long time.
    Silent,
}

impl End {
    /// A workspace of the filter is not there.
    pub(crate) fn gone() -> Self {
        Self::Refused("WORKSPACE_NOT_FOUND".to_owned())
    }
}

/// A token that no stream may accept.
#[derive(Debug, Clone)]
pub(crate) struct Lie {
    pub(crate) what: &'static str,
    pub(crate) end: End,
    /// Whether a message came.
    pub(crate) accepted: bool,
}
