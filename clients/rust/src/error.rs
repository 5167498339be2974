//! One error type for everything that can go wrong with a call. Nobody has to match on text: the
//! code and the reason say what happened, the metadata says to what.

use std::collections::BTreeMap;
use std::error::Error as StdError;
use std::fmt;
use std::time::Duration;

pub use tonic::Code;
use tonic::{Status, TimeoutExpired};
use tonic_types::StatusExt;

use crate::ErrorReason;
use crate::wire::NotGrpc;

/// The domain of the contract's reasons; others' reasons are not ours to read.
const DOMAIN: &str = "compozy.dev";

/// A failed call.
#[derive(Clone)]
pub struct Error {
    // Boxed, because every result of the client carries it.
    inner: Box<Inner>,
}

/// Who says that the call failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// The server answered with a status.
    Answer,
    /// No answer came: the server is not there, the connection broke, or something else than a
    /// catalog server answered. The code is UNAVAILABLE.
    Transport,
    /// The deadline passed on this side. The code is DEADLINE_EXCEEDED.
    Deadline,
    /// Nothing was sent: an address, a token or a certificate can't be used. The code is
    /// INVALID_ARGUMENT.
    Configuration,
}

/// One field of the request that was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldViolation {
    /// Path of the field, as in `workspace.name`.
    pub field: String,
    /// What is wrong with it.
    pub description: String,
}

#[derive(Debug, Clone)]
struct Inner {
    kind: ErrorKind,
    code: Code,
    reason_name: String,
    message: String,
    metadata: BTreeMap<String, String>,
    field_violations: Vec<FieldViolation>,
    retry_after: Option<Duration>,
    /// Of a transport error: whether another attempt may fare better.
    passing: bool,
}

impl Error {
    /// Who says so.
    pub fn kind(&self) -> ErrorKind {
        self.inner.kind
    }

    /// The gRPC code.
    pub fn code(&self) -> Code {
        self.inner.code
    }

    /// The machine-readable reason; `Unspecified` when there is none, or one that this client does
    /// not know.
    pub fn reason(&self) -> ErrorReason {
        ErrorReason::from_str_name(&format!("ERROR_REASON_{}", self.inner.reason_name)).unwrap_or_default()
    }

    /// The reason as the server wrote it, also one that this client does not know; empty if none.
    pub fn reason_name(&self) -> &str {
        &self.inner.reason_name
    }

    /// One sentence for a person.
    pub fn message(&self) -> &str {
        &self.inner.message
    }

    /// What the reason is about, by key.
    pub fn metadata(&self) -> &BTreeMap<String, String> {
        &self.inner.metadata
    }

    /// The refused fields of the request.
    pub fn field_violations(&self) -> &[FieldViolation] {
        &self.inner.field_violations
    }

    /// When the server asks to come again.
    pub fn retry_after(&self) -> Option<Duration> {
        self.inner.retry_after
    }

    /// Whether the same call may succeed when it is repeated later. A write should keep its request
    /// id then.
    pub fn is_retryable(&self) -> bool {
        match self.inner.kind {
            ErrorKind::Answer => match self.inner.code {
                Code::Unavailable | Code::DeadlineExceeded => true,
                Code::ResourceExhausted => self.inner.retry_after.is_some(),
                _ => false,
            },
            ErrorKind::Transport => self.inner.passing,
            ErrorKind::Deadline => true,
            ErrorKind::Configuration => false,
        }
    }

    /// The error that a server's status means. A status with a source was made on this side, from
    /// a failure of the transport.
    pub(crate) fn from_status(status: &Status, endpoint: &str) -> Self {
        match status.source() {
            Some(source) => Self::from_transport(source, endpoint),
            None => Self::from_answer(status),
        }
    }

    pub(crate) fn configuration(message: String) -> Self {
        Self::local(ErrorKind::Configuration, Code::InvalidArgument, message)
    }

    pub(crate) fn deadline(endpoint: &str, after: Duration) -> Self {
        let message = format!("{endpoint} did not answer within {after:?}");
        let mut error = Self::local(ErrorKind::Deadline, Code::DeadlineExceeded, message);
        error.inner.reason_name = short_name(ErrorReason::DeadlineExceeded);
        error
    }

    /// This error of an earlier attempt, where the last one was given up at the deadline: what the server
    /// said says more than that it then said nothing.
    pub(crate) fn then_no_answer(mut self, within: Duration) -> Self {
        let inner = &mut self.inner;
        inner.message = format!("{} (repeated, and not answered within {within:?})", inner.message);
        self
    }

    /// What ended a stream that had begun. Where the transport failed, nobody has to wonder whether
    /// a daemon is there.
    pub(crate) fn of_stream(status: &Status, endpoint: &str) -> Self {
        let error = Self::from_status(status, endpoint);
        if error.kind() != ErrorKind::Transport {
            return error;
        }
        Self::cut(endpoint)
    }

    /// A stream that ended without a word.
    pub(crate) fn cut(endpoint: &str) -> Self {
        let mut error = Self::no_daemon(format!("the connection to {endpoint} was cut"));
        error.inner.passing = true;
        error
    }

    /// A stream on which not even a sign of life came.
    pub(crate) fn silence(endpoint: &str, lasted: Duration) -> Self {
        let mut error = Self::deadline(endpoint, lasted);
        error.inner.message = format!("{endpoint} has said nothing on an open stream for {lasted:?}");
        error
    }

    pub(crate) fn no_daemon(message: String) -> Self {
        Self::local(ErrorKind::Transport, Code::Unavailable, message)
    }

    /// An answer that breaks the contract.
    pub(crate) fn broken_answer(message: &str) -> Self {
        Self::local(ErrorKind::Answer, Code::Internal, message.to_owned())
    }

