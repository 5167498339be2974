//! Promises about the numbers of sessions that a workspace is shown with.

use compozy_domain::session::StopCause;
use compozy_domain::session::change::SessionChange;
use compozy_domain::workspace::{SessionCounts, WorkspaceOrder};
use compozy_domain::{SessionState, SessionType, Visibility, Workspace};

use super::engine::Engine;
use super::fixture::{Catalog, fresh, host};
use super::session_accounts::detaching;
use super::session_fixture::{deletion, new_in, new_lease, stopping};
use crate::sessions::{CreateSession, SessionStore as _};
use crate::workspaces::{Register, Registered, Relink, SetDurableId, WorkspaceStore as _};

/// The numbers of a workspace, which are the same wherever its row is read.
async fn counts<E: Engine>(catalog: &Catalog<E>, workspace: &Workspace) -> SessionCounts {
    let row = catalog.get(&workspace.id).await;
    let (store, all) = (&catalog.store, &Visibility::All);
    let mut read: Vec<Workspace> = Vec::new();
    read.extend(store.find_by_name(row.name.key(), all).await.unwrap());
    read.extend(store.find_by_durable(&row.durable_id, all).await.unwrap());
    let roots = [row.root_dir.clone()];
    read.extend(store.find_by_roots(&row.host_id, &roots, &[]).await.unwrap());
    read.extend(store.of_host(&row.host_id, None, 100).await.unwrap());
    read.extend(store.find_all(std::slice::from_ref(&row.id), all).await.unwrap());
    read.extend(store.above(None, &[], 100, all).await.unwrap());
    read.extend(
        catalog
            .read(&catalog.page(WorkspaceOrder::Manual, 100))
            .await
            .rows,
    );
    read.retain(|other| other.id == row.id);
    assert_eq!(read.len(), 7);
    for other in read {
        assert_eq!(other, row);
    }
    row.session_counts
}

pub async fn w268_a_workspace_tells_how_many_sessions_it_has<E: Engine>(catalog: Catalog<E>) {
    let a = catalog.register("/w/a").await;
    let b = catalog.register("/w/b").await;
    let mut expected = SessionCounts::default();
    assert_eq!(counts(&catalog, &a).await, expected);
    let mut ids = Vec::new();
    for number in 1..=5 {
        let agent = format!("agent-{}", number % 2);
        let made = catalog
            .create_session(CreateSession { agent, ..new_in(&a) })
            .await;
        ids.push(made.id);
        expected.active = number;
        assert_eq!(counts(&catalog, &a).await, expected);
    }
    for id in &ids[..3] {
        catalog
            .change_session(id, stopping(StopCause::Completed, ""))
            .await;
        expected.active -= 1;
        expected.stopped += 1;
        assert_eq!(counts(&catalog, &a).await, expected);
    }
    catalog.change_session(&ids[0], SessionChange::Archive).await;
    expected.archived = 1;
    let all_told = SessionCounts {
        active: 2,
        stopped: 3,
        archived: 1,
        ..SessionCounts::default()
    };
    assert_eq!(expected, all_told);
    assert_eq!(counts(&catalog, &a).await, expected);
    assert_eq!(counts(&catalog, &b).await, SessionCounts::default());
    // However they were kept until now.
    catalog.store.fold_counts().await.unwrap();
    assert_eq!(counts(&catalog, &a).await, expected);
    catalog.delete_session(deletion(&ids[1])).await.unwrap();
    expected.stopped -= 1;
    assert_eq!(counts(&catalog, &a).await, expected);
    catalog.detach(detaching(&ids[0])).await.unwrap();
    expected.stopped -= 1;
    expected.archived -= 1;
    assert_eq!(counts(&catalog, &a).await, expected);
    catalog.attach(&ids[0], &b).await.unwrap();
    let moved = SessionCounts {
        stopped: 1,
        archived: 1,
        ..SessionCounts::default()
    };
    assert_eq!(counts(&catalog, &b).await, moved);
    catalog.attach(&ids[0], &a).await.unwrap();
    assert_eq!(counts(&catalog, &b).await, SessionCounts::default());
    expected.stopped += 1;
    expected.archived += 1;
    assert_eq!(counts(&catalog, &a).await, expected);
    catalog.assert_counts_are_true().await;
}

pub async fn s163_an_archived_session_is_counted_as_one<E: Engine>(catalog: Catalog<E>) {
    let a = catalog.register("/w/a").await;
    let session = catalog.stopped_in(&a).await;
    let before = counts(&catalog, &a).await;
    catalog.change_session(&session.id, SessionChange::Archive).await;
    let archived = SessionCounts {
        archived: 1,
        ..before
    };
    assert_eq!(counts(&catalog, &a).await, archived);
    assert_eq!(archived.stopped, 1, "in its state, too");
    catalog
        .change_session(&session.id, SessionChange::Unarchive)
        .await;
    assert_eq!(counts(&catalog, &a).await, before);
}

