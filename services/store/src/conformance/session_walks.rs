//! Promises about walks while others write.

use std::collections::BTreeSet;

use compozy_domain::session::StopCause;
use compozy_domain::session::change::SessionChange;
use compozy_domain::session::filter::{Place, SessionFilter, SessionSort};
use compozy_domain::{Session, SessionId};

use super::engine::Engine;
use super::fixture::{Catalog, fresh};
use super::numbers::Seeded;
use super::session_fixture::{deletion, new_in, renaming, stopping, ungrouped};
use super::session_list_planted::{after_start, ids, ids_of, numbered, stopped};
use crate::sessions::{ListSessions, MoveSession, SessionStore as _};

async fn five<E: Engine>(catalog: &Catalog<E>) -> ListSessions {
    let sessions: Vec<Session> = (1..=5)
        .map(|number| stopped(number, None, i64::try_from(number).unwrap()))
        .collect();
    catalog.plant(&sessions, &[]).await;
    catalog.set_clock(after_start(1_000_000_000)).await;
    catalog.sessions(SessionFilter::default(), SessionSort::Recent, 2)
}

/// The next page of a list.
async fn turn<E: Engine>(catalog: &Catalog<E>, list: &mut ListSessions) -> (Vec<SessionId>, u64) {
    let page = catalog.session_page(list).await;
    list.after = page.places.last().cloned();
    list.at = Some(page.at);
    list.counted = Some((page.page.revision.clone(), page.page.total));
    (ids_of(&page.page.rows), page.page.total)
}

async fn delete<E: Engine>(catalog: &Catalog<E>, number: u64) {
    catalog.delete_session(deletion(&numbered(number))).await.unwrap();
}

pub async fn s310_the_last_row_of_a_page_is_deleted<E: Engine>(catalog: Catalog<E>) {
    let mut list = five(&catalog).await;
    assert_eq!(turn(&catalog, &mut list).await, (ids([5, 4]), 5));
    delete(&catalog, 4).await;
    assert_eq!(turn(&catalog, &mut list).await, (ids([3, 2]), 4));
}

pub async fn s311_all_rows_of_a_page_are_deleted<E: Engine>(catalog: Catalog<E>) {
    let mut list = five(&catalog).await;
    turn(&catalog, &mut list).await;
    for number in [5, 4, 3] {
        delete(&catalog, number).await;
    }
    assert_eq!(turn(&catalog, &mut list).await, (ids([2, 1]), 2));
}

pub async fn s312_s313_s314_s315_a_row_that_moves_is_not_met_twice<E: Engine>(catalog: Catalog<E>) {
    let mut list = five(&catalog).await;
    assert_eq!(turn(&catalog, &mut list).await, (ids([5, 4]), 5));
    // An unseen one is renamed, a seen one changes its state, three come, an unseen one is archived.
    catalog.change_session(&numbered(3), renaming("moved")).await;
    catalog
        .change_session(&numbered(5), SessionChange::Resume { bind: None })
        .await;
    let mut made = Vec::new();
    for _ in 0..3 {
        made.push(catalog.create_session(ungrouped()).await.id);
    }
    catalog.change_session(&numbered(2), SessionChange::Archive).await;
    assert_eq!(turn(&catalog, &mut list).await, (ids([1]), 7));
    let again = catalog.sessions(SessionFilter::default(), SessionSort::Recent, 100);
    let met: BTreeSet<SessionId> = ids_of(&catalog.walk_sessions(again).await).into_iter().collect();
    let expected = ids([1, 3, 4, 5]).into_iter().chain(made).collect();
    assert_eq!(met, expected);
}

