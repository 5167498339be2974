//! Promises about accounts: which sessions belong to a workspace.

use compozy_domain::error::SessionCwdFault;
use compozy_domain::{
    CatalogError, ChangeKind, ChangeOp, ChangeReason, Session, SessionId, Visibility, Workspace, WorkspaceId,
};

use super::engine::Engine;
use super::fixture::{Catalog, fresh, host, rejection};
use super::hooks;
use super::session_fixture::{STALE_AFTER, deletion, new_in, session_id, stopping, ungrouped};
use crate::call::Written;
use crate::error::Result;
use crate::sessions::{AttachSession, CreateSession, DetachSession, Regrouped, SessionStore as _};
use compozy_domain::session::StopCause;

/// An attachment of a session to the workspace that owns this directory.
pub(crate) fn attaching(id: &SessionId, workspace: &Workspace, canonical_cwd: &str) -> AttachSession {
    AttachSession {
        id: id.clone(),
        workspace_id: workspace.id.clone(),
        root_dir: workspace.root_dir.clone(),
        canonical_cwd: canonical_cwd.to_owned(),
        stale_after: STALE_AFTER,
    }
}

/// A detachment from whatever account it is on.
pub(crate) fn detaching(id: &SessionId) -> DetachSession {
    DetachSession {
        id: id.clone(),
        workspace_id: None,
        stale_after: STALE_AFTER,
    }
}

/// A session in no workspace, in a directory.
pub(crate) fn ungrouped_at(cwd: &str) -> CreateSession {
    CreateSession {
        cwd: cwd.to_owned(),
        canonical_cwd: cwd.to_owned(),
        ..ungrouped()
    }
}

impl<E> Catalog<E> {
    /// Attaches a session that lies in the root of a workspace.
    pub(crate) async fn attach(&self, id: &SessionId, workspace: &Workspace) -> Result<Written<Regrouped>> {
        self.attach_at(id, workspace, &workspace.root_dir).await
    }

    /// Attaches a session that lies in a directory of a workspace.
    pub(crate) async fn attach_at(
        &self,
        id: &SessionId,
        workspace: &Workspace,
        canonical_cwd: &str,
    ) -> Result<Written<Regrouped>> {
        let attach = attaching(id, workspace, canonical_cwd);
        let answer = self.store.attach_session(attach, self.session_call()).await;
        Ok(fresh(answer?))
    }

    /// Detaches a session.
    pub(crate) async fn detach(&self, detach: DetachSession) -> Result<Written<Regrouped>> {
        let answer = self.store.detach_session(detach, self.session_call()).await;
        Ok(fresh(answer?))
    }

    /// The sessions of an account in their order.
    pub(crate) async fn account(&self, id: &WorkspaceId) -> Vec<SessionId> {
        let sql = format!("SELECT id FROM session WHERE workspace_id = '{id}' ORDER BY rank, id");
        let rows = hooks::rows(&self.store, &sql).await.unwrap();
        let id = |row: Vec<String>| SessionId::from_stored(row[0].clone());
        rows.into_iter().map(id).collect()
    }

    /// Sessions of a workspace, made so that they stand in this order.
    pub(crate) async fn sessions_in_order(&self, workspace: &Workspace, count: usize) -> Vec<SessionId> {
        let mut ids = Vec::with_capacity(count);
        for _ in 0..count {
            ids.push(self.session_in(workspace).await.id);
        }
        ids.reverse();
        ids
    }
}

/// Fails unless the two sessions differ in nothing but where they belong, and what moves with that.
fn assert_only_regrouped(before: &Session, after: &Session) {
    let expected = Session {
        workspace: after.workspace.clone(),
        rank: after.rank.clone(),
        canonical_cwd: after.canonical_cwd.clone(),
        version: before.version + 1,
        state_number: before.state_number + 1,
        updated_at: after.updated_at,
        ..before.clone()
    };
    assert_eq!(*after, expected);
    assert!(after.updated_at >= before.updated_at);
    assert_ne!(after.etag(), before.etag());
}

pub async fn w248_a_new_session_comes_first_on_its_account<E: Engine>(catalog: Catalog<E>) {
    let a = catalog.register("/w/a").await;
    let s1 = catalog.session_in(&a).await;
    let s2 = catalog.session_in(&a).await;
    assert_eq!(catalog.account(&a.id).await, [s2.id, s1.id]);
}

