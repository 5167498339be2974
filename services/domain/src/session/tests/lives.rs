//! From creation to the end and back.

use super::*;

#[test]
fn s087_s088_without_a_runtime_a_stop_is_at_once() {
    for state in [SessionState::Active, SessionState::Starting] {
        let mut live = session();
        live.state = state;
        let outcome = changed(&live, &stop(StopCause::Timeout, ""), at(1));
        assert_counted(&live, &outcome);
        assert_eq!(
            verdict(&outcome.next),
            (StopReason::Timeout, Some(FailureKind::Timeout))
        );
        assert_eq!(outcome.next.updated_at, at(1));
        assert_eq!(outcome.transition.unwrap().state, SessionState::Stopped);
    }
}

#[test]
fn s089_s091_s092_s093_a_live_runtime_is_asked() {
    let stopping = changed(&bound(), &stop(StopCause::Timeout, ""), at(1)).next;
    assert_eq!(stopping.state, SessionState::Stopping);
    assert_eq!(stopping.stop.as_ref().unwrap().requested_at, Some(at(1)));
    let refined = changed(&stopping, &stop(StopCause::Timeout, "second"), at(2)).next;
    assert_eq!(refined.state, SessionState::Stopping);
    assert_eq!(refined.stop.as_ref().unwrap().detail, "second");
    for nothing in [
        stop(StopCause::Shutdown, "x"),
        stop(StopCause::Timeout, "second"),
        stop(StopCause::Timeout, ""),
    ] {
        assert_eq!(refined.changed(&nothing, moment(at(3))), Ok(None));
    }
}

#[test]
fn a_runtime_whose_lease_has_lapsed_is_not_waited_for() {
    let stopped = changed(&bound(), &stop(StopCause::User, ""), at(30)).next;
    assert_eq!(stopped.state, SessionState::Stopped);
    assert_eq!(stopped.runtime, RuntimeState::Lost);
}

#[test]
fn s094_s095_what_is_over_stays_as_it_is() {
    let stopped = changed(&session(), &stop(StopCause::Completed, ""), START).next;
    let archived = changed(&stopped, &SessionChange::Archive, at(1)).next;
    for over in [&stopped, &archived] {
        assert_eq!(over.changed(&stop(StopCause::User, "x"), moment(at(2))), Ok(None));
    }
}

#[test]
fn s139_to_s144_resuming() {
    let ended = bound()
        .finished(&hash(1), &Default::default(), moment(at(1)))
        .unwrap()
        .unwrap()
        .next;
    let resume = SessionChange::Resume { bind: None };
    let outcome = changed(&ended, &resume, at(2));
    assert_counted(&ended, &outcome);
    let starting = outcome.next;
    assert_eq!(
        (starting.state, starting.generation, starting.stop.as_ref()),
        (SessionState::Starting, 2, None)
    );
    assert_eq!(starting.created_at, ended.created_at);
    assert_eq!(starting.changed(&resume, moment(at(3))), Ok(None));
    let old = starting.heartbeat(&hash(1), &Report::default(), moment(at(3)));
    assert_eq!(old, Err(CatalogError::LeaseLost));
    let old = starting.finished(&hash(1), &Default::default(), moment(at(3)));
    assert_eq!(old, Err(CatalogError::LeaseLost));
    let with_runtime = SessionChange::Resume {
        bind: Some(lease("h2", 2)),
    };
    let starting = changed(&ended, &with_runtime, at(2)).next;
    assert_eq!((starting.generation, starting.runtime_holder.as_str()), (2, "h2"));
    for live in [
        session(),
        changed(&bound(), &stop(StopCause::User, ""), START).next,
    ] {
        let refused = live.changed(&resume, moment(START)).unwrap_err();
        assert!(refused.to_string().contains(live.state.as_str()), "{refused}");
    }
    let archived = changed(&ended, &SessionChange::Archive, at(2)).next;
    let refused = archived.changed(&resume, moment(at(3)));
    assert!(matches!(refused, Err(CatalogError::SessionArchived { .. })));
}

#[test]
fn s062_internal_sessions_are_not_resumed() {
    let mut dream = session();
    dream.session_type = SessionType::Dream;
    let stopped = changed(&dream, &stop(StopCause::Completed, ""), START).next;
    assert!(!stopped.is_resumable());
    let refused = stopped.changed(&SessionChange::Resume { bind: None }, moment(START));
    assert!(matches!(refused, Err(CatalogError::SessionState { .. })));
}

#[test]
fn s058_s061_which_sessions_are_internal() {
    for role in ["memory-extractor", "auto-title", "Auto-Title", "MEMORY-EXTRACTOR"] {
        assert!(is_internal(SessionType::User, role), "{role}");
    }
    for role in ["auto-titles", "memory-extractor-2", ""] {
        assert!(!is_internal(SessionType::User, role), "{role}");
    }
    assert!(is_internal(SessionType::Dream, ""));
}

