//! Promises about what the observer keeps.

use compozy_domain::{
    ChangeKind, ChangeOp, ChangeReason, Timestamp, Workspace, WorkspaceId, WorkspaceStatus,
};

use super::engine::Engine;
use super::fixture::{Catalog, HOST, fresh, host};
use crate::observations::{LastObservation, Observation, ObservationStore as _};
use crate::workspaces::WorkspaceStore as _;

const MINUTE: i64 = 60_000_000_000;

/// What a look at the root of a record shows.
pub(crate) fn seen(workspace: &Workspace, status: WorkspaceStatus) -> Observation {
    Observation {
        workspace_id: workspace.id.clone(),
        root_dir: workspace.root_dir.clone(),
        status,
    }
}

/// Keeps what a look at the root of a record shows, and answers when that was.
pub(crate) async fn observe<E>(
    catalog: &Catalog<E>,
    workspace: &Workspace,
    status: WorkspaceStatus,
) -> Timestamp {
    let now = catalog.tick();
    observe_at(catalog, workspace, status, now).await;
    now
}

/// The same at a given time.
pub(crate) async fn observe_at<E>(
    catalog: &Catalog<E>,
    workspace: &Workspace,
    status: WorkspaceStatus,
    now: Timestamp,
) {
    catalog
        .store
        .record(&[seen(workspace, status)], now)
        .await
        .unwrap();
}

async fn last<E>(catalog: &Catalog<E>, id: &WorkspaceId) -> LastObservation {
    catalog.store.last(id).await.unwrap().expect("it was looked at")
}

pub async fn a_round_is_claimed_once_in_a_period<E: Engine>(catalog: Catalog<E>) {
    let store = &catalog.store;
    let start = Timestamp::from_nanos(1_000 * MINUTE);
    let at = |nanos: i64| Timestamp::from_nanos(start.nanos() + nanos);
    let claim = async |host_id: &str, owner: &str, now: Timestamp| {
        store
            .claim_round(&host(host_id), owner, now, MINUTE)
            .await
            .unwrap()
    };
    assert!(claim("h1", "a", at(0)).await);
    assert!(!claim("h1", "a", at(0)).await);
    assert!(!claim("h1", "b", at(MINUTE - 1)).await);
    assert!(
        claim("h2", "b", at(MINUTE - 1)).await,
        "another host has rounds of its own"
    );
    assert!(claim("h1", "b", at(MINUTE)).await);
    assert!(!claim("h1", "a", at(MINUTE + 1)).await);
}

/// A clock that is set back must not stop the rounds until it has caught up.
pub async fn a_clock_that_was_set_back_does_not_stop_the_rounds<E: Engine>(catalog: Catalog<E>) {
    let claim = async |nanos: i64| {
        let now = Timestamp::from_nanos(nanos);
        catalog
            .store
            .claim_round(&host(HOST), "a", now, MINUTE)
            .await
            .unwrap()
    };
    assert!(claim(1_000 * MINUTE).await);
    assert!(claim(10 * MINUTE).await);
    assert!(!claim(10 * MINUTE + 1).await);
    assert!(claim(11 * MINUTE).await);
}

pub async fn of_several_owners_one_gets_the_round<E: Engine>(catalog: Catalog<E>) {
    for round in 1..=3 {
        let now = Timestamp::from_nanos(round * 1_000 * MINUTE);
        let mut tasks = tokio::task::JoinSet::new();
        for owner in 0..10 {
            let store = std::sync::Arc::clone(&catalog.store);
            tasks.spawn(async move {
                let owner = format!("owner-{owner}");
                store.claim_round(&host(HOST), &owner, now, MINUTE).await.unwrap()
            });
        }
        let claims = tasks.join_all().await;
        assert_eq!(
            claims.iter().filter(|claimed| **claimed).count(),
            1,
            "round {round}"
        );
    }
}

pub async fn the_first_look_at_a_root_that_is_fine_is_no_change<E: Engine>(catalog: Catalog<E>) {
    let workspace = catalog.register("/w/a").await;
    let entries = catalog.log().await;
    let now = observe(&catalog, &workspace, WorkspaceStatus::Ok).await;
    let expected = LastObservation {
        status: WorkspaceStatus::Ok,
        missing_since: None,
        observed_at: now,
    };
    assert_eq!(last(&catalog, &workspace.id).await, expected);
    assert_eq!(catalog.log().await, entries);
    assert_eq!(catalog.get(&workspace.id).await, workspace);
}

