//! Promises about which profile is selected.

use std::time::Duration;

use compozy_domain::profile::Selection;
use compozy_domain::{
    CatalogError, ChangeKind, ChangeOp, ChangeReason, NewChange, Profile, ProfileId, ProfileState,
    Visibility, WorkspaceId, WorkspaceStatus,
};

use super::engine::Engine;
use super::fixture::{Catalog, HOST, fresh, host, rejection};
use super::observations::observe;
use super::profiles::{created, delete, profile_id, put, renaming_to, told};
use super::request_ids::remembered;
use super::requests::Request;
use crate::catalog::CatalogStore as _;
use crate::error::Result;
use crate::profiles::{ProfileStore as _, SelectProfile, Selected};
use crate::workspaces::{Prune, WorkspaceStore as _};

pub(crate) fn selecting(workspace: Option<&WorkspaceId>, profile: Option<&ProfileId>) -> SelectProfile {
    SelectProfile {
        workspace_id: workspace.cloned(),
        profile_id: profile.cloned(),
        host_id: host("h-daemon"),
    }
}

/// Selects a profile, or forgets.
pub(crate) async fn select<E>(
    catalog: &Catalog<E>,
    workspace: Option<&WorkspaceId>,
    profile: Option<&ProfileId>,
) -> Result<Selected> {
    let select = selecting(workspace, profile);
    Ok(fresh(catalog.store.select_profile(select, catalog.call()).await?).value)
}

/// What is remembered for a workspace and for everything else.
async fn remembered_for<E>(
    catalog: &Catalog<E>,
    workspace: Option<&WorkspaceId>,
) -> (Option<Profile>, Option<Profile>) {
    let selections = catalog.store.selections(workspace).await.unwrap();
    (selections.workspace, selections.global)
}

/// The entries about selections, each with what it tells.
fn about_selections(told: &[NewChange]) -> Vec<(ChangeOp, ChangeReason, Option<&ProfileId>, i64)> {
    told.iter()
        .filter(|change| change.kind == ChangeKind::Selection)
        .map(|change| {
            (
                change.op,
                change.reason,
                change.profile_id.as_ref(),
                change.version,
            )
        })
        .collect()
}

pub async fn a_selection_is_remembered_for_a_workspace_and_for_everything_else<E: Engine>(
    catalog: Catalog<E>,
) {
    let (a, b) = (
        catalog.register("/w/a").await.id,
        catalog.register("/w/b").await.id,
    );
    let p = created(&catalog, "p").await;
    let q = created(&catalog, "q").await;
    let permanent = Profile::permanent();
    assert_eq!(remembered_for(&catalog, Some(&a)).await, (None, None));
    assert_eq!(remembered_for(&catalog, None).await, (None, None));

    let selected = select(&catalog, Some(&a), Some(&p.id)).await.unwrap();
    let expected = Selected {
        workspace_id: Some(a.clone()),
        profile: Some(p.clone()),
    };
    assert_eq!(selected, expected);
    assert_eq!(remembered_for(&catalog, Some(&a)).await, (Some(p.clone()), None));
    assert_eq!(remembered_for(&catalog, Some(&b)).await, (None, None));

    let selected = select(&catalog, None, Some(&q.id)).await.unwrap();
    assert_eq!((selected.workspace_id, selected.profile), (None, Some(q.clone())));
    let select_permanent = select(&catalog, Some(&b), Some(&permanent.id)).await.unwrap();
    assert_eq!(select_permanent.profile.as_ref(), Some(&permanent));
    assert_eq!(
        remembered_for(&catalog, Some(&a)).await,
        (Some(p), Some(q.clone()))
    );
    let of_b = (Some(permanent), Some(q.clone()));
    assert_eq!(remembered_for(&catalog, Some(&b)).await, of_b);
    assert_eq!(remembered_for(&catalog, None).await, (None, Some(q.clone())));

    let forgotten = select(&catalog, Some(&a), None).await.unwrap();
    assert_eq!(
        (forgotten.workspace_id, forgotten.profile),
        (Some(a.clone()), None)
    );
    assert_eq!(remembered_for(&catalog, Some(&a)).await, (None, Some(q)));
    select(&catalog, None, None).await.unwrap();
    assert_eq!(remembered_for(&catalog, Some(&a)).await, (None, None));
    assert_eq!(catalog.store.examine().await.unwrap(), []);
}

