//! Promises about the manual order.

use compozy_domain::{CatalogError, ChangeKind, ChangeOp, ChangeReason, Visibility, WorkspaceId};

use super::engine::Engine;
use super::fixture::{Catalog, fresh, rejection};
use super::hooks;
use super::numbers::Seeded;
use crate::change_log::ChangeLog as _;
use crate::workspaces::{MoveBefore, Moved, WorkspaceStore as _};

pub async fn w201_only_the_moved_one_changes_its_place<E: Engine>(catalog: Catalog<E>) {
    let rows = catalog.register_in_order(&["/w/c", "/w/b", "/w/a"]).await;
    let [c, b, a] = [&rows[0].id, &rows[1].id, &rows[2].id];
    catalog.number_all().await;
    let stored = "SELECT * FROM workspace ORDER BY id";
    let before = hooks::rows(&catalog.store, stored).await.unwrap();
    let moving = MoveBefore {
        id: a.clone(),
        before: Some(b.clone()),
    };
    let written = fresh(catalog.store.move_before(moving, catalog.call()).await.unwrap());
    let expected = Moved {
        previous: Some(c.clone()),
        next: Some(b.clone()),
        moved: true,
    };
    assert_eq!(written.value, expected);
    assert_eq!(catalog.names().await, ["c", "a", "b"]);
    let after = hooks::rows(&catalog.store, stored).await.unwrap();
    let mut changed: Vec<String> = Vec::new();
    for (old, new) in before.iter().zip(&after) {
        let differing = old.iter().zip(new).filter(|(old, new)| old != new);
        changed.extend(differing.map(|_| old[0].clone()));
    }
    assert_eq!(changed, [a.to_string()], "one column of one row is written");
    assert_eq!(catalog.get(a).await.updated_at, rows[2].updated_at);
    assert_eq!(catalog.get(a).await.etag(), rows[2].etag());
    let entries = catalog.log_after(written.revision.position).await;
    assert_eq!(entries.len(), 1);
    let change = &entries[0].change;
    assert_eq!(
        (change.kind, change.op, change.reason),
        (
            ChangeKind::WorkspaceOrder,
            ChangeOp::Upserted,
            ChangeReason::Moved
        )
    );
    assert_eq!((change.workspace_id.as_ref(), change.version), (Some(a), 1));
}

pub async fn w202_without_an_anchor_it_goes_to_the_end<E: Engine>(catalog: Catalog<E>) {
    let rows = catalog.register_in_order(&["/w/c", "/w/b", "/w/a"]).await;
    let moved = catalog.move_before(&rows[0].id, None).await.unwrap();
    assert_eq!((moved.previous, moved.next), (Some(rows[2].id.clone()), None));
    assert_eq!(catalog.names().await, ["b", "a", "c"]);
}

pub async fn w203_a_move_to_where_it_is_writes_nothing<E: Engine>(catalog: Catalog<E>) {
    let rows = catalog.register_in_order(&["/w/c", "/w/b", "/w/a"]).await;
    let [c, b, a] = [&rows[0].id, &rows[1].id, &rows[2].id];
    let before = catalog.everything().await;
    let cases = [
        (b, Some(b), Some(c), Some(a)),
        (b, Some(a), Some(c), Some(a)),
        (a, None, Some(b), None),
        (c, Some(b), None, Some(b)),
    ];
    for (id, anchor, previous, next) in cases {
        let expected = Moved {
            previous: previous.cloned(),
            next: next.cloned(),
            moved: false,
        };
        assert_eq!(catalog.move_before(id, anchor).await.unwrap(), expected);
    }
    assert_eq!(catalog.everything().await, before);
}

