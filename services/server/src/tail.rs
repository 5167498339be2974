//! The tail of the change log: gives positions to committed entries. On Postgres every replica has one and
//! whoever gets the lock does the work; on SQLite positions are given inside the write and nothing is left to do.

use std::sync::Arc;
use std::time::Duration;

use compozy_store::{ChangeLog, Store};
use tokio_util::sync::CancellationToken;

/// Numbers entries as they are committed here, and looks once a period for those of a replica that died before
/// it could. Ends when told to stop.
pub async fn number_changes(store: Arc<dyn Store>, period: Duration, stop: CancellationToken) {
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            () = store.appended() => {}
            () = tokio::time::sleep(period) => {}
        }
        if let Err(error) = number_all(&*store).await {
            tracing::warn!(%error, "committed changes have no position yet, trying again");
        }
    }
}

async fn number_all(store: &dyn Store) -> compozy_store::Result<()> {
    while ChangeLog::number_pending(store).await? > 0 {}
    Ok(())
}
