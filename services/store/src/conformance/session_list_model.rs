//! Pages and totals of random sessions, next to a plain model of what they should be.

use compozy_domain::session::filter::{Place, SessionFilter, SessionSort};
use compozy_domain::{Session, Visibility, Workspace};

use super::engine::Engine;
use super::fixture::Catalog;
use super::numbers::Seeded;
use super::session_fixture::STALE_AFTER;
use super::session_list_planted::{after_start, ids_of};
use super::session_list_random::{Dice, Known, SPAN, holds, in_order};
use crate::sessions::{CountSessions, ListSessions, SessionStore as _};

async fn planted<E: Engine>(
    catalog: &Catalog<E>,
    dice: &mut Dice,
    count: u64,
) -> (Vec<Known>, Vec<Workspace>) {
    let mut workspaces = Vec::new();
    for root in ["/w/alpha", "/w/Beta", "/w/gamma"] {
        workspaces.push(catalog.register(root).await);
    }
    let sessions: Vec<Session> = (1..=count)
        .map(|number| dice.session(number, &workspaces))
        .collect();
    catalog
        .plant(&sessions, &workspaces.iter().collect::<Vec<_>>())
        .await;
    // Within the span, so that time has passed for some and not for others.
    catalog.set_clock(after_start(SPAN * 1_000_000_000 / 2)).await;
    (sessions.into_iter().map(Known::new).collect(), workspaces)
}

fn expected<'s>(sessions: &'s [Known], list: &ListSessions) -> Vec<&'s Session> {
    let mut rows: Vec<&Session> = sessions
        .iter()
        .filter(|known| holds(&list.filter, known, &list.visibility, list.now))
        .map(|known| &known.session)
        .collect();
    rows.sort_by(|one, other| in_order(list.sort, one, other));
    rows
}

fn sorts(filter: &SessionFilter) -> Vec<SessionSort> {
    let mut sorts = vec![
        SessionSort::Recent,
        SessionSort::LastActivity,
        SessionSort::Attention,
    ];
    if matches!(filter.place, Place::Workspace(_)) {
        sorts.push(SessionSort::Manual);
    }
    sorts
}

/// The first page, and one from somewhere in the midst.
async fn compare<E: Engine>(catalog: &Catalog<E>, dice: &mut Dice, list: ListSessions, sessions: &[Known]) {
    let expected = expected(sessions, &list);
    let mut starts = vec![0];
    if !expected.is_empty() {
        starts.push(1 + dice.0.below(expected.len()));
    }
    for start in starts {
        let after = start.checked_sub(1).map(|last| expected[last].place(list.sort));
        let list = ListSessions {
            after,
            ..list.clone()
        };
        let page = catalog.session_page(&list).await;
        let limit = list.limit.get() as usize;
        let rows: Vec<Session> = expected
            .iter()
            .skip(start)
            .take(limit)
            .map(|row| (*row).clone())
            .collect();
        assert_eq!(ids_of(&page.page.rows), ids_of(&rows), "{list:?}");
        assert_eq!(page.page.rows, rows, "{list:?}");
        assert_eq!(page.page.total, expected.len() as u64, "{list:?}");
        assert_eq!(page.page.has_more, expected.len() > start + limit, "{list:?}");
    }
}

pub async fn s265_s323_random_filters_hold_what_they_say<E: Engine>(catalog: Catalog<E>) {
    let mut dice = Dice(Seeded::new(265));
    let (sessions, workspaces) = planted(&catalog, &mut dice, 10_000).await;
    for _ in 0..200 {
        let mut list = catalog.sessions(dice.filter(&workspaces), SessionSort::Recent, 7);
        if dice.one_in(5) {
            list.visibility = Visibility::Only(vec![workspaces[0].id.clone(), workspaces[2].id.clone()]);
        }
        list.sort = dice.of(&sorts(&list.filter));
        totals_add_up(&catalog, &list, &sessions).await;
        compare(&catalog, &mut dice, list, &sessions).await;
    }
    catalog.assert_counts_are_true().await;
}

