//! Promises about the orders of sessions.

use compozy_domain::Session;
use compozy_domain::session::filter::{Place, SessionFilter, SessionSort, SessionSortKey};
use compozy_domain::session::{Attention, AttentionClass};

use super::engine::Engine;
use super::fixture::Catalog;
use super::session_fixture::{renaming, ungrouped};
use super::session_list_planted::{active_at, after_start, ids, ids_of, numbered, plain, stopped};

const MINUTE: i64 = 60_000_000_000;

async fn walked<E: Engine>(catalog: &Catalog<E>, sort: SessionSort) -> Vec<compozy_domain::SessionId> {
    let all = ids_of(
        &catalog
            .walk_sessions(catalog.sessions(SessionFilter::default(), sort, 100))
            .await,
    );
    let singly = catalog.sessions(SessionFilter::default(), sort, 1);
    assert_eq!(ids_of(&catalog.walk_sessions(singly).await), all);
    all
}

pub async fn s286_a_rename_moves_to_the_front<E: Engine>(catalog: Catalog<E>) {
    let mut made = Vec::new();
    for second in 1..=3 {
        catalog.set_clock(after_start(second * 1_000_000_000)).await;
        made.push(catalog.create_session(ungrouped()).await.id);
    }
    catalog.set_clock(after_start(9_000_000_000)).await;
    catalog.change_session(&made[0], renaming("first")).await;
    let expected = [made[0].clone(), made[2].clone(), made[1].clone()];
    assert_eq!(walked(&catalog, SessionSort::Recent).await, expected);
}

pub async fn s288_s289_last_activity_falls_back_to_creation<E: Engine>(catalog: Catalog<E>) {
    let mut first = plain(1, None, 9 * 60 * MINUTE);
    first.activity = active_at(10 * 60 * MINUTE);
    let second = plain(2, None, 10 * 60 * MINUTE + MINUTE);
    let mut third = plain(3, None, 9 * 60 * MINUTE);
    third.updated_at = after_start(11 * 60 * MINUTE);
    catalog.plant(&[first, second, third], &[]).await;
    assert_eq!(walked(&catalog, SessionSort::LastActivity).await, ids([2, 1, 3]));
    // Equal activity: the later created first, whichever was renamed last.
    let mut equal: Vec<Session> = (4..=6)
        .map(|number| plain(number, None, i64::try_from(number).unwrap()))
        .collect();
    for session in &mut equal {
        session.activity = active_at(20 * 60 * MINUTE);
    }
    equal[0].updated_at = after_start(30 * 60 * MINUTE);
    catalog.plant(&equal, &[]).await;
    assert_eq!(
        walked(&catalog, SessionSort::LastActivity).await,
        ids([6, 5, 4, 2, 1, 3])
    );
}

pub async fn s290_s291_who_needs_somebody_comes_first<E: Engine>(catalog: Catalog<E>) {
    let of = |number: u64, class: AttentionClass, minutes: i64| Session {
        attention: Attention {
            class,
            at: after_start(minutes * MINUTE),
        },
        ..plain(number, None, i64::try_from(number).unwrap())
    };
    let sessions = [
        of(1, AttentionClass::Rest, 700),
        of(2, AttentionClass::Finished, 600),
        of(3, AttentionClass::NeedsYou, 540),
        of(4, AttentionClass::Finished, 660),
        of(5, AttentionClass::NeedsYou, 570),
    ];
    catalog.plant(&sessions, &[]).await;
    assert_eq!(
        walked(&catalog, SessionSort::Attention).await,
        ids([5, 3, 4, 2, 1])
    );
}

/// The manual order is ascending by rank, then by id, and one of an account.
pub async fn the_manual_order_is_that_of_the_account<E: Engine>(catalog: Catalog<E>) {
    let workspace = catalog.register("/w/a").await;
    let mut sessions: Vec<Session> = (1..=5)
        .map(|number| stopped(number, Some(&workspace), 1))
        .collect();
    sessions[1].rank = sessions[2].rank.clone();
    sessions.push(stopped(6, None, 9));
    catalog.plant(&sessions, &[&workspace]).await;
    let filter = SessionFilter {
        place: Place::Workspace(workspace.id.clone()),
        ..SessionFilter::default()
    };
    for limit in [1, 2, 100] {
        let list = catalog.sessions(filter.clone(), SessionSort::Manual, limit);
        assert_eq!(ids_of(&catalog.walk_sessions(list).await), ids([5, 4, 2, 3, 1]));
    }
}

/// What is known of a live session is ahead of the index: the place of its row is the one in the index, or a walk would
/// come back to it.
pub async fn s287_a_walk_by_activity_does_not_return_to_a_busy_session<E: Engine>(catalog: Catalog<E>) {
    let sessions: Vec<Session> = (1..=4)
        .map(|number| Session {
            activity: active_at(i64::try_from(number).unwrap()),
            ..plain(number, None, 0)
        })
        .collect();
    catalog.plant(&sessions, &[]).await;
    let sql = format!(
        "UPDATE session_live SET activity = REPLACE(activity, '{}', '{}') WHERE session_id = '{}'",
        after_start(3).nanos(),
        after_start(900).nanos(),
        numbered(3)
    );
    super::hooks::execute(&catalog.store, &sql).await.unwrap();
    assert_eq!(
        walked(&catalog, SessionSort::LastActivity).await,
        ids([4, 3, 2, 1])
    );
    let list = catalog.sessions(SessionFilter::default(), SessionSort::LastActivity, 2);
    let page = catalog.session_page(&list).await;
    assert_eq!(page.page.rows[1].active_at(), after_start(900));
    assert_eq!(
        page.places[1].key,
        SessionSortKey::Times(after_start(3), after_start(0))
    );
}