pub async fn w254_a_session_whose_directory_is_owned_is_attached_in_front<E: Engine>(catalog: Catalog<E>) {
    let a = catalog.register("/w/a").await;
    let member = catalog.session_in(&a).await;
    let at_root = catalog.create_session(ungrouped_at("/w/a")).await;
    let below = catalog.create_session(ungrouped_at("/w/a/sub/dir")).await;
    // A link to the root: what was written is kept, where it leads is what counts.
    let linked = catalog
        .create_session(CreateSession {
            cwd: "/home/u/link".into(),
            ..ungrouped_at("/w/a")
        })
        .await;
    let mut expected = vec![member.id.clone()];
    for (session, cwd) in [(&at_root, "/w/a"), (&below, "/w/a/sub/dir"), (&linked, "/w/a")] {
        catalog.number_all().await;
        let written = catalog.attach_at(&session.id, &a, cwd).await.unwrap();
        expected.insert(0, session.id.clone());
        assert_eq!(catalog.account(&a.id).await, expected);
        let Regrouped {
            session: answered,
            from,
            changed,
        } = written.value;
        assert_eq!((from, changed), (None, true));
        let now = catalog.get_session(&session.id).await;
        assert_eq!(answered.session, now);
        assert_only_regrouped(session, &now);
        let workspace = now.workspace.as_ref().unwrap();
        assert_eq!((&workspace.id, workspace.name.as_str()), (&a.id, "a"));
        assert_eq!((now.canonical_cwd.as_str(), &now.cwd), (cwd, &session.cwd));
        let entries = catalog.log_after(written.revision.position).await;
        assert_eq!(entries.len(), 1);
        let change = &entries[0].change;
        assert_eq!(
            (change.kind, change.op, change.reason),
            (ChangeKind::Session, ChangeOp::Upserted, ChangeReason::Attached)
        );
        assert_eq!(
            (change.workspace_id.as_ref(), change.from_workspace_id.as_ref()),
            (Some(&a.id), None)
        );
        assert_eq!(
            (change.session_id.as_ref(), change.version),
            (Some(&now.id), now.version)
        );
        catalog.assert_counts_are_true().await;
    }
}

pub async fn w255_a_member_is_attached_without_a_write<E: Engine>(catalog: Catalog<E>) {
    let a = catalog.register("/w/a").await;
    let order = catalog.sessions_in_order(&a, 3).await;
    let before = catalog.everything().await;
    let written = catalog.attach(&order[2], &a).await.unwrap().value;
    assert_eq!((written.from, written.changed), (None, false));
    assert_eq!(written.session.session, catalog.get_session(&order[2]).await);
    // Also while its directory can't be seen to be there.
    let mut elsewhere = attaching(&order[1], &a, "/elsewhere");
    elsewhere.root_dir = "/w/before".into();
    let answer = catalog
        .store
        .attach_session(elsewhere, catalog.session_call())
        .await;
    assert!(!fresh(answer.unwrap()).value.changed);
    assert_eq!(catalog.everything().await, before);
}

pub async fn w256_an_unknown_session_is_not_attached<E: Engine>(catalog: Catalog<E>) {
    let a = catalog.register("/w/a").await;
    let session = catalog.create_session(ungrouped_at("/w/a")).await;
    let before = catalog.everything().await;
    let unknown = session_id();
    let error = rejection(catalog.attach(&unknown, &a).await);
    assert_eq!(
        error,
        CatalogError::SessionNotFound {
            id: unknown.to_string()
        }
    );
    let nowhere = Workspace {
        id: WorkspaceId::parse("ws_0000000000000000").unwrap(),
        ..a.clone()
    };
    for id in [&unknown, &session.id] {
        let error = rejection(catalog.attach(id, &nowhere).await);
        assert_eq!(
            error,
            CatalogError::WorkspaceNotFound {
                reference: nowhere.id.to_string()
            }
        );
    }
    assert_eq!(catalog.everything().await, before);
}

pub async fn w258_a_directory_outside_of_the_root_is_refused<E: Engine>(catalog: Catalog<E>) {
    let a = catalog.register("/w/a").await;
    let b = catalog.register("/w/b").await;
    let on_b = catalog.session_in(&b).await;
    let neighbour = catalog.create_session(ungrouped_at("/w/a-2")).await;
    let before = catalog.everything().await;
    for session in [&on_b, &neighbour] {
        let error = rejection(catalog.attach_at(&session.id, &a, &session.canonical_cwd).await);
        assert_eq!(
            error,
            CatalogError::SessionCwd {
                cwd: session.cwd.clone(),
                fault: SessionCwdFault::Mismatch
            }
        );
    }
    assert_eq!(catalog.everything().await, before);
    assert_eq!(catalog.account(&a.id).await, []);
    assert_eq!(catalog.account(&b.id).await, [on_b.id]);
}

