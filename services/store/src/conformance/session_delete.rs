//! Promises about sessions that are deleted, and about the profiles that they own.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use compozy_domain::session::change::SessionChange;
use compozy_domain::{
    CatalogError, ChangeKind, ChangeOp, ChangeReason, ProfileId, SessionId, SessionState, Workspace,
};
use tokio::task::JoinSet;

use super::engine::Engine;
use super::failing_commits::assert_away;
use super::fixture::{Catalog, START, fresh, rejection};
use super::hooks;
use super::profiles::{created, deleting, find, told};
use super::session_change::{assert_state_conflict, head, stopping_one};
use super::session_fixture::{deletion, new_in, new_lease, renaming, ungrouped};
use crate::catalog::{CatalogStore as _, StoreKind};
use crate::error::Error;
use crate::profiles::ProfileStore as _;
use crate::sessions::{CreateSession, DeleteSession, SessionStore as _};

/// How many rows of any table but those that outlive a session name it.
async fn rows_about<E>(catalog: &Catalog<E>, id: &SessionId) -> usize {
    let mut count = 0;
    for (table, column) in [
        ("session", "id"),
        ("session_live", "session_id"),
        ("session_label", "session_id"),
        ("session_transition", "session_id"),
    ] {
        let sql = format!("SELECT {column} FROM {table} WHERE {column} = '{id}'");
        count += hooks::rows(&catalog.store, &sql).await.unwrap().len();
    }
    if catalog.store.kind() == StoreKind::Sqlite {
        let sql = "SELECT rowid FROM session_search";
        count += hooks::rows(&catalog.store, sql).await.unwrap().len();
    }
    count
}

/// A session with everything that a session can have rows of.
async fn full<E: Engine>(catalog: &Catalog<E>, workspace: &Workspace) -> SessionId {
    let create = CreateSession {
        labels: BTreeMap::from([("k".to_owned(), "v".to_owned())]),
        bind: Some(new_lease("h1")),
        ..new_in(workspace)
    };
    let id = catalog.create_session(create).await.id;
    let enter = SessionChange::AcquireAttach {
        holder: "o1".to_owned(),
        ttl: Duration::from_secs(900),
    };
    catalog.change_session(&id, enter).await;
    id
}

pub async fn s164_a_deleted_session_is_gone_and_told<E: Engine>(catalog: Catalog<E>) {
    let workspace = catalog.register("/t/a").await;
    let stopped = catalog.stopped_in(&workspace).await;
    let before = head(&catalog).await;
    let deleted = catalog.delete_session(deletion(&stopped.id)).await.unwrap();
    assert_eq!(
        (deleted.value.as_ref(), deleted.revision.position),
        (Some(&stopped.id), before)
    );
    assert_eq!(catalog.find_session(&stopped.id).await, None);
    assert_eq!(catalog.store.transitions(&stopped.id).await.unwrap(), []);
    let entries = told(&catalog, before).await;
    assert_eq!(entries.len(), 1, "{entries:?}");
    let entry = &entries[0];
    assert_eq!(
        (entry.kind, entry.op, entry.reason),
        (ChangeKind::Session, ChangeOp::Deleted, ChangeReason::Removed)
    );
    assert_eq!(entry.workspace_id.as_ref(), Some(&workspace.id));
    assert_eq!(entry.session_id.as_ref(), Some(&stopped.id));
    assert_eq!(
        (entry.version, &entry.host_id),
        (stopped.version + 1, &stopped.host_id)
    );
    assert_eq!(catalog.kept_counts().await, Vec::<Vec<String>>::new());
}

pub async fn s166_a_live_session_is_not_deleted<E: Engine>(catalog: Catalog<E>) {
    let create = CreateSession {
        state: SessionState::Starting,
        ..ungrouped()
    };
    let starting = catalog.create_session(create).await;
    let active = catalog.create_session(ungrouped()).await;
    let stopping = stopping_one(&catalog).await;
    let before = catalog.everything().await;
    for session in [starting, active, stopping] {
        let refused = rejection(catalog.delete_session(deletion(&session.id)).await);
        assert_state_conflict(&refused, session.state);
    }
    assert_eq!(catalog.everything().await, before);
}

