//! Promises about a catalog that is closed and opened again. Not for memory, which ends with its process.

use compozy_domain::workspace::WorkspaceOrder;

use super::engine::Engine;
use super::fixture::Catalog;
use super::intents::{abandoned, creating};
use super::profile_pages::{page, walk};
use super::profile_selections::select;
use super::profiles::created;
use super::request_ids::remembered;
use super::requests::Request;
use crate::catalog::CatalogStore as _;
use crate::change_log::ChangeLog as _;
use crate::intents::IntentStore as _;
use crate::profiles::ProfileStore as _;
use crate::workspaces::WorkspaceStore as _;

const ORDERS: [WorkspaceOrder; 4] = [
    WorkspaceOrder::Manual,
    WorkspaceOrder::Name,
    WorkspaceOrder::Created,
    WorkspaceOrder::Updated,
];

pub async fn w202_w218_every_order_is_the_same_after_a_restart<E: Engine>(catalog: Catalog<E>) {
    let rows = catalog
        .register_in_order(&["/w/c", "/w/B2", "/w/b", "/w/a"])
        .await;
    catalog.move_before(&rows[0].id, None).await.unwrap();
    catalog.move_before(&rows[3].id, Some(&rows[2].id)).await.unwrap();
    let mut before = Vec::new();
    for order in ORDERS {
        before.push(catalog.walk(catalog.page(order, 2)).await);
    }
    let names = catalog.names().await;
    assert_eq!(names, ["B2", "a", "b", "c"]);
    let catalog = catalog.reopened().await;
    for (order, before) in ORDERS.into_iter().zip(before) {
        assert_eq!(catalog.walk(catalog.page(order, 2)).await, before);
    }
    catalog.register("/w/new").await;
    assert_eq!(catalog.names().await, ["new", "B2", "a", "b", "c"]);
    catalog.store.close().await;
}

pub async fn w289_a_failed_move_leaves_the_order_after_a_restart<E: Engine>(catalog: Catalog<E>) {
    let rows = catalog.register_in_order(&["/w/c", "/w/b", "/w/a"]).await;
    let before = catalog.everything().await;
    catalog.store.fail_commits(true);
    assert!(catalog.move_before(&rows[2].id, Some(&rows[0].id)).await.is_err());
    let catalog = catalog.reopened().await;
    assert_eq!(catalog.everything().await, before);
    assert_eq!(catalog.names().await, ["c", "b", "a"]);
    catalog.store.close().await;
}

pub async fn a_catalog_keeps_its_identity<E: Engine>(catalog: Catalog<E>) {
    let id = catalog.store.catalog_id().clone();
    catalog.store.rotate_key([9; 32], catalog.tick()).await.unwrap();
    let keys = catalog.store.keys().await.unwrap();
    assert!(catalog.store.claim_first_start().await.unwrap());
    catalog.register("/w/a").await;
    catalog.number_all().await;
    let head = catalog.store.head().await.unwrap();
    let catalog = catalog.reopened().await;
    assert_eq!(*catalog.store.catalog_id(), id);
    assert_eq!(catalog.store.keys().await.unwrap(), keys);
    assert!(!catalog.store.claim_first_start().await.unwrap());
    assert_eq!(catalog.store.head().await.unwrap(), head);
    catalog.store.close().await;
}

/// Entries that had no position yet get theirs, behind those that had one.
pub async fn the_log_goes_on_where_it_stood<E: Engine>(catalog: Catalog<E>) {
    catalog.register("/w/a").await;
    let first = catalog.log().await;
    catalog.register("/w/b").await;
    let catalog = catalog.reopened().await;
    catalog.register("/w/c").await;
    let log = catalog.log().await;
    super::change_log::assert_dense(&log);
    assert_eq!((log.len(), &log[..1]), (3, &first[..]));
    catalog.store.close().await;
}

pub async fn answers_and_intents_outlive_the_process<E: Engine>(catalog: Catalog<E>) {
    let request = Request::new("Register");
    let call = catalog.call_once(&request);
    let first = catalog
        .store
        .register(catalog.new_at("/w/a"), call)
        .await
        .unwrap();
    let intent = creating("i1", super::fixture::HOST, "owner-1", "/w/b");
    catalog.store.begin_intent(&intent, catalog.tick()).await.unwrap();
    let catalog = catalog.reopened().await;
    let call = catalog.call_once(&request);
    let again = catalog
        .store
        .register(catalog.new_at("/w/a"), call)
        .await
        .unwrap();
    let first = format!("{:?}", super::fixture::fresh(first)).into_bytes();
    assert_eq!(remembered(again), first);
    assert_eq!(abandoned(&catalog, "owner-2").await, [intent]);
    catalog.store.close().await;
}

pub async fn profiles_and_selections_outlive_the_process<E: Engine>(catalog: Catalog<E>) {
    let a = catalog.register("/w/a").await.id;
    let p = created(&catalog, "p").await;
    created(&catalog, "q").await;
    select(&catalog, Some(&a), Some(&p.id)).await.unwrap();
    let before = walk(&catalog, page(10)).await;
    let catalog = catalog.reopened().await;
    assert_eq!(walk(&catalog, page(10)).await, before);
    let selections = catalog.store.selections(Some(&a)).await.unwrap();
    assert_eq!((selections.workspace, selections.global), (Some(p), None));
    catalog.store.close().await;
}
