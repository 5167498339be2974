//! Promises about what `doctor` is told of stored sessions.

use compozy_domain::{SessionId, SessionState};

use super::engine::Engine;
use super::fixture::Catalog;
use super::hooks;
use super::session_accounts::ungrouped_at;
use crate::catalog::{CatalogStore as _, Finding};
use crate::open::StoreAddress;
use crate::sessions::{CreateSession, SessionStore as _};

async fn spoil<E>(catalog: &Catalog<E>, sql: &str) {
    assert!(hooks::execute(&catalog.store, sql).await.unwrap() > 0, "{sql}");
}

async fn findings<E>(catalog: &Catalog<E>) -> Vec<Finding> {
    catalog.store.examine().await.unwrap()
}

fn assert_names(finding: &Finding, parts: &[&str]) {
    for part in parts {
        assert!(finding.message.contains(part), "{part} is not in {finding:?}");
    }
    assert!(!finding.remedy.is_empty());
}

pub async fn sound_sessions_have_no_findings<E: Engine>(catalog: Catalog<E>) {
    let a = catalog.register("/w/a").await;
    let b = catalog.register("/w/b").await;
    catalog.session_in(&a).await;
    catalog.stopped_in(&a).await;
    catalog.stopped_in(&b).await;
    catalog.create_session(ungrouped_at("/w")).await;
    catalog.remove(&b.id).await.unwrap();
    let before = catalog.everything().await;
    assert_eq!(findings(&catalog).await, []);
    assert_eq!(catalog.everything().await, before, "looking writes nothing");
    catalog.store.fold_counts().await.unwrap();
    assert_eq!(findings(&catalog).await, []);
}

pub async fn c165_s326_a_falsified_count_is_named_and_put_right<E: Engine>(catalog: Catalog<E>) {
    let a = catalog.register("/w/a").await;
    catalog.session_in(&a).await;
    let over = catalog.stopped_in(&a).await;
    catalog.store.fold_counts().await.unwrap();
    spoil(
        &catalog,
        &format!(
            "UPDATE session_count SET count = 7 WHERE scope = '{}' AND state = 'stopped'",
            a.id
        ),
    )
    .await;
    assert_eq!(catalog.get(&a.id).await.session_counts.stopped, 7);
    let found = findings(&catalog).await;
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].is_error);
    assert_names(
        &found[0],
        &[
            a.id.as_str(),
            "stopped",
            &over.agent,
            "stored as 7",
            "there are 1",
        ],
    );
    // One for everything, a cell that should not be there, and one that is missing.
    spoil(
        &catalog,
        "UPDATE session_count SET count = count + 1 WHERE scope = '*' AND state = 'active'",
    )
    .await;
    spoil(
        &catalog,
        "INSERT INTO session_count (scope, hidden, state, type, agent, count) \
         VALUES ('', 3, 'orphaned', 'dream', 'x', 2)",
    )
    .await;
    spoil(
        &catalog,
        &format!(
            "DELETE FROM session_count WHERE scope = '{}' AND state = 'active'",
            a.id
        ),
    )
    .await;
    let found = findings(&catalog).await;
    assert_eq!(found.len(), 4, "{found:?}");
    assert_names(
        &found[0],
        &[
            "archived internal",
            "without a workspace",
            "stored as 2",
            "there are 0",
        ],
    );
    assert_names(
        &found[1],
        &["of all workspaces", "active", "stored as 2", "there are 1"],
    );
    assert_names(
        &found[2],
        &[a.id.as_str(), "active", "stored as 0", "there are 1"],
    );
    assert_eq!(catalog.store.recount_sessions().await.unwrap(), 4);
    assert_eq!(findings(&catalog).await, []);
    catalog.assert_counts_are_true().await;
    assert_eq!(catalog.get(&a.id).await.session_counts.stopped, 1);
}

/// Written by hand, or by a backup of which a part is missing.
pub async fn a_session_of_a_workspace_that_no_row_has_is_named<E: Engine>(catalog: Catalog<E>) {
    let a = catalog.register("/w/a").await;
    let session = catalog.session_in(&a).await;
    spoil(
        &catalog,
        &format!(
            "UPDATE session SET workspace_id = 'ws_00000000000000aa' WHERE id = '{}'",
            session.id
        ),
    )
    .await;
    catalog.store.recount_sessions().await.unwrap();
    let before = catalog.everything().await;
    let now = catalog.get_session(&session.id).await;
    assert_eq!(now.workspace, None);
    assert_eq!((now.state, &now.cwd), (SessionState::Active, &session.cwd));
    let found = findings(&catalog).await;
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(!found[0].is_error);
    assert_names(&found[0], &[session.id.as_str(), "ws_00000000000000aa"]);
    assert_eq!(catalog.everything().await, before, "nothing is deleted");
    // It can be put right with what the remedy says.
    catalog.attach(&session.id, &a).await.unwrap();
    assert_eq!(catalog.account(&a.id).await, [session.id]);
    assert_eq!(findings(&catalog).await, []);
    catalog.assert_counts_are_true().await;
}

