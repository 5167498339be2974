//! Promises about pages of sessions: limits, totals, ties, what a look costs.

use compozy_domain::Visibility;
use compozy_domain::session::filter::{Place, SessionFilter, SessionSort};

use super::engine::Engine;
use super::fixture::Catalog;
use super::session_fixture::session_id;
use super::session_list_planted::{after_start, ids, ids_of, numbered, plain, stopped};
use crate::sessions::{ListSessions, SessionStore as _};

pub async fn s228_an_empty_catalog_has_an_empty_page<E: Engine>(catalog: Catalog<E>) {
    for sort in [
        SessionSort::Recent,
        SessionSort::LastActivity,
        SessionSort::Attention,
    ] {
        let list = catalog.sessions(SessionFilter::default(), sort, 0);
        assert_eq!(list.limit.get(), 50);
        let page = catalog.session_page(&list).await.page;
        assert_eq!((page.rows.len(), page.total, page.has_more), (0, 0, false));
        assert!(!page.revision.epoch.is_empty());
    }
    let totals = catalog.session_totals(&SessionFilter::default()).await;
    assert_eq!((totals.by_state, totals.by_workspace), (Vec::new(), Vec::new()));
}

pub async fn s063_internal_sessions_are_on_no_page_and_in_no_total<E: Engine>(catalog: Catalog<E>) {
    let mut sessions = vec![plain(1, None, 1), plain(2, None, 2)];
    for number in 3..13 {
        let mut session = plain(number, None, 100);
        match number % 2 {
            0 => session.session_type = compozy_domain::SessionType::Dream,
            _ => session.lineage.spawn_role = "Memory-Extractor".to_owned(),
        }
        sessions.push(session);
    }
    catalog.plant(&sessions, &[]).await;
    let mut list = catalog.sessions(SessionFilter::default(), SessionSort::Recent, 1);
    let first = catalog.session_page(&list).await;
    assert_eq!(ids_of(&first.page.rows), ids([2]));
    assert_eq!((first.page.total, first.page.has_more), (2, true));
    list.after = first.places.last().cloned();
    let second = catalog.session_page(&list).await;
    assert_eq!(ids_of(&second.page.rows), ids([1]));
    assert_eq!((second.page.total, second.page.has_more), (2, false));
    let with_them = SessionFilter {
        include_internal: true,
        ..SessionFilter::default()
    };
    assert_eq!(catalog.found_sessions(&with_them).await.len(), 12);
}

pub async fn s229_s231_s232_a_page_ends_where_the_rows_do<E: Engine>(catalog: Catalog<E>) {
    let mut sessions: Vec<_> = (1..=50)
        .map(|number| plain(number, None, i64::try_from(number).unwrap()))
        .collect();
    catalog.plant(&sessions, &[]).await;
    let mut list = catalog.sessions(SessionFilter::default(), SessionSort::Recent, 0);
    let page = catalog.session_page(&list).await.page;
    assert_eq!((page.rows.len(), page.total, page.has_more), (50, 50, false));
    sessions = vec![plain(51, None, 51)];
    catalog.plant(&sessions, &[]).await;
    let first = catalog.session_page(&list).await;
    assert_eq!(
        (first.page.rows.len(), first.page.total, first.page.has_more),
        (50, 51, true)
    );
    list.after = first.places.last().cloned();
    let second = catalog.session_page(&list).await.page;
    assert_eq!(ids_of(&second.rows), ids([1]));
    assert_eq!((second.total, second.has_more), (51, false));
    for (limit, rows) in [(1, 1), (100, 51)] {
        let list = catalog.sessions(SessionFilter::default(), SessionSort::Recent, limit);
        assert_eq!(catalog.session_page(&list).await.page.rows.len(), rows);
    }
}

pub async fn s233_a_walk_meets_every_session_once<E: Engine>(catalog: Catalog<E>) {
    let sessions: Vec<_> = (1..=1_203)
        .map(|number| stopped(number, None, i64::try_from(number % 97).unwrap()))
        .collect();
    catalog.plant(&sessions, &[]).await;
    let list = catalog.sessions(SessionFilter::default(), SessionSort::Recent, 100);
    // The walk itself compares the total of each page.
    let mut walked = ids_of(&catalog.walk_sessions(list).await);
    walked.sort_unstable();
    assert_eq!(walked, ids(1..=1_203));
}