pub async fn s167_a_live_session_goes_completely_with_force<E: Engine>(catalog: Catalog<E>) {
    let workspace = catalog.register("/t/a").await;
    catalog.set_clock(START).await;
    let id = full(&catalog, &workspace).await;
    assert!(rows_about(&catalog, &id).await >= 4);
    let delete = DeleteSession {
        force: true,
        ..deletion(&id)
    };
    catalog.delete_session(delete).await.unwrap();
    assert_eq!(rows_about(&catalog, &id).await, 0);
    let remembered = hooks::rows(&catalog.store, "SELECT id, at FROM deleted_session")
        .await
        .unwrap();
    assert_eq!(remembered, [[id.to_string(), START.nanos().to_string()]]);
    catalog.assert_counts_are_true().await;
}

pub async fn s168_a_missing_session_is_not_found_unless_that_is_allowed<E: Engine>(catalog: Catalog<E>) {
    let workspace = catalog.register("/t/a").await;
    let id = catalog.stopped_in(&workspace).await.id;
    catalog.delete_session(deletion(&id)).await.unwrap();
    let before = catalog.everything().await;
    let no_id = DeleteSession {
        id: None,
        reference: "../x".to_owned(),
        ..deletion(&id)
    };
    for delete in [deletion(&id), no_id] {
        let refused = rejection(catalog.delete_session(delete.clone()).await);
        let missing = CatalogError::SessionNotFound {
            id: delete.reference.clone(),
        };
        assert_eq!(refused, missing);
        let allowed = DeleteSession {
            allow_missing: true,
            ..delete
        };
        assert_eq!(catalog.delete_session(allowed).await.unwrap().value, None);
    }
    assert_eq!(catalog.everything().await, before);
}

pub async fn s170_an_archived_session_is_deleted<E: Engine>(catalog: Catalog<E>) {
    let workspace = catalog.register("/t/a").await;
    let id = catalog.stopped_in(&workspace).await.id;
    catalog.change_session(&id, SessionChange::Archive).await;
    catalog.delete_session(deletion(&id)).await.unwrap();
    assert_eq!(catalog.find_session(&id).await, None);
    assert_eq!(catalog.kept_counts().await, Vec::<Vec<String>>::new());
}

pub async fn s173_the_others_stay_in_their_order<E: Engine>(catalog: Catalog<E>) {
    let workspace = catalog.register("/t/a").await;
    let mut ids = Vec::new();
    for _ in 0..5 {
        ids.push(catalog.stopped_in(&workspace).await.id);
    }
    let order = "SELECT id FROM session ORDER BY workspace_id, rank, id";
    catalog.delete_session(deletion(&ids[2])).await.unwrap();
    let left: Vec<String> = hooks::rows(&catalog.store, order).await.unwrap().concat();
    let expected: Vec<String> = [4, 3, 1, 0].map(|at| ids[at as usize].to_string()).to_vec();
    assert_eq!(left, expected);
}

pub async fn a_stale_etag_deletes_nothing<E: Engine>(catalog: Catalog<E>) {
    let workspace = catalog.register("/t/a").await;
    let stopped = catalog.stopped_in(&workspace).await;
    let renamed = catalog.change_session(&stopped.id, renaming("x")).await;
    let before = catalog.everything().await;
    let delete = |etag| DeleteSession {
        etag: Some(etag),
        ..deletion(&stopped.id)
    };
    let refused = rejection(catalog.delete_session(delete(stopped.etag())).await);
    assert!(
        matches!(refused, CatalogError::EtagMismatch { .. }),
        "{refused:?}"
    );
    assert_eq!(catalog.everything().await, before);
    catalog.delete_session(delete(renamed.etag())).await.unwrap();
    assert_eq!(catalog.find_session(&stopped.id).await, None);
}

pub async fn a_deletion_that_fails_at_its_commit_deletes_nothing<E: Engine>(catalog: Catalog<E>) {
    let workspace = catalog.register("/t/a").await;
    let id = full(&catalog, &workspace).await;
    let delete = DeleteSession {
        force: true,
        ..deletion(&id)
    };
    let before = catalog.everything().await;
    catalog.store.fail_commits(true);
    assert_away(&catalog.delete_session(delete.clone()).await);
    catalog.store.fail_commits(false);
    assert_eq!(catalog.everything().await, before);
    catalog.delete_session(delete).await.unwrap();
    assert_eq!(rows_about(&catalog, &id).await, 0);
}

