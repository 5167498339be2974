//! Background work with an owner: everything that outlives a call is started here and joined at the end.

use std::future::Future;
use std::time::Duration;

use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::Instrument;

use crate::trace_context;

/// Starts tasks and waits for them. Clones share one set of tasks.
#[derive(Debug, Clone, Default)]
pub struct Tasks {
    tracker: TaskTracker,
    stop: CancellationToken,
}

impl Tasks {
    /// An empty set.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Starts a task that runs to its end even if nobody waits for it, such as a write that has begun.
    /// It keeps the trace and the span of its starter.
    #[expect(
        clippy::disallowed_methods,
        reason = "the one place that spawns: the tracker is joined at the end"
    )]
    pub fn spawn<F>(&self, work: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        let work = work.in_current_span();
        let tracked = self.tracker.track_future(trace_context::inherit(work));
        tokio::spawn(tracked)
    }

    /// Tells every task that listens to [`Self::stopping`] to end.
    pub fn stop(&self) {
        self.stop.cancel();
    }

    /// Ends when the tasks are to end: the signal for loops.
    #[must_use]
    pub fn stopping(&self) -> CancellationToken {
        self.stop.clone()
    }

    /// How many tasks there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.tracker.len()
    }

    /// Stops the loops and waits for every task, not longer than `patience`. Says whether all ended.
    pub async fn join(&self, patience: Duration) -> bool {
        self.stop.cancel();
        self.tracker.close();
        tokio::time::timeout(patience, self.tracker.wait()).await.is_ok()
    }
}

/// Lets hyper start the tasks of a connection's streams where they are counted.
impl<F> hyper::rt::Executor<F> for Tasks
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    #[expect(
        clippy::disallowed_methods,
        reason = "hyper's own tasks, joined like all others"
    )]
    fn execute(&self, work: F) {
        tokio::spawn(self.tracker.track_future(work));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn join_waits_for_work_and_says_when_it_gave_up() {
        let tasks = Tasks::new();
        let (finish, finished) = tokio::sync::oneshot::channel::<()>();
        let work = tasks.spawn(async move { finished.await.is_ok() });
        assert!(!tasks.join(Duration::from_millis(1)).await);
        assert!(finish.send(()).is_ok());
        assert!(tasks.join(Duration::from_secs(10)).await);
        assert!(work.await.is_ok_and(|done| done));
    }
}