async fn totals_add_up<E: Engine>(catalog: &Catalog<E>, list: &ListSessions, sessions: &[Known]) {
    let count = CountSessions {
        filter: list.filter.clone(),
        visibility: list.visibility.clone(),
        now: list.now,
        stale_after: STALE_AFTER,
    };
    let totals = catalog.store.count_sessions(&count).await.unwrap();
    let expected = expected(sessions, list);
    let number = |count: usize| i64::try_from(count).unwrap();
    let mut all = 0;
    for (state, count) in &totals.by_state {
        let of_state = expected.iter().filter(|session| session.state == *state);
        assert_eq!(*count, number(of_state.count()), "{state:?} of {list:?}");
        all += count;
    }
    assert_eq!(all, number(expected.len()), "{list:?}");
    all = 0;
    for (id, count) in &totals.by_workspace {
        let of_place = expected
            .iter()
            .filter(|session| session.workspace_id() == id.as_ref());
        assert_eq!(*count, number(of_place.count()), "{id:?} of {list:?}");
        all += count;
    }
    assert_eq!(all, number(expected.len()), "{list:?}");
}

pub async fn s293_every_walk_is_the_sorted_model<E: Engine>(catalog: Catalog<E>) {
    let mut dice = Dice(Seeded::new(293));
    let (sessions, workspaces) = planted(&catalog, &mut dice, 5_000).await;
    let every = SessionFilter {
        archive: compozy_domain::session::filter::Archive::Include,
        include_internal: true,
        ..SessionFilter::default()
    };
    let of_one = SessionFilter {
        place: Place::Workspace(workspaces[1].id.clone()),
        ..every.clone()
    };
    for filter in [every, of_one] {
        for sort in sorts(&filter) {
            for limit in [100, 7, 1] {
                let mut list = catalog.sessions(filter.clone(), sort, limit);
                if limit == 1 {
                    // As many pages as rows: of one agent where an engine answers more slowly.
                    list.filter.agents = match E::MOVES {
                        10_000 => Vec::new(),
                        _ => vec!["x".to_owned()],
                    };
                    if E::MOVES != 10_000 {
                        list.filter.states = vec![compozy_domain::SessionState::Active];
                    }
                }
                let expected: Vec<Session> = expected(&sessions, &list).into_iter().cloned().collect();
                let walked = catalog.walk_sessions(list).await;
                assert_eq!(ids_of(&walked), ids_of(&expected), "{sort:?} by {limit}");
            }
        }
    }
}

/// Every badge by itself, and whether an operator can enter: filter and row never disagree.
pub async fn s257_badges_and_rules_of_filters_are_those_of_the_rows<E: Engine>(catalog: Catalog<E>) {
    let mut dice = Dice(Seeded::new(257));
    let (sessions, _) = planted(&catalog, &mut dice, 3_000).await;
    let every = SessionFilter {
        archive: compozy_domain::session::filter::Archive::Include,
        include_internal: true,
        ..SessionFilter::default()
    };
    let mut filters: Vec<SessionFilter> = Vec::new();
    let badges = sessions
        .iter()
        .map(|known| known.session.view(catalog.now(), STALE_AFTER).badge);
    let badges: std::collections::BTreeSet<_> = badges.collect();
    assert_eq!(badges.len(), 10, "every badge is there");
    filters.extend(badges.into_iter().map(|badge| SessionFilter {
        badges: vec![badge],
        ..every.clone()
    }));
    for wanted in [true, false] {
        filters.push(SessionFilter {
            attachable: Some(wanted),
            ..every.clone()
        });
        filters.push(SessionFilter {
            resumable: Some(wanted),
            ..every.clone()
        });
    }
    let mut all = 0;
    for filter in filters {
        let list = catalog.sessions(filter, SessionSort::Recent, 100);
        let expected: Vec<Session> = expected(&sessions, &list).into_iter().cloned().collect();
        assert!(!expected.is_empty(), "{:?}", list.filter);
        all += expected.len();
        let walked = catalog.walk_sessions(list.clone()).await;
        assert_eq!(ids_of(&walked), ids_of(&expected), "{:?}", list.filter);
    }
    assert_eq!(
        all,
        3 * sessions.len(),
        "each has one badge, and each rule holds or does not"
    );
}