pub async fn s234_s235_ties_are_broken_by_creation_and_then_by_id<E: Engine>(catalog: Catalog<E>) {
    let mut sessions: Vec<_> = (1..=7).map(|number| plain(number, None, 5)).collect();
    sessions[3].created_at = after_start(6);
    sessions[5].created_at = after_start(4);
    catalog.plant(&sessions, &[]).await;
    let list = catalog.sessions(SessionFilter::default(), SessionSort::Recent, 1);
    assert_eq!(
        ids_of(&catalog.walk_sessions(list).await),
        ids([4, 7, 5, 3, 2, 1, 6])
    );
}

pub async fn s238_s327_looking_writes_nothing<E: Engine>(catalog: Catalog<E>) {
    let workspace = catalog.register("/w/a").await;
    let sessions: Vec<_> = (1..=30)
        .map(|number| plain(number, Some(&workspace), 5))
        .collect();
    catalog.plant(&sessions, &[&workspace]).await;
    let before = catalog.everything().await;
    let filter = SessionFilter {
        query: Some("general".to_owned()),
        ..SessionFilter::default()
    };
    for number in 0..100 {
        let filter = if number % 2 == 0 {
            filter.clone()
        } else {
            SessionFilter::default()
        };
        catalog.session_totals(&filter).await;
        catalog
            .session_page(&catalog.sessions(filter, SessionSort::Attention, 10))
            .await;
    }
    assert_eq!(catalog.everything().await, before);
}

/// What a caller may not see is on no page of its, in no total, and gives no query away.
pub async fn s381_a_caller_sees_the_sessions_of_its_workspaces<E: Engine>(catalog: Catalog<E>) {
    let (mine, other) = (
        catalog.register("/w/mine").await,
        catalog.register("/w/other").await,
    );
    let mut child = plain(4, Some(&other), 4);
    child.lineage.parent = Some(numbered(2));
    let sessions = [
        plain(1, Some(&mine), 1),
        plain(2, Some(&other), 2),
        plain(3, None, 3),
        child,
    ];
    catalog.plant(&sessions, &[&mine, &other]).await;
    let only = Visibility::Only(vec![mine.id.clone()]);
    let seen = |filter: SessionFilter, visibility: &Visibility| ListSessions {
        visibility: visibility.clone(),
        ..catalog.sessions(filter, SessionSort::Recent, 1)
    };
    let every = SessionFilter::default();
    assert_eq!(
        ids_of(&catalog.walk_sessions(seen(every.clone(), &only)).await),
        ids([1])
    );
    let place = |place: Place| SessionFilter {
        place,
        ..SessionFilter::default()
    };
    let hidden = [
        place(Place::Ungrouped),
        place(Place::Workspace(other.id.clone())),
        SessionFilter {
            query: Some("other".to_owned()),
            ..SessionFilter::default()
        },
        SessionFilter {
            parent: Some(numbered(2).to_string()),
            ..SessionFilter::default()
        },
    ];
    for filter in hidden {
        assert!(catalog.walk_sessions(seen(filter, &only)).await.is_empty());
    }
    let nothing = Visibility::Only(Vec::new());
    assert!(
        catalog
            .walk_sessions(seen(every.clone(), &nothing))
            .await
            .is_empty()
    );
    let both = Visibility::Only(vec![other.id.clone(), mine.id.clone()]);
    assert_eq!(
        ids_of(&catalog.walk_sessions(seen(every.clone(), &both)).await),
        ids([4, 2, 1])
    );
    // A list of more workspaces than one statement takes branches.
    let mut many: Vec<_> = (0..200)
        .map(|number| compozy_domain::WorkspaceId::from_stored(format!("ws_{number:016x}")))
        .collect();
    many.push(mine.id.clone());
    assert_eq!(
        ids_of(&catalog.walk_sessions(seen(every, &Visibility::Only(many))).await),
        ids([1])
    );
}

