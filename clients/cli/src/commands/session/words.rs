//! The words of sessions as people type them; those of the API are taken, too.

use clap::ValueEnum;
use compozy_client::proto::session::v1::{
    PermissionMode, RuntimeState, SessionBadge, SessionSort, SessionState, SessionType, StopCause,
};

/// Where a session stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum State {
    Starting,
    Active,
    Stopping,
    Stopped,
    /// Over, and its files are gone
    Orphaned,
}

/// What a session is for.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(super) enum Type {
    User,
    System,
    Coordinator,
    Spawned,
    Dream,
}

/// Whether a program runs it.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(super) enum RuntimeWord {
    None,
    Bound,
    Lost,
}

/// The one word to show for it.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(super) enum Badge {
    Failed,
    #[value(alias = "waiting_for_auth")]
    WaitingForAuth,
    #[value(alias = "waiting_for_input")]
    WaitingForInput,
    Stopped,
    Hung,
    Unhealthy,
    Running,
    Done,
    Idle,
    Unknown,
}

/// What its agent may do without asking.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(super) enum Permission {
    #[value(alias = "deny_all")]
    DenyAll,
    #[value(alias = "approve_reads")]
    ApproveReads,
    #[value(alias = "approve_all")]
    ApproveAll,
}

/// Why it is to stop.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(super) enum Cause {
    /// A person wants it
    User,
    Completed,
    Failed,
    Timeout,
    Shutdown,
    Hook,
    #[value(alias = "process_exit")]
    ProcessExit,
    Clear,
    Rewind,
}

/// The order of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Sort {
    /// Latest change first
    Recent,
    /// Latest activity first
    #[value(name = "last_activity", alias = "last-activity")]
    LastActivity,
    /// As people have put them; of one workspace only
    Manual,
    /// Those that need you first
    Attention,
}

impl From<State> for SessionState {
    fn from(state: State) -> Self {
        match state {
            State::Starting => Self::Starting,
            State::Active => Self::Active,
            State::Stopping => Self::Stopping,
            State::Stopped => Self::Stopped,
            State::Orphaned => Self::Orphaned,
        }
    }
}

impl From<Type> for SessionType {
    fn from(r#type: Type) -> Self {
        match r#type {
            Type::User => Self::User,
            Type::System => Self::System,
            Type::Coordinator => Self::Coordinator,
            Type::Spawned => Self::Spawned,
            Type::Dream => Self::Dream,
        }
    }
}

impl From<RuntimeWord> for RuntimeState {
    fn from(runtime: RuntimeWord) -> Self {
        match runtime {
            RuntimeWord::None => Self::None,
            RuntimeWord::Bound => Self::Bound,
            RuntimeWord::Lost => Self::Lost,
        }
    }
}

impl From<Badge> for SessionBadge {
    fn from(badge: Badge) -> Self {
        match badge {
            Badge::Failed => Self::Failed,
            Badge::WaitingForAuth => Self::WaitingForAuth,
            Badge::WaitingForInput => Self::WaitingForInput,
            Badge::Stopped => Self::Stopped,
            Badge::Hung => Self::Hung,
            Badge::Unhealthy => Self::Unhealthy,
            Badge::Running => Self::Running,
            Badge::Done => Self::Done,
            Badge::Idle => Self::Idle,
            Badge::Unknown => Self::Unknown,
        }
    }
}

impl From<Permission> for PermissionMode {
    fn from(permission: Permission) -> Self {
        match permission {
            Permission::DenyAll => Self::DenyAll,
            Permission::ApproveReads => Self::ApproveReads,
            Permission::ApproveAll => Self::ApproveAll,
        }
    }
}

impl From<Cause> for StopCause {
    fn from(cause: Cause) -> Self {
        match cause {
            Cause::User => Self::User,
            Cause::Completed => Self::Completed,
            Cause::Failed => Self::Failed,
            Cause::Timeout => Self::Timeout,
            Cause::Shutdown => Self::Shutdown,
            Cause::Hook => Self::Hook,
            Cause::ProcessExit => Self::ProcessExit,
            Cause::Clear => Self::Clear,
            Cause::Rewind => Self::Rewind,
        }
    }
}

impl From<Sort> for SessionSort {
    fn from(sort: Sort) -> Self {
        match sort {
            Sort::Recent => Self::Recent,
            Sort::LastActivity => Self::LastActivity,
            Sort::Manual => Self::Manual,
            Sort::Attention => Self::Attention,
        }
    }
}

/// The API's values of several words.
pub(super) fn values<W: Copy, T: From<W> + Into<i32>>(words: &[W]) -> Vec<i32> {
    words.iter().map(|word| T::from(*word).into()).collect()
}
