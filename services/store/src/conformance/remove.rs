//! Promises about removing.

use compozy_domain::{CatalogError, ChangeKind, ChangeOp, ChangeReason, WorkspaceId, WorkspaceStatus};

use super::engine::Engine;
use super::fixture::{Catalog, fresh, rejection, removal};
use super::observations::observe;
use crate::observations::ObservationStore as _;
use crate::workspaces::{Remove, Removed, WorkspaceStore as _};

pub async fn w229_a_missing_one_is_not_found_unless_that_is_allowed<E: Engine>(catalog: Catalog<E>) {
    catalog.register("/w/a").await;
    let unknown = WorkspaceId::parse("ws_0000000000000000").unwrap();
    let before = catalog.everything().await;
    for id in [Some(unknown), None] {
        let mut remove = Remove {
            id,
            reference: "name:nobody".into(),
            ..removal(&WorkspaceId::parse("ws_0000000000000000").unwrap())
        };
        let error = rejection(catalog.store.remove(remove.clone(), catalog.call()).await);
        assert_eq!(
            error,
            CatalogError::WorkspaceNotFound {
                reference: "name:nobody".into()
            }
        );
        remove.allow_missing = true;
        let removed = fresh(catalog.store.remove(remove, catalog.call()).await.unwrap()).value;
        let nothing = Removed {
            workspace: None,
            kept_session_count: 0,
            deleted_session_count: 0,
        };
        assert_eq!(removed, nothing);
    }
    assert_eq!(catalog.everything().await, before);
}

pub async fn w230_the_second_removal_finds_nothing<E: Engine>(catalog: Catalog<E>) {
    let workspace = catalog.register("/w/a").await;
    let removed = catalog.remove(&workspace.id).await.unwrap();
    assert_eq!(removed.workspace, Some(workspace.clone()));
    assert_eq!(catalog.find(&workspace.id).await, None);
    let error = rejection(catalog.remove(&workspace.id).await);
    assert!(matches!(error, CatalogError::WorkspaceNotFound { .. }), "{error}");
}

pub async fn w231_a_removal_appends_one_entry<E: Engine>(catalog: Catalog<E>) {
    for (delete_sessions, reason) in [
        (false, ChangeReason::RemovedSessionsKept),
        (true, ChangeReason::RemovedSessionsDeleted),
    ] {
        let workspace = catalog.register("/w/a").await;
        catalog.number_all().await;
        let remove = Remove {
            delete_sessions,
            ..removal(&workspace.id)
        };
        let written = fresh(catalog.store.remove(remove, catalog.call()).await.unwrap());
        let entries = catalog.log_after(written.revision.position).await;
        assert_eq!(entries.len(), 1);
        let change = &entries[0].change;
        assert_eq!(
            (change.kind, change.op, change.reason),
            (ChangeKind::Workspace, ChangeOp::Deleted, reason)
        );
        assert_eq!(
            (change.workspace_id.as_ref(), change.session_count),
            (Some(&workspace.id), 0)
        );
        assert_eq!(change.version, workspace.version + 1);
    }
}

pub async fn a_stale_etag_removes_nothing<E: Engine>(catalog: Catalog<E>) {
    let workspace = catalog.register("/w/a").await;
    let update = super::update::retitle(&workspace.id, "x");
    let current = fresh(catalog.store.update(update, catalog.call()).await.unwrap()).value;
    let mut remove = removal(&workspace.id);
    remove.etag = Some(workspace.etag());
    let error = rejection(catalog.store.remove(remove.clone(), catalog.call()).await);
    assert!(matches!(error, CatalogError::EtagMismatch { .. }), "{error}");
    assert_eq!(catalog.get(&workspace.id).await, current);
    remove.etag = Some(current.etag());
    catalog.store.remove(remove, catalog.call()).await.unwrap();
    assert_eq!(catalog.find(&workspace.id).await, None);
}

/// The same directory registered again is somebody new: another id, at the front, with no past.
pub async fn a_directory_registered_again_starts_anew<E: Engine>(catalog: Catalog<E>) {
    let first = catalog.register("/w/a").await;
    catalog.register("/w/b").await;
    observe(&catalog, &first, WorkspaceStatus::RootMissing).await;
    catalog.remove(&first.id).await.unwrap();
    assert_eq!(catalog.store.last(&first.id).await.unwrap(), None);
    let second = catalog.register("/w/a").await;
    assert_ne!(second.id, first.id);
    assert_eq!(second.version, 1);
    assert_eq!(catalog.names().await, ["a", "b"]);
    assert_eq!(catalog.store.last(&second.id).await.unwrap(), None);
}

pub async fn w232_a_workspace_whose_root_is_missing_can_be_removed<E: Engine>(catalog: Catalog<E>) {
    let workspace = catalog.register("/w/a").await;
    observe(&catalog, &workspace, WorkspaceStatus::RootMissing).await;
    let removed = catalog.remove(&workspace.id).await.unwrap().workspace;
    assert_eq!(removed.map(|row| row.id), Some(workspace.id));
    assert_eq!(catalog.names().await, Vec::<String>::new());
}