pub async fn n008_a_selection_appends_one_entry_with_a_version_of_its_own<E: Engine>(catalog: Catalog<E>) {
    let a = catalog.register("/w/a").await.id;
    let p = created(&catalog, "p").await.id;
    let q = created(&catalog, "q").await.id;
    catalog.number_all().await;
    let begin = catalog.log().await.len() as i64;
    for profile in [Some(&p), Some(&q), None, Some(&p)] {
        select(&catalog, Some(&a), profile).await.unwrap();
    }
    let entries = told(&catalog, begin).await;
    let (upserted, deleted) = (ChangeOp::Upserted, ChangeOp::Deleted);
    let expected = [
        (upserted, ChangeReason::Updated, Some(&p), 1),
        (upserted, ChangeReason::Updated, Some(&q), 2),
        (deleted, ChangeReason::Removed, None, 3),
        (upserted, ChangeReason::Updated, Some(&p), 4),
    ];
    assert_eq!(about_selections(&entries), expected);
    for change in &entries {
        assert_eq!(
            (change.workspace_id.as_ref(), &change.host_id),
            (Some(&a), &host(HOST))
        );
    }
    let behind = begin + entries.len() as i64;
    select(&catalog, None, Some(&q)).await.unwrap();
    let entries = told(&catalog, behind).await;
    assert_eq!(
        about_selections(&entries),
        [(upserted, ChangeReason::Updated, Some(&q), 1)]
    );
    assert_eq!(
        (entries[0].workspace_id.as_ref(), &entries[0].host_id),
        (None, &host("h-daemon"))
    );
}

pub async fn what_changes_no_selection_writes_nothing<E: Engine>(catalog: Catalog<E>) {
    let a = catalog.register("/w/a").await.id;
    let b = catalog.register("/w/b").await.id;
    let p = created(&catalog, "p").await.id;
    select(&catalog, Some(&a), Some(&p)).await.unwrap();
    select(&catalog, None, Some(&p)).await.unwrap();
    let before = catalog.everything().await;
    for (workspace, profile) in [(Some(&a), Some(&p)), (None, Some(&p)), (Some(&b), None)] {
        select(&catalog, workspace, profile).await.unwrap();
    }
    assert_eq!(catalog.everything().await, before);
}

pub async fn r111_an_unknown_profile_is_not_selected<E: Engine>(catalog: Catalog<E>) {
    let a = catalog.register("/w/a").await.id;
    let p = created(&catalog, "p").await;
    let deleted = created(&catalog, "deleted").await.id;
    delete(&catalog, &deleted).await;
    for workspace in [Some(&a), None] {
        select(&catalog, workspace, Some(&p.id)).await.unwrap();
    }
    let before = catalog.everything().await;
    for unknown in [&deleted, &profile_id()] {
        for workspace in [Some(&a), None] {
            let error = rejection(select(&catalog, workspace, Some(unknown)).await);
            let reference = unknown.to_string();
            assert_eq!(error, CatalogError::ProfileNotFound { reference });
        }
    }
    assert_eq!(catalog.everything().await, before);
    assert_eq!(
        remembered_for(&catalog, Some(&a)).await,
        (Some(p.clone()), Some(p))
    );
}

pub async fn r229_an_archived_profile_is_not_selected<E: Engine>(catalog: Catalog<E>) {
    let a = catalog.register("/w/a").await.id;
    let p = created(&catalog, "p").await;
    let archived = created(&catalog, "old").await.id;
    put(&catalog, &archived, ProfileState::Archived).await;
    select(&catalog, Some(&a), Some(&p.id)).await.unwrap();
    let before = catalog.everything().await;
    for workspace in [Some(&a), None] {
        let error = rejection(select(&catalog, workspace, Some(&archived)).await);
        assert_eq!(error, CatalogError::ProfileArchived { name: "old".into() });
    }
    assert_eq!(catalog.everything().await, before);
    assert_eq!(remembered_for(&catalog, Some(&a)).await, (Some(p), None));
}

