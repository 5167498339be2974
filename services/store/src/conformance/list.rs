//! Promises about counted pages.

use compozy_domain::workspace::WorkspaceOrder;
use compozy_domain::{Page, Timestamp, Workspace};

use super::engine::Engine;
use super::fixture::{Catalog, names_of};
use crate::change_log::ChangeLog as _;
use crate::error::Error;
use crate::workspaces::{ListWorkspaces, WorkspaceStore as _};

async fn register_many<E>(catalog: &Catalog<E>, count: usize) -> Vec<Workspace> {
    let mut rows = Vec::with_capacity(count);
    for number in 0..count {
        rows.push(catalog.register(&format!("/w/{number:04}")).await);
    }
    rows.reverse();
    rows
}

/// The page behind this one.
fn next_page(list: &ListWorkspaces, page: &Page<Workspace>) -> ListWorkspaces {
    ListWorkspaces {
        after: page.rows.last().map(|row| row.place(list.order)),
        ..list.clone()
    }
}

pub async fn w207_an_empty_catalog_is_one_empty_page<E: Engine>(catalog: Catalog<E>) {
    for order in ORDERS {
        let page = catalog.read(&catalog.page(order, 0)).await;
        assert_eq!((page.rows, page.total, page.has_more), (Vec::new(), 0, false));
        assert_eq!(page.revision, catalog.store.head().await.unwrap().head);
        assert_eq!(page.revision.position, 0);
        assert!(!page.revision.epoch.is_empty());
    }
}

const ORDERS: [WorkspaceOrder; 4] = [
    WorkspaceOrder::Manual,
    WorkspaceOrder::Name,
    WorkspaceOrder::Created,
    WorkspaceOrder::Updated,
];

pub async fn w209_w210_pages_end_where_the_rows_end<E: Engine>(catalog: Catalog<E>) {
    let rows = register_many(&catalog, 200).await;
    for order in ORDERS {
        let first = catalog.page(order, 100);
        let page = catalog.read(&first).await;
        assert_eq!((page.rows.len(), page.total, page.has_more), (100, 200, true));
        let last = catalog.read(&next_page(&first, &page)).await;
        assert_eq!((last.rows.len(), last.total, last.has_more), (100, 200, false));
        let beyond = catalog.read(&next_page(&first, &last)).await;
        assert_eq!(
            (beyond.rows.len(), beyond.total, beyond.has_more),
            (0, 200, false)
        );
    }
    for number in 200..205 {
        catalog.register(&format!("/w/{number:04}")).await;
    }
    for order in ORDERS {
        for limit in [100, 7] {
            let all = catalog.walk(catalog.page(order, limit)).await;
            let mut ids: Vec<_> = all.iter().map(|row| &row.id).collect();
            ids.sort_unstable();
            ids.dedup();
            assert_eq!(ids.len(), 205);
            assert!(rows.iter().all(|row| ids.contains(&&row.id)));
        }
    }
}

pub async fn w211_w233_a_removed_last_row_does_not_stop_the_walk<E: Engine>(catalog: Catalog<E>) {
    let rows = register_many(&catalog, 205).await;
    for order in [
        WorkspaceOrder::Manual,
        WorkspaceOrder::Created,
        WorkspaceOrder::Updated,
    ] {
        let list = catalog.page(order, 100);
        let first = catalog.read(&list).await;
        let removed = first.rows.last().unwrap();
        let followed_by = catalog.read(&next_page(&list, &first)).await;
        catalog.remove(&removed.id).await.unwrap();
        assert_eq!(catalog.find(&removed.id).await, None);
        let second = catalog.read(&next_page(&list, &first)).await;
        assert_eq!(second.rows, followed_by.rows);
        assert_eq!(second.total, first.total - 1);
    }
    assert_eq!(rows.len(), 205);
}

pub async fn w212_an_unseen_row_that_moves_to_the_front_is_skipped_and_no_other<E: Engine>(
    catalog: Catalog<E>,
) {
    let rows = register_many(&catalog, 25).await;
    let list = catalog.page(WorkspaceOrder::Manual, 10);
    let first = catalog.read(&list).await;
    catalog
        .move_before(&rows[20].id, Some(&rows[0].id))
        .await
        .unwrap();
    let mut seen = names_of(&first.rows);
    let mut page = first;
    while page.has_more {
        page = catalog.read(&next_page(&list, &page)).await;
        seen.extend(names_of(&page.rows));
    }
    let mut expected = rows;
    expected.remove(20);
    assert_eq!(seen, names_of(&expected));
}

