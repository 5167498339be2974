//! Promises about changes of one session: names, labels, stops, archives.

use std::collections::BTreeMap;
use std::time::Duration;

use compozy_domain::session::change::SessionChange;
use compozy_domain::session::{PermissionMode, RuntimeState, StopCause, StopReason, Transition};
use compozy_domain::{
    CatalogError, ChangeKind, ChangeOp, ChangeReason, Session, SessionId, SessionState, Visibility,
};

use super::engine::Engine;
use super::failing_commits::assert_away;
use super::fixture::{Catalog, START, rejection};
use super::profiles::told;
use super::session_fixture::{
    changing, deletion, new_in, new_lease, renaming, session_id, stopping, ungrouped,
};
use crate::change_log::ChangeLog as _;
use crate::sessions::{ChangeSession, CreateSession, SessionStore as _};

const SECOND: Duration = Duration::from_secs(1);

/// The head of the log, everything before it numbered.
pub(crate) async fn head<E: Engine>(catalog: &Catalog<E>) -> i64 {
    catalog.number_all().await;
    catalog.store.head().await.unwrap().head.position
}

/// Fails unless exactly one entry about this session, with this reason, stands behind a position.
pub(crate) async fn assert_told_once<E: Engine>(
    catalog: &Catalog<E>,
    position: i64,
    session: &Session,
    reason: ChangeReason,
) {
    let entries = told(catalog, position).await;
    assert_eq!(entries.len(), 1, "{entries:?}");
    let entry = &entries[0];
    assert_eq!(
        (entry.kind, entry.op, entry.reason),
        (ChangeKind::Session, ChangeOp::Upserted, reason)
    );
    assert_eq!(entry.session_id.as_ref(), Some(&session.id));
    assert_eq!(entry.workspace_id.as_ref(), session.workspace_id());
    assert_eq!(entry.version, session.version);
}

/// Carries out a change that is to change nothing.
pub(crate) async fn changes_nothing<E: Engine>(catalog: &Catalog<E>, id: &SessionId, change: SessionChange) {
    let (before, found) = (catalog.everything().await, catalog.get_session(id).await);
    let answer = catalog.change_session(id, change).await;
    assert_eq!(answer, found);
    assert_eq!(catalog.everything().await, before);
}

/// Carries out a change that is to be refused.
pub(crate) async fn refuses<E: Engine>(
    catalog: &Catalog<E>,
    id: &SessionId,
    change: SessionChange,
) -> CatalogError {
    let before = catalog.everything().await;
    let refused = rejection(catalog.try_change_session(id, change).await);
    assert_eq!(catalog.everything().await, before);
    refused
}

#[track_caller]
pub(crate) fn assert_state_conflict(refused: &CatalogError, state: SessionState) {
    assert!(
        matches!(refused, CatalogError::SessionState { state: told, .. } if *told == state),
        "{refused:?}"
    );
    assert!(refused.to_string().contains(state.as_str()));
}

/// A session that a runtime holds, asked to stop.
pub(crate) async fn stopping_one<E: Engine>(catalog: &Catalog<E>) -> Session {
    let create = CreateSession {
        bind: Some(new_lease("h1")),
        ..ungrouped()
    };
    let session = catalog.create_session(create).await;
    catalog
        .change_session(&session.id, stopping(StopCause::User, ""))
        .await
}

pub async fn s087_s088_a_session_without_runtime_stops_at_once<E: Engine>(catalog: Catalog<E>) {
    let workspace = catalog.register("/t/a").await;
    catalog.set_clock(START).await;
    for (state, cause, reason) in [
        (SessionState::Active, StopCause::Completed, StopReason::Completed),
        (SessionState::Starting, StopCause::Timeout, StopReason::Timeout),
    ] {
        let create = CreateSession {
            state,
            ..new_in(&workspace)
        };
        let made = catalog.create_session(create).await;
        let before = head(&catalog).await;
        catalog.pass(SECOND).await;
        let stopped = catalog.change_session(&made.id, stopping(cause, "")).await;
        assert_eq!(
            (stopped.state, stopped.runtime),
            (SessionState::Stopped, RuntimeState::None)
        );
        let stop = stopped.stop.clone().unwrap();
        assert_eq!((stop.cause, stop.reason), (Some(cause), Some(reason)));
        assert_eq!(stop.failure.is_some(), cause == StopCause::Timeout);
        assert_eq!(stop.stopped_at, Some(catalog.now()));
        assert_eq!(
            (stopped.updated_at, stopped.state_at),
            (catalog.now(), catalog.now())
        );
        assert_ne!(stopped.etag(), made.etag());
        assert_eq!(catalog.get_session(&made.id).await, stopped);
        assert_told_once(&catalog, before, &stopped, ChangeReason::State).await;
    }
    catalog.assert_counts_are_true().await;
}