pub async fn w325_a_new_status_moves_the_version_and_nothing_else<E: Engine>(catalog: Catalog<E>) {
    let workspace = catalog.register("/w/a").await;
    let store = &catalog.store;
    let retitle = super::update::retitle(&workspace.id, "t");
    let retitled = fresh(store.update(retitle, catalog.call()).await.unwrap()).value;
    let rename = super::update::rename(&workspace.id, "n");
    let renamed = fresh(store.update(rename, catalog.call()).await.unwrap()).value;
    assert_eq!((retitled.version, renamed.version), (2, 3));
    assert_ne!(retitled.etag(), renamed.etag());
    catalog.number_all().await;
    let head = catalog.log().await.len() as i64;
    let now = observe(&catalog, &renamed, WorkspaceStatus::RootMissing).await;
    let nothing = super::update::retitle(&workspace.id, "t");
    let after = fresh(store.update(nothing, catalog.call()).await.unwrap()).value;
    assert_eq!(
        after,
        Workspace {
            version: 4,
            ..renamed
        }
    );
    let entries = catalog.log_after(head).await;
    assert_eq!(entries.len(), 1);
    let change = &entries[0].change;
    assert_eq!(
        (change.kind, change.op, change.reason),
        (ChangeKind::Workspace, ChangeOp::Upserted, ChangeReason::Status)
    );
    let at = catalog.instant_of_entry(now, change.at);
    assert_eq!((change.version, change.at), (4, at));
}

pub async fn the_same_status_again_only_tells_when<E: Engine>(catalog: Catalog<E>) {
    let workspace = catalog.register("/w/a").await;
    observe(&catalog, &workspace, WorkspaceStatus::IdentityInvalid).await;
    let entries = catalog.log().await;
    let now = observe(&catalog, &workspace, WorkspaceStatus::IdentityInvalid).await;
    assert_eq!(catalog.log().await, entries);
    assert_eq!(last(&catalog, &workspace.id).await.observed_at, now);
    assert_eq!(catalog.get(&workspace.id).await.version, 2);
}

pub async fn missing_counts_from_the_first_look_without_a_break<E: Engine>(catalog: Catalog<E>) {
    let workspace = catalog.register("/w/a").await;
    let since = observe(&catalog, &workspace, WorkspaceStatus::RootMissing).await;
    let again = observe(&catalog, &workspace, WorkspaceStatus::RootMissing).await;
    let expected = LastObservation {
        status: WorkspaceStatus::RootMissing,
        missing_since: Some(since),
        observed_at: again,
    };
    assert_eq!(last(&catalog, &workspace.id).await, expected);
    for status in [WorkspaceStatus::RootUnreadable, WorkspaceStatus::Ok] {
        observe(&catalog, &workspace, status).await;
        assert_eq!(last(&catalog, &workspace.id).await.missing_since, None);
        let anew = observe(&catalog, &workspace, WorkspaceStatus::RootMissing).await;
        assert_eq!(last(&catalog, &workspace.id).await.missing_since, Some(anew));
    }
}

pub async fn a_removed_or_unknown_workspace_is_passed_over<E: Engine>(catalog: Catalog<E>) {
    let kept = catalog.register("/w/a").await;
    let removed = catalog.register("/w/b").await;
    catalog.remove(&removed.id).await.unwrap();
    let entries = catalog.log().await.len();
    let looks = [
        seen(&removed, WorkspaceStatus::RootMissing),
        seen(&kept, WorkspaceStatus::RootMissing),
    ];
    catalog.store.record(&looks, catalog.tick()).await.unwrap();
    catalog.store.record(&[], catalog.tick()).await.unwrap();
    assert_eq!(catalog.store.last(&removed.id).await.unwrap(), None);
    assert_eq!(
        last(&catalog, &kept.id).await.status,
        WorkspaceStatus::RootMissing
    );
    assert_eq!(catalog.log().await.len(), entries + 1);
}

/// Two replicas that look at once see the same, and tell it once.
pub async fn many_who_see_the_same_append_one_entry<E: Engine>(catalog: Catalog<E>) {
    let mut rows = Vec::new();
    for number in 0..5 {
        rows.push(catalog.register(&format!("/w/{number}")).await);
    }
    let entries = catalog.log().await.len();
    let mut tasks = tokio::task::JoinSet::new();
    let mut looks: Vec<Observation> = rows
        .iter()
        .map(|row| seen(row, WorkspaceStatus::RootMissing))
        .collect();
    for _ in 0..8 {
        looks.reverse();
        let (store, looks, now) = (
            std::sync::Arc::clone(&catalog.store),
            looks.clone(),
            catalog.tick(),
        );
        tasks.spawn(async move { store.record(&looks, now).await });
    }
    for outcome in tasks.join_all().await {
        outcome.unwrap();
    }
    assert_eq!(catalog.log().await.len(), entries + rows.len());
    for row in rows {
        assert_eq!(catalog.get(&row.id).await.version, 2);
    }
}
