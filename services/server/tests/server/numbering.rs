//! What the numbers of a server tell while committed changes wait for their positions.

use crate::running::until;
use crate::site::{Site, on_postgres, register};
use crate::telemetry::number;
use crate::watches::{Watch, wanted};

const LAG: &str = "compozy_change_log_numbering_lag_seconds";
const PENDING: &str = "compozy_change_log_pending";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn n144_the_lag_of_numbering_grows_while_it_is_held_up_and_goes_back_to_nothing() {
    let test = "n144_the_lag_of_numbering_grows_while_it_is_held_up_and_goes_back_to_nothing";
    on_postgres(test, held_up).await;
}

async fn held_up(site: Site) {
    let server = site.start("telemetry.listen = \"127.0.0.1:0\"\n").await;
    let channel = server.channel().await;
    let mut watch = Watch::open(&channel, wanted("")).await.unwrap();
    watch.synced().await;
    assert!(number(&server, LAG).await < 1.0);
    let pool = site.connections().await;
    let mut holding = pool.begin().await.unwrap();
    // Whoever numbers advances the head; writes do not touch it.
    sqlx::query("SELECT head FROM change_head FOR UPDATE")
        .execute(&mut *holding)
        .await
        .unwrap();
    let head = number(&server, "compozy_change_log_head").await;
    register(&channel, &site.folder()).await.unwrap();
    until("the lag is seen to grow", async || {
        number(&server, LAG).await > 1.0 && number(&server, PENDING).await >= 1.0
    })
    .await;
    assert!(
        number(&server, LAG).await < 60.0,
        "it is a span and not an instant"
    );
    assert_eq!(
        number(&server, "compozy_change_log_head").await.to_bits(),
        head.to_bits()
    );
    holding.rollback().await.unwrap();
    pool.close().await;
    assert!(watch.next().await.unwrap().is_some(), "the change is told");
    until("nothing waits", async || {
        number(&server, LAG).await < f64::EPSILON && number(&server, PENDING).await < f64::EPSILON
    })
    .await;
    drop(watch);
    assert!(server.end().await);
}
