//! Health, badges, attention.

use super::super::change::Waiting;
use super::super::health::{Badge, Health, HealthState, Ineligibility};
use super::*;

fn badge(session: &Session, now: Timestamp) -> Badge {
    session.view(now, STALE_AFTER).badge
}

fn waiting(auth: bool, input: bool) -> Report {
    Report {
        waiting: Some(Waiting { auth, input }),
        ..Report::default()
    }
}

fn prompting(prompting: bool) -> Report {
    Report {
        prompting: Some(prompting),
        ..Report::default()
    }
}

fn settled() -> Report {
    Report {
        settled: true,
        prompting: Some(false),
        ..Report::default()
    }
}

#[test]
fn s191_s192_s196_health_follows_the_runtimes_word() {
    let at_work = beat(&bound(), &prompting(true), at(1)).next;
    let view = at_work.view(at(1), STALE_AFTER);
    assert_eq!(
        (view.state, view.health),
        (HealthState::Prompting, Health::Healthy)
    );
    let idle = beat(&at_work, &prompting(false), at(2)).next;
    let view = idle.view(at(2), STALE_AFTER);
    assert_eq!((view.state, view.health), (HealthState::Idle, Health::Healthy));
    let stalled = Report {
        stalled: Some(true),
        ..Report::default()
    };
    let stalled = beat(&idle, &stalled, at(3)).next;
    let view = stalled.view(at(3), STALE_AFTER);
    assert_eq!((view.health, view.badge), (Health::Degraded, Badge::Unhealthy));
    let stopped = changed(&session(), &stop(StopCause::Completed, ""), START).next;
    let view = stopped.view(START, STALE_AFTER);
    assert_eq!((view.state, view.health), (HealthState::Stopped, Health::Dead));
    let detached = session().view(START, STALE_AFTER);
    assert_eq!(
        (detached.state, detached.health),
        (HealthState::Detached, Health::Unknown)
    );
}

#[test]
fn s193_s194_silence_is_too_long_one_nanosecond_after_the_limit() {
    let bound = bound();
    assert_eq!(bound.view(at(120), STALE_AFTER).health, Health::Healthy);
    let view = bound.view(at(120).plus(NANOSECOND), STALE_AFTER);
    assert_eq!((view.health, view.badge), (Health::Stale, Badge::Hung));
    let short = Duration::from_secs(10);
    assert_eq!(bound.view(at(11), short).health, Health::Stale);
}

#[test]
fn s197_a_reason_exactly_where_it_cannot_be_woken() {
    let bound = bound();
    let at_work = beat(&bound, &prompting(true), at(1)).next;
    let stalled = Report {
        stalled: Some(true),
        ..Report::default()
    };
    let stalled = beat(&bound, &stalled, at(1)).next;
    let stopped = changed(&session(), &stop(StopCause::Completed, ""), START).next;
    for (session, now, expected) in [
        (&bound, at(1), None),
        (&at_work, at(1), Some(Ineligibility::PromptActive)),
        (&stalled, at(1), Some(Ineligibility::NotAttachable)),
        (&stopped, at(1), Some(Ineligibility::NotAttachable)),
        (&bound, at(121), Some(Ineligibility::Stale)),
        (&session(), at(1), Some(Ineligibility::Unknown)),
    ] {
        assert_eq!(session.view(now, STALE_AFTER).ineligibility, expected);
    }
}

#[test]
fn s201_s202_s209_waiting_is_told_once() {
    let bound = bound();
    let outcome = beat(&bound, &waiting(false, true), at(1));
    assert_counted(&bound, &outcome);
    assert_eq!(outcome.entry, Some(ChangeReason::Badge));
    let waits = outcome.next;
    assert_eq!(badge(&waits, at(1)), Badge::WaitingForInput);
    for _ in 0..2 {
        assert_eq!(beat(&waits, &waiting(false, true), at(2)).entry, None);
    }
    let both = beat(&waits, &waiting(true, true), at(2)).next;
    assert_eq!(badge(&both, at(2)), Badge::WaitingForAuth);
    let none = beat(&both, &waiting(false, false), at(3)).next;
    assert_eq!(badge(&none, at(3)), Badge::Idle);
}

#[test]
fn s203_s205_s206_done_until_somebody_has_seen_it() {
    let bound = bound();
    let outcome = beat(&bound, &settled(), at(1));
    assert_eq!(outcome.entry, Some(ChangeReason::Badge));
    let done = outcome.next;
    assert_eq!(badge(&done, at(1)), Badge::Done);
    let outcome = changed(&done, &SessionChange::Seen, at(2));
    assert_counted(&done, &outcome);
    assert_eq!(outcome.entry, Some(ChangeReason::Seen));
    let seen = outcome.next;
    assert_eq!(
        (badge(&seen, at(2)), seen.updated_at),
        (Badge::Idle, done.updated_at)
    );
    assert_eq!(seen.changed(&SessionChange::Seen, moment(at(3))), Ok(None));
    assert_eq!(badge(&beat(&seen, &settled(), at(4)).next, at(4)), Badge::Done);
}

#[test]
fn s207_s208_the_first_badge_that_holds() {
    let waits = beat(&bound(), &waiting(false, true), at(1)).next;
    let lost = waits.swept(START_TIMEOUT, moment(at(31))).unwrap().next;
    assert_eq!(badge(&lost, at(31)), Badge::Failed);
    let done = beat(&bound(), &settled(), at(1)).next;
    let word = change::LastWord {
        cause: Some(StopCause::Completed),
        ..Default::default()
    };
    let ended = done.finished(&hash(1), &word, moment(at(2))).unwrap().unwrap();
    assert_eq!(badge(&ended.next, at(2)), Badge::Stopped);
    let canceled = changed(&session(), &stop(StopCause::User, ""), START).next;
    assert_eq!(
        badge(&canceled, START),
        Badge::Stopped,
        "a cancellation is no failure"
    );
    let mut starting = session();
    starting.state = SessionState::Starting;
    assert_eq!(badge(&starting, START), Badge::Running);
    assert_eq!(badge(&session(), START), Badge::Unknown);
}

#[test]
fn attention_is_kept_with_the_time_since_when() {
    let bound = bound();
    assert_eq!(bound.attention.class, AttentionClass::Rest);
    let waits = beat(&bound, &waiting(false, true), at(5)).next;
    assert_eq!(
        (waits.attention.class, waits.attention.at),
        (AttentionClass::NeedsYou, at(5))
    );
    let other = beat(&waits, &waiting(true, false), at(6)).next;
    assert_eq!(other.attention.at, at(5), "still the same class");
    let done = beat(
        &beat(&other, &waiting(false, false), at(7)).next,
        &settled(),
        at(8),
    )
    .next;
    assert_eq!(
        (done.attention.class, done.attention.at),
        (AttentionClass::Finished, at(8))
    );
}
