//! What stops are called.

use super::super::change::LastWord;
use super::*;

fn word(cause: Option<StopCause>, detail: &str, error: &str, kind: Option<FailureKind>) -> LastWord {
    LastWord {
        cause,
        detail: detail.to_owned(),
        error: error.to_owned(),
        kind,
        exit_status: None,
    }
}

fn finish(session: &Session, word: &LastWord) -> Session {
    let outcome = session.finished(&hash(1), word, moment(at(1))).unwrap().unwrap();
    assert_counted(session, &outcome);
    outcome.next
}

#[test]
fn s102_to_s115_the_table_of_the_spec() {
    use FailureKind as Kind;
    use StopCause as Cause;
    use StopReason as Reason;

    type Row = (
        Option<Cause>,
        &'static str,
        &'static str,
        Option<Kind>,
        (Reason, Option<Kind>),
    );
    let table: &[Row] = &[
        (Some(Cause::Completed), "", "", None, (Reason::Completed, None)),
        (
            Some(Cause::Shutdown),
            "",
            "broken pipe",
            None,
            (Reason::Shutdown, None),
        ),
        (
            Some(Cause::Hook),
            "not allowed",
            "",
            None,
            (Reason::HookStopped, Some(Kind::PermissionFailure)),
        ),
        (
            Some(Cause::User),
            "reached max_iterations (40)",
            "",
            None,
            (Reason::MaxIterations, Some(Kind::Cancellation)),
        ),
        (
            Some(Cause::User),
            "loop_detected",
            "",
            None,
            (Reason::LoopDetected, Some(Kind::Cancellation)),
        ),
        (
            Some(Cause::User),
            "budget_exceeded: 5 USD",
            "",
            None,
            (Reason::BudgetExceeded, Some(Kind::Cancellation)),
        ),
        (
            Some(Cause::User),
            "maximum number of iterations",
            "",
            None,
            (Reason::UserCanceled, Some(Kind::Cancellation)),
        ),
        (
            Some(Cause::Timeout),
            "loop_detected",
            "",
            None,
            (Reason::Timeout, Some(Kind::Timeout)),
        ),
        (
            Some(Cause::ProcessExit),
            "",
            "signal 9",
            None,
            (Reason::AgentCrashed, Some(Kind::ProcessExit)),
        ),
        (
            Some(Cause::ProcessExit),
            "",
            "x",
            Some(Kind::ProviderAuthFailure),
            (Reason::AgentCrashed, Some(Kind::ProviderAuthFailure)),
        ),
        (
            Some(Cause::ProcessExit),
            "",
            "",
            None,
            (Reason::Error, Some(Kind::ProcessExit)),
        ),
        (Some(Cause::Clear), "", "", None, (Reason::Completed, None)),
        (Some(Cause::Rewind), "", "", None, (Reason::Completed, None)),
        (
            Some(Cause::Completed),
            "",
            "boom",
            None,
            (Reason::Completed, None),
        ),
        (
            Some(Cause::Failed),
            "",
            "",
            None,
            (Reason::Error, Some(Kind::UnknownFailure)),
        ),
        (
            Some(Cause::Failed),
            "",
            "",
            Some(Kind::PromptFailure),
            (Reason::Error, Some(Kind::PromptFailure)),
        ),
        (
            None,
            "",
            "boom",
            None,
            (Reason::Error, Some(Kind::UnknownFailure)),
        ),
        (
            None,
            "",
            "boom",
            Some(Kind::TransportFailure),
            (Reason::Error, Some(Kind::TransportFailure)),
        ),
        (None, "", "", None, (Reason::Completed, None)),
    ];
    for (cause, detail, error, kind, expected) in table {
        let stopped = finish(&bound(), &word(*cause, detail, error, *kind));
        assert_eq!(
            verdict(&stopped),
            *expected,
            "{cause:?} {detail:?} {error:?} {kind:?}"
        );
    }
}