/// A selection names the profile, not its name or state.
pub async fn r107_selections_outlive_a_rename_and_an_archive<E: Engine>(catalog: Catalog<E>) {
    let a = catalog.register("/w/a").await.id;
    let id = created(&catalog, "p").await.id;
    select(&catalog, Some(&a), Some(&id)).await.unwrap();
    let rename = renaming_to(&id, "q");
    let renamed = catalog.store.rename_profile(rename, catalog.call()).await;
    let renamed = fresh(renamed.unwrap()).value;
    assert_eq!(remembered_for(&catalog, Some(&a)).await, (Some(renamed), None));
    let archived = put(&catalog, &id, ProfileState::Archived).await;
    assert_eq!(remembered_for(&catalog, Some(&a)).await, (Some(archived), None));
    let back = put(&catalog, &id, ProfileState::Active).await;
    assert_eq!(remembered_for(&catalog, Some(&a)).await, (Some(back), None));
}

/// The entry of the profile stands for them, and the next one of each goes on counting.
pub async fn a_deleted_profile_takes_its_selections_along<E: Engine>(catalog: Catalog<E>) {
    let (a, b) = (
        catalog.register("/w/a").await.id,
        catalog.register("/w/b").await.id,
    );
    let p = created(&catalog, "p").await.id;
    let q = created(&catalog, "q").await;
    for (workspace, profile) in [(Some(&a), &p), (None, &p), (Some(&b), &q.id)] {
        select(&catalog, workspace, Some(profile)).await.unwrap();
    }
    catalog.number_all().await;
    let begin = catalog.log().await.len() as i64;
    delete(&catalog, &p).await;
    assert_eq!(remembered_for(&catalog, Some(&a)).await, (None, None));
    assert_eq!(remembered_for(&catalog, Some(&b)).await, (Some(q.clone()), None));
    let entries = told(&catalog, begin).await;
    assert_eq!(entries.len(), 1);
    assert_eq!(
        (entries[0].kind, entries[0].op),
        (ChangeKind::Profile, ChangeOp::Deleted)
    );
    select(&catalog, Some(&a), Some(&q.id)).await.unwrap();
    let entries = told(&catalog, begin + 1).await;
    let upserted = (ChangeOp::Upserted, ChangeReason::Updated, Some(&q.id), 2);
    assert_eq!(about_selections(&entries), [upserted]);
    assert_eq!(catalog.store.examine().await.unwrap(), []);
}

/// The entry of the workspace stands for it.
pub async fn a_removed_workspace_takes_its_selection_along<E: Engine>(catalog: Catalog<E>) {
    let removed = catalog.register("/w/removed").await;
    let pruned = catalog.register("/w/pruned").await;
    let kept = catalog.register("/w/kept").await.id;
    let p = created(&catalog, "p").await.id;
    for workspace in [&removed.id, &pruned.id, &kept] {
        select(&catalog, Some(workspace), Some(&p)).await.unwrap();
    }
    catalog.number_all().await;
    let begin = catalog.log().await.len() as i64;
    catalog.remove(&removed.id).await.unwrap();
    let seen = observe(&catalog, &pruned, WorkspaceStatus::RootMissing).await;
    let mut prune = Prune {
        host: host(HOST),
        missing_since: seen.plus(Duration::from_secs(60)),
        limit: 10,
        apply: false,
    };
    let store = &catalog.store;
    store.prune(prune.clone(), catalog.call()).await.unwrap();
    let all = [removed.id.clone(), pruned.id.clone(), kept.clone()];
    let left = async || store.find_selections(&all, true).await.unwrap();
    assert_eq!(left().await.len(), 2, "only tried, it is kept");
    prune.apply = true;
    store.prune(prune, catalog.call()).await.unwrap();
    let selection = Selection {
        workspace_id: Some(kept),
        profile_id: p,
    };
    assert_eq!(left().await, [selection]);
    assert_eq!(about_selections(&told(&catalog, begin).await), []);
    assert_eq!(store.examine().await.unwrap(), []);
}

