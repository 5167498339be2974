//! The end, step by step, each with its share of `daemon.drain_timeout`.

use std::time::Duration;

use super::App;
use crate::daemon_file::DaemonFile;

/// How long the catalog may take to close, even if the drain time is over; of a short one a quarter.
const LAST_CHANCE: Duration = Duration::from_secs(1);

impl App {
    /// Runs until the end has begun, then ends everything. Says whether every call was answered and everything
    /// ended by itself; what did not was cut.
    pub async fn finish(self) -> bool {
        let Self {
            front,
            observer,
            close_catalog,
        } = self;
        front.shutdown.draining().cancelled().await;
        // The observer ends first, so that nobody sets health back.
        let observer_ended = observer.await.is_ok();
        let calls_done = front.take_leave().await;
        let tasks_done = front.end_tasks().await;
        let drain_timeout = front.setup.config.drain_timeout;
        let left = front
            .shutdown
            .left(drain_timeout)
            .max(LAST_CHANCE.min(drain_timeout / 4));
        let catalog_closed = tokio::time::timeout(left, close_catalog).await.is_ok();

        DaemonFile::remove_own(&front.setup.home);
        let clean = observer_ended && calls_done && tasks_done && catalog_closed;
        tracing::info!(clean, "stopped");
        clean
    }
}
