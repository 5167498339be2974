//! When a call is repeated, and after how long. The numbers are the same in every SDK.

use std::time::Duration;

use crate::{Error, ErrorKind};

/// How often a call is sent, the first time included.
pub const ATTEMPTS: u32 = 4;
/// The delay before the second attempt; it doubles with every further one.
pub const FIRST_DELAY: Duration = Duration::from_millis(50);
/// The delay grows no longer than this, unless the server asks for more.
pub const LONGEST_DELAY: Duration = Duration::from_secs(1);

/// Whether a method may be sent more than once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Repeat {
    /// A read, or a write that carries a request id.
    Safe,
    /// A write without a request id.
    Never,
}

/// How long to wait before the attempt after number `attempt` (from 1); `None` if there is none.
pub(crate) fn delay(attempt: u32, repeat: Repeat, error: &Error) -> Option<Duration> {
    if repeat == Repeat::Never || attempt >= ATTEMPTS || !is_retried(error) {
        return None;
    }
    Some(backoff(attempt, error.retry_after()))
}

/// The delay before the attempt after number `attempt` (from 1), and no shorter than the server asks for.
pub(crate) fn backoff(attempt: u32, asked: Option<Duration>) -> Duration {
    // Ten doublings are far beyond the longest delay.
    let doublings = attempt.saturating_sub(1).min(10);
    let grown = FIRST_DELAY.saturating_mul(1 << doublings).min(LONGEST_DELAY);
    asked.unwrap_or_default().max(jittered(grown))
}

/// UNAVAILABLE, whoever says so. A call that a GOAWAY caught has become a transport error, which is
/// UNAVAILABLE too; a CANCELLED that the server answers is final.
fn is_retried(error: &Error) -> bool {
    match error.kind() {
        ErrorKind::Answer => error.code() == tonic::Code::Unavailable,
        ErrorKind::Transport => error.is_retryable(),
        ErrorKind::Deadline | ErrorKind::Configuration => false,
    }
}

/// Half of the delay is fixed and half is drawn, so that clients that failed together do not come
/// back together. Without random bytes the delay is taken whole.
fn jittered(delay: Duration) -> Duration {
    let half = delay / 2;
    match getrandom::u32() {
        Ok(drawn) => half + half.mul_f64(f64::from(drawn) / f64::from(u32::MAX)),
        Err(_) => delay,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    #![expect(clippy::disallowed_methods, reason = "a test plays the server")]

    use tonic::Status;
    use tonic_types::{ErrorDetails, StatusExt};

    use super::*;

    fn answered(status: &Status) -> Error {
        Error::from_status(status, "unix:///s")
    }

    #[test]
    fn delays_double_and_four_attempts_are_all() {
        let error = answered(&Status::unavailable("away"));
        for (attempt, full) in [(1, 50), (2, 100), (3, 200)] {
            let delay = delay(attempt, Repeat::Safe, &error).unwrap();
            assert!(
                delay >= Duration::from_millis(full / 2) && delay <= Duration::from_millis(full),
                "{delay:?}"
            );
        }
        assert_eq!(delay(4, Repeat::Safe, &error), None);
        assert_eq!(delay(1, Repeat::Never, &error), None);
    }

    #[test]
    fn a_delay_stops_growing() {
        for attempt in [6, 40, u32::MAX] {
            let delay = backoff(attempt, None);
            assert!(delay >= LONGEST_DELAY / 2 && delay <= LONGEST_DELAY, "{delay:?}");
        }
    }

    #[test]
    fn the_servers_delay_is_honoured() {
        let details = ErrorDetails::with_retry_info(Some(Duration::from_secs(3)));
        let status = Status::with_error_details(tonic::Code::Unavailable, "away", details);
        assert_eq!(
            delay(1, Repeat::Safe, &answered(&status)),
            Some(Duration::from_secs(3))
        );
    }

    #[test]
    fn other_answers_are_final() {
        let final_ones = [
            Status::cancelled("x"),
            Status::internal("x"),
            Status::aborted("x"),
            Status::resource_exhausted("x"),
            Status::deadline_exceeded("x"),
        ];
        for status in final_ones {
            assert_eq!(delay(1, Repeat::Safe, &answered(&status)), None, "{status:?}");
        }
    }
}
