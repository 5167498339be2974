//! Short words for tests about leases, heartbeats and the sweep.

use std::time::{Duration, Instant};

use compozy_domain::session::Transition;
use compozy_domain::session::change::{LastWord, NewActivity, NewLease, Report, SessionChange, Waiting};
use compozy_domain::session::health::View;
use compozy_domain::{
    CatalogError, ChangeEntry, ChangeReason, LeaseHash, Session, SessionAt, SessionId, SessionState,
    Timestamp, Visibility,
};

use super::fixture::{Catalog, START, fresh};
use super::session_fixture::{STALE_AFTER, TTL, new_lease_of, ungrouped};
use crate::change_log::ChangeLog as _;
use crate::error::Result;
use crate::sessions::{
    CreateSession, FinishSession, HeartbeatCall, Heartbeats, SessionStore as _, Sweep, Swept,
};

/// How long a start may take.
pub(crate) const START_TIMEOUT: Duration = Duration::from_secs(60);
/// One nanosecond.
pub(crate) const INSTANT: Duration = Duration::from_nanos(1);

/// Some seconds.
pub(crate) const fn seconds(number: u64) -> Duration {
    Duration::from_secs(number)
}

/// A report of work on a prompt.
pub(crate) fn prompting(prompting: bool) -> Report {
    Report {
        prompting: Some(prompting),
        ..Report::default()
    }
}

/// A report of a stall.
pub(crate) fn stalled(stalled: bool) -> Report {
    Report {
        stalled: Some(stalled),
        ..Report::default()
    }
}

/// A report of what is waited for.
pub(crate) fn waiting(auth: bool, input: bool) -> Report {
    Report {
        waiting: Some(Waiting { auth, input }),
        ..Report::default()
    }
}

/// A report of a settled turn.
pub(crate) fn settled() -> Report {
    Report {
        settled: true,
        ..Report::default()
    }
}

/// A report of an activity.
pub(crate) fn activity(kind: &str) -> Report {
    Report {
        activity: Some(NewActivity {
            kind: kind.to_owned(),
            detail: "cargo test".to_owned(),
            tool: "bash".to_owned(),
            turn_id: "t1".to_owned(),
        }),
        ..Report::default()
    }
}

/// The runtime's lease in a record.
pub(crate) fn lease(session: &Session) -> &compozy_domain::session::Lease {
    session.live.as_ref().unwrap().lease.as_ref().unwrap()
}

/// A session that starts instead of being active.
pub(crate) fn starting() -> CreateSession {
    CreateSession {
        state: SessionState::Starting,
        ..ungrouped()
    }
}

/// One run of the sweep, by a process with this clock.
pub(crate) fn sweep(now: Timestamp) -> Sweep {
    Sweep {
        start_timeout: START_TIMEOUT,
        stale_after: STALE_AFTER,
        now,
        deadline: Instant::now() + seconds(60),
    }
}

impl<E> Catalog<E> {
    /// Sets the clock to the beginning, when the sweep runs for the first time.
    pub(crate) async fn begin_sweeping(&self) {
        self.set_clock(START).await;
        self.sweep().await;
    }

    /// The same from where the clock stands.
    pub(crate) async fn begin_sweeping_now(&self) {
        self.set_clock(self.now()).await;
        self.sweep().await;
    }

    /// One run of the sweep.
    pub(crate) async fn sweep(&self) -> Swept {
        self.try_sweep(START_TIMEOUT).await.unwrap()
    }

    /// One run of the sweep.
    pub(crate) async fn try_sweep(&self, start_timeout: Duration) -> Result<Swept> {
        let sweep = Sweep {
            start_timeout,
            ..sweep(self.now())
        };
        self.store.sweep(sweep).await
    }

    /// Lets time go by with sweeps so often that the catalog never counts as away, the last one at the end.
    pub(crate) async fn pass_sweeping(&self, span: Duration) -> Swept {
        let mut rest = span;
        loop {
            let step = rest.min(seconds(10));
            self.pass(step).await;
            rest -= step;
            let swept = self.sweep().await;
            if rest.is_zero() {
                return swept;
            }
        }
    }

    /// The same up to ten seconds before the end, so that a lapsed lease has not been seen yet.
    pub(crate) async fn pass_unseen(&self, span: Duration) {
        if let Some(first) = span.checked_sub(seconds(10)) {
            self.pass_sweeping(first).await;
            self.pass(seconds(10)).await;
        } else {
            self.pass(span).await;
        }
    }

    /// Makes an active session with a runtime, and tells its lease.
    pub(crate) async fn bound(&self, holder: &str) -> (Session, LeaseHash) {
        self.bound_for(holder, TTL).await
    }

