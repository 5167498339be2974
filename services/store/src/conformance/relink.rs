//! Promises about pointing a record at another root.

use compozy_domain::error::PathConflict;
use compozy_domain::{
    CatalogError, ChangeReason, FileIdentity, Visibility, Workspace, WorkspaceId, WorkspaceStatus,
};

use super::engine::Engine;
use super::fixture::{Catalog, fresh, host, rejection};
use super::observations::observe;
use crate::observations::ObservationStore as _;
use crate::workspaces::{Relink, WorkspaceStore as _};

const NEW_FILE: FileIdentity = FileIdentity {
    device: 99,
    inode: u64::MAX - 1,
};

/// A relinking whatever the state of the record.
pub(crate) fn relinking(id: &WorkspaceId, from: &str, to: &str) -> Relink {
    Relink {
        id: id.clone(),
        etag: None,
        from_root: from.to_owned(),
        root_dir: to.to_owned(),
        root_file: NEW_FILE,
        validate_only: false,
    }
}

/// Relinks a record.
pub(crate) async fn relink<E>(catalog: &Catalog<E>, id: &WorkspaceId, from: &str, to: &str) -> Workspace {
    let answer = catalog
        .store
        .relink(relinking(id, from, to), catalog.call())
        .await;
    fresh(answer.unwrap()).value
}

pub async fn only_the_root_changes<E: Engine>(catalog: Catalog<E>) {
    let mut register = catalog.new_at("/w/a");
    register.workspace.additional_dirs = vec!["/w/b".into(), "/d".into()];
    let before = catalog.created(register).await;
    catalog.register("/w/other").await;
    catalog.number_all().await;
    let head = catalog.log().await.len() as i64;
    let after = relink(&catalog, &before.id, "/w/a", "/w/b").await;
    assert_eq!(catalog.get(&before.id).await, after);
    let expected = Workspace {
        root_dir: "/w/b".into(),
        root_file: NEW_FILE,
        // The root is no additional directory of itself.
        additional_dirs: vec!["/d".into()],
        version: before.version + 1,
        state_number: before.state_number + 1,
        updated_at: after.updated_at,
        ..before.clone()
    };
    assert_eq!(after, expected);
    assert_eq!(catalog.names().await, ["other", "a"], "its place stays");
    let entries = catalog.log_after(head).await;
    assert_eq!(entries.len(), 1);
    assert_eq!(entries[0].change.reason, ChangeReason::Relinked);
    let paths = ["/w/a".to_owned()];
    assert_eq!(
        catalog
            .store
            .find_by_roots(&host("h1"), &paths, &[])
            .await
            .unwrap(),
        []
    );
}

pub async fn a_root_that_is_there_or_moved_on_is_answered_unchanged<E: Engine>(catalog: Catalog<E>) {
    let workspace = catalog.register("/w/a").await;
    let before = catalog.everything().await;
    for (from, to) in [("/w/a", "/w/a"), ("/w/elsewhere", "/w/b")] {
        assert_eq!(relink(&catalog, &workspace.id, from, to).await, workspace);
    }
    assert_eq!(catalog.everything().await, before);
}

pub async fn a_root_of_another_row_is_refused<E: Engine>(catalog: Catalog<E>) {
    let a = catalog.register("/w/a").await;
    let b = catalog.register("/w/b").await;
    let mut elsewhere = catalog.new_at("/w/c");
    elsewhere.workspace.host_id = host("h2");
    catalog.created(elsewhere).await;
    let before = catalog.everything().await;
    let taken = |holder: Option<WorkspaceId>| CatalogError::PathConflict {
        path: "/w/b".into(),
        holder,
        conflict: PathConflict::RootTaken,
    };
    let relinking = relinking(&a.id, "/w/a", "/w/b");
    let error = rejection(catalog.store.relink(relinking.clone(), catalog.call()).await);
    assert_eq!(error, taken(Some(b.id)));
    let only = Visibility::Only(vec![a.id.clone()]);
    let error = rejection(catalog.store.relink(relinking, catalog.call_as(only)).await);
    assert_eq!(error, taken(None));
    assert_eq!(catalog.everything().await, before);
    // The same path on another host is another directory.
    assert_eq!(relink(&catalog, &a.id, "/w/a", "/w/c").await.root_dir, "/w/c");
}

pub async fn a_stale_etag_relinks_nothing<E: Engine>(catalog: Catalog<E>) {
    let workspace = catalog.register("/w/a").await;
    let update = super::update::retitle(&workspace.id, "x");
    catalog.store.update(update, catalog.call()).await.unwrap();
    let before = catalog.everything().await;
    let mut stale = relinking(&workspace.id, "/w/a", "/w/b");
    stale.etag = Some(workspace.etag());
    let error = rejection(catalog.store.relink(stale, catalog.call()).await);
    assert!(matches!(error, CatalogError::EtagMismatch { .. }), "{error}");
    assert_eq!(catalog.everything().await, before);
}

pub async fn only_tried_nothing_is_relinked<E: Engine>(catalog: Catalog<E>) {
    let workspace = catalog.register("/w/a").await;
    let before = catalog.everything().await;
    let mut only_try = relinking(&workspace.id, "/w/a", "/w/b");
    only_try.validate_only = true;
    let tried = fresh(catalog.store.relink(only_try, catalog.call()).await.unwrap()).value;
    assert_eq!(tried.root_dir, "/w/b");
    assert_eq!(catalog.everything().await, before);
}

pub async fn a_relinked_root_was_not_looked_at_yet<E: Engine>(catalog: Catalog<E>) {
    let workspace = catalog.register("/w/a").await;
    observe(&catalog, &workspace, WorkspaceStatus::RootMissing).await;
    let relinked = relink(&catalog, &workspace.id, "/w/a", "/w/b").await;
    assert_eq!(catalog.store.last(&workspace.id).await.unwrap(), None);
    // What was seen of the old root says nothing about the new one.
    observe(&catalog, &workspace, WorkspaceStatus::RootMissing).await;
    assert_eq!(catalog.store.last(&workspace.id).await.unwrap(), None);
    assert_eq!(catalog.get(&workspace.id).await, relinked);
}
