//! Promises about changing fields.

use compozy_domain::error::Reason;
use compozy_domain::workspace::{DirsUpdate, RemovedDir, WorkspaceUpdate};
use compozy_domain::{CatalogError, ChangeReason, Etag, Workspace, WorkspaceId, WorkspaceStatus};

use super::engine::Engine;
use super::fixture::{Catalog, fresh, name, rejection};
use super::observations::observe;
use super::requests::Request;
use crate::catalog::CatalogStore as _;
use crate::workspaces::{Update, WorkspaceStore as _};

/// An update whatever the state of the record.
pub(crate) fn update(id: &WorkspaceId, update: WorkspaceUpdate) -> Update {
    Update {
        id: id.clone(),
        etag: None,
        update,
        validate_only: false,
    }
}

/// A new title.
#[must_use]
pub fn retitle(id: &WorkspaceId, title: &str) -> Update {
    let title = Some(title.to_owned());
    update(
        id,
        WorkspaceUpdate {
            title,
            ..WorkspaceUpdate::default()
        },
    )
}

/// A new name.
pub(crate) fn rename(id: &WorkspaceId, given: &str) -> Update {
    let name = Some(name(given));
    update(
        id,
        WorkspaceUpdate {
            name,
            ..WorkspaceUpdate::default()
        },
    )
}

/// Other additional directories.
pub(crate) fn redirect(id: &WorkspaceId, dirs: DirsUpdate) -> Update {
    update(
        id,
        WorkspaceUpdate {
            dirs,
            ..WorkspaceUpdate::default()
        },
    )
}

async fn updated<E>(catalog: &Catalog<E>, update: Update) -> Workspace {
    fresh(catalog.store.update(update, catalog.call()).await.unwrap()).value
}

pub async fn w184_a_title_is_stored_with_a_new_state<E: Engine>(catalog: Catalog<E>) {
    let before = catalog.register("/w/a").await;
    let head = catalog.log().await.len() as i64;
    let mut update = retitle(&before.id, "new");
    update.etag = Some(before.etag());
    let call = catalog.call();
    let now = call.now;
    let after = fresh(catalog.store.update(update, call).await.unwrap()).value;
    assert_eq!(catalog.get(&before.id).await, after);
    assert_eq!(after.title, "new");
    assert_ne!(after.etag(), before.etag());
    assert_eq!(
        (after.created_at, after.updated_at, after.version),
        (before.created_at, now, before.version + 1)
    );
    let entries = catalog.log_after(head).await;
    assert_eq!(entries.len(), 1);
    assert_eq!(
        (entries[0].change.reason, entries[0].change.version),
        (ChangeReason::Updated, after.version)
    );
}

pub async fn w185_a_stale_etag_is_refused<E: Engine>(catalog: Catalog<E>) {
    let workspace = catalog.register("/w/a").await;
    updated(&catalog, retitle(&workspace.id, "new")).await;
    let before = catalog.everything().await;
    let forged = Etag::from_stored("anything".into());
    for etag in [workspace.etag(), forged] {
        let mut update = retitle(&workspace.id, "newer");
        update.etag = Some(etag);
        let error = rejection(catalog.store.update(update, catalog.call()).await);
        assert_eq!(
            error,
            CatalogError::EtagMismatch {
                id: workspace.id.to_string()
            }
        );
    }
    assert_eq!(catalog.everything().await, before);
}

pub async fn w187_a_change_of_nothing_writes_nothing<E: Engine>(catalog: Catalog<E>) {
    let mut register = catalog.new_named("/w/a", "a");
    register.workspace.additional_dirs = vec!["/d/1".into(), "/d/2".into()];
    let workspace = catalog.created(register).await;
    let before = catalog.everything().await;
    let mut nothing = retitle(&workspace.id, "a");
    nothing.update.name = Some(name("a"));
    nothing.update.default_agent = Some(String::new());
    nothing.update.dirs = DirsUpdate::Replace(vec!["/d/1".into(), "/d/2".into()]);
    assert_eq!(updated(&catalog, nothing).await, workspace);
    assert_eq!(catalog.everything().await, before);
}

pub async fn w191_w192_directories_are_replaced<E: Engine>(catalog: Catalog<E>) {
    let mut register = catalog.new_at("/w/a");
    register.workspace.additional_dirs = vec!["/d/a".into(), "/d/b".into()];
    let id = catalog.created(register).await.id;
    let replace = |dirs: &[&str]| {
        redirect(
            &id,
            DirsUpdate::Replace(dirs.iter().map(|d| (*d).to_owned()).collect()),
        )
    };
    updated(&catalog, replace(&["/d/b", "/d/c"])).await;
    assert_eq!(catalog.get(&id).await.additional_dirs, ["/d/b", "/d/c"]);
    updated(&catalog, replace(&[])).await;
    assert_eq!(catalog.get(&id).await.additional_dirs, Vec::<String>::new());
}