pub async fn rows_that_are_not_understood_are_named<E: Engine>(catalog: Catalog<E>) {
    let a = catalog.register("/w/a").await;
    let mut spoiled: Vec<SessionId> = Vec::new();
    for (column, value) in [
        ("state", "paused"),
        ("type", "dreamy"),
        ("runtime", "shared"),
        ("permission_mode", "approve-some"),
        ("labels", "[]"),
        ("stop", "{"),
        ("ledger", "no"),
        ("activity", "{}"),
    ] {
        let id = catalog.stopped_in(&a).await.id;
        spoil(
            &catalog,
            &format!("UPDATE session SET {column} = '{value}' WHERE id = '{id}'"),
        )
        .await;
        spoiled.push(id);
    }
    catalog.session_in(&a).await;
    catalog.store.recount_sessions().await.unwrap();
    let found = findings(&catalog).await;
    spoiled.sort_unstable();
    assert_eq!(found.len(), spoiled.len(), "{found:?}");
    for (finding, id) in found.iter().zip(&spoiled) {
        assert!(finding.is_error);
        assert_names(finding, &[id.as_str()]);
    }
}

pub async fn rows_that_belong_to_nothing_are_named<E: Engine>(catalog: Catalog<E>) {
    let a = catalog.register("/w/a").await;
    let unplaced = catalog.session_in(&a).await;
    let over = catalog.stopped_in(&a).await;
    let empty = match catalog.engine.address() {
        StoreAddress::Postgres { .. } => "''",
        _ => "x''",
    };
    spoil(
        &catalog,
        &format!("UPDATE session SET rank = {empty} WHERE id = '{}'", unplaced.id),
    )
    .await;
    for id in [over.id.as_str(), "sess-00000000000000ff"] {
        spoil(
            &catalog,
            &format!(
                "INSERT INTO session_live (session_id, prompting, stalled, waiting_for_auth, waiting_for_input) \
                 VALUES ('{id}', FALSE, FALSE, FALSE, FALSE)"
            ),
        )
        .await;
    }
    let found = findings(&catalog).await;
    assert_eq!(found.len(), 3, "{found:?}");
    for (id, kind) in [
        (over.id.as_str(), "not live"),
        ("sess-00000000000000ff", "not live"),
        (unplaced.id.as_str(), "no place"),
    ] {
        let finding = found.iter().find(|finding| finding.message.contains(id)).unwrap();
        assert!(!finding.is_error);
        assert_names(finding, &[kind]);
    }
    // A move gives it a place.
    let order = super::session_moves::moving(&unplaced.id, None);
    catalog.move_session(order).await.unwrap();
    assert_eq!(findings(&catalog).await.len(), 2);
}

/// As many as a catalog has, in pieces; of each kind the first ones are named.
pub async fn many_findings_are_told_in_few<E: Engine>(catalog: Catalog<E>) {
    let a = catalog.register("/w/a").await;
    let template = catalog.stopped_in(&a).await.id;
    catalog.copy_session(&template, 2_500).await;
    spoil(
        &catalog,
        "UPDATE session SET workspace_id = 'ws_00000000000000aa'",
    )
    .await;
    catalog.store.recount_sessions().await.unwrap();
    let found = findings(&catalog).await;
    assert_eq!(found.len(), 51, "{found:?}");
    assert!(found[50].message.contains("2451 more"), "{:?}", found[50]);
}

/// A session in a directory that is not there hides nothing and is no finding.
pub async fn a_session_without_a_directory_is_sound<E: Engine>(catalog: Catalog<E>) {
    let imported = CreateSession {
        cwd: String::new(),
        canonical_cwd: String::new(),
        ..ungrouped_at("/w")
    };
    let made = catalog.create_session(imported).await;
    let now = catalog.get_session(&made.id).await;
    assert_eq!((now.cwd.as_str(), now.canonical_cwd.as_str()), ("", ""));
    assert_eq!(findings(&catalog).await, []);
}
