//! Promises about heartbeats: what they renew, what they report, and what they leave alone.

use compozy_domain::session::StopCause;
use compozy_domain::session::change::Report;
use compozy_domain::{CatalogError, ChangeReason, LeaseHash, SessionState};

use super::engine::Engine;
use super::fixture::{Catalog, START};
use super::session_fixture::{TTL, new_lease, stopping, ungrouped};
use super::session_leases_fixture::{activity, lease, seconds, starting, waiting};
use crate::sessions::CreateSession;

pub async fn s075_a_heartbeat_renews_and_nothing_else<E: Engine>(catalog: Catalog<E>) {
    catalog.begin_sweeping().await;
    let (before, hash) = catalog.bound("h1").await;
    let head = catalog.log_length().await;
    catalog.pass(seconds(20)).await;
    let beaten = catalog.beat(&hash, Report::default()).await.unwrap();
    assert_eq!(lease(&beaten).expires_at, START.plus(seconds(50)));
    assert_eq!(lease(&beaten).heartbeat_at, Some(START.plus(seconds(20))));
    assert_eq!(
        (beaten.etag(), beaten.updated_at, beaten.version),
        (before.etag(), before.updated_at, before.version)
    );
    assert_eq!(catalog.get_session(&before.id).await, beaten);
    assert_eq!(catalog.log_length().await, head);
}

pub async fn s076_n014_a_thousand_heartbeats_without_news_append_nothing<E: Engine>(catalog: Catalog<E>) {
    catalog.begin_sweeping().await;
    let (_, hash) = catalog.bound("h1").await;
    let head = catalog.log_length().await;
    for _ in 0..20 {
        let beats = vec![(hash.clone(), Report::default()); 50];
        for beaten in catalog.beats(beats).await {
            beaten.unwrap();
        }
    }
    assert_eq!(catalog.log_length().await, head);
}

pub async fn s077_n014_an_activity_alone_is_no_change<E: Engine>(catalog: Catalog<E>) {
    catalog.begin_sweeping().await;
    let (before, hash) = catalog.bound("h1").await;
    let head = catalog.log_length().await;
    catalog.pass(seconds(1)).await;
    catalog.beat(&hash, activity("tool")).await.unwrap();
    let after = catalog.get_session(&before.id).await;
    let reported = after.activity.clone().unwrap();
    assert_eq!(reported.at, START.plus(seconds(1)));
    assert_eq!(
        [
            &reported.kind,
            &reported.detail,
            &reported.tool,
            &reported.turn_id
        ],
        ["tool", "cargo test", "bash", "t1"]
    );
    assert_eq!(
        (after.etag(), after.updated_at, after.version),
        (before.etag(), before.updated_at, before.version)
    );
    // It stays until the next one.
    catalog.beat(&hash, Report::default()).await.unwrap();
    assert_eq!(catalog.get_session(&before.id).await.activity, Some(reported));
    assert_eq!(catalog.log_length().await, head);
}

pub async fn n014_what_is_waited_for_is_told_once<E: Engine>(catalog: Catalog<E>) {
    catalog.begin_sweeping().await;
    let (session, hash) = catalog.bound("h1").await;
    for _ in 0..2 {
        catalog.beat(&hash, waiting(false, true)).await.unwrap();
    }
    assert_eq!(
        catalog.reasons_of(&session.id).await,
        [ChangeReason::Created, ChangeReason::Badge]
    );
}

/// The copy by which lists are sorted.
async fn active_at<E: Engine>(catalog: &Catalog<E>, id: &str) -> i64 {
    let sql = format!("SELECT active_at FROM session WHERE id = '{id}'");
    super::hooks::rows(&catalog.store, &sql).await.unwrap()[0][0]
        .parse()
        .unwrap()
}

pub async fn the_record_follows_an_activity_within_ten_seconds<E: Engine>(catalog: Catalog<E>) {
    catalog.begin_sweeping().await;
    let (session, hash) = catalog.bound("h1").await;
    catalog.pass(seconds(1)).await;
    catalog.beat(&hash, activity("first")).await.unwrap();
    catalog.pass(seconds(4)).await;
    catalog.sweep().await;
    let first = START.plus(seconds(1)).nanos();
    assert_eq!(active_at(&catalog, session.id.as_str()).await, first);
    let before = catalog.everything().await;
    catalog.sweep().await;
    assert_eq!(
        catalog.everything().await,
        before,
        "nothing is left to bring up to date"
    );
    // A heartbeat does it by itself where the copy is old.
    catalog.pass(seconds(5)).await;
    catalog.beat(&hash, activity("second")).await.unwrap();
    let second = START.plus(seconds(10)).nanos();
    assert_eq!(active_at(&catalog, session.id.as_str()).await, second);
    // And a stop does it at once.
    catalog.pass(seconds(1)).await;
    catalog.beat(&hash, activity("third")).await.unwrap();
    catalog.finish(&hash, Default::default()).await.unwrap();
    let third = START.plus(seconds(11));
    assert_eq!(active_at(&catalog, session.id.as_str()).await, third.nanos());
    assert_eq!(catalog.get_session(&session.id).await.activity.unwrap().at, third);
}

