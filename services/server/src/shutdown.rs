//! The orderly end: first nothing new, then what is in flight finishes, then everything is cut.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tokio_util::task::task_tracker::TaskTrackerToken;

/// What is kept of the drain time to flush traces and close the store.
const RESERVE_MAX: Duration = Duration::from_secs(4);

/// Begins the end, and tells everybody about it. Clones share one state.
#[derive(Debug, Clone, Default)]
pub struct Shutdown {
    draining: CancellationToken,
    hurried: CancellationToken,
    calls: TaskTracker,
    begun_at: Arc<OnceLock<Instant>>,
}

/// Proof that a call is in flight; the drain waits until it is dropped.
#[derive(Debug)]
pub struct CallInFlight {
    _token: TaskTrackerToken,
}

impl Shutdown {
    /// Nothing has begun.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Begins the end. The first call counts.
    pub fn begin(&self, cause: &str) {
        if self.begun_at.set(Instant::now()).is_ok() {
            tracing::info!(cause, "shutting down");
            self.draining.cancel();
        }
    }

    /// Ends the patience: what is in flight is cut.
    pub fn hurry(&self) {
        self.hurried.cancel();
    }

    /// Is cancelled when patience has ended.
    #[must_use]
    pub fn hurried(&self) -> CancellationToken {
        self.hurried.clone()
    }

    /// Whether the end has begun.
    #[must_use]
    pub fn has_begun(&self) -> bool {
        self.draining.is_cancelled()
    }

    /// Is cancelled when the end begins. Watches listen to it and say `going_away`.
    #[must_use]
    pub fn draining(&self) -> CancellationToken {
        self.draining.clone()
    }

    /// Lets a call in; `None` once the end has begun.
    #[must_use]
    pub fn enter(&self) -> Option<CallInFlight> {
        // Taken before looking: a call is either refused or waited for.
        let token = self.calls.token();
        (!self.has_begun()).then_some(CallInFlight { _token: token })
    }

    /// Waits until every call is done, or the patience has an end. Says whether all are done.
    pub async fn calls_done(&self, patience: Duration) -> bool {
        self.calls.close();
        tokio::select! {
            () = self.calls.wait() => true,
            () = self.hurried.cancelled() => false,
            () = tokio::time::sleep(patience) => false,
        }
    }

    /// How much of the drain time is left for calls, with a part kept back for what comes after them.
    #[must_use]
    pub fn patience(&self, drain_timeout: Duration) -> Duration {
        let reserve = RESERVE_MAX.min(drain_timeout / 4);
        self.left(drain_timeout).saturating_sub(reserve)
    }

    /// How much of the drain time is left.
    #[must_use]
    pub fn left(&self, drain_timeout: Duration) -> Duration {
        let spent = self.begun_at.get().map(Instant::elapsed).unwrap_or_default();
        drain_timeout.saturating_sub(spent)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[tokio::test]
    async fn what_is_in_flight_is_waited_for_and_nothing_new_comes_in() {
        let shutdown = Shutdown::new();
        let call = shutdown.enter().unwrap();
        shutdown.begin("test");
        assert!(shutdown.enter().is_none());
        assert!(!shutdown.calls_done(Duration::from_millis(1)).await);
        drop(call);
        assert!(shutdown.calls_done(Duration::from_secs(10)).await);
    }

    #[tokio::test]
    async fn a_second_signal_ends_the_patience() {
        let shutdown = Shutdown::new();
        let _call = shutdown.enter().unwrap();
        shutdown.begin("test");
        shutdown.hurry();
        assert!(!shutdown.calls_done(Duration::from_secs(60)).await);
    }

    #[test]
    fn a_part_of_the_drain_time_is_kept_back() {
        let shutdown = Shutdown::new();
        assert_eq!(
            shutdown.patience(Duration::from_secs(20)),
            Duration::from_secs(16)
        );
        assert_eq!(
            shutdown.patience(Duration::from_secs(1)),
            Duration::from_millis(750)
        );
    }
}