pub async fn selections_are_found_for_some_workspaces<E: Engine>(catalog: Catalog<E>) {
    let rows = catalog.register_in_order(&["/w/a", "/w/b", "/w/c", "/w/d"]).await;
    let ids: Vec<WorkspaceId> = rows.into_iter().map(|row| row.id).collect();
    let p = created(&catalog, "p").await.id;
    let permanent = Profile::permanent().id;
    let selected = [
        (Some(&ids[0]), &p),
        (Some(&ids[1]), &permanent),
        (Some(&ids[3]), &p),
        (None, &p),
    ];
    for (workspace, profile) in selected {
        select(&catalog, workspace, Some(profile)).await.unwrap();
    }
    select(&catalog, Some(&ids[3]), None).await.unwrap();
    let selection = |workspace: Option<&WorkspaceId>, profile: &ProfileId| Selection {
        workspace_id: workspace.cloned(),
        profile_id: profile.clone(),
    };
    let found = async |ids: &[WorkspaceId], global| {
        let mut found = catalog.store.find_selections(ids, global).await.unwrap();
        found.sort_by(|left, right| left.workspace_id.cmp(&right.workspace_id));
        found
    };
    let global = selection(None, &p);
    assert_eq!(found(&[], false).await, []);
    assert_eq!(found(&[], true).await, std::slice::from_ref(&global));
    let mut of_all = vec![
        global,
        selection(Some(&ids[0]), &p),
        selection(Some(&ids[1]), &permanent),
    ];
    of_all.sort_by(|left, right| left.workspace_id.cmp(&right.workspace_id));
    assert_eq!(found(&ids, true).await, of_all);
    assert_eq!(
        found(&ids[1..], false).await,
        [selection(Some(&ids[1]), &permanent)]
    );
}

/// Whether it is hidden, gone or was never there. It is looked at before the profile.
pub async fn nothing_is_selected_for_a_workspace_that_does_not_exist_for_the_caller<E: Engine>(
    catalog: Catalog<E>,
) {
    let (seen, hidden) = (
        catalog.register("/w/a").await.id,
        catalog.register("/w/b").await.id,
    );
    let gone = catalog.register("/w/c").await.id;
    catalog.remove(&gone).await.unwrap();
    let p = created(&catalog, "p").await;
    let store = &catalog.store;
    let before = catalog.everything().await;
    let only = || Visibility::Only([seen.clone(), gone.clone()].into());
    for workspace in [&hidden, &gone] {
        for profile in [Some(&p.id), Some(&profile_id()), None] {
            let call = catalog.call_as(only());
            let outcome = store
                .select_profile(selecting(Some(workspace), profile), call)
                .await;
            let reference = workspace.to_string();
            assert_eq!(rejection(outcome), CatalogError::WorkspaceNotFound { reference });
        }
    }
    assert_eq!(catalog.everything().await, before);
    let call = catalog.call_as(only());
    let answer = store
        .select_profile(selecting(Some(&seen), Some(&p.id)), call)
        .await;
    assert_eq!(fresh(answer.unwrap()).value.profile, Some(p));
}

pub async fn a_repeated_selection_undoes_nothing_that_came_after<E: Engine>(catalog: Catalog<E>) {
    let p = created(&catalog, "p").await.id;
    let q = created(&catalog, "q").await;
    let request = Request::new("SelectProfile");
    let store = &catalog.store;
    let select_p = || store.select_profile(selecting(None, Some(&p)), catalog.call_once(&request));
    let first = fresh(select_p().await.unwrap());
    select(&catalog, None, Some(&q.id)).await.unwrap();
    let before = catalog.everything().await;
    assert_eq!(
        remembered(select_p().await.unwrap()),
        format!("{first:?}").into_bytes()
    );
    assert_eq!(remembered_for(&catalog, None).await, (None, Some(q)));
    assert_eq!(catalog.everything().await, before);
}
