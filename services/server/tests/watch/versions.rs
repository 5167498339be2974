//! Versions (cases section 18): a record's own counter, by which clients tell what is newer.

use compozy_proto::change::v1 as pb;

use crate::client::{entry, workspace_of};
use crate::world::World;

cases! {
    n192_a_version_rises_by_one_with_each_entry,
}

async fn n192_a_version_rises_by_one_with_each_entry(world: World) {
    let server = world.start().await;
    let request = pb::WatchCatalogRequest {
        include_rows: true,
        ..Default::default()
    };
    let mut w = server.synced(request).await;
    let a = server.register(&world, "a").await;
    let b = server.register(&world, "b").await;
    server.rename(&a.id, "other").await;
    server.rename(&a.id, "other").await;
    server.retitle(&a.id, "t").await;
    server.retitle(&a.id, "t").await;
    server.move_before(&a.id, Some(&b.id)).await;
    server.retitle(&a.id, "u").await;
    server.remove(&a.id).await;
    let mut told = Vec::new();
    loop {
        let change = w.change().await;
        if change.workspace_id != a.id {
            continue;
        }
        if let Some(row) = workspace_of(change.row.clone()) {
            assert!(row.version >= change.version);
        }
        told.push((entry(&change), change.version));
        if change.op() == pb::ChangeOp::Deleted {
            break;
        }
    }
    let expected = [
        ("workspace upserted created", 1),
        ("workspace upserted renamed", 2),
        ("workspace upserted updated", 3),
        // The record itself did not change.
        ("workspace_order upserted moved", 3),
        ("workspace upserted updated", 4),
        ("workspace deleted removed", 5),
    ];
    assert_eq!(told, expected.map(|(words, version)| (words.to_owned(), version)));
}
