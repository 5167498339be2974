//! Promises about callers for whom only some workspaces exist.

use compozy_domain::workspace::WorkspaceOrder;
use compozy_domain::{CatalogError, Visibility, WorkspaceId};

use super::engine::Engine;
use super::fixture::{Catalog, fresh, host, names_of, rejection, removal};
use super::update::retitle;
use crate::workspaces::{ListWorkspaces, Registered, WorkspaceStore as _};

pub async fn w327_rows_and_totals_are_those_that_exist_for_the_caller<E: Engine>(catalog: Catalog<E>) {
    let mut ids: Vec<WorkspaceId> = Vec::new();
    for root in ["/w/a1", "/w/a2", "/w/b1", "/w/b2"] {
        ids.push(catalog.register(root).await.id);
    }
    let only = |ids: &[WorkspaceId], prefix: Option<&str>| ListWorkspaces {
        visibility: Visibility::Only(ids.to_vec()),
        filter: compozy_domain::workspace::WorkspaceFilter {
            name_prefix: prefix.map(str::to_owned),
            ..Default::default()
        },
        ..catalog.page(WorkspaceOrder::Name, 1)
    };
    let one = catalog.walk(only(&ids[..1], None)).await;
    assert_eq!(names_of(&one), ["a1"]);
    assert_eq!(catalog.walk(only(&ids[..1], Some("b"))).await, []);
    assert_eq!(
        names_of(&catalog.walk(only(&ids[1..3], None)).await),
        ["a2", "b1"]
    );
    assert_eq!(catalog.walk(only(&[], None)).await, []);
    let unknown = WorkspaceId::parse("ws_00000000000000aa").unwrap();
    assert_eq!(catalog.walk(only(&[unknown], None)).await, []);
}

/// Every write to a hidden workspace is refused in the very words for one that never was.
pub async fn w327_a_hidden_workspace_is_like_one_that_never_was<E: Engine>(catalog: Catalog<E>) {
    let visible = catalog.register("/w/a").await;
    let hidden = catalog.register("/w/b").await;
    let only = Visibility::Only(vec![visible.id.clone()]);
    let before = catalog.everything().await;
    let not_found = CatalogError::WorkspaceNotFound {
        reference: hidden.id.to_string(),
    };
    let store = &catalog.store;
    let update = store.update(retitle(&hidden.id, "x"), catalog.call_as(only.clone()));
    assert_eq!(rejection(update.await), not_found);
    let remove = store.remove(removal(&hidden.id), catalog.call_as(only.clone()));
    assert_eq!(rejection(remove.await), not_found);
    let relink = super::relink::relinking(&hidden.id, "/w/b", "/w/c");
    assert_eq!(
        rejection(store.relink(relink, catalog.call_as(only.clone())).await),
        not_found
    );
    let identity = super::identity::set(&hidden.id, &visible.durable_id);
    assert_eq!(
        rejection(
            store
                .set_durable_id(identity, catalog.call_as(only.clone()))
                .await
        ),
        not_found
    );
    assert_eq!(store.find(&hidden.id, &only).await.unwrap().0, None);
    assert_eq!(
        store.find_by_durable(&hidden.durable_id, &only).await.unwrap(),
        []
    );
    assert_eq!(store.find_by_name("b", &only).await.unwrap(), None);
    assert_eq!(catalog.everything().await, before);
}

/// Allowed to be missing, a hidden workspace is missing.
pub async fn removing_a_hidden_workspace_removes_nothing<E: Engine>(catalog: Catalog<E>) {
    let hidden = catalog.register("/w/b").await;
    let mut remove = removal(&hidden.id);
    remove.allow_missing = true;
    let call = catalog.call_as(Visibility::Only(Vec::new()));
    let removed = fresh(catalog.store.remove(remove, call).await.unwrap()).value;
    assert_eq!(removed.workspace, None);
    assert_eq!(catalog.find(&hidden.id).await, Some(hidden));
}

