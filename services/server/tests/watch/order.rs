//! The order of changes (cases section 8).

use std::collections::BTreeMap;

use compozy_proto::change::v1 as pb;
use futures::future::join_all;

use crate::client::told;
use crate::world::World;

cases! {
    n093_n094_every_watcher_sees_the_same_order,
}

async fn n093_n094_every_watcher_sees_the_same_order(world: World) {
    const WRITERS: usize = 16;
    const WRITES: usize = 40;
    let server = world.start().await;
    let mut ids = Vec::new();
    for number in 0..4 {
        ids.push(server.register(&world, &format!("w{number}")).await.id);
    }
    let mut watches = Vec::new();
    for _ in 0..5 {
        watches.push(server.w().await);
    }
    let writing = join_all((0..WRITERS).map(|writer| {
        let (server, ids) = (&server, &ids);
        async move {
            for number in 0..WRITES {
                server
                    .retitle(&ids[(writer + number) % ids.len()], &format!("{writer}-{number}"))
                    .await;
            }
        }
    }));
    let reading = join_all(
        watches
            .iter_mut()
            .map(|watching| watching.changes(WRITERS * WRITES)),
    );
    let (_, seen) = futures::join!(writing, reading);
    for changes in &seen {
        let mut versions = BTreeMap::from_iter(ids.iter().map(|id| (id.as_str(), 1)));
        let mut last = 0;
        for change in changes {
            let version = versions.get_mut(change.workspace_id.as_str()).unwrap();
            *version += 1;
            assert_eq!(
                change.version, *version,
                "a record's changes come as they were committed"
            );
            let position = server.position(&change.token).await;
            assert!(position > last);
            last = position;
        }
        let words = |changes: &[pb::Change]| changes.iter().map(told).collect::<Vec<_>>();
        assert_eq!(words(changes), words(&seen[0]));
    }
}