pub async fn s094_s095_a_stopped_session_stays_as_it_is<E: Engine>(catalog: Catalog<E>) {
    let workspace = catalog.register("/t/a").await;
    let stopped = catalog.stopped_in(&workspace).await;
    for cause in [StopCause::Completed, StopCause::User, StopCause::Failed] {
        changes_nothing(&catalog, &stopped.id, stopping(cause, "again")).await;
    }
    catalog.change_session(&stopped.id, SessionChange::Archive).await;
    changes_nothing(&catalog, &stopped.id, stopping(StopCause::Shutdown, "")).await;
}

pub async fn s148_a_rename_tells_the_collapsed_name<E: Engine>(catalog: Catalog<E>) {
    let workspace = catalog.register("/t/a").await;
    catalog.set_clock(START).await;
    let made = catalog.session_in(&workspace).await;
    let before = head(&catalog).await;
    catalog.pass(SECOND).await;
    let renamed = catalog
        .change_session(&made.id, renaming("  a \u{2003}\u{a0} b "))
        .await;
    assert_eq!(
        (renamed.name.as_str(), renamed.updated_at),
        ("a b", catalog.now())
    );
    assert_ne!(renamed.etag(), made.etag());
    assert_eq!(catalog.get_session(&made.id).await, renamed);
    assert_told_once(&catalog, before, &renamed, ChangeReason::Renamed).await;
    changes_nothing(&catalog, &made.id, renaming("a b")).await;
}

pub async fn s152_live_stopped_and_archived_sessions_are_renamed<E: Engine>(catalog: Catalog<E>) {
    let id = catalog.create_session(ungrouped()).await.id;
    let changes = [
        None,
        Some(stopping(StopCause::Completed, "")),
        Some(SessionChange::Archive),
    ];
    for (number, change) in changes.into_iter().enumerate() {
        if let Some(change) = change {
            catalog.change_session(&id, change).await;
        }
        let name = format!("n{number}");
        catalog.change_session(&id, renaming(&name)).await;
        assert_eq!(catalog.get_session(&id).await.name, name);
    }
}

pub async fn s153_a_stale_etag_changes_nothing<E: Engine>(catalog: Catalog<E>) {
    let made = catalog.create_session(ungrouped()).await;
    catalog.change_session(&made.id, renaming("x")).await;
    let before = catalog.everything().await;
    let changes = [
        renaming("y"),
        stopping(StopCause::User, ""),
        SessionChange::Archive,
        SessionChange::Unarchive,
        SessionChange::Update {
            labels: None,
            permission_mode: Some(PermissionMode::DenyAll),
        },
    ];
    for change in changes {
        let stale = ChangeSession {
            etag: Some(made.etag()),
            ..changing(&made.id, change)
        };
        let refused = rejection(catalog.store.change_session(stale, catalog.session_call()).await);
        let mismatch = CatalogError::EtagMismatch {
            id: made.id.to_string(),
        };
        assert_eq!(refused, mismatch);
    }
    assert_eq!(catalog.everything().await, before);
    let current = ChangeSession {
        etag: Some(catalog.get_session(&made.id).await.etag()),
        ..changing(&made.id, renaming("y"))
    };
    catalog
        .store
        .change_session(current, catalog.session_call())
        .await
        .unwrap();
    assert_eq!(catalog.get_session(&made.id).await.name, "y");
}