pub async fn a_row_that_is_not_understood_is_deleted_and_not_changed<E: Engine>(catalog: Catalog<E>) {
    let workspace = catalog.register("/t/a").await;
    for (column, value) in [
        ("state", "'paused'"),
        ("type", "'swarm'"),
        ("stop", "'{'"),
        ("labels", "'[]'"),
    ] {
        let stopped = catalog.stopped_in(&workspace).await;
        let sql = format!(
            "UPDATE session SET {column} = {value} WHERE id = '{}'",
            stopped.id
        );
        hooks::execute(&catalog.store, &sql).await.unwrap();
        // As the release that wrote it would have counted it.
        catalog.store.recount_sessions().await.unwrap();
        let found = catalog.get_session(&stopped.id).await;
        assert!(found.defect.is_some(), "{column}");
        let refused = rejection(catalog.try_change_session(&stopped.id, renaming("x")).await);
        assert!(
            matches!(refused, CatalogError::RecordNotUnderstood { .. }),
            "{refused:?}"
        );
        let before = head(&catalog).await;
        catalog.delete_session(deletion(&stopped.id)).await.unwrap();
        assert_eq!(catalog.log_after(before).await.len(), 1);
        assert_eq!(rows_about(&catalog, &stopped.id).await, 0);
        catalog.assert_counts_are_true().await;
    }
}

pub async fn a_session_whose_workspace_is_gone_without_a_word_is_changed_and_deleted<E: Engine>(
    catalog: Catalog<E>,
) {
    let workspace = catalog.register("/t/a").await;
    let id = catalog.session_in(&workspace).await.id;
    let sql = format!("DELETE FROM workspace WHERE id = '{}'", workspace.id);
    hooks::execute(&catalog.store, &sql).await.unwrap();
    let found = catalog.get_session(&id).await;
    assert_eq!((&found.workspace, found.canonical_cwd.as_str()), (&None, "/t/a"));
    let stop = super::session_fixture::stopping(compozy_domain::session::StopCause::User, "");
    let stopped = catalog.change_session(&id, stop).await;
    assert_eq!(stopped.state, SessionState::Stopped);
    catalog.assert_counts_are_true().await;
    catalog.change_session(&id, SessionChange::Archive).await;
    catalog.assert_counts_are_true().await;
    catalog.delete_session(deletion(&id)).await.unwrap();
    assert_eq!(catalog.kept_counts().await, Vec::<Vec<String>>::new());
}

fn owned_by(profile: &ProfileId) -> CreateSession {
    CreateSession {
        profile_id: profile.clone(),
        ..ungrouped()
    }
}

pub async fn r108_a_profile_that_sessions_own_is_not_deleted<E: Engine>(catalog: Catalog<E>) {
    let profile = created(&catalog, "p").await;
    let mut ids = Vec::new();
    for _ in 0..2 {
        ids.push(catalog.create_session(owned_by(&profile.id)).await.id);
    }
    let before = catalog.everything().await;
    let outcome = catalog
        .store
        .delete_profile(deleting(&profile.id), catalog.call())
        .await;
    let in_use = CatalogError::ProfileInUse {
        name: "p".to_owned(),
        session_count: 2,
    };
    assert_eq!(rejection(outcome), in_use);
    assert_eq!(catalog.everything().await, before);
    for id in &ids {
        let delete = DeleteSession {
            force: true,
            ..deletion(id)
        };
        catalog.delete_session(delete).await.unwrap();
    }
    let outcome = catalog
        .store
        .delete_profile(deleting(&profile.id), catalog.call())
        .await;
    assert_eq!(fresh(outcome.unwrap()).value, Some(profile.id));
}

pub async fn r108_no_session_outlives_its_profile<E: Engine>(catalog: Catalog<E>) {
    for round in 0..12 {
        let profile = created(&catalog, &format!("p{round}")).await;
        let mut makers = JoinSet::new();
        for _ in 0..6 {
            let (catalog, create) = (catalog.clone(), owned_by(&profile.id));
            makers.spawn(async move { catalog.try_create_session(create).await });
        }
        let (store, call, delete) = (Arc::clone(&catalog.store), catalog.call(), deleting(&profile.id));
        let mut deletes = JoinSet::new();
        deletes.spawn(async move { store.delete_profile(delete, call).await });
        let (made, refused): (Vec<_>, Vec<_>) = makers.join_all().await.into_iter().partition(Result::is_ok);
        for outcome in refused {
            assert!(matches!(rejection(outcome), CatalogError::ProfileNotFound { .. }));
        }
        match deletes.join_all().await.remove(0) {
            Ok(_) => assert_eq!((made.len(), find(&catalog, &profile.id).await), (0, None)),
            Err(Error::Rejected(CatalogError::ProfileInUse { session_count, .. })) => {
                assert!(session_count >= 1 && made.len() == 6);
            }
            Err(error) => panic!("{error:?}"),
        }
        let owned = catalog.store.sessions_of_profile(&profile.id).await.unwrap();
        assert_eq!(usize::try_from(owned).unwrap(), made.len());
    }
}
