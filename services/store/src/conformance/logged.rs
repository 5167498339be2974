//! Promises about what is logged: one entry for each operation on a record, none for what changes nothing.

use compozy_domain::error::Reason;
use compozy_domain::workspace::{WorkspaceOrder, WorkspaceUpdate};
use compozy_domain::{
    ChangeKind, ChangeOp, ChangeReason, Etag, NewChange, Timestamp, Visibility, Workspace, WorkspaceId,
    WorkspaceStatus,
};

use super::engine::Engine;
use super::fixture::{Catalog, HOST, host, rejection, removal};
use super::observations::{observe, seen};
use super::requests::Request;
use super::update::{rename, retitle, update};
use crate::catalog::CatalogStore as _;
use crate::change_log::ChangeLog as _;
use crate::intents::IntentStore as _;
use crate::observations::ObservationStore as _;
use crate::workspaces::{MoveBefore, Prune, Remove, WorkspaceStore as _};

/// What an entry is about, without its instant.
type Told = (ChangeKind, ChangeOp, ChangeReason, Option<WorkspaceId>, i64);

async fn told_after<E>(catalog: &Catalog<E>, position: usize) -> Vec<Told> {
    let entries = catalog.log_after(position as i64).await;
    entries
        .into_iter()
        .map(|entry| entry.change)
        .map(|change| {
            let NewChange { kind, op, reason, .. } = change;
            (kind, op, reason, change.workspace_id, change.version)
        })
        .collect()
}

async fn length<E>(catalog: &Catalog<E>) -> usize {
    catalog.log().await.len()
}

pub async fn n006_each_operation_appends_one_entry_with_its_reason<E: Engine>(catalog: Catalog<E>) {
    let store = &catalog.store;
    let row = catalog.register("/w/a").await;
    store
        .update(retitle(&row.id, "new"), catalog.call())
        .await
        .unwrap();
    let relink = super::relink::relinking(&row.id, "/w/a", "/w/b");
    store.relink(relink, catalog.call()).await.unwrap();
    catalog.remove(&row.id).await.unwrap();
    let expected = [
        (ChangeOp::Upserted, ChangeReason::Created),
        (ChangeOp::Upserted, ChangeReason::Updated),
        (ChangeOp::Upserted, ChangeReason::Relinked),
        (ChangeOp::Deleted, ChangeReason::RemovedSessionsKept),
    ];
    let told = told_after(&catalog, 0).await;
    assert_eq!(told.len(), expected.len());
    for (number, ((op, reason), told)) in expected.into_iter().zip(told).enumerate() {
        let version = number as i64 + 1;
        assert_eq!(
            told,
            (ChangeKind::Workspace, op, reason, Some(row.id.clone()), version)
        );
    }
}

/// The half of N007 that is about workspaces.
pub async fn n007_a_move_appends_one_entry_of_the_order<E: Engine>(catalog: Catalog<E>) {
    let rows = catalog.register_in_order(&["/w/a", "/w/b", "/w/c"]).await;
    let before = length(&catalog).await;
    catalog.move_before(&rows[2].id, Some(&rows[0].id)).await.unwrap();
    let expected = (
        ChangeKind::WorkspaceOrder,
        ChangeOp::Upserted,
        ChangeReason::Moved,
        Some(rows[2].id.clone()),
        1,
    );
    assert_eq!(told_after(&catalog, before).await, [expected]);
}

/// A removal stands for all sessions of its workspace, and says what became of them.
pub async fn a_removal_appends_one_entry_that_says_what_became_of_sessions<E: Engine>(catalog: Catalog<E>) {
    for (delete_sessions, reason) in [
        (false, ChangeReason::RemovedSessionsKept),
        (true, ChangeReason::RemovedSessionsDeleted),
    ] {
        let row = catalog.register("/w/a").await;
        let before = length(&catalog).await;
        let remove = Remove {
            delete_sessions,
            ..removal(&row.id)
        };
        catalog.store.remove(remove, catalog.call()).await.unwrap();
        let expected = (ChangeKind::Workspace, ChangeOp::Deleted, reason, Some(row.id), 2);
        assert_eq!(told_after(&catalog, before).await, [expected]);
    }
}