pub async fn s080_a_lease_that_never_was_is_lost<E: Engine>(catalog: Catalog<E>) {
    catalog.begin_sweeping().await;
    let lost = catalog.beat(&LeaseHash([7; 32]), Report::default()).await;
    assert_eq!(lost, Err(CatalogError::LeaseLost));
}

pub async fn a_lapsed_lease_is_lost_before_the_sweep_has_seen_it<E: Engine>(catalog: Catalog<E>) {
    catalog.begin_sweeping().await;
    let (_, hash) = catalog.bound("h1").await;
    catalog.pass_unseen(TTL).await;
    let before = catalog.everything().await;
    let lost = catalog.beat(&hash, Report::default()).await;
    assert_eq!(lost, Err(CatalogError::LeaseLost));
    assert_eq!(catalog.everything().await, before);
}

pub async fn s081_a_lost_lease_does_not_fail_the_others_of_its_batch<E: Engine>(catalog: Catalog<E>) {
    catalog.begin_sweeping().await;
    let (first, l1) = catalog.bound("h1").await;
    let (third, l3) = catalog.bound("h3").await;
    catalog.pass(seconds(5)).await;
    let none = Report::default;
    let beats = vec![(l1, none()), (LeaseHash([7; 32]), none()), (l3, none())];
    let answers = catalog.beats(beats).await;
    let expiry = START.plus(seconds(35));
    let renewed = |index: usize| answers[index].as_ref().unwrap();
    assert_eq!(
        (&renewed(0).session.id, lease(&renewed(0).session).expires_at),
        (&first.id, expiry)
    );
    assert_eq!(answers[1], Err(CatalogError::LeaseLost));
    assert_eq!(
        (&renewed(2).session.id, lease(&renewed(2).session).expires_at),
        (&third.id, expiry)
    );
    assert_eq!(catalog.get_session(&third.id).await, renewed(2).session);
}

pub async fn s082_a_thousand_leases_are_renewed_in_one_batch<E: Engine>(catalog: Catalog<E>) {
    catalog.begin_sweeping().await;
    let bound = catalog.many_bound(1_000, TTL).await;
    let head = catalog.log_length().await;
    catalog.pass(seconds(7)).await;
    let beats = bound.iter().map(|(_, hash)| (hash.clone(), activity("tool")));
    let answers = catalog.beats(beats.collect()).await;
    for ((id, _), answer) in bound.iter().zip(&answers) {
        let answer = answer.as_ref().unwrap();
        assert_eq!(answer.session.id, *id);
        assert_eq!(lease(&answer.session).expires_at, START.plus(seconds(37)));
    }
    let expiry = START.plus(seconds(37)).nanos();
    let sql = format!("SELECT COUNT(*) FROM session_live WHERE lease_expires_at = {expiry}");
    assert_eq!(
        super::hooks::rows(&catalog.store, &sql).await.unwrap(),
        [["1000"]]
    );
    assert_eq!(catalog.log_length().await, head);
}

pub async fn heartbeats_of_one_lease_in_a_batch_follow_each_other<E: Engine>(catalog: Catalog<E>) {
    catalog.begin_sweeping().await;
    let (session, hash) = catalog.bound("h1").await;
    let beat = |report: Report| (hash.clone(), report);
    let beats = vec![
        beat(activity("first")),
        beat(waiting(false, true)),
        beat(waiting(false, false)),
        beat(activity("last")),
    ];
    let answers = catalog.beats(beats).await;
    let last = answers[3].as_ref().unwrap();
    assert_eq!(last.session.activity.as_ref().unwrap().kind, "last");
    assert_eq!(catalog.get_session(&session.id).await, last.session);
    assert_eq!(
        catalog.reasons_of(&session.id).await,
        [ChangeReason::Created, ChangeReason::Badge, ChangeReason::Badge]
    );
    let versions: Vec<i64> = catalog
        .entries_of(&session.id)
        .await
        .iter()
        .map(|entry| entry.change.version)
        .collect();
    assert_eq!(versions, [1, 2, 3]);
}

