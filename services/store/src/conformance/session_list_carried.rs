//! Promises about totals of sessions: carried from page to page, and apart by state and workspace.

use compozy_domain::session::filter::{Archive, Place, SessionFilter, SessionSort};
use compozy_domain::{Session, SessionState};

use super::engine::Engine;
use super::fixture::Catalog;
use super::session_fixture::{deletion, stopping, ungrouped};
use super::session_list_planted::{after_start, plain, stopped};
use compozy_domain::session::StopCause;
use compozy_domain::session::change::SessionChange;

/// A number that no count gives, so that it shows whether it was carried.
const CARRIED: u64 = 4_711;

pub async fn s377_s378_a_total_is_carried_until_something_changes<E: Engine>(catalog: Catalog<E>) {
    let sessions: Vec<Session> = (1..=3).map(|number| plain(number, None, 1)).collect();
    catalog.plant(&sessions, &[]).await;
    catalog.number_all().await;
    let every = SessionFilter::default();
    let query = SessionFilter {
        query: Some("general".to_owned()),
        ..every.clone()
    };
    let mut lists = Vec::new();
    for filter in [every, query] {
        let mut list = catalog.sessions(filter, SessionSort::Recent, 1);
        let first = catalog.session_page(&list).await;
        assert_eq!(first.page.total, 3);
        list.after = first.places.last().cloned();
        list.counted = Some((first.page.revision.clone(), CARRIED));
        let second = catalog.session_page(&list).await.page;
        assert_eq!((second.total, second.revision), (CARRIED, first.page.revision));
        assert_eq!(second.rows.len(), 1);
        lists.push(list);
    }
    // Committed, and on Postgres without a position yet.
    catalog.create_session(ungrouped()).await;
    for list in &lists {
        assert_eq!(catalog.session_page(list).await.page.total, 4);
    }
    catalog.number_all().await;
    for list in &mut lists {
        assert_eq!(catalog.session_page(list).await.page.total, 4);
        if let Some((revision, _)) = &mut list.counted {
            revision.epoch.push('x');
        }
        assert_eq!(catalog.session_page(list).await.page.total, 4);
    }
}

pub async fn s321_s322_totals_are_told_by_state_and_workspace<E: Engine>(catalog: Catalog<E>) {
    let (a, b) = (catalog.register("/w/a").await, catalog.register("/w/b").await);
    let mut archived = stopped(4, Some(&b), 4);
    archived.archived_at = Some(after_start(5));
    let mut starting = plain(5, None, 5);
    starting.state = SessionState::Starting;
    let sessions = [
        plain(1, Some(&a), 1),
        plain(2, Some(&a), 2),
        stopped(3, Some(&b), 3),
        archived,
        starting,
    ];
    catalog.plant(&sessions, &[&a, &b]).await;
    let by_workspace = |in_b: i64| {
        let mut all = vec![(None, 1), (Some(a.id.clone()), 2), (Some(b.id.clone()), in_b)];
        all.sort();
        all
    };
    let mut filter = SessionFilter::default();
    // The kept numbers, and the same by looking at every row.
    for look in [None, Some(after_start(0))] {
        filter.created_after = look;
        filter.archive = Archive::Exclude;
        let totals = catalog.session_totals(&filter).await;
        let by_state = [
            (SessionState::Starting, 1),
            (SessionState::Active, 2),
            (SessionState::Stopped, 1),
        ];
        assert_eq!(totals.by_state, by_state);
        assert_eq!(totals.by_workspace, by_workspace(1));
        filter.archive = Archive::Include;
        let totals = catalog.session_totals(&filter).await;
        assert_eq!(totals.by_state[2], (SessionState::Stopped, 2));
        assert_eq!(totals.by_workspace, by_workspace(2));
        filter.place = Place::Workspace(b.id.clone());
        let totals = catalog.session_totals(&filter).await;
        assert_eq!(totals.by_state, [(SessionState::Stopped, 2)]);
        assert_eq!(totals.by_workspace, [(Some(b.id.clone()), 2)]);
        filter.place = Place::Anywhere;
    }
}

pub async fn s324_totals_are_exact_straight_after_every_answer<E: Engine>(catalog: Catalog<E>) {
    let made = catalog.create_session(ungrouped()).await;
    let every = SessionFilter {
        archive: Archive::Include,
        ..SessionFilter::default()
    };
    let shown = SessionFilter::default();
    let by_state = async |filter: &SessionFilter| catalog.session_totals(filter).await.by_state;
    assert_eq!(by_state(&every).await, [(SessionState::Active, 1)]);
    catalog
        .change_session(&made.id, stopping(StopCause::User, ""))
        .await;
    assert_eq!(by_state(&every).await, [(SessionState::Stopped, 1)]);
    catalog.change_session(&made.id, SessionChange::Archive).await;
    assert_eq!(by_state(&every).await, [(SessionState::Stopped, 1)]);
    assert_eq!(by_state(&shown).await, []);
    catalog.delete_session(deletion(&made.id)).await.unwrap();
    assert_eq!(by_state(&every).await, []);
}