pub async fn every_state_has_a_number<E: Engine>(catalog: Catalog<E>) {
    let a = catalog.register("/w/a").await;
    let starting = CreateSession {
        state: SessionState::Starting,
        ..new_in(&a)
    };
    catalog.create_session(starting).await;
    let bound = CreateSession {
        bind: Some(new_lease("r1")),
        ..new_in(&a)
    };
    let bound = catalog.create_session(bound).await;
    catalog
        .change_session(&bound.id, stopping(StopCause::User, ""))
        .await;
    let lost = catalog.stopped_in(&a).await;
    let sql = format!("UPDATE session SET state = 'orphaned' WHERE id = '{}'", lost.id);
    super::hooks::execute(&catalog.store, &sql).await.unwrap();
    catalog.store.recount_sessions().await.unwrap();
    catalog.session_in(&a).await;
    catalog.stopped_in(&a).await;
    let expected = SessionCounts {
        starting: 1,
        active: 1,
        stopping: 1,
        stopped: 1,
        orphaned: 1,
        archived: 0,
    };
    assert_eq!(counts(&catalog, &a).await, expected);
}

pub async fn internal_sessions_are_not_counted<E: Engine>(catalog: Catalog<E>) {
    let a = catalog.register("/w/a").await;
    let parent = catalog.session_in(&a).await;
    for create in [
        CreateSession {
            session_type: SessionType::Dream,
            ..new_in(&a)
        },
        CreateSession {
            parent: Some(parent.id.clone()),
            spawn_role: "Auto-Title".into(),
            ..new_in(&a)
        },
    ] {
        let made = catalog.create_session(create).await;
        catalog
            .change_session(&made.id, stopping(StopCause::Completed, ""))
            .await;
        catalog.change_session(&made.id, SessionChange::Archive).await;
    }
    let expected = SessionCounts {
        active: 1,
        ..SessionCounts::default()
    };
    assert_eq!(counts(&catalog, &a).await, expected);
}

/// What writes a workspace answers its numbers, too, and touches no session.
pub async fn w047_s222_sessions_move_along_with_the_root<E: Engine>(catalog: Catalog<E>) {
    let rows = catalog.register_in_order(&["/w/first", "/w/a", "/w/last"]).await;
    let a = &rows[1];
    let at_root = catalog.stopped_in(a).await;
    let below = catalog
        .create_session(CreateSession {
            cwd: "/w/a/./sub".into(),
            canonical_cwd: "/w/a/sub".into(),
            ..new_in(a)
        })
        .await;
    let below = catalog
        .change_session(&below.id, stopping(StopCause::Completed, ""))
        .await;
    let order = catalog.account(&a.id).await;
    let everything_of_them = "SELECT * FROM session ORDER BY id";
    let stored = super::hooks::rows(&catalog.store, everything_of_them)
        .await
        .unwrap();
    let relink = Relink {
        id: a.id.clone(),
        etag: None,
        from_root: "/w/a".into(),
        root_dir: "/w/b".into(),
        root_file: a.root_file,
        validate_only: false,
    };
    let relinked = fresh(catalog.store.relink(relink, catalog.call()).await.unwrap()).value;
    let set = SetDurableId {
        id: a.id.clone(),
        durable_id: rows[0].durable_id.clone(),
        intent: None,
    };
    let identified = fresh(catalog.store.set_durable_id(set, catalog.call()).await.unwrap()).value;
    let expected = SessionCounts {
        stopped: 2,
        ..SessionCounts::default()
    };
    for row in [&relinked, &identified] {
        assert_eq!(row.session_counts, expected);
        assert_eq!((&row.id, row.name.as_str(), &row.title), (&a.id, "a", &a.title));
    }
    assert_eq!(catalog.names().await, ["first", "a", "last"]);
    assert_eq!(
        super::hooks::rows(&catalog.store, everything_of_them)
            .await
            .unwrap(),
        stored
    );
    assert_eq!(catalog.account(&a.id).await, order);
    for (session, canonical) in [(&at_root, "/w/b"), (&below, "/w/b/sub")] {
        let now = catalog.get_session(&session.id).await;
        assert_eq!((&now.cwd, now.canonical_cwd.as_str()), (&session.cwd, canonical));
        assert_eq!((now.etag(), now.version), (session.etag(), session.version));
    }
    // What is written to them from now on leaves them where they are.
    catalog.change_session(&below.id, SessionChange::Archive).await;
    assert_eq!(catalog.get_session(&below.id).await.canonical_cwd, "/w/b/sub");
    catalog.detach(detaching(&below.id)).await.unwrap();
    assert_eq!(catalog.get_session(&below.id).await.canonical_cwd, "/w/b/sub");
}

/// A registration that finds the row answers its numbers; one on another host has its own.
pub async fn a_found_registration_tells_its_numbers<E: Engine>(catalog: Catalog<E>) {
    let a = catalog.register("/w/a").await;
    catalog.session_in(&a).await;
    let again = catalog.new_at("/w/a");
    let mut there = catalog.new_at("/w/a");
    there.workspace.host_id = host("h2");
    let register = async |register: Register| {
        let answer = catalog.store.register(register, catalog.call()).await;
        fresh(answer.unwrap()).value
    };
    let Registered::Existing(found) = register(again).await else {
        panic!("it was registered");
    };
    assert_eq!(found, catalog.get(&a.id).await);
    assert_eq!(found.session_counts.active, 1);
    let Registered::Created(other) = register(there).await else {
        panic!("it was not registered");
    };
    assert_eq!(other.session_counts, SessionCounts::default());
}
