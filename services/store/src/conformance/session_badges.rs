//! Promises about health and badges: what is shown of a session, and when the log is told.

use compozy_domain::session::change::{LastWord, Report, SessionChange};
use compozy_domain::session::health::{Badge, Health, HealthState, Ineligibility};
use compozy_domain::session::{AttentionClass, StopCause};
use compozy_domain::{ChangeReason, SessionId};

use super::engine::Engine;
use super::fixture::{Catalog, START};
use super::session_fixture::{STALE_AFTER, stopping, ungrouped};
use super::session_leases_fixture::{INSTANT, prompting, seconds, settled, stalled, waiting};
use crate::sessions::Swept;

/// Longer than any silence that is tried.
const HOUR: std::time::Duration = seconds(3_600);

async fn health<E: Engine>(catalog: &Catalog<E>, id: &SessionId) -> (HealthState, Health) {
    let view = catalog.view(id).await;
    (view.state, view.health)
}

async fn badge<E: Engine>(catalog: &Catalog<E>, id: &SessionId) -> Badge {
    catalog.view(id).await.badge
}

pub async fn s191_s192_health_is_what_the_runtime_reports<E: Engine>(catalog: Catalog<E>) {
    catalog.begin_sweeping().await;
    let (session, hash) = catalog.bound("h1").await;
    let id = &session.id;
    catalog.beat(&hash, prompting(true)).await.unwrap();
    assert_eq!(
        health(&catalog, id).await,
        (HealthState::Prompting, Health::Healthy)
    );
    assert_eq!(badge(&catalog, id).await, Badge::Running);
    catalog.beat(&hash, prompting(false)).await.unwrap();
    assert_eq!(health(&catalog, id).await, (HealthState::Idle, Health::Healthy));
    assert_eq!(badge(&catalog, id).await, Badge::Idle);
    catalog.beat(&hash, stalled(true)).await.unwrap();
    assert_eq!(health(&catalog, id).await.1, Health::Degraded);
    assert_eq!(badge(&catalog, id).await, Badge::Unhealthy);
    // What is not reported stays as it was.
    catalog.beat(&hash, Report::default()).await.unwrap();
    assert_eq!(health(&catalog, id).await.1, Health::Degraded);
    assert_eq!(
        catalog.reasons_of(id).await,
        [
            ChangeReason::Created,
            ChangeReason::Badge,
            ChangeReason::Badge,
            ChangeReason::Health
        ]
    );
}

pub async fn s193_silence_for_longer_than_two_minutes_is_stale<E: Engine>(catalog: Catalog<E>) {
    catalog.begin_sweeping().await;
    let (session, hash) = catalog.bound_for("h1", HOUR).await;
    catalog.beat(&hash, Report::default()).await.unwrap();
    catalog.pass(STALE_AFTER).await;
    assert_eq!(health(&catalog, &session.id).await.1, Health::Healthy);
    catalog.pass(INSTANT).await;
    assert_eq!(health(&catalog, &session.id).await.1, Health::Stale);
    assert_eq!(badge(&catalog, &session.id).await, Badge::Hung);
    let now = catalog.get_session(&session.id).await;
    assert_eq!(
        now.view(catalog.now(), seconds(121)).health,
        Health::Healthy,
        "where more silence is allowed"
    );
}

pub async fn s195_n016_each_edge_of_a_silence_is_told_once<E: Engine>(catalog: Catalog<E>) {
    catalog.begin_sweeping().await;
    let (session, hash) = catalog.bound_for("h1", HOUR).await;
    assert_eq!(catalog.pass_sweeping(STALE_AFTER).await, Swept::default());
    let head = catalog.log_length().await;
    assert_eq!(catalog.pass_sweeping(INSTANT).await.edge_count, 1);
    for _ in 0..3 {
        assert_eq!(catalog.pass_sweeping(seconds(5)).await, Swept::default());
    }
    assert_eq!(catalog.log_length().await, head + 1);
    for _ in 0..3 {
        catalog.beat(&hash, Report::default()).await.unwrap();
        assert_eq!(catalog.sweep().await, Swept::default());
    }
    assert_eq!(health(&catalog, &session.id).await.1, Health::Healthy);
    assert_eq!(
        catalog.reasons_of(&session.id).await,
        [ChangeReason::Created, ChangeReason::Health, ChangeReason::Health]
    );
    let now = catalog.get_session(&session.id).await;
    assert_eq!((now.updated_at, now.etag()), (session.updated_at, session.etag()));
}

