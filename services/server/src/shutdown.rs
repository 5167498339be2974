//! The orderly end: first nothing new, then goodbye, then what is in flight finishes, then everything is cut.

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
    state: Arc<State>,
}

#[derive(Debug, Default)]
struct State {
    begun_at: OnceLock<Instant>,
    draining: CancellationToken,
    parting: CancellationToken,
    hurried: CancellationToken,
    cutting: CancellationToken,
    /// Calls whose handler works.
    calls: TaskTracker,
    /// Answers that are not sent whole yet, streams among them.
    answers: TaskTracker,
}

/// Proof that the handler of a call works; the drain waits until it is dropped.
#[derive(Debug)]
pub struct CallInFlight {
    state: Arc<State>,
    _token: TaskTrackerToken,
}

/// Proof that an answer is on its way to its client; the drain waits a little until it is dropped.
#[derive(Debug)]
pub struct AnswerInFlight {
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
        if self.state.begun_at.set(Instant::now()).is_ok() {
            tracing::info!(cause, "shutting down");
            self.state.draining.cancel();
        }
    }

    /// Whether the end has begun.
    #[must_use]
    pub fn has_begun(&self) -> bool {
        self.state.begun_at.get().is_some()
    }

    /// Is cancelled when the end begins: from then on nothing new is let in. Health is not told yet; what a caller
    /// notices besides a refusal waits for [`Self::parting`].
    #[must_use]
    pub fn draining(&self) -> CancellationToken {
        self.state.draining.clone()
    }

    /// Says goodbye. Called once health says NOT_SERVING: whoever is sent away here has to find another server, and
    /// a balancer that still believes this one would send him back.
    pub fn part(&self) {
        self.state.parting.cancel();
    }

    /// Is cancelled when callers are to leave: connections say GOAWAY and watches `going_away`.
    #[must_use]
    pub fn parting(&self) -> CancellationToken {
        self.state.parting.clone()
    }

    /// Ends the patience: what is in flight is answered UNAVAILABLE.
    pub fn hurry(&self) {
        self.state.hurried.cancel();
    }

    /// Is cancelled when patience has ended.
    #[must_use]
    pub fn hurried(&self) -> CancellationToken {
        self.state.hurried.clone()
    }

    /// Cuts the connections that are still there.
    pub fn cut(&self) {
        self.state.cutting.cancel();
    }

    /// Is cancelled when connections are cut.
    #[must_use]
    pub fn cutting(&self) -> CancellationToken {
        self.state.cutting.clone()
    }

    /// Lets a call in; `None` once the end has begun.
    #[must_use]
    pub fn enter(&self) -> Option<CallInFlight> {
        // Taken before looking: a call is either refused or waited for.
        let token = self.state.calls.token();
        (!self.has_begun()).then(|| CallInFlight {
            state: Arc::clone(&self.state),
            _token: token,
        })
    }

    /// Waits until every handler has answered, or the patience has an end. Says whether all have.
    pub async fn calls_done(&self, patience: Duration) -> bool {
        self.done(&self.state.calls, patience).await
    }

    /// Waits until every answer is sent, or the patience has an end. Answers how many are not.
    pub async fn answers_done(&self, patience: Duration) -> usize {
        if self.done(&self.state.answers, patience).await {
            0
        } else {
            self.state.answers.len()
        }
    }

    async fn done(&self, work: &TaskTracker, patience: Duration) -> bool {
        work.close();
        tokio::select! {
            biased;
            () = work.wait() => true,
            () = self.state.hurried.cancelled() => false,
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
        let begun_at = self.state.begun_at.get();
        let spent = begun_at.map(Instant::elapsed).unwrap_or_default();
        drain_timeout.saturating_sub(spent)
    }
}

impl CallInFlight {
    /// The handler has answered, or answers bit by bit: from now on it is the client who takes its time.
    #[must_use]
    pub fn answered(self) -> AnswerInFlight {
        AnswerInFlight {
            _token: self.state.answers.token(),
        }
    }

    /// Waits until patience has ended.
    pub async fn hurried(&self) {
        self.state.hurried.cancelled().await;
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    const SOON: Duration = Duration::from_millis(1);
    const LONG: Duration = Duration::from_secs(60);

    #[tokio::test]
    async fn what_is_in_flight_is_waited_for_and_nothing_new_comes_in() {
        let shutdown = Shutdown::new();
        let call = shutdown.enter().unwrap();
        shutdown.begin("test");
        assert!(shutdown.enter().is_none());
        assert!(!shutdown.calls_done(SOON).await);
        drop(call);
        assert!(shutdown.calls_done(LONG).await);
    }

    #[tokio::test]
    async fn an_answer_that_a_client_does_not_take_is_no_call_any_more() {
        let shutdown = Shutdown::new();
        let answer = shutdown.enter().unwrap().answered();
        shutdown.begin("test");
        assert!(shutdown.calls_done(LONG).await);
        assert_eq!(shutdown.answers_done(SOON).await, 1);
        drop(answer);
        assert_eq!(shutdown.answers_done(LONG).await, 0);
    }

    #[tokio::test]
    async fn a_second_signal_ends_the_patience() {
        let shutdown = Shutdown::new();
        let call = shutdown.enter().unwrap();
        shutdown.begin("test");
        shutdown.hurry();
        assert!(!shutdown.calls_done(LONG).await);
        let _answer = call.answered();
        assert_eq!(shutdown.answers_done(LONG).await, 1);
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