pub async fn w193_w195_directories_are_added_and_taken_away<E: Engine>(catalog: Catalog<E>) {
    let mut register = catalog.new_at("/w/a");
    register.workspace.additional_dirs = vec!["/d/a".into(), "/d/b".into()];
    let id = catalog.created(register).await.id;
    let delta = |add: &str, remove: &str| DirsUpdate::Delta {
        add: vec![add.to_owned()],
        remove: vec![RemovedDir {
            given: format!("{remove}/"),
            canonical: remove.to_owned(),
        }],
    };
    updated(&catalog, redirect(&id, delta("/d/c", "/d/a"))).await;
    assert_eq!(catalog.get(&id).await.additional_dirs, ["/d/b", "/d/c"]);
    let before = catalog.everything().await;
    let missing = redirect(&id, delta("/d/d", "/d/none"));
    let error = rejection(catalog.store.update(missing, catalog.call()).await);
    assert!(
        matches!(error, CatalogError::InvalidField { ref problem, .. } if problem.contains("/d/none/")),
        "{error}"
    );
    assert_eq!(catalog.everything().await, before);
}

pub async fn w141_a_name_may_change_its_case<E: Engine>(catalog: Catalog<E>) {
    let workspace = catalog.created(catalog.new_named("/w/a", "api")).await;
    catalog.number_all().await;
    let head = catalog.log().await.len() as i64;
    assert_eq!(
        updated(&catalog, rename(&workspace.id, "API"))
            .await
            .name
            .as_str(),
        "API"
    );
    let entries = catalog.log_after(head).await;
    assert_eq!(entries.len(), 1);
    assert_eq!(entries[0].change.reason, ChangeReason::Renamed);
}

pub async fn w142_a_name_of_another_row_is_refused<E: Engine>(catalog: Catalog<E>) {
    let api = catalog.created(catalog.new_named("/w/a", "api")).await;
    let web = catalog.created(catalog.new_named("/w/b", "web")).await;
    let before = catalog.everything().await;
    let error = rejection(catalog.store.update(rename(&web.id, "Api"), catalog.call()).await);
    assert_eq!(
        error,
        CatalogError::NameConflict {
            name: "Api".into(),
            holder: Some(api.id)
        }
    );
    assert_eq!(catalog.everything().await, before);
}

pub async fn only_tried_nothing_is_written<E: Engine>(catalog: Catalog<E>) {
    let workspace = catalog.register("/w/a").await;
    catalog.register("/w/taken").await;
    let before = catalog.everything().await;
    let mut good = retitle(&workspace.id, "new");
    good.validate_only = true;
    let request = Request::new("Update");
    let call = catalog.call_once(&request);
    let now = call.now;
    let tried = fresh(catalog.store.update(good, call).await.unwrap()).value;
    assert_eq!(tried.title, "new");
    let answer = catalog
        .store
        .find_answer(request.principal, request.method, &request.id, &request.hash, now)
        .await;
    assert_eq!(answer.unwrap(), None);
    let mut bad = rename(&workspace.id, "taken");
    bad.validate_only = true;
    let error = rejection(catalog.store.update(bad, catalog.call()).await);
    assert_eq!(error.reason(), Reason::WorkspaceNameConflict);
    assert_eq!(catalog.everything().await, before);
}

pub async fn w200_an_unknown_or_removed_workspace_is_not_found<E: Engine>(catalog: Catalog<E>) {
    let removed = catalog.register("/w/a").await;
    catalog.remove(&removed.id).await.unwrap();
    let unknown = WorkspaceId::parse("ws_0000000000000000").unwrap();
    for id in [removed.id, unknown] {
        let error = rejection(catalog.store.update(retitle(&id, "x"), catalog.call()).await);
        assert_eq!(
            error,
            CatalogError::WorkspaceNotFound {
                reference: id.to_string()
            }
        );
    }
}

/// The record needs no directory.
pub async fn w198_a_workspace_whose_root_is_missing_can_be_changed<E: Engine>(catalog: Catalog<E>) {
    let workspace = catalog.register("/w/a").await;
    observe(&catalog, &workspace, WorkspaceStatus::RootMissing).await;
    assert_eq!(
        updated(&catalog, retitle(&workspace.id, "new")).await.title,
        "new"
    );
}
