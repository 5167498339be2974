//! Everything that a caller may do wrong or meet, named after the situation. Each error has one reason;
//! the server maps a reason to a status in one place.

mod fault;
mod message;

use thiserror::Error;

pub use self::fault::{CursorFault, IdentityFault, PathConflict, PathFault, RootFault, SessionCwdFault};
use self::message::{
    archived_words, config_message, conflict_message, identity_message, outcome_words, path_message,
    quoted_cwd,
};

use crate::diagnostic::Diagnostic;
use crate::id::{SessionId, WorkspaceId};
use crate::session::SessionState;

/// The machine-readable cause of a failed call. The same words as `compozy.error.v1.ErrorReason`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Reason {
    InvalidField,
    CursorInvalid,
    RequestIdReused,
    PathNotAbsolute,
    PathNotDirectory,
    PathLoop,
    ConfigInvalid,
    NameInvalid,
    WorkspaceNotFound,
    SessionNotFound,
    ProfileNotFound,
    AgentNotFound,
    DefinitionNotFound,
    PathNotFound,
    WorkspaceNameConflict,
    WorkspacePathConflict,
    ProfileNameConflict,
    ProfileDirectoryExists,
    DirectoryExists,
    SessionIdConflict,
    WorkspaceRootMissing,
    WorkspaceRootNotDirectory,
    WorkspaceRootUnreadable,
    WorkspaceOnOtherHost,
    HostNotServed,
    WorkspaceReferenceAmbiguous,
    WorkspaceHasLiveSessions,
    WorkspaceMoveInvalid,
    SessionStateConflict,
    SessionArchived,
    SessionCwdMismatch,
    SessionCwdAbsent,
    SessionCwdNotFound,
    SessionCwdNotDirectory,
    IdentityInvalid,
    IdentityUnwritable,
    IdentityMismatch,
    HomeForbidden,
    FingerprintStale,
    ProfilePermanent,
    ProfileInUse,
    ProfileArchived,
    RecordNotUnderstood,
    EtagMismatch,
    LeaseHeld,
    LeaseLost,
    ResumeTokenExpired,
    TooManyWatchers,
    RateLimited,
    MessageTooLarge,
    DiskFull,
    DeadlineExceeded,
    PathNotAllowed,
    PathUnreadable,
    IdentityUnreadable,
    ScopeDenied,
    TokenMissing,
    TokenInvalid,
    StoreUnavailable,
    Draining,
    MethodUnknown,
    StoreCorrupt,
    Defect,
}

