//! Runtime leases and those of operators.

use super::*;

fn enter(holder: &str, seconds: u64) -> SessionChange {
    SessionChange::AcquireAttach {
        holder: holder.to_owned(),
        ttl: Duration::from_secs(seconds),
    }
}

#[test]
fn s064_a_lease_changes_no_state_and_no_etag() {
    let before = session();
    let outcome = changed(&before, &SessionChange::Bind(lease("h1", 1)), START);
    assert_counted(&before, &outcome);
    let next = outcome.next;
    assert_eq!((next.state, next.generation), (SessionState::Active, 1));
    assert_eq!(next.runtime_holder, "h1");
    assert_eq!((next.updated_at, next.etag()), (before.updated_at, before.etag()));
    let lease = next.live.unwrap().lease.unwrap();
    assert_eq!(lease.expires_at, at(30));
}

#[test]
fn s069_s070_a_lease_is_over_at_its_very_end() {
    let bound = bound();
    let other = SessionChange::Bind(lease("h2", 2));
    let early = bound.changed(&other, moment(Timestamp::from_nanos(at(30).nanos() - 1)));
    assert_eq!(
        early,
        Err(CatalogError::LeaseHeld {
            holder: "h1".to_owned()
        })
    );
    for now in [at(30), at(30).plus(NANOSECOND)] {
        let taken = changed(&bound, &other, now).next;
        assert_eq!((taken.generation, taken.runtime_holder.as_str()), (2, "h2"));
        let lost = taken.heartbeat(&hash(1), &Report::default(), moment(now));
        assert_eq!(lost, Err(CatalogError::LeaseLost));
        let lost = taken.finished(&hash(1), &Default::default(), moment(now));
        assert_eq!(lost, Err(CatalogError::LeaseLost));
    }
}

#[test]
fn the_same_holder_gets_a_new_generation_and_the_old_token_is_over() {
    let again = changed(&bound(), &SessionChange::Bind(lease("h1", 2)), at(1)).next;
    assert_eq!(again.generation, 2);
    let old = again.heartbeat(&hash(1), &Report::default(), moment(at(1)));
    assert_eq!(old, Err(CatalogError::LeaseLost));
}

#[test]
fn s073_s074_who_can_be_bound() {
    let mut stopped = changed(&session(), &stop(StopCause::Completed, ""), START).next;
    let bind = SessionChange::Bind(lease("h1", 1));
    let refused = stopped.changed(&bind, moment(START)).unwrap_err();
    assert!(refused.to_string().contains("stopped"), "{refused}");
    stopped = changed(&stopped, &SessionChange::Archive, START).next;
    let refused = stopped.changed(&bind, moment(START));
    assert!(matches!(refused, Err(CatalogError::SessionArchived { .. })));
}

#[test]
fn s075_s077_a_heartbeat_without_news_moves_nothing_but_the_lease() {
    let bound = bound();
    let report = Report {
        activity: Some(change::NewActivity {
            kind: "turn".into(),
            detail: "d".into(),
            tool: "bash".into(),
            turn_id: "t1".into(),
        }),
        ..Report::default()
    };
    let outcome = beat(&bound, &report, at(20));
    assert_counted(&bound, &outcome);
    assert_eq!(outcome.entry, None);
    let next = outcome.next;
    assert_eq!(next.etag(), bound.etag());
    assert_eq!(next.activity.as_ref().unwrap().at, at(20));
    assert_eq!(next.active_at(), at(20));
    assert_eq!(next.live.unwrap().lease.unwrap().expires_at, at(50));
}

#[test]
fn the_first_heartbeat_makes_a_starting_session_active() {
    let mut starting = bound();
    starting.state = SessionState::Starting;
    let outcome = beat(&starting, &Report::default(), at(1));
    assert_counted(&starting, &outcome);
    let transition = outcome.transition.unwrap();
    assert_eq!(
        (
            transition.state,
            transition.by.as_str(),
            transition.cause.as_str()
        ),
        (SessionState::Active, "h1", "heartbeat")
    );
    assert_eq!(outcome.next.updated_at, at(1));
}

#[test]
fn s367_a_lease_that_lapsed_while_the_catalog_was_away_is_excused() {
    let away = Moment {
        away_since: Some(at(10)),
        ..moment(at(100))
    };
    let outcome = bound().heartbeat(&hash(1), &Report::default(), away).unwrap();
    assert_eq!(outcome.next.live.unwrap().lease.unwrap().expires_at, at(130));
    bound().finished(&hash(1), &Default::default(), away).unwrap();
    // One that had lapsed before is not.
    let away = Moment {
        away_since: Some(at(30)),
        ..away
    };
    let lost = bound().heartbeat(&hash(1), &Report::default(), away);
    assert_eq!(lost, Err(CatalogError::LeaseLost));
}

