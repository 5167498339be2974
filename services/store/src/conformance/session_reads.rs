//! Promises about sessions that are read one by one.

use compozy_domain::{SessionId, SessionState, Visibility};

use super::engine::Engine;
use super::fixture::{Catalog, START};
use super::hooks;
use super::session_change::head;
use super::session_fixture::{new_in, renaming, session_id, ungrouped};
use crate::change_log::ChangeLog as _;
use crate::sessions::SessionStore as _;

pub async fn a_session_is_read_with_the_head_of_the_log<E: Engine>(catalog: Catalog<E>) {
    let workspace = catalog.register("/t/a").await;
    catalog.set_clock(START).await;
    let session = catalog.session_in(&workspace).await;
    let position = head(&catalog).await;
    for id in [session.id.clone(), session_id()] {
        let found = catalog
            .store
            .find_session(&id, &Visibility::All, START)
            .await
            .unwrap();
        assert_eq!(found.1, catalog.store.head().await.unwrap().head);
        assert_eq!(found.1.position, position);
        let expected = (id == session.id).then_some((&session, START));
        assert_eq!(found.0.as_ref().map(|found| (&found.session, found.at)), expected);
    }
}

pub async fn sessions_are_found_by_their_ids<E: Engine>(catalog: Catalog<E>) {
    let (a, b) = (catalog.register("/t/a").await, catalog.register("/t/b").await);
    catalog.set_clock(START).await;
    let mut ids: Vec<SessionId> = vec![session_id()];
    for number in 0..40 {
        let create = match number % 3 {
            0 => new_in(&a),
            1 => new_in(&b),
            _ => ungrouped(),
        };
        ids.push(catalog.create_session(create).await.id);
    }
    let found = async |ids: &[SessionId], visibility| {
        let found = catalog
            .store
            .find_sessions(ids, &visibility, START)
            .await
            .unwrap();
        assert!(found.iter().all(|found| found.at == START));
        let mut found: Vec<SessionId> = found.into_iter().map(|found| found.session.id).collect();
        found.sort();
        found
    };
    let of = |rest: &[usize]| {
        let chosen = ids[1..]
            .iter()
            .enumerate()
            .filter(|(number, _)| rest.contains(&(number % 3)));
        let mut chosen: Vec<SessionId> = chosen.map(|(_, id)| id.clone()).collect();
        chosen.sort();
        chosen
    };
    assert_eq!(found(&ids, Visibility::All).await, of(&[0, 1, 2]));
    assert_eq!(found(&ids, Visibility::Only(vec![b.id.clone()])).await, of(&[1]));
    assert_eq!(
        found(&ids[..2], Visibility::Only(vec![a.id.clone()])).await,
        ids[1..2]
    );
    assert_eq!(found(&[], Visibility::All).await, []);
}

pub async fn a_session_tells_the_name_that_its_workspace_has_now<E: Engine>(catalog: Catalog<E>) {
    let workspace = catalog.register("/t/a").await;
    let session = catalog.session_in(&workspace).await;
    let sql = format!(
        "UPDATE workspace SET name = 'other' WHERE id = '{}'",
        workspace.id
    );
    hooks::execute(&catalog.store, &sql).await.unwrap();
    let found = catalog.get_session(&session.id).await;
    assert_eq!(found.workspace.unwrap().name, "other");
    assert_eq!(
        catalog
            .change_session(&session.id, renaming("x"))
            .await
            .workspace
            .unwrap()
            .name,
        "other"
    );
}

pub async fn the_last_thousand_changes_of_state_are_told<E: Engine>(catalog: Catalog<E>) {
    let id = catalog.create_session(ungrouped()).await.id;
    let sql = format!(
        "WITH RECURSIVE counted (n) AS (SELECT 2 UNION ALL SELECT n + 1 FROM counted WHERE n < 1005) \
         INSERT INTO session_transition (session_id, number, state, at, cause, by_whom) \
         SELECT '{id}', n, CASE n WHEN 1005 THEN 'paused' ELSE 'stopped' END, n, 'c', 'b' FROM counted"
    );
    hooks::execute(&catalog.store, &sql).await.unwrap();
    let told = catalog.store.transitions(&id).await.unwrap();
    // One is in a state that this release has no word for.
    assert_eq!(told.len(), 999);
    assert_eq!((told[0].at.nanos(), told[998].at.nanos()), (6, 1_004));
    assert!(told.iter().all(|told| told.state == SessionState::Stopped));
}
