//! What the end of a stream means: on with a new connection, and when, or the end of the watch.

use std::time::Duration;

use crate::retry::{self, Repeat};
use crate::{Code, Error, ErrorKind, ErrorReason};

/// How a stream ended.
#[derive(Debug)]
pub(super) enum Ending {
    /// The server said that it goes away.
    GoingAway {
        /// It had said something else before, on this stream.
        was_useful: bool,
    },
    /// Anything else.
    Failed(Error),
}

/// What the watch knows about its server.
#[derive(Debug, Clone, Copy)]
pub(super) struct Experience {
    /// The server has said something at some time: there is one, and it takes this request.
    pub(super) has_answered: bool,
    /// Which attempt has ended, from 1, since the server last said something.
    pub(super) attempt: u32,
}

/// How long to wait before the next connection.
///
/// # Errors
///
/// The one that ends the watch.
pub(super) fn delay(ending: &Ending, experience: Experience) -> Result<Duration, Error> {
    let Experience {
        has_answered,
        attempt,
    } = experience;
    let error = match ending {
        Ending::GoingAway { was_useful: true } => return Ok(Duration::ZERO),
        // One that only ever says goodbye is not asked in a circle.
        Ending::GoingAway { was_useful: false } => return Ok(retry::backoff(attempt, None)),
        Ending::Failed(error) => error,
    };
    if has_answered {
        if is_final(error) {
            return Err(error.clone());
        }
        return Ok(retry::backoff(attempt, error.retry_after()));
    }
    retry::delay(attempt, Repeat::Safe, error).ok_or_else(|| error.clone())
}

/// Whether a server that was there before would say the same again.
fn is_final(error: &Error) -> bool {
    match error.kind() {
        ErrorKind::Configuration => true,
        // Whatever stands in for the server now, a web page included: the server may come back.
        ErrorKind::Transport | ErrorKind::Deadline => false,
        ErrorKind::Answer => {
            let is_ours = !error.reason_name().is_empty();
            match error.code() {
                // A watch has no deadline of its own: somebody between sets one.
                Code::Ok | Code::Unavailable | Code::DeadlineExceeded => false,
                Code::ResourceExhausted => is_ours && !passes(error.reason()),
                // What proxies and libraries make of a cut stream.
                Code::Internal | Code::Unknown | Code::Cancelled => is_ours,
                _ => true,
            }
        }
    }
}

/// Whether a limit is one that others free again.
fn passes(reason: ErrorReason) -> bool {
    matches!(reason, ErrorReason::TooManyWatchers | ErrorReason::RateLimited)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    #![expect(clippy::disallowed_methods, reason = "a test plays the server")]

    use std::collections::HashMap;

    use tonic::Status;
    use tonic_types::{ErrorDetails, StatusExt};

    use super::*;

    fn ours(code: Code, reason: &str) -> Error {
        let details = ErrorDetails::with_error_info(reason, "compozy.dev", HashMap::new());
        Error::from_status(&Status::with_error_details(code, "x", details), "unix:///s")
    }

    fn others(code: Code) -> Error {
        Error::from_status(&Status::new(code, "x"), "unix:///s")
    }

    fn goes_on(error: Error, has_answered: bool) -> bool {
        let experience = Experience {
            has_answered,
            attempt: 1,
        };
        delay(&Ending::Failed(error), experience).is_ok()
    }

    #[test]
    fn what_passes_is_waited_for_once_the_server_was_there() {
        let passing = [
            ours(Code::Unavailable, "STORE_UNAVAILABLE"),
            ours(Code::Unavailable, "DRAINING"),
            ours(Code::Unavailable, "FROM_THE_FUTURE"),
            ours(Code::ResourceExhausted, "TOO_MANY_WATCHERS"),
            ours(Code::ResourceExhausted, "RATE_LIMITED"),
            ours(Code::DeadlineExceeded, "DEADLINE_EXCEEDED"),
            others(Code::ResourceExhausted),
            others(Code::Internal),
            others(Code::Unknown),
            others(Code::Cancelled),
            Error::cut("unix:///s"),
            Error::silence("unix:///s", Duration::from_secs(30)),
        ];
        for error in passing {
            assert!(goes_on(error.clone(), true), "{error:?}");
        }
    }

    #[test]
    fn what_stays_ends_the_watch() {
        let lasting = [
            ours(Code::OutOfRange, "RESUME_TOKEN_EXPIRED"),
            ours(Code::InvalidArgument, "CURSOR_INVALID"),
            ours(Code::NotFound, "WORKSPACE_NOT_FOUND"),
            ours(Code::Internal, "DEFECT"),
            ours(Code::ResourceExhausted, "MESSAGE_TOO_LARGE"),
            ours(Code::Unauthenticated, "TOKEN_INVALID"),
            others(Code::PermissionDenied),
            others(Code::Unimplemented),
        ];
        for error in lasting {
            assert!(!goes_on(error.clone(), true), "{error:?}");
            assert!(!goes_on(error.clone(), false), "{error:?}");
        }
    }

    #[test]
    fn the_first_connection_is_tried_like_a_call() {
        assert!(goes_on(ours(Code::Unavailable, "STORE_UNAVAILABLE"), false));
        assert!(goes_on(Error::cut("unix:///s"), false));
        let at_once = [
            ours(Code::ResourceExhausted, "TOO_MANY_WATCHERS"),
            others(Code::Internal),
            Error::silence("unix:///s", Duration::from_secs(30)),
        ];
        for error in at_once {
            assert!(!goes_on(error.clone(), false), "{error:?}");
        }
        let fourth = Experience {
            has_answered: false,
            attempt: retry::ATTEMPTS,
        };
        assert!(delay(&Ending::Failed(Error::cut("unix:///s")), fourth).is_err());
    }

    #[test]
    fn who_goes_away_in_order_is_left_at_once() {
        let experience = Experience {
            has_answered: true,
            attempt: 1,
        };
        let waited = |was_useful| delay(&Ending::GoingAway { was_useful }, experience).unwrap();
        assert_eq!(waited(true), Duration::ZERO);
        assert!(waited(false) >= retry::FIRST_DELAY / 2);
    }
}