/// The half of N011 that is about workspaces.
pub async fn n011_what_changes_nothing_appends_nothing<E: Engine>(catalog: Catalog<E>) {
    let rows = catalog.register_in_order(&["/w/a", "/w/b"]).await;
    let [a, b] = [&rows[0], &rows[1]];
    let before = length(&catalog).await;
    let store = &catalog.store;
    store
        .update(retitle(&a.id, &a.title), catalog.call())
        .await
        .unwrap();
    store
        .update(rename(&a.id, a.name.as_str()), catalog.call())
        .await
        .unwrap();
    store
        .update(update(&a.id, WorkspaceUpdate::default()), catalog.call())
        .await
        .unwrap();
    catalog.move_before(&a.id, Some(&b.id)).await.unwrap();
    catalog.move_before(&b.id, None).await.unwrap();
    let relink = super::relink::relinking(&a.id, "/w/a", "/w/a");
    store.relink(relink, catalog.call()).await.unwrap();
    let identity = super::identity::set(&a.id, &a.durable_id);
    store.set_durable_id(identity, catalog.call()).await.unwrap();
    let mut gone = removal(&WorkspaceId::parse("ws_00000000000000aa").unwrap());
    gone.allow_missing = true;
    store.remove(gone, catalog.call()).await.unwrap();
    observe(&catalog, a, WorkspaceStatus::Ok).await;
    assert_eq!(length(&catalog).await, before);
}

/// Each call that a rule of the store refuses; what is refused before it comes to the store appends nothing anyway.
pub async fn n012_a_refused_call_appends_nothing<E: Engine>(catalog: Catalog<E>) {
    let rows = catalog.register_in_order(&["/w/a", "/w/b"]).await;
    let [a, b] = [&rows[0], &rows[1]];
    let unknown = WorkspaceId::parse("ws_00000000000000aa").unwrap();
    let stale = Some(Etag::from_stored("another".into()));
    let request = Request::new("Register");
    let first = catalog.call_once(&request);
    catalog
        .store
        .register(catalog.new_at("/w/c"), first)
        .await
        .unwrap();
    let before = (length(&catalog).await, catalog.everything().await);
    let store = &catalog.store;

    let mut reasons = Vec::new();
    let taken = catalog.new_named("/w/d", "a");
    reasons.push(rejection(store.register(taken, catalog.call()).await).reason());
    let reused = catalog.call_once(&request.asking(9));
    reasons.push(rejection(store.register(catalog.new_at("/w/d"), reused).await).reason());
    reasons.push(rejection(store.update(rename(&a.id, "b"), catalog.call()).await).reason());
    reasons.push(rejection(store.update(retitle(&unknown, "x"), catalog.call()).await).reason());
    let mut late = retitle(&a.id, "x");
    late.etag = stale.clone();
    reasons.push(rejection(store.update(late, catalog.call()).await).reason());
    let relink = super::relink::relinking(&a.id, "/w/a", "/w/b");
    reasons.push(rejection(store.relink(relink, catalog.call()).await).reason());
    reasons.push(rejection(catalog.remove(&unknown).await).reason());
    let late = Remove {
        etag: stale,
        ..removal(&a.id)
    };
    reasons.push(rejection(store.remove(late, catalog.call()).await).reason());
    for (id, before) in [(&unknown, None), (&a.id, Some(&unknown))] {
        reasons.push(rejection(catalog.move_before(id, before).await).reason());
    }
    let hidden = catalog.call_as(Visibility::Only(vec![b.id.clone()]));
    reasons.push(rejection(store.update(retitle(&a.id, "x"), hidden).await).reason());

    let expected = [
        Reason::WorkspaceNameConflict,
        Reason::RequestIdReused,
        Reason::WorkspaceNameConflict,
        Reason::WorkspaceNotFound,
        Reason::EtagMismatch,
        Reason::WorkspacePathConflict,
        Reason::WorkspaceNotFound,
        Reason::EtagMismatch,
        Reason::WorkspaceNotFound,
        Reason::WorkspaceNotFound,
        Reason::WorkspaceNotFound,
    ];
    assert_eq!(reasons, expected);
    assert_eq!((length(&catalog).await, catalog.everything().await), before);
}

pub async fn n013_reading_appends_nothing<E: Engine>(catalog: Catalog<E>) {
    let row = catalog.register("/w/a").await;
    let before = (length(&catalog).await, catalog.everything().await);
    for _ in 0..100 {
        read_everything(&catalog, &row).await;
    }
    assert_eq!((length(&catalog).await, catalog.everything().await), before);
}

/// Each reading method of every trait.
async fn read_everything<E>(catalog: &Catalog<E>, row: &Workspace) {
    let (store, all, here) = (&catalog.store, Visibility::All, host(HOST));
    store.find(&row.id, &all).await.unwrap();
    store.find_by_name(row.name.key(), &all).await.unwrap();
    store.find_by_durable(&row.durable_id, &all).await.unwrap();
    let (paths, files) = ([row.root_dir.clone()], [row.root_file]);
    store.find_by_roots(&here, &paths, &files).await.unwrap();
    store.of_host(&here, None, 10).await.unwrap();
    store.find_all(std::slice::from_ref(&row.id), &all).await.unwrap();
    store.above(None, &[], 10, &all).await.unwrap();
    store
        .list(&catalog.page(WorkspaceOrder::Manual, 10))
        .await
        .unwrap();
    store.intents_at(&here, &row.root_dir).await.unwrap();
    store
        .abandoned_intents(&here, "nobody", row.created_at)
        .await
        .unwrap();
    store.last(&row.id).await.unwrap();
    store.head().await.unwrap();
    store.read_after(0, 10).await.unwrap();
    store.keys().await.unwrap();
    store.newest_at().await.unwrap();
    store.check().await.unwrap();
    store.examine().await.unwrap();
    let request = Request::new("Register");
    let answer = store.find_answer(
        request.principal,
        request.method,
        &request.id,
        &request.hash,
        row.created_at,
    );
    answer.await.unwrap();
    let tried = Prune {
        host: here,
        missing_since: row.created_at,
        limit: 10,
        apply: false,
    };
    store.prune(tried, catalog.call()).await.unwrap();
}