/// The rows of a watch's snapshot: by id, archived ones among them.
pub async fn sessions_above_an_id_are_those_that_the_watcher_sees<E: Engine>(catalog: Catalog<E>) {
    let (a, b) = (catalog.register("/w/a").await, catalog.register("/w/b").await);
    let mut sessions = vec![
        plain(1, Some(&a), 9),
        stopped(2, Some(&b), 3),
        plain(3, None, 7),
        plain(4, Some(&a), 1),
    ];
    sessions[3].archived_at = Some(after_start(2));
    let mut internal = plain(5, Some(&a), 1);
    internal.session_type = compozy_domain::SessionType::Dream;
    sessions.push(internal);
    catalog.plant(&sessions, &[&a, &b]).await;
    let every = Visibility::All;
    let only = Visibility::Only(vec![a.id.clone()]);
    let filter = |workspaces: &[&compozy_domain::Workspace], ungrouped: bool, internal: bool| {
        let ids = workspaces.iter().map(|workspace| workspace.id.clone()).collect();
        compozy_domain::WatchFilter::new(ids, ungrouped, Vec::new(), internal)
    };
    for (filter, visibility, expected) in [
        (filter(&[], false, false), &every, vec![1, 2, 3, 4]),
        (filter(&[], false, true), &every, vec![1, 2, 3, 4, 5]),
        (filter(&[&a], false, false), &every, vec![1, 4]),
        (filter(&[&b, &a], false, true), &every, vec![1, 2, 4, 5]),
        (filter(&[&b], true, false), &every, vec![2, 3]),
        (filter(&[], true, false), &every, vec![3]),
        (filter(&[], false, false), &only, vec![1, 4]),
        (filter(&[&b], true, true), &only, vec![]),
    ] {
        for limit in [1, 2, 100] {
            let mut walked = Vec::new();
            loop {
                let after = walked.last();
                let now = catalog.now();
                let page = catalog
                    .store
                    .sessions_above(after, &filter, limit, visibility, now)
                    .await
                    .unwrap();
                if page.is_empty() {
                    break;
                }
                assert!(page.len() <= limit as usize);
                walked.extend(page.into_iter().map(|row| row.session.id));
            }
            assert_eq!(walked, ids(expected.clone()), "{filter:?} {visibility:?}");
        }
    }
    let none = catalog
        .store
        .sessions_above(
            Some(&session_id()),
            &filter(&[], false, false),
            0,
            &every,
            catalog.now(),
        )
        .await;
    assert_eq!(none.unwrap(), []);
}

/// Rows that another release wrote, or a hand, are listed as what they are read as.
pub async fn w295_a_session_that_is_not_understood_is_listed<E: Engine>(catalog: Catalog<E>) {
    let workspace = catalog.register("/w/a").await;
    let sessions = [
        stopped(1, Some(&workspace), 1),
        stopped(2, Some(&workspace), 2),
        stopped(3, None, 3),
    ];
    catalog.plant(&sessions, &[&workspace]).await;
    let sql = format!("UPDATE session SET state = 'paused' WHERE id = '{}'", numbered(1));
    super::hooks::execute(&catalog.store, &sql).await.unwrap();
    let sql = format!(
        "UPDATE session SET workspace_id = 'ws_00000000000000ee' WHERE id = '{}'",
        numbered(2)
    );
    super::hooks::execute(&catalog.store, &sql).await.unwrap();
    catalog.store.recount_sessions().await.unwrap();
    assert_eq!(
        catalog.found_sessions(&SessionFilter::default()).await,
        ids([3, 2, 1])
    );
    let list = catalog.sessions(SessionFilter::default(), SessionSort::Recent, 10);
    let rows = catalog.session_page(&list).await.page.rows;
    assert_eq!(rows[1].workspace, None);
    assert!(rows[2].defect.is_some());
    let over = SessionFilter {
        states: vec![compozy_domain::SessionState::Stopped],
        ..SessionFilter::default()
    };
    assert_eq!(catalog.found_sessions(&over).await, ids([3, 2, 1]));
    let totals = catalog.session_totals(&SessionFilter::default()).await;
    assert_eq!(totals.by_state, [(compozy_domain::SessionState::Stopped, 3)]);
    assert_eq!(totals.by_workspace, [(None, 2), (Some(workspace.id.clone()), 1)]);
}
