//! Promises about rows that are read by their ids: those of a batch, and page by page for a snapshot.

use compozy_domain::{Visibility, Workspace, WorkspaceId};

use super::engine::Engine;
use super::fixture::{Catalog, fresh, removal};
use super::update::retitle;
use crate::workspaces::WorkspaceStore as _;

/// Registers so many, ascending by id.
async fn rows<E: Engine>(catalog: &Catalog<E>, count: usize) -> Vec<Workspace> {
    let mut rows = Vec::with_capacity(count);
    for number in 0..count {
        rows.push(catalog.register(&format!("/w/{number}")).await);
    }
    rows.sort_by(|left, right| left.id.cmp(&right.id));
    rows
}

fn ids(rows: &[Workspace]) -> Vec<WorkspaceId> {
    rows.iter().map(|row| row.id.clone()).collect()
}

fn unknown() -> WorkspaceId {
    WorkspaceId::parse("ws_00000000000000aa").unwrap()
}

async fn all_of<E>(catalog: &Catalog<E>, asked: &[WorkspaceId], visibility: &Visibility) -> Vec<Workspace> {
    let mut found = catalog.store.find_all(asked, visibility).await.unwrap();
    found.sort_by(|left, right| left.id.cmp(&right.id));
    found
}

pub async fn the_rows_of_some_ids_are_those_that_exist_for_the_caller<E: Engine>(catalog: Catalog<E>) {
    let rows = rows(&catalog, 6).await;
    let every = Visibility::All;
    assert_eq!(all_of(&catalog, &ids(&rows), &every).await, rows);
    assert_eq!(all_of(&catalog, &[], &every).await, []);
    // Any number of ids, in any order, unknown and repeated ones among them.
    for count in 1..=6 {
        let mut asked = ids(&rows[..count]);
        asked.reverse();
        assert_eq!(all_of(&catalog, &asked, &every).await, rows[..count]);
        asked.extend([unknown(), rows[0].id.clone()]);
        assert_eq!(all_of(&catalog, &asked, &every).await, rows[..count]);
    }
    let only = Visibility::Only(vec![rows[1].id.clone(), rows[3].id.clone(), unknown()]);
    assert_eq!(all_of(&catalog, &ids(&rows[..3]), &only).await, rows[1..2]);
    assert_eq!(
        all_of(&catalog, &ids(&rows), &Visibility::Only(Vec::new())).await,
        []
    );
    catalog
        .store
        .remove(removal(&rows[0].id), catalog.call())
        .await
        .unwrap();
    assert_eq!(all_of(&catalog, &ids(&rows), &every).await, rows[1..]);
}

pub async fn rows_read_by_id_name_only_visible_shares<E: Engine>(catalog: Catalog<E>) {
    let first = catalog.register("/w/a").await;
    let mut copies = Vec::new();
    for root in ["/w/b", "/w/c"] {
        let mut register = catalog.new_at(root);
        register.workspace.durable_id = first.durable_id.clone();
        copies.push(catalog.created(register).await);
    }
    let only = Visibility::Only(vec![first.id.clone(), copies[0].id.clone()]);
    let asked = [first.id.clone(), copies[1].id.clone()];
    let found = catalog.store.find_all(&asked, &only).await.unwrap();
    let above = catalog.store.above(None, &asked, 10, &only).await.unwrap();
    for rows in [found, above] {
        assert_eq!(ids(&rows), asked[..1]);
        assert_eq!(rows[0].shares_identity_with, [copies[0].id.clone()]);
    }
}

/// Every row of a walk in pages of a few.
async fn walk<E>(
    catalog: &Catalog<E>,
    only: &[WorkspaceId],
    limit: u32,
    visibility: &Visibility,
) -> Vec<Workspace> {
    let mut all: Vec<Workspace> = Vec::new();
    loop {
        let after = all.last().map(|row| row.id.clone());
        let page = catalog
            .store
            .above(after.as_ref(), only, limit, visibility)
            .await
            .unwrap();
        assert!(page.len() <= limit as usize);
        if page.is_empty() {
            return all;
        }
        all.extend(page);
    }
}

pub async fn pages_above_an_id_meet_every_visible_row_once<E: Engine>(catalog: Catalog<E>) {
    let rows = rows(&catalog, 10).await;
    let every = Visibility::All;
    for limit in [1, 3, 10, 11] {
        assert_eq!(walk(&catalog, &[], limit, &every).await, rows, "limit {limit}");
    }
    let named = [rows[7].id.clone(), unknown(), rows[2].id.clone()];
    let expected = [rows[2].clone(), rows[7].clone()];
    assert_eq!(walk(&catalog, &named, 1, &every).await, expected);
    let only = Visibility::Only(vec![rows[7].id.clone(), rows[8].id.clone(), unknown()]);
    assert_eq!(walk(&catalog, &[], 1, &only).await, rows[7..9]);
    assert_eq!(walk(&catalog, &named, 1, &only).await, rows[7..8]);
    assert_eq!(walk(&catalog, &[], 10, &Visibility::Only(Vec::new())).await, []);
    // From an id that has no row, and from the last one.
    let between = catalog
        .store
        .above(Some(&rows[4].id), &[], 2, &every)
        .await
        .unwrap();
    assert_eq!(between, rows[5..7]);
    catalog.remove(&rows[4].id).await.unwrap();
    let between = catalog
        .store
        .above(Some(&rows[4].id), &[], 2, &every)
        .await
        .unwrap();
    assert_eq!(between, rows[5..7]);
    assert_eq!(
        catalog
            .store
            .above(Some(&rows[9].id), &[], 2, &every)
            .await
            .unwrap(),
        []
    );
}

/// A row that changes between two pages is met as it is then, however it moved in every other order; one that goes is
/// not met, and one that comes above is.
pub async fn a_page_above_an_id_shows_rows_as_they_are_then<E: Engine>(catalog: Catalog<E>) {
    let rows = rows(&catalog, 6).await;
    let every = Visibility::All;
    let first = catalog.store.above(None, &[], 3, &every).await.unwrap();
    assert_eq!(first, rows[..3]);
    let changed = catalog
        .store
        .update(retitle(&rows[4].id, "new"), catalog.call())
        .await;
    let changed = fresh(changed.unwrap()).value;
    catalog.move_before(&rows[3].id, None).await.unwrap();
    catalog
        .store
        .update(retitle(&rows[0].id, "seen"), catalog.call())
        .await
        .unwrap();
    catalog.remove(&rows[5].id).await.unwrap();
    let rest = catalog
        .store
        .above(Some(&rows[2].id), &[], 10, &every)
        .await
        .unwrap();
    assert_eq!(ids(&rest), ids(&rows[3..5]));
    assert_eq!(rest[1], changed);
}
