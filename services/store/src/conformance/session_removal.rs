//! Promises about what becomes of the sessions of a workspace that is removed.

use std::time::{Duration, Instant};

use compozy_domain::session::StopCause;
use compozy_domain::session::change::SessionChange;
use compozy_domain::{
    CatalogError, ChangeKind, ChangeOp, ChangeReason, NewChange, Session, SessionId, SessionState,
    SessionType, Visibility, WatchFilter, Workspace, WorkspaceStatus,
};

use super::engine::Engine;
use super::fixture::{Catalog, HOST, fresh, host, rejection, removal};
use super::hooks;
use super::observations::observe_at;
use super::session_accounts::{detaching, ungrouped_at};
use super::session_fixture::{deletion, new_in, new_lease, stopping};
use super::session_leases_fixture::prompting;
use crate::error::Error;
use crate::sessions::{CreateSession, DeleteSession};
use crate::workspaces::{Prune, Remove, Removed, WorkspaceStore as _};

/// A removal with these policies.
fn removing(workspace: &Workspace, delete_sessions: bool, ungroup_live: bool) -> Remove {
    Remove {
        delete_sessions,
        ungroup_live,
        ..removal(&workspace.id)
    }
}

/// Removes a workspace, and answers what that did and its only entry.
async fn removed<E: Engine>(catalog: &Catalog<E>, remove: Remove) -> (Removed, NewChange) {
    catalog.number_all().await;
    let written = fresh(
        catalog
            .store
            .remove(remove, catalog.session_call())
            .await
            .unwrap(),
    );
    let mut entries = catalog.log_after(written.revision.position).await;
    assert_eq!(entries.len(), 1, "one entry stands for all of it: {entries:?}");
    let change = entries.remove(0).change;
    assert_eq!(
        (change.kind, change.op),
        (ChangeKind::Workspace, ChangeOp::Deleted)
    );
    (written.value, change)
}

async fn archived_in<E: Engine>(catalog: &Catalog<E>, workspace: &Workspace) -> Session {
    let session = catalog.stopped_in(workspace).await;
    catalog.change_session(&session.id, SessionChange::Archive).await
}

fn starting_in(workspace: &Workspace) -> CreateSession {
    CreateSession {
        state: SessionState::Starting,
        ..new_in(workspace)
    }
}

/// Fails unless a session is as before, but in no workspace.
fn assert_ungrouped(before: &Session, after: &Session) {
    let expected = Session {
        workspace: None,
        rank: None,
        version: before.version + 1,
        state_number: before.state_number + 1,
        updated_at: after.updated_at,
        ..before.clone()
    };
    assert_eq!(*after, expected);
    assert!(after.updated_at >= before.updated_at);
}

/// Whatever is kept of sessions with these ids, in any table.
async fn traces<E: Engine>(catalog: &Catalog<E>, ids: &[SessionId]) -> Vec<Vec<String>> {
    let ids: Vec<String> = ids.iter().map(|id| format!("'{id}'")).collect();
    let ids = ids.join(", ");
    let mut found = Vec::new();
    for (table, column) in [
        ("session", "id"),
        ("session_live", "session_id"),
        ("session_label", "session_id"),
        ("session_transition", "session_id"),
    ] {
        let sql = format!("SELECT '{table}', {column} FROM {table} WHERE {column} IN ({ids})");
        found.extend(hooks::rows(&catalog.store, &sql).await.unwrap());
    }
    found
}

pub async fn w225_n009_kept_sessions_are_in_no_workspace<E: Engine>(catalog: Catalog<E>) {
    let a = catalog.register("/w/a").await;
    let b = catalog.register("/w/b").await;
    let at_root = catalog.stopped_in(&a).await;
    let below = catalog
        .create_session(CreateSession {
            canonical_cwd: "/w/a/sub".into(),
            ..new_in(&a)
        })
        .await;
    let below = catalog
        .change_session(&below.id, stopping(StopCause::Completed, ""))
        .await;
    let archived = archived_in(&catalog, &a).await;
    let of_b = catalog.session_in(&b).await;
    let free = catalog.create_session(ungrouped_at("/w")).await;
    let (done, change) = removed(&catalog, removing(&a, false, false)).await;
    assert_eq!((done.kept_session_count, done.deleted_session_count), (3, 0));
    assert_eq!(
        (change.reason, change.session_count),
        (ChangeReason::RemovedSessionsKept, 3)
    );
    assert_eq!(change.workspace_id, Some(a.id.clone()));
    assert_eq!(catalog.find(&a.id).await, None);
    for session in [&at_root, &below, &archived] {
        let now = catalog.get_session(&session.id).await;
        assert_ungrouped(session, &now);
    }
    assert_eq!(catalog.get_session(&of_b.id).await, of_b);
    assert_eq!(catalog.get_session(&free.id).await, free);
    catalog.assert_counts_are_true().await;
    // The place that they are in is that of a directory, whoever owns it next.
    let again = catalog.register("/w/a").await;
    catalog.attach_at(&below.id, &again, "/w/a/sub").await.unwrap();
    assert_eq!(catalog.get_session(&below.id).await.canonical_cwd, "/w/a/sub");
}

