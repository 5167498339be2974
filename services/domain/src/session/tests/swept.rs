//! What time makes of sessions.

use super::*;

fn sweep(session: &Session, now: Timestamp) -> Option<Outcome> {
    session.swept(START_TIMEOUT, moment(now))
}

#[test]
fn s122_s123_s124_a_lease_that_lapsed_is_given_up_once() {
    let bound = bound();
    assert_eq!(sweep(&bound, Timestamp::from_nanos(at(30).nanos() - 1)), None);
    let outcome = sweep(&bound, at(30)).unwrap();
    assert_counted(&bound, &outcome);
    let lost = outcome.next;
    assert_eq!(
        verdict(&lost),
        (StopReason::AgentCrashed, Some(FailureKind::ProcessExit))
    );
    assert_eq!(
        lost.stop.as_ref().unwrap().detail,
        "runtime lease expired while active"
    );
    assert_eq!(
        (lost.runtime, lost.runtime_holder.as_str()),
        (RuntimeState::Lost, "h1")
    );
    assert_eq!(sweep(&lost, at(999)), None);
}

#[test]
fn s125_a_stop_that_did_not_complete_keeps_its_detail() {
    for (given, kept) in [("", "stop did not complete"), ("not allowed", "not allowed")] {
        let stopping = changed(&bound(), &stop(StopCause::Hook, given), at(1)).next;
        let lost = sweep(&stopping, at(30)).unwrap().next;
        assert_eq!(
            verdict(&lost),
            (StopReason::AgentCrashed, Some(FailureKind::ProcessExit))
        );
        assert_eq!(lost.stop.unwrap().detail, kept);
    }
}

#[test]
fn s126_s127_a_start_has_its_time() {
    let mut starting = session();
    starting.state = SessionState::Starting;
    assert_eq!(sweep(&starting, at(60)), None);
    let outcome = sweep(&starting, at(60).plus(NANOSECOND)).unwrap();
    assert_eq!(
        verdict(&outcome.next),
        (StopReason::Error, Some(FailureKind::StartupFailure))
    );
    assert_eq!(outcome.next.stop.unwrap().detail, "start did not complete");
    let short = starting.swept(Duration::from_secs(5), moment(at(6)));
    assert!(short.is_some());
}

#[test]
fn a_start_that_an_outage_has_cut_has_the_time_that_its_lease_was_given() {
    let mut starting = bound();
    starting.state = SessionState::Starting;
    let away = Moment {
        away_since: Some(at(10)),
        ..moment(at(100))
    };
    let granted = starting.swept(START_TIMEOUT, away).unwrap().next;
    let state = |outcome: Option<Outcome>| outcome.map(|outcome| outcome.next.state);
    assert_ne!(state(sweep(&granted, at(129))), Some(SessionState::Stopped));
    assert_eq!(
        beat(&granted, &Report::default(), at(129)).next.state,
        SessionState::Active
    );
    assert_eq!(state(sweep(&granted, at(130))), Some(SessionState::Stopped));
    // A long lease alone buys no time.
    let mut long = starting;
    let lease = NewLease {
        ttl: Duration::from_secs(3_600),
        ..lease("h1", 1)
    };
    long.take_lease(&lease, START);
    assert_eq!(state(sweep(&long, at(61))), Some(SessionState::Stopped));
}

#[test]
fn s128_a_session_without_a_runtime_never_lapses() {
    assert_eq!(sweep(&session(), at(365 * 86_400)), None);
}

#[test]
fn s132_s133_s134_an_outage_grants_one_ttl_once() {
    let away = Moment {
        away_since: Some(at(10)),
        ..moment(at(100))
    };
    let outcome = bound().swept(START_TIMEOUT, away).unwrap();
    assert_eq!(outcome.entry, None);
    let granted = outcome.next;
    assert_eq!((granted.state, granted.generation), (SessionState::Active, 1));
    assert_eq!(
        granted.live.as_ref().unwrap().lease.as_ref().unwrap().expires_at,
        at(130)
    );
    beat(&granted, &Report::default(), at(120));
    let state = |outcome: Option<Outcome>| outcome.map(|outcome| outcome.next.state);
    assert_ne!(state(sweep(&granted, at(129))), Some(SessionState::Stopped));
    assert_eq!(state(sweep(&granted, at(131))), Some(SessionState::Stopped));
    // Lapsed before the catalog went away: the next sweep has it.
    let before = Moment {
        away_since: Some(at(30)),
        ..away
    };
    let lease = |session: &Session| session.live.as_ref().unwrap().lease.clone();
    let unchanged = bound().swept(START_TIMEOUT, before);
    assert!(unchanged.is_none_or(|outcome| lease(&outcome.next) == lease(&bound())));
}

#[test]
fn s185_a_lapsed_operator_is_told_once() {
    let enter = SessionChange::AcquireAttach {
        holder: "op".to_owned(),
        ttl: Duration::from_secs(60),
    };
    let entered = changed(&session(), &enter, START).next;
    assert_eq!(sweep(&entered, at(59)), None);
    let outcome = sweep(&entered, at(60)).unwrap();
    assert_counted(&entered, &outcome);
    assert_eq!(outcome.entry, Some(ChangeReason::AttachLease));
    assert_eq!(outcome.next.updated_at, entered.updated_at);
    assert_eq!(sweep(&outcome.next, at(61)), None);
}

#[test]
fn s195_both_edges_of_silence_are_told_once_the_sweep_has_run() {
    let mut bound = bound();
    let long = NewLease {
        ttl: Duration::from_secs(3_600),
        ..lease("h1", 1)
    };
    bound.take_lease(&long, START);
    let quiet = sweep(&bound, at(121)).unwrap();
    assert_counted(&bound, &quiet);
    assert_eq!(quiet.entry, Some(ChangeReason::Health));
    assert_eq!(sweep(&quiet.next, at(122)), None);
    let back = beat(&quiet.next, &Report::default(), at(123));
    assert_eq!(back.entry, Some(ChangeReason::Health));
    // Nobody noticed: nothing is told.
    let unnoticed = beat(&bound, &Report::default(), at(121));
    assert_eq!(unnoticed.entry, None);
}