/// A seen row that moves behind the place comes again only because it now lies there; nobody else does.
pub async fn a_seen_row_that_moves_to_the_end_changes_nothing_for_the_others<E: Engine>(catalog: Catalog<E>) {
    let rows = register_many(&catalog, 25).await;
    let list = catalog.page(WorkspaceOrder::Manual, 10);
    let first = catalog.read(&list).await;
    // The last row seen, by whose value the walk goes on.
    catalog.move_before(&rows[9].id, None).await.unwrap();
    let second = catalog.read(&next_page(&list, &first)).await;
    assert_eq!(names_of(&second.rows), names_of(&rows[10..20]));
}

pub async fn w218_names_are_ordered_by_their_keys<E: Engine>(catalog: Catalog<E>) {
    for given in ["b", "B2", "a", "Ä", "z", "_", "Z-1", "a b", "a.b", "日本"] {
        catalog
            .created(catalog.new_named(&format!("/w/{given}"), given))
            .await;
    }
    let names = catalog.names_by(WorkspaceOrder::Name).await;
    assert_eq!(
        names,
        ["_", "a", "a b", "a.b", "b", "B2", "z", "Z-1", "Ä", "日本"]
    );
    let paged = catalog.walk(catalog.page(WorkspaceOrder::Name, 1)).await;
    assert_eq!(names_of(&paged), names);
}

/// Rows made and changed at one instant; their paths differ in case and length, and two by host only.
pub async fn w219_equal_times_are_ordered_by_path_then_id<E: Engine>(catalog: Catalog<E>) {
    let at = Timestamp::from_nanos(1_800_000_000_000_000_007);
    let roots = [
        "/w/b", "/w/B", "/w/a-b", "/w/a/b", "/w/a", "/w/é", "/w/a b", "/w/_",
    ];
    let mut expected: Vec<(String, String)> = Vec::new();
    for root in roots {
        for host in ["h1", "h2"] {
            let mut register = catalog.new_at(root);
            register.workspace.host_id = super::fixture::host(host);
            register.workspace.at = at;
            let id = catalog.created(register).await.id;
            expected.push((root.to_owned(), id.to_string()));
        }
    }
    expected.sort_unstable();
    for order in [WorkspaceOrder::Created, WorkspaceOrder::Updated] {
        for limit in [1, 3, 100] {
            let rows = catalog.walk(catalog.page(order, limit)).await;
            let listed: Vec<(String, String)> = rows
                .into_iter()
                .map(|row| (row.root_dir, row.id.to_string()))
                .collect();
            assert_eq!(listed, expected);
        }
    }
}

pub async fn equal_ranks_are_ordered_by_path_then_id<E: Engine>(catalog: Catalog<E>) {
    let rows = catalog.register_in_order(&["/w/a", "/w/B", "/w/c", "/w/_"]).await;
    let same = "UPDATE workspace SET rank = (SELECT MIN(o.rank) FROM workspace o)";
    let same_on_postgres = "UPDATE workspace SET rank = '\\x8000'";
    if super::hooks::execute(&catalog.store, same).await.is_err() {
        // Older servers have no least value of bytes.
        super::hooks::execute(&catalog.store, same_on_postgres)
            .await
            .unwrap();
    }
    assert_eq!(catalog.names().await, ["B", "_", "a", "c"]);
    let paged = catalog.walk(catalog.page(WorkspaceOrder::Manual, 1)).await;
    assert_eq!(names_of(&paged), ["B", "_", "a", "c"]);
    // A move sees the same order, and finds a place all the same.
    catalog.move_before(&rows[2].id, Some(&rows[0].id)).await.unwrap();
    assert_eq!(catalog.names().await, ["B", "_", "c", "a"]);
}

pub async fn the_latest_registration_and_change_come_first<E: Engine>(catalog: Catalog<E>) {
    let mut rows = Vec::new();
    for root in ["/w/a", "/w/b", "/w/c"] {
        rows.push(catalog.register(root).await);
    }
    let update = super::update::retitle(&rows[1].id, "changed");
    catalog.store.update(update, catalog.call()).await.unwrap();
    catalog.move_before(&rows[0].id, None).await.unwrap();
    assert_eq!(catalog.names_by(WorkspaceOrder::Created).await, ["c", "b", "a"]);
    assert_eq!(catalog.names_by(WorkspaceOrder::Updated).await, ["b", "c", "a"]);
}

pub async fn a_place_of_another_order_is_a_defect<E: Engine>(catalog: Catalog<E>) {
    let row = catalog.register("/w/a").await;
    let mut list = catalog.page(WorkspaceOrder::Name, 10);
    list.after = Some(row.place(WorkspaceOrder::Created));
    let outcome = catalog.store.list(&list).await;
    assert!(matches!(outcome, Err(Error::Defect(_))), "{outcome:?}");
}