pub async fn s155_a_rename_that_fails_at_its_commit_leaves_the_old_name<E: Engine>(catalog: Catalog<E>) {
    let create = CreateSession {
        name: "old".to_owned(),
        ..ungrouped()
    };
    let made = catalog.create_session(create).await;
    let before = catalog.everything().await;
    catalog.store.fail_commits(true);
    assert_away(&catalog.try_change_session(&made.id, renaming("new")).await);
    assert_eq!(catalog.get_session(&made.id).await, made);
    catalog.store.fail_commits(false);
    assert_eq!(catalog.everything().await, before);
    catalog.change_session(&made.id, renaming("new")).await;
    assert_eq!(catalog.get_session(&made.id).await.name, "new");
}

pub async fn s156_s157_s158_a_session_is_archived_and_taken_back<E: Engine>(catalog: Catalog<E>) {
    let workspace = catalog.register("/t/a").await;
    catalog.set_clock(START).await;
    let stopped = catalog.stopped_in(&workspace).await;
    let before = head(&catalog).await;
    catalog.pass(SECOND).await;
    let archived = catalog.change_session(&stopped.id, SessionChange::Archive).await;
    assert_eq!(
        (archived.archived_at, archived.state),
        (Some(catalog.now()), SessionState::Stopped)
    );
    assert_eq!(catalog.get_session(&stopped.id).await, archived);
    assert_told_once(&catalog, before, &archived, ChangeReason::Archived).await;
    catalog.assert_counts_are_true().await;
    catalog.pass(Duration::from_secs(3_600)).await;
    changes_nothing(&catalog, &stopped.id, SessionChange::Archive).await;

    let before = head(&catalog).await;
    let back = catalog
        .change_session(&stopped.id, SessionChange::Unarchive)
        .await;
    assert_eq!(back.archived_at, None);
    assert_told_once(&catalog, before, &back, ChangeReason::Unarchived).await;
    changes_nothing(&catalog, &stopped.id, SessionChange::Unarchive).await;
    catalog.assert_counts_are_true().await;
}

pub async fn s159_a_live_session_is_not_archived<E: Engine>(catalog: Catalog<E>) {
    let create = CreateSession {
        state: SessionState::Starting,
        ..ungrouped()
    };
    let starting = catalog.create_session(create).await;
    let active = catalog.create_session(ungrouped()).await;
    let stopping = stopping_one(&catalog).await;
    for session in [starting, active, stopping] {
        let refused = refuses(&catalog, &session.id, SessionChange::Archive).await;
        assert_state_conflict(&refused, session.state);
    }
}

pub async fn labels_and_permission_mode_are_updated<E: Engine>(catalog: Catalog<E>) {
    catalog.set_clock(START).await;
    let create = CreateSession {
        labels: BTreeMap::from([("a".to_owned(), "1".to_owned()), ("b".to_owned(), "2".to_owned())]),
        ..ungrouped()
    };
    let made = catalog.create_session(create).await;
    let before = head(&catalog).await;
    catalog.pass(SECOND).await;
    let labels = BTreeMap::from([("b".to_owned(), "3".to_owned()), ("c".to_owned(), String::new())]);
    let update = SessionChange::Update {
        labels: Some(labels.clone()),
        permission_mode: Some(PermissionMode::DenyAll),
    };
    let updated = catalog.change_session(&made.id, update.clone()).await;
    assert_eq!(
        (&updated.labels, updated.permission_mode),
        (&labels, PermissionMode::DenyAll)
    );
    assert_eq!(updated.updated_at, catalog.now());
    assert_eq!(catalog.get_session(&made.id).await, updated);
    let stored = super::hooks::rows(
        &catalog.store,
        "SELECT key, value FROM session_label ORDER BY key",
    )
    .await;
    assert_eq!(stored.unwrap(), [["b", "3"], ["c", ""]]);
    assert_told_once(&catalog, before, &updated, ChangeReason::Updated).await;
    changes_nothing(&catalog, &made.id, update).await;
}

pub async fn s051_an_unknown_session_is_not_found<E: Engine>(catalog: Catalog<E>) {
    let unknown = session_id();
    let missing = CatalogError::SessionNotFound {
        id: unknown.to_string(),
    };
    assert!(catalog.find_session(&unknown).await.is_none());
    let changes = [
        SessionChange::Bind(new_lease("h1")),
        stopping(StopCause::User, ""),
        SessionChange::Resume { bind: None },
        renaming("x"),
        SessionChange::Archive,
        SessionChange::Unarchive,
        SessionChange::AcquireAttach {
            holder: "h1".to_owned(),
            ttl: SECOND,
        },
        SessionChange::ReleaseAttach {
            holder: "h1".to_owned(),
        },
        SessionChange::Seen,
    ];
    for change in changes {
        assert_eq!(refuses(&catalog, &unknown, change).await, missing);
    }
    let outcome = catalog.delete_session(deletion(&unknown)).await;
    assert_eq!(rejection(outcome), missing);
}