#[test]
fn s116_s117_the_first_cause_wins() {
    let hooked = changed(&bound(), &stop(StopCause::Hook, ""), START).next;
    let ended = finish(
        &hooked,
        &word(Some(StopCause::ProcessExit), "", "signal 15", None),
    );
    assert_eq!(
        verdict(&ended),
        (StopReason::HookStopped, Some(FailureKind::PermissionFailure))
    );
    let shut = changed(&bound(), &stop(StopCause::Shutdown, ""), START).next;
    assert_eq!(
        verdict(&finish(&shut, &word(None, "", "signal 9", None))),
        (StopReason::Shutdown, None)
    );
}

#[test]
fn only_the_cause_that_is_kept_tells_more_at_the_end() {
    use StopCause::{ProcessExit, User};
    for (asked, cause, detail, expected, reason) in [
        // Another cause: neither its detail nor what that names.
        (
            "",
            Some(ProcessExit),
            "loop_detected",
            "",
            StopReason::UserCanceled,
        ),
        (
            "enough",
            Some(ProcessExit),
            "core dumped",
            "enough",
            StopReason::UserCanceled,
        ),
        // The same one refines, and nothing takes nothing away.
        (
            "enough",
            Some(User),
            "budget_exceeded",
            "budget_exceeded",
            StopReason::BudgetExceeded,
        ),
        (
            "loop_detected",
            Some(User),
            "",
            "loop_detected",
            StopReason::LoopDetected,
        ),
        // None agrees.
        (
            "",
            None,
            "max_iterations",
            "max_iterations",
            StopReason::MaxIterations,
        ),
        ("enough", None, "core dumped", "enough", StopReason::UserCanceled),
    ] {
        let stopping = changed(&bound(), &stop(User, asked), START).next;
        let ended = finish(&stopping, &word(cause, detail, "", None));
        let stop = ended.stop.clone().unwrap();
        assert_eq!((stop.cause, stop.detail.as_str()), (Some(User), expected));
        assert_eq!(verdict(&ended), (reason, Some(FailureKind::Cancellation)));
    }
}

#[test]
fn s090_the_cause_of_the_request_is_that_of_the_end() {
    let stopping = changed(&bound(), &stop(StopCause::Timeout, ""), START).next;
    let ended = finish(&stopping, &LastWord::default());
    assert_eq!(verdict(&ended), (StopReason::Timeout, Some(FailureKind::Timeout)));
}

#[test]
fn a_start_that_never_became_a_run_is_a_failed_one_unless_somebody_ended_it() {
    let mut starting = bound();
    starting.state = SessionState::Starting;
    for (word, expected) in [
        (LastWord::default(), FailureKind::StartupFailure),
        (
            word(Some(StopCause::ProcessExit), "", "exit 127", None),
            FailureKind::StartupFailure,
        ),
        (
            word(None, "", "no", Some(FailureKind::HandshakeFailure)),
            FailureKind::HandshakeFailure,
        ),
    ] {
        assert_eq!(
            verdict(&finish(&starting, &word)),
            (StopReason::Error, Some(expected))
        );
    }
    let canceled = word(Some(StopCause::User), "", "", None);
    assert_eq!(
        verdict(&finish(&starting, &canceled)),
        (StopReason::UserCanceled, Some(FailureKind::Cancellation))
    );
}

#[test]
fn the_last_word_is_heard_once_and_only_under_its_lease() {
    let ended = finish(&bound(), &LastWord::default());
    assert_eq!(ended.runtime, RuntimeState::None);
    assert_eq!((ended.runtime_holder.as_str(), ended.live.as_ref()), ("", None));
    let again = ended.finished(&hash(1), &LastWord::default(), moment(at(999)));
    assert_eq!(again, Ok(None));
    let other = ended.finished(&hash(2), &LastWord::default(), moment(at(1)));
    assert_eq!(other, Err(CatalogError::LeaseLost));
}
