//! What went wrong, in the shape in which it is told: a sentence, a hint, and for programs a code, a
//! reason and metadata.

use std::collections::BTreeMap;
use std::io;

use compozy_client::{Code, Error, ErrorReason};

use crate::exit::Exit;
use crate::hint;
use crate::problem::{self, Problem};

/// A command that did not succeed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Something to tell.
    Told(Box<Told>),
    /// Nobody reads the output any more. Not an error.
    ClosedPipe,
}

/// A failure in words.
#[derive(Debug)]
pub(crate) struct Told {
    pub(crate) exit: Exit,
    /// Name of the gRPC code, also where the CLI itself refused.
    pub(crate) code: &'static str,
    /// The contract's reason, or one of the CLI's own: USAGE, NO_DAEMON, LOCAL.
    pub(crate) reason: String,
    pub(crate) message: String,
    pub(crate) metadata: BTreeMap<String, String>,
    /// What is wrong with a configuration, where that is it.
    pub(crate) problems: Vec<Problem>,
    pub(crate) hint: Option<String>,
}

impl Failure {
    /// Refused before any request.
    pub(crate) fn usage(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::local(
            Exit::Usage,
            "INVALID_ARGUMENT",
            "USAGE",
            message,
            Some(hint.into()),
        )
    }

    /// No workspace could be told, or a path cannot be told from here.
    pub(crate) fn nothing_resolves(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::local(
            Exit::NotFound,
            "NOT_FOUND",
            "WORKSPACE_NOT_FOUND",
            message,
            Some(hint.into()),
        )
    }

    /// The daemon is not there or did not come up.
    pub(crate) fn no_daemon(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::local(
            Exit::Unavailable,
            "UNAVAILABLE",
            "NO_DAEMON",
            message,
            Some(hint.into()),
        )
    }

    /// A wait that took too long.
    pub(crate) fn too_late(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::local(
            Exit::Later,
            "DEADLINE_EXCEEDED",
            "DEADLINE_EXCEEDED",
            message,
            Some(hint.into()),
        )
    }

    /// A file of this machine that cannot be used.
    pub(crate) fn file(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::local(Exit::NotFound, "NOT_FOUND", "LOCAL", message, Some(hint.into()))
    }

    /// A name that is not there.
    pub(crate) fn unknown(reason: &str, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::local(Exit::NotFound, "NOT_FOUND", reason, message, Some(hint.into()))
    }

    /// What the daemon's program refused to do, or could not do.
    pub(crate) fn of_program(exit: Exit, message: impl Into<String>, hint: impl Into<String>) -> Self {
        let code = match exit {
            Exit::Usage | Exit::Refused => "INVALID_ARGUMENT",
            Exit::NotFound => "NOT_FOUND",
            Exit::Unavailable => "UNAVAILABLE",
            Exit::Conflict => "ABORTED",
            Exit::Later => "DEADLINE_EXCEEDED",
            Exit::Denied => "PERMISSION_DENIED",
            Exit::Ok | Exit::ChecksFailed | Exit::Defect | Exit::Interrupted => "INTERNAL",
        };
        Self::local(exit, code, "LOCAL", message, Some(hint.into()))
    }

    /// Something that should not happen.
    pub(crate) fn defect(message: impl Into<String>) -> Self {
        Self::local(Exit::Defect, "INTERNAL", "LOCAL", message, None)
    }

    pub(crate) fn exit(&self) -> Exit {
        match self {
            Self::Told(told) => told.exit,
            Self::ClosedPipe => Exit::Ok,
        }
    }

    /// Adds what the failure is about.
    pub(crate) fn with(mut self, key: &str, value: impl Into<String>) -> Self {
        if let Self::Told(told) = &mut self {
            told.metadata.insert(key.to_owned(), value.into());
        }
        self
    }

    /// Something that is told about the failure, if it is there and not empty.
    pub(crate) fn metadata(&self, key: &str) -> Option<&str> {
        match self {
            Self::Told(told) => told
                .metadata
                .get(key)
                .map(String::as_str)
                .filter(|text| !text.is_empty()),
            Self::ClosedPipe => None,
        }
    }

    /// Takes another hint instead.
    pub(crate) fn hinting(mut self, hint: impl Into<String>) -> Self {
        if let Self::Told(told) = &mut self {
            told.hint = Some(hint.into());
        }
        self
    }

