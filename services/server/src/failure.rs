//! Why the process can't start or a command can't be done: one sentence for a person, and the exit code.

use std::fmt;
use std::io;
use std::path::Path;

/// What kind of failure it is; sysexits gives each a code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureKind {
    /// A check found errors.
    Check,
    /// Files that were checked have errors.
    Invalid,
    /// The command line.
    Usage,
    /// A configuration file, or something in the home that only a person can mend.
    Config,
    /// There is nothing where something was named.
    NotFound,
    /// Another daemon runs, or something that is needed can't be had.
    Unavailable,
    /// Something that is needed is away and may be there in a moment.
    Away,
    /// A defect of this program.
    Internal,
    /// A file or socket can't be made, read or written.
    Io,
}

/// A failure that ends the process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    kind: FailureKind,
    message: String,
}

impl Failure {
    /// A failure. The message names the file, key or process, and what to do.
    pub fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
        }
    }

    /// A configuration that can't be used.
    pub fn config(message: impl Into<String>) -> Self {
        Self::new(FailureKind::Config, message)
    }

    /// A file that can't be made, read or written; `action` says which of these.
    #[must_use]
    pub fn io(action: &str, path: &Path, error: &io::Error) -> Self {
        let advice = match error.kind() {
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                "; give this user access to it, or set COMPOZY_HOME to another directory"
            }
            io::ErrorKind::StorageFull => "; free some space",
            _ => "",
        };
        Self::new(
            FailureKind::Io,
            format!("cannot {action} {}: {error}{advice}", path.display()),
        )
    }

    /// Its kind.
    #[must_use]
    pub fn kind(&self) -> FailureKind {
        self.kind
    }

    /// The code that the process ends with.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        match self.kind {
            FailureKind::Check => 1,
            FailureKind::Usage => 64,
            FailureKind::Config | FailureKind::Invalid => 65,
            FailureKind::NotFound => 66,
            FailureKind::Unavailable | FailureKind::Away => 69,
            FailureKind::Internal => 70,
            FailureKind::Io => 74,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}

impl From<compozy_domain::RandomFailed> for Failure {
    fn from(failed: compozy_domain::RandomFailed) -> Self {
        Self::new(FailureKind::Io, failed.to_string())
    }
}