pub async fn shares_of_an_identity_are_those_that_exist_for_the_caller<E: Engine>(catalog: Catalog<E>) {
    let first = catalog.register("/w/a").await;
    let mut copies = Vec::new();
    for root in ["/w/b", "/w/c"] {
        let mut register = catalog.new_at(root);
        register.workspace.durable_id = first.durable_id.clone();
        copies.push(catalog.created(register).await);
    }
    let mut shares = vec![first.id.clone(), copies[0].id.clone()];
    shares.sort_unstable();
    assert_eq!(copies[1].shares_identity_with, shares, "ascending");
    let only = Visibility::Only(vec![first.id.clone(), copies[0].id.clone()]);
    let expected = vec![copies[0].id.clone()];
    let store = &catalog.store;
    let found = store.find(&first.id, &only).await.unwrap().0.unwrap();
    assert_eq!(found.shares_identity_with, expected);
    let all = store.find_by_durable(&first.durable_id, &only).await.unwrap();
    let mut ids = vec![first.id.clone(), copies[0].id.clone()];
    ids.sort_unstable();
    assert_eq!(all.into_iter().map(|row| row.id).collect::<Vec<_>>(), ids);
    let list = ListWorkspaces {
        visibility: only.clone(),
        ..catalog.page(WorkspaceOrder::Name, 10)
    };
    assert_eq!(catalog.read(&list).await.rows[0].shares_identity_with, expected);
    let update = retitle(&first.id, "x");
    let updated = fresh(store.update(update, catalog.call_as(only.clone())).await.unwrap()).value;
    assert_eq!(updated.shares_identity_with, expected);
    // Registering tells no more than reading, whether the root is new or not.
    for root in ["/w/a", "/w/d"] {
        let mut register = catalog.new_at(root);
        register.workspace.durable_id = first.durable_id.clone();
        let answer = store
            .register(register, catalog.call_as(only.clone()))
            .await
            .unwrap();
        let (Registered::Created(row) | Registered::Existing(row)) = fresh(answer).value;
        assert!(!row.shares_identity_with.contains(&copies[1].id), "{row:?}");
        assert!(row.shares_identity_with.contains(&copies[0].id), "{row:?}");
    }
}

pub async fn the_observer_and_discovery_see_every_row_of_their_host<E: Engine>(catalog: Catalog<E>) {
    let mut ids = Vec::new();
    for root in ["/w/a", "/w/b", "/w/c"] {
        ids.push(catalog.register(root).await.id);
    }
    let mut register = catalog.new_at("/w/elsewhere");
    register.workspace.host_id = host("h2");
    catalog.created(register).await;
    ids.sort_unstable();
    let first = catalog.store.of_host(&host("h1"), None, 2).await.unwrap();
    let rest = catalog
        .store
        .of_host(&host("h1"), Some(&first[1].id), 2)
        .await
        .unwrap();
    let seen: Vec<WorkspaceId> = first.into_iter().chain(rest).map(|row| row.id).collect();
    assert_eq!(seen, ids);
}

pub async fn roots_are_found_by_path_and_by_file<E: Engine>(catalog: Catalog<E>) {
    let a = catalog.register("/w/a").await;
    let b = catalog.register("/w/b").await;
    catalog.register("/w/c").await;
    let mut register = catalog.new_at("/w/elsewhere");
    register.workspace.host_id = host("h2");
    register.workspace.root_file = b.root_file;
    catalog.created(register).await;
    let here = host("h1");
    let paths: Vec<String> = ["/", "/w", "/w/a", "/w/elsewhere"].map(str::to_owned).to_vec();
    let found = catalog
        .store
        .find_by_roots(&here, &paths, &[b.root_file])
        .await
        .unwrap();
    let mut expected = vec![a.clone(), b.clone()];
    expected.sort_by(|left, right| left.id.cmp(&right.id));
    assert_eq!(found, expected);
    assert_eq!(
        catalog.store.find_by_roots(&here, &paths, &[]).await.unwrap(),
        [a]
    );
    assert_eq!(
        catalog
            .store
            .find_by_roots(&here, &[], &[b.root_file])
            .await
            .unwrap(),
        [b]
    );
    assert_eq!(catalog.store.find_by_roots(&here, &[], &[]).await.unwrap(), []);
}