    /// Adds what is wrong with a configuration, if anything is.
    pub(crate) fn listing(mut self, problems: Vec<Problem>) -> Self {
        if let Self::Told(told) = &mut self
            && !problems.is_empty()
        {
            told.reason = "CONFIG_INVALID".to_owned();
            told.problems = problems;
        }
        self
    }

    /// Whether this is the reason.
    pub(crate) fn is_about(&self, reason: ErrorReason) -> bool {
        let name = reason.as_str_name().trim_start_matches("ERROR_REASON_");
        matches!(self, Self::Told(told) if told.reason == name)
    }

    /// Adds to the sentence.
    pub(crate) fn saying(mut self, addition: &str) -> Self {
        if let Self::Told(told) = &mut self {
            told.message = format!("{} {addition}", told.message);
        }
        self
    }

    fn local(
        exit: Exit,
        code: &'static str,
        reason: &str,
        message: impl Into<String>,
        hint: Option<String>,
    ) -> Self {
        Self::Told(Box::new(Told {
            exit,
            code,
            reason: reason.to_owned(),
            message: message.into(),
            metadata: BTreeMap::new(),
            problems: Vec::new(),
            hint,
        }))
    }
}

impl Told {
    /// How many problems a configuration has; not all of them need be named.
    pub(crate) fn problems_count(&self) -> usize {
        let told = self.metadata.get("problems_count");
        let told = told.and_then(|count| count.parse().ok()).unwrap_or(0);
        if self.problems.is_empty() {
            return 0;
        }
        self.problems.len().max(told)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let problems = problem::all(&error);
        let hint = match problems.as_slice() {
            [] => hint::of(&error),
            problems => Some(problem::hint(&error, problems, None)),
        };
        Self::Told(Box::new(Told {
            exit: Exit::of(&error),
            code: code_name(error.code()),
            reason: reason_name(&error),
            message: told_message(&error),
            metadata: error.metadata().clone(),
            problems,
            hint,
        }))
    }
}

impl From<io::Error> for Failure {
    /// Of writing the output; other files say more about themselves.
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Self::ClosedPipe;
        }
        Self::defect(format!("the output cannot be written: {error}"))
    }
}

/// The server's sentence, and the refused fields that it does not name itself.
fn told_message(error: &Error) -> String {
    let mut message = error.message().to_owned();
    if error.reason() == ErrorReason::ConfigInvalid {
        return message;
    }
    for violation in error.field_violations() {
        if !message.contains(&violation.field) && !message.contains(&violation.description) {
            message = format!("{message} ({}: {})", violation.field, violation.description);
        }
    }
    message
}

fn reason_name(error: &Error) -> String {
    use compozy_client::ErrorKind::{Answer, Configuration, Deadline, Transport};
    match error.kind() {
        Transport => "NO_DAEMON".to_owned(),
        Configuration => "USAGE".to_owned(),
        Answer | Deadline if error.reason_name().is_empty() => {
            let name = ErrorReason::Unspecified.as_str_name();
            name.trim_start_matches("ERROR_REASON_").to_owned()
        }
        Answer | Deadline => error.reason_name().to_owned(),
    }
}

/// The name that the gRPC specification gives a code.
fn code_name(code: Code) -> &'static str {
    match code {
        Code::Ok => "OK",
        Code::Cancelled => "CANCELLED",
        Code::Unknown => "UNKNOWN",
        Code::InvalidArgument => "INVALID_ARGUMENT",
        Code::DeadlineExceeded => "DEADLINE_EXCEEDED",
        Code::NotFound => "NOT_FOUND",
        Code::AlreadyExists => "ALREADY_EXISTS",
        Code::PermissionDenied => "PERMISSION_DENIED",
        Code::ResourceExhausted => "RESOURCE_EXHAUSTED",
        Code::FailedPrecondition => "FAILED_PRECONDITION",
        Code::Aborted => "ABORTED",
        Code::OutOfRange => "OUT_OF_RANGE",
        Code::Unimplemented => "UNIMPLEMENTED",
        Code::Internal => "INTERNAL",
        Code::Unavailable => "UNAVAILABLE",
        Code::DataLoss => "DATA_LOSS",
        Code::Unauthenticated => "UNAUTHENTICATED",
    }
}
