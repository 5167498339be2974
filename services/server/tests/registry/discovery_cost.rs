//! What discovery costs (cases section 6).

use std::sync::Arc;

use compozy_store::conformance::execute;

use crate::requests::discover;
use crate::watched_store::WatchedStore;
use crate::world::World;

cases! {
    w172_discovery_asks_and_reads_no_more_of_a_large_catalog,
}

async fn w172_discovery_asks_and_reads_no_more_of_a_large_catalog(mut world: World) {
    let store = Arc::new(WatchedStore::over(&world.store));
    let shared = Arc::clone(&store);
    world.restart(|parts| parts.store = shared).await;
    let row = world.reg_new("1/2/3").await;
    let path = world.mkdir("1/2/3/4/5/6");
    let mut costs = Vec::new();
    for rows in [1..=9, 10..=99_999] {
        fill(&world, &row.id, *rows.start(), *rows.end()).await;
        let before = store.counts();
        let found = world.daemon.api.discover(discover(&path)).await.unwrap();
        assert_eq!(found.workspace.as_ref(), Some(&row));
        let after = store.counts();
        costs.push((after.0 - before.0, after.1 - before.1));
    }
    assert_eq!(costs, [(1, 1), (1, 1)]);
    assert_eq!(world.total().await, 100_000);
}

/// Copies of one row, with ids, names, roots and inodes of their own.
async fn fill(world: &World, id: &str, from: u32, to: u32) {
    let sql = format!(
        "WITH RECURSIVE series(n) AS (SELECT {from} UNION ALL SELECT n + 1 FROM series WHERE n < {to}) \
         INSERT INTO workspace (id, durable_id, host_id, root_dir, root_device, root_inode, additional_dirs, name, \
         name_key, title, default_agent, is_default, rank, search, version, state_number, created_at, updated_at) \
         SELECT 'ws_' || substr(CAST(10000000000000000 + n AS TEXT), 2), \
         '01234567' || substr(CAST(1000000000000000000 + n AS TEXT), 2), host_id, \
         '/filled/' || CAST(n AS TEXT), 1, n, additional_dirs, 'filled-' || CAST(n AS TEXT), \
         'filled-' || CAST(n AS TEXT), title, default_agent, is_default, rank, search, version, state_number, \
         created_at, updated_at FROM workspace, series WHERE id = '{id}'"
    );
    execute(&world.store, &sql).await.unwrap();
}