pub async fn w226_s224_n010_deleted_sessions_leave_nothing<E: Engine>(catalog: Catalog<E>) {
    let a = catalog.register("/w/a").await;
    let b = catalog.register("/w/b").await;
    let labelled = catalog
        .create_session(CreateSession {
            labels: [("team".to_owned(), "core".to_owned())].into(),
            ..new_in(&a)
        })
        .await;
    catalog
        .change_session(&labelled.id, stopping(StopCause::Completed, ""))
        .await;
    // What was to go when it stopped.
    let sql = format!(
        "INSERT INTO session_live (session_id, prompting, stalled, waiting_for_auth, waiting_for_input) \
         VALUES ('{}', FALSE, FALSE, FALSE, FALSE)",
        labelled.id
    );
    hooks::execute(&catalog.store, &sql).await.unwrap();
    let ids = [
        labelled.id,
        catalog.stopped_in(&a).await.id,
        archived_in(&catalog, &a).await.id,
    ];
    let child = catalog
        .create_session(CreateSession {
            parent: Some(ids[1].clone()),
            ..ungrouped_at("/w")
        })
        .await;
    let of_b = catalog.stopped_in(&b).await;
    let (done, change) = removed(&catalog, removing(&a, true, false)).await;
    assert_eq!((done.kept_session_count, done.deleted_session_count), (0, 3));
    assert_eq!(
        (change.reason, change.session_count),
        (ChangeReason::RemovedSessionsDeleted, 3)
    );
    assert_eq!(traces(&catalog, &ids).await, Vec::<Vec<String>>::new());
    for id in &ids {
        assert_eq!(catalog.find_session(id).await, None);
        let create = CreateSession {
            id: id.clone(),
            ..ungrouped_at("/w")
        };
        let error = rejection(catalog.try_create_session(create).await);
        assert_eq!(
            error,
            CatalogError::SessionIdConflict { id: id.to_string() },
            "an id is used once"
        );
    }
    assert_eq!(catalog.get_session(&of_b.id).await, of_b);
    assert_eq!(catalog.get_session(&child.id).await, child);
    catalog.assert_counts_are_true().await;
}

pub async fn w227_s225_live_sessions_keep_their_workspace<E: Engine>(catalog: Catalog<E>) {
    let a = catalog.register("/w/a").await;
    let over = catalog.stopped_in(&a).await;
    let starting = catalog.create_session(starting_in(&a)).await;
    let active = catalog.session_in(&a).await;
    let bound = catalog
        .create_session(CreateSession {
            bind: Some(new_lease("r1")),
            ..new_in(&a)
        })
        .await;
    let stopping = catalog
        .change_session(&bound.id, stopping(StopCause::User, ""))
        .await;
    assert_eq!(stopping.state, SessionState::Stopping);
    for live in [&starting, &active, &stopping] {
        // One of them at a time in the workspace.
        for other in [&starting, &active, &stopping] {
            if other.id == live.id {
                catalog.attach(&other.id, &a).await.unwrap();
            } else {
                catalog.detach(detaching(&other.id)).await.unwrap();
            }
        }
        let before = catalog.everything().await;
        for delete_sessions in [false, true] {
            let remove = removing(&a, delete_sessions, false);
            let error = rejection(catalog.store.remove(remove, catalog.session_call()).await);
            assert_eq!(
                error,
                CatalogError::LiveSessions {
                    workspace: "a".into(),
                    named: vec![live.id.clone()],
                    session_count: 1
                }
            );
        }
        assert_eq!(catalog.everything().await, before);
    }
    assert_eq!(catalog.get_session(&over.id).await, over);
}

pub async fn w228_ten_live_sessions_are_named<E: Engine>(catalog: Catalog<E>) {
    let a = catalog.register("/w/a").await;
    let mut ids = Vec::new();
    for number in 0..12 {
        // One that is in no list keeps its workspace, too.
        let session_type = if number == 3 {
            SessionType::Dream
        } else {
            SessionType::User
        };
        let create = CreateSession {
            session_type,
            ..new_in(&a)
        };
        ids.push(catalog.create_session(create).await.id);
    }
    ids.sort_unstable();
    let before = catalog.everything().await;
    let error = rejection(catalog.remove(&a.id).await);
    assert_eq!(
        error,
        CatalogError::LiveSessions {
            workspace: "a".into(),
            named: ids[..10].to_vec(),
            session_count: 12
        }
    );
    assert_eq!(catalog.everything().await, before);
}

