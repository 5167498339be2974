//! What `/metrics` tells of watches (cases section 12).

use compozy_store::CatalogStore as _;

use crate::world::World;

cases! {
    n144_the_numbers_are_there_and_move,
}

async fn n144_the_numbers_are_there_and_move(world: World) {
    let server = world.start().await;
    let a = server.register(&world, "a").await;
    let mut w = server.w().await;
    let names = [
        "compozy_change_log_head",
        "compozy_watchers",
        "compozy_watch_changes_delivered_total",
        "compozy_watch_changes_coalesced_total",
        "compozy_watch_resyncs_total{reason=\"behind\"}",
        "compozy_watch_resyncs_total{reason=\"epoch\"}",
        "compozy_watch_resyncs_total{reason=\"expired\"}",
        "compozy_change_log_numbering_lag_seconds",
    ];
    let mut before = Vec::new();
    for name in names {
        before.push(server.metric(name).await);
    }
    assert_eq!(before[1], 1.0);
    for number in 0..10 {
        server.retitle(&a.id, &number.to_string()).await;
    }
    w.changes(10).await;
    assert_eq!(server.metric(names[0]).await, before[0] + 10.0);
    assert_eq!(server.metric(names[2]).await, before[2] + 10.0);
    server
        .store
        .new_epoch("01J0ZK3M5N7P9Q1R3S5T7V9WXY")
        .await
        .unwrap();
    w.resync().await;
    assert_eq!(server.metric(names[5]).await, before[5] + 1.0);
    if world.is_postgres() {
        assert!(server.metric("compozy_change_log_numbered_total").await >= 11.0);
    }
}