/// Every failure that is no defect.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum CatalogError {
    /// A field of the request.
    #[error("{field} {problem}")]
    InvalidField {
        /// Path of the field in the request.
        field: String,
        /// Which rule it breaks.
        problem: String,
    },
    /// A name of a workspace.
    #[error("choose another name: {problem}")]
    InvalidName {
        /// Which rule it breaks.
        problem: String,
    },
    /// A path, as written by the caller in `field`.
    #[error("{}", path_message(.path, *.fault))]
    Path {
        /// Path of the field in the request; empty when the path comes from a record.
        field: String,
        /// The path.
        path: String,
        /// What is wrong with it.
        fault: PathFault,
    },
    /// A cursor.
    #[error("the cursor can't be used ({}): start the list again without it", .0.as_str())]
    Cursor(CursorFault),
    /// A resume token.
    #[error("the resume token can't be used ({}): watch with the filters that it was made with, or start anew with a snapshot", .0.as_str())]
    ResumeToken(CursorFault),
    /// A request id that was used for another request.
    #[error("this request_id was used for a different request: send a new one")]
    RequestIdReused,
    /// The daemon's configuration, or the files of a workspace. Every problem at once.
    #[error("{}", config_message(.problems))]
    Config {
        /// What is wrong, sorted; at least one, all of severity error.
        problems: Vec<Diagnostic>,
    },
    /// No such workspace for this caller.
    #[error("no workspace matches '{reference}': list them, or register the directory")]
    WorkspaceNotFound {
        /// The reference as the caller gave it.
        reference: String,
    },
    /// No such session for this caller.
    #[error("no session has the id '{id}': list the sessions")]
    SessionNotFound {
        /// The id as the caller gave it.
        id: String,
    },
    /// The id of a new session is or was in use.
    #[error("the session id '{id}' is or was in use: choose another one, or leave it out")]
    SessionIdConflict {
        /// The id.
        id: String,
    },
    /// The state of a session does not allow the call.
    #[error("the session '{id}' is {}: {remedy}", .state.as_str())]
    SessionState {
        /// The session.
        id: SessionId,
        /// Its state.
        state: SessionState,
        /// What to do.
        remedy: &'static str,
    },
    /// The session is archived.
    #[error("the session '{id}' is archived: unarchive it first")]
    SessionArchived {
        /// The session.
        id: SessionId,
    },
    /// The directory of a session can't be on the account of a workspace.
    #[error("the directory of the session{} {}", quoted_cwd(.cwd), .fault.words())]
    SessionCwd {
        /// The directory as recorded or given; empty if none is recorded.
        cwd: String,
        /// What is wrong with it.
        fault: SessionCwdFault,
    },
    /// Sessions of the workspace are live.
    #[error(
        "the workspace '{workspace}' has live sessions ({session_count}: {}): stop them first, or remove it with live sessions ungrouped",
        .named.iter().map(SessionId::as_str).collect::<Vec<_>>().join(", ")
    )]
    LiveSessions {
        /// Name of the workspace.
        workspace: String,
        /// Up to ten of them, by id.
        named: Vec<SessionId>,
        /// How many there are.
        session_count: i64,
    },
    /// The two sessions of a move are not on one account.
    #[error("the session '{id}' {problem}: move it within the account of one workspace")]
    MoveInvalid {
        /// The session to move.
        id: SessionId,
        /// What is wrong.
        problem: &'static str,
    },
    /// Another holder has the lease.
    #[error("the lease is held by '{holder}': wait until it ends, or ask its holder")]
    LeaseHeld {
        /// Who.
        holder: String,
    },
    /// The caller's lease is over, or never was.
    #[error("the lease is over: bind the session again if it is still live")]
    LeaseLost,
    /// No such profile.
    #[error("no profile matches '{reference}': list them, or create it")]
    ProfileNotFound {
        /// The name or id as the caller gave it.
        reference: String,
    },
    /// No such agent in the workspace.
    #[error("no agent of this workspace is called '{name}': list them, or add one below .compozy/agents")]
    AgentNotFound {
        /// The name.
        name: String,
    },
    /// No such agent or skill in the snapshot, or one whose file holds no text that can be read.
    #[error(
        "the snapshot has no {kind} '{name}' with a text that can be read: resolve the workspace again and choose one of its names, or correct the file of this one"
    )]
    DefinitionNotFound {
        /// `agent` or `skill`.
        kind: &'static str,
        /// The name.
        name: String,
    },
    /// The files are no longer those of the snapshot.
    #[error("the files changed since the snapshot was made: resolve the workspace again")]
    FingerprintStale,
    /// The name belongs to another profile.
    #[error("there is a profile '{name}' already: choose another name{}", archived_words(*.is_archived))]
    ProfileNameConflict {
        /// The name.
        name: String,
        /// Whether that one is archived.
        is_archived: bool,
    },
    /// The new name of a profile has a directory already.
    #[error(
        "'{path}' exists, so no profile can be renamed to it: move it away, or create a profile of that name"
    )]
    ProfileDirectoryExists {
        /// The directory.
        path: String,
    },
    /// The profile `default` can't be changed.
    #[error("the profile 'default' is permanent: it can't be changed, renamed, archived or deleted")]
    ProfilePermanent,
    /// Sessions own the profile.
    #[error(
        "the profile '{name}' is that of {session_count} session(s): delete them first, or archive the profile"
    )]
    ProfileInUse {
        /// The profile.
        name: String,
        /// How many sessions.
        session_count: i64,
    },
    /// The profile is archived.
    #[error("the profile '{name}' is archived: unarchive it first")]
    ProfileArchived {
        /// The profile.
        name: String,
    },
    /// The name belongs to another workspace.
    #[error("the name '{name}' belongs to another workspace: choose another one")]
    NameConflict {
        /// The name.
        name: String,
        /// Who has it, if the caller may know.
        holder: Option<WorkspaceId>,
    },
    /// Another registration stands in the way.
    #[error("{}", conflict_message(.path, .conflict))]
    PathConflict {
        /// The directory of the request.
        path: String,
        /// The registration, if the caller may know.
        holder: Option<WorkspaceId>,
        /// In which way.
        conflict: PathConflict,
    },
    /// A directory to create is there.
    #[error("'{path}' exists: choose another name")]
    DirectoryExists {
        /// The directory.
        path: String,
    },
    /// The root of a workspace can't be used right now.
    #[error("the root '{root}' {}", fault.root_words())]
    Root {
        /// The root.
        root: String,
        /// In which way.
        fault: RootFault,
    },
    /// The root lies on another host's disk.
    #[error("the workspace lies on host '{host}': ask a daemon of that host")]
    OtherHost {
        /// Whose disk.
        host: String,
    },
    /// This daemon looks at no disk.
    #[error("this daemon looks at no disk (daemon.host_id = \"none\"): ask a daemon of the directory's host")]
    HostNotServed,
    /// Several registrations share the durable id.
    #[error("several workspaces share the durable id {durable_id}: name one by its ws_ id")]
    AmbiguousReference {
        /// The durable id.
        durable_id: String,
        /// The registrations, ascending.
        ids: Vec<WorkspaceId>,
    },
    /// An identity file.
    #[error("{}: {remedy}", identity_message(.path, .fault))]
    Identity {
        /// The file.
        path: String,
        /// What is wrong with it.
        fault: IdentityFault,
        /// What to do.
        remedy: String,
    },
    /// A directory carries another durable id than the registration.
    #[error("'{path}' carries {}, the workspace has {expected}: {remedy}", found.as_deref().unwrap_or("no durable id"))]
    IdentityMismatch {
        /// The directory.
        path: String,
        /// The durable id of the registration.
        expected: String,
        /// The durable id of the directory.
        found: Option<String>,
        /// What to do.
        remedy: &'static str,
    },
    /// A directory that can't be a workspace.
    #[error("'{path}' can't be a workspace: neither '/' nor the daemon's home can")]
    HomeForbidden {
        /// The directory.
        path: String,
    },
    /// A stored row that this release does not understand.
    #[error("the stored record {id} can't be changed by this release ({defect}): run `compozy doctor`")]
    RecordNotUnderstood {
        /// Its id.
        id: String,
        /// What is wrong.
        defect: String,
    },
    /// The record changed since it was read.
    #[error("the record {id} changed since its etag was read: read it again and retry")]
    EtagMismatch {
        /// Its id.
        id: String,
    },
    /// A message is too large.
    #[error("the message is larger than {limit} bytes: send less at once")]
    MessageTooLarge {
        /// The limit.
        limit: usize,
    },
    /// An answer would be too large.
    #[error("the answer would be larger than {limit} bytes: {remedy}")]
    AnswerTooLarge {
        /// The limit.
        limit: usize,
        /// What to ask for instead.
        remedy: &'static str,
    },
    /// The changes after a resume token are no longer retained.
    #[error(
        "the changes after this token are no longer kept: read everything again with start SNAPSHOT, or send on_expired RESYNC"
    )]
    ResumeTokenExpired {
        /// The oldest token that can still be resumed.
        oldest_token: String,
    },
    /// As many watches are open as the server takes.
    #[error("too many watches are open: end one, or wait and retry")]
    TooManyWatchers,
    /// Too many calls.
    #[error("too many calls at once: wait and retry")]
    RateLimited,
    /// The disk is full.
    #[error("the disk is full: nothing was written, free some space and retry")]
    DiskFull,
    /// The deadline passed.
    #[error("the deadline passed before the call was done: retry with more time")]
    DeadlineExceeded,
    /// The caller lacks a scope.
    #[error("this call needs the scope '{scope}': use a token that has it")]
    ScopeDenied {
        /// The scope.
        scope: &'static str,
    },
    /// No token came with a call over TCP.
    #[error("send a bearer token: it lies in client.token in the daemon's home")]
    TokenMissing,
    /// The token is not valid.
    #[error("the bearer token is unknown or has expired: get a new one")]
    TokenInvalid,
    /// The store can't be reached.
    #[error("the store can't be reached right now: retry in a moment{}", outcome_words(*.outcome_unknown))]
    StoreUnavailable {
        /// Whether a write may have happened all the same.
        outcome_unknown: bool,
    },
    /// The server shuts down.
    #[error("the server is shutting down: connect again")]
    Draining,
    /// The server has no such method.
    #[error("the server does not know this method: use a newer server, or check the name")]
    MethodUnknown,
    /// The store is damaged.
    #[error("the store is damaged, nothing was changed: run `compozy doctor` and restore a backup")]
    StoreCorrupt,
    /// A defect of this program. The text goes to the log, not to the caller.
    #[error("internal error")]
    Defect {
        /// For the log.
        detail: String,
    },
}

