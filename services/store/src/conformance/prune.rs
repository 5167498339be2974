//! Promises about removing what has been missing for long.

use std::time::Duration;

use compozy_domain::{ChangeReason, Timestamp, Visibility, Workspace, WorkspaceStatus};

use super::engine::Engine;
use super::fixture::{Catalog, HOST, fresh, host};
use super::observations::observe_at;
use crate::workspaces::{Prune, Pruned, WorkspaceStore as _};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// A prune of what has been missing for thirty days.
fn thirty_days(now: Timestamp, apply: bool) -> Prune {
    Prune {
        host: host(HOST),
        missing_since: now.minus(DAY * 30),
        limit: 100,
        apply,
    }
}

async fn pruned<E>(catalog: &Catalog<E>, prune: Prune) -> Pruned {
    fresh(catalog.store.prune(prune, catalog.call()).await.unwrap()).value
}

async fn missing_since<E: Engine>(catalog: &Catalog<E>, root: &str, since: Timestamp) -> Workspace {
    let workspace = catalog.register(root).await;
    observe_at(catalog, &workspace, WorkspaceStatus::RootMissing, since).await;
    catalog.get(&workspace.id).await
}

pub async fn w234_thirty_days_are_counted_to_the_instant<E: Engine>(catalog: Catalog<E>) {
    let now = catalog.tick();
    let due = missing_since(&catalog, "/w/due", now.minus(DAY * 30)).await;
    missing_since(
        &catalog,
        "/w/not-yet",
        now.minus(DAY * 30).plus(Duration::from_nanos(1)),
    )
    .await;
    catalog.register("/w/never-seen").await;
    catalog.number_all().await;
    let head = catalog.log().await.len() as i64;
    let result = pruned(&catalog, thirty_days(now, true)).await;
    assert_eq!(
        result,
        Pruned {
            workspaces: vec![due.clone()],
            has_more: false
        }
    );
    assert_eq!(catalog.names().await, ["never-seen", "not-yet"]);
    let entries = catalog.log_after(head).await;
    assert_eq!(entries.len(), 1);
    assert_eq!(entries[0].change.reason, ChangeReason::RemovedSessionsKept);
    assert_eq!(entries[0].change.workspace_id, Some(due.id));
}

pub async fn w235_only_tried_it_names_them_and_keeps_them<E: Engine>(catalog: Catalog<E>) {
    let now = catalog.tick();
    let due = missing_since(&catalog, "/w/due", now.minus(DAY * 31)).await;
    let before = catalog.everything().await;
    let result = pruned(&catalog, thirty_days(now, false)).await;
    assert_eq!(result.workspaces, [due]);
    assert_eq!(catalog.everything().await, before);
}

pub async fn w237_an_unreadable_root_is_never_pruned<E: Engine>(catalog: Catalog<E>) {
    let now = catalog.tick();
    for status in [
        WorkspaceStatus::RootUnreadable,
        WorkspaceStatus::RootNotDirectory,
        WorkspaceStatus::IdentityMissing,
        WorkspaceStatus::Ok,
    ] {
        let workspace = catalog.register(&format!("/w/{}", status.as_str())).await;
        observe_at(&catalog, &workspace, status, now.minus(DAY * 365)).await;
    }
    assert_eq!(pruned(&catalog, thirty_days(now, true)).await.workspaces, []);
    assert_eq!(catalog.names().await.len(), 4);
}

pub async fn w238_only_its_own_observations_count<E: Engine>(catalog: Catalog<E>) {
    let now = catalog.tick();
    // Registered long ago, and looked at for the first time now.
    let mut register = catalog.new_at("/w/a");
    register.workspace.at = now.minus(DAY * 60);
    let workspace = catalog.created(register).await;
    observe_at(&catalog, &workspace, WorkspaceStatus::RootMissing, now).await;
    assert_eq!(pruned(&catalog, thirty_days(now, true)).await.workspaces, []);
}

pub async fn w239_a_break_starts_the_count_anew<E: Engine>(catalog: Catalog<E>) {
    let now = catalog.tick();
    let workspace = missing_since(&catalog, "/w/a", now.minus(DAY * 40)).await;
    observe_at(&catalog, &workspace, WorkspaceStatus::Ok, now.minus(DAY * 20)).await;
    observe_at(
        &catalog,
        &workspace,
        WorkspaceStatus::RootMissing,
        now.minus(DAY * 19),
    )
    .await;
    assert_eq!(pruned(&catalog, thirty_days(now, true)).await.workspaces, []);
    let later = now.plus(DAY * 11);
    assert_eq!(
        pruned(&catalog, thirty_days(later, true)).await.workspaces.len(),
        1
    );
}

pub async fn a_prune_has_a_limit_and_says_whether_more_are_due<E: Engine>(catalog: Catalog<E>) {
    let now = catalog.tick();
    let mut due = Vec::new();
    for number in 0..5 {
        due.push(missing_since(&catalog, &format!("/w/{number}"), now.minus(DAY * 31)).await);
    }
    due.sort_by(|left, right| left.id.cmp(&right.id));
    let mut prune = thirty_days(now, true);
    prune.limit = 2;
    for (part, has_more) in [
        (&due[..2], true),
        (&due[2..4], true),
        (&due[4..], false),
        (&[], false),
    ] {
        let result = pruned(&catalog, prune.clone()).await;
        assert_eq!((result.workspaces.as_slice(), result.has_more), (part, has_more));
    }
}

pub async fn a_prune_sees_what_its_caller_sees_of_one_host<E: Engine>(catalog: Catalog<E>) {
    let now = catalog.tick();
    let visible = missing_since(&catalog, "/w/visible", now.minus(DAY * 31)).await;
    missing_since(&catalog, "/w/hidden", now.minus(DAY * 31)).await;
    let mut register = catalog.new_at("/w/elsewhere");
    register.workspace.host_id = host("h2");
    let elsewhere = catalog.created(register).await;
    observe_at(
        &catalog,
        &elsewhere,
        WorkspaceStatus::RootMissing,
        now.minus(DAY * 31),
    )
    .await;
    for (ids, expected) in [
        (Vec::new(), Vec::new()),
        (vec![visible.id.clone(), elsewhere.id.clone()], vec![visible]),
    ] {
        let call = catalog.call_as(Visibility::Only(ids));
        let answer = catalog.store.prune(thirty_days(now, true), call).await.unwrap();
        assert_eq!(fresh(answer).value.workspaces, expected);
    }
    let mut names = catalog.names().await;
    names.sort_unstable();
    assert_eq!(names, ["elsewhere", "hidden"]);
}