pub async fn a_silence_that_nobody_has_seen_is_not_told<E: Engine>(catalog: Catalog<E>) {
    catalog.begin_sweeping().await;
    let (session, hash) = catalog.bound_for("h1", HOUR).await;
    catalog.pass(STALE_AFTER + seconds(1)).await;
    catalog.beat(&hash, Report::default()).await.unwrap();
    assert_eq!(catalog.sweep().await, Swept::default());
    assert_eq!(catalog.reasons_of(&session.id).await, [ChangeReason::Created]);
}

pub async fn s196_a_stopped_session_is_dead<E: Engine>(catalog: Catalog<E>) {
    catalog.begin_sweeping().await;
    let made = catalog.create_session(ungrouped()).await;
    assert_eq!(
        health(&catalog, &made.id).await,
        (HealthState::Detached, Health::Unknown)
    );
    assert_eq!(badge(&catalog, &made.id).await, Badge::Unknown);
    catalog
        .change_session(&made.id, stopping(StopCause::Completed, ""))
        .await;
    assert_eq!(
        health(&catalog, &made.id).await,
        (HealthState::Stopped, Health::Dead)
    );
    assert_eq!(badge(&catalog, &made.id).await, Badge::Stopped);
}

pub async fn s198_looking_at_health_writes_nothing<E: Engine>(catalog: Catalog<E>) {
    catalog.begin_sweeping().await;
    let (session, _) = catalog.bound_for("h1", HOUR).await;
    catalog.pass(STALE_AFTER + INSTANT).await;
    let before = catalog.everything().await;
    for _ in 0..100 {
        assert_eq!(health(&catalog, &session.id).await.1, Health::Stale);
    }
    assert_eq!(catalog.everything().await, before);
}

pub async fn s201_s202_s209_a_badge_says_what_is_waited_for<E: Engine>(catalog: Catalog<E>) {
    catalog.begin_sweeping().await;
    let (session, hash) = catalog.bound("h1").await;
    let badge_after = async |report: Report| {
        catalog.beat(&hash, report).await.unwrap();
        badge(&catalog, &session.id).await
    };
    assert_eq!(badge_after(waiting(true, false)).await, Badge::WaitingForAuth);
    assert_eq!(badge_after(waiting(true, true)).await, Badge::WaitingForAuth);
    for _ in 0..3 {
        assert_eq!(badge_after(waiting(false, true)).await, Badge::WaitingForInput);
    }
    let waits = catalog.get_session(&session.id).await;
    assert_eq!(waits.attention.class, AttentionClass::NeedsYou);
    assert_eq!(badge_after(waiting(false, false)).await, Badge::Idle);
    let reasons = catalog.reasons_of(&session.id).await;
    assert_eq!(reasons.len(), 1 + 3, "one for each other badge");
    assert!(reasons[1..].iter().all(|reason| *reason == ChangeReason::Badge));
    let idle = catalog.get_session(&session.id).await;
    assert_eq!(idle.attention.class, AttentionClass::Rest);
}