pub async fn s316_a_walk_meets_every_untouched_row_once<E: Engine>(catalog: Catalog<E>) {
    let count = 10_000;
    let sessions: Vec<Session> = (1..=count)
        .map(|number| stopped(number, None, i64::try_from(number / 3).unwrap()))
        .collect();
    catalog.plant(&sessions, &[]).await;
    // Whatever is written from now on comes in front.
    catalog.set_clock(after_start(1_000_000_000)).await;
    let mut seed = Seeded::new(316);
    for sort in [SessionSort::Recent, SessionSort::Attention] {
        let mut list = catalog.sessions(SessionFilter::default(), sort, 100);
        let mut touched = BTreeSet::new();
        let mut met: Vec<SessionId> = Vec::new();
        // Of what the first walk left.
        let every = catalog.sessions(SessionFilter::default(), sort, 100);
        let before: BTreeSet<SessionId> = ids_of(&catalog.walk_sessions(every).await).into_iter().collect();
        loop {
            let (page, _) = turn(&catalog, &mut list).await;
            if page.is_empty() {
                break;
            }
            met.extend(page);
            let id = numbered(1 + seed.below(usize::try_from(count).unwrap()) as u64);
            let there = catalog
                .find_session(&id)
                .await
                .is_some_and(|session| session.archived_at.is_none());
            match seed.below(4) {
                0 => _ = catalog.create_session(ungrouped()).await,
                _ if !there => {}
                1 => _ = catalog.change_session(&id, renaming("touched")).await,
                2 => _ = catalog.change_session(&id, SessionChange::Archive).await,
                _ => catalog.delete_session(deletion(&id)).await.map(|_| ()).unwrap(),
            }
            touched.insert(id);
        }
        let once: BTreeSet<SessionId> = met.iter().cloned().collect();
        assert_eq!(once.len(), met.len(), "no id twice");
        let untouched: Vec<&SessionId> = before.difference(&touched).collect();
        assert!(untouched.iter().all(|id| once.contains(*id)));
    }
}

pub async fn s317_a_seen_row_is_moved_to_the_end<E: Engine>(catalog: Catalog<E>) {
    let workspace = catalog.register("/w/a").await;
    let mut made = Vec::new();
    for _ in 0..4 {
        made.insert(0, catalog.create_session(new_in(&workspace)).await.id);
    }
    let filter = SessionFilter {
        place: Place::Workspace(workspace.id.clone()),
        ..SessionFilter::default()
    };
    let mut list = catalog.sessions(filter, SessionSort::Manual, 1);
    let mut met = Vec::new();
    for turned in 0..5 {
        let (page, total) = turn(&catalog, &mut list).await;
        assert_eq!(total, 4);
        met.extend(page);
        if turned == 0 {
            let moving = MoveSession {
                id: Some(made[0].clone()),
                reference: made[0].to_string(),
                before: None,
            };
            fresh(
                catalog
                    .store
                    .move_session(moving, catalog.session_call())
                    .await
                    .unwrap(),
            );
        }
    }
    for id in &made[1..] {
        assert_eq!(met.iter().filter(|other| *other == id).count(), 1);
    }
}

/// A writer replaces one session by another in one transaction each time: no page sees a half of it.
pub async fn s318_s319_a_page_is_one_snapshot<E: Engine>(catalog: Catalog<E>) {
    let sessions: Vec<Session> = (1..=60)
        .map(|number| stopped(number, None, i64::try_from(number).unwrap()))
        .collect();
    catalog.plant(&sessions, &[]).await;
    let writing = catalog.clone();
    let done = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let over = std::sync::Arc::clone(&done);
    let writer = async move {
        let mut number = 61;
        while !over.load(std::sync::atomic::Ordering::SeqCst) {
            writing
                .replace_planted(number - 60, &stopped(number, None, 1))
                .await;
            number += 1;
        }
        number
    };
    let reader = async {
        let filter = SessionFilter {
            query: Some("general".to_owned()),
            ..SessionFilter::default()
        };
        for round in 0..1_000 {
            let filter = if round % 4 == 0 {
                filter.clone()
            } else {
                SessionFilter::default()
            };
            let list = catalog.sessions(filter, SessionSort::Recent, 100);
            let page = catalog.session_page(&list).await.page;
            assert_eq!((page.total, page.rows.len(), page.has_more), (60, 60, false));
            let mut rows = ids_of(&page.rows);
            rows.sort_unstable();
            // Sixty in a row: what the log up to the page's revision, or what waits to join it, made of them.
            let first = rows[0].clone();
            let from = u64::from_str_radix(&first.as_str()[5..], 16).unwrap();
            assert_eq!(rows, ids(from..from + 60));
        }
        done.store(true, std::sync::atomic::Ordering::SeqCst);
    };
    let (written, ()) = futures::join!(writer, reader);
    assert!(written > 61, "nobody wrote meanwhile");
    let stop = catalog.create_session(ungrouped()).await;
    catalog
        .change_session(&stop.id, stopping(StopCause::User, ""))
        .await;
    catalog.assert_counts_are_true().await;
}
