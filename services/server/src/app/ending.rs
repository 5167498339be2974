//! The end, step by step, each with its share of `daemon.drain_timeout`.

use std::time::Duration;

use super::App;
use crate::daemon_file::DaemonFile;

/// How long connections may take to close once their calls are done.
const CLOSING: Duration = Duration::from_secs(1);

impl App {
    /// Runs until the end has begun, then ends everything. Says whether everything ended by itself; what did not
    /// was cut.
    pub async fn finish(self) -> bool {
        let drain_timeout = self.setup.config.drain_timeout;
        self.shutdown.draining().cancelled().await;
        // The observer ends first, so that nobody sets health back.
        let observer_ended = self.observer.await.is_ok();
        self.board.set_serving(false);

        let calls_done = self
            .shutdown
            .calls_done(self.shutdown.patience(drain_timeout))
            .await;
        if !calls_done {
            tracing::warn!("calls in flight were cut at the end of daemon.drain_timeout");
        }
        self.close.cancel();
        let closed = calls_done && self.connections.join(CLOSING).await;
        if !closed {
            self.shutdown.hurry();
            self.connections
                .join(CLOSING.min(self.shutdown.left(drain_timeout)))
                .await;
        }
        let tasks_done = self.tasks.join(self.shutdown.left(drain_timeout)).await;
        if !tasks_done {
            tracing::warn!(count = self.tasks.count(), "background work did not end in time");
        }
        let left = self.shutdown.left(drain_timeout).max(CLOSING);
        let catalog_closed = tokio::time::timeout(left, self.close_catalog).await.is_ok();

        DaemonFile::remove_own(&self.setup.home);
        let clean = observer_ended && calls_done && tasks_done && catalog_closed;
        tracing::info!(clean, "stopped");
        clean
    }
}
