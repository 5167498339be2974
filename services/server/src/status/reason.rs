//! Reasons on the wire: their names, and the one status that each has.

use compozy_domain::Reason;
use tonic::Code;

/// The name of a reason in `ErrorInfo.reason`: that of `compozy.error.v1.ErrorReason` without its prefix.
#[must_use]
pub const fn reason_name(reason: Reason) -> &'static str {
    match reason {
        Reason::InvalidField => "INVALID_FIELD",
        Reason::CursorInvalid => "CURSOR_INVALID",
        Reason::RequestIdReused => "REQUEST_ID_REUSED",
        Reason::PathNotAbsolute => "PATH_NOT_ABSOLUTE",
        Reason::PathNotDirectory => "PATH_NOT_DIRECTORY",
        Reason::PathLoop => "PATH_LOOP",
        Reason::ConfigInvalid => "CONFIG_INVALID",
        Reason::NameInvalid => "NAME_INVALID",
        Reason::WorkspaceNotFound => "WORKSPACE_NOT_FOUND",
        Reason::SessionNotFound => "SESSION_NOT_FOUND",
        Reason::SessionIdConflict => "SESSION_ID_CONFLICT",
        Reason::WorkspaceHasLiveSessions => "WORKSPACE_HAS_LIVE_SESSIONS",
        Reason::WorkspaceMoveInvalid => "WORKSPACE_MOVE_INVALID",
        Reason::SessionStateConflict => "SESSION_STATE_CONFLICT",
        Reason::SessionArchived => "SESSION_ARCHIVED",
        Reason::SessionCwdMismatch => "SESSION_CWD_MISMATCH",
        Reason::SessionCwdAbsent => "SESSION_CWD_ABSENT",
        Reason::SessionCwdNotFound => "SESSION_CWD_NOT_FOUND",
        Reason::SessionCwdNotDirectory => "SESSION_CWD_NOT_DIRECTORY",
        Reason::LeaseHeld => "LEASE_HELD",
        Reason::LeaseLost => "LEASE_LOST",
        Reason::ProfileNotFound => "PROFILE_NOT_FOUND",
        Reason::AgentNotFound => "AGENT_NOT_FOUND",
        Reason::DefinitionNotFound => "DEFINITION_NOT_FOUND",
        Reason::PathNotFound => "PATH_NOT_FOUND",
        Reason::ProfileNameConflict => "PROFILE_NAME_CONFLICT",
        Reason::ProfileDirectoryExists => "PROFILE_DIRECTORY_EXISTS",
        Reason::FingerprintStale => "FINGERPRINT_STALE",
        Reason::ProfilePermanent => "PROFILE_PERMANENT",
        Reason::ProfileInUse => "PROFILE_IN_USE",
        Reason::ProfileArchived => "PROFILE_ARCHIVED",
        Reason::WorkspaceNameConflict => "WORKSPACE_NAME_CONFLICT",
        Reason::WorkspacePathConflict => "WORKSPACE_PATH_CONFLICT",
        Reason::DirectoryExists => "DIRECTORY_EXISTS",
        Reason::WorkspaceRootMissing => "WORKSPACE_ROOT_MISSING",
        Reason::WorkspaceRootNotDirectory => "WORKSPACE_ROOT_NOT_DIRECTORY",
        Reason::WorkspaceRootUnreadable => "WORKSPACE_ROOT_UNREADABLE",
        Reason::WorkspaceOnOtherHost => "WORKSPACE_ON_OTHER_HOST",
        Reason::HostNotServed => "HOST_NOT_SERVED",
        Reason::WorkspaceReferenceAmbiguous => "WORKSPACE_REFERENCE_AMBIGUOUS",
        Reason::IdentityInvalid => "IDENTITY_INVALID",
        Reason::IdentityUnwritable => "IDENTITY_UNWRITABLE",
        Reason::IdentityMismatch => "IDENTITY_MISMATCH",
        Reason::HomeForbidden => "HOME_FORBIDDEN",
        Reason::RecordNotUnderstood => "RECORD_NOT_UNDERSTOOD",
        Reason::EtagMismatch => "ETAG_MISMATCH",
        Reason::ResumeTokenExpired => "RESUME_TOKEN_EXPIRED",
        Reason::TooManyWatchers => "TOO_MANY_WATCHERS",
        Reason::RateLimited => "RATE_LIMITED",
        Reason::MessageTooLarge => "MESSAGE_TOO_LARGE",
        Reason::DiskFull => "DISK_FULL",
        Reason::DeadlineExceeded => "DEADLINE_EXCEEDED",
        Reason::PathNotAllowed => "PATH_NOT_ALLOWED",
        Reason::PathUnreadable => "PATH_UNREADABLE",
        Reason::IdentityUnreadable => "IDENTITY_UNREADABLE",
        Reason::ScopeDenied => "SCOPE_DENIED",
        Reason::TokenMissing => "TOKEN_MISSING",
        Reason::TokenInvalid => "TOKEN_INVALID",
        Reason::StoreUnavailable => "STORE_UNAVAILABLE",
        Reason::Draining => "DRAINING",
        Reason::MethodUnknown => "METHOD_UNKNOWN",
        Reason::StoreCorrupt => "STORE_CORRUPT",
        Reason::Defect => "DEFECT",
    }
}

