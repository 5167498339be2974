//! Promises about what a restart leaves of sessions.

use super::engine::Engine;
use super::fixture::Catalog;
use super::hooks;
use super::session_moves::moving;
use crate::catalog::CatalogStore as _;
use crate::sessions::SessionStore as _;

pub async fn w250_an_account_has_the_same_order_after_a_restart<E: Engine>(catalog: Catalog<E>) {
    let a = catalog.register("/w/a").await;
    let order = catalog.sessions_in_order(&a, 3).await;
    let [s3, s2, s1] = [&order[0], &order[1], &order[2]];
    catalog.move_session(moving(s1, Some(s2))).await.unwrap();
    catalog.move_session(moving(s3, None)).await.unwrap();
    let catalog = catalog.reopened().await;
    assert!(catalog.account(&a.id).await.iter().eq([s1, s2, s3]));
    let new = catalog.session_in(&a).await.id;
    assert!(catalog.account(&a.id).await.iter().eq([&new, s1, s2, s3]));
    assert_eq!(catalog.get(&a.id).await.session_counts.active, 4);
}

pub async fn w295_a_session_of_a_missing_workspace_is_served_after_a_restart<E: Engine>(catalog: Catalog<E>) {
    let a = catalog.register("/w/a").await;
    let session = catalog.session_in(&a).await;
    let other = catalog.session_in(&a).await;
    let sql = format!(
        "UPDATE session SET workspace_id = 'ws_00000000000000aa' WHERE id = '{}'",
        session.id
    );
    assert_eq!(hooks::execute(&catalog.store, &sql).await.unwrap(), 1);
    catalog.store.recount_sessions().await.unwrap();
    let catalog = catalog.reopened().await;
    assert_eq!(catalog.get_session(&session.id).await.workspace, None);
    assert_eq!(catalog.get_session(&other.id).await, other);
    let found = catalog.store.examine().await.unwrap();
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].message.contains(session.id.as_str()));
    assert!(found[0].message.contains("ws_00000000000000aa"));
}
