//! Promises about sessions that are made.

use std::collections::BTreeMap;

use compozy_domain::error::SessionCwdFault;
use compozy_domain::session::change::SessionChange;
use compozy_domain::session::{
    Attention, AttentionClass, Origin, PermissionMode, RuntimeState, Start, StopCause, Transition,
};
use compozy_domain::{
    CatalogError, ChangeKind, ChangeOp, ChangeReason, ProfileId, Session, SessionId, SessionState,
    SessionType, Visibility,
};

use super::engine::Engine;
use super::failing_commits::assert_away;
use super::fixture::{Catalog, START, fresh, rejection};
use super::profile_selections::select;
use super::profiles::{created, profile_id, told};
use super::relink::relink;
use super::session_fixture::{TTL, deletion, new_in, new_lease, session_id, stopping, ungrouped};
use crate::change_log::ChangeLog as _;
use crate::sessions::{CreateSession, SessionStore as _};

pub async fn s001_s002_a_new_session_holds_what_was_given<E: Engine>(catalog: Catalog<E>) {
    let workspace = catalog.register("/t/a").await;
    catalog.set_clock(START).await;
    let written = catalog.try_create_session(new_in(&workspace)).await.unwrap();
    let made = written.value.session;
    assert_eq!(made.at, START);
    let session = made.session;
    let account = session.workspace.as_ref().unwrap();
    assert_eq!(
        (account.id.as_str(), account.name.as_str()),
        (workspace.id.as_str(), "a")
    );
    assert_eq!(
        (session.cwd.as_str(), session.canonical_cwd.as_str()),
        ("/t/a", "/t/a")
    );
    assert_eq!((session.state, session.state_at), (SessionState::Active, START));
    assert_eq!((session.runtime, session.generation), (RuntimeState::None, 0));
    assert_eq!((session.runtime_holder.as_str(), &session.live), ("", &None));
    assert_eq!(session.session_type, SessionType::User);
    assert!(session.name.is_empty() && session.labels.is_empty());
    assert_eq!(
        (&session.stop, session.archived_at, &session.ledger),
        (&None, None, &None)
    );
    assert_eq!((session.event_count, session.last_sequence), (0, 0));
    assert_eq!((session.version, session.origin.clone()), (1, Origin::native()));
    assert_eq!((session.created_at, session.updated_at), (START, START));
    assert_eq!(
        session.attention,
        Attention {
            class: AttentionClass::Rest,
            at: START
        }
    );
    assert_eq!(
        (session.lineage.parent.as_ref(), session.lineage.depth),
        (None, 0)
    );
    assert_eq!(session.lineage.root, session.id);
    assert_eq!(catalog.get_session(&session.id).await, session);
}

pub async fn every_field_of_a_new_session_is_kept<E: Engine>(catalog: Catalog<E>) {
    let workspace = catalog.register("/t/a").await;
    let profile = created(&catalog, "p").await;
    let mut labels: BTreeMap<String, String> = BTreeMap::new();
    for number in 0..31 {
        labels.insert(format!("key{number}"), "v".repeat(255));
    }
    labels.insert("k".repeat(63), String::new());
    let create = CreateSession {
        cwd: "/links/sub".to_owned(),
        canonical_cwd: "/t/a/sub".to_owned(),
        name: "\u{1f980} plan % _".to_owned(),
        agent: "General".to_owned(),
        provider: "Acme".to_owned(),
        model: "m-5.1 (Preview)".to_owned(),
        state: SessionState::Starting,
        permission_mode: PermissionMode::ApproveAll,
        profile_id: profile.id.clone(),
        start: Start {
            cause: "c".repeat(500),
            by: "ci".to_owned(),
        },
        snapshot_fingerprint: "f00d".to_owned(),
        labels: labels.clone(),
        origin: Origin {
            tool: "other".to_owned(),
            id: "17".to_owned(),
        },
        ..new_in(&workspace)
    };
    let session = catalog.create_session(create.clone()).await;
    assert_eq!(catalog.get_session(&session.id).await, session);
    assert_eq!(
        (session.cwd.as_str(), session.canonical_cwd.as_str()),
        ("/links/sub", "/t/a/sub")
    );
    assert_eq!((session.name, session.agent), (create.name, create.agent));
    assert_eq!((session.provider, session.model), (create.provider, create.model));
    assert_eq!(
        (session.state, session.permission_mode),
        (SessionState::Starting, PermissionMode::ApproveAll)
    );
    assert_eq!((session.profile_id, session.start), (profile.id, create.start));
    assert_eq!((session.labels, session.origin), (labels, create.origin));
    assert_eq!(session.snapshot_fingerprint, "f00d");
    for mode in [PermissionMode::DenyAll, PermissionMode::ApproveReads] {
        let create = CreateSession {
            permission_mode: mode,
            ..new_in(&workspace)
        };
        let session = catalog.create_session(create).await;
        assert_eq!(catalog.get_session(&session.id).await.permission_mode, mode);
    }
}

