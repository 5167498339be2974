//! Promises about a total that is carried from page to page instead of being counted again.

use compozy_domain::WorkspaceStatus;
use compozy_domain::workspace::WorkspaceOrder;

use super::engine::Engine;
use super::fixture::Catalog;
use super::observations::observe;

/// A number that no count gives, so that it shows whether it was carried.
const CARRIED: u64 = 4_711;

pub async fn a_total_is_carried_while_nothing_changes<E: Engine>(catalog: Catalog<E>) {
    for root in ["/w/a", "/w/b", "/w/c"] {
        catalog.register(root).await;
    }
    catalog.number_all().await;
    let mut list = catalog.page(WorkspaceOrder::Manual, 1);
    let first = catalog.read(&list).await;
    assert_eq!(first.total, 3);
    list.counted = Some((first.revision.clone(), CARRIED));
    let second = catalog.read(&list).await;
    assert_eq!((second.total, second.revision), (CARRIED, first.revision));
}

pub async fn a_total_is_counted_again_after_a_change<E: Engine>(catalog: Catalog<E>) {
    catalog.register("/w/a").await;
    catalog.number_all().await;
    let mut list = catalog.page(WorkspaceOrder::Manual, 1);
    let revision = catalog.read(&list).await.revision;
    list.counted = Some((revision, CARRIED));
    // Committed, and on Postgres without a position yet.
    catalog.register("/w/b").await;
    assert_eq!(catalog.read(&list).await.total, 2);
    catalog.number_all().await;
    assert_eq!(catalog.read(&list).await.total, 2);
}

pub async fn a_total_of_another_epoch_is_counted_again<E: Engine>(catalog: Catalog<E>) {
    catalog.register("/w/a").await;
    catalog.number_all().await;
    let mut list = catalog.page(WorkspaceOrder::Manual, 1);
    let mut revision = catalog.read(&list).await.revision;
    revision.epoch.push('x');
    list.counted = Some((revision, CARRIED));
    assert_eq!(catalog.read(&list).await.total, 1);
}

/// The first look at a root that is fine changes what a filter by status holds, without an entry in the log.
pub async fn a_total_of_a_status_is_always_counted<E: Engine>(catalog: Catalog<E>) {
    let seen = catalog.register("/w/seen").await;
    catalog.register("/w/unseen").await;
    catalog.number_all().await;
    let mut unseen = catalog.page(WorkspaceOrder::Manual, 1);
    unseen.filter.not_observed = true;
    let mut fine = catalog.page(WorkspaceOrder::Manual, 1);
    fine.filter.statuses = vec![WorkspaceStatus::Ok];
    for list in [&mut unseen, &mut fine] {
        let page = catalog.read(list).await;
        list.counted = Some((page.revision, page.total));
    }
    observe(&catalog, &seen, WorkspaceStatus::Ok).await;
    assert_eq!(catalog.read(&unseen).await.total, 1);
    assert_eq!(catalog.read(&fine).await.total, 1);
}
