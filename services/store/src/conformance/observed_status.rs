//! Promises about statuses that this release does not know.

use compozy_domain::WorkspaceStatus;

use super::engine::Engine;
use super::fixture::Catalog;
use super::hooks;
use super::observations::observe;
use crate::observations::ObservationStore as _;

/// A word of a newer release counts as not observed; the next look settles it.
pub async fn an_unknown_status_is_as_good_as_none<E: Engine>(catalog: Catalog<E>) {
    let workspace = catalog.register("/w/a").await;
    observe(&catalog, &workspace, WorkspaceStatus::RootMissing).await;
    let sql = "UPDATE workspace_observation SET status = 'something_new'";
    assert_eq!(hooks::execute(&catalog.store, sql).await.unwrap(), 1);
    assert_eq!(catalog.store.last(&workspace.id).await.unwrap(), None);
    let since = observe(&catalog, &workspace, WorkspaceStatus::RootMissing).await;
    let last = catalog.store.last(&workspace.id).await.unwrap().unwrap();
    assert_eq!(
        (last.status, last.missing_since),
        (WorkspaceStatus::RootMissing, Some(since))
    );
}
