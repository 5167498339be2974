//! Exit codes: those of sysexits, so that a script can tell what kind of failure it met.

use std::process::ExitCode;

use compozy_client::{Code, Error, ErrorKind};

/// How the process ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    Ok = 0,
    ChecksFailed = 1,
    Usage = 64,
    Refused = 65,
    NotFound = 66,
    Unavailable = 69,
    Defect = 70,
    Conflict = 73,
    Later = 75,
    Denied = 77,
    Interrupted = 130,
}

/// The table, for `--help`.
pub(crate) const HELP: &str = "\
Exit codes:
  0    ok
  1    a check found errors (doctor)
  64   usage: refused before any request
  65   the request was refused (INVALID_ARGUMENT, FAILED_PRECONDITION), or a file is not valid (config validate)
  66   not found (NOT_FOUND, OUT_OF_RANGE), or no workspace could be told
  69   the daemon is not there or not available (UNAVAILABLE)
  70   a defect, or damaged data (INTERNAL, UNKNOWN, DATA_LOSS)
  73   it exists, or somebody else changed it (ALREADY_EXISTS, ABORTED)
  75   too late or too much (DEADLINE_EXCEEDED, RESOURCE_EXHAUSTED), or a wait timed out
  77   not allowed (PERMISSION_DENIED, UNAUTHENTICATED)
  130  interrupted";

impl Exit {
    /// The exit code of another program with the same table; `None` for one that is not in it.
    pub(crate) fn of_code(code: i32) -> Option<Self> {
        let all = [
            Self::Ok,
            Self::ChecksFailed,
            Self::Usage,
            Self::Refused,
            Self::NotFound,
            Self::Unavailable,
            Self::Defect,
            Self::Conflict,
            Self::Later,
            Self::Denied,
            Self::Interrupted,
        ];
        all.into_iter().find(|exit| *exit as i32 == code)
    }

    pub(crate) fn of(error: &Error) -> Self {
        // Nothing was sent: whoever typed the command has to change it.
        if error.kind() == ErrorKind::Configuration {
            return Self::Usage;
        }
        match error.code() {
            Code::Ok => Self::Ok,
            Code::InvalidArgument | Code::FailedPrecondition => Self::Refused,
            Code::NotFound | Code::OutOfRange => Self::NotFound,
            Code::Unavailable => Self::Unavailable,
            Code::AlreadyExists | Code::Aborted => Self::Conflict,
            Code::DeadlineExceeded | Code::ResourceExhausted => Self::Later,
            Code::PermissionDenied | Code::Unauthenticated => Self::Denied,
            Code::Internal | Code::Unknown | Code::DataLoss | Code::Unimplemented | Code::Cancelled => {
                Self::Defect
            }
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}
