//! Everything that a caller may do wrong or meet, named after the situation. Each error has one reason;
//! the server maps a reason to a status in one place.

use thiserror::Error;

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

/// What is wrong with a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathFault {
    /// It is relative.
    NotAbsolute,
    /// It does not exist.
    NotFound,
    /// It is no directory.
    NotDirectory,
    /// It leads through a cycle of links.
    Loop,
    /// The daemon's user may not read it.
    Unreadable,
    /// It lies outside the allowed roots.
    NotAllowed,
    /// It can't be written, or a link or a file stands where a directory of the daemon's own has to be.
    Unwritable,
}

/// What is wrong with an identity file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IdentityFault {
    /// Its content breaks a rule.
    Invalid {
        /// Line of the problem, from 1; `None` when it is about the file as a whole.
        line: Option<u32>,
        /// Which rule.
        problem: String,
    },
    /// It can't be read.
    Unreadable,
    /// It can't be written.
    Unwritable {
        /// Why.
        problem: String,
    },
}

/// What is wrong with a cursor or token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CursorFault {
    /// No cursor of this product, or an edited one.
    Malformed,
    /// Longer than any cursor.
    TooLarge,
    /// Made for another method, filter or order.
    OtherQuery,
    /// Made by another catalog.
    OtherCatalog,
    /// Its key is no longer valid.
    KeyRetired,
}

impl CursorFault {
    /// The word in the error's metadata.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Malformed => "malformed",
            Self::TooLarge => "too_large",
            Self::OtherQuery => "other_query",
            Self::OtherCatalog => "other_catalog",
            Self::KeyRetired => "key_retired",
        }
    }
}

/// What stands in the way of a registration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PathConflict {
    /// The directory is registered, with other values in these fields.
    Registered {
        /// Names of the fields that differ.
        fields: Vec<&'static str>,
    },
    /// The directory is a copy of a registered one, and copies were to be refused.
    Copy {
        /// Root of the registered one.
        original: String,
    },
    /// Another registration has this root.
    RootTaken,
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

/// A directory between commas; nothing for one that is not recorded.
fn quoted_cwd(cwd: &str) -> String {
    if cwd.is_empty() {
        String::new()
    } else {
        format!(", '{cwd}',")
    }
}

/// Why the directory of a session can't be on the account of a workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionCwdFault {
    /// Another workspace owns it, or none does.
    Mismatch,
    /// None is recorded.
    Absent,
    /// It does not exist right now.
    NotFound,
    /// It is no directory right now.
    NotDirectory,
}

impl SessionCwdFault {
    const fn words(self) -> &'static str {
        match self {
            Self::Mismatch => "does not belong to the workspace: choose the workspace that owns it",
            Self::Absent => "is not recorded: such a session can be on no account",
            Self::NotFound => "does not exist right now: bring it back first",
            Self::NotDirectory => "is no directory right now: bring the directory back first",
        }
    }
}

/// In which way a root can't be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RootFault {
    /// It does not exist.
    Missing,
    /// It is no directory.
    NotDirectory,
    /// It can't be read.
    Unreadable,
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

impl RootFault {
    const fn root_words(self) -> &'static str {
        match self {
            Self::Missing => "does not exist right now: bring it back, or relink the workspace",
            Self::NotDirectory => "is no directory: bring the directory back, or relink the workspace",
            Self::Unreadable => "can't be read by the daemon: check its permissions",
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

fn path_message(path: &str, fault: PathFault) -> String {
    match fault {
        PathFault::NotAbsolute => format!("'{path}' is relative: give an absolute path"),
        PathFault::NotFound => format!("'{path}' does not exist: check the path"),
        PathFault::NotDirectory => format!("'{path}' is no directory: give a directory"),
        PathFault::Loop => format!("'{path}' leads through a cycle of symbolic links: mend the links"),
        PathFault::Unreadable => format!("'{path}' can't be read by the daemon: check its permissions"),
        PathFault::NotAllowed => {
            format!("'{path}' lies outside the roots that this daemon allows: see workspaces.allowed_roots")
        }
        PathFault::Unwritable => format!(
            "'{path}' is no directory that the daemon can write to: check that it is a directory, no link, and its \
             permissions"
        ),
    }
}

fn conflict_message(path: &str, conflict: &PathConflict) -> String {
    match conflict {
        PathConflict::Registered { fields } => format!(
            "'{path}' is registered with another {}: use an update to change it",
            fields.join(" and another ")
        ),
        PathConflict::Copy { original } => {
            format!(
                "'{path}' is a copy of the registered '{original}': register it with policy SHARE or FORK"
            )
        }
        PathConflict::RootTaken => {
            format!("'{path}' is the root of another workspace: remove that one first")
        }
    }
}

fn identity_message(path: &str, fault: &IdentityFault) -> String {
    match fault {
        IdentityFault::Invalid { line, problem } => format!("{path}{}: {problem}", line_suffix(*line)),
        IdentityFault::Unreadable => format!("{path} can't be read by the daemon: check its permissions"),
        IdentityFault::Unwritable { problem } => format!("{path} can't be written: {problem}"),
    }
}

fn line_suffix(line: Option<u32>) -> String {
    line.map(|line| format!(":{line}")).unwrap_or_default()
}

/// Problems that are named in a message.
const PROBLEMS_NAMED: usize = 5;

fn config_message(problems: &[Diagnostic]) -> String {
    let named: Vec<String> = problems
        .iter()
        .take(PROBLEMS_NAMED)
        .map(|problem| format!("{}: {}", problem.location(), problem.message))
        .collect();
    let more = match problems.len().saturating_sub(PROBLEMS_NAMED) {
        0 => String::new(),
        more => format!("; and {more} more"),
    };
    format!("{}{more}", named.join("; "))
}

const fn archived_words(is_archived: bool) -> &'static str {
    if is_archived {
        ", or unarchive that one"
    } else {
        ""
    }
}

const fn outcome_words(unknown: bool) -> &'static str {
    if unknown {
        " with the same request_id, the write may have happened"
    } else {
        ""
    }
}
