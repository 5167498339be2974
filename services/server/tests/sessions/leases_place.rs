//! What the cases of leases do again and again: reports of runtimes, looks of the sweep, time that goes by while the
//! sweep runs, many callers at once.

use std::future::Future;
use std::time::Duration;

use compozy_proto::session::v1 as pb;
use compozy_store::{OpenOptions, SqlStore, Swept};
use tokio::task::JoinSet;

use crate::asked::{archive, beat, finish, new, seconds, stop};
use crate::client::Outcome;
use crate::daemon::Daemon;
use crate::place::told;
use crate::world::World;

/// A well-formed lease that nobody was ever given.
pub(crate) const NO_LEASE: &str = "lease_01J0ZK3M5N7P9Q1R3S5T7V9WXY";
/// The reason and the status of a call under a lease that is over.
pub(crate) const LOST: &str = "LEASE_LOST";
/// Between two looks of the sweep.
const STEP: Duration = Duration::from_secs(5);
/// Who create many sessions together.
const CREATORS: usize = 8;

impl World {
    /// One run of the sweep.
    pub(crate) async fn sweep(&self) -> Swept {
        self.daemon.registry.sweep_sessions().await.unwrap()
    }

    /// Lets time go by while the sweep runs as it should: at the end its last run is less than 10 s ago.
    pub(crate) async fn pass(&self, span: Duration) {
        // What is no whole number of steps comes first, so that the last look is a whole step ago.
        let mut left = span;
        let mut step = Duration::from_nanos(u64::try_from(span.as_nanos() % STEP.as_nanos()).unwrap());
        while left > Duration::ZERO {
            self.sweep().await;
            self.advance(step).await;
            left -= step;
            step = STEP;
        }
    }

    /// Creates many sessions of h1 in a workspace and answers their leases.
    pub(crate) async fn create_bound(&self, workspace_id: &str, count: usize) -> Vec<pb::RuntimeLease> {
        let request = pb::CreateSessionRequest {
            bind: Some(crate::asked::binding("h1", 30)),
            ..new(workspace_id)
        };
        let (share, api) = (count / CREATORS, &self.daemon.api);
        let made = at_once(CREATORS, |_| {
            let (api, request) = (api.clone(), request.clone());
            async move {
                let mut leases = Vec::with_capacity(share);
                for _ in 0..share {
                    let answer = api.create_session(request.clone()).await.unwrap();
                    leases.push(answer.lease.unwrap());
                }
                leases
            }
        });
        made.await.concat()
    }

    /// A heartbeat that only renews.
    pub(crate) async fn beat(&self, lease: &str) -> Outcome<pb::HeartbeatResponse> {
        self.daemon.api.heartbeat(beat(lease)).await
    }

    /// A heartbeat that has to be taken.
    pub(crate) async fn take_report(&self, request: pb::HeartbeatRequest) -> pb::HeartbeatResponse {
        self.daemon.api.heartbeat(request).await.unwrap()
    }

    /// The health of a session.
    pub(crate) async fn health(&self, id: &str) -> pb::SessionHealth {
        let request = pb::GetSessionHealthRequest {
            session_id: id.to_owned(),
        };
        let answer = self.daemon.api.get_session_health(request).await.unwrap();
        answer.health.unwrap()
    }

    /// A stop with a detail.
    pub(crate) async fn stop_for(&self, id: &str, cause: pb::StopCause, detail: &str) -> pb::Session {
        let request = pb::StopSessionRequest {
            detail: detail.to_owned(),
            ..stop(id, cause)
        };
        self.daemon
            .api
            .stop_session(request)
            .await
            .unwrap()
            .session
            .unwrap()
    }

    /// The last word of a runtime.
    pub(crate) async fn finish(&self, request: pb::FinishSessionRequest) -> pb::Session {
        self.daemon
            .api
            .finish_session(request)
            .await
            .unwrap()
            .session
            .unwrap()
    }

