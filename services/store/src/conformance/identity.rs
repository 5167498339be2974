//! Promises about giving a record another durable id.

use compozy_domain::{ChangeReason, DurableId, Visibility, WorkspaceId};

use super::engine::Engine;
use super::fixture::{Catalog, HOST, fresh};
use super::numbers::Numbers;
use crate::intents::IntentStore as _;
use crate::workspaces::{SetDurableId, WorkspaceStore as _};

/// A new durable id without an intent.
pub(crate) fn set(id: &WorkspaceId, durable_id: &DurableId) -> SetDurableId {
    SetDurableId {
        id: id.clone(),
        durable_id: durable_id.clone(),
        intent: None,
    }
}

pub async fn a_new_durable_id_is_a_new_state<E: Engine>(catalog: Catalog<E>) {
    let first = catalog.register("/w/a").await;
    let second = catalog.register("/w/b").await;
    catalog.number_all().await;
    let intent = super::intents::creating("i1", HOST, "owner-1", "/w/b");
    catalog.store.begin_intent(&intent, catalog.tick()).await.unwrap();
    let mut set = set(&second.id, &first.durable_id);
    set.intent = Some(intent.id);
    let call = catalog.call();
    let written = fresh(catalog.store.set_durable_id(set, call).await.unwrap());
    let after = written.value;
    assert_eq!(after.durable_id, first.durable_id);
    assert_eq!(after.shares_identity_with, std::slice::from_ref(&first.id));
    assert_eq!(after.version, second.version + 1);
    assert_ne!(after.etag(), second.etag());
    assert_eq!(catalog.get(&second.id).await, after);
    let both = catalog
        .store
        .find_by_durable(&first.durable_id, &Visibility::All)
        .await
        .unwrap();
    assert_eq!(both.len(), 2);
    let entries = catalog.log_after(written.revision.position).await;
    assert_eq!(entries.len(), 1);
    assert_eq!(entries[0].change.reason, ChangeReason::Identity);
    assert_eq!(super::intents::abandoned(&catalog, "owner-2").await, []);
}

pub async fn the_same_durable_id_only_ends_the_intent<E: Engine>(catalog: Catalog<E>) {
    let workspace = catalog.register("/w/a").await;
    let before = catalog.everything().await;
    let intent = super::intents::creating("i1", HOST, "owner-1", "/w/a");
    catalog.store.begin_intent(&intent, catalog.tick()).await.unwrap();
    let mut same = set(&workspace.id, &workspace.durable_id);
    same.intent = Some(intent.id);
    let answer = fresh(catalog.store.set_durable_id(same, catalog.call()).await.unwrap());
    assert_eq!(answer.value, workspace);
    assert_eq!(catalog.everything().await, before);
}

pub async fn an_unknown_workspace_gets_no_durable_id<E: Engine>(catalog: Catalog<E>) {
    let unknown = WorkspaceId::parse("ws_0000000000000000").unwrap();
    let durable_id = DurableId::generate(catalog.tick(), &Numbers).unwrap();
    let outcome = catalog
        .store
        .set_durable_id(set(&unknown, &durable_id), catalog.call())
        .await;
    let error = super::fixture::rejection(outcome);
    assert_eq!(error.reason(), compozy_domain::Reason::WorkspaceNotFound);
}