pub async fn s003_a_creation_appends_one_entry_behind_its_revision<E: Engine>(catalog: Catalog<E>) {
    let workspace = catalog.register("/t/a").await;
    catalog.number_all().await;
    let before = catalog.store.head().await.unwrap().head;
    let written = catalog.try_create_session(new_in(&workspace)).await.unwrap();
    assert_eq!(written.revision, before);
    let entries = told(&catalog, before.position).await;
    assert_eq!(entries.len(), 1, "{entries:?}");
    let entry = &entries[0];
    assert_eq!(
        (entry.kind, entry.op, entry.reason),
        (ChangeKind::Session, ChangeOp::Upserted, ChangeReason::Created)
    );
    let session = written.value.session.session;
    assert_eq!(entry.workspace_id.as_ref(), Some(&workspace.id));
    assert_eq!(entry.session_id.as_ref(), Some(&session.id));
    assert_eq!(
        (entry.version, entry.internal, entry.session_count),
        (1, false, 0)
    );
    assert_eq!(
        (&entry.host_id, entry.from_workspace_id.as_ref()),
        (&session.host_id, None)
    );
}

pub async fn s005_a_session_is_made_starting<E: Engine>(catalog: Catalog<E>) {
    catalog.set_clock(START).await;
    let create = CreateSession {
        state: SessionState::Starting,
        ..ungrouped()
    };
    let session = catalog.create_session(create).await;
    assert_eq!(
        (session.state, session.runtime),
        (SessionState::Starting, RuntimeState::None)
    );
    let transitions = catalog.store.transitions(&session.id).await.unwrap();
    let first = Transition {
        state: SessionState::Starting,
        at: START,
        cause: "create".to_owned(),
        by: "local".to_owned(),
    };
    assert_eq!(transitions, [first]);
}

pub async fn an_ungrouped_session_is_on_no_account<E: Engine>(catalog: Catalog<E>) {
    let session = catalog.create_session(ungrouped()).await;
    assert_eq!((&session.workspace, &session.rank), (&None, &None));
    assert_eq!(session.canonical_cwd, "/w");
    let entry = told(&catalog, 0).await.remove(0);
    assert_eq!((entry.workspace_id, entry.from_workspace_id), (None, None));
    let read = |visibility| {
        let catalog = catalog.clone();
        let id = session.id.clone();
        async move {
            catalog
                .store
                .find_session(&id, &visibility, START)
                .await
                .unwrap()
                .0
        }
    };
    assert!(read(Visibility::All).await.is_some());
    assert!(read(Visibility::Only(Vec::new())).await.is_none());
}

pub async fn s030_two_sessions_have_one_name<E: Engine>(catalog: Catalog<E>) {
    for _ in 0..2 {
        let create = CreateSession {
            name: "x".to_owned(),
            ..ungrouped()
        };
        let session = catalog.create_session(create).await;
        assert_eq!(catalog.get_session(&session.id).await.name, "x");
    }
}

pub async fn s036_a_session_stays_with_the_profile_of_its_creation<E: Engine>(catalog: Catalog<E>) {
    let (p, q) = (created(&catalog, "p").await, created(&catalog, "q").await);
    let create = CreateSession {
        profile_id: p.id.clone(),
        ..ungrouped()
    };
    let session = catalog.create_session(create).await;
    select(&catalog, None, Some(&q.id)).await.unwrap();
    assert_eq!(catalog.get_session(&session.id).await.profile_id, p.id);
    assert_eq!(catalog.store.sessions_of_profile(&p.id).await.unwrap(), 1);
    assert_eq!(catalog.store.sessions_of_profile(&q.id).await.unwrap(), 0);
}

pub async fn what_a_session_needs_has_to_be_there<E: Engine>(catalog: Catalog<E>) {
    let workspace = catalog.register("/t/a").await;
    let gone = catalog.register("/t/gone").await;
    catalog.remove(&gone.id).await.unwrap();
    let before = catalog.everything().await;
    let refused = rejection(catalog.try_create_session(new_in(&gone)).await);
    let missing = CatalogError::WorkspaceNotFound {
        reference: gone.id.to_string(),
    };
    assert_eq!(refused, missing);

    let unknown: ProfileId = profile_id();
    let create = CreateSession {
        profile_id: unknown.clone(),
        ..new_in(&workspace)
    };
    let refused = rejection(catalog.try_create_session(create).await);
    let missing = CatalogError::ProfileNotFound {
        reference: unknown.to_string(),
    };
    assert_eq!(refused, missing);

    let hidden = catalog.session_call_as(Visibility::Only(Vec::new()));
    let refused = rejection(catalog.store.create_session(new_in(&workspace), hidden).await);
    assert!(
        matches!(refused, CatalogError::WorkspaceNotFound { .. }),
        "{refused:?}"
    );
    assert_eq!(catalog.everything().await, before);
}