    fn from_transport(source: &(dyn StdError + 'static), endpoint: &str) -> Self {
        if find::<TimeoutExpired>(source).is_some() {
            let mut error = Self::deadline(endpoint, Duration::ZERO);
            error.inner.message = format!("{endpoint} did not answer within the deadline");
            return error;
        }
        if let Some(answer) = find::<NotGrpc>(source) {
            let message = format!(
                "{endpoint} is no compozy daemon: it answers like a web server (HTTP {})",
                answer.http_status
            );
            let mut error = Self::no_daemon(message);
            // A proxy whose backend is away answers one of these; anything else will not change.
            error.inner.passing = matches!(answer.http_status, 429 | 502 | 503 | 504);
            return error;
        }
        let message = match find::<tonic::ConnectError>(source) {
            Some(connect) => format!("the daemon at {endpoint} cannot be reached: {}", root(connect)),
            None => format!(
                "the connection to {endpoint} ended before an answer came; is a compozy daemon there?"
            ),
        };
        let mut error = Self::no_daemon(message);
        error.inner.passing = true;
        error
    }

    fn from_answer(status: &Status) -> Self {
        // Details that do not parse are no details: the status itself still stands.
        let details = status.check_error_details().unwrap_or_default();
        let info = details.error_info().filter(|info| info.domain == DOMAIN);
        let violations = details
            .bad_request()
            .map(|bad| bad.field_violations.as_slice())
            .unwrap_or_default();
        Self {
            inner: Box::new(Inner {
                kind: ErrorKind::Answer,
                code: status.code(),
                reason_name: info.map(|info| info.reason.clone()).unwrap_or_default(),
                message: sentence(status),
                metadata: info
                    .map(|info| info.metadata.clone().into_iter().collect())
                    .unwrap_or_default(),
                field_violations: violations
                    .iter()
                    .map(|one| FieldViolation {
                        field: one.field.clone(),
                        description: one.description.clone(),
                    })
                    .collect(),
                retry_after: details.retry_info().and_then(|info| info.retry_delay),
                passing: false,
            }),
        }
    }

    fn local(kind: ErrorKind, code: Code, message: String) -> Self {
        Self {
            inner: Box::new(Inner {
                kind,
                code,
                reason_name: String::new(),
                message,
                metadata: BTreeMap::new(),
                field_violations: Vec::new(),
                retry_after: None,
                passing: false,
            }),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.inner.message)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(formatter)
    }
}

impl StdError for Error {}

/// The name of a reason on the wire.
fn short_name(reason: ErrorReason) -> String {
    let name = reason.as_str_name();
    name.strip_prefix("ERROR_REASON_").unwrap_or(name).to_owned()
}

fn sentence(status: &Status) -> String {
    if status.message().is_empty() {
        return format!("the server answered {:?} without a word", status.code());
    }
    status.message().to_owned()
}

/// The first error of type `E` in a chain of sources.
fn find<'a, E: StdError + 'static>(error: &'a (dyn StdError + 'static)) -> Option<&'a E> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(found) = error.downcast_ref::<E>() {
            return Some(found);
        }
        next = error.source();
    }
    None
}

/// The last error in a chain of sources: the one that says what really happened.
fn root(error: &(dyn StdError + 'static)) -> String {
    let mut last = error;
    while let Some(source) = last.source() {
        last = source;
    }
    last.to_string()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    #![expect(clippy::disallowed_methods, reason = "a test plays the server")]

    use tonic_types::ErrorDetails;

    use super::*;

    fn with_reason(reason: &str, domain: &str) -> Error {
        let metadata = [("name".to_owned(), "none".to_owned())];
        let details = ErrorDetails::with_error_info(reason, domain, metadata);
        let status = Status::with_error_details(Code::NotFound, "No such workspace.", details);
        Error::from_status(&status, "unix:///s")
    }

    #[test]
    fn reason_and_metadata_come_from_the_details() {
        let error = with_reason("WORKSPACE_NOT_FOUND", DOMAIN);
        assert_eq!((error.kind(), error.code()), (ErrorKind::Answer, Code::NotFound));
        assert_eq!(error.reason(), ErrorReason::WorkspaceNotFound);
        assert_eq!(error.metadata()["name"], "none");
        assert_eq!(error.to_string(), "No such workspace.");
        assert!(!error.is_retryable());
    }

    #[test]
    fn an_unknown_reason_keeps_its_name() {
        let error = with_reason("FROM_THE_FUTURE", DOMAIN);
        assert_eq!(
            (error.reason(), error.reason_name()),
            (ErrorReason::Unspecified, "FROM_THE_FUTURE")
        );
    }

    #[test]
    fn reasons_of_another_domain_are_not_ours() {
        assert_eq!(
            with_reason("WORKSPACE_NOT_FOUND", "example.com").reason_name(),
            ""
        );
    }

    #[test]
    fn details_that_do_not_parse_leave_the_status() {
        let status = Status::with_details(Code::Aborted, "Changed.", vec![0xff, 0xff, 0xff].into());
        let error = Error::from_status(&status, "unix:///s");
        assert_eq!((error.code(), error.message()), (Code::Aborted, "Changed."));
    }

    #[test]
    fn refused_fields_are_listed() {
        let details = ErrorDetails::with_bad_request_violation("limit", "at most 100");
        let status = Status::with_error_details(Code::InvalidArgument, "limit is too large.", details);
        let error = Error::from_status(&status, "unix:///s");
        let expected = FieldViolation {
            field: "limit".to_owned(),
            description: "at most 100".to_owned(),
        };
        assert_eq!(error.field_violations(), [expected]);
    }
}