pub async fn s203_s204_s205_s206_a_settled_turn_is_done_until_it_is_seen<E: Engine>(catalog: Catalog<E>) {
    catalog.begin_sweeping().await;
    let (session, hash) = catalog.bound("h1").await;
    let id = &session.id;
    let head = catalog.log_length().await;
    catalog.pass(seconds(3)).await;
    catalog.beat(&hash, settled()).await.unwrap();
    assert_eq!(catalog.log_length().await, head + 1);
    for _ in 0..3 {
        assert_eq!(badge(&catalog, id).await, Badge::Done, "looking is not seeing");
    }
    let done = catalog.get_session(id).await;
    assert_eq!(
        (done.attention.class, done.attention.at),
        (AttentionClass::Finished, START.plus(seconds(3)))
    );
    let seen = catalog.change_session(id, SessionChange::Seen).await;
    assert_eq!(
        (seen.updated_at, seen.etag()),
        (session.updated_at, session.etag())
    );
    assert_eq!(badge(&catalog, id).await, Badge::Idle);
    assert_eq!(catalog.log_length().await, head + 2);
    assert_eq!(catalog.reasons_of(id).await.last(), Some(&ChangeReason::Seen));
    let before = catalog.everything().await;
    catalog.change_session(id, SessionChange::Seen).await;
    assert_eq!(catalog.everything().await, before);
    catalog.beat(&hash, settled()).await.unwrap();
    assert_eq!(badge(&catalog, id).await, Badge::Done);
}

pub async fn s208_a_stopped_session_is_not_done<E: Engine>(catalog: Catalog<E>) {
    catalog.begin_sweeping().await;
    let (session, hash) = catalog.bound("h1").await;
    catalog.beat(&hash, settled()).await.unwrap();
    let word = LastWord {
        cause: Some(StopCause::Completed),
        ..LastWord::default()
    };
    catalog.finish(&hash, word).await.unwrap();
    assert_eq!(badge(&catalog, &session.id).await, Badge::Stopped);
}

pub async fn s197_a_reason_says_why_a_session_is_not_woken<E: Engine>(catalog: Catalog<E>) {
    catalog.begin_sweeping().await;
    let mut expected: Vec<(SessionId, Option<Ineligibility>)> = Vec::new();
    for number in 0..25 {
        expected.extend(eight_kinds(&catalog, number).await);
    }
    assert_eq!(expected.len(), 200);
    for (id, ineligibility) in expected {
        let view = catalog.view(&id).await;
        assert_eq!(view.ineligibility, ineligibility, "{view:?}");
    }
}

/// One session of each kind, and why it is not woken.
async fn eight_kinds<E: Engine>(
    catalog: &Catalog<E>,
    number: u64,
) -> Vec<(SessionId, Option<Ineligibility>)> {
    let mut kinds = Vec::new();
    let holder = format!("h{number}");
    let reports = [
        (Report::default(), None),
        (prompting(true), Some(Ineligibility::PromptActive)),
        (stalled(true), Some(Ineligibility::NotAttachable)),
        (settled(), None),
        (waiting(false, true), None),
    ];
    for (report, ineligibility) in reports {
        let (session, hash) = catalog.bound_for(&holder, HOUR).await;
        catalog.beat(&hash, report).await.unwrap();
        kinds.push((session.id, ineligibility));
    }
    let detached = catalog.create_session(ungrouped()).await;
    kinds.push((detached.id, Some(Ineligibility::Unknown)));
    let stopped = catalog.create_session(ungrouped()).await;
    catalog
        .change_session(&stopped.id, stopping(StopCause::Completed, ""))
        .await;
    kinds.push((stopped.id, Some(Ineligibility::NotAttachable)));
    let (entered, _) = catalog.bound_for(&holder, HOUR).await;
    let enter = SessionChange::AcquireAttach {
        holder: "me".to_owned(),
        ttl: HOUR,
    };
    catalog.change_session(&entered.id, enter).await;
    kinds.push((entered.id, Some(Ineligibility::NotAttachable)));
    kinds
}

pub async fn a_silent_session_is_not_woken<E: Engine>(catalog: Catalog<E>) {
    catalog.begin_sweeping().await;
    let (session, _) = catalog.bound_for("h1", HOUR).await;
    catalog.pass(STALE_AFTER + INSTANT).await;
    let view = catalog.view(&session.id).await;
    assert_eq!(view.ineligibility, Some(Ineligibility::Stale));
}