/// What a newer release calls its states is not for this one to end.
pub async fn a_state_that_is_not_understood_counts_as_live<E: Engine>(catalog: Catalog<E>) {
    let a = catalog.register("/w/a").await;
    let session = catalog.stopped_in(&a).await;
    let sql = "UPDATE session SET state = 'paused'";
    hooks::execute(&catalog.store, sql).await.unwrap();
    for delete_sessions in [false, true] {
        let remove = removing(&a, delete_sessions, false);
        let error = rejection(catalog.store.remove(remove, catalog.session_call()).await);
        assert!(
            matches!(error, CatalogError::LiveSessions { session_count: 1, .. }),
            "{error}"
        );
    }
    let (done, _) = removed(&catalog, removing(&a, true, true)).await;
    assert_eq!((done.kept_session_count, done.deleted_session_count), (1, 0));
    assert_eq!(catalog.get_session(&session.id).await.workspace, None);
}

pub async fn w337_live_sessions_are_ungrouped_when_that_is_asked_for<E: Engine>(catalog: Catalog<E>) {
    for (delete_sessions, kept, deleted) in [(false, 3, 0), (true, 1, 2)] {
        let a = catalog.register("/w/a").await;
        let lease = new_lease("r1");
        let bound = catalog
            .create_session(CreateSession {
                bind: Some(lease.clone()),
                canonical_cwd: "/w/a/sub".into(),
                ..new_in(&a)
            })
            .await;
        let over = [catalog.stopped_in(&a).await, catalog.stopped_in(&a).await];
        let (done, change) = removed(&catalog, removing(&a, delete_sessions, true)).await;
        assert_eq!(done.workspace.map(|row| row.id), Some(a.id.clone()));
        assert_eq!(
            (done.kept_session_count, done.deleted_session_count),
            (kept, deleted)
        );
        assert_eq!(change.session_count, 3);
        let now = catalog.get_session(&bound.id).await;
        assert_ungrouped(&bound, &now);
        for session in &over {
            match catalog.find_session(&session.id).await {
                Some(now) => assert_ungrouped(session, &now),
                None => assert!(delete_sessions),
            }
        }
        let beaten = catalog.beat(&lease.hash, prompting(true)).await.unwrap();
        assert_eq!(beaten.state, SessionState::Active, "its runtime goes on");
        catalog.assert_counts_are_true().await;
        assert_everybody_is_told(&change, &a, kept > 0);
        catalog
            .delete_session(DeleteSession {
                force: true,
                ..deletion(&bound.id)
            })
            .await
            .unwrap();
    }
}

/// An entry reaches whoever held one of the sessions, and whoever holds one from now on.
fn assert_everybody_is_told(change: &NewChange, workspace: &Workspace, some_are_kept: bool) {
    for kinds in [Vec::new(), vec![ChangeKind::Session]] {
        let of_it = WatchFilter::new(vec![workspace.id.clone()], false, kinds.clone(), false);
        let ungrouped = WatchFilter::new(Vec::new(), true, kinds.clone(), false);
        let everywhere = WatchFilter::new(Vec::new(), false, kinds, false);
        for (filter, sees) in [(of_it, true), (ungrouped, some_are_kept), (everywhere, true)] {
            let seen = filter.see(change, &Visibility::All);
            assert_eq!(seen.is_some(), sees, "{filter:?} of {change:?}");
        }
    }
}

pub async fn s382_a_live_session_and_one_that_is_over_are_both_ungrouped<E: Engine>(catalog: Catalog<E>) {
    let a = catalog.register("/w/a").await;
    let lease = new_lease("r1");
    let bound = catalog
        .create_session(CreateSession {
            bind: Some(lease.clone()),
            ..new_in(&a)
        })
        .await;
    let over = catalog.stopped_in(&a).await;
    let (done, change) = removed(&catalog, removing(&a, false, true)).await;
    assert_eq!((done.kept_session_count, done.deleted_session_count), (2, 0));
    assert_eq!(
        (change.reason, change.session_count),
        (ChangeReason::RemovedSessionsKept, 2)
    );
    assert_ungrouped(&bound, &catalog.get_session(&bound.id).await);
    let beaten = catalog.beat(&lease.hash, prompting(false)).await.unwrap();
    assert_eq!((beaten.state, beaten.workspace), (SessionState::Active, None));
    assert_ungrouped(&over, &catalog.get_session(&over.id).await);
}