/// Ownership was looked at before the root went elsewhere, or on another disk.
pub async fn what_was_seen_of_a_directory_has_to_be_so_still<E: Engine>(catalog: Catalog<E>) {
    let a = catalog.register("/w/a").await;
    let session = catalog.create_session(ungrouped_at("/w/a/x")).await;
    let foreign = catalog
        .create_session(CreateSession {
            host_id: host("h2"),
            ..ungrouped_at("/w/a/x")
        })
        .await;
    let before = catalog.everything().await;
    let moved = Workspace {
        root_dir: "/w/before".into(),
        ..a.clone()
    };
    for (id, workspace, cwd) in [
        (&session.id, &moved, "/w/before/x"),
        (&session.id, &a, "/w/ab"),
        (&foreign.id, &a, "/w/a/x"),
    ] {
        let error = rejection(catalog.attach_at(id, workspace, cwd).await);
        assert!(
            matches!(
                error,
                CatalogError::SessionCwd {
                    fault: SessionCwdFault::Mismatch,
                    ..
                }
            ),
            "{error}"
        );
    }
    assert_eq!(catalog.everything().await, before);
}

pub async fn w259_a_session_goes_from_one_account_to_another_at_once<E: Engine>(catalog: Catalog<E>) {
    let a = catalog.register("/w/a").await;
    // The root of one lies in the other's, so that only the root tells what a place is relative to.
    let outer = catalog.register("/w").await;
    let order = catalog.sessions_in_order(&a, 2).await;
    let session = catalog
        .create_session(CreateSession {
            cwd: "/home/u/link".into(),
            canonical_cwd: "/w/a/x".into(),
            ..new_in(&outer)
        })
        .await;
    let stays = catalog.session_in(&outer).await;
    catalog.number_all().await;
    let written = catalog.attach_at(&session.id, &a, "/w/a/x").await.unwrap();
    assert_eq!(
        (written.value.from, written.value.changed),
        (Some(outer.id.clone()), true)
    );
    let now = catalog.get_session(&session.id).await;
    assert_only_regrouped(&session, &now);
    assert_eq!(now.canonical_cwd, "/w/a/x");
    assert_eq!(
        catalog.account(&a.id).await,
        [session.id.clone(), order[0].clone(), order[1].clone()]
    );
    assert_eq!(catalog.account(&outer.id).await, [stays.id]);
    let entries = catalog.log_after(written.revision.position).await;
    assert_eq!(
        entries.len(),
        1,
        "it leaves the one account and joins the other in one entry"
    );
    let change = &entries[0].change;
    assert_eq!(
        (change.workspace_id.as_ref(), change.from_workspace_id.as_ref()),
        (Some(&a.id), Some(&outer.id))
    );
    catalog.assert_counts_are_true().await;
    // And back again, to where its directory leads now.
    catalog.attach_at(&session.id, &outer, "/w/a/x").await.unwrap();
    assert_eq!(catalog.get_session(&session.id).await.canonical_cwd, "/w/a/x");
    catalog.assert_counts_are_true().await;
}

pub async fn w260_a_session_is_detached_once<E: Engine>(catalog: Catalog<E>) {
    let a = catalog.register("/w/a").await;
    let made = catalog
        .create_session(CreateSession {
            canonical_cwd: "/w/a/sub".into(),
            ..new_in(&a)
        })
        .await;
    let member = catalog
        .change_session(&made.id, stopping(StopCause::Completed, ""))
        .await;
    catalog.number_all().await;
    let written = catalog.detach(detaching(&member.id)).await.unwrap();
    assert_eq!(
        (written.value.from, written.value.changed),
        (Some(a.id.clone()), true)
    );
    let now = catalog.get_session(&member.id).await;
    assert_eq!(written.value.session.session, now);
    assert_only_regrouped(&member, &now);
    assert_eq!((now.workspace, now.rank), (None, None));
    assert_eq!((now.cwd, now.canonical_cwd.as_str()), (member.cwd, "/w/a/sub"));
    assert_eq!(catalog.account(&a.id).await, []);
    let entries = catalog.log_after(written.revision.position).await;
    assert_eq!(entries.len(), 1);
    let change = &entries[0].change;
    assert_eq!(
        (change.kind, change.op, change.reason),
        (ChangeKind::Session, ChangeOp::Upserted, ChangeReason::Detached)
    );
    assert_eq!(
        (change.workspace_id.as_ref(), change.from_workspace_id.as_ref()),
        (None, Some(&a.id))
    );
    catalog.assert_counts_are_true().await;
    let before = catalog.everything().await;
    let again = catalog.detach(detaching(&member.id)).await.unwrap().value;
    assert_eq!((again.from, again.changed), (None, false));
    assert_eq!(catalog.everything().await, before);
}

pub async fn w261_an_unknown_session_is_not_detached<E: Engine>(catalog: Catalog<E>) {
    let unknown = session_id();
    let error = rejection(catalog.detach(detaching(&unknown)).await);
    assert_eq!(
        error,
        CatalogError::SessionNotFound {
            id: unknown.to_string()
        }
    );
}

