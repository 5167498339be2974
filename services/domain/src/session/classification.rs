//! What a stop is called: the table of the spec, read from the top over cause and error.

use super::{FailureKind, StopCause, StopReason};

/// What is known when a session is over.
#[derive(Debug, Clone, Copy, Default)]
pub struct Ending<'a> {
    /// The first cause that was reported.
    pub cause: Option<StopCause>,
    /// The detail that goes with it.
    pub detail: &'a str,
    /// Whether it ended with an error.
    pub has_error: bool,
    /// The kind of failure that its runtime names.
    pub kind: Option<FailureKind>,
}

/// The classification of an ending, and the kind of its failure if it is one.
#[must_use]
pub fn classify(ending: Ending<'_>) -> (StopReason, Option<FailureKind>) {
    let given = |otherwise| Some(ending.kind.unwrap_or(otherwise));
    match ending.cause {
        Some(StopCause::Shutdown) => (StopReason::Shutdown, None),
        Some(StopCause::Hook) => (StopReason::HookStopped, Some(FailureKind::PermissionFailure)),
        Some(StopCause::User) => (reason_of_user(ending.detail), Some(FailureKind::Cancellation)),
        Some(StopCause::ProcessExit) if ending.has_error => {
            (StopReason::AgentCrashed, given(FailureKind::ProcessExit))
        }
        Some(StopCause::ProcessExit) => (StopReason::Error, given(FailureKind::ProcessExit)),
        Some(StopCause::Timeout) => (StopReason::Timeout, Some(FailureKind::Timeout)),
        Some(StopCause::Clear | StopCause::Rewind | StopCause::Completed) => (StopReason::Completed, None),
        Some(StopCause::Failed) => (StopReason::Error, given(FailureKind::UnknownFailure)),
        None if ending.has_error => (StopReason::Error, given(FailureKind::UnknownFailure)),
        None => (StopReason::Completed, None),
    }
}

/// A limit that the detail names.
fn reason_of_user(detail: &str) -> StopReason {
    for reason in [
        StopReason::MaxIterations,
        StopReason::LoopDetected,
        StopReason::BudgetExceeded,
    ] {
        if detail.contains(reason.as_str()) {
            return reason;
        }
    }
    StopReason::UserCanceled
}