pub async fn a_root_that_moved_meanwhile_is_noticed<E: Engine>(catalog: Catalog<E>) {
    let workspace = catalog.register("/t/a").await;
    let create = new_in(&workspace);
    relink(&catalog, &workspace.id, "/t/a", "/t/moved").await;
    let before = catalog.everything().await;
    let refused = rejection(catalog.try_create_session(create).await);
    let mismatch = CatalogError::SessionCwd {
        cwd: "/t/a".to_owned(),
        fault: SessionCwdFault::Mismatch,
    };
    assert_eq!(refused, mismatch);
    assert_eq!(catalog.everything().await, before);
}

pub async fn a_new_session_comes_first_on_its_account<E: Engine>(catalog: Catalog<E>) {
    let workspace = catalog.register("/t/a").await;
    let mut ranks = Vec::new();
    for _ in 0..5 {
        ranks.push(catalog.session_in(&workspace).await.rank.unwrap());
    }
    assert!(ranks.windows(2).all(|pair| pair[1] < pair[0]), "{ranks:?}");
}

pub async fn s358_a_session_is_bound_as_it_is_made<E: Engine>(catalog: Catalog<E>) {
    let workspace = catalog.register("/t/a").await;
    catalog.set_clock(START).await;
    catalog.number_all().await;
    let head = catalog.store.head().await.unwrap().head.position;
    let lease = new_lease("h1");
    let create = CreateSession {
        bind: Some(lease.clone()),
        ..new_in(&workspace)
    };
    let session = catalog.create_session(create).await;
    assert_eq!(catalog.get_session(&session.id).await, session);
    assert_eq!(
        (session.state, session.runtime),
        (SessionState::Active, RuntimeState::Bound)
    );
    assert_eq!((session.runtime_holder.as_str(), session.generation), ("h1", 1));
    let live = session.live.unwrap();
    let held = live.lease.unwrap();
    assert_eq!(
        (held.hash, held.ttl, held.expires_at),
        (lease.hash, TTL, START.plus(TTL))
    );
    assert_eq!((held.bound_at, held.heartbeat_at), (START, None));
    let announced = live.announced.unwrap();
    assert_eq!(
        (announced.badge.as_str(), announced.health.as_str()),
        ("idle", "healthy")
    );
    let reasons: Vec<ChangeReason> = told(&catalog, head)
        .await
        .iter()
        .map(|told| told.reason)
        .collect();
    assert_eq!(reasons, [ChangeReason::Created]);
}

async fn child<E: Engine>(catalog: &Catalog<E>, create: CreateSession, parent: &SessionId) -> Session {
    let create = CreateSession {
        parent: Some(parent.clone()),
        ..create
    };
    catalog.create_session(create).await
}

fn lineage(session: &Session) -> (Option<&SessionId>, &SessionId, i32) {
    let lineage = &session.lineage;
    (lineage.parent.as_ref(), &lineage.root, lineage.depth)
}

pub async fn s053_a_child_knows_its_parent_and_its_root<E: Engine>(catalog: Catalog<E>) {
    let workspace = catalog.register("/t/a").await;
    let s1 = catalog.session_in(&workspace).await;
    let s2 = child(&catalog, new_in(&workspace), &s1.id).await;
    let s3 = child(&catalog, new_in(&workspace), &s2.id).await;
    assert_eq!(lineage(&s2), (Some(&s1.id), &s1.id, 1));
    assert_eq!(lineage(&s3), (Some(&s2.id), &s1.id, 2));
    assert_eq!(catalog.get_session(&s3.id).await, s3);
    let unbound = child(&catalog, ungrouped(), &s1.id).await;
    assert_eq!(lineage(&unbound), (Some(&s1.id), &s1.id, 1), "an ungrouped child");
    let grouped = child(&catalog, new_in(&workspace), &unbound.id).await;
    assert_eq!(
        lineage(&grouped),
        (Some(&unbound.id), &s1.id, 2),
        "of an ungrouped parent"
    );
}

