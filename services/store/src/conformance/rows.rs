//! Promises about stored rows that this release does not understand: written by hand, or by a newer one.

use std::time::Duration;

use compozy_domain::workspace::WorkspaceOrder;
use compozy_domain::{CatalogError, Workspace, WorkspaceStatus};

use super::engine::Engine;
use super::fixture::{Catalog, fresh, host, rejection, removal};
use super::hooks;
use super::observations::observe;
use super::update::retitle;
use crate::catalog::{CatalogStore as _, StoreKind};
use crate::observations::ObservationStore as _;
use crate::workspaces::{Prune, WorkspaceStore as _};

/// Spoils a column of a row behind the store's back.
async fn spoil<E: Engine>(catalog: &Catalog<E>, row: &Workspace, column: &str, value: &str) {
    let sql = format!("UPDATE workspace SET {column} = {value} WHERE id = '{}'", row.id);
    assert_eq!(hooks::execute(&catalog.store, &sql).await.unwrap(), 1);
}

/// Rows that are spoiled in each of the ways that are told apart, and one that is not.
async fn spoiled_rows<E: Engine>(catalog: &Catalog<E>) -> (Vec<Workspace>, Workspace) {
    let no_bytes = match catalog.store.kind() {
        StoreKind::Sqlite => "x''",
        StoreKind::Postgres => "''",
    };
    let mut spoiled = Vec::new();
    for (name, column, value) in [
        ("no-root", "root_dir", "''"),
        ("no-durable", "durable_id", "'something'"),
        ("no-rank", "rank", no_bytes),
        ("no-dirs", "additional_dirs", "'{'"),
    ] {
        let row = catalog.register(&format!("/w/{name}")).await;
        spoil(catalog, &row, column, value).await;
        spoiled.push(catalog.get(&row.id).await);
    }
    let good = catalog.register("/w/good").await;
    (spoiled, good)
}

pub async fn w294_c163_bad_rows_are_listed_and_named<E: Engine>(catalog: Catalog<E>) {
    let (spoiled, good) = spoiled_rows(&catalog).await;
    for order in [
        WorkspaceOrder::Manual,
        WorkspaceOrder::Name,
        WorkspaceOrder::Created,
        WorkspaceOrder::Updated,
    ] {
        let rows = catalog.walk(catalog.page(order, 2)).await;
        assert_eq!(rows.len(), 5);
        assert!(rows.contains(&good));
        for row in &rows {
            assert_eq!(row.defect.is_some(), row.id != good.id, "{row:?}");
        }
    }
    let findings = catalog.store.examine().await.unwrap();
    assert_eq!(findings.len(), 4);
    for row in spoiled {
        let defect = row.defect.unwrap();
        let named = findings
            .iter()
            .any(|finding| finding.message.contains(row.id.as_str()) && finding.message.contains(&defect));
        assert!(named, "{} ({defect}) is in no finding", row.id);
    }
}

pub async fn w294_bad_rows_are_not_changed<E: Engine>(catalog: Catalog<E>) {
    let (spoiled, good) = spoiled_rows(&catalog).await;
    let before = catalog.everything().await;
    let store = &catalog.store;
    let id = compozy_domain::DurableId::generate(catalog.tick(), &super::numbers::Numbers).unwrap();
    for row in &spoiled {
        let not_understood = CatalogError::RecordNotUnderstood {
            id: row.id.to_string(),
            defect: row.defect.clone().unwrap(),
        };
        let outcome = store.update(retitle(&row.id, "x"), catalog.call()).await;
        assert_eq!(rejection(outcome), not_understood);
        let relink = super::relink::relinking(&row.id, &row.root_dir, "/w/new");
        assert_eq!(
            rejection(store.relink(relink, catalog.call()).await),
            not_understood
        );
        let identity = super::identity::set(&row.id, &id);
        let outcome = store.set_durable_id(identity, catalog.call()).await;
        assert_eq!(rejection(outcome), not_understood);
        // Wherever it is: the second row is no better a place for the first than the end.
        let moves = [None, Some(&good.id)].map(|before| catalog.move_before(&row.id, before));
        for moved in futures::future::join_all(moves).await {
            match moved {
                Ok(moved) => assert!(!moved.moved, "it was there already"),
                outcome => assert_eq!(rejection(outcome), not_understood),
            }
        }
    }
    assert_eq!(catalog.everything().await, before);
}

/// Neither the observer nor a prune touches them; a removal that names one does.
pub async fn w294_bad_rows_go_only_when_they_are_named<E: Engine>(catalog: Catalog<E>) {
    let (spoiled, _good) = spoiled_rows(&catalog).await;
    let bad = &spoiled[0];
    let now = observe(&catalog, bad, WorkspaceStatus::RootMissing).await;
    assert_eq!(catalog.store.last(&bad.id).await.unwrap(), None);
    // Spoiled after it was seen missing.
    let missing = catalog.register("/w/missing").await;
    observe(&catalog, &missing, WorkspaceStatus::RootMissing).await;
    spoil(&catalog, &missing, "root_dir", "'nowhere'").await;
    let prune = Prune {
        host: host("h1"),
        missing_since: now.plus(Duration::from_secs(60)),
        limit: 10,
        apply: true,
    };
    let pruned = fresh(catalog.store.prune(prune, catalog.call()).await.unwrap()).value;
    assert_eq!(pruned.workspaces, []);
    assert!(catalog.find(&missing.id).await.is_some());
    let removed = catalog.store.remove(removal(&bad.id), catalog.call()).await;
    assert_eq!(fresh(removed.unwrap()).value.workspace.as_ref(), Some(bad));
    assert_eq!(catalog.find(&bad.id).await, None);
}

/// The others go on around them.
pub async fn w294_good_rows_are_served_beside_bad_ones<E: Engine>(catalog: Catalog<E>) {
    let (spoiled, good) = spoiled_rows(&catalog).await;
    let updated = catalog.store.update(retitle(&good.id, "x"), catalog.call()).await;
    assert_eq!(fresh(updated.unwrap()).value.title, "x");
    let new = catalog.register("/w/new").await;
    for bad in &spoiled {
        catalog.move_before(&good.id, Some(&bad.id)).await.unwrap();
        let rows = catalog.walk(catalog.page(WorkspaceOrder::Manual, 100)).await;
        let place = |id: &compozy_domain::WorkspaceId| rows.iter().position(|row| row.id == *id).unwrap();
        assert_eq!(place(&good.id) + 1, place(&bad.id));
    }
    catalog.move_before(&new.id, None).await.unwrap();
    assert_eq!(catalog.names().await.last().map(String::as_str), Some("new"));
}
