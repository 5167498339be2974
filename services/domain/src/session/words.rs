//! The words of a session: what it is for, where it stands, why it ended.

use crate::change::stored_words;

/// What a session is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SessionType {
    /// A person's.
    User,
    /// The product's own.
    System,
    /// It steers others.
    Coordinator,
    /// Started by another session.
    Spawned,
    /// Background work on memories. Internal.
    Dream,
}

stored_words!(SessionType {
    User = "user",
    System = "system",
    Coordinator = "coordinator",
    Spawned = "spawned",
    Dream = "dream",
});

/// Where a session stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SessionState {
    /// Created or resumed; its runtime has not reported yet.
    Starting,
    /// Running.
    Active,
    /// Asked to stop.
    Stopping,
    /// Over.
    Stopped,
    /// Over, and its files are gone.
    Orphaned,
}

stored_words!(SessionState {
    Starting = "starting",
    Active = "active",
    Stopping = "stopping",
    Stopped = "stopped",
    Orphaned = "orphaned",
});

impl SessionState {
    /// All of them, in their order.
    pub const ALL: [Self; 5] = [
        Self::Starting,
        Self::Active,
        Self::Stopping,
        Self::Stopped,
        Self::Orphaned,
    ];

    /// Whether a session in this state is not over.
    #[must_use]
    pub const fn is_live(self) -> bool {
        matches!(self, Self::Starting | Self::Active | Self::Stopping)
    }
}

/// Whether a program runs a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RuntimeState {
    /// None.
    None,
    /// One holds the lease.
    Bound,
    /// The one that held it has gone without a word.
    Lost,
}

stored_words!(RuntimeState {
    None = "none",
    Bound = "bound",
    Lost = "lost",
});

/// What an agent may do without asking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PermissionMode {
    /// Nothing.
    DenyAll,
    /// Read.
    ApproveReads,
    /// Everything.
    ApproveAll,
}

stored_words!(PermissionMode {
    DenyAll = "deny-all",
    ApproveReads = "approve-reads",
    ApproveAll = "approve-all",
});

/// Why somebody wants a session to stop, or why its runtime ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StopCause {
    /// The machine or the runtime shuts down.
    Shutdown,
    /// A hook forbade it to go on.
    Hook,
    /// A person.
    User,
    /// The agent's process ended.
    ProcessExit,
    /// It took too long.
    Timeout,
    /// Its context was cleared.
    Clear,
    /// It was taken back to an earlier point.
    Rewind,
    /// It was done.
    Completed,
    /// It failed.
    Failed,
}

stored_words!(StopCause {
    Shutdown = "shutdown",
    Hook = "hook",
    User = "user",
    ProcessExit = "process_exit",
    Timeout = "timeout",
    Clear = "clear",
    Rewind = "rewind",
    Completed = "completed",
    Failed = "failed",
});

/// The classification of a stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum StopReason {
    Shutdown,
    HookStopped,
    UserCanceled,
    MaxIterations,
    LoopDetected,
    BudgetExceeded,
    AgentCrashed,
    Error,
    Timeout,
    Completed,
}

stored_words!(StopReason {
    Shutdown = "shutdown",
    HookStopped = "hook_stopped",
    UserCanceled = "user_canceled",
    MaxIterations = "max_iterations",
    LoopDetected = "loop_detected",
    BudgetExceeded = "budget_exceeded",
    AgentCrashed = "agent_crashed",
    Error = "error",
    Timeout = "timeout",
    Completed = "completed",
});

/// What went wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum FailureKind {
    StartupFailure,
    HandshakeFailure,
    LoadSessionFailure,
    ProtocolFailure,
    PromptFailure,
    Cancellation,
    PermissionFailure,
    ProviderAuthFailure,
    ProcessExit,
    TransportFailure,
    Timeout,
    UnknownFailure,
}

stored_words!(FailureKind {
    StartupFailure = "startup_failure",
    HandshakeFailure = "handshake_failure",
    LoadSessionFailure = "load_session_failure",
    ProtocolFailure = "protocol_failure",
    PromptFailure = "prompt_failure",
    Cancellation = "cancellation",
    PermissionFailure = "permission_failure",
    ProviderAuthFailure = "provider_auth_failure",
    ProcessExit = "process_exit",
    TransportFailure = "transport_failure",
    Timeout = "timeout",
    UnknownFailure = "unknown_failure",
});

/// Who comes first in the order by attention.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum AttentionClass {
    /// It failed, or waits for somebody.
    NeedsYou,
    /// A turn has settled that nobody has seen.
    Finished,
    /// Everything else.
    Rest,
}

impl AttentionClass {
    /// The number that is stored and sorted by, ascending.
    #[must_use]
    pub const fn number(self) -> i64 {
        match self {
            Self::NeedsYou => 0,
            Self::Finished => 1,
            Self::Rest => 2,
        }
    }

    /// Reads a stored number; `None` for one of a newer release.
    #[must_use]
    pub const fn of_number(number: i64) -> Option<Self> {
        match number {
            0 => Some(Self::NeedsYou),
            1 => Some(Self::Finished),
            2 => Some(Self::Rest),
            _ => None,
        }
    }
}
