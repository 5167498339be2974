//! `compozyd new-epoch`: makes every watcher read everything anew, such as after a database was put back.

use compozy_domain::Clock as _;
use compozy_domain::id::new_ulid;
use compozy_store::CatalogStore as _;

use super::{runtime, store_config, tell};
use crate::clock::SystemClock;
use crate::failure::{Failure, FailureKind};
use crate::home::Home;
use crate::lock::DaemonLock;
use crate::plug;
use crate::random::SystemRandom;

pub(super) fn new_epoch() -> Result<(), Failure> {
    let home = Home::locate()?;
    let config = store_config(&home)?;
    // A daemon that has an SQLite catalog open would go on with tokens of the old epoch. Replicas on Postgres meet
    // the new one like any other change.
    let _lock = if config.is_postgres() {
        None
    } else {
        Some(DaemonLock::acquire(&home)?)
    };
    let epoch = new_ulid(SystemClock.now(), &SystemRandom)?;
    runtime()?.block_on(async {
        let store = plug::maintain(&config, &SystemClock, &SystemRandom).await?;
        let begun = store.new_epoch(&epoch).await;
        store.close().await;
        begun.map_err(|error| {
            Failure::new(
                FailureKind::Unavailable,
                format!("no new epoch was begun: {error}"),
            )
        })
    })?;
    tell(&format!(
        "epoch {epoch} has begun: tokens of before make their watches start over"
    ))
}