pub async fn the_first_heartbeat_makes_a_start_active<E: Engine>(catalog: Catalog<E>) {
    catalog.begin_sweeping().await;
    let lease = new_lease("h1");
    let create = CreateSession {
        bind: Some(lease.clone()),
        ..starting()
    };
    let made = catalog.create_session(create).await;
    catalog.pass(seconds(2)).await;
    for _ in 0..2 {
        let beaten = catalog.beat(&lease.hash, Report::default()).await.unwrap();
        assert_eq!(beaten.state, SessionState::Active);
        assert_eq!(beaten.updated_at, START.plus(seconds(2)));
        assert_ne!(beaten.etag(), made.etag());
    }
    assert_eq!(
        catalog.reasons_of(&made.id).await,
        [ChangeReason::Created, ChangeReason::State]
    );
    assert_eq!(
        catalog.states_of(&made.id).await,
        [SessionState::Starting, SessionState::Active]
    );
    catalog.assert_counts_are_true().await;
}

pub async fn s083_s084_a_heartbeat_tells_that_a_stop_was_asked_for<E: Engine>(catalog: Catalog<E>) {
    catalog.begin_sweeping().await;
    let (session, hash) = catalog.bound("h1").await;
    let beaten = catalog.beat(&hash, Report::default()).await.unwrap();
    assert_eq!(beaten.stop, None);
    catalog.pass(seconds(3)).await;
    catalog
        .change_session(&session.id, stopping(StopCause::User, ""))
        .await;
    for _ in 0..2 {
        catalog.pass(seconds(1)).await;
        let beaten = catalog.beat(&hash, Report::default()).await.unwrap();
        let stop = beaten.stop.unwrap();
        assert_eq!(stop.requested_at, Some(START.plus(seconds(3))));
        assert_eq!(beaten.state, SessionState::Stopping);
    }
}

pub async fn a_row_that_is_not_understood_does_not_fail_the_others_of_its_batch<E: Engine>(
    catalog: Catalog<E>,
) {
    catalog.begin_sweeping().await;
    let (bad, l1) = catalog.bound("h1").await;
    let (_, l2) = catalog.bound("h2").await;
    let sql = format!("UPDATE session SET labels = '[' WHERE id = '{}'", bad.id);
    super::hooks::execute(&catalog.store, &sql).await.unwrap();
    let answers = catalog
        .beats(vec![(l1, Report::default()), (l2, Report::default())])
        .await;
    assert!(matches!(
        answers[0],
        Err(CatalogError::RecordNotUnderstood { .. })
    ));
    assert!(answers[1].is_ok());
}

pub async fn batches_that_share_leases_end_together<E: Engine>(catalog: Catalog<E>) {
    catalog.begin_sweeping().await;
    let bound = catalog.many_bound(64, TTL).await;
    let forward: Vec<_> = bound
        .iter()
        .map(|(_, hash)| (hash.clone(), activity("a")))
        .collect();
    let backward: Vec<_> = forward.iter().cloned().rev().collect();
    let batches = (0..16).map(|number| {
        let beats = if number % 2 == 0 {
            forward.clone()
        } else {
            backward.clone()
        };
        catalog.beats(beats)
    });
    for answers in futures::future::join_all(batches).await {
        assert!(answers.iter().all(Result::is_ok));
    }
    let plain = catalog.create_session(ungrouped()).await;
    assert!(plain.live.is_none(), "it is no part of any batch");
}

pub async fn a_heartbeat_that_was_kept_waiting_renews_a_lease_that_was_held_when_it_came<E: Engine>(
    catalog: Catalog<E>,
) {
    catalog.begin_sweeping().await;
    let (_, held) = catalog.bound_for("h1", seconds(3)).await;
    let (_, lapsed) = catalog.bound_for("h2", seconds(3)).await;
    catalog.pass(seconds(8)).await;
    let renewed = catalog.beat_that_waited(&held, seconds(6)).await.unwrap();
    // From when it is taken: what it answers is not over already.
    assert!(lease(&renewed).expires_at >= START.plus(seconds(11)));
    let late = catalog.beat_that_waited(&lapsed, seconds(4)).await;
    assert_eq!(late, Err(CatalogError::LeaseLost));
}