    /// The same with a lease of another length.
    pub(crate) async fn bound_for(&self, holder: &str, ttl: Duration) -> (Session, LeaseHash) {
        let lease = new_lease_of(holder, ttl);
        let hash = lease.hash.clone();
        let create = CreateSession {
            bind: Some(lease),
            ..ungrouped()
        };
        (self.create_session(create).await, hash)
    }

    /// Several of them.
    pub(crate) async fn many_bound(&self, number: usize, ttl: Duration) -> Vec<(SessionId, LeaseHash)> {
        let mut bound = Vec::with_capacity(number);
        let all: Vec<usize> = (0..number).collect();
        for some in all.chunks(64) {
            let made = some.iter().map(|number| async move {
                let (session, hash) = self.bound_for(&format!("h{number}"), ttl).await;
                (session.id, hash)
            });
            bound.extend(futures::future::join_all(made).await);
        }
        bound
    }

    /// Binds a runtime.
    pub(crate) async fn bind(&self, id: &SessionId, holder: &str) -> Result<(Session, LeaseHash)> {
        let lease: NewLease = new_lease_of(holder, TTL);
        let hash = lease.hash.clone();
        let written = self.try_change_session(id, SessionChange::Bind(lease)).await?;
        Ok((written.value.session, hash))
    }

    /// Heartbeats of one batch.
    pub(crate) async fn beats(
        &self,
        beats: Vec<(LeaseHash, Report)>,
    ) -> Vec<std::result::Result<SessionAt, CatalogError>> {
        self.beats_as(beats, Visibility::All).await
    }

    /// The same of somebody who may see some workspaces.
    pub(crate) async fn beats_as(
        &self,
        beats: Vec<(LeaseHash, Report)>,
        visibility: Visibility,
    ) -> Vec<std::result::Result<SessionAt, CatalogError>> {
        self.beats_asked_before(beats, visibility, Duration::ZERO).await
    }

    async fn beats_asked_before(
        &self,
        beats: Vec<(LeaseHash, Report)>,
        visibility: Visibility,
        waited: Duration,
    ) -> Vec<std::result::Result<SessionAt, CatalogError>> {
        let beats = Heartbeats {
            beats,
            stale_after: STALE_AFTER,
        };
        let call = HeartbeatCall {
            visibility,
            now: self.now().minus(waited),
            asked_at: Instant::now().checked_sub(waited).unwrap(),
            deadline: Instant::now() + seconds(30),
        };
        self.store.heartbeat(&beats, &call).await.unwrap()
    }

    /// One heartbeat that the catalog kept waiting until now.
    pub(crate) async fn beat_that_waited(
        &self,
        hash: &LeaseHash,
        waited: Duration,
    ) -> std::result::Result<Session, CatalogError> {
        let beats = vec![(hash.clone(), Report::default())];
        let mut answers = self.beats_asked_before(beats, Visibility::All, waited).await;
        answers.remove(0).map(|beaten| beaten.session)
    }

    /// One heartbeat.
    pub(crate) async fn beat(
        &self,
        hash: &LeaseHash,
        report: Report,
    ) -> std::result::Result<Session, CatalogError> {
        let mut answers = self.beats(vec![(hash.clone(), report)]).await;
        assert_eq!(answers.len(), 1);
        answers.remove(0).map(|beaten| beaten.session)
    }

    /// A runtime's last word.
    pub(crate) async fn finish(&self, hash: &LeaseHash, word: LastWord) -> Result<Session> {
        let finish = FinishSession {
            hash: hash.clone(),
            word,
            stale_after: STALE_AFTER,
        };
        let answer = self.store.finish_session(finish, self.session_call()).await;
        Ok(fresh(answer?).value.session)
    }

    /// What is shown of a session now.
    pub(crate) async fn view(&self, id: &SessionId) -> View {
        self.get_session(id).await.view(self.now(), STALE_AFTER)
    }

    /// The entries about a session.
    pub(crate) async fn entries_of(&self, id: &SessionId) -> Vec<ChangeEntry> {
        let mut entries = self.log().await;
        entries.retain(|entry| entry.change.session_id.as_ref() == Some(id));
        entries
    }

    /// The reasons of the entries about a session.
    pub(crate) async fn reasons_of(&self, id: &SessionId) -> Vec<ChangeReason> {
        let entries = self.entries_of(id).await;
        entries.iter().map(|entry| entry.change.reason).collect()
    }

    /// How many entries the log has.
    pub(crate) async fn log_length(&self) -> i64 {
        self.number_all().await;
        self.store.head().await.unwrap().head.position
    }

    /// The states that a session has been in.
    pub(crate) async fn states_of(&self, id: &SessionId) -> Vec<SessionState> {
        let transitions: Vec<Transition> = self.store.transitions(id).await.unwrap();
        transitions.iter().map(|transition| transition.state).collect()
    }
}
