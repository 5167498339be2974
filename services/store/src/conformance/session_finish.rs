//! Promises about stopping with a runtime, and its last word.

use compozy_domain::session::change::LastWord;
use compozy_domain::session::{FailureKind, RuntimeState, Session, StopCause, StopReason};
use compozy_domain::{CatalogError, ChangeReason, SessionState};

use super::engine::Engine;
use super::fixture::{Catalog, START, rejection};
use super::session_fixture::{TTL, new_lease, stopping};
use super::session_leases_fixture::{seconds, starting};
use crate::sessions::CreateSession;

/// Reason and kind of the failure of a session that is over.
fn ending(session: &Session) -> (StopReason, Option<FailureKind>) {
    assert_eq!(session.state, SessionState::Stopped);
    let stop = session.stop.as_ref().unwrap();
    let kind = stop.failure.as_ref().map(|failure| failure.kind);
    (stop.reason.unwrap(), kind)
}

fn word(cause: Option<StopCause>, error: &str) -> LastWord {
    LastWord {
        cause,
        error: error.to_owned(),
        ..LastWord::default()
    }
}

pub async fn s089_s090_a_bound_session_stops_with_the_word_of_its_runtime<E: Engine>(catalog: Catalog<E>) {
    catalog.begin_sweeping().await;
    let (session, hash) = catalog.bound("h1").await;
    catalog.pass(seconds(1)).await;
    let stopping_now = catalog
        .change_session(&session.id, stopping(StopCause::Timeout, ""))
        .await;
    assert_eq!(stopping_now.state, SessionState::Stopping);
    catalog.pass(seconds(1)).await;
    let over = catalog.finish(&hash, word(None, "")).await.unwrap();
    assert_eq!(ending(&over), (StopReason::Timeout, Some(FailureKind::Timeout)));
    assert_eq!(
        (over.runtime, over.runtime_holder.as_str()),
        (RuntimeState::None, "")
    );
    assert_eq!(over.live, None);
    assert_eq!(
        over.stop.as_ref().unwrap().stopped_at,
        Some(START.plus(seconds(2)))
    );
    assert_eq!(catalog.get_session(&session.id).await, over);
    assert_eq!(
        catalog.reasons_of(&session.id).await,
        [ChangeReason::Created, ChangeReason::State, ChangeReason::State]
    );
    assert_eq!(
        catalog.states_of(&session.id).await,
        [
            SessionState::Active,
            SessionState::Stopping,
            SessionState::Stopped
        ]
    );
    catalog.assert_counts_are_true().await;
}

pub async fn the_same_last_word_again_succeeds_and_writes_nothing<E: Engine>(catalog: Catalog<E>) {
    catalog.begin_sweeping().await;
    let (_, hash) = catalog.bound("h1").await;
    let over = catalog
        .finish(&hash, word(Some(StopCause::Completed), ""))
        .await
        .unwrap();
    let before = catalog.everything().await;
    catalog.pass(seconds(5)).await;
    let again = catalog.finish(&hash, word(Some(StopCause::Completed), "")).await;
    assert_eq!(again.unwrap(), over);
    assert_eq!(
        catalog.beat(&hash, Default::default()).await,
        Err(CatalogError::LeaseLost)
    );
    assert_eq!(catalog.everything().await, before);
}

pub async fn s091_s092_s093_the_first_cause_stays_and_its_detail_may_follow<E: Engine>(catalog: Catalog<E>) {
    catalog.begin_sweeping().await;
    let (session, _) = catalog.bound("h1").await;
    let stop = async |cause, detail| {
        let changed = catalog.change_session(&session.id, stopping(cause, detail)).await;
        assert_eq!(changed.state, SessionState::Stopping);
        let stop = changed.stop.unwrap();
        (stop.cause.unwrap(), stop.detail)
    };
    let is = |detail: &str| (StopCause::Timeout, detail.to_owned());
    assert_eq!(stop(StopCause::Timeout, "").await, is(""));
    assert_eq!(stop(StopCause::Timeout, "second").await, is("second"));
    let before = catalog.everything().await;
    assert_eq!(stop(StopCause::Timeout, "second").await, is("second"));
    assert_eq!(stop(StopCause::Shutdown, "").await, is("second"));
    assert_eq!(catalog.everything().await, before);
}