pub async fn a_hidden_session_is_like_one_that_never_was<E: Engine>(catalog: Catalog<E>) {
    let (a, b) = (catalog.register("/t/a").await, catalog.register("/t/b").await);
    let hidden = [
        catalog.session_in(&b).await,
        catalog.create_session(ungrouped()).await,
    ];
    let before = catalog.everything().await;
    let visibility = Visibility::Only(vec![a.id.clone()]);
    for session in hidden {
        let call = catalog.session_call_as(visibility.clone());
        let refused = rejection(
            catalog
                .store
                .change_session(changing(&session.id, renaming("x")), call)
                .await,
        );
        assert!(
            matches!(refused, CatalogError::SessionNotFound { .. }),
            "{refused:?}"
        );
        let call = catalog.session_call_as(visibility.clone());
        let mut delete = deletion(&session.id);
        delete.force = true;
        let refused = rejection(catalog.store.delete_session(delete, call).await);
        assert!(
            matches!(refused, CatalogError::SessionNotFound { .. }),
            "{refused:?}"
        );
        let found = catalog
            .store
            .find_session(&session.id, &visibility, START)
            .await
            .unwrap()
            .0;
        assert_eq!(found, None);
    }
    assert_eq!(catalog.everything().await, before);
}

pub async fn every_change_of_state_is_kept_once<E: Engine>(catalog: Catalog<E>) {
    catalog.set_clock(START).await;
    let id = catalog.create_session(ungrouped()).await.id;
    catalog.pass(SECOND).await;
    catalog.change_session(&id, stopping(StopCause::User, "")).await;
    catalog
        .change_session(&id, stopping(StopCause::User, "again"))
        .await;
    catalog.pass(SECOND).await;
    catalog
        .change_session(&id, SessionChange::Resume { bind: None })
        .await;
    catalog
        .change_session(&id, SessionChange::Resume { bind: None })
        .await;
    let transition = |state, seconds, cause: &str| Transition {
        state,
        at: START.plus(seconds * SECOND),
        cause: cause.to_owned(),
        by: "local".to_owned(),
    };
    let expected = [
        transition(SessionState::Active, 0, "create"),
        transition(SessionState::Stopped, 1, "user"),
        transition(SessionState::Starting, 2, "resume"),
    ];
    assert_eq!(catalog.store.transitions(&id).await.unwrap(), expected);
}

pub async fn s336_a_caller_that_goes_away_does_not_undo_a_change<E: Engine>(catalog: Catalog<E>) {
    let workspace = catalog.register("/t/a").await;
    let (renamed, stopped) = (
        catalog.session_in(&workspace).await,
        catalog.session_in(&workspace).await,
    );
    let deleted = catalog.stopped_in(&workspace).await;
    let before = head(&catalog).await;
    let store = &catalog.store;
    for (session, change) in [
        (&renamed, renaming("x")),
        (&stopped, stopping(StopCause::User, "")),
    ] {
        let mut write = Box::pin(store.change_session(changing(&session.id, change), catalog.session_call()));
        // Begun, and perhaps done already.
        let _begun = futures::poll!(&mut write);
    }
    let mut write = Box::pin(store.delete_session(deletion(&deleted.id), catalog.session_call()));
    let _begun = futures::poll!(&mut write);
    drop(write);
    let done = async {
        while catalog.log_after(before).await.len() < 3 {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), done)
        .await
        .expect("what has begun is finished");
    assert_eq!(catalog.get_session(&renamed.id).await.name, "x");
    assert_eq!(
        catalog.get_session(&stopped.id).await.state,
        SessionState::Stopped
    );
    assert_eq!(catalog.find_session(&deleted.id).await, None);
    assert_eq!(catalog.log_after(before).await.len(), 3);
    catalog.assert_counts_are_true().await;
}