#[test]
fn s175_s178_s179_one_operator_at_a_time_and_renewing_is_no_change() {
    let entered = changed(&session(), &enter("h1", 900), START);
    assert_counted(&session(), &entered);
    let entered = entered.next;
    assert_eq!(entered.live_attach(at(899)).unwrap().expires_at, at(900));
    let just_before = Timestamp::from_nanos(at(900).nanos() - 1);
    for now in [START, just_before] {
        let refused = entered.changed(&enter("h2", 60), moment(now));
        assert!(matches!(refused, Err(CatalogError::LeaseHeld { .. })));
    }
    let renewed = changed(&entered, &enter("h1", 60), at(1));
    assert_eq!(renewed.entry, None);
    assert_eq!(renewed.next.version, entered.version);
    assert_eq!(renewed.next.live_attach(at(2)).unwrap().expires_at, at(61));
    let taken = changed(&entered, &enter("h2", 60), at(900));
    assert_eq!(taken.entry, Some(ChangeReason::AttachLease));
}

#[test]
fn s181_s182_s183_who_can_be_entered() {
    for state in [
        SessionState::Starting,
        SessionState::Stopping,
        SessionState::Stopped,
        SessionState::Orphaned,
    ] {
        let mut other = session();
        other.state = state;
        let refused = other.changed(&enter("h1", 60), moment(START));
        assert!(
            matches!(refused, Err(CatalogError::SessionState { .. })),
            "{state:?}"
        );
    }
    let stalled = Report {
        stalled: Some(true),
        ..Report::default()
    };
    let stalled = beat(&bound(), &stalled, at(1)).next;
    assert!(!stalled.is_attachable(at(1)));
    let refused = stalled.changed(&enter("h1", 60), moment(at(1)));
    assert!(matches!(refused, Err(CatalogError::SessionState { .. })));
    let recovered = Report {
        stalled: Some(false),
        ..Report::default()
    };
    let recovered = beat(&stalled, &recovered, at(2)).next;
    assert!(recovered.is_attachable(at(2)), "S188");
}

#[test]
fn s184_s186_s187_s190_a_lease_is_shown_while_it_is_live() {
    let bound = bound();
    let entered = changed(&bound, &enter("op", 60), START).next;
    assert!(!entered.is_attachable(at(59)) && entered.is_attachable(at(60)));
    assert_eq!(entered.live_attach(at(60)), None);
    let lease = |session: &Session| session.live.as_ref().unwrap().lease.clone();
    assert_eq!(lease(&entered), lease(&bound));
    assert_eq!(entered.updated_at, bound.updated_at);
    let left = changed(
        &entered,
        &SessionChange::ReleaseAttach { holder: "op".into() },
        at(1),
    );
    assert_eq!(left.entry, Some(ChangeReason::AttachLease));
    assert!(left.next.is_attachable(at(1)));
    let other = SessionChange::ReleaseAttach { holder: "x".into() };
    assert_eq!(entered.changed(&other, moment(at(1))), Ok(None));
    let stopped = changed(&session(), &enter("op", 60), START).next;
    let stopped = changed(&stopped, &stop(StopCause::Completed, ""), at(1)).next;
    assert_eq!(stopped.live_attach(at(1)), None);
    assert!(!stopped.is_attachable(at(1)));
}

#[test]
fn a_runtime_that_is_excused_is_asked_to_stop_and_keeps_others_out() {
    let away = Moment {
        away_since: Some(at(10)),
        ..moment(at(3_600))
    };
    let asked = bound()
        .changed(&stop(StopCause::User, ""), away)
        .unwrap()
        .unwrap();
    assert_eq!(asked.next.state, SessionState::Stopping);
    asked.next.heartbeat(&hash(1), &Report::default(), away).unwrap();
    let other = bound().changed(&SessionChange::Bind(lease("h2", 2)), away);
    assert!(matches!(other, Err(CatalogError::LeaseHeld { .. })), "{other:?}");
    let same = bound().changed(&SessionChange::Bind(lease("h1", 2)), away);
    assert_eq!(same.unwrap().unwrap().next.generation, 2);
    // Lapsed before the catalog went away.
    let away = Moment {
        away_since: Some(at(30)),
        ..away
    };
    let over = bound()
        .changed(&stop(StopCause::User, ""), away)
        .unwrap()
        .unwrap();
    assert_eq!(over.next.state, SessionState::Stopped);
    let other = bound().changed(&SessionChange::Bind(lease("h2", 2)), away);
    assert_eq!(other.unwrap().unwrap().next.runtime_holder, "h2");
}

#[test]
fn s190_a_new_runtime_leaves_the_operator_and_what_nobody_has_seen() {
    let settled = Report {
        settled: true,
        ..Report::default()
    };
    let entered = changed(&bound(), &enter("op", 900), START).next;
    let done = beat(&entered, &settled, at(1)).next;
    let before = done.live.clone().unwrap();
    assert_eq!(before.lease.unwrap().heartbeat_at, Some(at(1)));
    let after = changed(&done, &SessionChange::Bind(lease("h1", 2)), at(2)).next;
    let after = after.live.unwrap();
    assert_eq!(
        (after.attach, after.settled_at),
        (before.attach, before.settled_at)
    );
    assert_eq!(after.lease.unwrap().heartbeat_at, None);
}