pub async fn s096_of_many_who_stop_a_session_one_cause_is_kept<E: Engine>(catalog: Catalog<E>) {
    const CAUSES: [StopCause; 4] = [
        StopCause::Shutdown,
        StopCause::Hook,
        StopCause::User,
        StopCause::Timeout,
    ];
    catalog.begin_sweeping().await;
    let (session, _) = catalog.bound("h1").await;
    let stops = (0..32).map(|number| {
        let cause = CAUSES[number % CAUSES.len()];
        catalog.try_change_session(&session.id, stopping(cause, ""))
    });
    for stopped in futures::future::join_all(stops).await {
        assert_eq!(stopped.unwrap().value.session.state, SessionState::Stopping);
    }
    assert_eq!(
        catalog.reasons_of(&session.id).await,
        [ChangeReason::Created, ChangeReason::State]
    );
    let kept = catalog.get_session(&session.id).await.stop.unwrap().cause;
    assert!(CAUSES.contains(&kept.unwrap()));
}

pub async fn s116_s117_the_first_cause_wins_over_that_of_the_last_word<E: Engine>(catalog: Catalog<E>) {
    catalog.begin_sweeping().await;
    let (session, hash) = catalog.bound("h1").await;
    catalog
        .change_session(&session.id, stopping(StopCause::Hook, ""))
        .await;
    let last = word(Some(StopCause::ProcessExit), "signal 15");
    let over = catalog.finish(&hash, last).await.unwrap();
    assert_eq!(
        ending(&over),
        (StopReason::HookStopped, Some(FailureKind::PermissionFailure))
    );
    let (session, hash) = catalog.bound("h1").await;
    catalog
        .change_session(&session.id, stopping(StopCause::Shutdown, ""))
        .await;
    let over = catalog.finish(&hash, word(None, "signal 9")).await.unwrap();
    assert_eq!(ending(&over), (StopReason::Shutdown, None));
}

pub async fn a_last_word_without_a_kind_is_an_unknown_failure<E: Engine>(catalog: Catalog<E>) {
    catalog.begin_sweeping().await;
    let (_, hash) = catalog.bound("h1").await;
    let over = catalog
        .finish(&hash, word(Some(StopCause::Failed), ""))
        .await
        .unwrap();
    assert_eq!(
        ending(&over),
        (StopReason::Error, Some(FailureKind::UnknownFailure))
    );
}

pub async fn a_last_word_of_a_start_is_a_failed_start<E: Engine>(catalog: Catalog<E>) {
    catalog.begin_sweeping().await;
    let lease = new_lease("h1");
    let create = CreateSession {
        bind: Some(lease.clone()),
        ..starting()
    };
    catalog.create_session(create).await;
    let last = LastWord {
        exit_status: Some(127),
        ..word(Some(StopCause::ProcessExit), "no such program")
    };
    let over = catalog.finish(&lease.hash, last).await.unwrap();
    assert_eq!(
        ending(&over),
        (StopReason::Error, Some(FailureKind::StartupFailure))
    );
    let stop = over.stop.unwrap();
    assert_eq!(stop.exit_status, Some(127));
    assert_eq!(stop.failure.unwrap().summary, "no such program");
}

pub async fn s119_after_the_sweep_the_last_word_comes_too_late<E: Engine>(catalog: Catalog<E>) {
    catalog.begin_sweeping().await;
    let (session, hash) = catalog.bound("h1").await;
    let swept = catalog.pass_sweeping(TTL).await;
    assert_eq!(swept.stopped, [session.id]);
    let before = catalog.everything().await;
    let lost = rejection(catalog.finish(&hash, word(Some(StopCause::Completed), "")).await);
    assert_eq!(lost, CatalogError::LeaseLost);
    assert_eq!(catalog.everything().await, before);
}

pub async fn s120_a_stop_beside_a_last_word_is_classified_once_and_whole<E: Engine>(catalog: Catalog<E>) {
    catalog.begin_sweeping().await;
    for _ in 0..40 {
        let (session, hash) = catalog.bound("h1").await;
        let (stopped, finished) = futures::future::join(
            catalog.try_change_session(&session.id, stopping(StopCause::Timeout, "")),
            catalog.finish(&hash, word(Some(StopCause::Completed), "")),
        )
        .await;
        stopped.unwrap();
        finished.unwrap();
        let over = catalog.get_session(&session.id).await;
        let stop = over.stop.clone().unwrap();
        match ending(&over) {
            (StopReason::Timeout, Some(FailureKind::Timeout)) => {
                assert_eq!(stop.cause, Some(StopCause::Timeout));
            }
            (StopReason::Completed, None) => assert_eq!(stop.cause, Some(StopCause::Completed)),
            mixture => panic!("{mixture:?}"),
        }
    }
}
