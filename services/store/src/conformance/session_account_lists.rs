//! Promises about accounts as lists show them.

use compozy_domain::session::change::SessionChange;
use compozy_domain::session::filter::{Archive, Place, SessionFilter, SessionSort};
use compozy_domain::{SessionId, Workspace};

use super::engine::Engine;
use super::fixture::Catalog;
use super::session_accounts::{detaching, ungrouped_at};
use super::session_fixture::{new_in, new_lease, renaming, stopping};
use super::session_leases_fixture::{activity, prompting, settled};
use super::session_list_planted::ids_of;
use super::session_moves::moving;
use crate::sessions::CreateSession;
use compozy_domain::session::StopCause;

/// The sessions of a workspace in their manual order, page by page; each page has their total.
async fn listed<E: Engine>(catalog: &Catalog<E>, workspace: &Workspace, limit: i32) -> Vec<SessionId> {
    let filter = SessionFilter {
        place: Place::Workspace(workspace.id.clone()),
        archive: Archive::Include,
        ..SessionFilter::default()
    };
    let list = catalog.sessions(filter, SessionSort::Manual, limit);
    ids_of(&catalog.walk_sessions(list).await)
}

async fn ungrouped<E: Engine>(catalog: &Catalog<E>) -> Vec<SessionId> {
    let filter = SessionFilter {
        place: Place::Ungrouped,
        ..SessionFilter::default()
    };
    let list = catalog.sessions(filter, SessionSort::Recent, 50);
    ids_of(&catalog.walk_sessions(list).await)
}

pub async fn s212_the_manual_order_is_that_of_the_account<E: Engine>(catalog: Catalog<E>) {
    let a = catalog.register("/w/a").await;
    let b = catalog.register("/w/b").await;
    let order = catalog.sessions_in_order(&a, 3).await;
    catalog.session_in(&b).await;
    catalog.create_session(ungrouped_at("/w/a")).await;
    assert_eq!(listed(&catalog, &a, 50).await, order);
}

/// Whatever happens to a session but a move.
pub async fn what_a_session_does_moves_it_nowhere<E: Engine>(catalog: Catalog<E>) {
    let a = catalog.register("/w/a").await;
    let lease = new_lease("r1");
    let create = CreateSession {
        bind: Some(lease.clone()),
        ..new_in(&a)
    };
    let s1 = catalog.create_session(create).await.id;
    let (s2, s3) = (catalog.session_in(&a).await.id, catalog.session_in(&a).await.id);
    let order = [s3, s2, s1.clone()];
    for report in [prompting(true), activity("tool"), settled()] {
        catalog.beat(&lease.hash, report).await.unwrap();
        assert_eq!(listed(&catalog, &a, 50).await, order);
    }
    for change in [
        renaming("first"),
        SessionChange::Seen,
        stopping(StopCause::User, ""),
    ] {
        catalog.change_session(&s1, change).await;
        assert_eq!(listed(&catalog, &a, 50).await, order);
    }
    let word = compozy_domain::session::change::LastWord::default();
    catalog.finish(&lease.hash, word).await.unwrap();
    for change in [
        SessionChange::Archive,
        SessionChange::Unarchive,
        SessionChange::Resume { bind: None },
    ] {
        catalog.change_session(&s1, change).await;
        assert_eq!(listed(&catalog, &a, 50).await, order);
    }
}

pub async fn s214_a_moved_session_is_listed_where_it_was_put<E: Engine>(catalog: Catalog<E>) {
    let a = catalog.register("/w/a").await;
    let order = catalog.sessions_in_order(&a, 3).await;
    let [s3, s2, s1] = [&order[0], &order[1], &order[2]];
    catalog.move_session(moving(s1, Some(s3))).await.unwrap();
    // One a page; the walk checks the total of each.
    assert!(listed(&catalog, &a, 1).await.iter().eq([s1, s3, s2]));
}

pub async fn s216_s217_a_detached_session_is_listed_without_a_workspace_until_it_is_back<E: Engine>(
    catalog: Catalog<E>,
) {
    let a = catalog.register("/w/a").await;
    let order = catalog.sessions_in_order(&a, 3).await;
    let [s3, s2, s1] = [&order[0], &order[1], &order[2]];
    let before = catalog.get_session(s2).await;
    catalog.detach(detaching(s2)).await.unwrap();
    let detached = catalog.get_session(s2).await;
    assert_eq!((detached.workspace, detached.cwd), (None, before.cwd));
    assert_eq!(ungrouped(&catalog).await, std::slice::from_ref(s2));
    assert!(listed(&catalog, &a, 50).await.iter().eq([s3, s1]));
    catalog.attach(s2, &a).await.unwrap();
    assert!(listed(&catalog, &a, 50).await.iter().eq([s2, s3, s1]));
    assert_eq!(ungrouped(&catalog).await, []);
}