impl CatalogError {
    /// An [`CatalogError::InvalidField`].
    #[must_use]
    pub fn invalid_field(field: impl Into<String>, problem: impl Into<String>) -> Self {
        Self::InvalidField {
            field: field.into(),
            problem: problem.into(),
        }
    }

    /// A [`CatalogError::Path`].
    #[must_use]
    pub fn path(field: impl Into<String>, path: impl Into<String>, fault: PathFault) -> Self {
        Self::Path {
            field: field.into(),
            path: path.into(),
            fault,
        }
    }

    /// The machine-readable cause.
    #[must_use]
    pub fn reason(&self) -> Reason {
        match self {
            Self::InvalidField { .. } => Reason::InvalidField,
            Self::InvalidName { .. } => Reason::NameInvalid,
            Self::Path { fault, .. } => match fault {
                PathFault::NotAbsolute => Reason::PathNotAbsolute,
                PathFault::NotFound => Reason::PathNotFound,
                PathFault::NotDirectory => Reason::PathNotDirectory,
                PathFault::Loop => Reason::PathLoop,
                PathFault::Unreadable => Reason::PathUnreadable,
                PathFault::NotAllowed => Reason::PathNotAllowed,
                // The contract has no reason of its own for what can't be written to.
                PathFault::Unwritable => Reason::PathUnreadable,
            },
            Self::Cursor(_) | Self::ResumeToken(_) => Reason::CursorInvalid,
            Self::RequestIdReused => Reason::RequestIdReused,
            Self::Config { .. } => Reason::ConfigInvalid,
            Self::WorkspaceNotFound { .. } => Reason::WorkspaceNotFound,
            Self::SessionNotFound { .. } => Reason::SessionNotFound,
            Self::SessionIdConflict { .. } => Reason::SessionIdConflict,
            Self::SessionState { .. } => Reason::SessionStateConflict,
            Self::SessionArchived { .. } => Reason::SessionArchived,
            Self::SessionCwd { fault, .. } => match fault {
                SessionCwdFault::Mismatch => Reason::SessionCwdMismatch,
                SessionCwdFault::Absent => Reason::SessionCwdAbsent,
                SessionCwdFault::NotFound => Reason::SessionCwdNotFound,
                SessionCwdFault::NotDirectory => Reason::SessionCwdNotDirectory,
            },
            Self::LiveSessions { .. } => Reason::WorkspaceHasLiveSessions,
            Self::MoveInvalid { .. } => Reason::WorkspaceMoveInvalid,
            Self::LeaseHeld { .. } => Reason::LeaseHeld,
            Self::LeaseLost => Reason::LeaseLost,
            Self::ProfileNotFound { .. } => Reason::ProfileNotFound,
            Self::AgentNotFound { .. } => Reason::AgentNotFound,
            Self::DefinitionNotFound { .. } => Reason::DefinitionNotFound,
            Self::FingerprintStale => Reason::FingerprintStale,
            Self::ProfileNameConflict { .. } => Reason::ProfileNameConflict,
            Self::ProfileDirectoryExists { .. } => Reason::ProfileDirectoryExists,
            Self::ProfilePermanent => Reason::ProfilePermanent,
            Self::ProfileInUse { .. } => Reason::ProfileInUse,
            Self::ProfileArchived { .. } => Reason::ProfileArchived,
            Self::NameConflict { .. } => Reason::WorkspaceNameConflict,
            Self::PathConflict { .. } => Reason::WorkspacePathConflict,
            Self::DirectoryExists { .. } => Reason::DirectoryExists,
            Self::Root { fault, .. } => match fault {
                RootFault::Missing => Reason::WorkspaceRootMissing,
                RootFault::NotDirectory => Reason::WorkspaceRootNotDirectory,
                RootFault::Unreadable => Reason::WorkspaceRootUnreadable,
            },
            Self::OtherHost { .. } => Reason::WorkspaceOnOtherHost,
            Self::HostNotServed => Reason::HostNotServed,
            Self::AmbiguousReference { .. } => Reason::WorkspaceReferenceAmbiguous,
            Self::Identity { fault, .. } => match fault {
                IdentityFault::Invalid { .. } => Reason::IdentityInvalid,
                IdentityFault::Unreadable => Reason::IdentityUnreadable,
                IdentityFault::Unwritable { .. } => Reason::IdentityUnwritable,
            },
            Self::IdentityMismatch { .. } => Reason::IdentityMismatch,
            Self::HomeForbidden { .. } => Reason::HomeForbidden,
            Self::RecordNotUnderstood { .. } => Reason::RecordNotUnderstood,
            Self::EtagMismatch { .. } => Reason::EtagMismatch,
            Self::MessageTooLarge { .. } | Self::AnswerTooLarge { .. } => Reason::MessageTooLarge,
            Self::ResumeTokenExpired { .. } => Reason::ResumeTokenExpired,
            Self::TooManyWatchers => Reason::TooManyWatchers,
            Self::RateLimited => Reason::RateLimited,
            Self::DiskFull => Reason::DiskFull,
            Self::DeadlineExceeded => Reason::DeadlineExceeded,
            Self::ScopeDenied { .. } => Reason::ScopeDenied,
            Self::TokenMissing => Reason::TokenMissing,
            Self::TokenInvalid => Reason::TokenInvalid,
            Self::StoreUnavailable { .. } => Reason::StoreUnavailable,
            Self::Draining => Reason::Draining,
            Self::MethodUnknown => Reason::MethodUnknown,
            Self::StoreCorrupt => Reason::StoreCorrupt,
            Self::Defect { .. } => Reason::Defect,
        }
    }
}

impl From<crate::random::RandomFailed> for CatalogError {
    fn from(failed: crate::random::RandomFailed) -> Self {
        Self::Defect {
            detail: failed.to_string(),
        }
    }
}
