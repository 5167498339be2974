//! Promises about sessions that several callers change at once.

use std::collections::HashMap;
use std::sync::Arc;

use compozy_domain::session::StopCause;
use compozy_domain::session::change::SessionChange;
use compozy_domain::{CatalogError, ChangeReason, SessionId, SessionState};
use tokio::task::JoinSet;

use super::engine::Engine;
use super::fixture::{Catalog, fresh, rejection};
use super::session_change::{assert_told_once, head};
use super::session_fixture::{changing, deletion, new_in, renaming, stopping};
use crate::sessions::{ChangeSession, SessionStore as _};

const CALLERS: usize = 32;

pub async fn s154_of_two_renames_with_one_etag_one_succeeds<E: Engine>(catalog: Catalog<E>) {
    let workspace = catalog.register("/t/a").await;
    let id = catalog.session_in(&workspace).await.id;
    for round in 0..10 {
        let etag = catalog.get_session(&id).await.etag();
        let mut tasks = JoinSet::new();
        for caller in 0..2 {
            let (store, call) = (Arc::clone(&catalog.store), catalog.session_call());
            let change = ChangeSession {
                etag: Some(etag.clone()),
                ..changing(&id, renaming(&format!("n{round}-{caller}")))
            };
            tasks.spawn(async move { store.change_session(change, call).await });
        }
        let (done, refused): (Vec<_>, Vec<_>) = tasks.join_all().await.into_iter().partition(Result::is_ok);
        assert_eq!((done.len(), refused.len()), (1, 1));
        let refused = refused.into_iter().map(rejection).next().unwrap();
        assert_eq!(refused, CatalogError::EtagMismatch { id: id.to_string() });
        let done = done
            .into_iter()
            .map(|outcome| fresh(outcome.unwrap()))
            .next()
            .unwrap();
        assert_eq!(catalog.get_session(&id).await, done.value.session);
    }
}

pub async fn s160_of_many_who_archive_a_session_one_does<E: Engine>(catalog: Catalog<E>) {
    let workspace = catalog.register("/t/a").await;
    let stopped = catalog.stopped_in(&workspace).await;
    let before = head(&catalog).await;
    let mut tasks = JoinSet::new();
    for _ in 0..CALLERS {
        let (store, mut call) = (Arc::clone(&catalog.store), catalog.session_call());
        call.now = catalog.tick();
        let change = changing(&stopped.id, SessionChange::Archive);
        tasks.spawn(async move { store.change_session(change, call).await });
    }
    let archived = tasks.join_all().await.into_iter();
    let mut times: Vec<_> = archived
        .map(|outcome| fresh(outcome.unwrap()).value.session.archived_at.unwrap())
        .collect();
    times.dedup();
    let archived = catalog.get_session(&stopped.id).await;
    assert_eq!(times, [archived.archived_at.unwrap()]);
    assert_told_once(&catalog, before, &archived, ChangeReason::Archived).await;
    catalog.assert_counts_are_true().await;
}

pub async fn s169_of_many_who_delete_a_session_one_does<E: Engine>(catalog: Catalog<E>) {
    let workspace = catalog.register("/t/a").await;
    for _ in 0..3 {
        let id = catalog.stopped_in(&workspace).await.id;
        let before = head(&catalog).await;
        let mut tasks = JoinSet::new();
        for _ in 0..CALLERS {
            let (store, call, delete) = (Arc::clone(&catalog.store), catalog.session_call(), deletion(&id));
            tasks.spawn(async move { store.delete_session(delete, call).await });
        }
        let (done, refused): (Vec<_>, Vec<_>) = tasks.join_all().await.into_iter().partition(Result::is_ok);
        assert_eq!(done.len(), 1);
        for outcome in refused {
            assert_eq!(
                rejection(outcome),
                CatalogError::SessionNotFound { id: id.to_string() }
            );
        }
        assert_eq!(catalog.log_after(before).await.len(), 1);
    }
    catalog.assert_counts_are_true().await;
}

pub async fn s352_many_pairs_of_archive_and_unarchive_leave_everything_as_it_was<E: Engine>(
    catalog: Catalog<E>,
) {
    const CLIENTS: usize = 16;
    const PAIRS: usize = 200;
    let workspace = catalog.register("/t/a").await;
    let mut sessions = Vec::new();
    for _ in 0..CLIENTS {
        sessions.push(catalog.stopped_in(&workspace).await);
    }
    let before = head(&catalog).await;
    let mut tasks = JoinSet::new();
    for session in &sessions {
        let (catalog, id) = (catalog.clone(), session.id.clone());
        tasks.spawn(async move {
            for _ in 0..PAIRS {
                for change in [SessionChange::Archive, SessionChange::Unarchive] {
                    catalog.try_change_session(&id, change).await.unwrap();
                }
            }
        });
    }
    tasks.join_all().await;
    assert_eq!(catalog.log_after(before).await.len(), 2 * CLIENTS * PAIRS);
    for session in sessions {
        let found = catalog.get_session(&session.id).await;
        assert_eq!(
            (found.archived_at, found.state, &found.name),
            (None, session.state, &session.name)
        );
        assert_eq!(found.version, session.version + 2 * PAIRS as i64);
    }
    catalog.assert_counts_are_true().await;
}

/// Changes, deletions and creations meet on a few sessions: what is refused is refused by a rule, and whatever happens,
/// versions ascend and numbers are true.
pub async fn callers_that_meet_leave_whole_sessions<E: Engine>(catalog: Catalog<E>) {
    let workspace = catalog.register("/t/a").await;
    let mut ids: Vec<SessionId> = Vec::new();
    for _ in 0..4 {
        ids.push(catalog.session_in(&workspace).await.id);
    }
    let mut tasks = JoinSet::new();
    for caller in 0..16_usize {
        let (catalog, ids, workspace) = (catalog.clone(), ids.clone(), workspace.clone());
        tasks.spawn(async move {
            for round in 0..12_usize {
                let id = &ids[(caller + round) % ids.len()];
                let outcome = match (caller * 7 + round * 5) % 6 {
                    0 => catalog
                        .try_change_session(id, stopping(StopCause::User, ""))
                        .await
                        .map(drop),
                    1 => catalog
                        .try_change_session(id, SessionChange::Resume { bind: None })
                        .await
                        .map(drop),
                    2 => catalog
                        .try_change_session(id, SessionChange::Archive)
                        .await
                        .map(drop),
                    3 => catalog
                        .try_change_session(id, SessionChange::Unarchive)
                        .await
                        .map(drop),
                    4 => catalog.try_create_session(new_in(&workspace)).await.map(drop),
                    _ if round == 11 => catalog.delete_session(deletion(id)).await.map(drop),
                    _ => catalog
                        .try_change_session(id, renaming(&format!("{caller}-{round}")))
                        .await
                        .map(drop),
                };
                if outcome.is_err() {
                    rejection(outcome);
                }
            }
        });
    }
    tasks.join_all().await;
    let mut versions: HashMap<SessionId, i64> = HashMap::new();
    for entry in catalog.log().await {
        let Some(id) = entry.change.session_id else {
            continue;
        };
        let before = versions.insert(id, entry.change.version).unwrap_or(0);
        assert_eq!(entry.change.version, before + 1);
    }
    catalog.assert_counts_are_true().await;
    for id in ids {
        if let Some(session) = catalog.find_session(&id).await {
            let last = catalog.store.transitions(&id).await.unwrap().pop().unwrap();
            assert_eq!(last.state, session.state);
            assert!(session.archived_at.is_none() || session.state == SessionState::Stopped);
        }
    }
}