#[test]
fn s147_resumable_is_one_rule() {
    let live = session();
    let stopped = changed(&live, &stop(StopCause::Completed, ""), START).next;
    let archived = changed(&stopped, &SessionChange::Archive, START).next;
    let timed_out = changed(&live, &stop(StopCause::Timeout, ""), START).next;
    let shown = [&live, &stopped, &archived, &timed_out].map(Session::is_resumable);
    assert_eq!(shown, [false, true, false, true]);
}

#[test]
fn s156_to_s159_archiving_needs_a_stopped_one_and_keeps_the_first_time() {
    let stopped = changed(&session(), &stop(StopCause::Completed, ""), START).next;
    let outcome = changed(&stopped, &SessionChange::Archive, at(1));
    assert_counted(&stopped, &outcome);
    let archived = outcome.next;
    assert_eq!(
        (archived.state, archived.archived_at),
        (SessionState::Stopped, Some(at(1)))
    );
    assert_eq!(
        archived.changed(&SessionChange::Archive, moment(at(3_600))),
        Ok(None)
    );
    let back = changed(&archived, &SessionChange::Unarchive, at(2)).next;
    assert_eq!(back.archived_at, None);
    assert_eq!(back.changed(&SessionChange::Unarchive, moment(at(3))), Ok(None));
    for state in [
        SessionState::Starting,
        SessionState::Active,
        SessionState::Stopping,
    ] {
        let mut live = session();
        live.state = state;
        let refused = live.changed(&SessionChange::Archive, moment(START)).unwrap_err();
        assert!(refused.to_string().contains(state.as_str()), "{refused}");
        assert!(live.check_deletable(false).is_err() && live.check_deletable(true).is_ok());
    }
}

#[test]
fn s151_only_users_sessions_have_names() {
    let name = super::super::fields::SessionName::parse("x", "name").unwrap();
    for session_type in [
        SessionType::Coordinator,
        SessionType::Spawned,
        SessionType::System,
    ] {
        let mut other = session();
        other.session_type = session_type;
        let refused = other.changed(&SessionChange::Rename(name.clone()), moment(START));
        assert!(matches!(refused, Err(CatalogError::InvalidField { field, .. }) if field == "name"));
    }
    let outcome = changed(&session(), &SessionChange::Rename(name.clone()), at(1));
    assert_eq!(outcome.entry, Some(ChangeReason::Renamed));
    let again = outcome.next.changed(&SessionChange::Rename(name), moment(at(2)));
    assert_eq!(again, Ok(None));
}

#[test]
fn s121_what_moves_updated_at_and_what_does_not() {
    let bound = bound();
    assert_eq!(bound.updated_at, START);
    let beaten = beat(&bound, &Report::default(), at(1)).next;
    assert_eq!(beaten.updated_at, START);
    let stopping = changed(&beaten, &stop(StopCause::User, ""), at(2)).next;
    assert_eq!(stopping.updated_at, at(2));
    let ended = stopping
        .finished(&hash(1), &Default::default(), moment(at(3)))
        .unwrap()
        .unwrap();
    assert_counted(&stopping, &ended);
    assert_eq!(ended.next.updated_at, at(3));
}

#[test]
fn s139_s144_a_resumed_session_knows_nothing_of_its_last_runtime() {
    let lost = sweep_at(&bound(), at(30));
    assert_eq!(
        (lost.runtime, lost.runtime_holder.as_str()),
        (RuntimeState::Lost, "h1")
    );
    let resume = SessionChange::Resume { bind: None };
    let later = at(3_600);
    let starting = changed(&lost, &resume, later).next;
    assert_eq!(
        (starting.runtime, starting.runtime_holder.as_str()),
        (RuntimeState::None, "")
    );
    // It has the whole time of a start.
    assert_eq!(starting.state_at, later);
    assert_eq!(
        starting.swept(START_TIMEOUT, moment(later.plus(START_TIMEOUT))),
        None
    );
    // A last word of an earlier life is not one of this life.
    let word = change::LastWord {
        exit_status: Some(3),
        ..Default::default()
    };
    let ended = bound()
        .finished(&hash(1), &word, moment(at(1)))
        .unwrap()
        .unwrap()
        .next;
    let stop_of = ended.stop.as_ref().unwrap();
    assert_eq!((stop_of.exit_status, stop_of.stopped_at), (Some(3), Some(at(1))));
    let again = changed(&ended, &resume, at(2)).next;
    let again = changed(&again, &stop(StopCause::User, ""), at(3)).next;
    let stale = again.finished(&hash(1), &word, moment(at(4)));
    assert_eq!(stale, Err(CatalogError::LeaseLost));
}

fn sweep_at(session: &Session, now: Timestamp) -> Session {
    session.swept(START_TIMEOUT, moment(now)).unwrap().next
}