/// The status of a reason: the same one everywhere.
#[must_use]
pub const fn code(reason: Reason) -> Code {
    match reason {
        Reason::InvalidField
        | Reason::CursorInvalid
        | Reason::RequestIdReused
        | Reason::PathNotAbsolute
        | Reason::PathNotDirectory
        | Reason::PathLoop
        | Reason::ConfigInvalid
        | Reason::NameInvalid => Code::InvalidArgument,
        Reason::WorkspaceNotFound
        | Reason::SessionNotFound
        | Reason::ProfileNotFound
        | Reason::AgentNotFound
        | Reason::DefinitionNotFound
        | Reason::PathNotFound => Code::NotFound,
        Reason::WorkspaceNameConflict
        | Reason::WorkspacePathConflict
        | Reason::ProfileNameConflict
        | Reason::ProfileDirectoryExists
        | Reason::SessionIdConflict
        | Reason::DirectoryExists => Code::AlreadyExists,
        Reason::WorkspaceRootMissing
        | Reason::WorkspaceRootNotDirectory
        | Reason::WorkspaceRootUnreadable
        | Reason::WorkspaceOnOtherHost
        | Reason::HostNotServed
        | Reason::WorkspaceReferenceAmbiguous
        | Reason::IdentityInvalid
        | Reason::IdentityUnwritable
        | Reason::IdentityMismatch
        | Reason::HomeForbidden
        | Reason::FingerprintStale
        | Reason::ProfilePermanent
        | Reason::ProfileInUse
        | Reason::ProfileArchived
        | Reason::WorkspaceHasLiveSessions
        | Reason::WorkspaceMoveInvalid
        | Reason::SessionStateConflict
        | Reason::SessionArchived
        | Reason::SessionCwdMismatch
        | Reason::SessionCwdAbsent
        | Reason::SessionCwdNotFound
        | Reason::SessionCwdNotDirectory
        | Reason::RecordNotUnderstood => Code::FailedPrecondition,
        Reason::EtagMismatch | Reason::LeaseHeld | Reason::LeaseLost => Code::Aborted,
        Reason::ResumeTokenExpired => Code::OutOfRange,
        Reason::TooManyWatchers | Reason::RateLimited | Reason::MessageTooLarge | Reason::DiskFull => {
            Code::ResourceExhausted
        }
        Reason::DeadlineExceeded => Code::DeadlineExceeded,
        Reason::PathNotAllowed
        | Reason::PathUnreadable
        | Reason::IdentityUnreadable
        | Reason::ScopeDenied => Code::PermissionDenied,
        Reason::TokenMissing | Reason::TokenInvalid => Code::Unauthenticated,
        Reason::StoreUnavailable | Reason::Draining => Code::Unavailable,
        Reason::MethodUnknown => Code::Unimplemented,
        Reason::StoreCorrupt => Code::DataLoss,
        Reason::Defect => Code::Internal,
    }
}
