//! A catalog that was put back (cases section 3).

use compozy_proto::change::v1 as pb;
use compozy_store::{CatalogStore as _, StoreAddress};
use tokio_util::sync::CancellationToken;

use crate::client::resumed;
use crate::world::World;

file_cases! {
    n058_a_token_of_a_history_that_was_put_back_starts_over,
}

async fn n058_a_token_of_a_history_that_was_put_back_starts_over(mut world: World) {
    let server = world.start().await;
    let a = server.register(&world, "a").await;
    let copy = world.path("copy.db");
    assert!(
        server
            .store
            .backup_to(&copy, &CancellationToken::new())
            .await
            .unwrap()
    );
    let mut w = server.watch(pb::WatchCatalogRequest::default()).await;
    w.synced().await;
    for number in 0..5 {
        server.retitle(&a.id, &number.to_string()).await;
    }
    let token = w.changes(5).await.pop().unwrap().token;
    let page = server.page().await.1.revision;
    drop(w);
    assert!(server.stop().await);

    world.address = StoreAddress::SqliteFile(copy);
    let server = world.start().await;
    // Positions as before, and two more; the first five are others than those that the client has read.
    for number in 0..7 {
        server.retitle(&a.id, &format!("other {number}")).await;
    }
    for token in [token, page] {
        for on_expired in [pb::OnExpired::Fail, pb::OnExpired::Resync] {
            let request = pb::WatchCatalogRequest {
                on_expired: on_expired.into(),
                ..resumed(&token)
            };
            let mut again = server.watch(request).await;
            let resync = again.resync().await;
            assert_eq!(
                (resync.reason(), resync.workspace_ids.len()),
                (pb::ResyncReason::Epoch, 0)
            );
            again.synced().await;
        }
    }
}