pub async fn n017_a_status_is_told_when_it_changes<E: Engine>(catalog: Catalog<E>) {
    let row = catalog.register("/w/a").await;
    observe(&catalog, &row, WorkspaceStatus::Ok).await;
    let mut position = length(&catalog).await;
    let mut looks = vec![(WorkspaceStatus::RootMissing, 1)];
    looks.extend([(WorkspaceStatus::RootMissing, 0); 10]);
    looks.push((WorkspaceStatus::Ok, 1));
    for (status, entries) in looks {
        observe(&catalog, &row, status).await;
        let told = told_after(&catalog, position).await;
        assert_eq!(told.len(), entries, "{status:?}");
        for (kind, op, reason, id, _) in &told {
            assert_eq!(
                (*kind, *op, *reason, id.as_ref()),
                (
                    ChangeKind::Workspace,
                    ChangeOp::Upserted,
                    ChangeReason::Status,
                    Some(&row.id)
                )
            );
        }
        position += entries;
        let now = catalog.get(&row.id).await;
        assert_eq!((now.etag(), now.updated_at), (row.etag(), row.updated_at));
    }
}

/// For N018: of two processes that observe one catalog. Stamped where several can have it open.
pub(crate) async fn both_see_it_missing<E: Engine>(catalog: &Catalog<E>, other: &Catalog<E>) -> usize {
    let row = catalog.register("/w/a").await;
    let before = length(catalog).await;
    let look = [seen(&row, WorkspaceStatus::RootMissing)];
    let (first, second) = (catalog.tick(), catalog.tick());
    let (here, there) = futures::join!(
        catalog.store.record(&look, first),
        other.store.record(&look, second)
    );
    here.unwrap();
    there.unwrap();
    length(catalog).await - before
}

pub async fn n020_a_rename_that_fails_at_its_commit_leaves_the_old_name<E: Engine>(catalog: Catalog<E>) {
    let row = catalog.register("/w/a").await;
    let before = length(&catalog).await;
    catalog.store.fail_commits(true);
    let outcome = catalog.store.update(rename(&row.id, "b"), catalog.call()).await;
    assert!(outcome.is_err(), "{outcome:?}");
    catalog.store.fail_commits(false);
    assert_eq!(length(&catalog).await, before);
    assert_eq!(catalog.get(&row.id).await, row);
}

pub async fn n022_a_repeated_request_appends_one_entry<E: Engine>(catalog: Catalog<E>) {
    let row = catalog.register("/w/a").await;
    let before = length(&catalog).await;
    let (register, moving) = (Request::new("Register"), Request::new("Move"));
    for _ in 0..2 {
        let call = catalog.call_once(&register);
        catalog
            .store
            .register(catalog.new_at("/w/b"), call)
            .await
            .unwrap();
        let to_front = MoveBefore {
            id: row.id.clone(),
            before: catalog
                .read(&catalog.page(WorkspaceOrder::Manual, 1))
                .await
                .rows
                .first()
                .map(|row| row.id.clone()),
        };
        catalog
            .store
            .move_before(to_front, catalog.call_once(&moving))
            .await
            .unwrap();
    }
    assert_eq!(length(&catalog).await, before + 2);
}

pub async fn n023_a_registered_path_appends_nothing<E: Engine>(catalog: Catalog<E>) {
    catalog.register("/w/a").await;
    let before = length(&catalog).await;
    let call = catalog.call_once(&Request::new("Register"));
    catalog
        .store
        .register(catalog.new_at("/w/a"), call)
        .await
        .unwrap();
    assert_eq!(length(&catalog).await, before);
}

/// A replica whose clock is wrong must not trim what the others still need.
pub async fn the_log_tells_the_time_of_its_entries<E: Engine>(catalog: Catalog<E>) {
    let far = Timestamp::from_nanos(i64::MAX / 2);
    let before = catalog.store.now(far).await.unwrap();
    catalog.register("/w/a").await;
    catalog.number_all().await;
    let entry = catalog.log_after(0).await.remove(0);
    let after = catalog.store.now(far).await.unwrap();
    if before == far {
        assert_eq!(after, far, "one process, one clock");
    } else {
        assert!(before <= entry.change.at && entry.change.at <= after);
    }
}