pub async fn s054_a_parent_in_another_workspace_is_refused<E: Engine>(catalog: Catalog<E>) {
    let (a, b) = (catalog.register("/t/a").await, catalog.register("/t/b").await);
    let parent = catalog.session_in(&b).await;
    let before = catalog.everything().await;
    let own = session_id();
    for (id, parent) in [(session_id(), parent.id.clone()), (own.clone(), own)] {
        let create = CreateSession {
            id,
            parent: Some(parent),
            ..new_in(&a)
        };
        let refused = rejection(catalog.try_create_session(create).await);
        let CatalogError::InvalidField { field, .. } = refused else {
            panic!("{refused:?}");
        };
        assert_eq!(field, "parent_session_id");
    }
    assert_eq!(catalog.everything().await, before);
}

pub async fn s055_s171_children_stay_when_their_parent_goes<E: Engine>(catalog: Catalog<E>) {
    let workspace = catalog.register("/t/a").await;
    let parent = catalog.stopped_in(&workspace).await;
    let mut children = Vec::new();
    for _ in 0..2 {
        let made = child(&catalog, new_in(&workspace), &parent.id).await;
        children.push(
            catalog
                .change_session(&made.id, stopping(StopCause::Completed, ""))
                .await,
        );
    }
    catalog.delete_session(deletion(&parent.id)).await.unwrap();
    for child in children {
        let found = catalog.get_session(&child.id).await;
        assert_eq!(found, child);
        assert_eq!(lineage(&found), (Some(&parent.id), &parent.id, 1));
        assert!(found.is_resumable());
    }
}

pub async fn s056_a_parent_that_is_gone_stays_as_a_label<E: Engine>(catalog: Catalog<E>) {
    let (a, b) = (catalog.register("/t/a").await, catalog.register("/t/b").await);
    let s1 = catalog.session_in(&a).await;
    let s2 = child(&catalog, new_in(&a), &s1.id).await;
    let s2 = catalog
        .change_session(&s2.id, stopping(StopCause::Completed, ""))
        .await;
    catalog.delete_session(deletion(&s2.id)).await.unwrap();
    for parent in [s2.id, session_id()] {
        let made = child(&catalog, new_in(&b), &parent).await;
        assert_eq!(lineage(&made), (Some(&parent), &parent, 1));
    }
    // One that the caller can't see is one that is not there.
    let call = catalog.session_call_as(Visibility::Only(vec![b.id.clone()]));
    let create = CreateSession {
        parent: Some(s1.id.clone()),
        ..new_in(&b)
    };
    let made = fresh(catalog.store.create_session(create, call).await.unwrap());
    assert_eq!(lineage(&made.value.session.session), (Some(&s1.id), &s1.id, 1));
}

pub async fn s057_a_stopped_and_archived_parent_has_children<E: Engine>(catalog: Catalog<E>) {
    let workspace = catalog.register("/t/a").await;
    let parent = catalog.stopped_in(&workspace).await;
    catalog.change_session(&parent.id, SessionChange::Archive).await;
    let made = child(&catalog, new_in(&workspace), &parent.id).await;
    assert_eq!(lineage(&made), (Some(&parent.id), &parent.id, 1));
}

pub async fn internal_sessions_are_told_as_such<E: Engine>(catalog: Catalog<E>) {
    let workspace = catalog.register("/t/a").await;
    catalog.number_all().await;
    let head = catalog.store.head().await.unwrap().head.position;
    let roles = [
        "",
        "memory-extractor",
        "auto-title",
        "Auto-Title",
        "MEMORY-EXTRACTOR",
    ];
    for (number, role) in roles.into_iter().enumerate() {
        let create = CreateSession {
            session_type: if number == 0 {
                SessionType::Dream
            } else {
                SessionType::Spawned
            },
            spawn_role: role.to_owned(),
            ..new_in(&workspace)
        };
        let session = catalog.create_session(create).await;
        assert!(catalog.get_session(&session.id).await.is_internal());
    }
    let entries = told(&catalog, head).await;
    assert_eq!(entries.len(), roles.len());
    assert!(entries.iter().all(|entry| entry.internal));
    catalog.assert_counts_are_true().await;
}

pub async fn no_failed_creation_leaves_anything<E: Engine>(catalog: Catalog<E>) {
    let workspace = catalog.register("/t/a").await;
    let create = CreateSession {
        bind: Some(new_lease("h1")),
        labels: BTreeMap::from([("k".to_owned(), "v".to_owned())]),
        ..new_in(&workspace)
    };
    let before = catalog.everything().await;
    catalog.store.fail_commits(true);
    assert_away(&catalog.try_create_session(create.clone()).await);
    catalog.store.fail_commits(false);
    assert_eq!(catalog.everything().await, before);
    let session = catalog.create_session(create).await;
    assert_eq!(catalog.get_session(&session.id).await, session);
    catalog.assert_counts_are_true().await;
}