pub async fn w236_a_workspace_with_live_sessions_is_not_pruned<E: Engine>(catalog: Catalog<E>) {
    let now = catalog.tick();
    let (day, since) = (
        Duration::from_secs(86_400),
        now.minus(Duration::from_secs(86_400 * 40)),
    );
    let mut rows = Vec::new();
    for root in ["/w/live", "/w/over", "/w/none", "/w/starting"] {
        let workspace = catalog.register(root).await;
        observe_at(&catalog, &workspace, WorkspaceStatus::RootMissing, since).await;
        rows.push(catalog.get(&workspace.id).await);
    }
    let live = catalog.session_in(&rows[0]).await;
    catalog.stopped_in(&rows[0]).await;
    let over = catalog.stopped_in(&rows[1]).await;
    catalog.create_session(starting_in(&rows[3])).await;
    let prune = |apply, limit| Prune {
        host: host(HOST),
        missing_since: now.minus(day * 30),
        limit,
        apply,
    };
    let before = catalog.everything().await;
    let tried = fresh(
        catalog
            .store
            .prune(prune(false, 100), catalog.session_call())
            .await
            .unwrap(),
    )
    .value;
    assert_eq!(catalog.everything().await, before);
    let mut pruned: Vec<Workspace> = Vec::new();
    loop {
        // Those that stay do not hide the others behind a limit.
        let answer = catalog.store.prune(prune(true, 1), catalog.session_call()).await;
        let part = fresh(answer.unwrap()).value;
        pruned.extend(part.workspaces);
        if !part.has_more {
            break;
        }
    }
    let ids = |rows: &[Workspace]| -> Vec<String> { rows.iter().map(|row| row.id.to_string()).collect() };
    let mut expected = [rows[1].id.to_string(), rows[2].id.to_string()];
    expected.sort_unstable();
    assert_eq!(ids(&pruned), expected);
    assert_eq!(ids(&tried.workspaces), expected);
    let mut names = catalog.names().await;
    names.sort_unstable();
    assert_eq!(names, ["live", "starting"]);
    assert_eq!(catalog.get_session(&live.id).await, live);
    assert_ungrouped(&over, &catalog.get_session(&over.id).await);
    let entries = catalog.log().await;
    let counts: Vec<i64> = entries
        .iter()
        .filter(|entry| entry.change.reason == ChangeReason::RemovedSessionsKept)
        .map(|entry| entry.change.session_count)
        .collect();
    assert_eq!(counts.iter().sum::<i64>(), 1);
    catalog.assert_counts_are_true().await;
}

pub async fn w293_a_removal_of_ten_thousand_sessions_is_done_or_not<E: Engine>(catalog: Catalog<E>) {
    let a = catalog.register("/w/a").await;
    let template = catalog
        .create_session(CreateSession {
            labels: [("team".to_owned(), "core".to_owned())].into(),
            ..new_in(&a)
        })
        .await;
    catalog
        .change_session(&template.id, stopping(StopCause::Completed, ""))
        .await;
    catalog.copy_session(&template.id, 9_999).await;
    catalog.assert_counts_are_true().await;
    let before = catalog.everything().await;
    let mut call = catalog.session_call();
    call.deadline = Instant::now() + Duration::from_millis(5);
    match catalog.store.remove(removing(&a, true, false), call).await {
        Ok(answer) => assert_eq!(fresh(answer).value.deleted_session_count, 10_000),
        Err(Error::DeadlineExceeded) => {
            assert_eq!(catalog.everything().await, before, "all of it is still there");
            let (done, change) = removed(&catalog, removing(&a, true, false)).await;
            assert_eq!(
                (done.deleted_session_count, change.session_count),
                (10_000, 10_000)
            );
        }
        Err(error) => panic!("{error}"),
    }
    for table in ["session", "session_label", "session_transition"] {
        let sql = format!("SELECT COUNT(*) FROM {table}");
        assert_eq!(
            hooks::rows(&catalog.store, &sql).await.unwrap(),
            [["0"]],
            "{table}"
        );
    }
    let sql = "SELECT COUNT(*) FROM deleted_session";
    assert_eq!(hooks::rows(&catalog.store, sql).await.unwrap(), [["10000"]]);
    assert_eq!(catalog.kept_counts().await, Vec::<Vec<String>>::new());
}

/// A failed commit leaves the workspace and all its sessions as they were.
pub async fn a_failed_removal_leaves_every_session<E: Engine>(catalog: Catalog<E>) {
    let a = catalog.register("/w/a").await;
    catalog.stopped_in(&a).await;
    catalog.session_in(&a).await;
    let before = catalog.everything().await;
    for delete_sessions in [false, true] {
        let faults = catalog.store.db().faults();
        faults
            .fail_commits
            .store(true, std::sync::atomic::Ordering::SeqCst);
        let remove = removing(&a, delete_sessions, true);
        let outcome = catalog.store.remove(remove, catalog.session_call()).await;
        faults
            .fail_commits
            .store(false, std::sync::atomic::Ordering::SeqCst);
        assert!(matches!(outcome, Err(Error::Unavailable { .. })), "{outcome:?}");
        assert_eq!(catalog.everything().await, before);
    }
}