pub async fn w266_a_new_session_takes_the_front_that_was_left<E: Engine>(catalog: Catalog<E>) {
    let a = catalog.register("/w/a").await;
    let order = catalog.sessions_in_order(&a, 3).await;
    catalog.detach(detaching(&order[0])).await.unwrap();
    let new = catalog.session_in(&a).await;
    assert_eq!(
        catalog.account(&a.id).await,
        [new.id, order[1].clone(), order[2].clone()]
    );
    catalog.assert_ranks_are_distinct().await;
}

pub async fn s220_a_deleted_session_leaves_the_others_where_they_are<E: Engine>(catalog: Catalog<E>) {
    let a = catalog.register("/w/a").await;
    let order = catalog.sessions_in_order(&a, 3).await;
    catalog
        .change_session(&order[1], stopping(StopCause::Completed, ""))
        .await;
    catalog.delete_session(deletion(&order[1])).await.unwrap();
    let s4 = catalog.session_in(&a).await;
    assert_eq!(
        catalog.account(&a.id).await,
        [s4.id, order[0].clone(), order[2].clone()]
    );
}

pub async fn w340_a_session_on_another_account_is_not_detached<E: Engine>(catalog: Catalog<E>) {
    let a = catalog.register("/w/a").await;
    let b = catalog.register("/w/b").await;
    let session = catalog.session_in(&b).await;
    let before = catalog.everything().await;
    let mut detach = detaching(&session.id);
    detach.workspace_id = Some(a.id.clone());
    let detached = catalog.detach(detach.clone()).await.unwrap().value;
    assert_eq!((detached.from, detached.changed), (None, false));
    assert_eq!(catalog.everything().await, before);
    assert_eq!(catalog.account(&b.id).await, [session.id]);
    detach.workspace_id = Some(b.id.clone());
    assert!(catalog.detach(detach).await.unwrap().value.changed);
    assert_eq!(catalog.account(&b.id).await, []);
}

pub async fn accounts_of_others_do_not_exist<E: Engine>(catalog: Catalog<E>) {
    let a = catalog.register("/w/a").await;
    let b = catalog.register("/w/b").await;
    let hidden = catalog.session_in(&b).await;
    let free = catalog.create_session(ungrouped_at("/w/a")).await;
    let before = catalog.everything().await;
    let only_a = Visibility::Only(vec![a.id.clone()]);
    for id in [&hidden.id, &free.id] {
        let expected = CatalogError::SessionNotFound { id: id.to_string() };
        let call = catalog.session_call_as(only_a.clone());
        let attached = catalog
            .store
            .attach_session(attaching(id, &a, "/w/a"), call)
            .await;
        assert_eq!(rejection(attached), expected);
        let call = catalog.session_call_as(only_a.clone());
        let detached = catalog.store.detach_session(detaching(id), call).await;
        assert_eq!(rejection(detached), expected);
    }
    let call = catalog.session_call_as(only_a);
    let attached = catalog
        .store
        .attach_session(attaching(&hidden.id, &b, "/w/b"), call)
        .await;
    assert_eq!(
        rejection(attached),
        CatalogError::WorkspaceNotFound {
            reference: b.id.to_string()
        }
    );
    assert_eq!(catalog.everything().await, before);
}

/// A member stays one until it is understood again; who is no member becomes none.
pub async fn a_row_that_is_not_understood_stays_where_it_is<E: Engine>(catalog: Catalog<E>) {
    let a = catalog.register("/w/a").await;
    let member = catalog.session_in(&a).await;
    let free = catalog.create_session(ungrouped_at("/w/a")).await;
    let sql = "UPDATE session SET permission_mode = 'approve-some'";
    assert_eq!(hooks::execute(&catalog.store, sql).await.unwrap(), 2);
    let before = catalog.everything().await;
    for outcome in [
        catalog.detach(detaching(&member.id)).await,
        catalog.attach(&free.id, &a).await,
    ] {
        let error = rejection(outcome);
        assert!(
            matches!(error, CatalogError::RecordNotUnderstood { .. }),
            "{error}"
        );
    }
    assert_eq!(catalog.everything().await, before);
}

impl<E> Catalog<E> {
    /// Fails if two sessions share a place on one account.
    pub(crate) async fn assert_ranks_are_distinct(&self) {
        let sql = "SELECT workspace_id, rank, COUNT(*) FROM session WHERE workspace_id <> '' \
                   GROUP BY workspace_id, rank HAVING COUNT(*) > 1";
        assert_eq!(
            hooks::rows(&self.store, sql).await.unwrap(),
            Vec::<Vec<String>>::new()
        );
    }
}