    /// The last word of a runtime that was done.
    pub(crate) async fn finish_done(&self, lease: &str) -> pb::Session {
        self.finish(finish(lease, pb::StopCause::Completed)).await
    }

    pub(crate) async fn archive(&self, id: &str) -> pb::Session {
        self.daemon
            .api
            .archive_session(archive(id))
            .await
            .unwrap()
            .session
            .unwrap()
    }

    pub(crate) async fn mark_seen(&self, id: &str) -> pb::Session {
        let request = pb::MarkSessionSeenRequest {
            session_id: id.to_owned(),
            request_id: String::new(),
        };
        let answer = self.daemon.api.mark_session_seen(request).await.unwrap();
        answer.session.unwrap()
    }

    /// The attach lease of a holder for some seconds.
    pub(crate) async fn enter(&self, id: &str, holder: &str, ttl: i64) -> Outcome<pb::Session> {
        let answer = self
            .daemon
            .api
            .acquire_attach_lease(entering(id, holder, ttl))
            .await?;
        Ok(answer.session.unwrap())
    }

    /// What the log was told of sessions since it had so many entries, as `op reason`.
    pub(crate) async fn told_since(&self, before: usize) -> Vec<String> {
        let entries = self.session_changes_since(before).await;
        entries.iter().map(told).collect()
    }

    /// How many entries the log has.
    pub(crate) async fn head(&self) -> usize {
        self.changes().await.len()
    }

    /// Another process on the same catalog, with connections of its own.
    pub(crate) async fn second_daemon(&self) -> Daemon {
        let options = OpenOptions {
            address: self.address.clone(),
            access: compozy_store::Access::Serve,
            durability: compozy_store::Durability::Normal,
            binary: "0.1.0",
            now: compozy_domain::Clock::now(self.clock.as_ref()),
            random: self.random.as_ref(),
        };
        let store = std::sync::Arc::new(SqlStore::open(options).await.unwrap());
        self.start(|parts| parts.store = store).await
    }
}

/// What a caller asks for who enters a session for some seconds.
pub(crate) fn entering(id: &str, holder: &str, ttl: i64) -> pb::AcquireAttachLeaseRequest {
    pb::AcquireAttachLeaseRequest {
        session_id: id.to_owned(),
        holder: holder.to_owned(),
        ttl: Some(seconds(ttl)),
        request_id: String::new(),
    }
}

/// What a runtime reports that waits for something.
pub(crate) fn waiting(lease: &str, reasons: &[pb::WaitingReason]) -> pb::HeartbeatRequest {
    pb::HeartbeatRequest {
        waiting_for: Some(pb::WaitingFor {
            reasons: reasons.iter().map(|reason| i32::from(*reason)).collect(),
        }),
        ..beat(lease)
    }
}

/// What a runtime reports whose turn has settled.
pub(crate) fn settled(lease: &str) -> pb::HeartbeatRequest {
    pb::HeartbeatRequest {
        settled: true,
        prompting: Some(false),
        ..beat(lease)
    }
}

/// What a runtime reports that has stalled, or goes on.
pub(crate) fn stalled(lease: &str, stalled: bool) -> pb::HeartbeatRequest {
    pb::HeartbeatRequest {
        stalled: Some(stalled),
        ..beat(lease)
    }
}

/// Many calls at the same time; their outcomes in no order.
pub(crate) async fn at_once<T, F>(count: usize, call: impl Fn(usize) -> F) -> Vec<T>
where
    T: Send + 'static,
    F: Future<Output = T> + Send + 'static,
{
    let mut calls = JoinSet::new();
    for number in 0..count {
        calls.spawn(call(number));
    }
    calls.join_all().await
}

/// Whether a stop has a reason and a failure of a kind, which is UNSPECIFIED for none.
pub(crate) fn classified(session: &pb::Session) -> (pb::StopReason, pb::FailureKind) {
    let stop = session.stop.as_ref().unwrap();
    let failure = stop.failure.as_ref();
    let kind = failure.map_or(pb::FailureKind::Unspecified, pb::Failure::kind);
    (stop.reason(), kind)
}