pub async fn w204_the_id_is_looked_at_before_the_anchor<E: Engine>(catalog: Catalog<E>) {
    let a = catalog.register("/w/a").await.id;
    let unknown = WorkspaceId::parse("ws_0000000000000001").unwrap();
    let nowhere = WorkspaceId::parse("ws_0000000000000002").unwrap();
    let before = catalog.everything().await;
    let cases = [
        (&unknown, Some(&a), &unknown),
        (&a, Some(&nowhere), &nowhere),
        (&unknown, Some(&nowhere), &unknown),
        (&unknown, Some(&unknown), &unknown),
    ];
    for (id, anchor, named) in cases {
        let error = rejection(catalog.move_before(id, anchor).await);
        assert_eq!(
            error,
            CatalogError::WorkspaceNotFound {
                reference: named.to_string()
            }
        );
    }
    assert_eq!(catalog.everything().await, before);
}

/// Many moves, a third of them to one spot. On engines that sync every write there are fewer of them.
pub async fn w205_the_order_equals_that_of_a_model<E: Engine>(catalog: Catalog<E>) {
    let mut numbers = Seeded::new(205);
    let mut model: Vec<WorkspaceId> = Vec::new();
    let count = E::MOVES / 10;
    for number in 0..count {
        model.insert(0, catalog.register(&format!("/w/{number}")).await.id);
    }
    let spot = model[count / 2].clone();
    for round in 0..E::MOVES {
        let moving = model[numbers.below(count)].clone();
        let before = match round % 3 {
            0 => Some(spot.clone()),
            _ => model.get(numbers.below(count + 1)).cloned(),
        };
        catalog.move_before(&moving, before.as_ref()).await.unwrap();
        if before.as_ref() == Some(&moving) {
            continue;
        }
        model.retain(|id| *id != moving);
        let at = before.map_or(model.len(), |anchor| {
            model.iter().position(|id| *id == anchor).unwrap()
        });
        model.insert(at, moving);
    }
    let list = catalog.page(compozy_domain::workspace::WorkspaceOrder::Manual, 100);
    let rows = catalog.walk(list).await;
    let listed: Vec<&WorkspaceId> = rows.iter().map(|row| &row.id).collect();
    assert!(
        listed.iter().eq(&model.iter().collect::<Vec<_>>()),
        "the listed order differs"
    );
    assert!(
        rows.windows(2).all(|pair| pair[0].rank < pair[1].rank),
        "two rows compare equal"
    );
}

pub async fn neighbours_are_told_to_those_who_may_see_them<E: Engine>(catalog: Catalog<E>) {
    let rows = catalog.register_in_order(&["/w/c", "/w/b", "/w/a"]).await;
    let [c, b, a] = [&rows[0].id, &rows[1].id, &rows[2].id];
    let only = Visibility::Only(vec![a.clone(), b.clone()]);
    let moving = MoveBefore {
        id: a.clone(),
        before: Some(b.clone()),
    };
    let moved = fresh(
        catalog
            .store
            .move_before(moving, catalog.call_as(only.clone()))
            .await
            .unwrap(),
    );
    assert_eq!((moved.value.previous, moved.value.next), (None, Some(b.clone())));
    for (id, anchor) in [(c, Some(a)), (a, Some(c))] {
        let moving = MoveBefore {
            id: id.clone(),
            before: anchor.cloned(),
        };
        let error = rejection(
            catalog
                .store
                .move_before(moving, catalog.call_as(only.clone()))
                .await,
        );
        assert_eq!(
            error,
            CatalogError::WorkspaceNotFound {
                reference: c.to_string()
            }
        );
    }
}

/// The order is that of the catalog, whatever host its rows are of, and its head moves with it.
pub async fn rows_of_all_hosts_share_the_order<E: Engine>(catalog: Catalog<E>) {
    let here = catalog.register("/w/here").await;
    let mut register = catalog.new_at("/w/there");
    register.workspace.host_id = super::fixture::host("h2");
    let there = catalog.created(register).await;
    assert_eq!(catalog.names().await, ["there", "here"]);
    let before = catalog.log().await.len() as i64;
    catalog.move_before(&there.id, None).await.unwrap();
    assert_eq!(catalog.names().await, ["here", "there"]);
    catalog.number_all().await;
    assert_eq!(catalog.store.head().await.unwrap().head.position, before + 1);
    assert_eq!(catalog.get(&here.id).await, here);
}
